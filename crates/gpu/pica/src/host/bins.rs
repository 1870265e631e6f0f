//! Triangles of a draw as tile programs read them: setup on the CPU, then a list of triangles for each tile, unless the device
//! bins them.

use super::binning;
use crate::fragment::Scale;
use crate::fragment::layout::TRIANGLES_SIZE;
use crate::fragment::tile::{ATTRIBUTE_BYTES, BIN_BYTES, TRIANGLE_BYTES, TileKey};
use crate::raster::clip::{Clipped, Clipper, align_quaternions};
use crate::raster::coverage::{for_tiles, weights_at};
use crate::raster::framebuffer::Size;
use crate::raster::setup::Setup;
use crate::raster::state::State;
use crate::regs::Registers;
use crate::renderer::OutOfPixels;
use crate::vertex::{Triangle, Vertex};
use xenoglot_raster::{Bounds, HalfPlanes};

/// z/w of this size and above is left to the CPU renderer.
const Z_LIMIT: f32 = 1e25;

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
    /// Whether they are binned here.
    listed: bool,
    /// First and last column and row of tiles that the triangles' bounds touch.
    rectangle: Rectangle,
    /// Tile and triangle, in the order of triangles, unless the device bins them.
    touched: Vec<(u32, u32)>,
    /// Triangles of each tile, then where its list goes on.
    counts: Vec<u32>,
}

/// Tiles: first and last column and row.
#[derive(Clone, Copy, Debug)]
pub struct Rectangle {
    /// Column and row of the first ones.
    pub low: [u32; 2],
    /// Column and row of the last ones.
    pub high: [u32; 2],
}

impl Default for Rectangle {
    /// None.
    fn default() -> Rectangle {
        Rectangle { low: [u32::MAX; 2], high: [0; 2] }
    }
}

impl Rectangle {
    /// Makes it include the tiles of some pixels.
    fn add(&mut self, pixels: &Bounds) {
        for axis in 0..2 {
            let [low, high] = [pixels.low, pixels.high].map(|corner| corner[axis] as u32 / 8);
            self.low[axis] = self.low[axis].min(low);
            self.high[axis] = self.high[axis].max(high);
        }
    }

    /// Its first pixel.
    pub fn pixel(&self) -> [i32; 2] {
        self.low.map(|tiles| tiles as i32 * 8)
    }

    /// Columns and rows.
    pub fn size(&self) -> [u32; 2] {
        [0, 1].map(|axis: usize| (self.high[axis] + 1).saturating_sub(self.low[axis]))
    }
}

/// What cannot be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

impl Bins {
    /// Takes the triangles of a draw. `pixels` is as [`crate::renderer::Renderer::draw`] has it, with the CPU renderer's
    /// measure: what does not fit is left out. With a scale, tiles are found for all samples of their pixels. Without `lists`, the
    /// device is to bin them.
    pub fn collect(
        &mut self,
        regs: &Registers,
        state: &State,
        key: &TileKey,
        (scale, lists): (Scale, bool),
        triangles: &[Triangle],
        pixels: &mut u64,
    ) -> Result<Result<(), OutOfPixels>, NotFinite> {
        self.clipper.configure(regs);
        self.semantics.clear();
        self.semantics.extend(key.semantics());
        self.records.clear();
        self.touched.clear();
        self.rectangle = Rectangle::default();
        self.triangles = 0;
        self.listed = lists;
        self.reach = if scale == Scale::ONE { 0 } else { 8 };
        let lit = state.shading.as_ref().is_some_and(|shading| shading.lighting.is_some());
        let mut clipper = std::mem::take(&mut self.clipper);
        let mut all = || {
            for triangle in triangles {
                let aligned = if lit { align_quaternions(triangle) } else { None };
                let triangle = aligned.as_ref().unwrap_or(triangle);
                match clipper.clip(triangle) {
                    Clipped::Whole => self.add(state, triangle.each_ref(), pixels)?,
                    Clipped::Polygon([]) => {}
                    Clipped::Polygon([first, rest @ ..]) => {
                        for pair in rest.windows(2) {
                            self.add(state, [first, &pair[0], &pair[1]], pixels)?;
                        }
                    }
                }
            }
            Ok(())
        };
        let done = all();
        self.clipper = clipper;
        match done {
            Ok(()) => Ok(Ok(())),
            Err(Stop::OutOfPixels) => Ok(Err(OutOfPixels)),
            Err(Stop::NotFinite) => Err(NotFinite),
        }
    }

    fn add(&mut self, state: &State, vertices: [&Vertex; 3], pixels: &mut u64) -> Result<(), Stop> {
        let setup = &mut self.setup;
        if !setup.prepare(&state.screen, vertices) {
            return Ok(());
        }
        let Some(left) = pixels.checked_sub(setup.bounds.pixels()) else {
            *pixels = 0;
            return Err(Stop::OutOfPixels);
        };
        *pixels = left;
        // The fill rule may leave nothing of a small triangle's weights.
        if setup.weight_sum <= 0 && !covers(setup) {
            return Ok(());
        }
        if !setup.finite || !setup.z.iter().all(|z| z.abs() < Z_LIMIT) {
            return Err(Stop::NotFinite);
        }
        let half_planes = half_planes(setup, state.size, self.reach);
        self.rectangle.add(&half_planes.bounds);
        if self.listed {
            let (touched, triangle, tiles_per_row) =
                (&mut self.touched, self.triangles, state.size.tiles_per_row());
            for_tiles(setup, state.size, self.reach.into(), |[x, y], _, _| {
                touched.push((y * tiles_per_row + x, triangle))
            });
        }
        self.triangles += 1;
        self.records.extend(half_planes.words());
        let [a, b, c] = setup.inverse_w.map(f32::to_bits);
        self.records.extend([a, b, c, (setup.weight_sum as f32).to_bits()]);
        let attributes = self.semantics.iter().map(|&semantic| setup.attributes[semantic]);
        for [a, b, c] in [setup.z].into_iter().chain(attributes) {
            self.records.extend([a.to_bits(), b.to_bits(), c.to_bits(), 0]);
        }
        Ok(())
    }

    /// Whether nothing is covered.
    pub fn is_empty(&self) -> bool {
        if self.listed { self.touched.is_empty() } else { self.triangles == 0 }
    }

    /// Whether they are binned here.
    pub fn are_listed(&self) -> bool {
        self.listed
    }

    /// The tiles that the triangles' bounds touch.
    pub fn rectangle(&self) -> Rectangle {
        self.rectangle
    }

    /// Parts of the triangles that the device bins one after the other, and words of a triangle. Triangles count from the first
    /// pixel of [`Bins::rectangle`].
    pub fn parts(&mut self) -> (impl Iterator<Item = &[u32]>, usize) {
        let (size, origin) = (self.words_per_triangle(), self.rectangle.pixel());
        for record in self.records.chunks_exact_mut(size) {
            if let Some(words) = record.first_chunk_mut() {
                *words = HalfPlanes::of_words(words).from_pixel(origin).words();
            }
        }
        (self.records.chunks(size * binning::TRIANGLES), size)
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

        let (first, last) = self.tiles(size);
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

    /// The first and the last tile that are touched, in memory order; that are in [`Bins::rectangle`] if the device bins.
    pub fn tiles(&self, size: Size) -> (u32, u32) {
        if !self.listed {
            let Rectangle { low, high } = self.rectangle;
            let [first, last] = [low, high].map(|[x, y]| y * size.tiles_per_row() + x);
            return (first, last);
        }
        let tiles = self.touched.iter().map(|&(tile, _)| tile);
        tiles.fold((u32::MAX, 0), |(first, last), tile| (first.min(tile), last.max(tile)))
    }

    /// Words that the draw adds to a batch, roughly.
    pub fn words(&self) -> usize {
        self.records.len() + 5 * self.touched.len()
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

/// Whether a pixel of the triangle's bounds is covered.
fn covers(setup: &Setup) -> bool {
    let bounds = &setup.bounds;
    let is_covered = |x, y| weights_at(setup, x, y).iter().all(|&weight| weight >= 0);
    setup.weight_sum >= 0 && (bounds.y0..bounds.y1).any(|y| (bounds.x0..bounds.x1).any(|x| is_covered(x, y)))
}

enum Stop {
    OutOfPixels,
    NotFinite,
}
