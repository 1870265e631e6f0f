//! Vertices of random scenes: what they are, how they lie in memory, in which order they are drawn.

use super::{FCRAM, VERTICES};
use crate::builder::f24;
use xenoglot_pica::regs::*;
use xenoglot_pica::replay::CommandList;
use xenoglot_testgen::rng::Rng;

/// Attributes of a vertex.
pub const ATTRIBUTES: usize = 6;
/// Bytes between the arrays of two loaders.
const ARRAY: u32 = 0x2000;

/// A vertex: six vectors, in the order of [`super::OUTPUTS`].
pub type Vertex = [[f32; 4]; ATTRIBUTES];

/// A number from `low` to `high`.
pub fn number(rng: &mut Rng, low: f32, high: f32) -> f32 {
    low + (high - low) * rng.below(1 << 16) as f32 / 65536.0
}

/// What is drawn.
pub struct Mesh {
    /// Vertices.
    pub count: u32,
    /// Where they are.
    pub place: Place,
    /// Range of w, by which positions are multiplied.
    pub w: (f32, f32),
    /// How they lie in memory.
    pub layout: Layout,
    /// In which order they are drawn.
    pub order: Order,
}

/// Where vertices are, divided by w.
#[derive(Clone, Copy)]
pub enum Place {
    /// In the view volume and somewhat beyond.
    Around,
    /// Up to so many times the view volume's size, before and behind it, and behind the viewer.
    Far(f32),
    /// Each triangle within a few pixels.
    Small,
    /// On corners of every other pixel, so that many edges meet samples.
    Grid,
}

/// The order of vertices.
pub enum Order {
    /// As they lie in memory, from this one on.
    Arrays(u32),
    /// By indices of a byte.
    Bytes(Vec<u16>),
    /// By indices of two bytes.
    Halves(Vec<u16>),
    /// In the command list itself.
    Immediate,
}

impl Default for Mesh {
    /// Four triangles.
    fn default() -> Mesh {
        Mesh {
            count: 12,
            place: Place::Around,
            w: (0.5, 2.0),
            layout: Layout::default(),
            order: Order::Arrays(0),
        }
    }
}

impl Mesh {
    /// Random vertices.
    pub fn vertices(&self, rng: &mut Rng) -> Vec<Vertex> {
        let mut center = [0.0; 2];
        let vertex = |index: u32| {
            if index.is_multiple_of(3) {
                center = [(); 2].map(|()| number(rng, -1.0, 1.0));
            }
            self.vertex(rng, center)
        };
        (0..self.count).map(vertex).collect()
    }

    /// A vertex of the triangle around `center`.
    fn vertex(&self, rng: &mut Rng, center: [f32; 2]) -> Vertex {
        let mut z = -number(rng, 0.0, 1.0);
        let mut w = number(rng, self.w.0, self.w.1);
        let [x, y] = match self.place {
            Place::Around => [(); 2].map(|()| number(rng, -1.3, 1.3)),
            Place::Small => center.map(|at| at + number(rng, -0.06, 0.06)),
            Place::Grid => [(); 2].map(|()| (rng.below(33) as f32 - 16.0) / 16.0),
            Place::Far(far) => {
                z = number(rng, -2.0, 1.0);
                w = if rng.below(5) == 0 { -w } else { w };
                [(); 2].map(|()| number(rng, -far, far))
            }
        };
        let mut four = |low, high| [(); 4].map(|()| number(rng, low, high));
        let (quaternion, color, view) = (four(-1.0, 1.0), four(-0.2, 1.2), four(-2.0, 2.0));
        [[x * w, y * w, z * w, w], quaternion, color, four(-1.5, 2.5), four(-1.5, 2.5), view]
    }
}

/// Sends vertices in the command list.
pub fn send(list: &mut CommandList, vertices: &[Vertex]) {
    list.write(IMMEDIATE_COUNT, ATTRIBUTES as u32 - 1).write(FIXED_ATTRIBUTE, 15);
    for attribute in vertices.as_flattened() {
        list.write_all(FIXED_ATTRIBUTE_DATA, &packed(*attribute));
    }
}

/// A vector as the ports for attributes and uniforms take it: four 24-bit floats in three words, w first.
pub fn packed(vector: [f32; 4]) -> [u32; 3] {
    let [x, y, z, w] = vector.map(f24);
    [w << 8 | z >> 16, z << 16 | y >> 8, y << 24 | x]
}

/// Number format of an attribute, by its number in the registers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Signed bytes.
    I8 = 0,
    /// Bytes.
    U8 = 1,
    /// Signed, two bytes.
    I16 = 2,
    /// Singles.
    F32 = 3,
}

impl Type {
    /// All of them.
    pub const ALL: [Type; 4] = [Type::I8, Type::U8, Type::I16, Type::F32];

    fn size(self) -> usize {
        [1, 1, 2, 4][self as usize]
    }

    fn append(self, value: f32, to: &mut Vec<u8>) {
        match self {
            Type::I8 => to.push(value as i8 as u8),
            Type::U8 => to.push(value as u8),
            Type::I16 => to.extend((value as i16).to_le_bytes()),
            Type::F32 => to.extend(value.to_le_bytes()),
        }
    }
}

/// An attribute in memory.
#[derive(Clone, Copy)]
pub struct Format {
    /// Type of its elements.
    pub ty: Type,
    /// How many elements: 1 to 4.
    pub elements: usize,
    /// Factor of the values.
    pub scale: f32,
}

/// Arrays of vertices.
pub struct Layout {
    /// The attributes.
    pub formats: [Format; ATTRIBUTES],
    /// The attributes of each array in order: 0 to 5, or 12 to 15 for a gap of 4 to 16 bytes.
    pub loaders: Vec<Vec<u32>>,
    /// Attributes that do not come from an array, a bit each.
    pub fixed: u32,
    /// Bytes after each vertex of an array.
    pub padding: u32,
}

impl Default for Layout {
    /// One array of singles.
    fn default() -> Layout {
        let format = Format { ty: Type::F32, elements: 4, scale: 1.0 };
        let loaders = vec![(0..ATTRIBUTES as u32).collect()];
        Layout { formats: [format; ATTRIBUTES], loaders, fixed: 0, padding: 0 }
    }
}

impl Layout {
    /// Sets the loaders.
    pub fn write(&self, list: &mut CommandList) {
        let formats = self
            .formats
            .iter()
            .rev()
            .fold(0, |word, format| word << 4 | (format.elements as u32 - 1) << 2 | format.ty as u32);
        list.write_all(ATTRIBUTE_FORMATS, &[formats, self.fixed << 16 | (ATTRIBUTES as u32 - 1) << 28]);
        for number in 0..12 {
            let words = self.loaders.get(number as usize).map_or([0; 3], |components| {
                let ids = components.iter().rev().fold(0, |ids: u64, &id| ids << 4 | u64::from(id));
                let stride = self.stride(components);
                let address = VERTICES + number * ARRAY - FCRAM;
                [address, ids as u32, (ids >> 32) as u32 | stride << 16 | (components.len() as u32) << 28]
            });
            list.write_all(LOADER + number * 3, &words);
        }
    }

    /// Addresses and bytes of the arrays.
    pub fn arrays(&self, vertices: &[Vertex]) -> Vec<(u32, Vec<u8>)> {
        (VERTICES..)
            .step_by(ARRAY as usize)
            .zip(self.loaders.iter().map(|ids| self.array(ids, vertices)))
            .collect()
    }

    fn array(&self, components: &[u32], vertices: &[Vertex]) -> Vec<u8> {
        let stride = self.stride(components) as usize;
        let mut bytes = Vec::new();
        for (number, vertex) in vertices.iter().enumerate() {
            self.append(components, vertex, number * stride, &mut bytes);
            bytes.resize((number + 1) * stride, 0xa5);
        }
        bytes
    }

    /// Appends the attributes of a vertex that are in an array. The vertex begins at byte `start`.
    fn append(&self, components: &[u32], vertex: &Vertex, start: usize, bytes: &mut Vec<u8>) {
        for &id in components {
            let known = self.formats.get(id as usize).zip(vertex.get(id as usize));
            let align = known.map_or(4, |(format, _)| format.ty.size());
            bytes.resize(start + (bytes.len() - start).next_multiple_of(align), 0x5a);
            match known {
                Some((format, values)) => {
                    values[..format.elements].iter().for_each(|v| format.ty.append(v * format.scale, bytes));
                }
                None => bytes.extend((0..4 * (id - 11)).map(|i| i as u8)),
            }
        }
    }

    /// Bytes from vertex to vertex of an array.
    fn stride(&self, components: &[u32]) -> u32 {
        let mut vertex = Vec::new();
        self.append(components, &Vertex::default(), 0, &mut vertex);
        vertex.len().next_multiple_of(4) as u32 + self.padding
    }
}
