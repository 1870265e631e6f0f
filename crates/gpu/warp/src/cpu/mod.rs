//! The fast engine: tiles over all cores, sixteen pixels at once.
//!
//! Primitives are binned in chunks, on all cores; then each tile takes its primitives in drawing order, so that threads
//! share nothing they write.
//!
//! | room | what it is for |
//! |---|---|
//! | `textures` | textures as tables of decoded texels |
//! | `tile` | a tile: its primitives one after the other |
//! | `quads` | primitives in groups of four times four pixels |
//! | `depth_tests` | depth and stencil tests of opaque primitives |
//! | `opaque` | pixels of opaque primitives that are tested and not yet shaded |
//! | `painter` | the colours of such pixels, sixteen at once |
//! | `usual` | what most pixels are shaded with, as constants |

mod depth_tests;
mod opaque;
mod painter;
mod quads;
mod textures;
mod tile;
mod usual;

use crate::draw::Draw;
use crate::frame::{Frame, Memory, TILE, Tile};
use crate::primitive::Primitive;
use crate::rules::STATE_WORDS;
use fearless_simd::Level;
use fearless_simd::prelude::*;
use opaque::Waiting;
use quads::Quads;
use rayon::prelude::*;
use std::convert::identity;
use std::ops::Range;
use textures::Textures;
use xenoglot_raster::cpu::{self, Tiles};
use xenoglot_raster::{Bounds, Edges, Grid, inlined};

/// Least and greatest number of primitives that are binned together.
const CHUNK: [usize; 2] = [256, 1024];
/// Primitives whose bins are at hand together.
const BATCH: usize = 1 << 16;

/// The engine.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    level: Level,
    /// Primitives that are binned together; `None` chooses by how many there are.
    chunk: Option<usize>,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

/// What tiles are drawn from.
struct Source<'a> {
    draw: &'a Draw<'a>,
    /// Chunks of primitives, each with the number of its first one.
    chunks: &'a [(usize, Tiles)],
    /// The pixels that each state may draw.
    scissors: &'a [Bounds],
    textures: &'a Textures,
    memory: &'a [u16],
}

/// A primitive's edges within the scissor of its state.
#[inline(always)]
fn edges(primitive: &Primitive, state: usize, scissors: &[Bounds]) -> Edges {
    primitive.edges_within(scissors.get(state).copied().unwrap_or_default())
}

/// Buffers for drawing a tile, which threads keep.
#[derive(Default)]
struct Scratch {
    /// The tile's primitives.
    numbers: Vec<u32>,
    quads: Quads,
    waiting: Waiting,
}

impl<'a> Source<'a> {
    /// The numbers of a tile's primitives, in drawing order.
    fn numbers(&self, at: [u32; 2], out: &mut Vec<u32>) {
        out.clear();
        for (first, tiles) in self.chunks {
            tiles.primitives(at[0], at[1]).for_each(|number| out.push(*first as u32 + number));
        }
    }

    /// A primitive and the number of its state.
    #[inline(always)]
    fn primitive(&self, number: u32) -> Option<(&'a Primitive, usize)> {
        self.draw.primitive(number as usize)
    }

    /// A primitive's edges.
    #[inline(always)]
    fn edges(&self, primitive: &Primitive, state: usize) -> Edges {
        edges(primitive, state, self.scissors)
    }

    /// A state as words.
    #[inline(always)]
    fn state(&self, number: usize) -> &'a [u32; STATE_WORDS] {
        self.textures.states.get(number).unwrap_or(&[0; STATE_WORDS])
    }
}

impl Engine {
    /// One with the best instructions of the processor.
    pub fn new() -> Engine {
        Engine { level: Level::new(), chunk: None }
    }

    /// The same with other instructions. Frames are the same.
    pub fn with_level(self, level: Level) -> Engine {
        Engine { level, ..self }
    }

    /// The same with at most so many primitives binned together, and at least one. Frames are the same.
    pub fn with_batch(self, primitives: usize) -> Engine {
        Engine { chunk: Some(primitives.max(1)), ..self }
    }

    /// Draws primitives, on the threads of the current pool.
    pub fn draw(&self, frame: &mut Frame, memory: &Memory, draw: &Draw<'_>) {
        // The pool is entered once, not for each of its tasks.
        rayon::scope(|_| self.draw_in_pool(frame, memory, draw));
    }

    fn draw_in_pool(&self, frame: &mut Frame, memory: &Memory, draw: &Draw<'_>) {
        let scissors: Vec<Bounds> =
            draw.states().iter().map(|state| state.scissor_within(frame.size())).collect();
        let mut textures = None;
        for first in (0..draw.len()).step_by(BATCH) {
            let range = first..first.saturating_add(BATCH).min(draw.len());
            let (chunks, ()) = rayon::join(
                || self.bin_all(frame.grid(0), range, draw, &scissors),
                || {
                    textures.get_or_insert_with(|| self.textures(draw, memory.units()));
                },
            );
            let Some(textures) = &textures else { return };
            let source =
                Source { draw, chunks: &chunks, scissors: &scissors, textures, memory: memory.units() };
            let [columns, _] = frame.grid(0).tiles();
            frame.tiles.par_iter_mut().enumerate().for_each_init(
                Scratch::default,
                |scratch, (place, pixels)| {
                    let at = [place as u32 % columns, place as u32 / columns];
                    let origin = at.map(|at| (at * TILE) as i32);
                    source.numbers(at, &mut scratch.numbers);
                    self.draw_tile(pixels, origin, &source, scratch);
                },
            );
        }
    }

    /// Bins a range of primitives in chunks.
    fn bin_all(
        &self,
        grid: Grid,
        range: Range<usize>,
        draw: &Draw<'_>,
        scissors: &[Bounds],
    ) -> Vec<(usize, Tiles)> {
        // Two chunks for each thread, so that no thread waits long for another.
        let share = range.len().div_ceil(2 * rayon::current_num_threads()).next_multiple_of(32);
        let chunk = self.chunk.unwrap_or(share.clamp(CHUNK[0], CHUNK[1]));
        let chunks = range.clone().into_par_iter().step_by(chunk).map(|first| {
            let part = draw.part(first..first.saturating_add(chunk).min(range.end));
            let grid = Grid { primitives: part.len() as u32, ..grid };
            (first, self.bin(&part, &grid, scissors))
        });
        chunks.collect()
    }

    /// Bins primitives, whose states may draw the pixels of `scissors`.
    fn bin(&self, part: &Draw<'_>, grid: &Grid, scissors: &[Bounds]) -> Tiles {
        let edges = identity(inlined!(|number: usize| {
            let primitive = part.primitive(number);
            primitive.map_or_else(Edges::default, |(primitive, state)| edges(primitive, state, scissors))
        }));
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            if let Some(simd) = self.level.as_avx512() {
                return simd.vectorize(inlined!(|| cpu::bin_edges(simd, grid, edges)));
            }
            if let Some(simd) = self.level.as_avx2() {
                return simd.vectorize(inlined!(|| cpu::bin_edges(simd, grid, edges)));
            }
            cpu::bin(grid, (0..part.len()).map(edges))
        }
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        fearless_simd::dispatch!(Level::baseline(), simd => cpu::bin_edges(simd, grid, edges))
    }

    /// The states of a draw, with tables where tiles are drawn sixteen pixels at once.
    fn textures(&self, draw: &Draw<'_>, memory: &[u16]) -> Textures {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            if let Some(simd) = self.level.as_avx512() {
                return simd.vectorize(inlined!(|| Textures::decode(simd, draw, memory)));
            }
            if let Some(simd) = self.level.as_avx2() {
                return simd.vectorize(inlined!(|| Textures::decode(simd, draw, memory)));
            }
            Textures::none(draw)
        }
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        fearless_simd::dispatch!(Level::baseline(), simd => Textures::decode(simd, draw, memory))
    }

    /// Draws into a tile. The code is large: of the x86 extensions it has those of sixteen and of eight lanes.
    fn draw_tile(&self, tile: &mut Tile, origin: [i32; 2], source: &Source<'_>, scratch: &mut Scratch) {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            if let Some(simd) = self.level.as_avx512() {
                return simd.vectorize(inlined!(|| tile::draw(simd, tile, origin, source, scratch)));
            }
            if let Some(simd) = self.level.as_avx2() {
                return simd.vectorize(inlined!(|| tile::draw(simd, tile, origin, source, scratch)));
            }
        }
        baseline(tile, origin, source, scratch);
    }
}

/// With what every processor of the architecture has; on x86 that is too narrow for sixteen lanes.
fn baseline(tile: &mut Tile, origin: [i32; 2], source: &Source<'_>, scratch: &mut Scratch) {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    tile::draw_pixels(tile, origin, source, &scratch.numbers);
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    fearless_simd::dispatch!(Level::baseline(), simd => tile::draw(simd, tile, origin, source, scratch));
}
