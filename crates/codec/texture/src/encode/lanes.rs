//! Sixteen blocks of 4x4 texels at a time, one in each lane.
//!
//! A function that is not inlined into `vectorize` is compiled for the baseline instruction set. So functions that take a
//! token are `inline(always)`, and arrays are filled by loops, as closures may stay calls.

use fearless_simd::prelude::*;
use fearless_simd::{f32x16, mask32x16, u32x16};

/// Blocks encoded together.
pub const LANES: usize = 16;

/// A float for each of sixteen blocks.
pub type F<S> = f32x16<S>;
/// A word for each of sixteen blocks.
pub type U<S> = u32x16<S>;
/// A truth for each of sixteen blocks.
pub type Mask<S> = mask32x16<S>;

/// A number for each of sixteen blocks.
pub type Lane = [u32; LANES];

/// The words of sixteen blocks. Blocks of eight bytes have two, and the others are 0.
pub type Words = [Lane; 4];

/// Four rows of the texels of sixteen adjacent blocks: RGBA8 in `u32`, RGBA of halves in `u64`, the first component lowest.
pub type Rows<W> = [[W; 4 * LANES]; 4];

/// Components of the texels of sixteen blocks, indexed by component and then by texel, row by row: 0 to 255, but of
/// halves as [`bc6h`](super::bc6h) has them.
pub struct Blocks<S: Simd> {
    pub texels: [[F<S>; 16]; 4],
    /// Whether alpha is 255 in all texels of all blocks.
    pub opaque: bool,
    /// The bits in which texels of a block differ.
    pub differing: U<S>,
}

#[inline(always)]
pub fn splat<S: Simd>(simd: S, value: f32) -> F<S> {
    F::splat(simd, value)
}

#[inline(always)]
pub fn words<S: Simd>(simd: S, value: u32) -> U<S> {
    U::splat(simd, value)
}

/// The nearest integer to a number that is not negative.
#[inline(always)]
pub fn rounded<S: Simd>(value: F<S>) -> U<S> {
    (value + 0.5).to_int()
}

/// A number clamped to 0 to `top` and rounded to an integer.
#[inline(always)]
pub fn level<S: Simd>(value: F<S>, top: F<S>) -> F<S> {
    value.max(splat(value.simd, 0.0)).min(top).round_ties_even()
}

impl<S: Simd> Blocks<S> {
    #[inline(always)]
    pub fn load(simd: S, rows: &Rows<u32>) -> Blocks<S> {
        let zero = splat(simd, 0.0);
        let mut texels = [[zero; 16]; 4];
        let (mut all, mut any) = (words(simd, !0), words(simd, 0));
        let low = words(simd, 0xff);
        for (y, row) in rows.iter().enumerate() {
            let (quarters, _) = row.as_chunks::<LANES>();
            let [a, b, c, d] = quarters else { continue };
            let (a, b) = (U::load_array_ref(simd, a), U::load_array_ref(simd, b));
            let (c, d) = (U::load_array_ref(simd, c), U::load_array_ref(simd, d));
            let (even, odd) = a.deinterleave(b);
            let (even2, odd2) = c.deinterleave(d);
            let (first, third) = even.deinterleave(even2);
            let (second, fourth) = odd.deinterleave(odd2);
            let columns = [first, second, third, fourth];
            for x in 0..4 {
                let texel = columns[x];
                all &= texel;
                any |= texel;
                let at = 4 * y + x;
                texels[0][at] = (texel & low).to_float();
                texels[1][at] = (texel >> 8 & low).to_float();
                texels[2][at] = (texel >> 16 & low).to_float();
                texels[3][at] = (texel >> 24).to_float();
            }
        }
        let opaque = (all >> 24).simd_eq(low).all_true();
        Blocks { texels, opaque, differing: all ^ any }
    }
}
