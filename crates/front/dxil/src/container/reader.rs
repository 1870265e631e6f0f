//! Bounds-checked reads from a part.

use super::{ContainerError, FourCc};

/// A position in the little-endian contents of a part.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    part: FourCc,
    /// Of `data` in the container.
    base: u32,
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(part: FourCc, base: u32, data: &'a [u8]) -> Reader<'a> {
        Reader { part, base, data, at: 0 }
    }

    /// Where in the container the next byte lies.
    pub(crate) fn offset(&self) -> u64 {
        u64::from(self.base) + self.at as u64
    }

    pub(crate) fn left(&self) -> usize {
        self.data.len() - self.at
    }

    /// The same contents from byte `at` on.
    pub(crate) fn seek(&self, at: u64, what: &'static str) -> Result<Reader<'a>, ContainerError> {
        let mut reader = Reader { at: 0, ..*self };
        reader.skip(at, what)?;
        Ok(reader)
    }

    pub(crate) fn skip(&mut self, len: u64, what: &'static str) -> Result<(), ContainerError> {
        self.bytes(len, what).map(|_| ())
    }

    pub(crate) fn bytes(&mut self, len: u64, what: &'static str) -> Result<&'a [u8], ContainerError> {
        let left = self.left() as u64;
        if len > left {
            let (part, offset) = (self.part, self.offset());
            return Err(ContainerError::Truncated { part, offset, what, needed: len, left });
        }
        // What is left fits into memory, and `len` is no more.
        let start = self.at;
        self.at += len as usize;
        Ok(&self.data[start..self.at])
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ContainerError> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(N as u64, what)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, ContainerError> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, ContainerError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, ContainerError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, ContainerError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// `count` words.
    pub(crate) fn words(&mut self, count: u64, what: &'static str) -> Result<&'a [[u8; 4]], ContainerError> {
        Ok(self.bytes(count.saturating_mul(4), what)?.as_chunks().0)
    }

    /// A word that counts something of which there are at most `limit`.
    pub(crate) fn count(&mut self, what: &'static str, limit: u64) -> Result<u64, ContainerError> {
        let offset = self.offset();
        let value = self.u32(what)?.into();
        if value > limit {
            return Err(ContainerError::Limit { part: self.part, offset, what, value, limit });
        }
        Ok(value)
    }

    /// The error for a field read just before, `bytes` wide.
    pub(crate) fn bad(&self, bytes: u64, what: &'static str, value: impl Into<u64>) -> ContainerError {
        let offset = self.offset().saturating_sub(bytes);
        ContainerError::Value { part: self.part, offset, what, value: value.into() }
    }
}
