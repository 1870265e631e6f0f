//! Clipping and the way to the screen.

use crate::primitive::Primitive;
use crate::setup::{Cull, Vertex, set_up};

/// Least w.
const LEAST_W: f32 = 1.0 / 1024.0;
/// The guard band, in pixels: what positions in eighths can express.
const GUARD: [f32; 2] = [-2048.0, 2047.0];

/// Where a frame's picture is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// First column and row.
    pub origin: [f32; 2],
    /// Columns and rows.
    pub size: [f32; 2],
    /// Depth at the near and at the far plane.
    pub depth: [f32; 2],
}

/// Clips a triangle in clip space and appends what is left of it, set up.
///
/// Planes are taken one after the other: w, then the guard band and depth on the screen. A half of a triangle that is cut
/// shares no vertices with the other.
pub fn draw(vertices: [Vertex; 3], viewport: &Viewport, cull: Cull, out: &mut Vec<Primitive>) {
    let mut near = Vec::new();
    clip(vertices, 3, LEAST_W, &mut near);
    for mut triangle in near {
        let all = |beyond: fn(&[f32; 4]) -> bool| triangle.iter().all(|vertex| beyond(&vertex.position));
        if all(|p| p[0] < -p[3]) || all(|p| p[1] < -p[3]) || all(|p| p[0] > p[3]) || all(|p| p[1] > p[3]) {
            continue;
        }
        let offset = [0, 1].map(|i| {
            let [a, b, c] = triangle.map(|vertex| vertex.uv[i]);
            ((1.0f32 / 3.0) * ((a + b) + c)).floor() as i16
        });
        for vertex in &mut triangle {
            project(vertex, offset, viewport);
        }
        let mut triangles = vec![triangle];
        for (axis, target) in [(0, GUARD[0]), (0, GUARD[1]), (1, GUARD[0]), (1, GUARD[1]), (2, 0.0), (2, 1.0)]
        {
            let mut clipped = Vec::with_capacity(triangles.len());
            triangles.into_iter().for_each(|triangle| clip(triangle, axis, target, &mut clipped));
            triangles = clipped;
        }
        let [near, far] = viewport.depth;
        for mut triangle in triangles {
            for vertex in &mut triangle {
                vertex.position[2] = near + vertex.position[2] * (far - near);
            }
            out.extend(set_up(triangle.each_ref(), offset, cull));
        }
    }
}

/// Divides by w and goes to the screen.
fn project(vertex: &mut Vertex, offset: [i16; 2], viewport: &Viewport) {
    let [x, y, z, w] = vertex.position;
    let inverse = 1.0 / w;
    let screen =
        |v: f32, axis: usize| viewport.origin[axis] + (0.5 * (v * inverse) + 0.5) * viewport.size[axis];
    vertex.position = [screen(x, 0), screen(y, 1), z * inverse, inverse];
    for (value, offset) in vertex.uv.iter_mut().zip(offset) {
        *value = (*value - f32::from(offset)) * inverse;
    }
}

/// Appends what of a triangle lies on the inner side of a plane: below `target` if that is positive, else above it.
fn clip(triangle: [Vertex; 3], axis: usize, target: f32, out: &mut Vec<[Vertex; 3]>) {
    // The w plane is a positive one whose inner side is above it.
    let below = target > 0.0 && axis != 3;
    let outside = triangle.map(|vertex| {
        let value = vertex.position[axis];
        if below { value > target } else { value < target }
    });
    let cut = |a: usize, b: usize| {
        let (a, b) = (&triangle[a], &triangle[b]);
        let l = (target - a.position[axis]) / (b.position[axis] - a.position[axis]);
        let mix = |a: f32, b: f32| a * (1.0 - l) + b * l;
        let mut vertex = Vertex {
            position: std::array::from_fn(|i| mix(a.position[i], b.position[i])),
            uv: std::array::from_fn(|i| mix(a.uv[i], b.uv[i])),
            color: std::array::from_fn(|i| mix(a.color[i], b.color[i])),
        };
        vertex.position[axis] = target;
        vertex
    };
    match outside.iter().filter(|&&outside| outside).count() {
        0 => out.push(triangle),
        1 => {
            let a = outside.iter().position(|&outside| outside).unwrap_or(0);
            let [b, c] = [(a + 1) % 3, (a + 2) % 3];
            let (ab, ac) = (cut(a, b), cut(a, c));
            out.extend([[ab, triangle[b], ac], [ac, triangle[b], triangle[c]]]);
        }
        2 => {
            let inner = outside.iter().position(|&outside| !outside).unwrap_or(0);
            out.push(std::array::from_fn(|i| if i == inner { triangle[i] } else { cut(i, inner) }));
        }
        _ => {}
    }
}
