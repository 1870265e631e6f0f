//! Chroma at luma's places, in integers: weights are quarters at most along each axis, so that sums count sixteenths of a code
//! and are exact.

use super::QUARTERS;
use super::codes::{Code, Reader};
use crate::conversion::{Conversion, Filter, Reconstruction, Siting};
use crate::frame::Frame;
use pulp::bytemuck::Pod;

/// A sum of codes: words hold sixteen of up to 12 bits.
pub(super) trait Sum: Pod + Default {
    /// Bits of sixteen of the largest codes.
    const BITS: u32;

    fn of(code: u16) -> Self;

    fn blend(a: Self, b: Self, weights: [u16; 2]) -> Self;
}

macro_rules! sum {
    ($($ty:ty, $bits:expr;)*) => {
        $(impl Sum for $ty {
            const BITS: u32 = $bits;

            #[inline(always)]
            fn of(code: u16) -> $ty {
                code.into()
            }

            #[inline(always)]
            fn blend(a: $ty, b: $ty, [first, second]: [u16; 2]) -> $ty {
                a.wrapping_mul(first.into()).wrapping_add(b.wrapping_mul(second.into()))
            }
        })*
    };
}

sum!(
    u16, 16;
    u32, 20;
);

/// How chroma comes to luma's places along x.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Across {
    /// Every place has a sample.
    All,
    /// Both places of a pair have the same sample.
    Shared,
    /// Weights of the sample before and that of the pair at even places, of that and the next at odd ones. The sums of both
    /// are the same power of two.
    Pairs([u16; 2], [u16; 2]),
}

impl Across {
    /// Between samples at even places.
    pub(super) const COSITED: Across = Across::Pairs([0, 2], [1, 1]);
}

/// How chroma comes to luma's places along x, where it is that of one or two luma samples, and not cubic.
pub(super) fn across(frame: &Frame<'_>, conversion: &Conversion) -> Across {
    if frame.format.subsampling.factors()[0] == 1 {
        return Across::All;
    }
    match (conversion.filter, conversion.siting[0]) {
        (Filter::Nearest, Siting::CositedEven) if conversion.reconstruction == Reconstruction::Implicit => {
            Across::Pairs([0, 1], [0, 1])
        }
        (Filter::Nearest, _) => Across::Shared,
        (Filter::Linear | Filter::Cubic, Siting::CositedEven) => Across::COSITED,
        (Filter::Linear | Filter::Cubic, Siting::Midpoint) => Across::Pairs([1, 3], [3, 1]),
    }
}

/// The two rows of samples for a row of texels, and their weights; for what [`across`] is for.
pub(super) fn down(
    y: usize,
    size: usize,
    is_halved: bool,
    conversion: &Conversion,
) -> ([usize; 2], [u16; 2]) {
    let last = size.saturating_sub(1);
    let one = |sample: usize| ([sample.min(last); 2], [QUARTERS, 0]);
    if !is_halved {
        return one(y);
    }
    let (pair, is_odd) = (y / 2, y % 2 == 1);
    let is_implicit = conversion.reconstruction == Reconstruction::Implicit;
    let (first, weights) = match (conversion.filter, conversion.siting[1], is_odd) {
        (Filter::Nearest, Siting::CositedEven, _) if is_implicit => return one(y.div_ceil(2)),
        (Filter::Nearest, ..) | (_, Siting::CositedEven, false) => return one(pair),
        (_, Siting::CositedEven, true) => (pair, [2, 2]),
        (_, Siting::Midpoint, true) => (pair, [3, 1]),
        // Before the first sample there is the first.
        (_, Siting::Midpoint, false) if pair == 0 => return one(0),
        (_, Siting::Midpoint, false) => (pair - 1, [1, 3]),
    };
    ([first.min(last), (first + 1).min(last)], weights)
}

/// Adds two rows of codes by their weights.
#[inline(always)]
pub(super) fn blend_rows<C: Code, S: Sum>(reader: Reader, rows: [&[C]; 2], weights: [u16; 2], out: &mut [S]) {
    let [upper, lower] = rows;
    for ((out, &upper), &lower) in out.iter_mut().zip(upper).zip(lower) {
        *out = S::blend(S::of(upper.number(reader)), S::of(lower.number(reader)), weights);
    }
}

/// [`blend_rows`] of two channels whose samples are interleaved: sums of the first, and of the second.
#[inline(always)]
pub(super) fn blend_pairs<C: Code, S: Sum>(
    reader: Reader,
    rows: [&[[C; 2]]; 2],
    weights: [u16; 2],
    out: [&mut [S]; 2],
) {
    let ([upper, lower], [first, second]) = (rows, out);
    for (((first, second), upper), lower) in first.iter_mut().zip(second).zip(upper).zip(lower) {
        let (upper, lower) = (C::numbers(upper, reader), C::numbers(lower, reader));
        *first = S::blend(S::of(upper[0]), S::of(lower[0]), weights);
        *second = S::blend(S::of(upper[1]), S::of(lower[1]), weights);
    }
}

/// Adds pairs of sums by their weights.
#[inline(always)]
pub(super) fn blend<S: Sum, const N: usize>(
    before: &[S; N],
    behind: &[S; N],
    [first, second]: [u16; 2],
) -> [S; N] {
    let mut out = [S::default(); N];
    for i in 0..N {
        out[i] = S::blend(before[i], behind[i], [first, second]);
    }
    out
}
