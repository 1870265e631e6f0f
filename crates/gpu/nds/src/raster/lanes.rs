//! Sixteen pixels of a row, worked on at once.
//!
//! Loops over them are written so that compilers make vectors of them: without branches, and everything that they call
//! inlined.

use super::buffers::WIDTH;

/// How many pixels are worked on at once.
pub const LANES: usize = 16;
/// A number of each pixel.
pub type Lanes = [u32; LANES];
/// The same with a sign.
pub type SignedLanes = [i32; LANES];
/// All ones for some pixels, 0 for the others.
pub type Mask = Lanes;

/// The lanes' numbers.
const NUMBERS: SignedLanes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// All ones if `a` is less than `b`, both of 31 bits. Of comparisons in loops compilers make worse code.
#[inline(always)]
pub fn less(a: u32, b: u32) -> u32 {
    sign(a.wrapping_sub(b) as i32)
}

/// All ones if a number of 31 bits is not 0.
#[inline(always)]
pub fn any_bit(number: u32) -> u32 {
    less(0, number)
}

/// All ones if it is negative.
#[inline(always)]
pub fn sign(number: i32) -> u32 {
    (number >> 31) as u32
}

/// All ones if it holds.
#[inline(always)]
pub fn mask(holds: bool) -> u32 {
    u32::from(holds).wrapping_neg()
}

/// `a` where the mask has ones, else `b`.
#[inline(always)]
pub fn select(mask: u32, a: u32, b: u32) -> u32 {
    (a & mask) | (b & !mask)
}

/// Whether the mask has ones.
#[inline(always)]
pub fn any(mask: &Mask) -> bool {
    let mut all = 0;
    for lane in mask {
        all |= lane;
    }
    all != 0
}

/// The pixels of `row` from column `first` on.
#[inline(always)]
pub fn load(row: &[u32; WIDTH], first: usize) -> Lanes {
    let mut lanes = [0; LANES];
    lanes.copy_from_slice(&row[first..first + LANES]);
    lanes
}

/// Replaces the pixels of `row` from column `first` on.
#[inline(always)]
pub fn store(row: &mut [u32; WIDTH], first: usize, lanes: &Lanes) {
    row[first..first + LANES].copy_from_slice(lanes);
}

/// Columns next to each other, some of which count.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The first column; all [`LANES`] are in the row.
    pub first: usize,
    /// Those that count.
    pub counts: Mask,
}

impl Block {
    /// Columns from `from` on, as many as fit, of those before `to`.
    #[inline(always)]
    pub fn new(from: usize, to: usize) -> Block {
        let first = from.min(WIDTH - LANES);
        let (skip, end) = ((from - first) as i32, (to - first) as i32);
        let mut counts = [0; LANES];
        for (lane, number) in counts.iter_mut().zip(NUMBERS) {
            *lane = sign(number - end) & !sign(number - skip);
        }
        Block { first, counts }
    }

    /// Columns, counted from another.
    #[inline(always)]
    pub fn columns_from(&self, origin: i32) -> SignedLanes {
        let first = self.first as i32 - origin;
        let mut columns = [0; LANES];
        for (column, number) in columns.iter_mut().zip(NUMBERS) {
            *column = first + number;
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!((less(1, 2), less(2, 2), less(!0 >> 1, 0), less(0, !0 >> 1)), (!0, 0, 0, !0));
        assert_eq!((any_bit(0), any_bit(1), any_bit(1 << 30)), (0, !0, !0));
        assert_eq!((select(0xff, 0x1234, 0x5678), any(&[0; LANES])), (0x5634, false));
    }

    #[test]
    fn blocks_stay_in_the_row() {
        let columns = |from, to| {
            let block = Block::new(from, to);
            let counted = (0..LANES).filter(|&i| block.counts[i] != 0);
            counted.map(|i| block.first + i).collect::<Vec<_>>()
        };
        assert_eq!(columns(3, 5), [3, 4]);
        assert_eq!(columns(0, 100), (0..16).collect::<Vec<_>>());
        assert_eq!(columns(250, 256), (250..256).collect::<Vec<_>>());
        assert_eq!(columns(255, 256), [255]);
        assert_eq!(Block::new(255, 256).columns_from(250)[15], 5);
    }
}
