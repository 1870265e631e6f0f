//! The fast engine: tiles over all cores, sixteen pixels at once.
//!
//! Primitives are binned in batches; then each tile follows its bitmap in drawing order, so that threads share nothing
//! they write. A tile's pixels lie in blocks of 4x4, what is worked on at once: small triangles fill more of a square than
//! of a row.

mod tile;

use crate::draw::Draw;
use crate::frame::{Frame, Memory, TILE};
use fearless_simd::{Level, dispatch};
use rayon::prelude::*;
use tile::Source;
use xenoglot_raster::cpu;

/// Primitives that are binned together.
const BATCH: usize = 16384;

/// The engine.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    level: Level,
    batch: usize,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

impl Engine {
    /// One with the best instructions of the processor.
    pub fn new() -> Engine {
        Engine { level: Level::new(), batch: BATCH }
    }

    /// The same with other instructions. Frames are the same.
    pub fn with_level(self, level: Level) -> Engine {
        Engine { level, ..self }
    }

    /// The same with at most so many primitives in a batch, and at least one. Frames are the same.
    pub fn with_batch(self, primitives: usize) -> Engine {
        Engine { batch: primitives.max(1), ..self }
    }

    /// Draws primitives, on the threads of the current pool.
    pub fn draw(&self, frame: &mut Frame, memory: &Memory, draw: &Draw<'_>) {
        let edges = draw.edges(frame.size());
        for (number, edges) in edges.chunks(self.batch).enumerate() {
            let grid = frame.grid(edges.len() as u32);
            let tiles = cpu::bin(&grid, edges);
            let [columns, _] = grid.tiles();
            let source = Source { draw, first: number * self.batch, edges, memory: memory.units() };
            frame.tiles.par_iter_mut().enumerate().for_each(|(place, pixels)| {
                let at = [place as u32 % columns, place as u32 / columns];
                let primitives = tiles.primitives(at[0], at[1]);
                let origin = at.map(|at| (at * TILE) as i32);
                dispatch!(self.level, simd => tile::draw(simd, pixels, origin, &source, primitives));
            });
        }
    }
}
