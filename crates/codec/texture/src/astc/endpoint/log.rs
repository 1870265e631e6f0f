//! Endpoints whose colours are logarithms.

use super::Endpoints;

/// Values of a partition, of which those behind its mode's do not count.
type Values = [i32; 8];
/// Endpoints of 12 bits.
type Ends = [[i32; 4]; 2];

/// Alpha of modes without one: the logarithm of 1.
const LOG_ONE: i32 = 0x780;

/// Endpoints of partition `p`, whose values begin at `first`. Nothing in lanes: compiled once for all instruction sets.
#[inline(never)]
pub fn endpoints(mode: u8, values: &[u8; 64], first: usize, p: usize, out: &mut Endpoints) {
    let mut v = [0; 8];
    for (v, value) in v.iter_mut().zip(values.iter().skip(first)) {
        *v = i32::from(*value);
    }
    // Mode 14 has an alpha of eight bits that is no logarithm.
    let (alpha, log_alpha) = if mode == 14 { (257, 0) } else { (16, !0) };
    for (out, end) in out.ends.iter_mut().zip(high(mode, &v)) {
        for ((out, value), scale) in out.iter_mut().zip(end).zip([16, 16, 16, alpha]) {
            out[p & 3] = (value * scale) as u16;
        }
    }
    for (out, log) in out.log.iter_mut().zip([!0, !0, !0, log_alpha]) {
        out[p & 3] = log;
    }
}

/// The modes of high dynamic range, in 12 bits; alpha of mode 14 in eight.
#[inline(always)]
fn high(mode: u8, v: &Values) -> Ends {
    match mode {
        2 => {
            let [a, b] =
                if v[1] >= v[0] { [v[0] << 4, v[1] << 4] } else { [(v[1] << 4) + 8, (v[0] << 4) - 8] };
            [[a, a, a, LOG_ONE], [b, b, b, LOG_ONE]]
        }
        3 => {
            let (base, step) = if v[0] & 0x80 != 0 {
                ((v[1] & 0xe0) << 4 | (v[0] & 0x7f) << 2, (v[1] & 0x1f) << 2)
            } else {
                ((v[1] & 0xf0) << 4 | (v[0] & 0x7f) << 1, (v[1] & 0xf) << 1)
            };
            let top = (base + step).min(0xfff);
            [[base, base, base, LOG_ONE], [top, top, top, LOG_ONE]]
        }
        7 => base_and_scale(v),
        11 => direct(v, [LOG_ONE; 2]),
        14 => direct(v, [v[6], v[7]]),
        _ => direct(v, log_alpha(v[6], v[7])),
    }
}

/// `value` with `bit` of `from` put at `to`, if `mode` is among those in the mask `modes`.
#[inline(always)]
fn put(value: &mut i32, mode: i32, modes: i32, bit: i32, to: u32) {
    if modes >> mode & 1 != 0 {
        *value |= bit << to;
    }
}

/// Mode 7: a colour, and how much less of all components the first has.
fn base_and_scale(v: &Values) -> Ends {
    let chosen = v[0] >> 6 & 3 | v[1] >> 5 & 4 | v[2] >> 4 & 8;
    let (major, mode) = match chosen {
        0xf => (0, 5),
        0xc..0xf => (chosen & 3, 4),
        _ => (chosen >> 2, chosen & 3),
    };
    let (mut red, mut green, mut blue, mut scale) = (v[0] & 0x3f, v[1] & 0x1f, v[2] & 0x1f, v[3] & 0x1f);
    let bit = |i: usize, at: u32| v[i] >> at & 1;
    let x = [bit(1, 6), bit(1, 5), bit(2, 6), bit(2, 5), bit(3, 7), bit(3, 6), bit(3, 5)];
    put(&mut green, mode, 0x30, x[0], 6);
    put(&mut green, mode, 0x3a, x[1], 5);
    put(&mut blue, mode, 0x30, x[2], 6);
    put(&mut blue, mode, 0x3a, x[3], 5);
    put(&mut scale, mode, 0x3d, x[6], 5);
    put(&mut scale, mode, 0x2d, x[5], 6);
    put(&mut scale, mode, 0x04, x[4], 7);
    put(&mut red, mode, 0x3b, x[4], 6);
    put(&mut red, mode, 0x04, x[3], 6);
    put(&mut red, mode, 0x10, x[5], 7);
    put(&mut red, mode, 0x0f, x[2], 7);
    put(&mut red, mode, 0x05, x[1], 8);
    put(&mut red, mode, 0x0a, x[0], 8);
    put(&mut red, mode, 0x05, x[0], 9);
    put(&mut red, mode, 0x02, x[6], 9);
    put(&mut red, mode, 0x01, x[3], 10);
    put(&mut red, mode, 0x02, x[5], 10);
    let shift = [1, 1, 2, 3, 4, 5][mode as usize % 6];
    let [red, mut green, mut blue, scale] = [red, green, blue, scale].map(|c| c << shift);
    if mode != 5 {
        (green, blue) = (red - green, red - blue);
    }
    let mut color = [red, green, blue];
    if major < 3 {
        color.swap(0, major as usize);
    }
    let end = |less: i32| {
        let [r, g, b] = color.map(|c| (c - less).clamp(0, 0xfff));
        [r, g, b, LOG_ONE]
    };
    [end(scale), end(0)]
}

/// Mode 11, with these alphas: two colours.
fn direct(v: &Values, alpha: [i32; 2]) -> Ends {
    let major = v[4] >> 7 & 1 | v[5] >> 6 & 2;
    if major == 3 {
        let end = |i: usize| [v[i] << 4, v[2 + i] << 4, (v[4 + i] & 0x7f) << 5, alpha[i]];
        return [end(0), end(1)];
    }
    let mode = v[1] >> 7 & 1 | v[2] >> 6 & 2 | v[3] >> 5 & 4;
    let mut a = v[0] | (v[1] & 0x40) << 2;
    let (mut b0, mut b1, mut c) = (v[2] & 0x3f, v[3] & 0x3f, v[1] & 0x3f);
    let bits = [7, 6, 7, 6, 5, 6, 5, 6][mode as usize % 8];
    let signed = |value: i32| value << (32 - bits) >> (32 - bits);
    let (d0, d1) = (signed(v[4]), signed(v[5]));
    let bit = |i: usize, at: u32| v[i] >> at & 1;
    let x = [bit(2, 6), bit(3, 6), bit(4, 6), bit(5, 6), bit(4, 5), bit(5, 5)];
    put(&mut a, mode, 0xa4, x[0], 9);
    put(&mut a, mode, 0x08, x[2], 9);
    put(&mut a, mode, 0x50, x[4], 9);
    put(&mut a, mode, 0x50, x[5], 10);
    put(&mut a, mode, 0xa0, x[1], 10);
    put(&mut a, mode, 0xc0, x[2], 11);
    put(&mut c, mode, 0x04, x[1], 6);
    put(&mut c, mode, 0xe8, x[3], 6);
    put(&mut c, mode, 0x20, x[2], 7);
    put(&mut b0, mode, 0x5b, x[0], 6);
    put(&mut b1, mode, 0x5b, x[1], 6);
    put(&mut b0, mode, 0x12, x[2], 7);
    put(&mut b1, mode, 0x12, x[3], 7);
    let shift = mode >> 1 ^ 3;
    let [a, b0, b1, c, d0, d1] = [a, b0, b1, c, d0, d1].map(|value| value << shift);
    let color = |color: [i32; 3], alpha: i32| {
        let mut color = color.map(|c| c.clamp(0, 0xfff));
        color.swap(0, major as usize % 3);
        [color[0], color[1], color[2], alpha]
    };
    [color([a - c, a - b0 - c - d0, a - b1 - c - d1], alpha[0]), color([a, a - b0, a - b1], alpha[1])]
}

/// Both alphas of mode 15.
fn log_alpha(v6: i32, v7: i32) -> [i32; 2] {
    let mode = v6 >> 7 & 1 | v7 >> 6 & 2;
    let (first, second) = (v6 & 0x7f, v7 & 0x7f);
    if mode == 3 {
        return [first << 5, second << 5];
    }
    let first = (first | second << (mode + 1) & 0x780) << (4 - mode);
    let sign = 0x20 >> mode;
    let step = ((second & (0x3f >> mode) ^ sign) - sign) << (4 - mode);
    [first, (first + step).clamp(0, 0xfff)]
}
