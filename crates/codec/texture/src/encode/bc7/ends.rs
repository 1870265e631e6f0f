//! End points as the modes store them, and the levels of texels between them.

use super::super::lanes::{Blocks, F, U, level, splat};
use super::super::line::{Ends, Least, Moments, Part};
use crate::bc::bc7::MODES;
use fearless_simd::prelude::*;

/// End points as codes and their lowest bits (p-bits), and their values in eight bits.
pub(super) struct Stored<S: Simd> {
    pub(super) codes: [[F<S>; 4]; 2],
    pub(super) lowest: [F<S>; 2],
    pub(super) exact: Ends<S>,
}

impl<S: Simd> Stored<S> {
    /// Sets alpha of mode 6, whose lowest bits are set, to 255.
    #[inline(always)]
    pub(super) fn be_opaque(&mut self, simd: S) {
        for codes in &mut self.codes {
            codes[3] = splat(simd, 127.0);
        }
    }
}

/// The best codes of the first `C` components for fixed levels, of all choices of lowest bits.
#[inline(never)]
pub(super) fn stored<S: Simd, const M: usize, const C: usize>(
    simd: S,
    least: &Least<S>,
    opaque: bool,
) -> Stored<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let mode = const { &MODES[M] };
            let zero = splat(simd, 0.0);
            let mut best = Stored { codes: [[zero; 4]; 2], lowest: [zero; 2], exact: least.ends };
            let mut cost = splat(simd, f32::MAX);
            // An alpha of 255 needs lowest bits of 1.
            let is_odd = M == 6 && opaque;
            for bits in [[1, 1], [0, 0], [0, 1], [1, 0]] {
                let is_left_out = match (mode.own_lowest, mode.shared_lowest) {
                    (true, _) => is_odd && bits != [1, 1],
                    (false, true) => bits[0] != bits[1],
                    (false, false) => bits != [0, 0],
                };
                if is_left_out {
                    continue;
                }
                let lowest = bits.map(|bit| splat(simd, bit as f32));
                let (tried, sum) = with_lowest::<S, M, C>(simd, least, lowest);
                let better = sum.simd_lt(cost);
                cost = cost.min(sum);
                for end in 0..2 {
                    best.lowest[end] = better.select(lowest[end], best.lowest[end]);
                    for c in 0..C {
                        best.codes[end][c] = better.select(tried.codes[end][c], best.codes[end][c]);
                    }
                }
                best.exact = tried.exact.select(better, best.exact);
            }
            best
        },
    )
}

/// The best codes with these lowest bits, if mode `M` has them, and their cost. Each component of the first end is rounded down
/// and up, and the second end is the best one for it.
#[inline(always)]
fn with_lowest<S: Simd, const M: usize, const C: usize>(
    simd: S,
    least: &Least<S>,
    bits: [F<S>; 2],
) -> (Stored<S>, F<S>) {
    let mode = const { &MODES[M] };
    let zero = splat(simd, 0.0);
    let lowest = bits.map(|bit| (mode.own_lowest || mode.shared_lowest).then_some(bit));
    let mut tried = Stored { codes: [[zero; 4]; 2], lowest: bits, exact: least.ends };
    let mut sum = zero;
    for c in 0..C {
        let width = if c == 3 { mode.alpha } else { mode.color };
        let top = splat(simd, ((1u32 << width) - 1) as f32);
        let below = (code(least.ends.from[c], width, lowest[0]) - 0.5).round_ties_even();
        let mut own = splat(simd, f32::MAX);
        for first in [below, below + 1.0] {
            let first = level(first, top);
            let from = value(first, width, lowest[0]);
            let second = level(code(least.to(c, from), width, lowest[1]), top);
            let to = value(second, width, lowest[1]);
            let each = least.cost(c, from, to);
            let better = each.simd_lt(own);
            own = own.min(each);
            tried.codes[0][c] = better.select(first, tried.codes[0][c]);
            tried.codes[1][c] = better.select(second, tried.codes[1][c]);
            tried.exact.from[c] = better.select(from, tried.exact.from[c]);
            tried.exact.to[c] = better.select(to, tried.exact.to[c]);
        }
        sum += own;
    }
    (tried, sum)
}

/// As [`stored`] in mode 6, with the lowest bit of each end to which its components are nearest. Alpha that is 0 or 255 stays
/// so.
#[inline(never)]
pub(super) fn stored_nearest<S: Simd, const C: usize>(simd: S, least: &Least<S>) -> Stored<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
            let mut lowest = [one; 2];
            if C == 4 {
                for (lowest, end) in lowest.iter_mut().zip([&least.ends.from, &least.ends.to]) {
                    // How far a value is from an even number, from 0 to 1; so far from 1 it is from an odd one.
                    let mut sum = zero;
                    for value in end {
                        let half = *value * 0.5;
                        sum += (half - half.round_ties_even()).abs() * 2.0;
                    }
                    *lowest = sum.simd_gt(2.0).select(one, zero);
                    *lowest = end[3].simd_gt(254.5).select(one, *lowest);
                    *lowest = end[3].simd_lt(0.5).select(zero, *lowest);
                }
            }
            with_lowest::<S, 6, C>(simd, least, lowest).0
        },
    )
}

/// The code of a value of eight bits, not rounded.
#[inline(always)]
pub(super) fn code<S: Simd>(value: F<S>, bits: u32, lowest: Option<F<S>>) -> F<S> {
    let scale = ((1u32 << (bits + u32::from(lowest.is_some()))) - 1) as f32 / 255.0;
    match lowest {
        Some(lowest) => value * (scale * 0.5) - lowest * 0.5,
        None => value * scale,
    }
}

/// The value of a code in eight bits, whose bits are repeated.
#[inline(always)]
pub(super) fn value<S: Simd>(code: F<S>, bits: u32, lowest: Option<F<S>>) -> F<S> {
    let all = bits + u32::from(lowest.is_some());
    let whole = lowest.map_or(code, |lowest| code * 2.0 + lowest);
    if all == 8 {
        return whole;
    }
    let whole: U<S> = whole.to_int();
    (whole << (8 - all) | whole >> (2 * all - 8)).to_float()
}

/// End points, the levels of texels between them, and the squared error.
pub(super) struct Fitted<S: Simd> {
    pub(super) stored: Stored<S>,
    pub(super) levels: [F<S>; 16],
    pub(super) error: F<S>,
}

/// The highest level of a mode.
pub(super) const fn top<const M: usize>() -> f32 {
    ((1u32 << MODES[M].index) - 1) as f32
}

/// One round: the best end points for the levels, then the best levels for those.
#[inline(always)]
pub(super) fn once<S: Simd, const M: usize, const C: usize>(
    simd: S,
    blocks: &Blocks<S>,
    part: impl Part<S>,
    moments: &Moments<S>,
    ends: &Ends<S>,
    levels: &[F<S>; 16],
) -> Fitted<S> {
    let top = const { top::<M>() };
    let least = ends.regression::<C>(simd, blocks, part, moments, levels, top);
    let stored = stored::<S, M, C>(simd, &least, blocks.opaque);
    let levels = stored.exact.levels::<C>(simd, blocks, top);
    let error = stored.exact.error::<C>(simd, blocks, part, &levels, top);
    Fitted { stored, levels, error }
}

/// The best of some [rounds](once), from the principal line on.
#[inline(never)]
pub(super) fn fitted<S: Simd, const M: usize, const C: usize>(
    simd: S,
    blocks: &Blocks<S>,
    part: impl Part<S>,
    moments: &Moments<S>,
    rounds: usize,
) -> Fitted<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let top = const { top::<M>() };
            let ends = Ends::principal::<C>(simd, blocks, part, moments);
            let levels = ends.levels::<C>(simd, blocks, top);
            let mut best = once::<S, M, C>(simd, blocks, part, moments, &ends, &levels);
            let mut last = (best.stored.exact, best.levels);
            for _ in 1..rounds {
                let next = once::<S, M, C>(simd, blocks, part, moments, &last.0, &last.1);
                last = (next.stored.exact, next.levels);
                best.improve(&next);
            }
            best
        },
    )
}

impl<S: Simd> Fitted<S> {
    /// Replaces this by `other` in the lanes where that is better.
    #[inline(always)]
    pub(super) fn improve(&mut self, other: &Fitted<S>) {
        let better = other.error.simd_lt(self.error);
        for end in 0..2 {
            for c in 0..4 {
                self.stored.codes[end][c] =
                    better.select(other.stored.codes[end][c], self.stored.codes[end][c]);
            }
            self.stored.lowest[end] = better.select(other.stored.lowest[end], self.stored.lowest[end]);
        }
        self.stored.exact = other.stored.exact.select(better, self.stored.exact);
        for i in 0..16 {
            self.levels[i] = better.select(other.levels[i], self.levels[i]);
        }
        self.error = self.error.min(other.error);
    }
}
