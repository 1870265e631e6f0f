//! Weights of a grid spread over the texels of a block.

use super::mode::Header;
use super::shape::Shape;
use super::{CHUNK, ROOM, ise};
use crate::simd::Simd;

/// The points around texels and how much of each they get, in sixteenths.
pub struct Mix {
    points: [[u8; ROOM]; 4],
    parts: [[u8; ROOM]; 4],
}

impl Mix {
    pub const fn new() -> Mix {
        Mix { points: [[0; ROOM]; 4], parts: [[0; ROOM]; 4] }
    }
}

/// Mixes for the texels of a block, whole chunks of them.
#[inline(always)]
pub fn mix(header: &Header, shape: &Shape, mix: &mut Mix) {
    if shape.is_flat { flat(header, shape, mix) } else { deep(header, shape, mix) }
}

/// Weights of the texels from the `plane`th of each point of the grid.
#[inline(always)]
pub fn spread<S: Simd>(
    simd: S,
    header: &Header,
    shape: &Shape,
    mix: &Mix,
    grid: &[u8; ise::ROOM],
    plane: usize,
    out: &mut [u8; ROOM],
) {
    let mut points = [0; 64];
    if header.second_plane.is_some() {
        for (point, both) in points.iter_mut().zip(grid.as_chunks::<2>().0) {
            *point = both[plane & 1];
        }
    } else {
        points.copy_from_slice(&grid[..64]);
    }
    let out = out.as_chunks_mut::<CHUNK>().0;
    for (chunk, out) in out.iter_mut().enumerate().take(shape.chunks()) {
        let mut sum = [8; CHUNK];
        for (at, part) in mix.points.iter().zip(&mix.parts) {
            let (at, part) = (&at.as_chunks::<CHUNK>().0[chunk], &part.as_chunks::<CHUNK>().0[chunk]);
            let weights = simd.pick(&points, at);
            for i in 0..CHUNK {
                sum[i] += u16::from(weights[i]) * u16::from(part[i]);
            }
        }
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = (sum >> 4) as u8;
        }
    }
}

/// Sixteenths of the distance between `points` of an axis, of a texel so far along it.
#[inline(always)]
const fn place(way: u16, points: u8) -> u16 {
    (way * (points as u16 - 1) + 32) >> 6
}

/// The four points around texels.
#[inline(always)]
fn flat(header: &Header, shape: &Shape, mix: &mut Mix) {
    let [width, height, _] = header.grid;
    let [xs, ys, _] = &shape.ways;
    let [p00, p01, p10, p11] = &mut mix.points;
    let [w00, w01, w10, w11] = &mut mix.parts;
    for i in 0..(shape.chunks() * CHUNK).min(ROOM) {
        let (x, y) = (place(xs[i], width), place(ys[i], height));
        let point = (x >> 4) + (y >> 4) * u16::from(width);
        p00[i] = point as u8;
        p01[i] = (point + 1) as u8;
        p10[i] = (point + u16::from(width)) as u8;
        p11[i] = (point + u16::from(width) + 1) as u8;
        let (fs, ft) = (x & 0xf, y & 0xf);
        let both = (fs * ft + 8) >> 4;
        w00[i] = (16 + both - fs - ft) as u8;
        w01[i] = (fs - both) as u8;
        w10[i] = (ft - both) as u8;
        w11[i] = both as u8;
    }
}

/// Along the edges of a simplex: from the point before the texel to the one behind it, the longest way first.
#[inline(always)]
fn deep(header: &Header, shape: &Shape, mix: &mut Mix) {
    let [width, height, depth] = header.grid;
    let (right, below, behind) = (1, u16::from(width), u16::from(width) * u16::from(height));
    let [xs, ys, zs] = &shape.ways;
    let [p0, p1, p2, p3] = &mut mix.points;
    let [w0, w1, w2, w3] = &mut mix.parts;
    for i in 0..(shape.chunks() * CHUNK).min(ROOM) {
        let (x, y, z) = (place(xs[i], width), place(ys[i], height), place(zs[i], depth));
        let (fs, ft, fr) = (x & 0xf, y & 0xf, z & 0xf);
        let (most, least) = (fs.max(ft).max(fr), fs.min(ft).min(fr));
        let middle = fs + ft + fr - most - least;
        let first = if ft == most { below } else { behind };
        let first = if fs == most { right } else { first };
        let last = if ft == least { below } else { right };
        let last = if fr == least { behind } else { last };
        let point = (x >> 4) + (y >> 4) * below + (z >> 4) * behind;
        let end = point + right + below + behind;
        p0[i] = point as u8;
        p1[i] = (point + first) as u8;
        p2[i] = (end - last) as u8;
        p3[i] = end as u8;
        w0[i] = (16 - most) as u8;
        w1[i] = (most - middle) as u8;
        w2[i] = (middle - least) as u8;
        w3[i] = least as u8;
    }
}
