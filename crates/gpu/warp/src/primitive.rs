//! Primitives as triangle setup leaves them, in 112 bytes.

use crate::state::RenderState;
use xenoglot_raster::{Bounds, Edges};

/// Bytes of a primitive.
pub const PRIMITIVE_BYTES: usize = 112;

/// A triangle that is set up.
///
/// Its vertices are a, b and c from the top down. Attributes of a pixel are `(a*i + b*j) + c*k` with `i = (1-j)-k`; j and
/// k are 0 at a, and grow by their gradients with each eighth of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Primitive {
    /// Columns where edges a, b and c are known; 2^19 is a pixel.
    pub x: [i32; 3],
    /// What an eighth of a row adds to them.
    pub slope: [i32; 3],
    /// First, middle and last row, in eighths.
    pub y: [i16; 3],
    /// Bit 0: edge a is the right one. Bit 1: perspective, which is always set and never read.
    pub flags: u16,
    /// u/w less its offset, of each vertex.
    pub u: [f32; 3],
    /// v/w less its offset, of each vertex.
    pub v: [f32; 3],
    /// 1/w of each vertex.
    pub w: [f32; 3],
    /// Red, green, blue, alpha of each vertex.
    pub color: [[u8; 4]; 3],
    /// Depth at a, 0 to 1; what an eighth of a column and of a row add to it.
    pub z: [f32; 3],
    /// What an eighth of a column adds to j and k.
    pub dx: [f32; 2],
    /// What an eighth of a row adds to j and k.
    pub dy: [f32; 2],
    /// What is added to u and v.
    pub offset: [i16; 2],
}

impl Primitive {
    /// [`Primitive::flags`]: edge a is the right one.
    pub const RIGHT_MAJOR: u16 = 1;
    /// [`Primitive::flags`]: perspective.
    pub const PERSPECTIVE: u16 = 2;

    /// The primitive of these bytes.
    pub fn from_bytes(bytes: &[u8; PRIMITIVE_BYTES]) -> Primitive {
        let half = |i: usize| u16::from_le_bytes([bytes[i], bytes[i + 1]]);
        let word = |i: usize| u32::from(half(i)) | u32::from(half(i + 2)) << 16;
        let int = |i: usize| word(i) as i32;
        let float = |i: usize| f32::from_bits(word(i));
        let color = |i: usize| [bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]];
        Primitive {
            x: [0, 4, 8].map(int),
            slope: [12, 16, 20].map(int),
            y: [24, 26, 28].map(|i| half(i) as i16),
            flags: half(30),
            u: [32, 36, 40].map(float),
            v: [48, 52, 56].map(float),
            w: [64, 68, 72].map(float),
            color: [44, 60, 76].map(color),
            z: [80, 84, 88].map(float),
            dx: [92, 96].map(float),
            dy: [100, 104].map(float),
            offset: [108, 110].map(|i| half(i) as i16),
        }
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; PRIMITIVE_BYTES] {
        let mut bytes = [0; PRIMITIVE_BYTES];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        self.x.iter().chain(&self.slope).for_each(|v| put(&v.to_le_bytes()));
        self.y.iter().for_each(|v| put(&v.to_le_bytes()));
        put(&self.flags.to_le_bytes());
        for (values, color) in [self.u, self.v, self.w].iter().zip(&self.color) {
            values.iter().for_each(|v| put(&v.to_le_bytes()));
            put(color);
        }
        self.z.iter().chain(&self.dx).chain(&self.dy).for_each(|v| put(&v.to_le_bytes()));
        self.offset.iter().for_each(|v| put(&v.to_le_bytes()));
        bytes
    }

    /// What it may cover of a frame of this size.
    pub fn edges(&self, state: &RenderState, frame: [u32; 2]) -> Edges {
        self.edges_within(state.scissor_within(frame))
    }

    /// What it may cover of these pixels.
    #[inline(always)]
    pub(crate) fn edges_within(&self, scissor: Bounds) -> Edges {
        Edges {
            x: self.x,
            slope: self.slope,
            y: self.y.map(i32::from),
            right_major: self.flags & Primitive::RIGHT_MAJOR != 0,
            scissor,
        }
    }
}
