//! Which partition a texel belongs to: the specification's hash of its place.

use super::mode::Header;
use super::{Footprint, ROOM};

/// Texels fewer than this make a small block, whose coordinates are doubled.
const SMALL: usize = 31;

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
pub fn select(header: &Header, footprint: Footprint, out: &mut [u8; ROOM]) {
    let count = header.partitions;
    let seed = u32::from(header.seed) + 1024 * (u32::from(count) - 1);
    let random = hash(seed);
    let by_seed = if seed & 2 != 0 { 4 } else { 5 };
    let by_count = if count == 3 { 6 } else { 5 };
    let (first, second) = if seed & 1 != 0 { (by_seed, by_count) } else { (by_count, by_seed) };
    let third = if seed & 0x10 != 0 { first } else { second };
    let factor = |at: u32, shift: u32| {
        let four = random.rotate_right(at) & 0xf;
        (four * four >> shift) as u8
    };
    // Slopes along x, y, z and the value at the origin, of each partition. Only six bits count, so bytes may wrap.
    let slopes = [
        [factor(0, first), factor(4, second), factor(26, third), (random >> 14) as u8],
        [factor(8, first), factor(12, second), factor(30, third), (random >> 10) as u8],
        [factor(16, first), factor(20, second), factor(18, third), (random >> 6) as u8],
        [factor(24, first), factor(28, second), factor(22, third), (random >> 2) as u8],
    ];
    let scale = 1 + u8::from(footprint.texels() < SMALL);
    let width = usize::from(footprint.width);
    let mut row = 0;
    for z in 0..footprint.depth {
        for y in 0..footprint.height {
            let mut values = [[0u8; 16]; 4];
            for (values, [sx, sy, sz, origin]) in values.iter_mut().zip(slopes).take(count.into()) {
                let start =
                    origin.wrapping_add(sy.wrapping_mul(y * scale)).wrapping_add(sz.wrapping_mul(z * scale));
                for (x, value) in values.iter_mut().enumerate() {
                    *value = start.wrapping_add(sx.wrapping_mul(x as u8 * scale)) & 0x3f;
                }
            }
            let [a, b, c, d] = values;
            // A row of sixteen; what is behind the width is the next row's, or nobody's.
            for (x, out) in out[row..][..16].iter_mut().enumerate() {
                let (low, high) = (a[x].max(b[x]), c[x].max(d[x]));
                let lower = u8::from(a[x] < b[x]);
                let higher = 2 + u8::from(c[x] < d[x]);
                *out = if low >= high { lower } else { higher };
            }
            row += width;
        }
    }
}
