//! Bits of bitcode: little-endian, the lowest bit of a byte first (LLVM's BitCodeFormat, "Bitstream Format").

use super::error::{ErrorKind, Step};

/// A place in bytes, counted in bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: u64,
}

/// Bits that one [`Bits::fixed`] reads at most.
pub(super) const MAX_FIXED: u32 = 32;

/// Bits that are left of eight bytes, from whichever bit of the first one on.
const WINDOW: u32 = 57;

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, at: 0 }
    }

    /// The place in bits.
    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn end(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    pub fn left(&self) -> u64 {
        self.end().saturating_sub(self.at)
    }

    /// The next [`WINDOW`] bits, if so many bytes follow, and what is above them.
    #[inline]
    fn window(&self) -> Option<u64> {
        let word = self.bytes.get((self.at / 8) as usize..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*word) >> (self.at % 8))
    }

    /// [`Bits::window`] where the bytes end, zeros past the end.
    #[cold]
    fn last_window(&self) -> u64 {
        let rest = self.bytes.get((self.at / 8) as usize..).unwrap_or_default();
        rest.iter().take(8).rev().fold(0, |word, &b| word << 8 | u64::from(b)) >> (self.at % 8)
    }

    /// An unsigned number of `width` bits, at most [`MAX_FIXED`].
    #[inline]
    pub fn fixed(&mut self, width: u32) -> Step<u64> {
        let word = match self.window() {
            Some(word) => word,
            None if self.left() < width.into() => return Err(ErrorKind::Truncated("a number")),
            None => self.last_window(),
        };
        self.at += u64::from(width);
        Ok(word & ((1 << width) - 1))
    }

    /// A number in groups of `width` bits (2 to 32), the highest of each telling whether another follows. Bits past the
    /// 64th are dropped.
    #[inline]
    pub fn vbr(&mut self, width: u32) -> Step<u64> {
        // Nearly all numbers are of few groups: one look at the bytes is enough.
        if let Some(mut word) = self.window() {
            let more = 1 << (width - 1);
            let (mut value, mut used, mut shift) = (0, width, 0);
            while used <= WINDOW {
                value |= (word & (more - 1)) << shift;
                if word & more == 0 {
                    self.at += u64::from(used);
                    return Ok(value);
                }
                word >>= width;
                shift += width - 1;
                used += width;
            }
        }
        self.long_vbr(width)
    }

    /// [`Bits::vbr`] of any length, and where the bytes end.
    #[cold]
    fn long_vbr(&mut self, width: u32) -> Step<u64> {
        let more = 1 << (width - 1);
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let group = self.fixed(width)?;
            if shift < 64 {
                value |= (group & (more - 1)) << shift;
            }
            if group & more == 0 {
                return Ok(value);
            }
            shift += width - 1;
        }
    }

    /// To the next multiple of 32 bits.
    pub fn align(&mut self) -> Step<()> {
        self.seek(self.at.next_multiple_of(32))
    }

    /// To a place in bits, at most the end.
    pub fn seek(&mut self, at: u64) -> Step<()> {
        if at > self.end() {
            return Err(ErrorKind::Truncated("a block"));
        }
        self.at = at;
        Ok(())
    }

    /// Whole bytes from a place that is a multiple of 8 on.
    pub fn bytes(&mut self, len: u64) -> Step<&'a [u8]> {
        let start = self.at / 8;
        let range = start as usize..start.saturating_add(len) as usize;
        let bytes = self.bytes.get(range).ok_or(ErrorKind::Truncated("a blob"))?;
        self.at += len * 8;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_lowest_bit_on() {
        let mut bits = Bits::new(&[0b1010_0110, 0xff, 0x01, 0, 0]);
        assert_eq!(bits.fixed(3), Ok(0b110));
        assert_eq!(bits.fixed(0), Ok(0));
        assert_eq!(bits.fixed(13), Ok(0b1_1111_1111_0100 & 0x1fff));
        assert_eq!(bits.fixed(1), Ok(1));
        assert_eq!(bits.align(), Ok(()));
        assert_eq!(bits.fixed(8), Ok(0));
        assert_eq!(bits.fixed(1), Err(ErrorKind::Truncated("a number")));
    }

    #[test]
    fn groups_continue_while_their_highest_bit_is_set() {
        // 27 in groups of 4 bits: 1011, 0011.
        let mut bits = Bits::new(&[0b0011_1011]);
        assert_eq!(bits.vbr(4), Ok(27));
        // Twenty groups of ones and then a zero: what does not fit is dropped.
        let mut long = vec![0xff; 20];
        long.push(0);
        assert_eq!(Bits::new(&long).vbr(8), Ok(u64::MAX));
        assert!(Bits::new(&[0xff; 4]).vbr(6).is_err());
    }
}
