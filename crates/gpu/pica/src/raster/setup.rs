//! From clipped triangles to what coverage and interpolation need.

use xenoglot_pica_shader::float::F24;

use super::batch::{multiply, round_half_away, semantic};
use super::framebuffer::Size;
use crate::regs::{self, Registers};
use crate::vertex::Vertex;

/// Which triangles are kept, counter-clockwise meaning positive area with y upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Culling {
    None,
    KeepClockwise,
    KeepCounterClockwise,
}

/// A rectangle of pixels; the ends are exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rectangle {
    /// First column.
    pub x0: i32,
    /// First row, from below.
    pub y0: i32,
    /// Column after the last.
    pub x1: i32,
    /// Row after the last.
    pub y1: i32,
}

impl Rectangle {
    /// Whether the pixel lies in it.
    pub fn contains(&self, x: i32, y: i32) -> bool {
        self.x0 <= x && x < self.x1 && self.y0 <= y && y < self.y1
    }

    /// Whether the two have a pixel in common.
    pub fn meets(&self, other: &Rectangle) -> bool {
        self.x0 < other.x1 && other.x0 < self.x1 && self.y0 < other.y1 && other.y0 < self.y1
    }

    fn intersection(&self, other: &Rectangle) -> Rectangle {
        Rectangle {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// How many pixels it has.
    pub fn pixels(&self) -> u64 {
        u64::from((self.x1 - self.x0).max(0).unsigned_abs())
            * u64::from((self.y1 - self.y0).max(0).unsigned_abs())
    }

    fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
}

/// Viewport, culling and scissor of a draw.
#[derive(Clone, Debug)]
pub struct Screen {
    half_size: [f32; 2],
    corner: [f32; 2],
    culling: Culling,
    /// Where pixels may be: the buffer, and the scissor rectangle in mode "inside".
    inside: Rectangle,
    /// Where pixels are dropped: the scissor rectangle in mode "outside".
    pub outside: Option<Rectangle>,
    /// Attributes that pixels need, by semantic.
    pub attributes: Vec<u8>,
}

impl Screen {
    /// Decodes the registers for a colour buffer of `size`.
    pub fn decode(regs: &Registers, size: Size, attributes: Vec<u8>) -> Screen {
        let corner = |lo| (regs.bits(regs::VIEWPORT_CORNER, lo, 10) << 22) as i32 >> 22;
        let scissor = Rectangle {
            x0: regs.bits(regs::SCISSOR_START, 0, 10) as i32,
            y0: regs.bits(regs::SCISSOR_START, 16, 10) as i32,
            x1: regs.bits(regs::SCISSOR_END, 0, 10) as i32 + 1,
            y1: regs.bits(regs::SCISSOR_END, 16, 10) as i32 + 1,
        };
        let buffer = Rectangle { x0: 0, y0: 0, x1: size.width as i32, y1: size.height as i32 };
        let mode = regs.bits(regs::SCISSOR_MODE, 0, 2);
        Screen {
            half_size: [regs::VIEWPORT_HALF_WIDTH, regs::VIEWPORT_HALF_HEIGHT]
                .map(|register| F24.to_f32(regs.get(register))),
            corner: [corner(0) as f32, corner(16) as f32],
            culling: match regs.bits(regs::CULLING, 0, 2) {
                1 => Culling::KeepClockwise,
                2 => Culling::KeepCounterClockwise,
                _ => Culling::None,
            },
            inside: if mode == 3 { buffer.intersection(&scissor) } else { buffer },
            outside: (mode == 1).then_some(scissor),
            attributes,
        }
    }
}

/// Weights are below 2^31, so their products with attributes below this, and sums of these, stay far from overflow.
pub const LIMIT: f32 = 1e25;

/// Whether 1/w is one with which products of weights and attributes are numbers.
pub fn is_moderate(inverse_w: f32) -> bool {
    1.0 / LIMIT < inverse_w && inverse_w < LIMIT
}

/// Where a vertex is on the screen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Located {
    point: Point,
    /// 1/w.
    pub inverse_w: f32,
}

/// Where a triangle is on the screen. Its vertices are in an order that makes its area positive.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Which vertex each one is.
    pub order: [usize; 3],
    points: [Point; 3],
    /// 1/w.
    pub inverse_w: [f32; 3],
    /// Pixels that may be covered; not empty.
    pub bounds: Rectangle,
    /// Twice the area, in 1/256 of a pixel: the sum of the weights is this or up to three less.
    pub area: i32,
}

/// A triangle on the screen.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Weight of each vertex at the sample of pixel (0, 0), bias included, and what a pixel to the right and a pixel
    /// upwards add.
    pub weights: [[i32; 3]; 3],
    /// Sum of the three weights, the same everywhere.
    pub weight_sum: i32,
    /// Pixels that may be covered; not empty.
    pub bounds: Rectangle,
    /// 1/w of each vertex.
    pub inverse_w: [f32; 3],
    /// z/w of each vertex.
    pub z: [f32; 3],
    /// Attributes divided by w: one value per vertex, by semantic. Only those that pixels need are valid.
    pub attributes: [[f32; 3]; semantic::COUNT],
    /// Whether products of weights and attributes are all numbers.
    pub finite: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            weights: [[0; 3]; 3],
            weight_sum: 0,
            bounds: Rectangle::default(),
            inverse_w: [0.0; 3],
            z: [0.0; 3],
            attributes: [[0.0; 3]; semantic::COUNT],
            finite: false,
        }
    }
}

impl Setup {
    /// Sets up a triangle; `false` if it covers nothing.
    pub fn prepare(&mut self, screen: &Screen, vertices: [&Vertex; 3]) -> bool {
        let Some(placed) = screen.place(vertices) else { return false };
        let Placed { order, points, inverse_w, bounds, .. } = placed;
        self.bounds = bounds;
        self.weights = std::array::from_fn(|i| weight(points[i], points[(i + 1) % 3], points[(i + 2) % 3]));
        self.weight_sum = self.weights.iter().fold(0, |sum: i32, weight| sum.wrapping_add(weight[0]));
        self.inverse_w = inverse_w;
        self.set_attributes(screen, order.map(|i| vertices[i]));
        true
    }

    fn set_attributes(&mut self, screen: &Screen, vertices: [&Vertex; 3]) {
        let over_w = |semantic: usize| -> [f32; 3] {
            std::array::from_fn(|i| multiply(vertices[i].values[semantic], self.inverse_w[i]))
        };
        let mut finite = self.weight_sum > 0 && self.inverse_w.iter().all(|&inverse| is_moderate(inverse));
        for &semantic in &screen.attributes {
            let values = over_w(usize::from(semantic));
            finite &= values.iter().all(|value| value.abs() < LIMIT);
            self.attributes[usize::from(semantic)] = values;
        }
        self.z = over_w(2);
        self.finite = finite;
    }
}

/// A position in sixteenths of a pixel.
type Point = [i32; 2];

impl Screen {
    /// Finds out where a triangle is; nothing if it covers nothing.
    #[inline]
    pub fn place(&self, vertices: [&Vertex; 3]) -> Option<Placed> {
        self.place_located(vertices.map(|vertex| self.locate(vertex)))
    }

    /// Finds out where a vertex is.
    #[inline]
    pub fn locate(&self, vertex: &Vertex) -> Located {
        let inverse_w = 1.0 / vertex.values[3];
        Located { point: self.to_fixed(&vertex.values, inverse_w), inverse_w }
    }

    /// The same of a triangle whose vertices are located.
    #[inline]
    pub fn place_located(&self, vertices: [Located; 3]) -> Option<Placed> {
        let points = vertices.map(|vertex| vertex.point);
        let area = area(points[0], points[1], points[2]);
        let (order, area) = match self.culling {
            Culling::KeepCounterClockwise => ([0, 1, 2], area),
            Culling::KeepClockwise => ([0, 2, 1], area.wrapping_neg()),
            Culling::None if area < 0 => ([0, 2, 1], area.wrapping_neg()),
            Culling::None => ([0, 1, 2], area),
        };
        // Without area there is no weight to divide by: such triangles cover nothing even if they are not culled.
        if area <= 0 {
            return None;
        }
        let points = order.map(|i| points[i]);
        let bounds = bounds(points).intersection(&self.inside);
        let inverse_w = order.map(|i| vertices[i].inverse_w);
        (!bounds.is_empty()).then_some(Placed { order, points, inverse_w, bounds, area })
    }

    /// Half the viewport's width and height, and its corner.
    pub fn viewport(&self) -> [[f32; 2]; 2] {
        [self.half_size, self.corner]
    }

    /// Where pixels may be, whatever the scissor drops.
    pub fn inside(&self) -> Rectangle {
        self.inside
    }

    fn to_fixed(&self, values: &[f32; semantic::COUNT], inverse_w: f32) -> Point {
        std::array::from_fn(|axis| {
            let device = multiply(values[axis], inverse_w) + 1.0;
            let position = multiply(device, self.half_size[axis]) + self.corner[axis];
            i32::from(round_half_away(position * 16.0) as u16)
        })
    }
}

/// Twice the signed area, in 1/256 of a pixel; 32 bits.
fn area(a: Point, b: Point, c: Point) -> i32 {
    let (bx, by) = (b[0] - a[0], b[1] - a[1]);
    let (cx, cy) = (c[0] - a[0], c[1] - a[1]);
    bx.wrapping_mul(cy).wrapping_sub(by.wrapping_mul(cx))
}

/// Weight of vertex `v` opposite to the edge from `a` to `b`: its value at the sample of pixel (0, 0), and its steps.
fn weight(v: Point, a: Point, b: Point) -> [i32; 3] {
    const SAMPLE: Point = [8, 8];
    let at_origin = area(a, b, SAMPLE).wrapping_add(bias(v, a, b));
    [at_origin, (a[1] - b[1]) * 16, (b[0] - a[0]) * 16]
}

/// -1 for right and flat bottom edges, which do not own the samples on them.
fn bias(v: Point, a: Point, b: Point) -> i32 {
    let excluded = if a[1] == b[1] {
        v[1] < a[1]
    } else {
        let [run, along, rise] = [b[0] - a[0], v[1] - a[1], b[1] - a[1]].map(i64::from);
        i64::from(v[0]) < i64::from(a[0]) + run * along / rise
    };
    -i32::from(excluded)
}

/// The pixels whose squares a triangle touches. The upper ends are rounded up in 16 bits, as the positions are.
fn bounds(points: [Point; 3]) -> Rectangle {
    let min = |axis: usize| points[0][axis].min(points[1][axis]).min(points[2][axis]) >> 4;
    let max = |axis: usize| ((points[0][axis].max(points[1][axis]).max(points[2][axis]) + 15) & 0xffff) >> 4;
    Rectangle { x0: min(0), y0: min(1), x1: max(0), y1: max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_is_positive_counter_clockwise() {
        assert_eq!(area([0, 0], [16, 0], [0, 16]), 256);
        assert_eq!(area([0, 0], [0, 16], [16, 0]), -256);
    }

    #[test]
    fn right_and_bottom_edges_are_excluded() {
        // A square of two triangles around the sample (8, 8): each edge through it belongs to one side only.
        assert_eq!(bias([0, 16], [0, 0], [16, 0]), 0, "flat edge below the vertex");
        assert_eq!(bias([0, 0], [16, 16], [0, 16]), -1, "flat edge above the vertex");
        assert_eq!(bias([16, 8], [8, 16], [8, 0]), 0, "edge on the left");
        assert_eq!(bias([0, 8], [8, 0], [8, 16]), -1, "edge on the right");
    }

    #[test]
    fn weights_step_as_areas_do() {
        let (v, a, b) = ([100, 500], [35, 20], [400, 77]);
        let [base, dx, dy] = weight(v, a, b);
        for (x, y) in [(0, 0), (3, 0), (0, 5), (20, 9)] {
            let direct = area(a, b, [16 * x + 8, 16 * y + 8]) + bias(v, a, b);
            assert_eq!(base + x * dx + y * dy, direct);
        }
    }

    #[test]
    fn bounds_are_whole_pixels() {
        assert_eq!(bounds([[17, 0], [32, 1], [20, 33]]), Rectangle { x0: 1, y0: 0, x1: 2, y1: 3 });
    }
}
