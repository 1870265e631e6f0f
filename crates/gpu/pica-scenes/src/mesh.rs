//! Meshes and how their vertices lie in memory. Triangles turn counter-clockwise seen from outside.

use crate::math::turn;
use glam::{Mat4, Vec2, Vec3};

/// Element types of attributes, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Element {
    /// Unsigned byte, as a whole number.
    U8 = 1,
    /// Float.
    F32 = 3,
}

/// An attribute of one to four elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    element: Element,
    count: u32,
}

impl Attribute {
    /// `count` floats.
    pub const fn floats(count: u32) -> Attribute {
        Attribute { element: Element::F32, count }
    }

    /// Four bytes.
    pub const BYTES: Attribute = Attribute { element: Element::U8, count: 4 };

    /// Type and elements as the format registers have them.
    pub fn format(self) -> u32 {
        self.element as u32 | (self.count - 1) << 2
    }

    /// Bytes of a vertex.
    pub fn stride(attributes: &[Attribute]) -> u32 {
        let bytes = |a: &Attribute| if a.element == Element::F32 { 4 * a.count } else { a.count };
        attributes.iter().map(bytes).sum()
    }
}

/// A vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Position.
    pub position: Vec3,
    /// Unit normal.
    pub normal: Vec3,
    /// Texture coordinates.
    pub uv: Vec2,
    /// Colour.
    pub color: Vec3,
}

/// Triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices.
    pub vertices: Vec<Vertex>,
    /// Three per triangle.
    pub indices: Vec<u16>,
}

/// Positions, normals and texture coordinates.
const LIT: &[Attribute] = &[Attribute::floats(3), Attribute::floats(3), Attribute::floats(2)];
/// Positions, normals and colours.
const SHADED: &[Attribute] = &[Attribute::floats(3), Attribute::floats(3), Attribute::floats(3)];
/// Positions, colours and texture coordinates.
const TEXTURED: &[Attribute] = &[Attribute::floats(3), Attribute::floats(3), Attribute::floats(2)];
/// Positions and colours.
const COLORED: &[Attribute] = &[Attribute::floats(3), Attribute::floats(3)];

fn bytes<const N: usize>(vertices: &[Vertex], floats: impl Fn(&Vertex) -> [f32; N]) -> Vec<u8> {
    vertices.iter().flat_map(floats).flat_map(f32::to_le_bytes).collect()
}

impl Mesh {
    /// For shaders with position, normal and texture coordinates.
    pub fn lit(&self) -> (Vec<u8>, &'static [Attribute]) {
        let floats = |v: &Vertex| {
            let ([x, y, z], [a, b, c], [s, t]) =
                (v.position.to_array(), v.normal.to_array(), v.uv.to_array());
            [x, y, z, a, b, c, s, t]
        };
        (bytes(&self.vertices, floats), LIT)
    }

    /// For shaders with position, normal and colour.
    pub fn shaded(&self) -> (Vec<u8>, &'static [Attribute]) {
        let floats = |v: &Vertex| {
            let ([x, y, z], [a, b, c], [p, q, r]) =
                (v.position.to_array(), v.normal.to_array(), v.color.to_array());
            [x, y, z, a, b, c, p, q, r]
        };
        (bytes(&self.vertices, floats), SHADED)
    }

    /// For shaders with position, colour and texture coordinates.
    pub fn textured(&self) -> (Vec<u8>, &'static [Attribute]) {
        let floats = |v: &Vertex| {
            let ([x, y, z], [p, q, r], [s, t]) = (v.position.to_array(), v.color.to_array(), v.uv.to_array());
            [x, y, z, p, q, r, s, t]
        };
        (bytes(&self.vertices, floats), TEXTURED)
    }

    /// For shaders with position and colour.
    pub fn colored(&self) -> (Vec<u8>, &'static [Attribute]) {
        let floats = |v: &Vertex| {
            let ([x, y, z], [p, q, r]) = (v.position.to_array(), v.color.to_array());
            [x, y, z, p, q, r]
        };
        (bytes(&self.vertices, floats), COLORED)
    }

    /// Adds another mesh, moved by a matrix of rotations, translations and uniform scales.
    pub fn add(&mut self, other: &Mesh, matrix: &Mat4) {
        let first = self.vertices.len() as u16;
        self.vertices.extend(other.vertices.iter().map(|v| Vertex {
            position: matrix.transform_point3(v.position),
            normal: matrix.transform_vector3(v.normal).normalize(),
            ..*v
        }));
        self.indices.extend(other.indices.iter().map(|index| first + index));
    }

    /// All vertices in one colour.
    pub fn colored_as(mut self, color: Vec3) -> Mesh {
        self.vertices.iter_mut().for_each(|v| v.color = color);
        self
    }

    /// Texture coordinates times a factor.
    pub fn tiled(mut self, factor: Vec2) -> Mesh {
        self.vertices.iter_mut().for_each(|v| v.uv *= factor);
        self
    }

    /// Texture coordinates plus an offset.
    pub fn scrolled(mut self, offset: Vec2) -> Mesh {
        self.vertices.iter_mut().for_each(|v| v.uv += offset);
        self
    }
}

/// A grid of `columns` by `rows` quads: `f` gives the vertex at texture coordinates from 0 to 1. It is seen from where
/// u goes right and v goes up.
pub fn grid(columns: u16, rows: u16, f: impl Fn(Vec2) -> (Vec3, Vec3)) -> Mesh {
    let mut mesh = Mesh::default();
    for j in 0..=rows {
        for i in 0..=columns {
            let uv = Vec2::new(f32::from(i) / f32::from(columns), f32::from(j) / f32::from(rows));
            let (position, normal) = f(uv);
            mesh.vertices.push(Vertex { position, normal, uv, color: Vec3::ONE });
        }
    }
    for j in 0..rows {
        for i in 0..columns {
            let a = j * (columns + 1) + i;
            let (b, c, d) = (a + 1, a + columns + 2, a + columns + 1);
            mesh.indices.extend([a, b, c, a, c, d]);
        }
    }
    mesh
}

/// A cube with edges of length 2 around the origin; each side has the whole texture.
pub fn cube() -> Mesh {
    let mut mesh = Mesh::default();
    let side = grid(1, 1, |uv| ((uv * 2.0 - 1.0).extend(1.0), Vec3::Z));
    for quarter in 0..4 {
        mesh.add(&side, &Mat4::from_rotation_y(quarter as f32 * std::f32::consts::FRAC_PI_2));
    }
    for angle in [-std::f32::consts::FRAC_PI_2, std::f32::consts::FRAC_PI_2] {
        mesh.add(&side, &Mat4::from_rotation_x(angle));
    }
    mesh
}

/// A level square of half size `half` at height 0, in so many quads.
pub fn floor(half: f32, quads: u16) -> Mesh {
    grid(quads, quads, |uv| {
        let p = (uv * 2.0 - 1.0) * half;
        (Vec3::new(p.x, 0.0, -p.y), Vec3::Y)
    })
}

/// A sphere of radius 1.
pub fn sphere(columns: u16, rows: u16) -> Mesh {
    grid(columns, rows, |uv| {
        let ((sin, cos), (up, out)) = (turn(uv.x), turn(uv.y / 2.0 - 0.25));
        let p = Vec3::new(sin * out, up, cos * out);
        (p, p)
    })
}

/// A ring around the y axis: `radius` to the middle of the tube.
pub fn torus(radius: f32, tube: f32, columns: u16, rows: u16) -> Mesh {
    grid(columns, rows, |uv| {
        let ((sin, cos), (up, out)) = (turn(uv.x), turn(uv.y));
        let normal = Vec3::new(sin * out, up, cos * out);
        (Vec3::new(sin, 0.0, cos) * radius + normal * tube, normal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_face_outwards() {
        for mesh in [cube(), sphere(12, 8), torus(2.0, 0.5, 12, 8), floor(1.0, 2)] {
            for triangle in mesh.indices.chunks(3) {
                let [a, b, c] = [0, 1, 2].map(|i| mesh.vertices[usize::from(triangle[i])]);
                let normal = (b.position - a.position).cross(c.position - a.position);
                let outwards = a.normal + b.normal + c.normal;
                assert!(normal.length() < 1e-5 || normal.dot(outwards) > 0.0);
            }
        }
    }

    #[test]
    fn vertices_have_the_bytes_their_attributes_say() {
        let mesh = cube();
        for (bytes, attributes) in [mesh.lit(), mesh.shaded(), mesh.textured(), mesh.colored()] {
            assert_eq!(bytes.len(), mesh.vertices.len() * Attribute::stride(attributes) as usize);
        }
    }
}
