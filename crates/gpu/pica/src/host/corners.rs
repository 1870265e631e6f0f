//! Triangles that the device sets up: their vertices, each once, and what the processor needs to know before the device runs.
//!
//! The processor counts a draw's pixels, for the cycles that the chip would take and as a bound on its work, and finds the range of
//! tiles that has to be on the device before it. Both follow from positions. Weights, attributes divided by w and binning are left
//! to the device ([`super::setup`]).

use super::triangles::{Extent, NotFinite, Stop, take};
use crate::fragment::tile::TileKey;
use crate::raster::clip::{Clipped, Clipper, align_quaternions, fan};
use crate::raster::coverage::covers;
use crate::raster::framebuffer::Size;
use crate::raster::setup::{LIMIT, Located, Placed, Rectangle as Pixels, Setup, is_moderate};
use crate::raster::state::State;
use crate::regs::Registers;
use crate::renderer::OutOfPixels;
use crate::vertex::{Mesh, Vertex};

/// Values of a vertex before its attributes: x, y, z, w.
pub const POSITION: usize = 4;
/// With a larger area, the sum of the weights is positive even after the fill rule's biases.
const FILLED: i32 = 3;

/// A draw's triangles; memory is kept from draw to draw.
#[derive(Debug, Default)]
pub struct Corners {
    clipper: Clipper,
    known: Vec<Option<Known>>,
    list: List,
}

/// What is known of a vertex that triangles share.
#[derive(Clone, Copy, Debug)]
struct Known {
    located: Located,
    /// Whether it is inside of all clipping planes.
    inside: bool,
    /// Its number on the device, once it is there.
    number: Option<u32>,
}

/// What the device is given.
#[derive(Debug, Default)]
struct List {
    /// Of triangles so small that their weights decide about them.
    setup: Setup,
    semantics: Vec<usize>,
    /// Of each vertex its position and attributes.
    vertices: Vec<u32>,
    /// The numbers of the vertices of each triangle.
    corners: Vec<[u32; 3]>,
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
        triangles: Mesh<'_>,
        pixels: &mut u64,
    ) -> Result<Result<(), OutOfPixels>, NotFinite> {
        self.clipper.configure(regs);
        self.list.start(key);
        self.known.clear();
        self.known.resize(triangles.vertices().len(), None);
        Stop::sort(triangles.corners().try_for_each(|numbers| {
            let Some(vertices) = triangles.triangle(numbers) else { return Ok(()) };
            let aligned = if state.is_lit() { align_quaternions(vertices) } else { None };
            match &aligned {
                None => self.add(state, numbers, vertices, pixels),
                Some(aligned) => self.add_alone(state, aligned.each_ref(), pixels),
            }
        }))
    }

    /// Adds a triangle whose vertices others may share.
    fn add(
        &mut self,
        state: &State,
        numbers: [u32; 3],
        vertices: [&Vertex; 3],
        pixels: &mut u64,
    ) -> Result<(), Stop> {
        let places = numbers.map(|number| number as usize);
        let mut located = [Located::default(); 3];
        let mut inside = true;
        for ((place, vertex), located) in places.into_iter().zip(vertices).zip(&mut located) {
            let Some(known) = self.known.get_mut(place) else { return Ok(()) };
            let known = known.get_or_insert_with(|| Known {
                located: state.screen.locate(vertex),
                inside: self.clipper.has_inside(vertex),
                number: None,
            });
            *located = known.located;
            inside &= known.inside;
        }
        if !inside {
            return self.add_alone(state, vertices, pixels);
        }
        let Some(placed) = state.screen.place_located(located) else { return Ok(()) };
        let Corners { known, list, .. } = self;
        list.add(state, &placed, vertices, pixels, |list, corner, inverse_w| {
            let known = places.get(corner).and_then(|&place| known.get_mut(place)?.as_mut());
            match known.as_ref().and_then(|known| known.number) {
                Some(number) => Ok(number),
                None => {
                    let number = list.vertex(vertices[corner], inverse_w)?;
                    known.into_iter().for_each(|known| known.number = Some(number));
                    Ok(number)
                }
            }
        })
    }

    /// Adds what clipping leaves of a triangle whose vertices are its own.
    fn add_alone(&mut self, state: &State, vertices: [&Vertex; 3], pixels: &mut u64) -> Result<(), Stop> {
        let Corners { clipper, list, .. } = self;
        let mut add = |vertices: [&Vertex; 3]| {
            let Some(placed) = state.screen.place(vertices) else { return Ok(()) };
            list.add(state, &placed, vertices, pixels, |list, corner, inverse_w| {
                list.vertex(vertices[corner], inverse_w)
            })
        };
        match clipper.clip(vertices) {
            Clipped::Whole => add(vertices),
            Clipped::Polygon(polygon) => fan(polygon, add),
        }
    }

    /// What the draw touches; nothing if no triangle is left.
    pub fn extent(&self, size: Size) -> Option<Extent> {
        let List { vertices, corners, rectangle: Rectangle { low, high }, .. } = &self.list;
        let tile = |[x, y]: [u32; 2]| y.wrapping_mul(size.tiles_per_row()).wrapping_add(x);
        let words = vertices.len() + corners.as_flattened().len();
        (!corners.is_empty()).then(|| Extent { tiles: (tile(*low), tile(*high)), words })
    }

    /// The tiles that the triangles' bounds touch.
    pub fn rectangle(&self) -> Rectangle {
        self.list.rectangle
    }

    /// Attributes of a vertex.
    pub fn attributes(&self) -> usize {
        self.list.semantics.len()
    }

    /// The vertices.
    pub fn vertices(&self) -> &[u32] {
        &self.list.vertices
    }

    /// The numbers of the vertices of the triangles, in the order of their areas.
    pub fn corners(&self) -> &[[u32; 3]] {
        &self.list.corners
    }
}

impl List {
    fn start(&mut self, key: &TileKey) {
        self.semantics.clear();
        self.semantics.extend(key.semantics());
        self.vertices.clear();
        self.corners.clear();
        self.rectangle = Rectangle::default();
    }

    /// Adds a triangle if something of it is left. `number` gives the number on the device of one of its vertices, of which it has the
    /// place among them and 1/w.
    fn add(
        &mut self,
        state: &State,
        placed: &Placed,
        vertices: [&Vertex; 3],
        pixels: &mut u64,
        mut number: impl FnMut(&mut List, usize, f32) -> Result<u32, Stop>,
    ) -> Result<(), Stop> {
        take(pixels, placed.bounds.pixels())?;
        // The fill rule may leave nothing of a small triangle's weights, or only some that have no sum to divide by.
        let setup = &mut self.setup;
        if placed.area <= FILLED && !(setup.prepare(&state.screen, vertices) && setup.weight_sum > 0) {
            return if covers(setup) { Err(Stop::NotFinite) } else { Ok(()) };
        }
        let mut corners = [0; 3];
        for ((corner, of), inverse_w) in corners.iter_mut().zip(placed.order).zip(placed.inverse_w) {
            *corner = number(self, of, inverse_w)?;
        }
        self.corners.push(corners);
        self.rectangle.add(&placed.bounds, state.size);
        Ok(())
    }

    /// Adds a vertex; its number.
    fn vertex(&mut self, Vertex { values }: &Vertex, inverse_w: f32) -> Result<u32, Stop> {
        let mut finite = is_moderate(inverse_w) && (values[2] * inverse_w).abs() < LIMIT;
        let number = self.vertices.len() / (POSITION + self.semantics.len());
        self.vertices.extend(values[..POSITION].iter().map(|value| value.to_bits()));
        self.vertices.extend(self.semantics.iter().map(|&semantic| {
            let value = values[semantic];
            finite &= (value * inverse_w).abs() < LIMIT;
            value.to_bits()
        }));
        if finite { Ok(number as u32) } else { Err(Stop::NotFinite) }
    }
}
