//! Endpoints whose colours are logarithms: every mode for every partition, in lanes of 16 bits, and the mode's own chosen.

use super::Endpoints;
use crate::lanes::{chosen, mask};
use crate::simd::Simd;

/// Partitions that are computed at a time.
pub const LANES: usize = 16;

/// Two ends of 12 bits.
type Ends = [[u16; 4]; 2];

/// The largest number of 12 bits.
const MAX: i16 = 0xfff;

/// Alpha of modes without one: the logarithm of 1.
const LOG_ONE: u16 = 0x780;

/// From eight bytes a partition to eight partitions a value, of the first four values.
static BY_VALUE: [u8; 32] = {
    let mut at = [0; 32];
    let mut i = 0;
    while i < 32 {
        at[i] = (i % 8 * 8 + i / 8) as u8;
        i += 1;
    }
    at
};

/// Endpoints of the partitions from `first` on that use a logarithmic (HDR) mode.
#[inline(always)]
pub fn endpoints<S: Simd>(
    simd: S,
    modes: &[u8; LANES],
    values: &[[u8; 8]; LANES],
    first: usize,
    out: &mut Endpoints,
) {
    let lanes = by_value(simd, values);
    let mut ends = [[[0; LANES]; 4]; 2];
    let mut log = [[0; LANES]; 2];
    for i in 0..LANES {
        let mut v = [0; 8];
        for k in 0..8 {
            v[k] = u16::from(lanes[k][i]);
        }
        let mode = u16::from(modes[i]);
        let computed = high(mode, v);
        for end in 0..2 {
            for c in 0..4 {
                ends[end][c][i] = computed[end][c];
            }
        }
        log[0][i] = mask(super::LOG >> mode & 1 != 0);
        log[1][i] = mask(super::LOG_ALPHA >> mode & 1 != 0);
    }
    for (out, ends) in out.ends.as_flattened_mut().iter_mut().zip(ends.as_flattened()) {
        for (i, out) in out[first..first + LANES].iter_mut().enumerate() {
            *out = chosen(log[0][i], ends[i], *out);
        }
    }
    let [colors, alpha] = &log;
    for (out, log) in out.log.iter_mut().zip([colors, colors, colors, alpha]) {
        out[first..first + LANES].copy_from_slice(log);
    }
}

/// The values of partitions, by value.
#[inline(always)]
fn by_value<S: Simd>(simd: S, values: &[[u8; 8]; LANES]) -> [[u8; LANES]; 8] {
    let mut late = BY_VALUE;
    for at in &mut late {
        *at += 4;
    }
    let mut out = [[0; LANES]; 8];
    for (half, table) in values.as_flattened().as_chunks().0.iter().enumerate() {
        for (four, at) in [&BY_VALUE, &late].into_iter().enumerate() {
            for (out, eight) in out[4 * four..].iter_mut().zip(simd.pick(table, at).as_chunks::<8>().0) {
                out[8 * half..][..8].copy_from_slice(eight);
            }
        }
    }
    out
}

/// The ends of a mode of high dynamic range, in 16 bits; of other modes anything.
#[inline(always)]
fn high(mode: u16, v: [u16; 8]) -> Ends {
    let [direct, scaled] = [direct(v), base_and_scale(v)];
    let [wide, narrow] = [luminances(v), base_and_step(v)];
    let alphas = alphas(v);
    let (is_wide, is_narrow, is_scaled) = (mask(mode == 2), mask(mode == 3), mask(mode == 7));
    let (is_linear, is_log) = (mask(mode == 14), mask(mode == 15));
    let mut out = [[0; 4]; 2];
    for end in 0..2 {
        for c in 0..3 {
            let color = chosen(is_scaled, scaled[end][c], direct[end][c]);
            out[end][c] = chosen(is_narrow, narrow[end], chosen(is_wide, wide[end], color)) << 4;
        }
        // That of mode 14 has eight bits and is no logarithm.
        let alpha = chosen(is_log, alphas[end], LOG_ONE) << 4;
        out[end][3] = chosen(is_linear, v[6 + end].wrapping_mul(257), alpha);
    }
    out
}

/// Mode 2: two luminances, from half a step further in where they are exchanged.
#[inline(always)]
fn luminances([a, b, ..]: [u16; 8]) -> [u16; 2] {
    let exchanged = mask(b < a);
    let (low, high) = (a.min(b) << 4, a.max(b) << 4);
    [low + (exchanged & 8), high - (exchanged & 8)]
}

/// Mode 3: a luminance and a step.
#[inline(always)]
fn base_and_step([a, b, ..]: [u16; 8]) -> [u16; 2] {
    let coarse = mask(a & 0x80 != 0);
    let base = chosen(coarse, (b & 0xe0) << 4 | (a & 0x7f) << 2, (b & 0xf0) << 4 | (a & 0x7f) << 1);
    let step = chosen(coarse, (b & 0x1f) << 2, (b & 0xf) << 1);
    [base, (base + step).min(MAX as u16)]
}

/// `value` with `bit` put at `to`, if the mode that has bit `one` is among those in the mask `modes`.
#[inline(always)]
fn put(value: &mut u16, one: u16, modes: u16, bit: u16, to: u32) {
    *value |= bit << to & mask(one & modes != 0);
}

/// A component within 12 bits; it may be less or more as a number with a sign.
#[inline(always)]
fn clamped(component: u16) -> u16 {
    (component as i16).clamp(0, MAX) as u16
}

/// Component `major` in the place of the first, and the other way round; 3 for none.
#[inline(always)]
fn exchanged([first, second, third]: [u16; 3], major: u16) -> [u16; 3] {
    let (with_second, with_third) = (mask(major == 1), mask(major == 2));
    [
        chosen(with_third, third, chosen(with_second, second, first)),
        chosen(with_second, first, second),
        chosen(with_third, first, third),
    ]
}

/// Mode 7: a colour, and how much less of all components the first has.
#[inline(always)]
fn base_and_scale(v: [u16; 8]) -> [[u16; 3]; 2] {
    let selector = v[0] >> 6 & 3 | v[1] >> 5 & 4 | v[2] >> 4 & 8;
    let late = mask(selector >= 0xc);
    let major = chosen(late, selector & 3, selector >> 2);
    let mode = chosen(late, 4 | mask(selector == 0xf) & 1, selector & 3);
    let one = 1 << mode;
    let (mut red, mut green, mut blue, mut scale) = (v[0] & 0x3f, v[1] & 0x1f, v[2] & 0x1f, v[3] & 0x1f);
    let x = [
        v[1] >> 6 & 1,
        v[1] >> 5 & 1,
        v[2] >> 6 & 1,
        v[2] >> 5 & 1,
        v[3] >> 7 & 1,
        v[3] >> 6 & 1,
        v[3] >> 5 & 1,
    ];
    put(&mut green, one, 0x30, x[0], 6);
    put(&mut green, one, 0x3a, x[1], 5);
    put(&mut blue, one, 0x30, x[2], 6);
    put(&mut blue, one, 0x3a, x[3], 5);
    put(&mut scale, one, 0x3d, x[6], 5);
    put(&mut scale, one, 0x2d, x[5], 6);
    put(&mut scale, one, 0x04, x[4], 7);
    put(&mut red, one, 0x3b, x[4], 6);
    put(&mut red, one, 0x04, x[3], 6);
    put(&mut red, one, 0x10, x[5], 7);
    put(&mut red, one, 0x0f, x[2], 7);
    put(&mut red, one, 0x05, x[1], 8);
    put(&mut red, one, 0x0a, x[0], 8);
    put(&mut red, one, 0x05, x[0], 9);
    put(&mut red, one, 0x02, x[6], 9);
    put(&mut red, one, 0x01, x[3], 10);
    put(&mut red, one, 0x02, x[5], 10);
    // Shifted by the mode, and by one in mode 0, too.
    let unit = one.max(2);
    (red, green) = (red.wrapping_mul(unit), green.wrapping_mul(unit));
    (blue, scale) = (blue.wrapping_mul(unit), scale.wrapping_mul(unit));
    let differences = mask(mode != 5);
    green = chosen(differences, red.wrapping_sub(green), green);
    blue = chosen(differences, red.wrapping_sub(blue), blue);
    let color = exchanged([red, green, blue], major);
    let mut ends = [[0; 3]; 2];
    for c in 0..3 {
        ends[0][c] = clamped(color[c].wrapping_sub(scale));
        ends[1][c] = clamped(color[c]);
    }
    ends
}

/// Mode 11: two colours.
#[inline(always)]
fn direct(v: [u16; 8]) -> [[u16; 3]; 2] {
    let major = v[4] >> 7 & 1 | v[5] >> 6 & 2;
    let mode = v[1] >> 7 & 1 | v[2] >> 6 & 2 | v[3] >> 5 & 4;
    let one = 1 << mode;
    let mut a = v[0] | (v[1] & 0x40) << 2;
    let (mut b0, mut b1, mut c) = (v[2] & 0x3f, v[3] & 0x3f, v[1] & 0x3f);
    let x = [v[2] >> 6 & 1, v[3] >> 6 & 1, v[4] >> 6 & 1, v[5] >> 6 & 1, v[4] >> 5 & 1, v[5] >> 5 & 1];
    put(&mut a, one, 0xa4, x[0], 9);
    put(&mut a, one, 0x08, x[2], 9);
    put(&mut a, one, 0x50, x[4], 9);
    put(&mut a, one, 0x50, x[5], 10);
    put(&mut a, one, 0xa0, x[1], 10);
    put(&mut a, one, 0xc0, x[2], 11);
    put(&mut c, one, 0x04, x[1], 6);
    put(&mut c, one, 0xe8, x[3], 6);
    put(&mut c, one, 0x20, x[2], 7);
    put(&mut b0, one, 0x5b, x[0], 6);
    put(&mut b1, one, 0x5b, x[1], 6);
    put(&mut b0, one, 0x12, x[2], 7);
    put(&mut b1, one, 0x12, x[3], 7);
    // Seven bits with a sign in modes 0 and 2, five in 4 and 6, six in the others.
    let sign = chosen(mask(one & 0x05 != 0), 0x40, chosen(mask(one & 0x50 != 0), 0x10, 0x20));
    let signed = [
        (v[4] & (2 * sign - 1) ^ sign).wrapping_sub(sign),
        (v[5] & (2 * sign - 1) ^ sign).wrapping_sub(sign),
    ];
    // Shifted by 3 to 0, a bit less every two modes.
    let upper = mask(mode & 4 != 0);
    let unit = chosen(mask(mode & 2 != 0), chosen(upper, 1, 4), chosen(upper, 2, 8));
    (a, c) = (a.wrapping_mul(unit), c.wrapping_mul(unit));
    (b0, b1) = (b0.wrapping_mul(unit), b1.wrapping_mul(unit));
    let [d0, d1] = [signed[0].wrapping_mul(unit), signed[1].wrapping_mul(unit)];
    let base = a.wrapping_sub(c);
    let lows = [base, base.wrapping_sub(b0).wrapping_sub(d0), base.wrapping_sub(b1).wrapping_sub(d1)];
    let (lows, highs) =
        (exchanged(lows, major), exchanged([a, a.wrapping_sub(b0), a.wrapping_sub(b1)], major));
    let plain = mask(major == 3);
    let mut ends = [[0; 3]; 2];
    for end in 0..2 {
        let of = [v[end] << 4, v[2 + end] << 4, (v[4 + end] & 0x7f) << 5];
        let computed = if end == 0 { lows } else { highs };
        for c in 0..3 {
            ends[end][c] = chosen(plain, of[c], clamped(computed[c]));
        }
    }
    ends
}

/// Both alphas of mode 15.
#[inline(always)]
fn alphas(v: [u16; 8]) -> [u16; 2] {
    let mode = v[6] >> 7 & 1 | v[7] >> 6 & 2;
    let (first, second) = (v[6] & 0x7f, v[7] & 0x7f);
    let plain = mask(mode == 3);
    // 1 << mode, 0x20 >> mode and 0x10 >> mode, but for mode 3.
    let power = mode + 1 + (mode & 2) / 2;
    let unit = chosen(mask(mode == 0), 16, chosen(mask(mode == 1), 8, 4));
    let sign = 2 * unit;
    let wide = (first | (second * (2 * power)) & 0x780) * unit;
    let step = (second & (2 * sign - 1) ^ sign).wrapping_sub(sign).wrapping_mul(unit);
    [chosen(plain, first << 5, wide), chosen(plain, second << 5, clamped(wide.wrapping_add(step)))]
}
