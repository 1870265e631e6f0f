//! EAC blocks of one component: a base, a multiplier and a table of modifiers, from the Khronos Data Format specification
//! 1.4.
//!
//! A table has four modifiers m of 0 and above, and -m - 1 for each. Measured from half a multiplier below the base, a block's
//! values therefore lie at four distances on both sides.

use super::Quality;
use super::lanes::{Blocks, F, LANES, U, level, rounded, splat, words};
use crate::etc::eac::MODIFIERS;
use fearless_simd::prelude::*;

/// The tables that [`Quality::Fast`] and [`Quality::Fastest`] try: ones with even steps, with a far value, and with modifiers near 0.
const FEW: [usize; 4] = [0, 3, 10, 13];

/// Changes to the multiplier and the base that are tried, from those whose values just span the block's.
const NEAR: [[f32; 2]; 9] = [
    [0.0, 0.0],
    [1.0, 0.0],
    [-1.0, 0.0],
    [0.0, 1.0],
    [0.0, -1.0],
    [-1.0, 1.0],
    [-1.0, -1.0],
    [-2.0, 0.0],
    [0.0, 2.0],
];

/// The four distances of a table's values from their middle, in multipliers, in the order of indices.
fn distances(table: usize) -> [f32; 4] {
    let [_, _, _, _, a, b, c, d] = MODIFIERS[table];
    [a, b, c, d].map(|modifier| f32::from(modifier) + 0.5)
}

/// The two words of each block: of alpha with eight bits, or of R11 if `ELEVEN`.
#[inline(never)]
pub fn encode<S: Simd, const ELEVEN: bool>(
    simd: S,
    blocks: &Blocks<S>,
    component: usize,
    quality: Quality,
) -> [[u32; LANES]; 2] {
    simd.vectorize(
        #[inline(always)]
        || {
            // R11's values are 8 * base + 4 + 8 * multiplier * modifier, so that a base of eight bits is tried for an eighth
            // of the value less a half.
            let mut values = blocks.texels[component];
            if ELEVEN {
                for value in &mut values {
                    *value = *value * (2047.0 / 255.0 / 8.0) - 0.5;
                }
            }
            let (mut least, mut most) = (values[0], values[0]);
            for value in &values {
                (least, most) = (least.min(*value), most.max(*value));
            }
            let middle = (least + most) * 0.5;
            let all: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
            let tables: &[usize] = if quality <= Quality::Fast { &FEW } else { &all };
            let near = match quality {
                Quality::Fastest | Quality::Fast => 1,
                Quality::Normal => 2,
                Quality::High => NEAR.len(),
            };
            let zero = splat(simd, 0.0);
            let (mut error, mut base, mut multiplier, mut table) = (splat(simd, f32::MAX), zero, zero, zero);
            let mut steps = [zero; 4];
            for &at in tables {
                let distances = distances(at);
                let reach =
                    level((most - least) * (0.5 / distances[3]), splat(simd, 15.0)).max(splat(simd, 1.0));
                for [more, up] in &NEAR[..near] {
                    let tried = (reach + *more).max(splat(simd, 1.0)).min(splat(simd, 15.0));
                    let center = level(middle + tried * 0.5 + *up, splat(simd, 255.0));
                    let mut own = [zero; 4];
                    for k in 0..4 {
                        own[k] = tried * distances[k];
                    }
                    let start = center - tried * 0.5;
                    let mut sum = zero;
                    for value in &values {
                        let far = (*value - start).abs();
                        let mut left = (far - own[0]).abs();
                        for step in &own[1..] {
                            left = left.min((far - *step).abs());
                        }
                        sum = left.mul_add(left, sum);
                    }
                    let better = sum.simd_lt(error);
                    error = error.min(sum);
                    base = better.select(center, base);
                    multiplier = better.select(tried, multiplier);
                    table = better.select(splat(simd, at as f32), table);
                    for k in 0..4 {
                        steps[k] = better.select(own[k], steps[k]);
                    }
                }
            }
            let start = base - multiplier * 0.5;
            let mut halves = [words(simd, 0); 2];
            for i in 0..16 {
                // Indices are stored column by column.
                let value = values[i % 4 * 4 + i / 4];
                let away = value - start;
                let far = away.abs();
                let (mut left, mut index): (F<S>, F<S>) = ((far - steps[0]).abs(), zero);
                for k in 1..4 {
                    let other = (far - steps[k]).abs();
                    index = other.simd_lt(left).select(splat(simd, k as f32), index);
                    left = left.min(other);
                }
                let index = away.simd_lt(0.0).select(index, index + 4.0);
                halves[i / 8] |= rounded(index) << (21 - 3 * (i as u32 % 8));
            }
            let [first, second] = halves;
            let high = rounded(base) << 24 | rounded(multiplier) << 20 | rounded(table) << 16 | first >> 8;
            big_endian([high, first << 24 | second])
        },
    )
}

/// The upper and the lower word of a block of big-endian bytes.
#[inline(always)]
pub fn big_endian<S: Simd>([high, low]: [U<S>; 2]) -> [[u32; LANES]; 2] {
    let mut out = [high.to_array(), low.to_array()];
    for word in out.as_flattened_mut() {
        *word = word.swap_bytes();
    }
    out
}
