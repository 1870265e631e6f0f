//! Linear filters and levels of detail, as `crate::raster::filter` defines them.

use xenoglot_ir::{Flags, NanMode, Op, Type, Value};

use super::emit::Emit;
use super::key::FilterKey;
use super::layout::{DENSITY, LEVELS};
use super::texture::{Place, Sampler, Wrapped};
use crate::raster::batch::semantic;
use crate::raster::filter::{FARTHEST, LOG2, ONE, WEIGHT_BITS};
use crate::raster::sample::Kind;

/// What to sample, and how.
struct Choice {
    /// Whether texels are mixed; nothing if they always or never are.
    linear: Option<Value>,
    /// Number of the level and part of the next, of 256; nothing if there is one level.
    level: Option<[Value; 2]>,
}

/// A coordinate in texels.
struct Texels {
    /// The first one and whether the border shows in its place, and the next one.
    places: Vec<Wrapped>,
    /// Part of the next one, of 256.
    part: Option<Value>,
}

/// The colour of a unit at a place.
pub fn sample(sampler: &Sampler, emit: &mut Emit, key: &FilterKey, place: &Place) -> [Value; 4] {
    let filter = Filter { sampler, key };
    let choice = filter.choose(emit, place);
    let Some([level, next]) = choice.level else { return filter.sample(emit, place, &choice, None) };
    let first = filter.sample(emit, place, &choice, Some(level));
    if key.between_levels != Some(true) {
        return first;
    }
    let one = emit.i32(1);
    let last = emit.uniform_f32(sampler.base + LEVELS + 8);
    let last = emit.int(last);
    let following = emit.iadd(level, one);
    let following = emit.imin(following, last);
    let second = filter.sample(emit, place, &choice, Some(following));
    [0, 1, 2, 3].map(|channel: usize| {
        let mixed = mix(emit, first[channel], second[channel], next);
        round(emit, mixed, WEIGHT_BITS)
    })
}

struct Filter<'a> {
    sampler: &'a Sampler<'a>,
    key: &'a FilterKey,
}

impl Filter<'_> {
    fn choose(&self, emit: &mut Emit, place: &Place) -> Choice {
        let key = self.key;
        let levels = key.between_levels;
        if key.magnify_linear == key.minify_linear && levels.is_none() {
            return Choice { linear: None, level: None };
        }
        let square = self.density(emit, place);
        let detail = half_log2(emit, square);
        let [bias, first, last] = [0, 4, 8].map(|at| emit.uniform_f32(self.sampler.base + LEVELS + at));
        let detail = emit.fadd(detail, bias);
        let threshold = emit.f32(f32::from_bits(key.threshold));
        let is_enlarged = emit.op(Op::FcmpOle, &[detail, threshold]);
        let linear = (key.magnify_linear != key.minify_linear)
            .then(|| if key.magnify_linear { is_enlarged } else { emit.b.not(is_enlarged) });
        let level = levels.map(|between| {
            let detail = emit.max(detail, first);
            let detail = emit.min(detail, last);
            let zero = emit.i32(0);
            let [level, next] = if between {
                let level = emit.int(detail);
                let whole = emit.float(level);
                let rest = emit.fsub(detail, whole);
                let one = emit.f32(ONE as f32);
                let rest = emit.fmul(rest, one);
                [level, emit.int(rest)]
            } else {
                // Halves go down.
                let half = emit.f32(0.5);
                let above = emit.fadd(detail, half);
                let level = emit.int(above);
                let whole = emit.float(level);
                let is_half = emit.equal(whole, above);
                let is_half = emit.b.convert(Op::Zext, Flags::NONE, is_half, Type::I32);
                [emit.isub(level, is_half), zero]
            };
            let first = emit.int(first);
            [emit.select(is_enlarged, first, level), emit.select(is_enlarged, zero, next)]
        });
        Choice { linear, level }
    }

    /// The square of the longer one of the two steps to the neighbours, in texels of the base image.
    fn density(&self, emit: &mut Emit, place: &Place) -> Value {
        let base = self.sampler.base;
        let image = self.sampler.image;
        let third = (image.kind != Kind::Flat).then_some(semantic::TEX0_W);
        let semantics = [Some(image.coordinates), Some(image.coordinates + 1), third];
        let size = [0, 4].map(|at| {
            let size = emit.uniform_i32(base + at);
            emit.float(size)
        });
        let zero = emit.f32(0.0);
        let mut longest = zero;
        for [u, v, w] in emit.neighbours(semantics) {
            let there = self.sampler.on_image(emit, place, [u, v, w]);
            let [s, t] =
                [(there[0], place.u, size[0]), (there[1], place.v, size[1])].map(|(there, here, size)| {
                    let step = emit.fsub(there, here);
                    let step = emit.fmul(step, size);
                    emit.fmul(step, step)
                });
            let square = emit.fadd(s, t);
            longest = emit.max(longest, square);
        }
        let Some(enlarged) = emit.enlarged else { return longest };
        let one = emit.i32(1);
        let is_enlarged = emit.iequal(enlarged, one);
        let (density, same) = (emit.uniform_f32(base + DENSITY), emit.f32(1.0));
        let density = emit.select(is_enlarged, density, same);
        emit.fmul(longest, density)
    }

    /// The colour at a place of a level.
    fn sample(&self, emit: &mut Emit, place: &Place, choice: &Choice, level: Option<Value>) -> [Value; 4] {
        let size = [0, 4].map(|at| self.size(emit, at, level));
        let [s, t] =
            [(place.u, 0), (place.v, 1)].map(|(c, axis)| self.texels(emit, c, size[axis], axis, choice));
        let first = self.sampler.first_texel(emit, level);
        let texel = |emit: &mut Emit, s: &Wrapped, t: &Wrapped| {
            self.sampler.texel(emit, place, first, size, [*s, *t])
        };
        let (Some(s_part), Some(t_part)) = (s.part, t.part) else {
            return texel(emit, &s.places[0], &t.places[0]);
        };
        let mut rows = Vec::new();
        for t in &t.places {
            let (left, right) = (texel(emit, &s.places[0], t), texel(emit, &s.places[1], t));
            rows.push([0, 1, 2, 3].map(|channel: usize| mix(emit, left[channel], right[channel], s_part)));
        }
        [0, 1, 2, 3].map(|channel: usize| {
            let mixed = mix(emit, rows[0][channel], rows[1][channel], t_part);
            round(emit, mixed, 2 * WEIGHT_BITS)
        })
    }

    /// Width or height of a level of the image, or of its larger version.
    fn size(&self, emit: &mut Emit, at: u32, level: Option<Value>) -> Value {
        let Some(level) = level else { return self.sampler.size(emit, at) };
        let size = emit.uniform_i32(self.sampler.base + at);
        let size = emit.ushr(size, level);
        let one = emit.i32(1);
        let size = emit.imax(size, one);
        self.sampler.enlarge(emit, size)
    }

    /// The texels of a coordinate along an axis of some size.
    fn texels(
        &self,
        emit: &mut Emit,
        coordinate: Value,
        size: Value,
        axis: usize,
        choice: &Choice,
    ) -> Texels {
        let scale = emit.float(size);
        let place = emit.fmul(coordinate, scale);
        if !self.key.magnify_linear && !self.key.minify_linear {
            let nearest = emit.truncate(place);
            return Texels { places: vec![self.sampler.wrapped(emit, nearest, size, axis)], part: None };
        }
        let half = emit.f32(0.5);
        let between = emit.fsub(place, half);
        let floor = emit.op(Op::Floor, &[between]);
        let floor = clamped(emit, floor);
        let rest = emit.fsub(between, floor);
        let one = emit.f32(ONE as f32);
        let rest = emit.fmul(rest, one);
        let part = emit.int(rest);
        let mut part = emit.iclamp(part, 0, ONE as i32 - 1);
        let mut first = emit.int(floor);
        if let Some(linear) = choice.linear {
            let (nearest, zero) = (emit.truncate(place), emit.i32(0));
            first = emit.select(linear, first, nearest);
            part = emit.select(linear, part, zero);
        }
        let step = emit.i32(1);
        let second = emit.iadd(first, step);
        let places = [first, second].map(|c| self.sampler.wrapped(emit, c, size, axis));
        Texels { places: places.to_vec(), part: Some(part) }
    }
}

/// Clamped to where there is something between texels; NaNs stay.
fn clamped(emit: &mut Emit, value: Value) -> Value {
    let keep = Flags::NONE.with_nan(NanMode::First);
    let (low, high) = (emit.f32(-FARTHEST), emit.f32(FARTHEST));
    let value = emit.b.op_flags(Op::Fmax, keep, &[value, low]);
    emit.b.op_flags(Op::Fmin, keep, &[value, high])
}

/// Half the logarithm of a square, to base 2.
fn half_log2(emit: &mut Emit, square: Value) -> Value {
    let bits = emit.b.convert(Op::Bitcast, Flags::NONE, square, Type::I32);
    let (shift, bias) = (emit.i32(23), emit.i32(127));
    let exponent = emit.ushr(bits, shift);
    let exponent = emit.isub(exponent, bias);
    let (mask, one_bits) = (emit.i32(0x7f_ffff), emit.i32(1f32.to_bits()));
    let x = emit.and(bits, mask);
    let x = emit.or(x, one_bits);
    let x = emit.b.convert(Op::Bitcast, Flags::NONE, x, Type::F32);
    let one = emit.f32(1.0);
    let x = emit.fsub(x, one);
    let [a, b, c, d] = LOG2.map(|factor| emit.f32(factor));
    let mut p = d;
    for next in [c, b, a] {
        let product = emit.fmul(p, x);
        p = emit.fadd(product, next);
    }
    let rest = emit.fsub(one, x);
    let correction = emit.fmul(x, rest);
    let correction = emit.fmul(correction, p);
    let log2 = emit.fadd(x, correction);
    let exponent = emit.float(exponent);
    let log2 = emit.fadd(exponent, log2);
    let half = emit.f32(0.5);
    emit.fmul(log2, half)
}

/// The value `part` of 256 on the way from `a` to `b`, times 256.
fn mix(emit: &mut Emit, a: Value, b: Value, part: Value) -> Value {
    let one = emit.i32(ONE);
    let rest = emit.isub(one, part);
    let (a, b) = (emit.imul(a, rest), emit.imul(b, part));
    emit.iadd(a, b)
}

/// A value times 2^`bits`, rounded.
fn round(emit: &mut Emit, value: Value, bits: u32) -> Value {
    let (half, bits) = (emit.i32(1 << bits >> 1), emit.i32(bits));
    let value = emit.iadd(value, half);
    emit.ushr(value, bits)
}
