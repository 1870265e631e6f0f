//! Colour blocks of ETC1 and ETC2, from the Khronos Data Format specification 1.4: two halves with a base colour and a table
//! of modifiers each, and ETC2's planar mode. ETC2's modes T and H are not encoded.
//!
//! A modifier m is added to all three components. If nothing is clamped, it changes the squared error of a texel by
//! 3m² - 2md, where d is the sum of the texel's components less that of the base. Tables have m and -m, so the best table
//! depends on |d| alone.

use super::Quality;
use super::eac::big_endian;
use super::lanes::{Blocks, F, LANES, Mask, U, level, rounded, splat, words};
use crate::etc::color::MODIFIERS;
use fearless_simd::prelude::*;

/// The formats.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

/// A colour of each half.
type Colors<S> = [[F<S>; 3]; 2];

/// Sums over the texels of half a block.
struct Half<S: Simd> {
    /// The sum of the components of each texel.
    lights: [F<S>; 8],
    sums: [F<S>; 3],
    squares: F<S>,
}

/// The base and the table of a half.
#[derive(Clone, Copy)]
struct Chosen<S: Simd> {
    codes: [F<S>; 3],
    /// The base in eight bits.
    base: [F<S>; 3],
    table: F<S>,
    modifiers: [F<S>; 2],
    error: F<S>,
}

/// Both halves.
#[derive(Clone, Copy)]
struct Pair<S: Simd> {
    halves: [Chosen<S>; 2],
    error: F<S>,
    /// 1 where the second base is a difference.
    differential: F<S>,
    /// 1 where one half is above the other.
    flipped: F<S>,
}

/// The numbers of a half's texels; texels are counted row by row.
const fn members(flipped: bool, half: usize) -> [usize; 8] {
    let mut out = [0; 8];
    let (mut i, mut n) = (0, 0);
    while i < 16 {
        let at = if flipped { i / 4 } else { i % 4 };
        if at / 2 == half {
            out[n] = i;
            n += 1;
        }
        i += 1;
    }
    out
}

const MEMBERS: [[[usize; 8]; 2]; 2] =
    [[members(false, 0), members(false, 1)], [members(true, 0), members(true, 1)]];

/// The two words of each block.
#[inline(never)]
pub fn encode<S: Simd>(simd: S, blocks: &Blocks<S>, version: Version, quality: Quality) -> [[u32; LANES]; 2] {
    simd.vectorize(
        #[inline(always)]
        || {
            let best = pair(simd, blocks, quality);
            let mut bits = best.bits(simd, blocks, quality);
            if version == Version::Two {
                let (plane, error) = plane(simd, blocks);
                let better = error.simd_lt(best.error);
                bits = [better.select(plane[0], bits[0]), better.select(plane[1], bits[1])];
            }
            big_endian(bits)
        },
    )
}

#[inline(never)]
fn pair<S: Simd>(simd: S, blocks: &Blocks<S>, quality: Quality) -> Pair<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut best: Option<Pair<S>> = None;
            for (flipped, members) in MEMBERS.iter().enumerate() {
                let halves = [half(simd, blocks, &members[0]), half(simd, blocks, &members[1])];
                let mut means = [[splat(simd, 0.0); 3]; 2];
                for (mean, half) in means.iter_mut().zip(&halves) {
                    for c in 0..3 {
                        mean[c] = half.sums[c] * 0.125;
                    }
                }
                let flipped = splat(simd, flipped as f32);
                let rounds = match quality {
                    Quality::Fastest | Quality::Fast => 1,
                    Quality::Normal => 2,
                    Quality::High => 3,
                };
                for differential in [true, false] {
                    let mut wanted = means;
                    for _ in 0..rounds {
                        let mut found = tried(simd, &halves, &wanted, differential);
                        found.flipped = flipped;
                        if quality == Quality::High {
                            around(simd, &halves, differential, &mut found);
                        }
                        for (i, half) in halves.iter().enumerate() {
                            let drift = half.drift(simd, &found.halves[i]);
                            for c in 0..3 {
                                wanted[i][c] = means[i][c] - drift;
                            }
                        }
                        best = Some(match best {
                            None => found,
                            Some(old) => found.select(found.error.simd_lt(old.error), old),
                        });
                    }
                }
            }
            match best {
                Some(best) => best,
                None => {
                    let halves = [half(simd, blocks, &MEMBERS[0][0]), half(simd, blocks, &MEMBERS[0][1])];
                    tried(simd, &halves, &[[splat(simd, 0.0); 3]; 2], true)
                }
            }
        },
    )
}

#[inline(never)]
fn half<S: Simd>(simd: S, blocks: &Blocks<S>, members: &[usize; 8]) -> Half<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let zero = splat(simd, 0.0);
            let mut out = Half { lights: [zero; 8], sums: [zero; 3], squares: zero };
            for (n, &i) in members.iter().enumerate() {
                for c in 0..3 {
                    let value = blocks.texels[c][i];
                    out.lights[n] += value;
                    out.sums[c] += value;
                    out.squares = value.mul_add(value, out.squares);
                }
            }
            out
        },
    )
}

/// The codes of both bases, and their values in eight bits. Differential codes have five bits, and the second is at most 4
/// below and 3 above the first; others have four bits.
#[inline(always)]
fn bases<S: Simd>(simd: S, wanted: &Colors<S>, differential: bool) -> (Colors<S>, Colors<S>) {
    let (mut codes, mut values) = (*wanted, *wanted);
    for c in 0..3 {
        if differential {
            let top = splat(simd, 31.0);
            codes[0][c] = level(wanted[0][c] * (31.0 / 255.0), top);
            let second = level(wanted[1][c] * (31.0 / 255.0), top);
            codes[1][c] = second.max(codes[0][c] - 4.0).min(codes[0][c] + 3.0);
        } else {
            codes[0][c] = level(wanted[0][c] * (15.0 / 255.0), splat(simd, 15.0));
            codes[1][c] = level(wanted[1][c] * (15.0 / 255.0), splat(simd, 15.0));
        }
        for half in 0..2 {
            values[half][c] = widened(codes[half][c], differential);
        }
    }
    (codes, values)
}

/// A code of five or four bits, expanded to eight by repeating its bits.
#[inline(always)]
fn widened<S: Simd>(code: F<S>, differential: bool) -> F<S> {
    if differential { code * 8.0 + (code * 0.25).floor() } else { code * 17.0 }
}

#[inline(always)]
fn tried<S: Simd>(simd: S, halves: &[Half<S>; 2], wanted: &Colors<S>, differential: bool) -> Pair<S> {
    let (codes, values) = bases(simd, wanted, differential);
    let found = [halves[0].chosen(simd, codes[0], values[0]), halves[1].chosen(simd, codes[1], values[1])];
    Pair {
        halves: found,
        error: found[0].error + found[1].error,
        differential: splat(simd, differential.into()),
        flipped: splat(simd, 0.0),
    }
}

/// Varies single codes of each base by one, and all three together, and keeps what is better.
#[inline(never)]
fn around<S: Simd>(simd: S, halves: &[Half<S>; 2], differential: bool, found: &mut Pair<S>) {
    simd.vectorize(
        #[inline(always)]
        || {
            const STEPS: [[f32; 3]; 4] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
            let top = splat(simd, if differential { 31.0 } else { 15.0 });
            for half in 0..2 {
                for step in STEPS {
                    for sign in [1.0, -1.0] {
                        let mut codes = found.halves[half].codes;
                        let mut base = codes;
                        let mut legal = splat(simd, 0.0).simd_eq(0.0);
                        for c in 0..3 {
                            codes[c] = level(codes[c] + sign * step[c], top);
                            base[c] = widened(codes[c], differential);
                            if differential {
                                let first = if half == 0 { codes[c] } else { found.halves[0].codes[c] };
                                let second = if half == 0 { found.halves[1].codes[c] } else { codes[c] };
                                let difference = second - first;
                                legal = legal & difference.simd_ge(-4.0) & difference.simd_le(3.0);
                            }
                        }
                        let other = halves[half].chosen(simd, codes, base);
                        let better = legal & other.error.simd_lt(found.halves[half].error);
                        if better.any_true() {
                            found.halves[half] = other.select(better, found.halves[half]);
                        }
                    }
                }
            }
            found.error = found.halves[0].error + found.halves[1].error;
        },
    )
}

impl<S: Simd> Half<S> {
    /// The best table for a base.
    #[inline(never)]
    fn chosen(&self, simd: S, codes: [F<S>; 3], base: [F<S>; 3]) -> Chosen<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let light = base[0] + base[1] + base[2];
                let mut beside = self.squares;
                for c in 0..3 {
                    beside += base[c] * (8.0 * base[c] - 2.0 * self.sums[c]);
                }
                let mut distances = self.lights;
                for distance in &mut distances {
                    *distance = (*distance - light).abs();
                }
                let zero = splat(simd, 0.0);
                let mut error = splat(simd, f32::MAX);
                let (mut table, mut modifiers) = (zero, [zero; 2]);
                for (at, &[small, large]) in MODIFIERS.iter().enumerate() {
                    let (small, large) = (f32::from(small), f32::from(large));
                    let (small_square, large_square) =
                        (splat(simd, 3.0 * small * small), splat(simd, 3.0 * large * large));
                    let (small_way, large_way) = (splat(simd, -2.0 * small), splat(simd, -2.0 * large));
                    let mut sum = zero;
                    for distance in &distances {
                        let near = small_way.mul_add(*distance, small_square);
                        sum += near.min(large_way.mul_add(*distance, large_square));
                    }
                    let better = sum.simd_lt(error);
                    error = error.min(sum);
                    table = better.select(splat(simd, at as f32), table);
                    modifiers[0] = better.select(splat(simd, small), modifiers[0]);
                    modifiers[1] = better.select(splat(simd, large), modifiers[1]);
                }
                Chosen { codes, base, table, modifiers, error: error + beside }
            },
        )
    }

    /// The mean of the modifiers that the texels choose. A base lower by it lets the mean of the half be met.
    #[inline(never)]
    fn drift(&self, simd: S, chosen: &Chosen<S>) -> F<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let light = chosen.base[0] + chosen.base[1] + chosen.base[2];
                let [small, large] = chosen.modifiers;
                let border = (small + large) * 1.5;
                let mut sum = splat(simd, 0.0);
                for value in &self.lights {
                    let away = *value - light;
                    sum += away.abs().simd_gt(border).select(large, small).copysign(away);
                }
                sum * 0.125
            },
        )
    }
}

impl<S: Simd> Chosen<S> {
    /// This where the mask is set, else the other.
    #[inline(always)]
    fn select(self, mask: Mask<S>, mut other: Chosen<S>) -> Chosen<S> {
        for c in 0..3 {
            other.codes[c] = mask.select(self.codes[c], other.codes[c]);
            other.base[c] = mask.select(self.base[c], other.base[c]);
        }
        other.table = mask.select(self.table, other.table);
        for i in 0..2 {
            other.modifiers[i] = mask.select(self.modifiers[i], other.modifiers[i]);
        }
        other.error = mask.select(self.error, other.error);
        other
    }
}

impl<S: Simd> Pair<S> {
    /// This where the mask is set, else the other.
    #[inline(always)]
    fn select(self, mask: Mask<S>, other: Pair<S>) -> Pair<S> {
        Pair {
            halves: [
                self.halves[0].select(mask, other.halves[0]),
                self.halves[1].select(mask, other.halves[1]),
            ],
            error: mask.select(self.error, other.error),
            differential: mask.select(self.differential, other.differential),
            flipped: mask.select(self.flipped, other.flipped),
        }
    }

    /// The upper and the lower word.
    #[inline(never)]
    fn bits(&self, simd: S, blocks: &Blocks<S>, quality: Quality) -> [U<S>; 2] {
        simd.vectorize(
            #[inline(always)]
            || {
                let [first, second] = &self.halves;
                let is_differential = self.differential.simd_gt(0.5);
                let is_flipped = self.flipped.simd_gt(0.5);
                let mut high = rounded(first.table) << 5 | rounded(second.table) << 2;
                high |= rounded(self.differential) << 1 | rounded(self.flipped);
                for c in 0..3 {
                    let (a, b) = (rounded(first.codes[c]), rounded(second.codes[c]));
                    let difference = (b - a) & 7;
                    let byte = is_differential.select(a << 3 | difference, a << 4 | b);
                    high |= byte << (24 - 8 * c as u32);
                }
                let mut low = words(simd, 0);
                for i in 0..16 {
                    let (x, y) = (i % 4, i / 4);
                    // Whether the texel is in the second half.
                    let in_second = match (x / 2, y / 2) {
                        (0, 0) => splat(simd, 0.0).simd_gt(0.5),
                        (1, 1) => splat(simd, 1.0).simd_gt(0.5),
                        (1, _) => !is_flipped,
                        _ => is_flipped,
                    };
                    let mut base = [splat(simd, 0.0); 3];
                    let mut away = splat(simd, 0.0);
                    for c in 0..3 {
                        base[c] = in_second.select(second.base[c], first.base[c]);
                        away += blocks.texels[c][i] - base[c];
                    }
                    let small = in_second.select(second.modifiers[0], first.modifiers[0]);
                    let large = in_second.select(second.modifiers[1], first.modifiers[1]);
                    let (is_large, is_below) = if quality <= Quality::Fast {
                        (away.abs().simd_gt((small + large) * 1.5), away.simd_lt(0.0))
                    } else {
                        nearest(simd, blocks, i, &base, [small, large])
                    };
                    let bit = (4 * x + y) as u32;
                    low |= is_large.select(words(simd, 1 << bit), words(simd, 0));
                    low |= is_below.select(words(simd, 1 << (16 + bit)), words(simd, 0));
                }
                [high, low]
            },
        )
    }
}

/// Whether the nearest of the four clamped colours is at the large distance, and whether it is below the base.
#[inline(always)]
fn nearest<S: Simd>(
    simd: S,
    blocks: &Blocks<S>,
    texel: usize,
    base: &[F<S>; 3],
    [small, large]: [F<S>; 2],
) -> (Mask<S>, Mask<S>) {
    let (least, most) = (splat(simd, 0.0), splat(simd, 255.0));
    let error = |step: F<S>| {
        let mut error = least;
        for c in 0..3 {
            let left = (base[c] + step).max(least).min(most) - blocks.texels[c][texel];
            error = left.mul_add(left, error);
        }
        error
    };
    let (up, far_up, down, far_down) = (error(small), error(large), error(-small), error(-large));
    let is_below = down.min(far_down).simd_lt(up.min(far_up));
    let is_large = is_below.select(far_down, far_up).simd_lt(is_below.select(down, up));
    (is_large, is_below)
}

/// Planar mode by least squares: both words, and the squared error.
#[inline(never)]
fn plane<S: Simd>(simd: S, blocks: &Blocks<S>) -> ([U<S>; 2], F<S>) {
    simd.vectorize(
        #[inline(always)]
        || {
            const BITS: [u32; 3] = [6, 7, 6];
            let zero = splat(simd, 0.0);
            let limit = splat(simd, 255.0);
            let mut error = zero;
            // Codes of the colours O (origin), H (right) and V (below).
            let mut codes = [[words(simd, 0); 3]; 3];
            for c in 0..3 {
                let (mut sum, mut right, mut below) = (zero, zero, zero);
                for i in 0..16 {
                    let value = blocks.texels[c][i];
                    sum += value;
                    right = value.mul_add(splat(simd, (i % 4) as f32 - 1.5), right);
                    below = value.mul_add(splat(simd, (i / 4) as f32 - 1.5), below);
                }
                // The squared distances of the sixteen texels from the middle add up to 20 along each axis.
                let (right, below) = (right * (1.0 / 20.0), below * (1.0 / 20.0));
                let origin = sum * (1.0 / 16.0) - (right + below) * 1.5;
                let mut exact = [zero; 3];
                for (k, value) in [origin, origin + right * 4.0, origin + below * 4.0].into_iter().enumerate()
                {
                    let top = ((1 << BITS[c]) - 1) as f32;
                    let code = level(value * (top / 255.0), splat(simd, top));
                    codes[k][c] = rounded(code);
                    let bits: U<S> = codes[k][c];
                    exact[k] = (bits << (8 - BITS[c]) | bits >> (2 * BITS[c] - 8)).to_float();
                }
                let [origin, right, below] = exact;
                let (right, below) = ((right - origin) * 0.25, (below - origin) * 0.25);
                for i in 0..16 {
                    let value = right.mul_add(
                        splat(simd, (i % 4) as f32),
                        below.mul_add(splat(simd, (i / 4) as f32), origin),
                    );
                    let left = value.max(zero).min(limit) - blocks.texels[c][i];
                    error = left.mul_add(left, error);
                }
            }
            let [[r, g, b], [r_right, g_right, b_right], [r_below, g_below, b_below]] = codes;
            let mut high = r << 25 | g >> 6 << 24 | (g & 0x3f) << 17 | b >> 5 << 16;
            high |= (b >> 3 & 3) << 11 | (b & 7) << 7 | (r_right >> 1) << 2 | 2 | r_right & 1;
            let low = g_right << 25 | b_right << 19 | r_below << 13 | g_below << 6 | b_below;
            // Planar mode is signalled by an overflow of differential blue, and of blue only. Red and green do not overflow: the
            // free bit before each is set where the difference is negative.
            high |= (high >> 26 & 1) << 31 | (high >> 18 & 1) << 23;
            // Blue's free bits make it overflow: upwards where base and difference are large, else downwards.
            let is_above = ((high >> 11 & 3) + (high >> 8 & 3)).simd_ge(words(simd, 4));
            high |= is_above.select(words(simd, 7 << 13), words(simd, 1 << 10));
            ([high, low], error)
        },
    )
}
