//! BC6H, from Microsoft's description of the format.
//!
//! Ends and texels are compared as decoders interpolate them, in 16 bits that grow with the bits of halves: that is close to a
//! logarithm, so that dark and bright texels count alike. All modes of a region are tried with the line that fits best; better
//! qualities also try two regions, with the partitions for which lines leave the least squared distances.

mod ends;

use super::Quality;
use super::fields::Fields;
use super::lanes::{Blocks, F, LANES, Lane, Rows, U, Words, rounded, splat, words};
use super::line::{Ends, Moments, Part, Weighted, Whole};
use super::partition::partitions;
use crate::bc::bc6h::MODES;
use crate::bc::partition::{ANCHOR_OF_TWO, TWO};
use crate::half;
use ends::stored;
use fearless_simd::prelude::*;
use std::ops::Range;

/// Modes with two regions, and those with one.
const TWO_REGIONS: Range<usize> = 0..10;
const ONE_REGION: Range<usize> = 10..14;

/// The best blocks so far.
struct Best<S: Simd> {
    error: F<S>,
    mode: U<S>,
    partition: U<S>,
    codes: [[F<S>; 3]; 4],
    levels: [F<S>; 16],
}

/// How much is tried at a quality.
struct Effort {
    /// Rounds of least squares before the ends are rounded to codes, and of those after it.
    rounds: [usize; 2],
    /// Partitions, of the best estimates, that are encoded.
    tried: usize,
}

#[inline(never)]
pub fn encode<S: Simd, const SIGNED: bool>(simd: S, rows: &Rows<u64>, quality: Quality) -> Words {
    simd.vectorize(
        #[inline(always)]
        || {
            let effort = match quality {
                Quality::Fastest | Quality::Fast => Effort { rounds: [1, 1], tried: 0 },
                Quality::Normal => Effort { rounds: [2, 1], tried: 1 },
                Quality::High => Effort { rounds: [3, 3], tried: 4 },
            };
            let mut blocks = load::<S, SIGNED>(simd, rows);
            let middle = centered(&mut blocks);
            let zero = splat(simd, 0.0);
            let mut best = Best {
                error: splat(simd, f32::MAX),
                mode: words(simd, 0),
                partition: words(simd, 0),
                codes: [[zero; 3]; 4],
                levels: [zero; 16],
            };
            one_region::<S, SIGNED>(simd, &blocks, &middle, &effort, &mut best);
            if effort.tried > 0 {
                let found = partitions::<S, 3, 2>(simd, &blocks, 32);
                for partition in found.iter().take(effort.tried) {
                    two_regions::<S, SIGNED>(simd, &blocks, &middle, &effort, partition, &mut best);
                }
            }
            packed(&best)
        },
    )
}

/// The number that decoders make of an endpoint before it becomes this half: the middle of those that become it. NaNs are 0, and what
/// is out of range the nearest in range.
fn number<const SIGNED: bool>(half: u16) -> f32 {
    let magnitude = half & 0x7fff;
    let is_negative = half >> 15 != 0;
    if magnitude == 0 || magnitude > half::EXPONENT || is_negative && !SIGNED {
        return 0.0;
    }
    let steps = f32::from(magnitude.min(half::EXPONENT - 1)) + 0.5;
    match (SIGNED, is_negative) {
        (false, _) => steps * (64.0 / 31.0),
        (true, false) => steps * (32.0 / 31.0),
        (true, true) => steps * (-32.0 / 31.0),
    }
}

#[inline(always)]
fn load<S: Simd, const SIGNED: bool>(simd: S, rows: &Rows<u64>) -> Blocks<S> {
    let mut numbers = [[[0.0; LANES]; 16]; 3];
    for (y, row) in rows.iter().enumerate() {
        for (x, texel) in row.iter().enumerate() {
            for (c, numbers) in numbers.iter_mut().enumerate() {
                numbers[4 * y + x % 4][x / 4] = number::<SIGNED>((texel >> (16 * c)) as u16);
            }
        }
    }
    let mut texels = [[splat(simd, 0.0); 16]; 4];
    for (texels, numbers) in texels.iter_mut().zip(&numbers) {
        for (texel, numbers) in texels.iter_mut().zip(numbers) {
            *texel = F::load_array(simd, *numbers);
        }
    }
    Blocks { texels, opaque: true, differing: words(simd, !0) }
}

/// Takes the middle of each component's range from the texels: sums of squares of what is left are as precise as they need be.
#[inline(always)]
fn centered<S: Simd>(blocks: &mut Blocks<S>) -> [F<S>; 3] {
    let mut middle = [blocks.texels[0][0]; 3];
    for (middle, texels) in middle.iter_mut().zip(&mut blocks.texels) {
        let (mut least, mut most) = (texels[0], texels[0]);
        for texel in texels.iter() {
            (least, most) = (least.min(*texel), most.max(*texel));
        }
        *middle = (least + most) * 0.5;
        for texel in texels.iter_mut() {
            *texel -= *middle;
        }
    }
    middle
}

/// Ends with a number added to each component.
#[inline(always)]
fn moved<S: Simd>(ends: &Ends<S>, by: [F<S>; 3]) -> Ends<S> {
    let mut out = *ends;
    for c in 0..3 {
        out.from[c] += by[c];
        out.to[c] += by[c];
    }
    out
}

/// The line through a part of the texels. Where the level of the texel `anchor` would need its highest bit, which is not stored, the
/// ends have changed places.
#[inline(always)]
fn line<S: Simd>(
    simd: S,
    blocks: &Blocks<S>,
    part: impl Part<S>,
    rounds: usize,
    (anchor, top): (&Lane, f32),
) -> (Moments<S>, Ends<S>) {
    let moments = Moments::of::<3>(simd, blocks, part);
    let mut ends = Ends::principal::<3>(simd, blocks, part, &moments);
    for _ in 0..rounds {
        let levels = ends.levels::<3>(simd, blocks, top);
        ends = ends.regression::<3>(simd, blocks, part, &moments, &levels, top).ends;
    }
    let levels = ends.levels::<3>(simd, blocks, top);
    let mut at_anchor = [0.0; LANES];
    for (lane, at) in at_anchor.iter_mut().enumerate() {
        *at = levels[anchor[lane] as usize % 16].as_slice()[lane];
    }
    let is_swapped = F::load_array(simd, at_anchor).simd_gt(top * 0.5);
    let swapped = Ends { from: ends.to, to: ends.from };
    (moments, swapped.select(is_swapped, ends))
}

/// The levels nearest to the texels, that of texel `anchor` without its highest bit.
#[inline(always)]
fn levels<S: Simd>(simd: S, blocks: &Blocks<S>, ends: &Ends<S>, (anchor, top): (&Lane, f32)) -> [F<S>; 16] {
    let mut levels = ends.levels::<3>(simd, blocks, top);
    let anchor = U::load_array(simd, *anchor);
    let most = splat(simd, (top - 1.0) * 0.5);
    for (i, level) in levels.iter_mut().enumerate() {
        let is_anchor = anchor.simd_eq(words(simd, i as u32));
        *level = is_anchor.select(level.min(most), *level);
    }
    levels
}

/// Encodes blocks with one region, and keeps them where they are better.
#[inline(never)]
fn one_region<S: Simd, const SIGNED: bool>(
    simd: S,
    blocks: &Blocks<S>,
    middle: &[F<S>; 3],
    effort: &Effort,
    best: &mut Best<S>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            const TOP: f32 = 15.0;
            let to_line = middle.map(|m| -m);
            let anchor = (&[0; LANES], TOP);
            let (moments, wanted) = line(simd, blocks, Whole, effort.rounds[0], anchor);
            for mode in ONE_REGION {
                let mut ends = wanted;
                for round in 0..effort.rounds[1] {
                    let whole = moved(&ends, *middle);
                    let stored = stored::<S, SIGNED>(simd, &MODES[mode], &[whole; 2]);
                    let exact = moved(&stored.exact[0], to_line);
                    let levels = levels(simd, blocks, &exact, anchor);
                    let error = exact.error::<3>(simd, blocks, Whole, &levels, TOP);
                    best.take(error, mode, words(simd, 0), &stored.codes, &levels);
                    if round + 1 < effort.rounds[1] {
                        ends = exact.regression::<3>(simd, blocks, Whole, &moments, &levels, TOP).ends;
                    }
                }
            }
        },
    )
}

/// Encodes blocks with two regions, of a given partition each, and keeps them where they are better.
#[inline(never)]
fn two_regions<S: Simd, const SIGNED: bool>(
    simd: S,
    blocks: &Blocks<S>,
    middle: &[F<S>; 3],
    effort: &Effort,
    partition: &Lane,
    best: &mut Best<S>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            const TOP: f32 = 7.0;
            let to_line = middle.map(|m| -m);
            let (mut pattern, mut anchors) = ([0; LANES], [[0; LANES]; 2]);
            for lane in 0..LANES {
                pattern[lane] = TWO[partition[lane] as usize % 32];
                anchors[1][lane] = ANCHOR_OF_TWO[partition[lane] as usize % 32].into();
            }
            let pattern = U::load_array(simd, pattern);
            let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
            let mut weights = [[zero; 16]; 2];
            for i in 0..16 {
                let is_second = (pattern >> (2 * i as u32) & 1).simd_eq(words(simd, 1));
                weights[1][i] = is_second.select(one, zero);
                weights[0][i] = is_second.select(zero, one);
            }
            let lines = [0, 1].map(
                #[inline(always)]
                |r| line(simd, blocks, Weighted(&weights[r]), effort.rounds[0], (&anchors[r], TOP)),
            );
            let partition = U::load_array(simd, *partition);
            for mode in TWO_REGIONS {
                let mut ends = [lines[0].1, lines[1].1];
                for round in 0..effort.rounds[1] {
                    let whole = [moved(&ends[0], *middle), moved(&ends[1], *middle)];
                    let stored = stored::<S, SIGNED>(simd, &MODES[mode], &whole);
                    let (mut error, mut both) = (zero, [zero; 16]);
                    for r in 0..2 {
                        let part = Weighted(&weights[r]);
                        let exact = moved(&stored.exact[r], to_line);
                        let levels = levels(simd, blocks, &exact, (&anchors[r], TOP));
                        error += exact.error::<3>(simd, blocks, part, &levels, TOP);
                        for i in 0..16 {
                            both[i] += part.weighted(i, levels[i]);
                        }
                        if round + 1 < effort.rounds[1] {
                            let moments = &lines[r].0;
                            ends[r] = exact.regression::<3>(simd, blocks, part, moments, &levels, TOP).ends;
                        }
                    }
                    best.take(error, mode, partition, &stored.codes, &both);
                }
            }
        },
    )
}

impl<S: Simd> Best<S> {
    /// Takes what is better.
    #[inline(always)]
    fn take(
        &mut self,
        error: F<S>,
        mode: usize,
        partition: U<S>,
        codes: &[[F<S>; 3]; 4],
        levels: &[F<S>; 16],
    ) {
        let better = error.simd_lt(self.error);
        self.error = self.error.min(error);
        self.mode = better.select(words(error.simd, mode as u32), self.mode);
        self.partition = better.select(partition, self.partition);
        for end in 0..4 {
            for c in 0..3 {
                self.codes[end][c] = better.select(codes[end][c], self.codes[end][c]);
            }
        }
        for i in 0..16 {
            self.levels[i] = better.select(levels[i], self.levels[i]);
        }
    }
}

/// The words of blocks.
#[inline(always)]
fn packed<S: Simd>(best: &Best<S>) -> Words {
    let mut out = [[0; LANES]; 4];
    let (modes, partitions) = (best.mode.to_array(), best.partition.to_array());
    let mut indices = [U::splat(best.error.simd, 0).to_array(); 16];
    for (indices, levels) in indices.iter_mut().zip(best.levels) {
        *indices = rounded(levels).to_array();
    }
    for lane in 0..LANES {
        let mode = &MODES[modes[lane] as usize % MODES.len()];
        let mut fields = Fields::default();
        fields.put(mode.code, mode.header);
        for &(component, first, last) in mode.runs {
            let code =
                best.codes[component as usize / 3][component as usize % 3].as_slice()[lane] as i32 as u32;
            if first <= last {
                let bits = u32::from(last - first) + 1;
                fields.put(code >> first & ((1 << bits) - 1), bits);
            } else {
                (last..=first).rev().for_each(|bit| fields.put(code >> bit & 1, 1));
            }
        }
        let bits = if mode.regions == 1 { 4 } else { 3 };
        let mut all = 0;
        for (i, indices) in indices.iter().enumerate() {
            all |= u64::from(indices[lane]) << (bits * i as u32);
        }
        if mode.regions == 1 {
            fields.put_indices(all, bits, &[0]);
        } else {
            let partition = partitions[lane] % 32;
            fields.put(partition, 5);
            fields.put_indices(all, bits, &[0, ANCHOR_OF_TWO[partition as usize]]);
        }
        fields.store(&mut out, lane);
    }
    out
}
