//! Which partition a texel belongs to: the specification's hash of its place.

use super::mode::Header;
use super::shape::Shape;
use super::{CHUNK, ROOM};
use crate::lanes::{chosen, mask};

#[inline(always)]
const fn hash(mut p: u32) -> u32 {
    p ^= p >> 15;
    p = p.wrapping_sub(p << 17);
    p = p.wrapping_add(p << 7);
    p = p.wrapping_add(p << 4);
    p ^= p >> 5;
    p = p.wrapping_add(p << 16);
    p ^= p >> 7;
    p ^= p >> 3;
    p ^= p << 6;
    p ^ p >> 17
}

/// Partitions of a block's texels, of a header with two to four.
#[inline(always)]
pub fn select(header: &Header, shape: &Shape, out: &mut [u8; ROOM]) {
    let count = header.partitions;
    let seed = u32::from(header.seed) + 1024 * (u32::from(count) - 1);
    let random = hash(seed);
    let by_seed = if seed & 2 != 0 { 4 } else { 5 };
    let by_count = if count == 3 { 6 } else { 5 };
    let (first, second) = if seed & 1 != 0 { (by_seed, by_count) } else { (by_count, by_seed) };
    let third = if seed & 0x10 != 0 { first } else { second };
    let factor = |at: u32, shift: u32| {
        let four = random.rotate_right(at) & 0xf;
        ((four * four) >> shift) as u16
    };
    // Slopes along x, y, z and the value at the origin, of each partition.
    let a = [factor(0, first), factor(4, second), factor(26, third), (random >> 14) as u16 & 0x3f];
    let b = [factor(8, first), factor(12, second), factor(30, third), (random >> 10) as u16 & 0x3f];
    let mut c = [factor(16, first), factor(20, second), factor(18, third), (random >> 6) as u16 & 0x3f];
    let mut d = [factor(24, first), factor(28, second), factor(22, third), (random >> 2) as u16 & 0x3f];
    // Zeros win over nobody.
    if count < 4 {
        d = [0; 4];
    }
    if count < 3 {
        c = [0; 4];
    }
    let [xs, ys, zs] = &shape.places;
    for i in 0..(shape.chunks() * CHUNK).min(ROOM) {
        let (x, y, z) = (u16::from(xs[i]), u16::from(ys[i]), u16::from(zs[i]));
        let (a, b, c, d) = (value(a, x, y, z), value(b, x, y, z), value(c, x, y, z), value(d, x, y, z));
        let (lower, higher) = (mask(a < b) & 1, mask(c < d) & 1 | 2);
        out[i] = chosen(mask(a.max(b) >= c.max(d)), lower, higher) as u8;
    }
}

/// A partition's linear function at a texel; only the low six bits are significant.
#[inline(always)]
const fn value([sx, sy, sz, origin]: [u16; 4], x: u16, y: u16, z: u16) -> u16 {
    (origin + sx * x + sy * y + sz * z) & 0x3f
}
