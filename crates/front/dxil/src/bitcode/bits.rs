//! Bits of bitcode: little-endian, the lowest bit of a byte first (LLVM's BitCodeFormat, "Bitstream Format").

use super::error::{ErrorKind, Step};

/// A place in bytes, counted in bits. Past the end are zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The bits ahead, the next one lowest; zeros or what [`Bits::next`] has, too, above them.
    word: u64,
    /// How many there are of them.
    ahead: u32,
    /// The byte after them.
    next: usize,
}

/// Bits that one [`Bits::fixed`] reads at most.
pub(super) const MAX_FIXED: u32 = 32;

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, word: 0, ahead: 0, next: 0 }
    }

    /// The place in bits; past the end once a number was read there.
    #[inline(always)]
    pub fn at(&self) -> u64 {
        self.next as u64 * 8 - u64::from(self.ahead)
    }

    pub fn end(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    pub fn left(&self) -> u64 {
        self.end().saturating_sub(self.at())
    }

    /// Looks ahead to `width` bits, at most 56.
    #[inline(always)]
    fn fill(&mut self, width: u32) {
        if self.ahead >= width {
            return;
        }
        let rest = self.bytes.get(self.next..);
        let new = match rest.and_then(|rest| rest.first_chunk::<8>()) {
            Some(new) => u64::from_le_bytes(*new),
            None => last(self.bytes, self.next),
        };
        self.word |= new << self.ahead;
        // As many bytes as are in the word as a whole.
        let count = (63 - self.ahead) / 8;
        self.next += count as usize;
        self.ahead += count * 8;
    }

    /// An unsigned number of `width` bits, at most [`MAX_FIXED`].
    #[inline(always)]
    pub fn fixed(&mut self, width: u32) -> u64 {
        self.fill(width);
        let value = self.word & ((1 << width) - 1);
        self.pass(width);
        value
    }

    #[inline(always)]
    fn pass(&mut self, width: u32) {
        self.word >>= width;
        self.ahead -= width;
    }

    /// A number in groups of `width` bits (2 to 32), the highest of each telling whether another follows. Bits past the
    /// 64th are dropped.
    #[inline(always)]
    pub fn vbr(&mut self, width: u32) -> u64 {
        let more = 1 << (width - 1);
        let mut group = self.fixed(width);
        let mut value = group & (more - 1);
        let mut shift = width - 1;
        // Past the end are zeros, behind which nothing follows: this ends.
        while group & more != 0 {
            group = self.fixed(width);
            if shift < 64 {
                value |= (group & (more - 1)) << shift;
            }
            shift += width - 1;
        }
        value
    }

    /// [`Bits::vbr`] in groups of six bits, as nearly all numbers are. How many groups follow is hard to foresee: up to three
    /// are taken together, without a branch for each.
    #[inline(always)]
    pub fn vbr6(&mut self) -> u64 {
        const LAST: u64 = 0o40_40_40;
        self.fill(18);
        let ends = !self.word & LAST;
        if ends == 0 {
            return self.vbr(6);
        }
        let groups = self.word & (ends ^ (ends - 1));
        self.pass(ends.trailing_zeros() + 1);
        groups & 0x1f | groups >> 1 & 0x1f << 5 | groups >> 2 & 0x1f << 10
    }

    /// To the next multiple of 32 bits.
    pub fn align(&mut self) -> Step<()> {
        self.seek(self.at().next_multiple_of(32))
    }

    /// To a place in bits, at most the end.
    pub fn seek(&mut self, at: u64) -> Step<()> {
        if at > self.end() {
            return Err(ErrorKind::Truncated("a block"));
        }
        *self = Bits { next: (at / 8) as usize, ..Bits::new(self.bytes) };
        self.fixed((at % 8) as u32);
        Ok(())
    }

    /// Whole bytes from a place that is a multiple of 8 on.
    pub fn bytes(&mut self, len: u64) -> Step<&'a [u8]> {
        let start = self.at() / 8;
        let end = start.saturating_add(len);
        let bytes = self.bytes.get(start as usize..end as usize).ok_or(ErrorKind::Truncated("a blob"))?;
        self.seek(end * 8)?;
        Ok(bytes)
    }
}

/// The last bytes, from byte `next` on.
#[cold]
fn last(bytes: &[u8], next: usize) -> u64 {
    let rest = bytes.get(next..).unwrap_or_default();
    rest.iter().take(8).rev().fold(0, |word, &b| word << 8 | u64::from(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_lowest_bit_on() {
        let mut bits = Bits::new(&[0b1010_0110, 0xff, 0x01, 0, 0xff]);
        assert_eq!(bits.fixed(3), 0b110);
        assert_eq!(bits.fixed(0), 0);
        assert_eq!(bits.fixed(13), 0b1_1111_1111_0100 & 0x1fff);
        assert_eq!(bits.fixed(1), 1);
        assert_eq!(bits.align(), Ok(()));
        assert_eq!(bits.fixed(12), 0xff);
        assert_eq!(bits.at(), 44);
        assert_eq!(bits.left(), 0);
        assert_eq!(bits.align(), Err(ErrorKind::Truncated("a block")));
    }

    #[test]
    fn groups_together_are_as_groups() {
        let mut bytes = [0u8; 24];
        for (n, byte) in bytes.iter_mut().enumerate() {
            *byte = (n as u8).wrapping_mul(0x9d) ^ 0xb7;
        }
        let (mut one, mut several) = (Bits::new(&bytes), Bits::new(&bytes));
        while one.left() > 0 {
            assert_eq!(one.vbr(6), several.vbr6());
            assert_eq!(one.at(), several.at());
        }
        let mut long = Bits::new(&[0xff; 4]);
        long.vbr6();
        assert_eq!(long.at(), 36);
    }

    #[test]
    fn groups_continue_while_their_highest_bit_is_set() {
        // 27 in groups of 4 bits: 1011, 0011.
        let mut bits = Bits::new(&[0b0011_1011]);
        assert_eq!(bits.vbr(4), 27);
        // Twenty groups of ones and then a zero: what does not fit is dropped.
        let mut long = vec![0xff; 20];
        long.push(0);
        assert_eq!(Bits::new(&long).vbr(8), u64::MAX);
        let mut short = Bits::new(&[0xff; 4]);
        short.vbr(6);
        assert!(short.at() > short.end());
    }
}
