//! BC4 blocks of one component, also BC3's alpha and BC5's halves: two values of eight bits with six values between them, or
//! with four and 0 and 255.

use super::Quality;
use super::lanes::{Blocks, F, LANES, U, level, rounded, splat, words};
use fearless_simd::prelude::*;

/// The two words of each block.
#[inline(never)]
pub fn encode<S: Simd>(simd: S, blocks: &Blocks<S>, component: usize, quality: Quality) -> [[u32; LANES]; 2] {
    simd.vectorize(
        #[inline(always)]
        || {
            let values = &blocks.texels[component];
            let (mut least, mut most) = (values[0], values[0]);
            for value in values {
                (least, most) = (least.min(*value), most.max(*value));
            }
            let mut best = Ramp::of::<7>(simd, values, most, least);
            if quality > Quality::Fast {
                best.regress::<7>(simd, values);
                // The other mode, with six values, 0 and 255.
                let (mut inner_least, mut inner_most) = (splat(simd, 255.0), splat(simd, 0.0));
                for value in values {
                    let inner = value.simd_gt(0.5) & value.simd_lt(254.5);
                    inner_least = inner.select(inner_least.min(*value), inner_least);
                    inner_most = inner.select(inner_most.max(*value), inner_most);
                }
                let mut six = Ramp::of::<5>(simd, values, inner_least.min(inner_most), inner_most);
                six.regress::<5>(simd, values);
                if quality == Quality::High {
                    best.descend::<7>(simd, values);
                    six.descend::<5>(simd, values);
                }
                let better = six.error.simd_lt(best.error);
                if better.any_true() {
                    let (first, second) = (best.packed::<7>(simd), six.packed::<5>(simd));
                    return [
                        better.select(second[0], first[0]).to_array(),
                        better.select(second[1], first[1]).to_array(),
                    ];
                }
            }
            let [low, high] = best.packed::<7>(simd);
            [low.to_array(), high.to_array()]
        },
    )
}

/// A ramp of `TOP` steps from the first value to the second. Beside one of five steps there are the values 0 and 255.
struct Ramp<S: Simd> {
    from: F<S>,
    to: F<S>,
    /// The step of each texel; -1 stands for the value 0 and `TOP` + 1 for 255.
    levels: [F<S>; 16],
    error: F<S>,
}

impl<S: Simd> Ramp<S> {
    #[inline(never)]
    fn of<const TOP: usize>(simd: S, values: &[F<S>; 16], from: F<S>, to: F<S>) -> Ramp<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let (top, zero) = (splat(simd, TOP as f32), splat(simd, 0.0));
                let way = to - from;
                let is_flat = way.simd_eq(zero);
                let step = way * (1.0 / TOP as f32);
                let scale = is_flat.select(zero, splat(simd, 1.0) / is_flat.select(top, step));
                let mut out = Ramp { from, to, levels: [zero; 16], error: zero };
                for i in 0..16 {
                    let mut at = level((values[i] - from) * scale, top);
                    let left = values[i] - at.mul_add(step, from);
                    let mut error = left * left;
                    if TOP == 5 {
                        let (low, high) = (values[i] * values[i], (255.0 - values[i]) * (255.0 - values[i]));
                        at = low.simd_lt(error).select(splat(simd, -1.0), at);
                        error = error.min(low);
                        at = high.simd_lt(error).select(top + 1.0, at);
                        error = error.min(high);
                    }
                    out.levels[i] = at;
                    out.error += error;
                }
                out
            },
        )
    }

    /// Tries the end values of least squares for the levels.
    #[inline(never)]
    fn regress<const TOP: usize>(&mut self, simd: S, values: &[F<S>; 16]) {
        simd.vectorize(
            #[inline(always)]
            || {
                let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
                let (mut count, mut sum, mut squares, mut all, mut with) = (zero, zero, zero, zero, zero);
                for i in 0..16 {
                    let at = self.levels[i];
                    let counts = at.simd_gt(-0.5) & at.simd_lt(TOP as f32 + 0.5);
                    count += counts.select(one, zero);
                    let (at, value) = (counts.select(at, zero), counts.select(values[i], zero));
                    sum += at;
                    squares = at.mul_add(at, squares);
                    all += value;
                    with = at.mul_add(value, with);
                }
                let spread = count * squares - sum * sum;
                let is_spread = spread.simd_gt(0.5);
                let step = (count * with - sum * all) / spread.max(splat(simd, 0.5));
                let from = (all - step * sum) / count.max(one);
                let limit = splat(simd, 255.0);
                let from = is_spread.select(level(from, limit), self.from);
                let to = is_spread.select(level(step * TOP as f32 + from, limit), self.to);
                self.try_ends::<TOP>(simd, values, from, to);
            },
        )
    }

    /// Takes other end values in the lanes where they are better and in the order that selects this mode; gives whether
    /// there are any.
    #[inline(always)]
    fn try_ends<const TOP: usize>(&mut self, simd: S, values: &[F<S>; 16], from: F<S>, to: F<S>) -> bool {
        let other = Ramp::of::<TOP>(simd, values, from, to);
        let ordered = if TOP == 7 { from.simd_gt(to) } else { from.simd_le(to) };
        let better = ordered & other.error.simd_lt(self.error);
        if !better.any_true() {
            return false;
        }
        self.from = better.select(other.from, self.from);
        self.to = better.select(other.to, self.to);
        self.error = better.select(other.error, self.error);
        for i in 0..16 {
            self.levels[i] = better.select(other.levels[i], self.levels[i]);
        }
        true
    }

    /// Varies the end values by small steps, as long as the error falls.
    #[inline(never)]
    fn descend<const TOP: usize>(&mut self, simd: S, values: &[F<S>; 16]) {
        simd.vectorize(
            #[inline(always)]
            || {
                const ROUNDS: usize = 4;
                let limit = splat(simd, 255.0);
                for _ in 0..ROUNDS {
                    let mut improved = false;
                    for [a, b] in [
                        [1.0, 0.0],
                        [-1.0, 0.0],
                        [0.0, 1.0],
                        [0.0, -1.0],
                        [1.0, 1.0],
                        [-1.0, -1.0],
                        [2.0, -2.0],
                        [-2.0, 2.0],
                    ] {
                        let (from, to) = (level(self.from + a, limit), level(self.to + b, limit));
                        improved |= self.try_ends::<TOP>(simd, values, from, to);
                    }
                    if !improved {
                        break;
                    }
                }
            },
        )
    }

    /// The two words of a block.
    #[inline(never)]
    fn packed<const TOP: usize>(&self, simd: S) -> [U<S>; 2] {
        simd.vectorize(
            #[inline(always)]
            || {
                let one = splat(simd, 1.0);
                let mut halves = [words(simd, 0); 2];
                for i in 0..16 {
                    // Indices are 0 and 1 for the end values and from 2 on for those between; 6 is 0 and 7 is 255.
                    let at = self.levels[i];
                    let mut index = at.simd_gt(0.5).select(at + 1.0, at);
                    index = at.simd_gt(TOP as f32 - 0.5).select(one, index);
                    if TOP == 5 {
                        index = at.simd_lt(-0.5).select(splat(simd, 6.0), index);
                        index = at.simd_gt(5.5).select(splat(simd, 7.0), index);
                    }
                    halves[i / 8] |= rounded(index) << (3 * (i as u32 % 8));
                }
                let [low, high] = halves;
                let ends = rounded(self.from) | rounded(self.to) << 8;
                // Equal values select the other mode, where index 0 is still this value.
                let (low, high) = if TOP == 7 {
                    let is_flat = self.from.simd_eq(self.to);
                    let none = words(simd, 0);
                    (is_flat.select(none, low), is_flat.select(none, high))
                } else {
                    (low, high)
                };
                [ends | low << 16, low >> 16 | high << 8]
            },
        )
    }
}
