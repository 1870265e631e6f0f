//! Covered pixels of a triangle.
//!
//! Small triangles are scanned pixel by pixel. Large ones are walked by the framebuffer's tiles: tiles that are
//! covered as a whole become batches in memory order, pixels of the others are gathered.

use super::batch::{LANES, Pixels};
use super::framebuffer::Size;
use super::setup::{Rectangle, Setup};
use crate::texture::tiling::{ROW_ORDER, pixel_index};

/// Bounds of up to this many pixels are scanned.
const SCAN_LIMIT: i32 = 128;

/// Finds covered pixels and hands them out in batches.
#[derive(Debug, Default)]
pub struct Walker {
    gathered: Pixels,
    tile: Pixels,
    /// What each lane of a tile adds to the weights.
    steps: [Lanes; 3],
}

#[derive(Clone, Debug)]
struct Lanes([i32; LANES]);

impl Default for Lanes {
    fn default() -> Self {
        Lanes([0; LANES])
    }
}

impl Walker {
    /// Hands the pixels of `setup` to `sink`, each once, at most `limit` at a time.
    pub fn walk(
        &mut self,
        setup: &Setup,
        outside: Option<Rectangle>,
        size: Size,
        limit: usize,
        mut sink: impl FnMut(&mut Pixels),
    ) {
        let bounds = &setup.bounds;
        self.gathered.len = 0;
        if limit < LANES || (bounds.x1 - bounds.x0) * (bounds.y1 - bounds.y0) <= SCAN_LIMIT {
            self.scan(setup, outside, size, limit, &mut sink);
        } else {
            self.walk_tiles(setup, outside, size, &mut sink);
        }
        if self.gathered.len > 0 {
            sink(&mut self.gathered);
        }
    }

    fn scan(
        &mut self,
        setup: &Setup,
        outside: Option<Rectangle>,
        size: Size,
        limit: usize,
        sink: &mut impl FnMut(&mut Pixels),
    ) {
        let bounds = &setup.bounds;
        let tiles_per_row = size.tiles_per_row();
        for y in bounds.y0..bounds.y1 {
            let mut weights = weights_at(setup, bounds.x0, y);
            let row = (size.height as i32 - 1 - y) as u32;
            for x in bounds.x0..bounds.x1 {
                if weights[0] | weights[1] | weights[2] >= 0 && !outside.is_some_and(|o| o.contains(x, y)) {
                    self.gathered.push(pixel_index(x as u32, row, tiles_per_row), weights);
                    if self.gathered.len == limit {
                        sink(&mut self.gathered);
                        self.gathered.len = 0;
                    }
                }
                for (weight, step) in weights.iter_mut().zip(&setup.weights) {
                    *weight = weight.wrapping_add(step[1]);
                }
            }
        }
    }

    fn walk_tiles(
        &mut self,
        setup: &Setup,
        outside: Option<Rectangle>,
        size: Size,
        sink: &mut impl FnMut(&mut Pixels),
    ) {
        for (lanes, [_, right, up]) in self.steps.iter_mut().zip(&setup.weights) {
            for (step, &place) in lanes.0.iter_mut().zip(&ROW_ORDER) {
                let (x, row) = (i32::from(place & 7), i32::from(place >> 3));
                *step = right.wrapping_mul(x).wrapping_sub(up.wrapping_mul(row));
            }
        }
        for_tiles(setup, size, 0, |[tile_x, tile_y], [x, y], origin| {
            let area = Rectangle { x0: x, y0: y - 7, x1: x + 8, y1: y + 1 };
            let index = pixel_index(tile_x * 8, tile_y * 8, size.tiles_per_row());
            self.visit_tile(setup, &area, outside, origin, index, sink);
        });
    }

    fn visit_tile(
        &mut self,
        setup: &Setup,
        area: &Rectangle,
        outside: Option<Rectangle>,
        origin: [i32; 3],
        index: u32,
        sink: &mut impl FnMut(&mut Pixels),
    ) {
        for ((weights, steps), base) in self.tile.weights.iter_mut().zip(&self.steps).zip(origin) {
            for (weight, step) in weights.iter_mut().zip(&steps.0) {
                *weight = base.wrapping_add(*step);
            }
        }
        let mut covered = covered_lanes(&self.tile.weights);
        let bounds = &setup.bounds;
        let is_within =
            bounds.x0 <= area.x0 && area.x1 <= bounds.x1 && bounds.y0 <= area.y0 && area.y1 <= bounds.y1;
        let outside = outside.filter(|outside| outside.meets(area));
        if !is_within || outside.is_some() {
            for (lane, &place) in ROW_ORDER.iter().enumerate() {
                let (x, y) = (area.x0 + i32::from(place & 7), area.y1 - 1 - i32::from(place >> 3));
                if !bounds.contains(x, y) || outside.is_some_and(|o| o.contains(x, y)) {
                    covered &= !(1 << lane);
                }
            }
        }
        if covered == u64::MAX {
            for (lane, place) in self.tile.index.iter_mut().enumerate() {
                *place = index.wrapping_add(lane as u32);
            }
            self.tile.len = LANES;
            self.tile.whole_tile = true;
            sink(&mut self.tile);
            return;
        }
        while covered != 0 {
            let lane = covered.trailing_zeros() as usize;
            covered &= covered - 1;
            let weights = [0, 1, 2].map(|i: usize| self.tile.weights[i][lane]);
            self.gathered.push(index.wrapping_add(lane as u32), weights);
            if self.gathered.len == LANES {
                sink(&mut self.gathered);
                self.gathered.len = 0;
            }
        }
    }
}

/// Visits the framebuffer's tiles that may have covered pixels: column and row of the tile, row 0 on top, column and row
/// of its upper left pixel, row 0 below, and the weights there. Samples lie up to `reach` sixteenths of a pixel from its middle.
pub fn for_tiles(setup: &Setup, size: Size, reach: i32, mut visit: impl FnMut([u32; 2], [i32; 2], [i32; 3])) {
    let bounds = &setup.bounds;
    let top = size.height as i32 - 1;
    for tile_y in (top - (bounds.y1 - 1)) >> 3..=(top - bounds.y0) >> 3 {
        for tile_x in bounds.x0 >> 3..=(bounds.x1 - 1) >> 3 {
            let (x, y) = (tile_x * 8, top - tile_y * 8);
            let origin = weights_at(setup, x, y);
            if !is_outside_an_edge(setup, origin, reach) {
                visit([tile_x as u32, tile_y as u32], [x, y], origin);
            }
        }
    }
}

/// Weights of the vertices at a pixel, biases included.
pub fn weights_at(setup: &Setup, x: i32, y: i32) -> [i32; 3] {
    setup
        .weights
        .map(|[base, right, up]| base.wrapping_add(right.wrapping_mul(x)).wrapping_add(up.wrapping_mul(y)))
}

/// Whether a pixel of the triangle's bounds is covered, if its weights have no sum below 0.
pub fn covers(setup: &Setup) -> bool {
    let bounds = &setup.bounds;
    let is_covered = |x, y| weights_at(setup, x, y).iter().all(|&weight| weight >= 0);
    setup.weight_sum >= 0 && (bounds.y0..bounds.y1).any(|y| (bounds.x0..bounds.x1).any(|x| is_covered(x, y)))
}

/// Whether all samples of the tile whose upper left pixel has the weights `origin` are outside of one edge.
fn is_outside_an_edge(setup: &Setup, origin: [i32; 3], reach: i32) -> bool {
    let reach = i64::from(reach);
    origin.iter().zip(&setup.weights).any(|(&weight, &[_, right, up])| {
        let (right, up) = (i64::from(right), i64::from(up));
        let around = (right.abs() + up.abs()) / 16 * reach;
        let most = i64::from(weight) + 7 * right.max(0) - 7 * up.min(0) + around;
        most < 0
    })
}

/// A bit for each lane whose weights are all at least 0.
fn covered_lanes(weights: &[[i32; LANES]; 3]) -> u64 {
    let [a, b, c] = weights;
    let mut bytes = [0u8; LANES];
    for (lane, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from(a[lane] | b[lane] | c[lane] >= 0);
    }
    // Multiplying eight bytes of 0 or 1 by this gathers them in the top byte, the first one lowest.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    bytes
        .as_chunks::<8>()
        .0
        .iter()
        .rev()
        .fold(0, |mask, &chunk| mask << 8 | u64::from_le_bytes(chunk).wrapping_mul(GATHER) >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_become_bits() {
        for pattern in [0, 1, u64::MAX, 0x8000_0000_0000_0001, 0x1234_5678_9abc_def0] {
            let lanes = std::array::from_fn(|lane| if pattern >> lane & 1 != 0 { 0 } else { -1 });
            assert_eq!(covered_lanes(&[[5; LANES], lanes, [0; LANES]]), pattern);
        }
    }

    /// Both ways find the same pixels with the same weights.
    #[test]
    fn tiles_and_scan_agree() {
        let size = Size { width: 48, height: 40 };
        let setup = Setup {
            bounds: Rectangle { x0: 3, y0: 1, x1: 45, y1: 40 },
            weights: [[-300, 16, 32], [6000, -160, 8], [2000, 20, -48]],
            ..Setup::default()
        };
        let outside = Some(Rectangle { x0: 20, y0: 20, x1: 23, y1: 31 });
        let pixels = |limit| {
            let mut found = Vec::new();
            Walker::default().walk(&setup, outside, size, limit, |pixels| {
                assert!(pixels.len <= limit);
                for lane in 0..pixels.len {
                    found.push((pixels.index[lane], pixels.weights.map(|weights| weights[lane])));
                }
            });
            found.sort_unstable();
            found
        };
        let found = pixels(LANES);
        assert_eq!(found, pixels(1));
        assert!(found.len() > 200);
        assert!(found.windows(2).all(|pair| pair[0].0 != pair[1].0));
    }
}
