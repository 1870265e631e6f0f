//! The program that sets triangles up on the device: what [`crate::raster::setup`] does, in the same integers and the same pinned
//! arithmetic of floats, as IR. An invocation takes the vertices of a triangle, whose order makes its area positive, and leaves the
//! record that tile programs and binning read ([`crate::fragment::tile::TRIANGLE_BYTES`]).

use xenoglot_ir::module::{Access, Builtin};
use xenoglot_ir::{Builder, Flags, Function, Module, Op, Stage, Type, Value};
use xenoglot_raster::HalfPlanes;
use xenoglot_raster::ops::{Emit, Ops};

use super::corners::POSITION;
use super::kernels::{GROUP, PARAMS, params};
use crate::fragment::tile::{ATTRIBUTE_BYTES, TRIANGLE_BYTES};
use crate::raster::framebuffer::Size;
use crate::raster::setup::Screen;

/// Words of a record before its attributes, and of an attribute.
const HEADER: u32 = TRIANGLE_BYTES / 4;
const ATTRIBUTE: u32 = ATTRIBUTE_BYTES / 4;
/// Weights of this magnitude and more count as wrapping around. Below 2^31 by a margin, as the estimate is in floats.
const FAR: f32 = 1e9;
/// How far beyond a triangle's bounds binning evaluates weights, in pixels.
const BEYOND: i32 = 128;
/// More than the distance of any two coordinates.
const FARTHEST: i32 = 0x1_ffff;
/// The middle of a pixel, in sixteenths.
const MIDDLE: i32 = 8;

/// Parameters of a draw.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// Attributes of a vertex.
    pub attributes: u32,
    /// Viewport and scissor.
    pub screen: &'a Screen,
    /// Size of the buffers.
    pub size: Size,
    /// The pixel that triangles count from: column and row from above.
    pub origin: [u32; 2],
    /// How far samples lie from the middle of their pixel, in sixteenths.
    pub reach: u16,
}

impl Draw<'_> {
    /// The parameters for so many triangles, whose vertices and numbers of vertices begin at these words of the buffer.
    pub fn params(&self, count: u32, [vertices, corners]: [u32; 2]) -> [u32; PARAMS] {
        let [[half_width, half_height], [x, y]] = self.screen.viewport().map(|of| of.map(f32::to_bits));
        let inside = self.screen.inside();
        let [x0, y0, x1, y1] = [inside.x0, inside.y0, inside.x1, inside.y1].map(|edge| edge as u32);
        let [column, row] = self.origin;
        params(&[
            count,
            self.attributes,
            vertices,
            corners,
            half_width,
            half_height,
            x,
            y,
            x0,
            y0,
            x1,
            y1,
            self.size.height.saturating_sub(1),
            column,
            row,
            self.reach.into(),
        ])
    }

    /// Words of a record.
    pub fn record_words(&self) -> u32 {
        HEADER + ATTRIBUTE * self.attributes
    }
}

/// The program; buffers are those of [`super::kernels::Kernels::layout`].
pub fn program() -> Module {
    let mut func = Function::new("main");
    let entry = func.add_block();
    let mut module = Module::new(Stage::Compute, "pica setup");
    module.workgroup = [GROUP, 1, 1];
    let o = &mut Emit::new(Builder::new(&mut func, entry), module);
    let draw = o.uniform("draw", 0, PARAMS as u32 * 4);
    let vertices = o.storage("vertices", 1, Access::Read);
    let records = o.storage("records", 2, Access::ReadWrite);
    let three = Type::I32.with_lanes(3).unwrap_or(Type::I32);
    let group = o.builtin("group", Builtin::WorkgroupId, three);
    let lane = o.builtin("lane", Builtin::LocalInvocationIndex, Type::I32);
    let group = o.b.extract(group, 0);
    let first = o.times(group, GROUP as i32);
    let number = o.add(first, lane);
    let params: [Value; PARAMS] = std::array::from_fn(|i| o.uniform_word(draw, i as u32));
    let is_one = o.less(number, params[0]);
    o.when(is_one, [], |o| {
        let invocation = Invocation { params, number };
        let words = invocation.set_up(o, |o, at| o.word(vertices, at));
        let base = invocation.record(o);
        for (at, word) in words.header {
            let at = o.add_to(base, at);
            o.set_word(records, at, word);
        }
        o.count(params[1], [], |o, attribute, []| {
            let to = o.times(attribute, ATTRIBUTE as i32);
            let to = o.add(base, to);
            for (vertex, (corner, inverse_w)) in (0..).zip(words.corners.into_iter().zip(words.inverse_w)) {
                let at = o.add(corner, attribute);
                let value = o.word_at(vertices, at, POSITION as u32);
                let value = o.float_of_bits(value);
                let value = multiply(o, value, inverse_w);
                let value = o.bits(value);
                let at = o.add_to(to, (HEADER + vertex) as i32);
                o.set_word(records, at, value);
            }
            []
        });
        []
    });
    o.b.ret(&[]);
    let mut module = std::mem::replace(&mut o.module, Module::new(Stage::Compute, ""));
    module.entry = Some(module.funcs.push(func)).into();
    module
}

struct Invocation {
    params: [Value; PARAMS],
    /// Of the triangle.
    number: Value,
}

/// What is known of a triangle.
struct Words {
    /// Places in the record, and what goes there.
    header: Vec<(i32, Value)>,
    /// Where its corners begin.
    corners: [Value; 3],
    inverse_w: [Value; 3],
}

/// A position in sixteenths of a pixel.
type Point = [Value; 2];

impl Invocation {
    /// The first word of the record.
    fn record(&self, o: &mut Emit<'_>) -> Value {
        let words = o.times(self.params[1], ATTRIBUTE as i32);
        let words = o.add_to(words, HEADER as i32);
        o.mul(self.number, words)
    }

    fn set_up(&self, o: &mut Emit<'_>, mut load: impl FnMut(&mut Emit<'_>, Value) -> Value) -> Words {
        let [_, attributes, vertices, numbers, half_width, half_height, corner_x, corner_y, ..] = self.params;
        let size = o.add_to(attributes, POSITION as i32);
        let before = o.times(self.number, 3);
        let corners = [0, 1, 2].map(|i| {
            let at = o.add_to(before, i);
            let at = o.add(numbers, at);
            let number = load(o, at);
            let at = o.mul(number, size);
            o.add(vertices, at)
        });
        let positions = corners.map(|corner| {
            [0, 1, 2, 3].map(|i| {
                let at = o.add_to(corner, i);
                let word = load(o, at);
                o.float_of_bits(word)
            })
        });
        let one = o.float(1.0);
        let inverse_w = positions.map(|[_, _, _, w]| o.fdiv(one, w));
        let viewport = [(half_width, corner_x), (half_height, corner_y)]
            .map(|(half, corner)| (o.float_of_bits(half), o.float_of_bits(corner)));
        let points = [0, 1, 2].map(|i: usize| {
            let of = [(positions[i][0], viewport[0]), (positions[i][1], viewport[1])];
            of.map(|(value, viewport)| to_fixed(o, value, inverse_w[i], viewport))
        });
        let mut header = self.half_planes(o, points);
        for (i, (at, inverse)) in (0..).zip(positions.into_iter().zip(inverse_w)) {
            let z = multiply(o, at[2], inverse);
            header.extend([(12 + i, o.bits(inverse)), (16 + i, o.bits(z))]);
        }
        Words { header, corners, inverse_w }
    }

    /// The record's first words, and the sum of the weights.
    fn half_planes(&self, o: &mut Emit<'_>, points: [Point; 3]) -> Vec<(i32, Value)> {
        let [.., top, origin_x, origin_row, reach] = self.params;
        let [[x0, x1], [y0, y1]] = self.bounds(o, points);
        let above = o.add_to(top, 1);
        let (row0, row1) = (o.sub(above, y1), o.sub(above, y0));
        let [columns, rows] = [([x0, x1], origin_x), ([row0, row1], origin_row)]
            .map(|(ends, origin)| ends.map(|end| o.sub(end, origin)));
        let mut words: Vec<(i32, Value)> = [(3, columns), (7, rows)]
            .into_iter()
            .map(|(at, [first, end])| {
                let first = o.and_with(first, 0xffff);
                (at, o.halves(first, end))
            })
            .collect();
        let y = o.sub(top, origin_row);
        let mut sum = o.int(0);
        let mut is_far = o.bool(false);
        for i in 0..3usize {
            let [v, a, b] = [0, 1, 2].map(|n| points[(i + n) % 3]);
            let [weight, right, up] = weight(o, v, a, b);
            sum = o.add(sum, weight);
            let along = o.mul(right, origin_x);
            let at = o.add(weight, along);
            let along = o.mul(up, y);
            let at = o.add(at, along);
            let zero = o.int(0);
            let down = o.sub(zero, up);
            words.extend((0..).step_by(4).map(|word| word + i as i32).zip([at, right, down]));
            let far = is_beyond(o, at, [(right, columns[1]), (down, rows[1])]);
            is_far = o.either(is_far, far);
        }
        let (wraps, no) = (o.int(HalfPlanes::WRAPS as i32), o.int(0));
        let wraps = o.select(is_far, wraps, no);
        let sum = o.to_float(sum);
        words.extend([(11, o.or(reach, wraps)), (15, o.bits(sum))]);
        words
    }

    /// Columns and rows from below that may be covered, first and last plus one.
    fn bounds(&self, o: &mut Emit<'_>, points: [Point; 3]) -> [[Value; 2]; 2] {
        let [.., x0, y0, x1, y1, _, _, _, _] = self.params;
        [(0, x0, x1), (1, y0, y1)].map(|(axis, first, end): (usize, _, _)| {
            let [a, b, c] = points.map(|point| point[axis]);
            let (low, high) = (o.min(a, b), o.max(a, b));
            let (low, high) = (o.min(low, c), o.max(high, c));
            let low = o.sar_by(low, 4);
            let high = o.add_to(high, 15);
            let high = o.and_with(high, 0xffff);
            let high = o.shr_by(high, 4);
            [o.max(low, first), o.min(high, end)]
        })
    }
}

/// Whether a weight may wrap around between the first pixel and those behind a triangle's bounds.
fn is_beyond(o: &mut Emit<'_>, at: Value, steps: [(Value, Value); 2]) -> Value {
    let at = o.to_float(at);
    let mut most = o.fabs(at);
    for (step, end) in steps {
        let end = o.add_to(end, BEYOND);
        let (step, end) = (o.to_float(step), o.to_float(end));
        let along = o.fmul(step, end);
        let along = o.fabs(along);
        most = o.fadd(most, along);
    }
    let far = o.float(FAR);
    o.fless(far, most)
}

/// A coordinate divided by w in sixteenths of a pixel; 16 bits.
fn to_fixed(o: &mut Emit<'_>, value: Value, inverse_w: Value, (half, corner): (Value, Value)) -> Value {
    let (one, sixteen) = (o.float(1.0), o.float(16.0));
    let device = multiply(o, value, inverse_w);
    let device = o.fadd(device, one);
    let position = multiply(o, device, half);
    let position = o.fadd(position, corner);
    let position = o.fmul(position, sixteen);
    let rounded = round_half_away(o, position);
    o.and_with(rounded, 0xffff)
}

/// Twice the signed area; 32 bits.
fn area(o: &mut Emit<'_>, a: Point, b: Point, c: Point) -> Value {
    let [[bx, by], [cx, cy]] = [b, c].map(|p| [o.sub(p[0], a[0]), o.sub(p[1], a[1])]);
    let (left, right) = (o.mul(bx, cy), o.mul(by, cx));
    o.sub(left, right)
}

/// Weight of vertex `v`, opposite to the edge from `a` to `b`, at the sample of pixel (0, 0), and its steps to the right and upwards.
fn weight(o: &mut Emit<'_>, v: Point, a: Point, b: Point) -> [Value; 3] {
    let sample = [o.int(MIDDLE); 2];
    let (at_sample, bias) = (area(o, a, b, sample), bias(o, v, a, b));
    let steps = [(a[1], b[1]), (b[0], a[0])].map(|(to, from)| {
        let step = o.sub(to, from);
        o.shl_by(step, 4)
    });
    [o.add(at_sample, bias), steps[0], steps[1]]
}

/// The fill rule's bias: -1 for right and flat bottom edges. Differences have 16 bits, so their product fits 32; the quotient is
/// clamped to a value farther than any coordinate.
fn bias(o: &mut Emit<'_>, v: Point, a: Point, b: Point) -> Value {
    let (run, along, rise) = (o.sub(b[0], a[0]), o.sub(v[1], a[1]), o.sub(b[1], a[1]));
    let [runs, alongs, rises] = [run, along, rise].map(|value| {
        let zero = o.int(0);
        let negated = o.sub(zero, value);
        o.max(value, negated)
    });
    let (zero, one, farthest) = (o.int(0), o.int(1), o.int(FARTHEST));
    let product = o.mul(runs, alongs);
    let divisor = o.max(rises, one);
    let quotient = o.b.op(Op::Udiv, &[product, divisor]);
    let (high, above) = (o.less(quotient, zero), o.less(farthest, quotient));
    let is_far = o.either(high, above);
    let quotient = o.select(is_far, farthest, quotient);
    let signs = o.xor(run, along);
    let signs = o.xor(signs, rise);
    let is_negative = o.less(signs, zero);
    let negated = o.sub(zero, quotient);
    let quotient = o.select(is_negative, negated, quotient);
    let beside = o.sub(v[0], a[0]);
    let (is_flat, is_below, is_right) = (o.equal(rise, zero), o.less(v[1], a[1]), o.less(beside, quotient));
    let minus_one = o.int(-1);
    let [below, right] = [is_below, is_right].map(|excluded| o.select(excluded, minus_one, zero));
    o.select(is_flat, below, right)
}

/// Whether a float is not a NaN.
fn is_number(o: &mut Emit<'_>, value: Value) -> Value {
    let (zero, one) = (o.float(0.0), o.float(1.0));
    let (above, below) = (o.fless(zero, value), o.fless(value, one));
    o.either(above, below)
}

/// A product as the chip computes it: 0 instead of NaN for zero times infinity.
fn multiply(o: &mut Emit<'_>, a: Value, b: Value) -> Value {
    let product = o.fmul(a, b);
    let of_numbers = [a, b].map(|value| is_number(o, value));
    let of_numbers = o.both(of_numbers[0], of_numbers[1]);
    let is_one = is_number(o, product);
    let is_nan = o.not(is_one);
    let is_made = o.both(of_numbers, is_nan);
    let zero = o.float(0.0);
    o.fselect(is_made, zero, product)
}

/// Rounded, halves away from zero; what does not fit counts as the least integer.
fn round_half_away(o: &mut Emit<'_>, value: Value) -> Value {
    let (low, high) = (o.float(-2_147_483_648.0), o.float(2_147_483_648.0));
    let (above, below) = (o.fless(low, value), o.fless(value, high));
    let fits = o.both(above, below);
    let within = o.fselect(fits, value, low);
    let whole = o.b.convert(Op::F2s, Flags::NONE.with_clamp(), within, Type::I32);
    let float = o.to_float(whole);
    let rest = o.fsub(value, float);
    let (half, minus_half) = (o.float(0.5), o.float(-0.5));
    let (zero, one) = (o.int(0), o.int(1));
    let (short, beyond) = (o.fless(rest, half), o.fless(minus_half, rest));
    let is_rest = is_number(o, rest);
    let [up, down] = [short, beyond].map(|not| {
        let holds = o.not(not);
        let holds = o.both(is_rest, holds);
        o.select(holds, one, zero)
    });
    let whole = o.add(whole, up);
    o.sub(whole, down)
}
