//! Sixteen pixels of a row, worked on at once.

use super::buffers::WIDTH;
use fearless_simd::prelude::*;
use fearless_simd::{f32x8, f32x16, i32x8, i32x16, mask32x16, u32x16};

/// How many pixels are worked on at once.
pub const LANES: usize = 16;
/// A number of each pixel.
pub type Lanes<S> = u32x16<S>;
/// The same with a sign.
pub type SignedLanes<S> = i32x16<S>;
/// Some of the pixels.
pub type Mask<S> = mask32x16<S>;

/// The lanes' numbers.
const NUMBERS: [i32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The same number for each pixel.
#[inline(always)]
pub fn all<S: Simd>(simd: S, number: u32) -> Lanes<S> {
    Lanes::splat(simd, number)
}

/// Where `a` is less than `b`, both of 31 bits: what has a sign is compared in fewer instructions.
#[inline(always)]
pub fn less<S: Simd>(a: Lanes<S>, b: Lanes<S>) -> Mask<S> {
    a.bitcast::<SignedLanes<S>>().simd_lt(b.bitcast::<SignedLanes<S>>())
}

/// Where any of `bits` is set.
#[inline(always)]
pub fn any_bit<S: Simd>(numbers: Lanes<S>, bits: u32) -> Mask<S> {
    (numbers & bits).simd_ne(0)
}

/// Numbers where the mask holds, else 0.
#[inline(always)]
pub fn keep<S: Simd>(mask: Mask<S>, numbers: Lanes<S>) -> Lanes<S> {
    mask.select(numbers, all(numbers.token(), 0))
}

/// The pixels of `row` from column `first` on.
#[inline(always)]
pub fn load<S: Simd>(simd: S, row: &[u32; WIDTH], first: usize) -> Lanes<S> {
    Lanes::from_slice(simd, &row[first..first + LANES])
}

/// Replaces the pixels of `row` from column `first` on.
#[inline(always)]
pub fn store<S: Simd>(row: &mut [u32; WIDTH], first: usize, lanes: Lanes<S>) {
    lanes.store_slice(&mut row[first..first + LANES]);
}

/// What a table has at places.
#[inline(always)]
pub fn gather<S: Simd>(places: Lanes<S>, at: impl Fn(u32) -> u32) -> Lanes<S> {
    let mut out = places.to_array();
    for place in &mut out {
        *place = at(*place);
    }
    Lanes::load_array(places.token(), out)
}

/// Adjacent columns with a mask of the active ones.
#[derive(Clone, Copy, Debug)]
pub struct Block<S: Simd> {
    /// The first column; all [`LANES`] are in the row.
    pub first: usize,
    /// Those that count.
    pub counts: Mask<S>,
}

impl<S: Simd> Block<S> {
    /// The columns from `from` up to but not including `to`, as many as fit.
    #[inline(always)]
    pub fn new(simd: S, from: usize, to: usize) -> Block<S> {
        let first = from.min(WIDTH - LANES);
        let (skip, end) = ((from - first) as i32, (to - first) as i32);
        let numbers = SignedLanes::load_array(simd, NUMBERS);
        Block { first, counts: numbers.simd_lt(end) & numbers.simd_ge(skip) }
    }

    /// Columns, counted from another.
    #[inline(always)]
    pub fn columns_from(&self, origin: i32) -> SignedLanes<S> {
        SignedLanes::load_array(self.counts.token(), NUMBERS) + (self.first as i32 - origin)
    }
}

/// Numbers from 0 on for the pixels of a mask, from left to right.
#[inline(always)]
pub fn ranks<S: Simd>(mask: Mask<S>) -> Lanes<S> {
    SignedLanes::load_array(mask.token(), NUMBERS).expand(mask).bitcast()
}

/// 2^23: a sum of this size has no fraction, and the nearest whole number in its lowest bits.
const WHOLE: f32 = 8_388_608.0;

macro_rules! whole_quotients {
    ($name:ident, $ints:ident, $floats:ident) => {
        #[doc = "Whole parts of quotients of up to 17 bits that are not negative, from approximations that are less than"]
        #[doc = "a half off. Numerators may wrap around."]
        #[inline(always)]
        pub fn $name<S: Simd>(numerators: $ints<S>, denominators: $ints<S>, near: $floats<S>) -> $ints<S> {
            // The whole part or one more.
            let guesses = (near + WHOLE).bitcast::<$ints<S>>() - WHOLE.to_bits() as i32;
            let rests = numerators - guesses * denominators;
            guesses + (rests >> 31)
        }
    };
}

whole_quotients!(whole_quotients, i32x16, f32x16);
whole_quotients!(whole_quotients8, i32x8, f32x8);

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[test]
    fn masks() {
        dispatch!(Level::new(), simd => {
            let numbers = ranks(Mask::splat(simd, true));
            assert_eq!(less(numbers, all(simd, 3)).to_bitmask(), 7);
            assert_eq!(any_bit(numbers, 8).to_bitmask(), 0xff00);
            assert_eq!(ranks(Mask::from_bitmask(simd, 0b1011_0000)).to_array()[4..8], [0, 1, 0, 2]);
            assert_eq!(keep(Mask::from_bitmask(simd, 2), all(simd, 7)).to_array()[..3], [0, 7, 0]);
        });
    }

    #[test]
    fn blocks_stay_in_the_row() {
        dispatch!(Level::new(), simd => {
            let columns = |from, to| {
                let block = Block::new(simd, from, to);
                let counted = (0..LANES).filter(|i| block.counts.to_bitmask() >> i & 1 != 0);
                counted.map(|i| block.first + i).collect::<Vec<_>>()
            };
            assert_eq!(columns(3, 5), [3, 4]);
            assert_eq!(columns(0, 100), (0..16).collect::<Vec<_>>());
            assert_eq!(columns(250, 256), (250..256).collect::<Vec<_>>());
            assert_eq!(columns(255, 256), [255]);
            assert_eq!(Block::new(simd, 255, 256).columns_from(250).to_array()[15], 5);
        });
    }
}
