//! BC7, from Microsoft's description of the format.
//!
//! Mode 6 is tried for all blocks. Better qualities also try modes of two and three subsets, with the partitions for which
//! lines through the subsets leave the least squared distances, and modes with separate indices for one component.

mod ends;

use super::Quality;
use super::fields::{Fields, LaneFields};
use super::lanes::{Blocks, F, LANES, Lane, Mask, U, Words, level, rounded, splat, words};
use super::line::{Ends, Moments, Part, Weighted, Whole};
use super::partition::partitions;
use crate::bc::bc7::MODES;
use crate::bc::partition::{ANCHOR_OF_TWO, ANCHORS_OF_THREE, THREE, TWO};
use ends::{Fitted, Stored, code, fitted, stored, stored_nearest, top, value};
use fearless_simd::prelude::*;

/// The best blocks so far.
struct Best<S: Simd> {
    error: F<S>,
    words: Words,
}

/// How much is tried at a quality.
struct Effort {
    /// Rounds of least squares.
    rounds: usize,
    /// Partitions of which the squared distances from lines are estimated.
    partitions: usize,
    /// Partitions, of the best estimates, that are encoded.
    tried: usize,
    /// Whether three subsets are tried.
    three: bool,
    /// Whether the component with separate indices may be any; else it is alpha.
    rotations: bool,
}

#[inline(never)]
pub fn encode<S: Simd>(simd: S, blocks: &Blocks<S>, quality: Quality) -> Words {
    simd.vectorize(
        #[inline(always)]
        || {
            let effort = match quality {
                Quality::Fastest | Quality::Fast => {
                    Effort { rounds: 1, partitions: 0, tried: 0, three: false, rotations: false }
                }
                Quality::Normal => {
                    Effort { rounds: 2, partitions: 16, tried: 1, three: false, rotations: false }
                }
                Quality::High => Effort { rounds: 3, partitions: 64, tried: 4, three: true, rotations: true },
            };
            if blocks.opaque {
                let moments = Moments::of::<3>(simd, blocks, Whole);
                let mut best = one_line::<S, 3>(simd, blocks, &moments, &effort);
                if effort.tried > 0 {
                    several::<S, 1, 3, 2>(simd, blocks, &effort, &mut best);
                }
                let is_near = (blocks.differing & 0xfcfc_fcfc).simd_eq(words(simd, 0));
                let is_tried = is_near & best.error.simd_gt(NEAR);
                if is_tried.any_true() {
                    // For the other blocks no error is less than 0: they do not depend on the blocks in other lanes.
                    let errors = best.error;
                    best.error = is_tried.select(errors, splat(simd, 0.0));
                    separate::<S, 5>(simd, blocks, Some(&moments), 3, false, &mut best);
                    best.error = is_tried.select(best.error, errors);
                }
                finish(simd, blocks, &effort, &mut best);
                flat(simd, blocks, &mut best);
                best.words
            } else {
                let moments = Moments::of::<4>(simd, blocks, Whole);
                let mut best = one_line::<S, 4>(simd, blocks, &moments, &effort);
                separate::<S, 5>(simd, blocks, Some(&moments), 3, false, &mut best);
                if effort.tried > 0 {
                    several::<S, 7, 4, 2>(simd, blocks, &effort, &mut best);
                }
                finish(simd, blocks, &effort, &mut best);
                flat(simd, blocks, &mut best);
                best.words
            }
        },
    )
}

/// For each value of eight bits two codes of seven bits between which mode 5's second colour, (43 a + 21 b + 32) / 64, is that
/// value.
pub const SOLID: [[u8; 2]; 256] = {
    let mut out = [[0; 2]; 256];
    let mut from = 0usize;
    while from < 128 {
        // Codes at most 2 apart reach all values.
        let mut to = from.saturating_sub(2);
        while to < 128 && to <= from + 2 {
            let value = ((from << 1 | from >> 6) * 43 + (to << 1 | to >> 6) * 21 + 32) >> 6;
            out[value] = [from as u8, to as u8];
            to += 1;
        }
        from += 1;
    }
    out
};

/// Encodes blocks of a single colour without error, in mode 5, where all texels have the second colour.
#[inline(never)]
fn flat<S: Simd>(simd: S, blocks: &Blocks<S>, best: &mut Best<S>) {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut lanes = blocks.differing.simd_eq(words(simd, 0)).to_bitmask();
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize % LANES;
                lanes &= lanes - 1;
                let mut fields = Fields::of_mode(5);
                fields.put(0, 2);
                for c in 0..3 {
                    let [from, to] = SOLID[blocks.texels[c][0].as_slice()[lane] as usize & 255];
                    fields.put(from.into(), 7);
                    fields.put(to.into(), 7);
                }
                let alpha = blocks.texels[3][0].as_slice()[lane] as u32;
                fields.put(alpha, 8);
                fields.put(alpha, 8);
                fields.put_indices(0x5555_5555, 2, &[0]);
                fields.put_indices(0, 2, &[0]);
                fields.store(&mut best.words, lane);
            }
        },
    )
}

/// Tries what [`Quality::High`] has beyond the others.
#[inline(always)]
fn finish<S: Simd>(simd: S, blocks: &Blocks<S>, effort: &Effort, best: &mut Best<S>) {
    if effort.three {
        several::<S, 3, 3, 2>(simd, blocks, effort, best);
        several::<S, 0, 3, 3>(simd, blocks, effort, best);
        several::<S, 2, 3, 3>(simd, blocks, effort, best);
        if !blocks.opaque {
            several::<S, 1, 3, 2>(simd, blocks, effort, best);
        }
    }
    if effort.rotations {
        for component in 0..4 {
            separate::<S, 5>(simd, blocks, None, component, false, best);
            separate::<S, 4>(simd, blocks, None, component, false, best);
            separate::<S, 4>(simd, blocks, None, component, true, best);
        }
    }
}

/// Encodes all blocks in mode 6, with one line of `C` components and sixteen levels.
#[inline(never)]
fn one_line<S: Simd, const C: usize>(
    simd: S,
    blocks: &Blocks<S>,
    moments: &Moments<S>,
    effort: &Effort,
) -> Best<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let Fitted { mut stored, levels, error } =
                fitted::<S, 6, C>(simd, blocks, Whole, moments, effort.rounds);
            if C == 3 {
                stored.be_opaque(simd);
            }
            Best { error, words: mode_6(simd, &stored, &levels) }
        },
    )
}

/// Opaque blocks whose texels differ in the two lowest bits of components are tried in mode 5, too, where the squared error is greater
/// than this: ends of mode 6 are odd in opaque blocks.
const NEAR: f32 = 24.0;

/// Encodes blocks whose texels lie along known axes, as blocks of other formats do, in mode 6, or without error where they are
/// of a single colour.
#[inline(always)]
pub fn on_lines<S: Simd>(simd: S, blocks: &Blocks<S>, axis: [F<S>; 4]) -> Words {
    if blocks.opaque { along::<S, 3>(simd, blocks, axis) } else { along::<S, 4>(simd, blocks, axis) }
}

#[inline(never)]
fn along<S: Simd, const C: usize>(simd: S, blocks: &Blocks<S>, axis: [F<S>; 4]) -> Words {
    simd.vectorize(
        #[inline(always)]
        || {
            let top = const { top::<6>() };
            let moments = Moments::sums_of::<C>(simd, blocks);
            let ends = Ends::along::<C>(simd, blocks, Whole, &moments, axis);
            let levels = ends.levels::<C>(simd, blocks, top);
            let least = ends.regression::<C>(simd, blocks, Whole, &moments, &levels, top);
            let mut stored = stored_nearest::<S, C>(simd, &least);
            let levels = stored.exact.levels::<C>(simd, blocks, top);
            if C == 3 {
                stored.be_opaque(simd);
            }
            let mut best = Best { error: splat(simd, 0.0), words: mode_6(simd, &stored, &levels) };
            flat(simd, blocks, &mut best);
            best.words
        },
    )
}

/// The words of blocks of mode 6.
#[inline(never)]
fn mode_6<S: Simd>(simd: S, stored: &Stored<S>, levels: &[F<S>; 16]) -> Words {
    simd.vectorize(
        #[inline(always)]
        || {
            let (halves, swapped) = indices(simd, levels, 4);
            let mut fields = LaneFields::of_mode(simd, 6);
            for c in 0..4 {
                let [first, second] = [stored.codes[0][c], stored.codes[1][c]];
                fields.put(rounded(swapped.select(second, first)), 7);
                fields.put(rounded(swapped.select(first, second)), 7);
            }
            let [first, second] = stored.lowest;
            fields.put(rounded(swapped.select(second, first)), 1);
            fields.put(rounded(swapped.select(first, second)), 1);
            fields.put_indices(halves, 4);
            fields.words()
        },
    )
}

/// Encodes blocks in mode `M`, which has `N` subsets and `C` components, and keeps them where they are better.
#[inline(always)]
fn several<S: Simd, const M: usize, const C: usize, const N: usize>(
    simd: S,
    blocks: &Blocks<S>,
    effort: &Effort,
    best: &mut Best<S>,
) {
    let count = (1 << const { MODES[M].partition }).min(effort.partitions);
    let chosen = partitions::<S, C, N>(simd, blocks, count);
    for partition in chosen.iter().take(effort.tried) {
        subsets::<S, M, C, N>(simd, blocks, effort, partition, best);
    }
}

/// Encodes blocks with a given partition each, and keeps them where they are better.
#[inline(never)]
fn subsets<S: Simd, const M: usize, const C: usize, const N: usize>(
    simd: S,
    blocks: &Blocks<S>,
    effort: &Effort,
    partition: &Lane,
    best: &mut Best<S>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let mode = const { &MODES[M] };
            let patterns = if N == 2 { &TWO } else { &THREE };
            let mut pattern = [0; LANES];
            for (pattern, at) in pattern.iter_mut().zip(partition) {
                *pattern = patterns[*at as usize % 64];
            }
            let pattern = U::load_array(simd, pattern);
            let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
            let mut error = zero;
            if C == 3 && !blocks.opaque {
                for alpha in &blocks.texels[3] {
                    error += (255.0 - *alpha) * (255.0 - *alpha);
                }
            }
            let mut halves = [words(simd, 0); 2];
            let mut codes = [[[[0; LANES]; 4]; 2]; N];
            let mut lowest = [[[0; LANES]; 2]; N];
            for subset in 0..N {
                let mut weights = [zero; 16];
                for (i, weight) in weights.iter_mut().enumerate() {
                    let is_member = (pattern >> (2 * i as u32) & 3).simd_eq(words(simd, subset as u32));
                    *weight = is_member.select(one, zero);
                }
                let part = Weighted(&weights);
                let moments = Moments::of::<C>(simd, blocks, part);
                let Fitted { stored, levels, error: own } =
                    fitted::<S, M, C>(simd, blocks, part, &moments, effort.rounds);
                error += own;
                for i in 0..16 {
                    halves[i / 8] |= rounded(part.weighted(i, levels[i])) << (mode.index * (i as u32 % 8));
                }
                for end in 0..2 {
                    for c in 0..C {
                        codes[subset][end][c] = rounded(stored.codes[end][c]).to_array();
                    }
                    lowest[subset][end] = rounded(stored.lowest[end]).to_array();
                }
            }
            let better = error.simd_lt(best.error);
            let mut lanes = better.to_bitmask();
            if lanes == 0 {
                return;
            }
            best.error = best.error.min(error);
            let (low, high, pattern) = (halves[0].to_array(), halves[1].to_array(), pattern.to_array());
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize % LANES;
                lanes &= lanes - 1;
                let mut indices = u64::from(low[lane]) | u64::from(high[lane]) << (8 * mode.index);
                let at = partition[lane] as usize % 64;
                let two = [0, ANCHOR_OF_TWO[at]];
                let [second, third] = ANCHORS_OF_THREE[at];
                let three = [0, second, third];
                let anchors: &[u8] = if N == 2 { &two } else { &three };
                // Ends change places where an anchor's index has its highest bit.
                let mut swapped = [0; N];
                for &anchor in anchors {
                    let subset = (pattern[lane] >> (2 * u32::from(anchor)) & 3) as usize % N;
                    swapped[subset] =
                        (indices >> (u32::from(anchor) * mode.index + mode.index - 1) & 1) as usize;
                }
                for i in 0..16u32 {
                    let subset = (pattern[lane] >> (2 * i) & 3) as usize % N;
                    indices ^= (swapped[subset] as u64 * ((1 << mode.index) - 1)) << (i * mode.index);
                }
                let mut fields = Fields::of_mode(M);
                fields.put(partition[lane], mode.partition);
                for c in 0..C {
                    for subset in 0..N {
                        for end in 0..2 {
                            let bits = if c == 3 { mode.alpha } else { mode.color };
                            fields.put(codes[subset][end ^ swapped[subset]][c][lane], bits);
                        }
                    }
                }
                for subset in 0..N {
                    if mode.own_lowest {
                        fields.put(lowest[subset][swapped[subset]][lane], 1);
                        fields.put(lowest[subset][1 ^ swapped[subset]][lane], 1);
                    } else if mode.shared_lowest {
                        fields.put(lowest[subset][0][lane], 1);
                    }
                }
                fields.put_indices(indices, mode.index, anchors);
                fields.store(&mut best.words, lane);
            }
        },
    )
}

/// Encodes blocks in mode 4 or 5 and keeps them where they are better. `alone` is the component with separate indices. In mode
/// 4 these have three bits and those of colour two, or the reverse if `swapped`.
#[inline(never)]
fn separate<S: Simd, const M: usize>(
    simd: S,
    blocks: &Blocks<S>,
    moments: Option<&Moments<S>>,
    alone: usize,
    swapped: bool,
    best: &mut Best<S>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let mode = const { &MODES[M] };
            // Bits of an index of colour, and of one of the component alone.
            let (color_bits, alone_bits) =
                if swapped { (mode.second_index, mode.index) } else { (mode.index, mode.second_index) };
            let (color_top, alone_top) =
                (((1u32 << color_bits) - 1) as f32, ((1u32 << alone_bits) - 1) as f32);
            let exchanged;
            let turned = if alone == 3 {
                blocks
            } else {
                exchanged = with_last(blocks, alone);
                &exchanged
            };
            let own;
            let moments = match moments {
                Some(moments) => moments,
                None => {
                    own = Moments::of::<3>(simd, turned, Whole);
                    &own
                }
            };
            let ends = Ends::principal::<3>(simd, turned, Whole, moments);
            let levels = ends.levels::<3>(simd, turned, color_top);
            let least = ends.regression::<3>(simd, turned, Whole, moments, &levels, color_top);
            let color = stored::<S, M, 3>(simd, &least, false);
            let levels = color.exact.levels::<3>(simd, turned, color_top);
            let mut error = color.exact.error::<3>(simd, turned, Whole, &levels, color_top);

            // The component alone, as a line of one component.
            let zero = splat(simd, 0.0);
            let single = &turned.texels[3];
            let moments = Moments::of::<1>(simd, single, Whole);
            let (mut least, mut most) = (single[0], single[0]);
            for value in single {
                (least, most) = (least.min(*value), most.max(*value));
            }
            let ends = Ends { from: [least, zero, zero, zero], to: [most, zero, zero, zero] };
            let own = ends.levels::<1>(simd, single, alone_top);
            let ends = ends.regression::<1>(simd, single, Whole, &moments, &own, alone_top).ends;
            let top = splat(simd, ((1u32 << mode.alpha) - 1) as f32);
            let own_codes = [ends.from[0], ends.to[0]].map(
                #[inline(always)]
                |end| level(code(end, mode.alpha, None), top),
            );
            let [from, to] = own_codes.map(
                #[inline(always)]
                |code| value(code, mode.alpha, None),
            );
            let ends = Ends { from: [from, zero, zero, zero], to: [to, zero, zero, zero] };
            let own = ends.levels::<1>(simd, single, alone_top);
            error += ends.error::<1>(simd, single, Whole, &own, alone_top);
            let better = error.simd_lt(best.error);
            if better.to_bitmask() == 0 {
                return;
            }
            best.error = best.error.min(error);
            let (colors, color_flip) = indices(simd, &levels, color_bits);
            let (alones, alone_flip) = indices(simd, &own, alone_bits);
            let mut fields = LaneFields::of_mode(simd, M);
            fields.put(words(simd, (alone as u32 + 1) % 4), mode.rotation);
            fields.put(words(simd, swapped.into()), mode.selector);
            for c in 0..3 {
                let [first, second] = [color.codes[0][c], color.codes[1][c]];
                fields.put(rounded(color_flip.select(second, first)), mode.color);
                fields.put(rounded(color_flip.select(first, second)), mode.color);
            }
            let [first, second] = own_codes;
            fields.put(rounded(alone_flip.select(second, first)), mode.alpha);
            fields.put(rounded(alone_flip.select(first, second)), mode.alpha);
            if swapped {
                fields.put_indices(alones, mode.index);
                fields.put_indices(colors, mode.second_index);
            } else {
                fields.put_indices(colors, mode.index);
                fields.put_indices(alones, mode.second_index);
            }
            fields.store(better, &mut best.words);
        },
    )
}

/// Sixteen levels of `bits` bits as indices, in two halves, and where all of their bits are inverted because the highest bit of the
/// first would be set: there the ends change places.
#[inline(always)]
fn indices<S: Simd>(simd: S, levels: &[F<S>; 16], bits: u32) -> ([U<S>; 2], Mask<S>) {
    let mut halves = [words(simd, 0); 2];
    for (i, at) in levels.iter().enumerate() {
        halves[i / 8] |= rounded(*at) << (bits * (i as u32 % 8));
    }
    let swapped = (halves[0] >> (bits - 1) & 1).simd_gt(words(simd, 0));
    let all = words(simd, u32::MAX >> (32 - 8 * bits));
    for half in &mut halves {
        *half = swapped.select(*half ^ all, *half);
    }
    (halves, swapped)
}

/// The same blocks with a component in the place of alpha, and alpha in that one's.
#[inline(always)]
fn with_last<S: Simd>(blocks: &Blocks<S>, component: usize) -> Blocks<S> {
    let mut texels = blocks.texels;
    texels.swap(component, 3);
    Blocks { texels, opaque: false, differing: blocks.differing }
}
