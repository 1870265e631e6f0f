//! A tile: its primitives' blocks, one after the other.

use crate::draw::{Draw, values};
use crate::frame::{BLOCK, BLOCK_PIXELS, TILE, Tile};
use crate::rules;
use fearless_simd::i32x16;
use fearless_simd::prelude::*;
use xenoglot_raster::Edges;
use xenoglot_raster::ops::Lanes;

/// Columns and rows of a block's pixels.
const COLUMNS: [i32; BLOCK_PIXELS] = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];
const ROWS: [i32; BLOCK_PIXELS] = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];

/// The primitives of a batch.
pub struct Source<'a> {
    /// All primitives.
    pub draw: &'a Draw<'a>,
    /// The first one of the batch.
    pub first: usize,
    /// Those of the batch.
    pub edges: &'a [Edges],
    /// The guest's memory.
    pub memory: &'a [u16],
}

/// Draws primitives of a batch into the tile whose first pixel is `origin`.
#[inline(always)]
pub fn draw<S: Simd>(
    simd: S,
    tile: &mut Tile,
    origin: [i32; 2],
    source: &Source<'_>,
    primitives: impl Iterator<Item = u32>,
) {
    let mut o = Lanes::new(simd, source.memory);
    for number in primitives.map(|number| number as usize) {
        let (Some(edges), Some((primitive, state))) =
            (source.edges.get(number), source.draw.get(source.first + number))
        else {
            continue;
        };
        let values = values(&mut o, primitive, state);
        let [first, last] = edges.rows();
        let side = TILE as i32;
        let rows = [first.max(origin[1]), last.min(origin[1] + side - 1)];
        let mut block_row = rows[0] & !(BLOCK as i32 - 1);
        while block_row <= rows[1] {
            let spans: [[i32; 2]; BLOCK as usize] = std::array::from_fn(|i| {
                let [left, right] = edges.span(block_row + i as i32);
                [left.max(origin[0]), right.min(origin[0] + side - 1)]
            });
            let covered = || spans.iter().filter(|[left, right]| left <= right);
            let left = covered().map(|span| span[0]).min().unwrap_or(0);
            let right = covered().map(|span| span[1]).max().unwrap_or(-1);
            let [lefts, rights] = [0, 1]
                .map(|end| i32x16::load_array(simd, std::array::from_fn(|i| spans[i / BLOCK as usize][end])));
            let y = i32x16::load_array(simd, ROWS) + block_row;
            let row = ((block_row - origin[1]) as u32 / BLOCK * (TILE / BLOCK)) as usize;
            for block in left / BLOCK as i32..=right.div_euclid(BLOCK as i32) {
                let x = i32x16::load_array(simd, COLUMNS) + block * BLOCK as i32;
                let covered = x.simd_ge(lefts) & x.simd_le(rights);
                let at = (row + (block - origin[0] / BLOCK as i32) as usize) * BLOCK_PIXELS;
                let Some(color) = tile.color.get_mut(at..at + BLOCK_PIXELS) else { continue };
                let Some(depth) = tile.depth.get_mut(at..at + BLOCK_PIXELS) else { continue };
                let stored = [i32x16::from_slice(simd, color), i32x16::from_slice(simd, depth)];
                let [new_color, new_depth] = rules::pixel(&mut o, &values, [x, y], covered, stored);
                new_color.store_slice(color);
                new_depth.store_slice(depth);
            }
            block_row += BLOCK as i32;
        }
    }
}
