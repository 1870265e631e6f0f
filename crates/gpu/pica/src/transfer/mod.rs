//! Memory fill, display transfer and texture copy (vectors/picagpu/FORMAT.md, section 6).
//!
//! Where a transfer would leave memory it does nothing and says so. A display transfer reads all of its source before it
//! writes.

mod display;
mod pixel;

pub(crate) use display::DisplayJob;
pub use display::DisplayTransfer;
pub(crate) use pixel::Pixel;

use crate::memory::Memory;
use std::ops::Range;
use thiserror::Error;

/// Why a transfer did nothing.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TransferError {
    /// Part of a region is not memory.
    #[error("transfer: {bytes} bytes at {address:#010x} are not all memory")]
    Unmapped {
        /// Physical address.
        address: u32,
        /// Bytes from there on.
        bytes: u64,
    },
    /// A pixel format that there is not.
    #[error("transfer: there is no pixel format {0}")]
    Format(u32),
}

/// Bytes of guest memory from an address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Physical address.
    pub address: u32,
    /// How many; not 0.
    pub bytes: u64,
}

impl Span {
    /// The addresses, as if there were more than 2³² of them.
    pub fn range(&self) -> Range<u64> {
        u64::from(self.address)..u64::from(self.address) + self.bytes
    }

    /// The bytes.
    fn of<'m>(&self, memory: &'m mut dyn Memory) -> Result<&'m mut [u8], TransferError> {
        let Span { address, bytes } = *self;
        let len = u32::try_from(bytes).ok();
        len.and_then(|len| memory.bytes_mut(address, len)).ok_or(TransferError::Unmapped { address, bytes })
    }
}

/// A fill, transfer or copy that makes sense and does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job(pub(crate) Work);

/// What a [`Job`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Fill(FillJob),
    Display(DisplayJob),
    Copy(CopyJob),
}

impl Job {
    /// What it reads; nothing for a fill.
    pub fn source(&self) -> Option<Span> {
        match &self.0 {
            Work::Fill(_) => None,
            Work::Display(job) => Some(job.from),
            Work::Copy(job) => Some(job.from),
        }
    }

    /// What it writes, and perhaps gaps between.
    pub fn destination(&self) -> Span {
        match &self.0 {
            Work::Fill(job) => job.to,
            Work::Display(job) => job.to,
            Work::Copy(job) => job.to,
        }
    }

    /// Whether all of it is memory.
    ///
    /// # Errors
    /// [`TransferError::Unmapped`].
    pub fn check(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        if let Some(source) = self.source() {
            source.of(memory)?;
        }
        self.destination().of(memory).map(drop)
    }

    /// Does it in guest memory.
    ///
    /// # Errors
    /// [`TransferError::Unmapped`]; nothing has changed then.
    pub fn run(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        self.check(memory)?;
        match &self.0 {
            Work::Fill(job) => job.run(memory),
            Work::Display(job) => job.run(memory),
            Work::Copy(job) => job.run(memory),
        }
    }
}

/// A memory fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Physical address of the first byte.
    pub start: u32,
    /// Filling goes on while the address is below this.
    pub end: u32,
    /// What is written.
    pub value: u32,
    /// \[8\] 24-bit, \[9\] 32-bit, else 16-bit.
    pub control: u32,
}

impl Fill {
    /// Fills.
    ///
    /// # Errors
    /// [`TransferError::Unmapped`].
    pub fn run(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        self.job().map_or(Ok(()), |job| job.run(memory))
    }

    /// What there is to do, if anything.
    pub fn job(&self) -> Option<Job> {
        let span = u64::from(self.end.saturating_sub(self.start));
        let (size, bytes) = match self.control >> 8 & 3 {
            0 => (2, span.next_multiple_of(2)),
            1 | 3 => (3, span.next_multiple_of(3)),
            _ => (4, span & !3),
        };
        let to = Span { address: self.start, bytes };
        (bytes != 0).then_some(Job(Work::Fill(FillJob { to, size, value: self.value })))
    }
}

/// A fill that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FillJob {
    pub to: Span,
    /// Bytes of a value.
    pub size: u32,
    pub value: u32,
}

impl FillJob {
    fn run(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        let value = self.value.to_le_bytes();
        let pattern = value.get(..self.size as usize).unwrap_or_default();
        for chunk in self.to.of(memory)?.chunks_exact_mut(pattern.len().max(1)) {
            chunk.copy_from_slice(pattern);
        }
        Ok(())
    }
}

/// A texture copy: lines with gaps between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureCopy {
    /// Physical address.
    pub src: u32,
    /// Physical address.
    pub dst: u32,
    /// Bytes copied, rounded down to 16.
    pub bytes: u32,
    /// Line and gap of the source, in units of 16 bytes: \[15:0\] and \[31:16\].
    pub in_line: u32,
    /// The same of the destination.
    pub out_line: u32,
    /// The copy engine's flags, kept for whoever reads a capture. Nothing in them changes what is copied.
    pub flags: u32,
}

/// How bytes that follow each other lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// Bytes of a line, not 0.
    pub width: u64,
    /// Bytes to the next one.
    pub gap: u64,
}

impl Lines {
    /// Of a line word. No gap, or no width, is one line.
    fn new(word: u32, bytes: u64) -> Lines {
        let (width, gap) = (u64::from(word & 0xffff) * 16, u64::from(word >> 16) * 16);
        if gap == 0 || width == 0 { Lines { width: bytes, gap: 0 } } else { Lines { width, gap } }
    }

    /// Where byte number `at` lies.
    fn place(self, at: u64) -> u64 {
        at / self.width * (self.width + self.gap) + at % self.width
    }

    /// Bytes from `at` to the end of its line.
    fn rest(self, at: u64) -> u64 {
        self.width - at % self.width
    }
}

impl TextureCopy {
    /// Copies, from the first byte on.
    ///
    /// # Errors
    /// [`TransferError::Unmapped`].
    pub fn run(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        self.job().map_or(Ok(()), |job| job.run(memory))
    }

    /// What there is to do, if anything.
    pub fn job(&self) -> Option<Job> {
        let total = u64::from(self.bytes & !15);
        let last = total.checked_sub(1)?;
        let (from_lines, to_lines) = (Lines::new(self.in_line, total), Lines::new(self.out_line, total));
        let span = |address, lines: Lines| Span { address, bytes: lines.place(last) + 1 };
        let (from, to) = (span(self.src, from_lines), span(self.dst, to_lines));
        Some(Job(Work::Copy(CopyJob { from, to, from_lines, to_lines, total })))
    }
}

/// A texture copy that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyJob {
    pub from: Span,
    pub to: Span,
    pub from_lines: Lines,
    pub to_lines: Lines,
    /// Bytes that are copied, a multiple of 16.
    pub total: u64,
}

impl CopyJob {
    fn run(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        let mut line = Vec::new();
        let mut at = 0;
        while at < self.total {
            let bytes = self.from_lines.rest(at).min(self.to_lines.rest(at)).min(self.total - at);
            let part = |span: Span, lines: Lines| Span {
                address: span.address.wrapping_add(lines.place(at) as u32),
                bytes,
            };
            line.clear();
            line.extend_from_slice(part(self.from, self.from_lines).of(memory)?);
            part(self.to, self.to_lines).of(memory)?.copy_from_slice(&line);
            at += bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};

    fn memory(bytes: Vec<u8>) -> Regions {
        let mut memory = Regions::new();
        memory.add(FCRAM, bytes);
        memory
    }

    #[test]
    fn fills_of_each_width() {
        let run = |bytes: u32, control| {
            let mut memory = memory(vec![0; 8]);
            let fill = Fill { start: FCRAM, end: FCRAM + bytes, value: 0x0403_0201, control };
            fill.run(&mut memory).map(|()| memory.bytes(FCRAM, 8).unwrap().to_vec())
        };
        assert_eq!(run(4, 0), Ok(vec![1, 2, 1, 2, 0, 0, 0, 0]));
        assert_eq!(run(4, 0x300), Ok(vec![1, 2, 3, 1, 2, 3, 0, 0]));
        assert_eq!(run(7, 0x200), Ok(vec![1, 2, 3, 4, 0, 0, 0, 0]));
        assert_eq!(run(9, 0), Err(TransferError::Unmapped { address: FCRAM, bytes: 10 }));
        assert_eq!(run(0, 0), Ok(vec![0; 8]));
    }

    #[test]
    fn copies_between_lines_of_different_widths() {
        let bytes: Vec<u8> = (0..16).flat_map(|n| [n; 16]).collect();
        let mut memory = memory(bytes);
        // Lines of one unit with one unit between them, to lines of two units with one between.
        let copy = TextureCopy {
            src: FCRAM,
            dst: FCRAM + 8 * 16,
            bytes: 4 * 16 + 15,
            in_line: 1 | 1 << 16,
            out_line: 2 | 1 << 16,
            flags: 8,
        };
        copy.run(&mut memory).unwrap();
        let units: Vec<u8> = memory.bytes(FCRAM, 256).unwrap().iter().step_by(16).copied().collect();
        assert_eq!(units[8..], [0, 2, 10, 4, 6, 13, 14, 15]);
        assert!(TextureCopy { bytes: u32::MAX, ..copy }.run(&mut memory).is_err());
    }
}
