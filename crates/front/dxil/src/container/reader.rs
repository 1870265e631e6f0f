//! Bounds-checked reads from a part.

use super::{ContainerError, FourCc};
use serde::{Serialize, Serializer};
use std::fmt;

/// Little-endian words of a part.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Words<'a>(pub(super) &'a [[u8; 4]]);

impl<'a> Words<'a> {
    /// The word at an index.
    pub fn get(&self, index: usize) -> Option<u32> {
        self.0.get(index).map(|word| u32::from_le_bytes(*word))
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.0.iter().map(|word| u32::from_le_bytes(*word))
    }
}

impl fmt::Debug for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Most bytes of a name: names may be shared, so a short file may have many long ones.
const MAX_NAME: usize = 4096;

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
        let before = *self;
        let value = self.u32(what)?.into();
        if value > limit { Err(before.beyond(what, value, limit)) } else { Ok(value) }
    }

    /// The error for too much of something that is counted here.
    pub(crate) fn beyond(&self, what: &'static str, value: u64, limit: u64) -> ContainerError {
        ContainerError::Limit { part: self.part, offset: self.offset(), what, value, limit }
    }

    /// A word that numbers a value.
    pub(crate) fn number<T>(
        &mut self,
        what: &'static str,
        value: impl FnOnce(u32) -> Option<T>,
    ) -> Result<T, ContainerError> {
        let number = self.u32(what)?;
        value(number).ok_or_else(|| self.bad(4, what, number))
    }

    /// A byte that numbers a value.
    pub(crate) fn byte<T>(
        &mut self,
        what: &'static str,
        value: impl FnOnce(u32) -> Option<T>,
    ) -> Result<T, ContainerError> {
        let number = self.u8(what)?;
        value(number.into()).ok_or_else(|| self.bad(1, what, number))
    }

    /// The next `len` bytes by themselves.
    pub(crate) fn part(&mut self, len: u32, what: &'static str) -> Result<Reader<'a>, ContainerError> {
        let (part, base) = (self.part, self.offset());
        let data = self.bytes(len.into(), what)?;
        // Containers say their size in a word.
        Ok(Reader::new(part, base as u32, data))
    }

    /// Bytes by themselves, their number in front.
    pub(crate) fn sized(&mut self, what: &'static str) -> Result<Reader<'a>, ContainerError> {
        let len = self.u32(what)?;
        self.part(len, what)
    }

    /// `len` bytes of text.
    pub(crate) fn utf8(&mut self, len: u64, what: &'static str) -> Result<&'a str, ContainerError> {
        let bytes = self.bytes(len, what)?;
        std::str::from_utf8(bytes).map_err(|e| {
            let byte = bytes.get(e.valid_up_to()).copied().unwrap_or_default();
            self.bad(len - e.valid_up_to() as u64, what, byte)
        })
    }

    /// Text that a zero ends, of at most [`MAX_NAME`] bytes.
    pub(crate) fn text(&mut self, what: &'static str) -> Result<&'a str, ContainerError> {
        let rest = &self.data[self.at..];
        let Some(len) = rest.iter().take(MAX_NAME).position(|&b| b == 0) else {
            let (part, offset, left) = (self.part, self.offset(), rest.len() as u64);
            return Err(match rest.len() < MAX_NAME {
                true => ContainerError::Truncated { part, offset, what, needed: left + 1, left },
                false => self.beyond(what, left, MAX_NAME as u64),
            });
        };
        let text = self.utf8(len as u64, what)?;
        self.at += 1;
        Ok(text)
    }

    /// The error for a field read just before, `bytes` wide.
    pub(crate) fn bad(&self, bytes: u64, what: &'static str, value: impl Into<u64>) -> ContainerError {
        let offset = self.offset().saturating_sub(bytes);
        ContainerError::Value { part: self.part, offset, what, value: value.into() }
    }
}
