//! Exact arithmetic, in singles: sixteen texels at a time, or as many pairs.

use super::codes::{Code, Number, Reader};
use super::lanes::Lanes;
use super::paint::{Arithmetic, PairOrder};
use super::{Plan, Texel};
use core::marker::PhantomData;

/// A plan's matrix for sixteen texels.
#[derive(Clone, Copy)]
pub(super) struct Singles<L: Lanes, T, const IS_LUMA_SHARED: bool> {
    lanes: L,
    matrix: [[L::Singles; 3]; 3],
    offset: [L::Singles; 3],
    reader: Reader,
    texel: PhantomData<T>,
}

impl<L: Lanes, T: Texel, const IS_LUMA_SHARED: bool> Arithmetic<16, 32> for Singles<L, T, IS_LUMA_SHARED> {
    type Lanes = L;
    type Texel = T;
    type Chroma = [L::Singles; 3];

    const IS_LUMA_SHARED: bool = IS_LUMA_SHARED;
    const IS_HIGH: bool = false;

    #[inline(always)]
    fn new(lanes: L, plan: &Plan<'_>, unit: u16) -> Self {
        let unit = f32::from(unit);
        let none = lanes.splat(0.0);
        let (mut matrix, mut offset) = ([[none; 3]; 3], [none; 3]);
        for row in 0..3 {
            let [r, g, b] = plan.matrix[row];
            // The unit is a power of two, so that this is exact.
            matrix[row] = [lanes.splat(r / unit), lanes.splat(g), lanes.splat(b / unit)];
            offset[row] = lanes.splat(plan.offset[row]);
        }
        Singles { lanes, matrix, offset, reader: Reader::new(plan.frame.format, false), texel: PhantomData }
    }

    #[inline(always)]
    fn of_chroma<N: Number>(self, cr: &[N; 16], cb: &[N; 16]) -> [L::Singles; 3] {
        let (lanes, reader) = (self.lanes, self.reader);
        let [[rr, _, rb], [gr, _, gb], [br, _, bb]] = self.matrix;
        if IS_LUMA_SHARED {
            // Of models of luma and chroma Cb has no part in red, and Cr none in blue.
            self.with_offset(N::by(lanes, reader, cr, [rr, gr]), N::by(lanes, reader, cb, [gb, bb]))
        } else {
            let reds = N::by(lanes, reader, cr, [rr, gr, br]);
            self.sums(self.sums(self.offset, N::by(lanes, reader, cb, [rb, gb, bb])), reds)
        }
    }

    #[inline(always)]
    fn of_chroma_pairs<C: Code>(self, pairs: &[C; 32], order: PairOrder) -> [L::Singles; 3] {
        let [[rr, _, _], [gr, _, gb], [_, _, bb]] = self.matrix;
        let [cr, _] = order.cr_first(C::pairs_by(self.lanes, self.reader, pairs, [rr, gr]));
        let [_, cb] = order.cr_first(C::pairs_by(self.lanes, self.reader, pairs, [gb, bb]));
        self.with_offset(cr, cb)
    }

    #[inline(always)]
    fn texels<C: Code, N: Number>(self, luma: &[C; 32], [cr, cb]: [&[N; 32]; 2]) -> [T; 32] {
        let mut out = [T::default(); 32];
        let groups = out.as_chunks_mut().0.iter_mut().zip(luma.as_chunks().0);
        for ((out, luma), (cr, cb)) in groups.zip(cr.as_chunks().0.iter().zip(cb.as_chunks().0)) {
            *out = T::of(self.lanes, self.sums(self.of_chroma(cr, cb), self.of_luma(luma)));
        }
        out
    }

    #[inline(always)]
    fn texel_pairs<C: Code>(self, luma: &[C; 32], [even, odd]: [[L::Singles; 3]; 2]) -> [T; 32] {
        let luma = self.of_luma_pairs(luma);
        T::of_pairs(self.lanes, [self.sums(even, luma[0]), self.sums(odd, luma[1])])
    }
}

impl<L: Lanes, T: Texel, const IS_LUMA_SHARED: bool> Singles<L, T, IS_LUMA_SHARED> {
    /// What chroma adds to the components of sixteen texels: chroma as sums of singles.
    #[inline(always)]
    pub(super) fn of_sums(self, [cr, cb]: [L::Singles; 2]) -> [L::Singles; 3] {
        let lanes = self.lanes;
        let (cr, cb) = (lanes.to_array(cr), lanes.to_array(cb));
        let [[rr, _, rb], [gr, _, gb], [br, _, bb]] = self.matrix;
        if IS_LUMA_SHARED {
            self.with_offset(lanes.singles_by(&cr, [rr, gr]), lanes.singles_by(&cb, [gb, bb]))
        } else {
            let reds = lanes.singles_by(&cr, [rr, gr, br]);
            self.sums(self.sums(self.offset, lanes.singles_by(&cb, [rb, gb, bb])), reds)
        }
    }

    /// Sixteen texels.
    #[inline(always)]
    pub(super) fn few<C: Code>(self, luma: &[C; 16], chroma: [L::Singles; 3]) -> [T; 16] {
        T::of(self.lanes, self.sums(chroma, self.of_luma(luma)))
    }

    /// What Cr adds to red and green, what Cb adds to green and blue, and what is added to all components.
    #[inline(always)]
    fn with_offset(
        self,
        [red, red_green]: [L::Singles; 2],
        [blue_green, blue]: [L::Singles; 2],
    ) -> [L::Singles; 3] {
        let (lanes, [r0, g0, b0]) = (self.lanes, self.offset);
        [lanes.add(red, r0), lanes.add(red_green, lanes.add(blue_green, g0)), lanes.add(blue, b0)]
    }

    /// What luma adds to red, green and blue.
    #[inline(always)]
    fn of_luma<C: Code>(self, luma: &[C; 16]) -> [L::Singles; 3] {
        let [[_, red, _], [_, green, _], [_, blue, _]] = self.matrix;
        if IS_LUMA_SHARED {
            let [all] = C::by(self.lanes, self.reader, luma, [red]);
            [all; 3]
        } else {
            C::by(self.lanes, self.reader, luma, [red, green, blue])
        }
    }

    /// The same at even places and at odd ones.
    #[inline(always)]
    fn of_luma_pairs<C: Code>(self, luma: &[C; 32]) -> [[L::Singles; 3]; 2] {
        let [[_, red, _], [_, green, _], [_, blue, _]] = self.matrix;
        if IS_LUMA_SHARED {
            let [[even], [odd]] = C::pairs_by(self.lanes, self.reader, luma, [red]);
            [[even; 3], [odd; 3]]
        } else {
            C::pairs_by(self.lanes, self.reader, luma, [red, green, blue])
        }
    }

    /// Sums of each. Products are rounded before, as processors without a fused operation do it.
    #[inline(always)]
    fn sums(self, [r, g, b]: [L::Singles; 3], [more_r, more_g, more_b]: [L::Singles; 3]) -> [L::Singles; 3] {
        [self.lanes.add(r, more_r), self.lanes.add(g, more_g), self.lanes.add(b, more_b)]
    }
}
