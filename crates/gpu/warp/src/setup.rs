//! Triangle setup: screen positions to edges and gradients.

use crate::primitive::Primitive;
use xenoglot_raster::{Bounds, Edges};

/// Which triangles are dropped, by their order on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cull {
    /// None.
    #[default]
    None,
    /// Those that are not counter-clockwise.
    CounterClockwiseOnly,
    /// Those that are not clockwise.
    ClockwiseOnly,
}

/// A vertex. Before clipping `position` is in clip space; after it is column, row, depth and 1/w.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex {
    /// x, y, z, w.
    pub position: [f32; 4],
    /// Texture coordinates, in texels.
    pub uv: [f32; 2],
    /// Red, green, blue, alpha, 0 to 1.
    pub color: [f32; 4],
}

/// The nearest integer, halves away from zero, within bounds; 0 for a NaN.
fn nearest(value: f32, low: i32, high: i32) -> i32 {
    (value.round() as i32).clamp(low, high)
}

/// Sets up a triangle in screen space whose u and v are divided by w, less these offsets; `None` if it is dropped.
pub fn set_up(vertices: [&Vertex; 3], offset: [i16; 2], cull: Cull) -> Option<Primitive> {
    let at = |v: &Vertex| {
        let [x, y] = [v.position[0], v.position[1]];
        [x, y].map(|v| nearest(v * 8.0, i16::MIN.into(), i16::MAX.into()))
    };
    let mut sorted = vertices.map(|vertex| (at(vertex), vertex));
    let area = |[a, b, c]: [[i32; 2]; 3]| {
        let product = |dx: i32, dy: i32| i64::from(dx) * i64::from(dy);
        product(b[0] - a[0], c[1] - a[1]) - product(b[1] - a[1], c[0] - a[0])
    };
    let signed = area(sorted.map(|(at, _)| at));
    let dropped = match cull {
        Cull::None => signed == 0,
        Cull::CounterClockwiseOnly => signed >= 0,
        Cull::ClockwiseOnly => signed <= 0,
    };
    if dropped {
        return None;
    }
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        let key = |(at, _): &([i32; 2], &Vertex)| [at[1], at[0]];
        if key(&sorted[j]) < key(&sorted[i]) {
            sorted.swap(i, j);
        }
    }
    let places = sorted.map(|(at, _)| at);
    let edges = Edges::new(places, Bounds::default());
    let [a, b, c] = places;
    let difference = |from: [i32; 2], to: [i32; 2]| [to[0] - from[0], to[1] - from[1]].map(|v| v as f32);
    let ([ab_x, ab_y], [bc_x, bc_y], [ca_x, ca_y]) = (difference(a, b), difference(b, c), difference(c, a));
    let r = 1.0 / area(places) as f32;
    let [z_a, z_b, z_c] = sorted.map(|(_, vertex)| vertex.position[2]);
    let of = |value: fn(&Vertex) -> f32| sorted.map(|(_, vertex)| value(vertex));
    Some(Primitive {
        x: edges.x,
        slope: edges.slope,
        y: edges.y.map(|y| y as i16),
        flags: Primitive::PERSPECTIVE | if edges.right_major { Primitive::RIGHT_MAJOR } else { 0 },
        u: of(|vertex| vertex.uv[0]),
        v: of(|vertex| vertex.uv[1]),
        w: of(|vertex| vertex.position[3]),
        color: sorted.map(|(_, vertex)| vertex.color.map(|channel| nearest(255.0 * channel, 0, 255) as u8)),
        z: [z_a, -r * ((ab_y * z_c + ca_y * z_b) + bc_y * z_a), r * ((ab_x * z_c + ca_x * z_b) + bc_x * z_a)],
        dx: [-r * ca_y, -r * ab_y],
        dy: [r * ca_x, r * ab_x],
        offset,
    })
}
