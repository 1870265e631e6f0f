//! The texture units: the nearest texel of the base level, or what the filter asks for (`filter`), found with the chip's own arithmetic in a buffer of decoded
//! texels, so that the host's samplers have no say.

use xenoglot_ir::{Op, Type, Value};

use super::emit::{Emit, Storage};
use super::filter;
use super::key::{ImageKey, UnitKey};
use super::layout::{FIRST_ENLARGED, MORE_TEXELS, UNIT_STRIDE, UNITS};
use crate::raster::batch::semantic;
use crate::raster::sample::{Kind, Wrap};

const DEPTH_MAX: f32 = 16_777_215.0;

/// A column or row of texels, and whether the border shows instead.
pub type Wrapped = (Value, Option<Value>);

/// A place in an image.
pub struct Place {
    pub u: Value,
    pub v: Value,
    /// Face of a cube.
    pub face: Option<Value>,
    side: Option<Side>,
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

/// A texture unit.
pub struct Sampler<'a> {
    unit: usize,
    pub image: &'a ImageKey,
    /// Of the unit's values in the uniform buffer.
    pub base: u32,
}

impl Sampler<'_> {
    fn run(&self, emit: &mut Emit) -> [Value; 4] {
        let place = self.place(emit);
        let color = match &self.image.filter {
            None => self.nearest(emit, &place),
            Some(key) => filter::sample(self, emit, key, &place),
        };
        match place.depth {
            Some(depth) if self.image.kind.is_shadow() => self.compare(emit, color, depth),
            _ => color,
        }
    }

    fn nearest(&self, emit: &mut Emit, place: &Place) -> [Value; 4] {
        let size = [0, 4].map(|at| self.size(emit, at));
        let texels = [(place.u, 0), (place.v, 1)].map(|(coordinate, axis): (Value, usize)| {
            let scale = emit.float(size[axis]);
            let texel = emit.fmul(coordinate, scale);
            let texel = emit.truncate(texel);
            self.wrapped(emit, texel, size[axis], axis)
        });
        let first = self.first_texel(emit, None);
        self.texel(emit, place, first, size, texels)
    }

    /// Width or height of the image, or of its larger version.
    pub fn size(&self, emit: &mut Emit, at: u32) -> Value {
        let size = emit.uniform_i32(self.base + at);
        self.enlarge(emit, size)
    }

    /// A width or height, or that of the larger version.
    pub fn enlarge(&self, emit: &mut Emit, size: Value) -> Value {
        let Some(enlarged) = emit.enlarged else { return size };
        let more = emit.uniform_i32(self.base + MORE_TEXELS);
        let more = emit.imul(more, enlarged);
        let more = emit.imul(more, size);
        emit.iadd(size, more)
    }

    /// The first texel of a level, or of the image if it has none; nothing if that is the buffer's first.
    pub fn first_texel(&self, emit: &mut Emit, level: Option<Value>) -> Option<Value> {
        let image = emit.enlarged.map(|enlarged| {
            let first = emit.uniform_i32(self.base + FIRST_ENLARGED);
            emit.imul(first, enlarged)
        });
        let Some(level) = level else { return image };
        let entry = image.map_or(level, |image| emit.iadd(image, level));
        let first = emit.load_word(Storage::Texture(self.unit), entry);
        Some(image.map_or(first, |image| emit.iadd(image, first)))
    }

    /// The texel of a column and a row, counted from below, or the border's colour.
    pub fn texel(
        &self,
        emit: &mut Emit,
        place: &Place,
        first: Option<Value>,
        [width, height]: [Value; 2],
        [(s, outside_s), (t, outside_t)]: [Wrapped; 2],
    ) -> [Value; 4] {
        // The first row is the top one.
        let one = emit.i32(1);
        let last = emit.isub(height, one);
        let mut row = emit.isub(last, t);
        if let Some(face) = place.face {
            let first = emit.imul(face, height);
            row = emit.iadd(row, first);
        }
        let index = emit.imul(row, width);
        let mut index = emit.iadd(index, s);
        if let Some(first) = first {
            index = emit.iadd(index, first);
        }
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
        color
    }

    /// Coordinates on the image of a place that is beside another one, on the face of that one if it is a cube's.
    pub fn on_image(&self, emit: &mut Emit, beside: &Place, [u, v, w]: [Value; 3]) -> [Value; 2] {
        match (self.image.kind, &beside.side) {
            (Kind::Cube | Kind::ShadowCube, Some(side)) => {
                let coordinates = side.on_face(emit, u, v, w);
                face_coordinates(emit, coordinates)
            }
            (Kind::Projection | Kind::Shadow { perspective: true }, _) => [emit.fdiv(u, w), emit.fdiv(v, w)],
            _ => [u, v],
        }
    }

    fn place(&self, emit: &mut Emit) -> Place {
        let attributes = emit.attributes(self.image.coordinates);
        let [mut u, mut v] = [0, 1].map(|lane| emit.b.extract(attributes, lane));
        let (mut face, mut side, mut depth) = (None, None, None);
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
                let found = Side::of(emit, u, v, w);
                let coordinates = found.on_face(emit, u, v, w);
                let z = coordinates[2];
                [u, v] = face_coordinates(emit, coordinates);
                face = Some(found.number);
                side = Some(found);
                depth = Some(emit.abs(z));
            }
        }
        Place { u, v, face, side, depth }
    }

    /// A column or row within the image, and whether the border shows instead.
    pub fn wrapped(&self, emit: &mut Emit, c: Value, size: Value, axis: usize) -> Wrapped {
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

/// The face that a direction points to.
struct Side {
    number: Value,
    along_x: Value,
    along_y: Value,
    /// Whether u, v and w are above 0.
    positive: [Value; 3],
}

impl Side {
    fn of(emit: &mut Emit, u: Value, v: Value, w: Value) -> Side {
        let [x, y, z] = [u, v, w].map(|value| emit.abs(value));
        let (along_x, also_x) = (emit.less(y, x), emit.less(z, x));
        let along_x = emit.and(along_x, also_x);
        let along_y = emit.less(z, y);
        let zero = emit.f32(0.0);
        let positive = [u, v, w].map(|value| emit.less(zero, value));
        let [side_x, side_y, side_z] = [0, 1, 2].map(|axis: usize| {
            let (first, second) = (emit.i32(2 * axis as u32), emit.i32(2 * axis as u32 + 1));
            emit.select(positive[axis], first, second)
        });
        let rest = emit.select(along_y, side_y, side_z);
        let number = emit.select(along_x, side_x, rest);
        Side { number, along_x, along_y, positive }
    }

    /// Coordinates x, y, z of a direction on this face.
    fn on_face(&self, emit: &mut Emit, u: Value, v: Value, w: Value) -> [Value; 3] {
        let [right, up, front] = self.positive;
        let [minus_u, minus_v, minus_w] = [u, v, w].map(|value| emit.negate(value));
        let v_of_x = emit.select(right, minus_v, v);
        let u_of_y = emit.select(up, u, minus_u);
        let v_of_z = emit.select(front, minus_v, v);
        [[minus_w, u_of_y, u], [v_of_x, w, v_of_z], [u, v, w]].map(|[x, y, z]| {
            let rest = emit.select(self.along_y, y, z);
            emit.select(self.along_x, x, rest)
        })
    }
}

/// Coordinates of 0 to 1 on a face.
fn face_coordinates(emit: &mut Emit, [x, y, z]: [Value; 3]) -> [Value; 2] {
    let half = emit.f32(0.5);
    [x, y].map(|value| {
        let value = emit.fdiv(value, z);
        let value = emit.fmul(value, half);
        emit.fadd(value, half)
    })
}
