//! Triangles that the device sets up: their corners as it reads them, and what must be known here at once.
//!
//! A draw's pixels count for what the chip would have taken, and bound its work; the tiles that it touches decide what is brought to
//! the device before it. Both follow from positions. All else of a triangle, weights, attributes divided by w, and which tiles
//! it touches, is up to the device ([`super::setup`]).

use super::triangles::{Extent, NotFinite, Stop, take};
use crate::fragment::tile::TileKey;
use crate::raster::clip::Clipper;
use crate::raster::coverage::covers;
use crate::raster::framebuffer::Size;
use crate::raster::setup::{LIMIT, Placed, Rectangle as Pixels, Setup, is_moderate};
use crate::raster::state::State;
use crate::regs::Registers;
use crate::renderer::OutOfPixels;
use crate::vertex::{Triangle, Vertex};

/// Values of a corner before its attributes: x, y, z, w.
pub const POSITION: usize = 4;
/// Areas above this leave something of the weights, whatever the fill rule takes away.
const FILLED: i32 = 3;

/// A draw's triangles; memory is kept from draw to draw.
#[derive(Debug, Default)]
pub struct Corners {
    clipper: Clipper,
    /// Of triangles so small that their weights decide about them.
    setup: Setup,
    semantics: Vec<usize>,
    /// Of each corner its position and attributes.
    words: Vec<u32>,
    rectangle: Rectangle,
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
    fn add(&mut self, pixels: &Pixels, size: Size) {
        let top = size.height as i32 - 1;
        let (low, high) = ([pixels.x0, top + 1 - pixels.y1], [pixels.x1 - 1, top - pixels.y0]);
        for axis in 0..2 {
            self.low[axis] = self.low[axis].min(low[axis] as u32 / 8);
            self.high[axis] = self.high[axis].max(high[axis] as u32 / 8);
        }
    }

    /// Its first pixel.
    pub fn pixel(&self) -> [u32; 2] {
        self.low.map(|tiles| tiles * 8)
    }

    /// Columns and rows.
    pub fn size(&self) -> [u32; 2] {
        [0, 1].map(|axis: usize| (self.high[axis] + 1).saturating_sub(self.low[axis]))
    }
}

impl Corners {
    /// Takes the triangles of a draw as [`super::bins::Bins::collect`] does.
    pub fn collect(
        &mut self,
        regs: &Registers,
        state: &State,
        key: &TileKey,
        triangles: &[Triangle],
        pixels: &mut u64,
    ) -> Result<Result<(), OutOfPixels>, NotFinite> {
        let Corners { clipper, setup, semantics, words, rectangle } = self;
        clipper.configure(regs);
        semantics.clear();
        semantics.extend(key.semantics());
        words.clear();
        *rectangle = Rectangle::default();
        Stop::sort(clipper.each(triangles, state.is_lit(), |vertices| {
            let Some(placed) = state.screen.place(vertices) else { return Ok(()) };
            take(pixels, placed.bounds.pixels())?;
            // The fill rule may leave nothing of a small triangle's weights, or only some that have no sum to divide by.
            if placed.area <= FILLED && !(setup.prepare(&state.screen, vertices) && setup.weight_sum > 0) {
                return if covers(setup) { Err(Stop::NotFinite) } else { Ok(()) };
            }
            rectangle.add(&placed.bounds, state.size);
            add(words, semantics, &placed, vertices)
        }))
    }

    /// What the draw touches; nothing if no triangle is left.
    pub fn extent(&self, size: Size) -> Option<Extent> {
        let Rectangle { low, high } = self.rectangle;
        let [first, last] = [low, high].map(|[x, y]| y.wrapping_mul(size.tiles_per_row()).wrapping_add(x));
        (!self.words.is_empty()).then_some(Extent { tiles: (first, last), words: self.words.len() })
    }

    /// The tiles that the triangles' bounds touch.
    pub fn rectangle(&self) -> Rectangle {
        self.rectangle
    }

    /// Attributes of a corner.
    pub fn attributes(&self) -> usize {
        self.semantics.len()
    }

    /// The corners of at most so many triangles at a time.
    pub fn parts(&self, most: usize) -> impl Iterator<Item = &[u32]> {
        self.words.chunks(most * 3 * (POSITION + self.semantics.len()))
    }
}

/// Adds the corners of a triangle in the order of its area.
fn add(
    words: &mut Vec<u32>,
    semantics: &[usize],
    placed: &Placed,
    vertices: [&Vertex; 3],
) -> Result<(), Stop> {
    for (number, inverse_w) in placed.order.into_iter().zip(placed.inverse_w) {
        let Some(Vertex { values }) = vertices.get(number) else { continue };
        let mut finite = is_moderate(inverse_w) && (values[2] * inverse_w).abs() < LIMIT;
        words.extend(values[..POSITION].iter().map(|value| value.to_bits()));
        words.extend(semantics.iter().map(|&semantic| {
            let value = values[semantic];
            finite &= (value * inverse_w).abs() < LIMIT;
            value.to_bits()
        }));
        if !finite {
            return Err(Stop::NotFinite);
        }
    }
    Ok(())
}
