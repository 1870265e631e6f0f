//! Clipping in homogeneous coordinates: Sutherland and Hodgman, against one plane after the other.

use xenoglot_pica_shader::float::F24;

use super::batch::{multiply, semantic};
use crate::regs::{self, Registers};
use crate::vertex::{Mesh, Triangle, Vertex};

/// A vertex this far outside still counts as inside.
const TOLERANCE: f32 = -1e-8;
const W_OFFSET: f32 = 1e-5;

/// Coefficients of x, y, z, w; inside is where the dot product is not negative.
const PLANES: [[f32; 4]; 7] = [
    [-1.0, 0.0, 0.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [0.0, -1.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, -1.0, 0.0],
    [0.0, 0.0, 1.0, 1.0],
    [0.0, 0.0, 0.0, 1.0],
];
/// The plane that keeps w away from zero.
const W_PLANE: usize = 6;

/// What clipping left of a triangle.
#[derive(Debug)]
pub enum Clipped<'a> {
    /// All of it.
    Whole,
    /// A convex polygon, drawn as a fan around its first vertex; it may be empty.
    Polygon(&'a [Vertex]),
}

/// The clipper and its two polygons.
#[derive(Debug, Default)]
pub struct Clipper {
    user: Option<[f32; 4]>,
    polygon: Vec<Vertex>,
    next: Vec<Vertex>,
}

impl Clipper {
    /// Takes the user's clip plane from the registers.
    pub fn configure(&mut self, regs: &Registers) {
        self.user = regs
            .bit(regs::CLIP_PLANE_ENABLE, 0)
            .then(|| std::array::from_fn(|i| F24.to_f32(regs.get(regs::CLIP_PLANE + i as u32))));
    }

    /// Clips `triangle` to the view volume and the user's plane.
    pub fn clip(&mut self, triangle: [&Vertex; 3]) -> Clipped<'_> {
        if self.is_inside(triangle) {
            return Clipped::Whole;
        }
        self.polygon.clear();
        if is_far_outside(triangle) {
            return Clipped::Polygon(&self.polygon);
        }
        self.polygon.extend(triangle.map(|vertex| *vertex));
        for (number, plane) in PLANES.iter().enumerate() {
            let offset = if number == W_PLANE { W_OFFSET } else { 0.0 };
            clip_to(plane, offset, &self.polygon, &mut self.next);
            std::mem::swap(&mut self.polygon, &mut self.next);
        }
        if let Some(plane) = self.user {
            clip_to(&plane, 0.0, &self.polygon, &mut self.next);
            std::mem::swap(&mut self.polygon, &mut self.next);
        }
        Clipped::Polygon(&self.polygon)
    }

    /// Clips triangles, and hands on those that make up what is left, in order. Of lit ones quaternions are aligned before.
    ///
    /// # Errors
    /// The first error of `draw`; later triangles are left out.
    pub fn each<E>(
        &mut self,
        triangles: Mesh<'_>,
        lit: bool,
        mut draw: impl FnMut([&Vertex; 3]) -> Result<(), E>,
    ) -> Result<(), E> {
        for triangle in triangles.iter() {
            let aligned = if lit { align_quaternions(triangle) } else { None };
            let triangle = aligned.as_ref().map_or(triangle, Triangle::each_ref);
            match self.clip(triangle) {
                Clipped::Whole => draw(triangle)?,
                Clipped::Polygon(polygon) => fan(polygon, &mut draw)?,
            }
        }
        Ok(())
    }

    /// Whether no plane touches the triangle: the same sums as [`distance`] for finite numbers.
    fn is_inside(&self, triangle: [&Vertex; 3]) -> bool {
        triangle.iter().all(|vertex| self.has_inside(vertex))
    }

    /// Whether a vertex is inside of all planes.
    pub fn has_inside(&self, vertex: &Vertex) -> bool {
        let [x, y, z, w] = position(vertex);
        let inside = (w - x >= TOLERANCE)
            & (x + w >= TOLERANCE)
            & (w - y >= TOLERANCE)
            & (y + w >= TOLERANCE)
            & (-z >= TOLERANCE)
            & (z + w >= TOLERANCE)
            & (w + W_OFFSET >= TOLERANCE)
            & w.is_finite();
        inside && self.user.is_none_or(|plane| distance(&plane, 0.0, vertex) >= TOLERANCE)
    }
}

/// Draws a convex polygon as triangles around its first vertex.
pub fn fan<E>(polygon: &[Vertex], mut draw: impl FnMut([&Vertex; 3]) -> Result<(), E>) -> Result<(), E> {
    let Some((first, rest)) = polygon.split_first() else { return Ok(()) };
    rest.windows(2).try_for_each(|pair| draw([first, &pair[0], &pair[1]]))
}

/// Whether the triangle is outside of one plane by more than rounding could ever make up for.
fn is_far_outside(triangle: [&Vertex; 3]) -> bool {
    let positions = triangle.map(position);
    let largest = positions.as_flattened().iter().fold(1.0, |largest: f32, v| largest.max(v.abs()));
    let margin = -1e-3 * largest;
    let all = |distance: fn([f32; 4]) -> f32| positions.iter().all(|&p| distance(p) < margin);
    largest.is_finite()
        && (all(|[x, _, _, w]| w - x)
            || all(|[x, _, _, w]| w + x)
            || all(|[_, y, _, w]| w - y)
            || all(|[_, y, _, w]| w + y)
            || all(|[_, _, z, _]| -z)
            || all(|[_, _, z, w]| z + w))
}

fn position(vertex: &Vertex) -> [f32; 4] {
    [vertex.values[0], vertex.values[1], vertex.values[2], vertex.values[3]]
}

fn distance(plane: &[f32; 4], offset: f32, vertex: &Vertex) -> f32 {
    let [x, y, z, w] = position(vertex);
    multiply(x, plane[0]) + multiply(y, plane[1]) + multiply(z, plane[2]) + multiply(w + offset, plane[3])
}

fn clip_to(plane: &[f32; 4], offset: f32, from: &[Vertex], to: &mut Vec<Vertex>) {
    to.clear();
    let Some(mut previous) = from.last() else { return };
    let mut previous_distance = distance(plane, offset, previous);
    for vertex in from {
        let vertex_distance = distance(plane, offset, vertex);
        let inside = vertex_distance >= TOLERANCE;
        if inside != (previous_distance >= TOLERANCE) {
            let factor = previous_distance / (previous_distance - vertex_distance);
            to.push(mix(vertex, previous, factor));
        }
        if inside {
            to.push(*vertex);
        }
        (previous, previous_distance) = (vertex, vertex_distance);
    }
}

fn mix(vertex: &Vertex, previous: &Vertex, factor: f32) -> Vertex {
    let rest = 1.0 - factor;
    let value = |i: usize| multiply(vertex.values[i], factor) + multiply(previous.values[i], rest);
    Vertex { values: std::array::from_fn(value) }
}

/// The triangle with the quaternions of vertices 1 and 2 negated where they point away from vertex 0's; none if nothing
/// changes.
pub fn align_quaternions(triangle: [&Vertex; 3]) -> Option<Triangle> {
    const RANGE: std::ops::Range<usize> = semantic::QUATERNION..semantic::QUATERNION + 4;
    let quaternion =
        |vertex: &Vertex| -> [f32; 4] { std::array::from_fn(|i| vertex.values[RANGE.start + i]) };
    let first = quaternion(triangle[0]);
    let opposed = |vertex: &Vertex| {
        let other = quaternion(vertex);
        let products: [f32; 4] = std::array::from_fn(|i| multiply(first[i], other[i]));
        products[0] + products[1] + products[2] + products[3] < 0.0
    };
    let flips = [false, opposed(triangle[1]), opposed(triangle[2])];
    if flips == [false; 3] {
        return None;
    }
    let mut aligned = triangle.map(|vertex| *vertex);
    for (vertex, _) in aligned.iter_mut().zip(flips).filter(|&(_, flip)| flip) {
        for value in &mut vertex.values[RANGE] {
            *value = -*value;
        }
    }
    Some(aligned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(position: [f32; 4], attribute: f32) -> Vertex {
        let mut values = [attribute; 24];
        values[..4].copy_from_slice(&position);
        Vertex { values }
    }

    #[test]
    fn inside_is_left_alone() {
        let triangle = [[0.0, 0.0], [1.0, 0.0], [0.0, -1.0]].map(|[x, y]| vertex([x, y, -0.5, 1.0], 1.0));
        assert!(matches!(Clipper::default().clip(triangle.each_ref()), Clipped::Whole));
    }

    #[test]
    fn a_corner_beyond_the_right_edge_is_cut_off() {
        let triangle = [
            vertex([0.0, 0.0, -0.5, 1.0], 0.0),
            vertex([2.0, 0.0, -0.5, 1.0], 1.0),
            vertex([0.0, 0.5, -0.5, 1.0], 0.0),
        ];
        let mut clipper = Clipper::default();
        let Clipped::Polygon(polygon) = clipper.clip(triangle.each_ref()) else { panic!("not clipped") };
        let points: Vec<_> = polygon.iter().map(|v| (v.values[0], v.values[1], v.values[8])).collect();
        assert_eq!(points.len(), 4);
        assert!(points.contains(&(1.0, 0.0, 0.5)) && points.contains(&(1.0, 0.25, 0.5)), "{points:?}");
    }

    #[test]
    fn nothing_is_left_outside_or_of_nan() {
        let mut clipper = Clipper::default();
        for x in [3.0, -3.0, f32::NAN, f32::INFINITY] {
            let triangle = [0.0, 0.5, -0.5].map(|y| vertex([x, y, -0.5, 1.0], 0.0));
            let Clipped::Polygon(polygon) = clipper.clip(triangle.each_ref()) else {
                panic!("{x} is not inside")
            };
            assert!(polygon.is_empty(), "{x}: {polygon:?}");
        }
    }

    #[test]
    fn quaternions_are_brought_to_one_side() {
        let triangle = [1.0, -2.0, 3.0].map(|q| vertex([0.0; 4], q));
        let aligned = align_quaternions(triangle.each_ref()).unwrap();
        assert_eq!(aligned[1].values[4..9], [2.0, 2.0, 2.0, 2.0, -2.0]);
        assert_eq!(aligned[2], triangle[2]);
        assert_eq!(align_quaternions(aligned.each_ref()), None);
    }
}
