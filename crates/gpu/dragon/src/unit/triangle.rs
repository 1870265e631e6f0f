//! Vertices, and triangles set up for the rasteriser.

use crate::command::Cull;
use crate::cosim::Edge;
use crate::params::{MAX_BIN_SIZE, Params};
use serde::{Deserialize, Serialize};
use xenoglot_vpu::number::{LANES, Lanes};
use xenoglot_vpu::{Number, REGISTERS};

/// Most attributes of a vertex, the position among them.
pub(crate) const MAX_ATTRIBUTES: usize = REGISTERS - 1;
/// Bytes of an attribute in memory: four halves.
pub(crate) const ATTRIBUTE_BYTES: u32 = 8;
/// Fraction bits of pixel coordinates.
const SUBPIXEL: u32 = 4;
/// Fraction bits of what a vertex has in memory: depth, reciprocal of w, attributes.
const DEPTH_BITS: u32 = 16;
const RECIPROCAL_BITS: u32 = 15;
const ATTRIBUTE_BITS: u32 = 14;
/// Fraction bits of fixed-point weights.
const WEIGHT_BITS: u32 = 30;

/// A vertex as the cache holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Vertex {
    /// Sixteenths of a pixel.
    pub x: i32,
    pub y: i32,
    /// Depth, then 1/w.
    pub depth: [u32; 2],
    /// Attributes 1 and up.
    pub attributes: [Lanes; MAX_ATTRIBUTES],
}

impl Vertex {
    /// Whether its place is one that memory can hold.
    pub fn is_sound(&self) -> bool {
        [self.x, self.y].iter().all(|&v| i16::try_from(v).is_ok())
    }

    /// Reads a vertex: x and y in s11.4, depth in u0.16, 1/w in u1.15, then attributes of four s1.14.
    pub fn parse(bytes: &[u8], number: Number) -> Vertex {
        let half = |n: usize| bytes.get(2 * n..2 * n + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
        let signed = |n: usize| i32::from(half(n) as i16);
        let attribute = |a: usize, lane: usize| number.ratio(signed((a + 1) * LANES + lane), ATTRIBUTE_BITS);
        Vertex {
            x: signed(0),
            y: signed(1),
            depth: [number.ratio(half(2).into(), DEPTH_BITS), number.ratio(half(3).into(), RECIPROCAL_BITS)],
            attributes: std::array::from_fn(|a| std::array::from_fn(|lane| attribute(a, lane))),
        }
    }
}

/// What a draw says of its triangles.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub number: Number,
    /// Attributes of a vertex, the position among them.
    pub attributes: u8,
    pub perspective: bool,
    pub cull: Cull,
    /// The bin's first pixel and its size.
    pub bin: [u16; 2],
    pub size: u32,
}

impl Setup {
    /// Whether this state is valid for `params`.
    pub fn is_sound(&self, params: &Params) -> bool {
        let attributes = (1..=MAX_ATTRIBUTES).contains(&usize::from(self.attributes));
        self.number == params.number && self.size == params.bin_size && attributes
    }
}

/// A triangle ready to be rasterised. Serialised without what follows from its vertices.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "(Setup, [Vertex; 3])", into = "(Setup, [Vertex; 3])")]
pub(crate) struct Triangle {
    pub setup: Setup,
    /// Of the edges opposite vertices 0, 1 and 2.
    pub edges: [Edge; 3],
    area: i64,
    vertices: [Vertex; 3],
    /// Pixels of the bin that can be covered: first and last, both inside.
    pub first: [u32; 2],
    pub last: [u32; 2],
}

impl From<Triangle> for (Setup, [Vertex; 3]) {
    fn from(triangle: Triangle) -> (Setup, [Vertex; 3]) {
        (triangle.setup, triangle.vertices)
    }
}

impl TryFrom<(Setup, [Vertex; 3])> for Triangle {
    type Error = &'static str;

    fn try_from((setup, vertices): (Setup, [Vertex; 3])) -> Result<Triangle, &'static str> {
        let sound = setup.size <= MAX_BIN_SIZE && vertices.iter().all(Vertex::is_sound);
        let triangle = sound.then(|| Triangle::placed(setup, vertices)).flatten();
        triangle.ok_or("a triangle that covers nothing")
    }
}

/// Twice the area; positive for a clockwise triangle, as y grows downwards.
fn doubled_area(v: &[Vertex; 3]) -> i64 {
    let (x, y) = (|n: usize| i64::from(v[n].x - v[0].x), |n: usize| i64::from(v[n].y - v[0].y));
    x(1) * y(2) - x(2) * y(1)
}

impl Triangle {
    /// Sets up a triangle; `None` if nothing of it can be seen in the bin.
    pub fn new(setup: Setup, mut v: [Vertex; 3]) -> Option<Triangle> {
        let signed = doubled_area(&v);
        let culled = match setup.cull {
            Cull::None => false,
            Cull::Clockwise => signed > 0,
            Cull::CounterClockwise => signed < 0,
        };
        if culled || signed == 0 {
            return None;
        }
        if signed < 0 {
            v.swap(1, 2);
        }
        let mut triangle = Triangle::placed(setup, v)?;
        if setup.perspective {
            for v in &mut triangle.vertices {
                let reciprocal = v.depth[1];
                for a in &mut v.attributes[..usize::from(setup.attributes).saturating_sub(1)] {
                    *a = a.map(|lane| multiply(setup.number, lane, reciprocal));
                }
            }
        }
        Some(triangle)
    }

    /// The triangle of these vertices as they are, clockwise; `None` if nothing of it can be seen in the bin.
    fn placed(setup: Setup, v: [Vertex; 3]) -> Option<Triangle> {
        let area = doubled_area(&v);
        if area <= 0 {
            return None;
        }
        let mut first = [0; 2];
        let mut last = [0; 2];
        let axes = [v.map(|v| v.x), v.map(|v| v.y)];
        for (n, values) in axes.into_iter().enumerate() {
            let low = values.into_iter().fold(i32::MAX, i32::min);
            let high = values.into_iter().fold(i32::MIN, i32::max);
            let bin = i32::from(setup.bin[n]);
            let size = setup.size as i32;
            first[n] = ((low >> SUBPIXEL) - bin).max(0);
            last[n] = ((high >> SUBPIXEL) - bin).min(size - 1);
            if first[n] > last[n] {
                return None;
            }
        }
        let centre = |n: usize| (i64::from(setup.bin[n]) << SUBPIXEL) + (1 << (SUBPIXEL - 1));
        let edge = |a: &Vertex, b: &Vertex| {
            let (x, y) = (i64::from(b.x - a.x), i64::from(b.y - a.y));
            let value = x * (centre(1) - i64::from(a.y)) - y * (centre(0) - i64::from(a.x));
            // A top edge is level and goes right, a left edge goes up.
            let inside = (y == 0 && x > 0) || y < 0;
            Edge { value, dx: -y << SUBPIXEL, dy: x << SUBPIXEL, bias: i64::from(!inside) }
        };
        Some(Triangle {
            setup,
            edges: [edge(&v[1], &v[2]), edge(&v[2], &v[0]), edge(&v[0], &v[1])],
            area,
            vertices: v,
            first: first.map(|n| n as u32),
            last: last.map(|n| n as u32),
        })
    }

    /// The edge functions at a pixel of the bin.
    pub fn edges_at(&self, x: u32, y: u32) -> [i64; 3] {
        let (x, y) = (i64::from(x), i64::from(y));
        self.edges.map(|e| e.value + e.dx * x + e.dy * y)
    }

    /// Registers of the pixel where the edge functions of vertices 1 and 2 have these values: r0 is the position on the
    /// screen, rn attribute n.
    pub fn registers(&self, pixel: [u32; 2], e1: i64, e2: i64, registers: &mut [Lanes; REGISTERS]) {
        let Setup { number, attributes, perspective, bin, .. } = self.setup;
        let blend = Blend::new(number, e1, e2, self.area);
        let [a, b, c] = &self.vertices;
        let depth = |n: usize| blend.apply(a.depth[n], b.depth[n], c.depth[n]);
        let half = |n: usize| number.ratio(((i32::from(bin[n]) + pixel[n] as i32) << 1) + 1, 1);
        let reciprocal = depth(1);
        registers[0] = [half(0), half(1), depth(0), reciprocal];
        let count = usize::from(attributes).saturating_sub(1);
        let of = self.vertices.each_ref().map(|v| &v.attributes);
        for (n, register) in registers[1..].iter_mut().take(count).enumerate() {
            for (lane, v) in register.iter_mut().enumerate() {
                *v = blend.apply(of[0][n][lane], of[1][n][lane], of[2][n][lane]);
                if perspective {
                    *v = divide(number, *v, reciprocal);
                }
            }
        }
    }
}

/// Weights of vertices 1 and 2; vertex 0 has the rest.
enum Blend {
    /// In 2^-30, rounded down.
    Fixed(i64, i64),
    Float(f32, f32),
}

impl Blend {
    fn new(number: Number, e1: i64, e2: i64, area: i64) -> Blend {
        match number {
            Number::Fixed(_) => Blend::Fixed((e1 << WEIGHT_BITS) / area, (e2 << WEIGHT_BITS) / area),
            Number::Float => {
                let area = 1.0 / area as f32;
                Blend::Float(e1 as f32 * area, e2 as f32 * area)
            }
        }
    }

    fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        match *self {
            Blend::Fixed(w1, w2) => {
                let [a, b, c] = [a, b, c].map(|v| i64::from(v as i32));
                (a + (((b - a) * w1 + (c - a) * w2) >> WEIGHT_BITS)) as i32 as u32
            }
            Blend::Float(w1, w2) => {
                let [a, b, c] = [a, b, c].map(f32::from_bits);
                (a + (b - a) * w1 + (c - a) * w2).to_bits()
            }
        }
    }
}

fn multiply(number: Number, a: u32, b: u32) -> u32 {
    match number {
        Number::Fixed(f) => ((i64::from(a as i32) * i64::from(b as i32)) >> f.bits()) as u32,
        Number::Float => (f32::from_bits(a) * f32::from_bits(b)).to_bits(),
    }
}

/// `a / b`; 0 for a fixed-point division by zero.
fn divide(number: Number, a: u32, b: u32) -> u32 {
    match number {
        Number::Fixed(f) => {
            let quotient = (i64::from(a as i32) << f.bits()).checked_div(i64::from(b as i32)).unwrap_or(0);
            quotient.clamp(i32::MIN.into(), i32::MAX.into()) as u32
        }
        Number::Float => {
            let v = f32::from_bits(a) / f32::from_bits(b);
            if v.is_nan() { 0 } else { v.to_bits() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn setup() -> Setup {
        let (number, cull) = (Number::default(), Cull::None);
        Setup { number, attributes: 2, perspective: false, cull, bin: [0, 0], size: 32 }
    }

    fn covered(corners: [[i32; 2]; 3]) -> Vec<bool> {
        let vertices = corners.map(|[x, y]| Vertex { x, y, ..Vertex::default() });
        let mut out = vec![false; 32 * 32];
        let Some(t) = Triangle::new(setup(), vertices) else { return out };
        for y in t.first[1]..=t.last[1] {
            for x in t.first[0]..=t.last[0] {
                let inside = |e: &Edge| e.value + e.dx * i64::from(x) + e.dy * i64::from(y) >= e.bias;
                out[(y * 32 + x) as usize] = t.edges.iter().all(inside);
            }
        }
        out
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        /// A fan around any point inside covers each pixel of the square once.
        #[test]
        fn neighbours_share_no_pixel_and_leave_none(x in 1i32..511, y in 1i32..511, flip in any::<bool>()) {
            let square = [[0, 0], [512, 0], [512, 512], [0, 512]];
            let mut counts = vec![0; 32 * 32];
            for n in 0..4 {
                let mut corners = [square[n], square[(n + 1) % 4], [x, y]];
                if flip {
                    corners.swap(0, 1);
                }
                counts.iter_mut().zip(covered(corners)).for_each(|(c, covered)| *c += i32::from(covered));
            }
            prop_assert!(counts.iter().all(|&c| c == 1), "{counts:?}");
        }
    }
}
