//! Rows of texels, group by group, with either arithmetic.

use super::Plan;
use super::chroma::{Sum, blend};
use super::codes::{Code, Number};

/// How many bytes ahead of texels memory is prefetched. Processors prefetch by themselves, but not into the next page.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// Prefetches the memory [`AHEAD`] of texels that are made of samples of a byte. Texels of longer samples take no less time with it.
#[inline(always)]
fn prefetch_ahead<C, T>(texels: &[T]) {
    #[cfg(target_arch = "x86_64")]
    if size_of::<C>() == 1 {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let ahead = texels.as_ptr().cast::<i8>().wrapping_add(AHEAD);
        // SAFETY: every x86-64 processor has the instruction, which is a hint: it faults at no address and changes nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = texels;
}

/// Chroma samples, each for a pair of texels.
pub(super) trait Samples<const PAIRS: usize, const GROUP: usize>: Copy {
    /// What the chroma samples of a group add to the components.
    fn chroma<A: Arithmetic<PAIRS, GROUP>>(self, arithmetic: A, group: usize) -> Option<A::Chroma>;
}

/// Samples of Cr, and samples of Cb.
impl<N: Number, const PAIRS: usize, const GROUP: usize> Samples<PAIRS, GROUP> for [&[N]; 2] {
    #[inline(always)]
    fn chroma<A: Arithmetic<PAIRS, GROUP>>(self, arithmetic: A, group: usize) -> Option<A::Chroma> {
        let [cr, cb] = self;
        Some(arithmetic.of_chroma(cr.as_chunks().0.get(group)?, cb.as_chunks().0.get(group)?))
    }
}

/// Which samples are the first of pairs.
#[derive(Clone, Copy)]
pub(super) enum PairOrder {
    CrFirst,
    CbFirst,
}

impl PairOrder {
    /// Puts the first and the second of each pair in the order Cr, Cb.
    #[inline(always)]
    pub(super) fn cr_first<T>(self, [first, second]: [T; 2]) -> [T; 2] {
        match self {
            PairOrder::CrFirst => [first, second],
            PairOrder::CbFirst => [second, first],
        }
    }
}

/// Interleaved samples of Cr and Cb.
#[derive(Clone, Copy)]
pub(super) struct InTurns<'a, C> {
    pub samples: &'a [C],
    pub order: PairOrder,
}

impl<C: Code, const PAIRS: usize, const GROUP: usize> Samples<PAIRS, GROUP> for InTurns<'_, C> {
    #[inline(always)]
    fn chroma<A: Arithmetic<PAIRS, GROUP>>(self, arithmetic: A, group: usize) -> Option<A::Chroma> {
        let pairs = self.samples.as_chunks().0.get(group)?;
        Some(arithmetic.of_chroma_pairs(pairs, self.order))
    }
}

/// Makes groups of `GROUP` texels, which are `PAIRS` pairs.
pub(super) trait Arithmetic<const PAIRS: usize, const GROUP: usize>: Copy {
    /// The instructions used.
    type Lanes;

    type Texel: Copy + Default;

    /// What chroma adds to the components of `PAIRS` texels.
    type Chroma: Copy;

    /// Whether it is known that luma has the same part in all components, and red and blue no part of the other's chroma.
    const IS_LUMA_SHARED: bool;

    /// Whether codes, and sums of codes, begin at the highest bit of their types; or else they end at the lowest.
    const IS_HIGH: bool;

    /// For chroma of which each number is `unit` times a code.
    fn new(lanes: Self::Lanes, plan: &Plan<'_>, unit: u16) -> Self;

    fn of_chroma<N: Number>(self, cr: &[N; PAIRS], cb: &[N; PAIRS]) -> Self::Chroma;

    /// The same for interleaved Cr and Cb, where all components have the same share of luma.
    fn of_chroma_pairs<C: Code>(self, pairs: &[C; GROUP], order: PairOrder) -> Self::Chroma;

    /// Texels with chroma for each.
    fn texels<C: Code, N: Number>(self, luma: &[C; GROUP], chroma: [&[N; GROUP]; 2]) -> [Self::Texel; GROUP];

    /// Texels with chroma for those at even places and for those at odd ones.
    fn texel_pairs<C: Code>(self, luma: &[C; GROUP], chroma: [Self::Chroma; 2]) -> [Self::Texel; GROUP];

    /// Makes texels of which each has a sample of luma and of chroma.
    #[inline(always)]
    fn paint<C: Code, N: Number>(self, lumas: &[C], [reds, blues]: [&[N]; 2], texels: &mut [Self::Texel]) {
        let groups = texels.as_chunks_mut().0.iter_mut().zip(lumas.as_chunks().0);
        let chroma = reds.as_chunks().0.iter().zip(blues.as_chunks().0);
        for ((out, luma), (red, blue)) in groups.zip(chroma) {
            prefetch_ahead::<C, _>(out);
            *out = self.texels(luma, [red, blue]);
        }
    }

    /// Makes texels in pairs that have a sample of chroma each.
    #[inline(always)]
    fn paint_pairs<C: Code>(
        self,
        lumas: &[C],
        chroma: impl Samples<PAIRS, GROUP>,
        texels: &mut [Self::Texel],
    ) {
        let groups = texels.as_chunks_mut().0.iter_mut().zip(lumas.as_chunks().0);
        for (group, (out, luma)) in groups.enumerate() {
            let Some(chroma) = chroma.chroma(self, group) else { return };
            prefetch_ahead::<C, _>(out);
            *out = self.texel_pairs(luma, [chroma; 2]);
        }
    }

    /// Makes two rows of texels in pairs, which have the same chroma.
    #[inline(always)]
    fn paint_squares<C: Code>(
        self,
        [upper, lower]: [&[C]; 2],
        chroma: impl Samples<PAIRS, GROUP>,
        [uppers, lowers]: [&mut [Self::Texel]; 2],
    ) {
        let uppers = uppers.as_chunks_mut().0.iter_mut().zip(upper.as_chunks().0);
        let lowers = lowers.as_chunks_mut().0.iter_mut().zip(lower.as_chunks().0);
        for (group, (upper, lower)) in uppers.zip(lowers).enumerate() {
            let Some(chroma) = chroma.chroma(self, group) else { return };
            *upper.0 = self.texel_pairs(upper.1, [chroma; 2]);
            *lower.0 = self.texel_pairs(lower.1, [chroma; 2]);
        }
    }

    /// Makes texels in pairs, with chroma between samples: by the weights of the sample before the pair and its own at the even
    /// place, of its own and the next at the odd one. The first sample is that before the first pair.
    #[inline(always)]
    fn paint_between<C: Code, S: Sum + Number>(
        self,
        lumas: &[C],
        [reds, blues]: [&[S]; 2],
        [even, odd]: [[u16; 2]; 2],
        texels: &mut [Self::Texel],
    ) {
        let groups = texels.as_chunks_mut().0.iter_mut().zip(lumas.as_chunks().0);
        let before = reds.as_chunks().0.iter().zip(blues.as_chunks().0);
        let own = reds[1..].as_chunks().0.iter().zip(blues[1..].as_chunks().0);
        let next = reds[2..].as_chunks().0.iter().zip(blues[2..].as_chunks().0);
        for ((out, luma), ((before, own), next)) in groups.zip(before.zip(own).zip(next)) {
            let even = self.of_chroma(&blend(before.0, own.0, even), &blend(before.1, own.1, even));
            let odd = self.of_chroma(&blend(own.0, next.0, odd), &blend(own.1, next.1, odd));
            *out = self.texel_pairs(luma, [even, odd]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There may be no memory ahead of the last texels of a frame.
    #[test]
    fn memory_ahead_need_not_be_there() {
        let texels = [[7u8; 4]; 64];
        prefetch_ahead::<u8, _>(&texels[63..]);
        prefetch_ahead::<u8, [u8; 4]>(&[]);
        assert_eq!(texels, [[7; 4]; 64]);
    }
}
