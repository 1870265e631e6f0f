//! Triangles of a draw as tile programs read them: setup on the CPU, then a list of triangles for each tile.

use xenoglot_raster::{Bounds, HalfPlanes};

use super::triangles::{Extent, NotFinite, Stop, take};
use crate::fragment::Scale;
use crate::fragment::layout::TRIANGLES_SIZE;
use crate::fragment::tile::{ATTRIBUTE_BYTES, BIN_BYTES, TRIANGLE_BYTES, TileKey};
use crate::raster::clip::Clipper;
use crate::raster::coverage::{covers, for_tiles};
use crate::raster::framebuffer::Size;
use crate::raster::setup::{LIMIT, Setup};
use crate::raster::state::State;
use crate::regs::Registers;
use crate::renderer::OutOfPixels;
use crate::vertex::{Mesh, Vertex};

/// A draw's triangles and bins; memory is kept from draw to draw.
#[derive(Debug, Default)]
pub struct Bins {
    clipper: Clipper,
    setup: Setup,
    semantics: Vec<usize>,
    /// Triangles, as [`crate::fragment::tile`] describes them.
    records: Vec<u32>,
    triangles: u32,
    /// How far samples lie from the middle of their pixel, in sixteenths.
    reach: u16,
    /// Tile and triangle, in the order of triangles.
    touched: Vec<(u32, u32)>,
    /// Triangles of each tile, then where its list goes on.
    counts: Vec<u32>,
}

impl Bins {
    /// Takes the triangles of a draw. `pixels` is as [`crate::renderer::Renderer::draw`] has it, with the CPU renderer's
    /// measure: what does not fit is left out. With a scale, tiles are found for all samples of their pixels.
    pub fn collect(
        &mut self,
        regs: &Registers,
        state: &State,
        key: &TileKey,
        scale: Scale,
        triangles: Mesh<'_>,
        pixels: &mut u64,
    ) -> Result<Result<(), OutOfPixels>, NotFinite> {
        self.clipper.configure(regs);
        self.semantics.clear();
        self.semantics.extend(key.semantics());
        self.records.clear();
        self.touched.clear();
        self.triangles = 0;
        self.reach = scale.reach();
        let mut clipper = std::mem::take(&mut self.clipper);
        let done = clipper.each(triangles, state.is_lit(), |vertices| self.add(state, vertices, pixels));
        self.clipper = clipper;
        Stop::sort(done)
    }

    fn add(&mut self, state: &State, vertices: [&Vertex; 3], pixels: &mut u64) -> Result<(), Stop> {
        let setup = &mut self.setup;
        if !setup.prepare(&state.screen, vertices) {
            return Ok(());
        }
        take(pixels, setup.bounds.pixels())?;
        // The fill rule may leave nothing of a small triangle's weights.
        if setup.weight_sum <= 0 && !covers(setup) {
            return Ok(());
        }
        if !setup.finite || !setup.z.iter().all(|z| z.abs() < LIMIT) {
            return Err(Stop::NotFinite);
        }
        let (touched, triangle, tiles_per_row) =
            (&mut self.touched, self.triangles, state.size.tiles_per_row());
        for_tiles(setup, state.size, self.reach.into(), |[x, y], _, _| {
            touched.push((y * tiles_per_row + x, triangle))
        });
        self.triangles += 1;
        self.records.extend(half_planes(setup, state.size, self.reach).words());
        let [a, b, c] = setup.inverse_w.map(f32::to_bits);
        self.records.extend([a, b, c, (setup.weight_sum as f32).to_bits()]);
        let attributes = self.semantics.iter().map(|&semantic| setup.attributes[semantic]);
        for [a, b, c] in [setup.z].into_iter().chain(attributes) {
            self.records.extend([a.to_bits(), b.to_bits(), c.to_bits(), 0]);
        }
        Ok(())
    }

    /// The triangles, and words of one.
    #[cfg(test)]
    pub fn records(&self) -> (&[u32], usize) {
        (&self.records, self.words_per_triangle())
    }

    /// What the draw touches; nothing if nothing is covered.
    pub fn extent(&self) -> Option<Extent> {
        let words = self.records.len() + 5 * self.touched.len();
        (!self.touched.is_empty()).then(|| Extent { tiles: self.tiles(), words })
    }

    /// Dispatches that the draw takes: each has a buffer of triangles.
    pub fn chunks(&self) -> u32 {
        self.triangles.div_ceil(self.triangles_per_chunk())
    }

    fn triangles_per_chunk(&self) -> u32 {
        let words = self.words_per_triangle() as u32;
        (TRIANGLES_SIZE / 4 / words).max(1)
    }

    fn words_per_triangle(&self) -> usize {
        (TRIANGLE_BYTES / 4) as usize + self.semantics.len() * (ATTRIBUTE_BYTES / 4) as usize
    }

    /// Appends the bins of a chunk and their lists to `words`, which end at a multiple of four. The number of bins,
    /// and the chunk's triangles.
    pub fn write(&mut self, chunk: u32, size: Size, words: &mut Vec<u32>) -> (u32, &[u32]) {
        let tiles_per_row = size.tiles_per_row();
        let per_chunk = self.triangles_per_chunk();
        let start_triangle = chunk * per_chunk;
        let end_triangle = (start_triangle + per_chunk).min(self.triangles);
        let from = self.touched.partition_point(|&(_, triangle)| triangle < start_triangle);
        let to = self.touched.partition_point(|&(_, triangle)| triangle < end_triangle);
        let touched = &self.touched[from..to];

        let (first, last) = self.tiles();
        self.counts.clear();
        self.counts.resize((last + 1 - first) as usize, 0);
        for (tile, _) in touched {
            self.counts[(tile - first) as usize] += 1;
        }
        let bins = self.counts.iter().filter(|&&count| count != 0).count() as u32;
        let start = words.len();
        let mut list = bins * BIN_BYTES;
        for (tile, count) in (first..).zip(&mut self.counts).filter(|(_, count)| **count != 0) {
            words.extend([tile % tiles_per_row, tile / tiles_per_row, list, *count]);
            // From here on it is where the tile's next triangle goes.
            let at = list / 4;
            list += *count * 4;
            *count = at;
        }
        words.resize((start + list as usize / 4).next_multiple_of(4), 0);
        for (tile, triangle) in touched {
            let at = &mut self.counts[(tile - first) as usize];
            words[start + *at as usize] = triangle - start_triangle;
            *at += 1;
        }
        let size = self.words_per_triangle();
        (bins, &self.records[start_triangle as usize * size..end_triangle as usize * size])
    }

    /// The first and the last tile that are touched, in memory order.
    fn tiles(&self) -> (u32, u32) {
        let tiles = self.touched.iter().map(|&(tile, _)| tile);
        tiles.fold((u32::MAX, 0), |(first, last), tile| (first.min(tile), last.max(tile)))
    }
}

/// A triangle's weights as functions of column and row from above.
fn half_planes(setup: &Setup, size: Size, reach: u16) -> HalfPlanes {
    let top = size.height as i32 - 1;
    let [at, right, up] = [0, 1, 2].map(|part: usize| setup.weights.map(|weight| weight[part]));
    let at = std::array::from_fn(|i| at[i].wrapping_add(up[i].wrapping_mul(top)));
    let bounds = &setup.bounds;
    let (low, high) = ([bounds.x0, top + 1 - bounds.y1], [bounds.x1 - 1, top - bounds.y0]);
    HalfPlanes { at, right, down: up.map(i32::wrapping_neg), bounds: Bounds { low, high }, reach }
}
