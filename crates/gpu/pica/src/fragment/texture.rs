//! The texture units: the nearest texel of the base level, found with the chip's own arithmetic in a buffer of decoded
//! texels, so that the host's samplers have no say.

use xenoglot_ir::{Op, Type, Value};

use super::emit::{Emit, Storage};
use super::key::{ImageKey, UnitKey};
use super::layout::{UNIT_STRIDE, UNITS};
use crate::raster::batch::semantic;
use crate::raster::sample::{Kind, Wrap};

const DEPTH_MAX: f32 = 16_777_215.0;

/// A place in an image.
struct Place {
    u: Value,
    v: Value,
    /// Face of a cube.
    face: Option<Value>,
    /// Distance to compare with a shadow map.
    depth: Option<Value>,
}

/// The colour of unit `unit`.
pub fn sample(emit: &mut Emit, unit: usize, key: &UnitKey) -> [Value; 4] {
    match key {
        UnitKey::Constant(color) => color.map(|channel| emit.i32(channel.into())),
        UnitKey::Image(image) => Sampler { unit, image, base: UNITS + UNIT_STRIDE * unit as u32 }.run(emit),
    }
}

struct Sampler<'a> {
    unit: usize,
    image: &'a ImageKey,
    /// Of the unit's values in the uniform buffer.
    base: u32,
}

impl Sampler<'_> {
    fn run(&self, emit: &mut Emit) -> [Value; 4] {
        let place = self.place(emit);
        let (width, height) = (emit.uniform_i32(self.base), emit.uniform_i32(self.base + 4));
        let (s, outside_s) = self.texel_coordinate(emit, place.u, width, 0);
        let (t, outside_t) = self.texel_coordinate(emit, place.v, height, 1);
        // The first row is the top one.
        let one = emit.i32(1);
        let last = emit.isub(height, one);
        let mut row = emit.isub(last, t);
        if let Some(face) = place.face {
            let first = emit.imul(face, height);
            row = emit.iadd(row, first);
        }
        let index = emit.imul(row, width);
        let index = emit.iadd(index, s);
        let texel = emit.load_word(Storage::Texture(self.unit), index);
        let mut color = emit.bytes_of(texel);
        let outside = match (outside_s, outside_t) {
            (Some(s), Some(t)) => Some(emit.or(s, t)),
            (s, t) => s.or(t),
        };
        if let Some(outside) = outside {
            let border = emit.uniform(self.base + 16, Type::I32X4);
            for (lane, channel) in (0..).zip(&mut color) {
                let border = emit.b.extract(border, lane);
                *channel = emit.select(outside, border, *channel);
            }
        }
        match place.depth {
            Some(depth) if self.image.kind.is_shadow() => self.compare(emit, color, depth),
            _ => color,
        }
    }

    fn place(&self, emit: &mut Emit) -> Place {
        let attributes = emit.attributes(self.image.coordinates);
        let [mut u, mut v] = [0, 1].map(|lane| emit.b.extract(attributes, lane));
        let (mut face, mut depth) = (None, None);
        let third = |emit: &mut Emit| {
            let attributes = emit.attributes(semantic::TEX0);
            emit.b.extract(attributes, 2)
        };
        match self.image.kind {
            Kind::Flat => {}
            Kind::Projection | Kind::Shadow { .. } => {
                let w = third(emit);
                if self.image.kind != (Kind::Shadow { perspective: false }) {
                    (u, v) = (emit.fdiv(u, w), emit.fdiv(v, w));
                }
                depth = Some(emit.abs(w));
            }
            Kind::Cube | Kind::ShadowCube => {
                let w = third(emit);
                let (number, [x, y, z]) = cube_face(emit, u, v, w);
                let half = emit.f32(0.5);
                [u, v] = [x, y].map(|value| {
                    let value = emit.fdiv(value, z);
                    let value = emit.fmul(value, half);
                    emit.fadd(value, half)
                });
                face = Some(number);
                depth = Some(emit.abs(z));
            }
        }
        Place { u, v, face, depth }
    }

    /// The texel's column or row, and whether the border shows instead.
    fn texel_coordinate(
        &self,
        emit: &mut Emit,
        coordinate: Value,
        size: Value,
        axis: usize,
    ) -> (Value, Option<Value>) {
        let scale = emit.float(size);
        let place = emit.fmul(coordinate, scale);
        let c = emit.truncate(place);
        let (zero, one) = (emit.i32(0), emit.i32(1));
        let last = emit.isub(size, one);
        let masked = self.image.masked[axis];
        match self.image.wrap[axis] {
            Wrap::Edge => (within(emit, c, last), None),
            Wrap::Border => {
                let inside = within(emit, c, last);
                let outside = emit.op(Op::IcmpNe, &[inside, c]);
                (inside, Some(outside))
            }
            Wrap::Repeat => (repeat(emit, c, size, masked), None),
            Wrap::Mirror => {
                let double = emit.shl(size, one);
                let c = repeat(emit, c, double, masked);
                let mirror = emit.isub(double, one);
                let mirrored = emit.isub(mirror, c);
                (emit.imin(c, mirrored), None)
            }
            Wrap::EdgeAbove | Wrap::BorderAbove => {
                let below = emit.iless(c, zero);
                let repeated = repeat(emit, c, size, masked);
                let edge = emit.imin(c, last);
                let inside = emit.select(below, repeated, edge);
                let has_border = self.image.wrap[axis] == Wrap::BorderAbove;
                (inside, has_border.then(|| emit.iless(last, c)))
            }
        }
    }

    /// The density of a shadow map's texel, if it is not in front of `depth`.
    fn compare(&self, emit: &mut Emit, [density, low, middle, high]: [Value; 4], depth: Value) -> [Value; 4] {
        let (one, max) = (emit.f32(1.0), emit.f32(DEPTH_MAX));
        let depth = emit.min(depth, one);
        let depth = emit.fmul(depth, max);
        let depth = emit.int(depth);
        let bias = emit.uniform_i32(self.base + 8);
        let depth = emit.isub(depth, bias);
        let [middle, high] = [(middle, 8), (high, 16)].map(|(value, shift)| {
            let shift = emit.i32(shift);
            emit.shl(value, shift)
        });
        let reference = emit.or(high, middle);
        let reference = emit.or(reference, low);
        let lit = emit.op(Op::IcmpSle, &[depth, reference]);
        let zero = emit.i32(0);
        [emit.select(lit, density, zero); 4]
    }
}

fn within(emit: &mut Emit, c: Value, last: Value) -> Value {
    let zero = emit.i32(0);
    let c = emit.imax(c, zero);
    emit.imin(c, last)
}

fn repeat(emit: &mut Emit, c: Value, size: Value, masked: bool) -> Value {
    if !masked {
        return emit.op(Op::Urem, &[c, size]);
    }
    let one = emit.i32(1);
    let mask = emit.isub(size, one);
    emit.and(c, mask)
}

/// The face a direction points to, and its coordinates x, y, z there.
fn cube_face(emit: &mut Emit, u: Value, v: Value, w: Value) -> (Value, [Value; 3]) {
    let [x, y, z] = [u, v, w].map(|value| emit.abs(value));
    let (along_x, also_x) = (emit.less(y, x), emit.less(z, x));
    let along_x = emit.and(along_x, also_x);
    let along_y = emit.less(z, y);
    let zero = emit.f32(0.0);
    let [right, up, front] = [u, v, w].map(|value| emit.less(zero, value));
    let [minus_u, minus_v, minus_w] = [u, v, w].map(|value| emit.negate(value));

    let side = |emit: &mut Emit, positive: Value, first: u32| {
        let (first, second) = (emit.i32(first), emit.i32(first + 1));
        emit.select(positive, first, second)
    };
    let [side_x, side_y, side_z] = [(right, 0), (up, 2), (front, 4)].map(|(p, n)| side(emit, p, n));
    let v_of_x = emit.select(right, minus_v, v);
    let u_of_y = emit.select(up, u, minus_u);
    let v_of_z = emit.select(front, minus_v, v);
    let mut pick = |x: Value, y: Value, z: Value| {
        let rest = emit.select(along_y, y, z);
        emit.select(along_x, x, rest)
    };
    let face = pick(side_x, side_y, side_z);
    (face, [pick(minus_w, u_of_y, u), pick(v_of_x, w, v_of_z), pick(u, v, w)])
}
