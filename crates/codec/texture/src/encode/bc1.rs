//! Colour blocks of BC1 and BC3: end points of 5:6:5 bits and two colours between them, or in BC1 one and transparent black.
//! The format is from Microsoft's description of it.
//!
//! The end points are those of a line by principal components, then of least squares for the levels that texels have on it
//! (as in van Waveren, "Real-Time DXT Compression", and Castaño, "High Quality DXT Compression Using OpenCL"). At the lowest
//! quality the ends of the line are only rounded; at the highest, single components of the end points are varied by one after
//! least squares.

use super::Quality;
use super::lanes::{Blocks, F, LANES, U, level, rounded, splat, words};
use super::line::{Ends, Least, Moments, Part, Weighted, Whole};
use fearless_simd::prelude::*;
use std::sync::LazyLock;

/// How alpha is encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Alpha {
    /// It is dropped; all blocks have four colours.
    None,
    /// Texels with alpha below 128 are transparent.
    Bit,
}

/// The greatest codes of the components.
const TOPS: [f32; 3] = [31.0, 63.0, 31.0];

/// The two words of each block.
#[inline(never)]
pub fn encode<S: Simd>(simd: S, blocks: &Blocks<S>, alpha: Alpha, quality: Quality) -> [[u32; LANES]; 2] {
    simd.vectorize(
        #[inline(always)]
        || {
            let moments = Moments::of::<3>(simd, blocks, Whole);
            let mut best = fit::<S, 3>(simd, blocks, Whole, &moments, quality);
            flat(simd, blocks, &moments, &mut best);
            let [mut colors, mut indices] = best.four_colors(simd);
            if alpha == Alpha::Bit && !blocks.opaque {
                let mut weights = [splat(simd, 1.0); 16];
                let mut seen = splat(simd, 16.0);
                let one = splat(simd, 1.0);
                for i in 0..16 {
                    weights[i] = blocks.texels[3][i].simd_ge(128.0).select(one, splat(simd, 0.0));
                    seen -= one - weights[i];
                }
                let has_hole = seen.simd_lt(15.5);
                if has_hole.any_true() {
                    let part = Weighted(&weights);
                    let moments = Moments::of::<3>(simd, blocks, part);
                    let best = fit::<S, 2>(simd, blocks, part, &moments, quality);
                    let [holed, kept] = best.three_colors(simd, &weights);
                    colors = has_hole.select(holed, colors);
                    indices = has_hole.select(kept, indices);
                }
            }
            [colors.to_array(), indices.to_array()]
        },
    )
}

/// End points as codes and in eight bits, the level of each texel between them, and the squared error, which
/// [`Quality::Fast`] and [`Quality::Fastest`] do not compute.
struct Fitted<S: Simd> {
    codes: [[F<S>; 3]; 2],
    exact: Ends<S>,
    levels: [F<S>; 16],
    error: F<S>,
}

/// The best codes for fixed levels, and their values in eight bits. Each component of the first end is rounded down and up,
/// and the second end is the best one for it.
#[inline(always)]
fn quantized<S: Simd>(simd: S, least: &Least<S>) -> ([[F<S>; 3]; 2], Ends<S>) {
    let mut codes = [[splat(simd, 0.0); 3]; 2];
    let mut exact = least.ends;
    for c in 0..3 {
        let (top, unit) = (splat(simd, TOPS[c]), 255.0 / TOPS[c]);
        let below = level(least.ends.from[c] * (1.0 / unit) - 0.5, top);
        let mut cost = splat(simd, f32::MAX);
        for first in [below, (below + 1.0).min(top)] {
            let second = level(least.to(c, first * unit) * (1.0 / unit), top);
            let own = least.cost(c, first * unit, second * unit);
            let better = own.simd_lt(cost);
            cost = cost.min(own);
            codes[0][c] = better.select(first, codes[0][c]);
            codes[1][c] = better.select(second, codes[1][c]);
        }
        exact.from[c] = codes[0][c] * unit;
        exact.to[c] = codes[1][c] * unit;
    }
    (codes, exact)
}

/// The part of the line that the ends of [`Quality::Fastest`] leave out on each side: most texels lie further in.
const INSET: f32 = 1.0 / 32.0;

/// The codes nearest to the ends of a line, moved in by [`INSET`], and their values in eight bits. Half of what rounding adds to a
/// component of the first end is taken from the second before that is rounded, as the errors of both add up between them.
#[inline(always)]
fn rounded_ends<S: Simd>(simd: S, ends: &Ends<S>) -> ([[F<S>; 3]; 2], Ends<S>) {
    let mut codes = [[splat(simd, 0.0); 3]; 2];
    let mut exact = *ends;
    for c in 0..3 {
        let (top, unit) = (splat(simd, TOPS[c]), 255.0 / TOPS[c]);
        let inset = (ends.to[c] - ends.from[c]) * INSET;
        let (from, to) = ((ends.from[c] + inset) * (1.0 / unit), (ends.to[c] - inset) * (1.0 / unit));
        codes[0][c] = level(from, top);
        codes[1][c] = level((from - codes[0][c]) * 0.5 + to, top);
        exact.from[c] = codes[0][c] * unit;
        exact.to[c] = codes[1][c] * unit;
    }
    (codes, exact)
}

/// Searches the end points for `TOP` + 1 levels.
#[inline(never)]
fn fit<S: Simd, const TOP: usize>(
    simd: S,
    blocks: &Blocks<S>,
    part: impl Part<S>,
    moments: &Moments<S>,
    quality: Quality,
) -> Fitted<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let top = TOP as f32;
            if quality == Quality::Fastest {
                let axis = moments.axis::<3, 1>(simd);
                let ends = Ends::along::<3>(simd, blocks, part, moments, axis);
                let (codes, exact) = rounded_ends(simd, &ends);
                let levels = exact.levels::<3>(simd, blocks, top);
                return Fitted { codes, exact, levels, error: splat(simd, 0.0) };
            }
            let ends = Ends::principal::<3>(simd, blocks, part, moments);
            let levels = ends.levels::<3>(simd, blocks, top);
            let mut best = once::<S, TOP>(simd, blocks, part, moments, &ends, &levels);
            if quality == Quality::Fast {
                return best;
            }
            best.error = best.exact.error::<3>(simd, blocks, part, &best.levels, top);
            let mut last = (best.exact, best.levels);
            for _ in 0..if quality == Quality::Normal { 2 } else { 3 } {
                let mut next = once::<S, TOP>(simd, blocks, part, moments, &last.0, &last.1);
                next.error = next.exact.error::<3>(simd, blocks, part, &next.levels, top);
                last = (next.exact, next.levels);
                best.improve(&next);
            }
            if quality == Quality::High {
                best.descend::<TOP>(simd, blocks, part);
            }
            best
        },
    )
}

/// One round: the best end points for the levels, then the best levels for those.
#[inline(always)]
fn once<S: Simd, const TOP: usize>(
    simd: S,
    blocks: &Blocks<S>,
    part: impl Part<S>,
    moments: &Moments<S>,
    ends: &Ends<S>,
    levels: &[F<S>; 16],
) -> Fitted<S> {
    let least = ends.regression::<3>(simd, blocks, part, moments, levels, TOP as f32);
    let (codes, exact) = quantized(simd, &least);
    let levels = exact.levels::<3>(simd, blocks, TOP as f32);
    Fitted { codes, exact, levels, error: splat(simd, 0.0) }
}

/// For each value of eight bits the pair of codes, of five and of six bits, for which the colour at a third of the way is
/// nearest to it.
pub static NEAREST: LazyLock<[[[u8; 2]; 256]; 2]> = LazyLock::new(|| [nearest(31), nearest(63)]);

fn nearest(top: u32) -> [[u8; 2]; 256] {
    // Parts of 3 * top, as the colours are.
    let mut out = [[0; 2]; 256];
    for (value, out) in out.iter_mut().enumerate() {
        let wanted = value as u32 * 3 * top;
        let pairs = (0..=top).flat_map(|a| (0..=top).map(move |b| (a, b)));
        // Of equally good pairs the closer one: decoders round what lies between ends differently.
        let best = pairs.min_by_key(|&(a, b)| {
            let off = (255 * (2 * a + b)).abs_diff(wanted);
            off * 4 + a.abs_diff(b)
        });
        *out = best.map_or([0; 2], |(a, b)| [a as u8, b as u8]);
    }
    out
}

/// Encodes blocks of a single colour: all texels have the colour at a third of the way, which is nearer to most values than
/// an end point.
#[inline(never)]
fn flat<S: Simd>(simd: S, blocks: &Blocks<S>, moments: &Moments<S>, best: &mut Fitted<S>) {
    simd.vectorize(
        #[inline(always)]
        || {
            let scatter = moments.scatter::<3>();
            let spread = scatter[0][0] + scatter[1][1] + scatter[2][2];
            let is_flat = spread.simd_lt(0.5);
            if !is_flat.any_true() {
                return;
            }
            for c in 0..3 {
                let values = blocks.texels[c][0].to_array();
                let [mut from, mut to] = [[0.0; LANES]; 2];
                for lane in 0..LANES {
                    let [a, b] = NEAREST[usize::from(c == 1)][values[lane] as usize & 255];
                    (from[lane], to[lane]) = (f32::from(a), f32::from(b));
                }
                best.codes[0][c] = is_flat.select(F::load_array(simd, from), best.codes[0][c]);
                best.codes[1][c] = is_flat.select(F::load_array(simd, to), best.codes[1][c]);
            }
            for level in &mut best.levels {
                *level = is_flat.select(splat(simd, 1.0), *level);
            }
        },
    )
}

/// Codes of red, green and blue as 5:6:5 bits.
#[inline(always)]
fn packed<S: Simd>([r, g, b]: [F<S>; 3]) -> U<S> {
    rounded(r) << 11 | rounded(g) << 5 | rounded(b)
}

impl<S: Simd> Fitted<S> {
    /// Replaces this by `other` in the lanes where that is better; gives whether there are any.
    #[inline(always)]
    fn improve(&mut self, other: &Fitted<S>) -> bool {
        let better = other.error.simd_lt(self.error);
        if !better.any_true() {
            return false;
        }
        for end in 0..2 {
            for c in 0..3 {
                self.codes[end][c] = better.select(other.codes[end][c], self.codes[end][c]);
            }
        }
        self.exact = other.exact.select(better, self.exact);
        for i in 0..16 {
            self.levels[i] = better.select(other.levels[i], self.levels[i]);
        }
        self.error = self.error.min(other.error);
        true
    }

    /// Varies single codes of one end by one, as long as the error falls.
    #[inline(never)]
    fn descend<const TOP: usize>(&mut self, simd: S, blocks: &Blocks<S>, part: impl Part<S>) {
        simd.vectorize(
            #[inline(always)]
            || {
                const ROUNDS: usize = 2;
                let top = TOP as f32;
                for _ in 0..ROUNDS {
                    let mut improved = false;
                    for c in 0..3 {
                        for [a, b] in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]] {
                            let (mut codes, mut exact) = (self.codes, self.exact);
                            let (limit, unit) = (splat(simd, TOPS[c]), 255.0 / TOPS[c]);
                            codes[0][c] = level(codes[0][c] + a, limit);
                            codes[1][c] = level(codes[1][c] + b, limit);
                            exact.from[c] = codes[0][c] * unit;
                            exact.to[c] = codes[1][c] * unit;
                            let levels = exact.levels::<3>(simd, blocks, top);
                            let error = exact.error::<3>(simd, blocks, part, &levels, top);
                            improved |= self.improve(&Fitted { codes, exact, levels, error });
                        }
                    }
                    if !improved {
                        break;
                    }
                }
            },
        )
    }

    /// The end points as 5:6:5 bits.
    #[inline(always)]
    fn colors(&self) -> [U<S>; 2] {
        [packed(self.codes[0]), packed(self.codes[1])]
    }

    /// The levels, two bits each.
    #[inline(always)]
    fn packed_levels(&self, simd: S) -> U<S> {
        let mut out = words(simd, 0);
        for (i, at) in self.levels.iter().enumerate() {
            out |= rounded(*at) << (2 * i as u32);
        }
        out
    }

    /// A block of four colours, for which the first end is the greater.
    #[inline(always)]
    fn four_colors(&self, simd: S) -> [U<S>; 2] {
        let [from, to] = self.colors();
        let levels = self.packed_levels(simd);
        let swapped = from.simd_lt(to);
        let levels = swapped.select(!levels, levels);
        let (low, high) = (levels & 0x5555_5555, levels >> 1 & 0x5555_5555);
        // Levels 0 to 3 are indices 0, 2, 3, 1.
        let indices = (low ^ high) << 1 | high;
        // Equal ends select the mode of three colours, where index 0 is still this colour.
        let indices = from.simd_eq(to).select(words(simd, 0), indices);
        [from.max(to) | from.min(to) << 16, indices]
    }

    /// A block of three colours, for which the first end is not the greater. Texels of weight 0 have the fourth, transparent.
    #[inline(always)]
    fn three_colors(&self, simd: S, weights: &[F<S>; 16]) -> [U<S>; 2] {
        let [from, to] = self.colors();
        let swapped = from.simd_gt(to);
        let mut indices = words(simd, 0);
        for i in 0..16 {
            let level = swapped.select(2.0 - self.levels[i], self.levels[i]);
            // Levels 0 to 2 are indices 0, 2, 1.
            let index = level.simd_gt(1.5).select(splat(simd, 1.0), level * 2.0);
            let index = weights[i].simd_gt(0.5).select(index, splat(simd, 3.0));
            indices |= rounded(index) << (2 * i as u32);
        }
        [from.min(to) | from.max(to) << 16, indices]
    }
}
