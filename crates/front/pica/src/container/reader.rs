//! Bounds-checked reads at absolute offsets.

use super::{ContainerError, Limits};
use std::cell::Cell;

/// Little-endian data with a high-water mark of what was read.
pub(super) struct Reader<'a> {
    data: &'a [u8],
    extent: Cell<usize>,
    work: Cell<u64>,
    work_limit: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(data: &'a [u8], limits: &Limits) -> Self {
        Reader { data, extent: Cell::new(0), work: Cell::new(0), work_limit: limits.work_bytes }
    }

    /// One past the last byte read so far.
    pub(super) fn extent(&self) -> usize {
        self.extent.get()
    }

    /// How many bytes were read so far, those read twice counted twice.
    pub(super) fn work(&self) -> u64 {
        self.work.get()
    }

    /// `len` bytes at `offset`.
    pub(super) fn bytes(
        &self,
        offset: u64,
        len: u64,
        what: &'static str,
    ) -> Result<&'a [u8], ContainerError> {
        let error = || ContainerError::Truncated { offset, what, needed: len, end: self.data.len() };
        let start = usize::try_from(offset).map_err(|_| error())?;
        let end = offset.checked_add(len).and_then(|end| usize::try_from(end).ok()).ok_or_else(error)?;
        let found = self.data.get(start..end).ok_or_else(error)?;
        self.extent.set(self.extent.get().max(end));
        self.charge(offset, len)?;
        Ok(found)
    }

    /// Counts `len` bytes at `offset` as read.
    pub(super) fn charge(&self, offset: u64, len: u64) -> Result<(), ContainerError> {
        let work = self.work.get().saturating_add(len);
        self.work.set(work);
        if work > self.work_limit {
            return Err(ContainerError::Work { offset, limit: self.work_limit });
        }
        Ok(())
    }

    /// `N` bytes at `offset`.
    pub(super) fn array<const N: usize>(
        &self,
        offset: u64,
        what: &'static str,
    ) -> Result<[u8; N], ContainerError> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(offset, N as u64, what)?);
        Ok(out)
    }

    pub(super) fn u32(&self, offset: u64, what: &'static str) -> Result<u32, ContainerError> {
        Ok(u32::from_le_bytes(self.array(offset, what)?))
    }

    pub(super) fn magic(&self, offset: u64, expected: &'static str) -> Result<(), ContainerError> {
        let found: [u8; 4] = self.array(offset, "magic")?;
        if found != *expected.as_bytes() {
            return Err(ContainerError::Magic { offset, expected, found });
        }
        Ok(())
    }

    /// `count` entries of `SIZE` bytes each, starting at `offset`.
    pub(super) fn entries<const SIZE: usize>(
        &self,
        offset: u64,
        count: u64,
        what: &'static str,
    ) -> Result<&'a [[u8; SIZE]], ContainerError> {
        let bytes = self.bytes(offset, count.saturating_mul(SIZE as u64), what)?;
        Ok(bytes.as_chunks().0)
    }
}

/// The little-endian u16 at `at` of a fixed-size entry.
pub(super) fn half<const N: usize>(entry: &[u8; N], at: usize) -> u16 {
    u16::from_le_bytes([entry[at], entry[at + 1]])
}

/// The little-endian u32 at `at` of a fixed-size entry.
pub(super) fn word<const N: usize>(entry: &[u8; N], at: usize) -> u32 {
    u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
}
