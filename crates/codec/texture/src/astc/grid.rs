//! Weights of a grid spread over the texels of a block.

use super::mode::Header;
use super::shape::Shape;
use super::{CHUNK, ROOM};
use crate::simd::Simd;

/// Where the weights of the points around texels lie, and how much of each a texel gets, in sixteenths.
pub struct Mix {
    points: [[u8; ROOM]; 4],
    parts: [[u8; ROOM]; 4],
}

impl Mix {
    pub const fn new() -> Mix {
        Mix { points: [[0; ROOM]; 4], parts: [[0; ROOM]; 4] }
    }
}

/// Weights of the texels of a block that has one point for each.
#[inline(always)]
pub fn copy(header: &Header, points: &[u8; 64], [first, second]: &mut [[u8; ROOM]; 2]) {
    if header.second_plane.is_some() {
        for (i, &[a, b]) in points.as_chunks::<2>().0.iter().enumerate() {
            (first[i], second[i]) = (a, b);
        }
    } else {
        first[..64].copy_from_slice(points);
    }
}

/// Mixes for the texels of a block, whole chunks of them.
#[inline(always)]
pub fn mix(header: &Header, shape: &Shape, mix: &mut Mix) {
    if shape.is_flat { flat(header, shape, mix) } else { deep(header, shape, mix) }
}

/// Weights of the texels from the grid points of one plane. `points` alternates between the two planes.
#[inline(always)]
pub fn spread<S: Simd>(
    simd: S,
    shape: &Shape,
    mix: &Mix,
    points: &[u8; 64],
    plane: u8,
    out: &mut [u8; ROOM],
) {
    let out = out.as_chunks_mut::<CHUNK>().0;
    for (chunk, out) in out.iter_mut().enumerate().take(shape.chunks()) {
        let mut sum = [8; CHUNK];
        for (at, part) in mix.points.iter().zip(&mix.parts) {
            let (mut at, part) = (at.as_chunks::<CHUNK>().0[chunk], &part.as_chunks::<CHUNK>().0[chunk]);
            for at in &mut at {
                *at += plane;
            }
            let weights = simd.pick(points, &at);
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
    let planes = header.planes();
    let (right, below) = (planes, planes * u16::from(width));
    let [xs, ys, _] = &shape.ways;
    let [p00, p01, p10, p11] = &mut mix.points;
    let [w00, w01, w10, w11] = &mut mix.parts;
    for i in 0..(shape.chunks() * CHUNK).min(ROOM) {
        let (x, y) = (place(xs[i], width), place(ys[i], height));
        let point = (x >> 4) * right + (y >> 4) * below;
        p00[i] = point as u8;
        p01[i] = (point + right) as u8;
        p10[i] = (point + below) as u8;
        p11[i] = (point + below + right) as u8;
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
    let right = header.planes();
    let below = right * u16::from(width);
    let behind = below * u16::from(height);
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
        let point = (x >> 4) * right + (y >> 4) * below + (z >> 4) * behind;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::astc::{Footprint, shape};

    /// Points for all texels lie where these are.
    #[test]
    fn own_points_are_whole() {
        for footprint in Footprint::ALL {
            let shape = shape::of(footprint);
            let header = Header { grid: shape.size, ..Header::NONE };
            let mut mixed = Mix::new();
            mix(&header, shape, &mut mixed);
            for i in 0..shape.texels {
                assert_eq!(usize::from(mixed.points[0][i]), i, "{footprint:?}");
                assert_eq!(mixed.parts.map(|parts| parts[i]), [16, 0, 0, 0], "{footprint:?}");
            }
        }
    }
}
