//! The fast engine: tiles over all cores, sixteen pixels at once.
//!
//! Primitives are set up and binned in chunks, on all cores; then each tile follows its bitmaps in drawing order, so that
//! threads share nothing they write. Spans are cut into quads of four pixels, and four quads of a primitive, of whichever
//! rows, are drawn at once: small triangles fill more of them than of squares.

mod quads;
mod tile;

use crate::draw::Draw;
use crate::frame::{Frame, Memory, TILE, Tile};
use crate::rules::{ATTRIBUTE_WORDS, STATE_WORDS, attribute_words, state_words};
use fearless_simd::Level;
use fearless_simd::prelude::*;
use rayon::prelude::*;
use xenoglot_raster::cpu::{self, Tiles};
use xenoglot_raster::{Edges, Grid, inlined};

/// Primitives that are binned together.
const CHUNK: usize = 1024;
/// Chunks that are at hand together.
const CHUNKS: usize = 64;

/// The engine.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    level: Level,
    chunk: usize,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

/// Primitives that are binned together.
struct Chunk<'a> {
    edges: Vec<Edges>,
    attributes: Vec<[u32; ATTRIBUTE_WORDS]>,
    state_of: &'a [u16],
    tiles: Tiles,
}

impl<'a> Chunk<'a> {
    fn new(draw: &Draw<'a>, grid: Grid) -> Chunk<'a> {
        let edges = draw.edges(grid.size);
        let tiles = cpu::bin(&Grid { primitives: edges.len() as u32, ..grid }, &edges);
        let attributes = draw.iter().map(|(primitive, ..)| attribute_words(primitive)).collect();
        Chunk { edges, attributes, state_of: draw.state_of(), tiles }
    }
}

/// What tiles are drawn from.
struct Source<'a> {
    chunks: &'a [Chunk<'a>],
    states: &'a [[u32; STATE_WORDS]],
    memory: &'a [u16],
}

impl<'a> Source<'a> {
    /// The primitives of a tile, in drawing order: edges, attributes, state.
    #[inline(always)]
    fn primitives(
        &self,
        at: [u32; 2],
    ) -> impl Iterator<Item = (&'a Edges, &'a [u32; ATTRIBUTE_WORDS], &'a [u32; STATE_WORDS])> + use<'a> {
        let (chunks, states) = (self.chunks, self.states);
        chunks.iter().flat_map(move |chunk| {
            chunk.tiles.primitives(at[0], at[1]).filter_map(move |number| {
                let number = number as usize;
                let state = states.get(usize::from(*chunk.state_of.get(number)?))?;
                Some((chunk.edges.get(number)?, chunk.attributes.get(number)?, state))
            })
        })
    }
}

impl Engine {
    /// One with the best instructions of the processor.
    pub fn new() -> Engine {
        Engine { level: Level::new(), chunk: CHUNK }
    }

    /// The same with other instructions. Frames are the same.
    pub fn with_level(self, level: Level) -> Engine {
        Engine { level, ..self }
    }

    /// The same with at most so many primitives binned together, and at least one. Frames are the same.
    pub fn with_batch(self, primitives: usize) -> Engine {
        Engine { chunk: primitives.max(1), ..self }
    }

    /// Draws primitives, on the threads of the current pool.
    pub fn draw(&self, frame: &mut Frame, memory: &Memory, draw: &Draw<'_>) {
        let states: Vec<_> = draw.states().iter().map(state_words).collect();
        let grid = frame.grid(0);
        let [columns, _] = grid.tiles();
        let mut first = 0;
        while first < draw.len() {
            let end = first.saturating_add(self.chunk.saturating_mul(CHUNKS)).min(draw.len());
            let chunks: Vec<Chunk<'_>> = (first..end)
                .into_par_iter()
                .step_by(self.chunk)
                .map(|first| Chunk::new(&draw.part(first..first.saturating_add(self.chunk)), grid))
                .collect();
            let source = Source { chunks: &chunks, states: &states, memory: memory.units() };
            frame.tiles.par_iter_mut().enumerate().for_each(|(place, pixels)| {
                let at = [place as u32 % columns, place as u32 / columns];
                let origin = at.map(|at| (at * TILE) as i32);
                self.draw_tile(pixels, at, origin, &source);
            });
            first = end;
        }
    }

    /// Draws into a tile. The code is large: of the x86 extensions it has those of sixteen and of eight lanes.
    fn draw_tile(&self, tile: &mut Tile, at: [u32; 2], origin: [i32; 2], source: &Source<'_>) {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            if let Some(simd) = self.level.as_avx512() {
                return simd.vectorize(inlined!(|| tile::draw(simd, tile, at, origin, source)));
            }
            if let Some(simd) = self.level.as_avx2() {
                return simd.vectorize(inlined!(|| tile::draw(simd, tile, at, origin, source)));
            }
        }
        baseline(tile, at, origin, source);
    }
}

/// With what every processor of the architecture has; on x86 that is too narrow for sixteen lanes.
fn baseline(tile: &mut Tile, at: [u32; 2], origin: [i32; 2], source: &Source<'_>) {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    tile::draw_pixels(tile, at, origin, source);
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    fearless_simd::dispatch!(Level::baseline(), simd => tile::draw(simd, tile, at, origin, source));
}
