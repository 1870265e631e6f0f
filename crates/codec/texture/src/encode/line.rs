//! Lines through the colours of a block: their end points, and the level between those that is nearest to each texel.

use super::lanes::{Blocks, F, Mask, level, splat};
use fearless_simd::prelude::*;

/// The least divisor; smaller ones are replaced by it.
const LEAST: f32 = 1e-4;

/// The texels that share a line: all of a block, or one subset.
pub trait Part<S: Simd>: Copy {
    /// `value` where the texel is in the part, else `otherwise`.
    fn only(self, texel: usize, value: F<S>, otherwise: F<S>) -> F<S>;

    /// `value` where the texel is in the part, else 0.
    fn weighted(self, texel: usize, value: F<S>) -> F<S>;

    /// The number of texels in the part, and its reciprocal.
    fn count(self, simd: S) -> [F<S>; 2];
}

/// Components of the texels of sixteen blocks.
pub trait Texels<S: Simd> {
    fn at(&self, component: usize, texel: usize) -> F<S>;
}

impl<S: Simd> Texels<S> for Blocks<S> {
    #[inline(always)]
    fn at(&self, component: usize, texel: usize) -> F<S> {
        self.texels[component][texel]
    }
}

/// A component alone, the first.
impl<S: Simd> Texels<S> for [F<S>; 16] {
    #[inline(always)]
    fn at(&self, _: usize, texel: usize) -> F<S> {
        self[texel]
    }
}

/// All texels.
#[derive(Clone, Copy)]
pub struct Whole;

impl<S: Simd> Part<S> for Whole {
    #[inline(always)]
    fn only(self, _: usize, value: F<S>, _: F<S>) -> F<S> {
        value
    }

    #[inline(always)]
    fn weighted(self, _: usize, value: F<S>) -> F<S> {
        value
    }

    #[inline(always)]
    fn count(self, simd: S) -> [F<S>; 2] {
        [splat(simd, 16.0), splat(simd, 1.0 / 16.0)]
    }
}

/// The texels with weight 1; others have weight 0.
#[derive(Clone, Copy)]
pub struct Weighted<'a, S: Simd>(pub &'a [F<S>; 16]);

impl<S: Simd> Part<S> for Weighted<'_, S> {
    #[inline(always)]
    fn only(self, texel: usize, value: F<S>, otherwise: F<S>) -> F<S> {
        self.0[texel].simd_gt(0.5).select(value, otherwise)
    }

    #[inline(always)]
    fn weighted(self, texel: usize, value: F<S>) -> F<S> {
        self.0[texel] * value
    }

    #[inline(always)]
    fn count(self, simd: S) -> [F<S>; 2] {
        let mut count = splat(simd, 0.0);
        for weight in self.0 {
            count += *weight;
        }
        [count, splat(simd, 1.0) / count.max(splat(simd, 1.0))]
    }
}

/// Sums over the texels of a part. They are exact, as components are integers.
pub struct Moments<S: Simd> {
    /// The number of texels and its reciprocal.
    pub count: [F<S>; 2],
    pub sums: [F<S>; 4],
    /// Sums of products of two components, the second not before the first.
    pub products: [[F<S>; 4]; 4],
}

/// Two ends of a line.
#[derive(Clone, Copy)]
pub struct Ends<S: Simd> {
    pub from: [F<S>; 4],
    pub to: [F<S>; 4],
}

impl<S: Simd> Moments<S> {
    /// Of the first `C` components.
    #[inline(never)]
    pub fn of<const C: usize>(simd: S, blocks: &impl Texels<S>, part: impl Part<S>) -> Moments<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let zero = splat(simd, 0.0);
                let (mut sums, mut products) = ([zero; 4], [[zero; 4]; 4]);
                for i in 0..16 {
                    for a in 0..C {
                        let value = part.weighted(i, blocks.at(a, i));
                        sums[a] += value;
                        for b in a..C {
                            products[a][b] = value.mul_add(blocks.at(b, i), products[a][b]);
                        }
                    }
                }
                Moments { count: part.count(simd), sums, products }
            },
        )
    }

    /// The same of all texels without the products.
    #[inline(always)]
    pub fn sums_of<const C: usize>(simd: S, blocks: &Blocks<S>) -> Moments<S> {
        let zero = splat(simd, 0.0);
        let mut sums = [zero; 4];
        for c in 0..C {
            for texel in &blocks.texels[c] {
                sums[c] += *texel;
            }
        }
        Moments { count: Whole.count(simd), sums, products: [[zero; 4]; 4] }
    }

    /// The symmetric matrix of covariances, times the number of texels.
    #[inline(always)]
    pub fn scatter<const C: usize>(&self) -> [[F<S>; 4]; 4] {
        let mut out = self.products;
        for a in 0..C {
            let mean = self.sums[a] * self.count[1];
            for b in a..C {
                out[a][b] -= mean * self.sums[b];
                out[b][a] = out[a][b];
            }
        }
        out
    }

    /// The direction along which texels differ most, of any length; zero for a single colour. The scatter matrix is squared
    /// `SQUARES` times, which makes of its row with the greatest diagonal that many doublings of power iteration.
    #[inline(always)]
    pub fn axis<const C: usize, const SQUARES: usize>(&self, simd: S) -> [F<S>; 4] {
        let mut matrix = self.scatter::<C>();
        for _ in 0..SQUARES {
            normalize::<S, C>(simd, &mut matrix);
            let m = matrix;
            for a in 0..C {
                for b in a..C {
                    let mut sum = m[a][0] * m[0][b];
                    for k in 1..C {
                        sum = m[a][k].mul_add(m[k][b], sum);
                    }
                    matrix[a][b] = sum;
                    matrix[b][a] = sum;
                }
            }
        }
        normalize::<S, C>(simd, &mut matrix);
        let (mut best, mut axis) = (matrix[0][0], matrix[0]);
        for a in 1..C {
            let better = matrix[a][a].simd_gt(best);
            best = best.max(matrix[a][a]);
            for b in 0..C {
                axis[b] = better.select(matrix[a][b], axis[b]);
            }
        }
        axis
    }

    /// The sum of squared distances from the best line, which runs along [`axis`](Self::axis) through the mean.
    #[inline(always)]
    pub fn beside<const C: usize, const SQUARES: usize>(&self, simd: S) -> F<S> {
        let axis = self.axis::<C, SQUARES>(simd);
        let scatter = self.scatter::<C>();
        let (mut all, mut along, mut length) = (splat(simd, 0.0), splat(simd, 0.0), splat(simd, 1e-9));
        for a in 0..C {
            all += scatter[a][a];
            length = axis[a].mul_add(axis[a], length);
            let mut row = scatter[a][0] * axis[0];
            for b in 1..C {
                row = scatter[a][b].mul_add(axis[b], row);
            }
            along = row.mul_add(axis[a], along);
        }
        all - along / length
    }
}

/// Scales a matrix to a trace of 1.
#[inline(always)]
fn normalize<S: Simd, const C: usize>(simd: S, matrix: &mut [[F<S>; 4]; 4]) {
    let mut trace = splat(simd, 1e-20);
    for (a, row) in matrix.iter().enumerate().take(C) {
        trace += row[a];
    }
    let scale = splat(simd, 1.0) / trace;
    for row in matrix.iter_mut().take(C) {
        for value in row.iter_mut().take(C) {
            *value *= scale;
        }
    }
}

impl<S: Simd> Ends<S> {
    /// The ends of the shortest segment of the principal line that has the projections of all texels.
    #[inline(never)]
    pub fn principal<const C: usize>(
        simd: S,
        blocks: &Blocks<S>,
        part: impl Part<S>,
        moments: &Moments<S>,
    ) -> Ends<S> {
        simd.vectorize(
            #[inline(always)]
            || Ends::along::<C>(simd, blocks, part, moments, moments.axis::<C, 3>(simd)),
        )
    }

    /// The same of the line through the mean along an axis.
    #[inline(never)]
    pub fn along<const C: usize>(
        simd: S,
        blocks: &Blocks<S>,
        part: impl Part<S>,
        moments: &Moments<S>,
        axis: [F<S>; 4],
    ) -> Ends<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let (far, zero) = (splat(simd, 1e9), splat(simd, 0.0));
                let (mut least, mut most) = (far, -far);
                for i in 0..16 {
                    let mut at = axis[0] * blocks.texels[0][i];
                    for c in 1..C {
                        at = axis[c].mul_add(blocks.texels[c][i], at);
                    }
                    least = least.min(part.only(i, at, far));
                    most = most.max(part.only(i, at, -far));
                }
                let (mut middle, mut length) = (zero, splat(simd, 1e-12));
                let mut mean = [zero; 4];
                for c in 0..C {
                    mean[c] = moments.sums[c] * moments.count[1];
                    middle = axis[c].mul_add(mean[c], middle);
                    length = axis[c].mul_add(axis[c], length);
                }
                let scale = splat(simd, 1.0) / length;
                let (least, most) = ((least - middle) * scale, (most - middle) * scale);
                let mut ends = Ends { from: [zero; 4], to: [zero; 4] };
                for c in 0..C {
                    ends.from[c] = axis[c].mul_add(least, mean[c]);
                    ends.to[c] = axis[c].mul_add(most, mean[c]);
                }
                ends
            },
        )
    }

    /// The nearest to each texel of the `top` + 1 levels from one end to the other.
    #[inline(never)]
    pub fn levels<const C: usize>(&self, simd: S, blocks: &impl Texels<S>, top: f32) -> [F<S>; 16] {
        simd.vectorize(
            #[inline(always)]
            || {
                let (way, start) = self.projection::<C>(simd, top);
                let top = splat(simd, top);
                let mut out = [top; 16];
                for i in 0..16 {
                    let mut at = start;
                    for c in 0..C {
                        at = way[c].mul_add(blocks.at(c, i), at);
                    }
                    out[i] = level(at, top);
                }
                out
            },
        )
    }

    /// The projection onto the line, as a factor for each component and an offset: `from` goes to 0 and `to` to `top`.
    #[inline(always)]
    fn projection<const C: usize>(&self, simd: S, top: f32) -> ([F<S>; 4], F<S>) {
        let mut way = [splat(simd, 0.0); 4];
        let mut length = splat(simd, 0.0);
        for c in 0..C {
            way[c] = self.to[c] - self.from[c];
            length = way[c].mul_add(way[c], length);
        }
        let scale = splat(simd, top) / length.max(splat(simd, LEAST));
        let mut start = splat(simd, 0.0);
        for c in 0..C {
            way[c] *= scale;
            start -= way[c] * self.from[c];
        }
        (way, start)
    }

    /// The sum of squared distances of texels from their levels.
    #[inline(never)]
    pub fn error<const C: usize>(
        &self,
        simd: S,
        blocks: &impl Texels<S>,
        part: impl Part<S>,
        levels: &[F<S>; 16],
        top: f32,
    ) -> F<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let mut steps = [splat(simd, 0.0); 4];
                for c in 0..C {
                    steps[c] = (self.to[c] - self.from[c]) * (1.0 / top);
                }
                let mut error = splat(simd, 0.0);
                for i in 0..16 {
                    let mut own = splat(simd, 0.0);
                    for c in 0..C {
                        let left = (blocks.at(c, i) - self.from[c]) - levels[i] * steps[c];
                        own = left.mul_add(left, own);
                    }
                    error += part.weighted(i, own);
                }
                error
            },
        )
    }

    /// The ends of least squares for texels at these levels. Where all texels are at one level, the ends stay as they are.
    #[inline(never)]
    pub fn regression<const C: usize>(
        &self,
        simd: S,
        blocks: &impl Texels<S>,
        part: impl Part<S>,
        moments: &Moments<S>,
        levels: &[F<S>; 16],
        top: f32,
    ) -> Least<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let zero = splat(simd, 0.0);
                let (mut sum, mut squares, mut with) = (zero, zero, [zero; 4]);
                for i in 0..16 {
                    let level = part.weighted(i, levels[i]);
                    sum += level;
                    squares = level.mul_add(level, squares);
                    for c in 0..C {
                        with[c] = level.mul_add(blocks.at(c, i), with[c]);
                    }
                }
                let [count, share] = moments.count;
                let spread = count * squares - sum * sum;
                let is_spread = spread.simd_gt(0.5);
                let scale = splat(simd, 1.0) / spread.max(splat(simd, 0.5));
                let mut ends = *self;
                let unit = 1.0 / top;
                let (all, far) = (sum * unit, squares * (unit * unit));
                let mut least = Least {
                    ends,
                    near: count - all * 2.0 + far,
                    both: all - far,
                    far,
                    per_far: splat(simd, 1.0) / far.max(splat(simd, LEAST)),
                    with_near: [zero; 4],
                    with_far: [zero; 4],
                };
                for c in 0..C {
                    least.with_far[c] = with[c] * unit;
                    least.with_near[c] = moments.sums[c] - least.with_far[c];
                    let step = (count * with[c] - sum * moments.sums[c]) * scale;
                    let from = (moments.sums[c] - step * sum) * share;
                    ends.from[c] = is_spread.select(from, self.from[c]);
                    ends.to[c] = is_spread.select(from + step * top, self.to[c]);
                }
                least.ends = ends;
                least
            },
        )
    }

    /// These ends where the mask is set, else the others.
    #[inline(always)]
    pub fn select(self, mask: Mask<S>, mut otherwise: Ends<S>) -> Ends<S> {
        for c in 0..4 {
            otherwise.from[c] = mask.select(self.from[c], otherwise.from[c]);
            otherwise.to[c] = mask.select(self.to[c], otherwise.to[c]);
        }
        otherwise
    }
}

/// The ends of least squares, and the quadratic form that gives the error of any other ends. A texel at level l of `top` is
/// `from` with the weight 1 - l / `top` and `to` with the weight l / `top`.
pub struct Least<S: Simd> {
    pub ends: Ends<S>,
    /// Sum of the squares of `from`'s weights.
    near: F<S>,
    /// Sum of the products of both weights.
    both: F<S>,
    /// Sum of the squares of `to`'s weights.
    far: F<S>,
    /// Its reciprocal.
    per_far: F<S>,
    /// Sums of each component times `from`'s weight.
    with_near: [F<S>; 4],
    /// Sums of each component times `to`'s weight.
    with_far: [F<S>; 4],
}

impl<S: Simd> Least<S> {
    /// The squared error of a component, without the term that does not depend on the ends.
    #[inline(always)]
    pub fn cost(&self, component: usize, from: F<S>, to: F<S>) -> F<S> {
        let own = self.near * from + (self.both * to - self.with_near[component]) * 2.0;
        let other = self.far * to - self.with_far[component] * 2.0;
        from.mul_add(own, to * other)
    }

    /// The best second end for a first one.
    #[inline(always)]
    pub fn to(&self, component: usize, from: F<S>) -> F<S> {
        (self.with_far[component] - self.both * from) * self.per_far
    }
}
