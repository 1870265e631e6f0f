//! Weights of a grid spread over the texels of a block.

use super::ise;
use super::mode::Header;
use super::{Footprint, ROOM};

/// Where texels of an axis lie in the grid: the point before, and sixteenths of the way to the next.
#[derive(Clone, Copy)]
struct Axis {
    point: [u8; 16],
    part: [u8; 16],
}

/// By texels and by points of an axis.
static AXES: [[Axis; 13]; 13] = {
    let mut table = [[Axis { point: [0; 16], part: [0; 16] }; 13]; 13];
    let mut texels = 2;
    while texels < 13 {
        let scale = step(texels);
        let mut points = 2;
        while points <= texels {
            let mut i = 0;
            while i < texels {
                let at = (scale * i * (points - 1) + 32) >> 6;
                table[texels][points].point[i] = (at >> 4) as u8;
                table[texels][points].part[i] = (at & 0xf) as u8;
                i += 1;
            }
            points += 1;
        }
        texels += 1;
    }
    table
};

/// What a step of a texel is in 1024ths of the way along an axis of `texels` texels, two at least.
pub const fn step(texels: usize) -> usize {
    (1024 + texels / 2) / (texels - 1)
}

#[inline(always)]
fn axis(texels: u8, points: u8) -> &'static Axis {
    &AXES[usize::from(texels) % 13][usize::from(points) % 13]
}

/// Weights of the texels from the `plane`th of each point of the grid.
#[inline(always)]
pub fn spread(
    header: &Header,
    footprint: Footprint,
    grid: &[u8; ise::ROOM],
    plane: usize,
    out: &mut [u8; ROOM],
) {
    let planes = 1 + usize::from(header.second_plane.is_some());
    let mut points = [0; ise::ROOM];
    for (i, point) in points.iter_mut().enumerate().take(64) {
        *point = grid[(i * planes + plane) % grid.len()];
    }
    if header.grid == [footprint.width, footprint.height, footprint.depth] {
        out[..64].copy_from_slice(&points[..64]);
    } else if footprint.depth == 1 {
        flat(header, footprint, &points, out);
    } else {
        deep(header, footprint, &points, out);
    }
}

/// Between the four points around a texel.
#[inline(always)]
fn flat(header: &Header, footprint: Footprint, points: &[u8; ise::ROOM], out: &mut [u8; ROOM]) {
    let (across, down) = (axis(footprint.width, header.grid[0]), axis(footprint.height, header.grid[1]));
    let width = usize::from(header.grid[0]);
    // Points before and after the texels of a row, for each row of points and one of nothing behind them.
    let mut sides = [[[0u16; 16]; 2]; 16];
    for (y, [before, after]) in sides.iter_mut().enumerate().take(header.grid[1].into()) {
        for (x, &point) in across.point.iter().enumerate().take(12) {
            let at = y * width + usize::from(point);
            before[x] = points[at % points.len()].into();
            after[x] = points[(at + 1) % points.len()].into();
        }
    }
    let mut row = 0;
    for y in 0..usize::from(footprint.height) {
        let at = usize::from(down.point[y % 16]);
        let ([p00, p01], [p10, p11]) = (&sides[at % 16], &sides[(at + 1) % 16]);
        let ft = u16::from(down.part[y % 16]);
        // A row of sixteen; what is behind the width is the next row's, or nobody's.
        for (x, out) in out[row..][..16].iter_mut().enumerate() {
            let fs = u16::from(across.part[x]);
            let w11 = (fs * ft + 8) >> 4;
            let (w01, w10) = (fs - w11, ft - w11);
            let w00 = 16 + w11 - fs - ft;
            *out = ((p00[x] * w00 + p01[x] * w01 + p10[x] * w10 + p11[x] * w11 + 8) >> 4) as u8;
        }
        row += usize::from(footprint.width);
    }
}

/// Along the edges of a simplex: from the point before the texel to the one behind it, the longest way first.
#[inline(always)]
fn deep(header: &Header, footprint: Footprint, points: &[u8; ise::ROOM], out: &mut [u8; ROOM]) {
    let [gw, gh, gd] = header.grid;
    let axes = [axis(footprint.width, gw), axis(footprint.height, gh), axis(footprint.depth, gd)];
    let (n, nm) = (usize::from(gw), usize::from(gw) * usize::from(gh));
    let mut i = 0;
    for z in 0..usize::from(footprint.depth) {
        for y in 0..usize::from(footprint.height) {
            for x in 0..usize::from(footprint.width) {
                let at = |a: usize, i: usize| {
                    (usize::from(axes[a].point[i % 16]), u32::from(axes[a].part[i % 16]))
                };
                let ((px, fs), (py, ft), (pz, fr)) = (at(0, x), at(1, y), at(2, z));
                let mut ways = [(fs, 1), (ft, n), (fr, nm)];
                ways.sort_unstable_by_key(|&(part, _)| std::cmp::Reverse(part));
                let mut point = px + py * n + pz * nm;
                let (mut left, mut sum) = (16, 8);
                for (part, step) in ways {
                    sum += (left - part) * u32::from(points[point % points.len()]);
                    left = part;
                    point += step;
                }
                sum += left * u32::from(points[point % points.len()]);
                out[i % ROOM] = (sum >> 4) as u8;
                i += 1;
            }
        }
    }
}
