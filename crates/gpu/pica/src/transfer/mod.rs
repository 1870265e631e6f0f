//! Memory fill, display transfer and texture copy (vectors/picagpu/FORMAT.md, section 6).
//!
//! Where a transfer would leave memory it does nothing and says so. A display transfer reads all of its source before it
//! writes.

mod display;
mod pixel;

pub use display::DisplayTransfer;
#[cfg(feature = "capture")]
pub(crate) use pixel::Pixel;

use crate::memory::Memory;
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

/// The first `bytes` bytes at an address.
fn region(memory: &mut dyn Memory, address: u32, bytes: u64) -> Result<&mut [u8], TransferError> {
    let len = u32::try_from(bytes).ok();
    len.and_then(|len| memory.bytes_mut(address, len)).ok_or(TransferError::Unmapped { address, bytes })
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
        let span = u64::from(self.end.saturating_sub(self.start));
        let (size, whole) = match self.control >> 8 & 3 {
            0 => (2, span.next_multiple_of(2)),
            1 | 3 => (3, span.next_multiple_of(3)),
            _ => (4, span & !3),
        };
        if whole == 0 {
            return Ok(());
        }
        let value = self.value.to_le_bytes();
        let pattern = value.get(..size).unwrap_or_default();
        for chunk in region(memory, self.start, whole)?.chunks_exact_mut(size) {
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
#[derive(Clone, Copy)]
struct Lines {
    width: u64,
    gap: u64,
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
        let total = u64::from(self.bytes & !15);
        if total == 0 {
            return Ok(());
        }
        let (from, to) = (Lines::new(self.in_line, total), Lines::new(self.out_line, total));
        region(memory, self.src, from.place(total - 1) + 1)?;
        region(memory, self.dst, to.place(total - 1) + 1)?;
        let mut line = Vec::new();
        let mut at = 0;
        while at < total {
            let len = from.rest(at).min(to.rest(at)).min(total - at);
            line.clear();
            line.extend_from_slice(region(memory, self.src.wrapping_add(from.place(at) as u32), len)?);
            region(memory, self.dst.wrapping_add(to.place(at) as u32), len)?.copy_from_slice(&line);
            at += len;
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
