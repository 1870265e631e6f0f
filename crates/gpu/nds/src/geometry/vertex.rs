//! Vertices and the primitives they are collected into.

use crate::state::{Io, StateError, Stated, stated};

/// A vertex in vertex memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vertex {
    /// Clip coordinates after clipping, 20.12; w has 24 bits.
    pub position: [i32; 4],
    /// Pixel: x of 9 bits, y of 8.
    pub screen: [u16; 2],
    /// Sixteenths of a pixel that `screen` leaves out, for resolutions above the console's.
    pub fraction: [u8; 2],
    /// Red, green and blue, 5 bits.
    pub color: [u8; 3],
    /// Made or moved by clipping.
    pub clipped: bool,
    /// Texture coordinates, 12.4.
    pub texcoord: [i16; 2],
}

impl Vertex {
    /// The colour as the rendering engine takes it, 9 bits: 0 stays 0, c becomes c * 16 + 15.
    #[inline]
    pub fn color9(&self) -> [u16; 3] {
        self.color.map(|c| if c == 0 { 0 } else { u16::from(c) * 16 + 15 })
    }
}

/// BEGIN_VTXS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Primitive {
    /// Separate triangles.
    #[default]
    Triangles,
    /// Separate quads.
    Quads,
    /// A strip of triangles.
    TriangleStrip,
    /// A strip of quads.
    QuadStrip,
}

impl From<u32> for Primitive {
    fn from(param: u32) -> Primitive {
        match param & 3 {
            0 => Primitive::Triangles,
            1 => Primitive::Quads,
            2 => Primitive::TriangleStrip,
            _ => Primitive::QuadStrip,
        }
    }
}

impl Primitive {
    /// Corners of its polygons.
    pub fn corners(self) -> usize {
        match self {
            Primitive::Triangles | Primitive::TriangleStrip => 3,
            Primitive::Quads | Primitive::QuadStrip => 4,
        }
    }

    /// Whether polygons share vertices.
    pub fn is_strip(self) -> bool {
        matches!(self, Primitive::TriangleStrip | Primitive::QuadStrip)
    }
}

/// A vertex on its way to a polygon.
#[derive(Clone, Copy, Debug, Default)]
pub struct Corner {
    /// Clip coordinates.
    pub position: [i32; 4],
    /// Red, green and blue, 5 bits.
    pub color: [u8; 3],
    /// Texture coordinates, 12.4.
    pub texcoord: [i16; 2],
}

/// Vertices since BEGIN_VTXS that a polygon still needs.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// What is assembled.
    pub primitive: Primitive,
    corners: [Corner; 4],
    count: usize,
    /// Whether the polygon to come is an odd one of its strip.
    odd: bool,
}

/// A polygon's corners; only the first three count for triangles.
pub type Corners = [Corner; 4];

impl Assembly {
    /// BEGIN_VTXS.
    pub fn begin(&mut self, primitive: Primitive) {
        *self = Assembly { primitive, ..Assembly::default() };
    }

    /// Adds a vertex; a polygon's corners in order if it completes one.
    ///
    /// A strip's polygon starts with the two vertices it shares with the one before.
    #[inline]
    pub fn add(&mut self, corner: Corner) -> Option<Corners> {
        if let Some(place) = self.corners.get_mut(self.count) {
            *place = corner;
        }
        self.count += 1;
        if self.count < self.primitive.corners() {
            return None;
        }
        let mut out = self.corners;
        match self.primitive {
            Primitive::Triangles | Primitive::Quads => self.count = 0,
            Primitive::TriangleStrip => {
                if self.odd {
                    out.swap(0, 1);
                }
                (self.corners[0], self.corners[1]) = (self.corners[1], self.corners[2]);
                self.count = 2;
            }
            Primitive::QuadStrip => {
                out.swap(2, 3);
                (self.corners[0], self.corners[1]) = (self.corners[2], self.corners[3]);
                self.count = 2;
            }
        }
        self.odd = !self.odd;
        Some(out)
    }

    /// Whether a polygon has some of its vertices.
    pub fn is_within_polygon(&self) -> bool {
        self.count > 0
    }

    /// Which two vertices of the polygon before, by place, are the first two of the one that [`Self::add`] just completed.
    pub fn shared(&self) -> [usize; 2] {
        match self.primitive {
            Primitive::QuadStrip => [3, 2],
            // `odd` is already that of the next one.
            _ if !self.odd => [2, 1],
            _ => [0, 2],
        }
    }
}

impl Stated for Vertex {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Vertex { position, screen, fraction, color, clipped, texcoord } = self;
        position.state(io)?;
        screen.state(io)?;
        fraction.state(io)?;
        color.state(io)?;
        clipped.state(io)?;
        texcoord.state(io)?;
        // Within the widths of its fields.
        position[3] &= 0xff_ffff;
        *screen = [screen[0] & 0x1ff, screen[1] & 0xff];
        *fraction = fraction.map(|f| f & 15);
        *color = color.map(|c| c & 31);
        Ok(())
    }
}

impl Stated for Primitive {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        io.number(self, |&primitive| primitive as u32, Primitive::from)
    }
}

stated!(Corner { position, color, texcoord });

impl Stated for Assembly {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Assembly { primitive, corners, count, odd } = self;
        primitive.state(io)?;
        corners.state(io)?;
        count.state(io)?;
        odd.state(io)?;
        if *count >= primitive.corners() {
            return io.contents("more vertices than a polygon needs");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X coordinates of the polygons of six vertices.
    fn polygons(primitive: Primitive) -> Vec<Vec<i32>> {
        let mut assembly = Assembly::default();
        assembly.begin(primitive);
        let corner = |x| Corner { position: [x, 0, 0, 0], ..Corner::default() };
        let all = (0..6).filter_map(|x| assembly.add(corner(x)));
        all.map(|c| c[..primitive.corners()].iter().map(|c| c.position[0]).collect()).collect()
    }

    #[test]
    fn primitives() {
        assert_eq!(polygons(Primitive::Triangles), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(polygons(Primitive::Quads), [[0, 1, 2, 3]]);
        assert_eq!(polygons(Primitive::TriangleStrip), [[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]]);
        assert_eq!(polygons(Primitive::QuadStrip), [[0, 1, 3, 2], [2, 3, 5, 4]]);
    }

    #[test]
    fn colors_have_nine_bits() {
        let vertex = Vertex { color: [0, 1, 31], ..Vertex::default() };
        assert_eq!(vertex.color9(), [0, 31, 511]);
    }
}
