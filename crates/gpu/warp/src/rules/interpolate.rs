//! Attributes at a pixel.

use super::Pairs;
use xenoglot_raster::each;
use xenoglot_raster::ops::Ops;

/// Least 1/w that texture coordinates are divided by.
const LEAST_W: f32 = 1e-5;
/// Greatest depth.
const FARTHEST: u16 = 0xffff;

/// What is interpolated over a primitive; see [`crate::Primitive`].
#[derive(Clone, Copy, Debug)]
pub struct Attributes<O: Ops> {
    /// Column and row of vertex a, in eighths.
    pub origin: [O::Int; 2],
    /// u/w of each vertex.
    pub u: [O::Float; 3],
    /// v/w of each vertex.
    pub v: [O::Float; 3],
    /// 1/w of each vertex.
    pub w: [O::Float; 3],
    /// Depth at a, and its gradients.
    pub z: [O::Float; 3],
    /// Gradients of j and k along a row.
    pub dx: [O::Float; 2],
    /// Gradients of j and k down a column.
    pub dy: [O::Float; 2],
    /// What is added to u and v.
    pub offset: [O::Float; 2],
    /// Channels, 0 to 255, of each vertex.
    pub color: [[O::Float; 3]; 4],
}

/// Where a pixel is in a triangle.
#[derive(Clone, Copy, Debug)]
pub struct Weights<O: Ops> {
    /// Eighths of a pixel from vertex a.
    from: [O::Float; 2],
    /// Weights of the vertices.
    vertices: [O::Float; 3],
}

/// Weights of the vertices at a pixel.
#[inline(always)]
pub fn weights<O: Ops>(o: &mut O, attributes: &Attributes<O>, place: [O::Int; 2]) -> Weights<O> {
    let from = each!([0, 1], axis => {
        let eighths = o.shl_by(place[axis], 3);
        let from = o.sub(eighths, attributes.origin[axis]);
        o.to_float(from)
    });
    let [j, k] = each!([0, 1], i => {
        let (x, y) = (o.fmul(attributes.dx[i], from[0]), o.fmul(attributes.dy[i], from[1]));
        o.fadd(x, y)
    });
    let one = o.float(1.0);
    let i = o.fsub(one, j);
    let i = o.fsub(i, k);
    Weights { from, vertices: [i, j, k] }
}

/// An attribute.
#[inline(always)]
fn weighted<O: Ops>(o: &mut O, values: [O::Float; 3], weights: &Weights<O>) -> O::Float {
    let [a, b, c] = each!([0, 1, 2], i => o.fmul(values[i], weights.vertices[i]));
    let sum = o.fadd(a, b);
    o.fadd(sum, c)
}

/// Depth, 16 bits.
#[inline(always)]
pub fn depth<O: Ops>(o: &mut O, attributes: &Attributes<O>, weights: &Weights<O>) -> O::Int {
    let [z, dx, dy] = attributes.z;
    let (x, y) = (o.fmul(dx, weights.from[0]), o.fmul(dy, weights.from[1]));
    let z = o.fadd(z, x);
    let z = o.fadd(z, y);
    let scale = o.float(FARTHEST.into());
    let z = o.fmul(scale, z);
    o.nearest(z, FARTHEST)
}

/// The colour. It is not corrected for perspective.
#[inline(always)]
pub fn color<O: Ops>(o: &mut O, attributes: &Attributes<O>, weights: &Weights<O>) -> Pairs<O::Int> {
    let [red, green, blue, alpha] = each!([0, 1, 2, 3], channel => {
        let value = weighted(o, attributes.color[channel], weights);
        o.nearest(value, 255)
    });
    [o.halves(red, blue), o.halves(green, alpha)]
}

/// Texture coordinates.
#[inline(always)]
pub fn coordinates<O: Ops>(o: &mut O, attributes: &Attributes<O>, weights: &Weights<O>) -> [O::Float; 2] {
    let w = weighted(o, attributes.w, weights);
    let least = o.float(LEAST_W);
    let w = o.fmax(w, least);
    each!([(attributes.u, attributes.offset[0]), (attributes.v, attributes.offset[1])], (values, offset) => {
        let value = weighted(o, values, weights);
        let value = o.fdiv(value, w);
        o.fadd(value, offset)
    })
}
