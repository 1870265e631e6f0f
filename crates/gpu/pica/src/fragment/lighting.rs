//! Fragment lighting, in vectors of three lanes.

use xenoglot_ir::{Op, Type, Value};

use super::combiner::Planes;
use super::emit::Emit;
use super::key::{LightKey, LightingKey, LookupKey};
use super::layout::{self, AMBIENT, LIGHT_SCALES, LIGHT_STRIDE, LIGHTS, light};
use crate::raster::batch::semantic;
use crate::raster::lighting::{BumpKind, Index, Input, Shadow};

/// Places of the factors in the uniform buffer.
mod scale {
    use super::LIGHT_SCALES;

    pub const DISTRIBUTION: [u32; 2] = [LIGHT_SCALES, LIGHT_SCALES + 4];
    pub const SPOT: u32 = LIGHT_SCALES + 8;
    pub const FRESNEL: u32 = LIGHT_SCALES + 12;
    pub const REFLECTION: [u32; 3] = [LIGHT_SCALES + 16, LIGHT_SCALES + 20, LIGHT_SCALES + 24];
}

/// The surface at the fragment.
struct Surface {
    normal: Value,
    tangent: Value,
    view: Value,
    /// The view vector before it was normalised: from the fragment to the eye.
    eye: Value,
}

/// A light as the fragment sees it.
struct Beam<'a> {
    key: &'a LightKey,
    /// Of the light's values in the uniform buffer.
    base: u32,
    direction: Value,
    /// Half vector, normalised.
    half: Value,
    /// Square of its length before that.
    half_square: Value,
    /// Cosine between light and normal, as far as it lights the surface.
    facing: Value,
    distance: Option<Value>,
    spot: Option<Value>,
}

/// Shadow's colour and alpha from a texture.
struct Shade {
    color: Value,
    alpha: Value,
}

/// Primary (diffuse) and secondary (specular) colour. `planes` has the sources the key names.
pub fn shade(emit: &mut Emit, key: &LightingKey, planes: &Planes) -> [[Value; 4]; 2] {
    let surface = Surface::new(emit, key, planes);
    let shade = key.shadow.map(|shadow| Shade::new(emit, &shadow, planes));
    let zero = emit.vector([0.0; 3]);
    let (mut diffuse, mut specular) = (zero, zero);
    let mut fresnel = None;
    for (slot, light) in (0..).zip(&key.lights) {
        let beam = Beam::new(emit, &surface, light, LIGHTS + LIGHT_STRIDE * slot);
        let shadow = |on: fn(&Shadow) -> bool| {
            let is_on = light.shadow && key.shadow.as_ref().is_some_and(on);
            shade.as_ref().filter(|_| is_on).map(|shade| shade.color)
        };
        let lit = beam.diffuse(emit, shadow(|shadow| shadow.primary));
        diffuse = emit.fadd(diffuse, lit);
        let lit = beam.specular(emit, key, &surface, shadow(|shadow| shadow.secondary));
        specular = emit.fadd(specular, lit);
        // Fresnel counts for the last light only.
        if usize::try_from(slot).is_ok_and(|slot| slot + 1 == key.lights.len()) {
            fresnel = key.fresnel.as_ref().map(|lookup| beam.shared(emit, &surface, lookup, scale::FRESNEL));
        }
    }
    let ambient = emit.uniform_vector(AMBIENT);
    let diffuse = emit.fadd(diffuse, ambient);
    let factor = shade.filter(|_| key.shadow.is_some_and(|shadow| shadow.alpha)).map(|shade| shade.alpha);
    let alpha = match (fresnel, factor) {
        (Some(fresnel), Some(factor)) => Some(emit.fmul(fresnel, factor)),
        (fresnel, factor) => fresnel.or(factor),
    };
    let mut finish = |color: Value, replaces_alpha: bool| {
        let [r, g, b] = [0, 1, 2].map(|lane| {
            let value = emit.b.extract(color, lane);
            emit.unit_byte(value)
        });
        let alpha = match alpha.filter(|_| replaces_alpha) {
            Some(alpha) => emit.unit_byte(alpha),
            None => emit.i32(255),
        };
        [r, g, b, alpha]
    };
    [finish(diffuse, key.fresnel_alpha[0]), finish(specular, key.fresnel_alpha[1])]
}

fn cross(emit: &mut Emit, a: Value, b: Value) -> Value {
    let [a1, a2] = [[1, 2, 0], [2, 0, 1]].map(|lanes| emit.swizzle(a, lanes));
    let [b1, b2] = [[2, 0, 1], [1, 2, 0]].map(|lanes| emit.swizzle(b, lanes));
    let (first, second) = (emit.fmul(a1, b1), emit.fmul(a2, b2));
    emit.fsub(first, second)
}

/// `v` turned by a quaternion of length 1.
fn rotated(emit: &mut Emit, axis: Value, w: Value, v: Value) -> Value {
    let inner = cross(emit, axis, v);
    let along = emit.scale(v, w);
    let inner = emit.fadd(inner, along);
    let outer = cross(emit, axis, inner);
    let twice = emit.vector([2.0; 3]);
    let outer = emit.fmul(twice, outer);
    emit.fadd(v, outer)
}

impl Surface {
    fn new(emit: &mut Emit, key: &LightingKey, planes: &Planes) -> Surface {
        let mut normal = emit.vector([0.0, 0.0, 1.0]);
        let mut tangent = emit.vector([1.0, 0.0, 0.0]);
        if let Some(bump) = key.bump {
            let map = [0, 1, 2].map(|channel| {
                let value = planes.channel(emit, bump.source, channel);
                let value = emit.float(value);
                let (half, one) = (emit.f32(127.5), emit.f32(1.0));
                let value = emit.fdiv(value, half);
                emit.fsub(value, one)
            });
            match bump.kind {
                BumpKind::Normal { renormalise: false } => normal = emit.op(Op::Build, &map),
                BumpKind::Normal { renormalise: true } => normal = upright(emit, map),
                BumpKind::Tangent => tangent = emit.op(Op::Build, &map),
            }
        }
        let quaternion = emit.attributes(semantic::QUATERNION);
        let square = emit.op(Op::Fdot4, &[quaternion, quaternion]);
        let length = emit.sqrt(square);
        let quaternion = emit.divide(quaternion, length);
        let axis = emit.swizzle(quaternion, [0, 1, 2]);
        let w = emit.b.extract(quaternion, 3);
        let eye = emit.attributes(semantic::VIEW);
        let length = emit.length(eye);
        Surface {
            normal: rotated(emit, axis, w, normal),
            tangent: rotated(emit, axis, w, tangent),
            view: emit.divide(eye, length),
            eye,
        }
    }
}

/// The vector of length 1 with these x and y.
fn upright(emit: &mut Emit, [x, y, _]: [Value; 3]) -> Value {
    let (zero, one) = (emit.f32(0.0), emit.f32(1.0));
    let (xx, yy) = (emit.fmul(x, x), emit.fmul(y, y));
    let square = emit.fadd(xx, yy);
    let rest = emit.fsub(one, square);
    let rest = emit.max(rest, zero);
    let z = emit.sqrt(rest);
    emit.op(Op::Build, &[x, y, z])
}

impl Shade {
    fn new(emit: &mut Emit, shadow: &Shadow, planes: &Planes) -> Shade {
        let (white, one) = (emit.f32(255.0), emit.f32(1.0));
        let [r, g, b, alpha] = [0, 1, 2, 3].map(|channel| {
            let value = planes.channel(emit, shadow.source, channel);
            let value = emit.float(value);
            let value = emit.fdiv(value, white);
            if shadow.invert { emit.fsub(one, value) } else { value }
        });
        Shade { color: emit.op(Op::Build, &[r, g, b]), alpha }
    }
}

impl<'a> Beam<'a> {
    fn new(emit: &mut Emit, surface: &Surface, key: &'a LightKey, base: u32) -> Beam<'a> {
        let mut vector = emit.uniform_vector(base + light::POSITION);
        if !key.directional {
            vector = emit.fadd(vector, surface.eye);
        }
        let length = emit.length(vector);
        let direction = emit.divide(vector, length);
        let half = emit.fadd(surface.view, direction);
        let half_square = emit.dot(half, half);
        let half_length = emit.sqrt(half_square);
        let half = emit.divide(half, half_length);
        let cosine = emit.dot(direction, surface.normal);
        let facing = if key.two_sided {
            emit.abs(cosine)
        } else {
            let zero = emit.f32(0.0);
            emit.max(cosine, zero)
        };
        let mut beam = Beam { key, base, direction, half, half_square, facing, distance: None, spot: None };
        beam.distance = key.distance.then(|| beam.attenuation(emit, length));
        beam.spot = key.spot.as_ref().map(|lookup| {
            let table = emit.uniform_i32(base + light::TABLES + 4);
            beam.look_up(emit, surface, lookup, table, scale::SPOT)
        });
        beam
    }

    fn attenuation(&self, emit: &mut Emit, length: Value) -> Value {
        let factor = emit.uniform_f32(self.base + light::POSITION + 12);
        let bias = emit.uniform_f32(self.base + light::SPOT + 12);
        let table = emit.uniform_i32(self.base + light::TABLES);
        let place = emit.fmul(factor, length);
        let place = emit.fadd(place, bias);
        let place = emit.clamp(place, 1.0);
        unsigned_entry(emit, table, place)
    }

    /// What a table of all lights gives.
    fn shared(&self, emit: &mut Emit, surface: &Surface, lookup: &LookupKey, scale: u32) -> Value {
        let table = emit.i32(layout::table_offset(lookup.table));
        self.look_up(emit, surface, lookup, table, scale)
    }

    fn look_up(
        &self,
        emit: &mut Emit,
        surface: &Surface,
        lookup: &LookupKey,
        table: Value,
        scale: u32,
    ) -> Value {
        let input = self.input(emit, surface, lookup.input);
        let value = match lookup.index(self.key.two_sided) {
            Index::Signed => signed_entry(emit, table, input),
            Index::Absolute => {
                let input = emit.abs(input);
                unsigned_entry(emit, table, input)
            }
            Index::Positive => {
                let zero = emit.f32(0.0);
                let input = emit.max(input, zero);
                unsigned_entry(emit, table, input)
            }
        };
        let scale = emit.uniform_f32(scale);
        emit.fmul(value, scale)
    }

    fn input(&self, emit: &mut Emit, surface: &Surface, input: Input) -> Value {
        match input {
            Input::NormalHalf => emit.dot(surface.normal, self.half),
            Input::ViewHalf => emit.dot(surface.view, self.half),
            Input::NormalView => emit.dot(surface.normal, surface.view),
            Input::LightNormal => emit.dot(self.direction, surface.normal),
            Input::Spot => {
                let spot = emit.uniform_vector(self.base + light::SPOT);
                emit.dot(self.direction, spot)
            }
            Input::Tangent => {
                let along = emit.dot(surface.normal, self.half);
                let along = emit.scale(surface.normal, along);
                let in_surface = emit.fsub(self.half, along);
                emit.dot(in_surface, surface.tangent)
            }
            Input::Zero => emit.f32(0.0),
        }
    }

    /// A colour times what weakens the light.
    fn attenuate(&self, emit: &mut Emit, mut color: Value) -> Value {
        for factor in [self.distance, self.spot].into_iter().flatten() {
            color = emit.scale(color, factor);
        }
        color
    }

    fn diffuse(&self, emit: &mut Emit, shadow: Option<Value>) -> Value {
        let color = emit.uniform_vector(self.base + light::DIFFUSE);
        let ambient = emit.uniform_vector(self.base + light::AMBIENT);
        let mut lit = emit.scale(color, self.facing);
        if let Some(shadow) = shadow {
            lit = emit.fmul(lit, shadow);
        }
        let lit = emit.fadd(lit, ambient);
        self.attenuate(emit, lit)
    }

    fn specular(
        &self,
        emit: &mut Emit,
        key: &LightingKey,
        surface: &Surface,
        shadow: Option<Value>,
    ) -> Value {
        let [d0, d1] = [0, 1].map(|number: usize| {
            let lookup = key.distribution[number].as_ref();
            lookup.map(|lookup| self.shared(emit, surface, lookup, scale::DISTRIBUTION[number]))
        });
        let colors = [0, 16].map(|at| emit.uniform_vector(self.base + light::SPECULAR + at));
        let mut first = colors[0];
        if let Some(d0) = d0 {
            first = emit.scale(first, d0);
        }
        let mut second = match (d1, self.reflection(emit, key, surface)) {
            (Some(d1), Some(reflection)) => {
                let factor = emit.scale(reflection, d1);
                emit.fmul(factor, colors[1])
            }
            (Some(d1), None) => emit.scale(colors[1], d1),
            (None, Some(reflection)) => emit.fmul(reflection, colors[1]),
            (None, None) => colors[1],
        };
        if self.key.geometric != [false; 2] {
            let factor = self.geometric_factor(emit);
            let [on_first, on_second] = self.key.geometric;
            if on_first {
                first = emit.scale(first, factor);
            }
            if on_second {
                second = emit.scale(second, factor);
            }
        }
        let mut lit = emit.fadd(first, second);
        if key.clamp_highlights {
            let (zero, one) = (emit.f32(0.0), emit.f32(1.0));
            let dark = emit.equal(self.facing, zero);
            let highlight = emit.select(dark, zero, one);
            lit = emit.scale(lit, highlight);
        }
        let lit = self.attenuate(emit, lit);
        match shadow {
            Some(shadow) => emit.fmul(lit, shadow),
            None => lit,
        }
    }

    /// Reflection of red, green and blue; green and blue fall back to red's. None if it is 1 for all.
    fn reflection(&self, emit: &mut Emit, key: &LightingKey, surface: &Surface) -> Option<Value> {
        let values = [0, 1, 2].map(|channel: usize| {
            let lookup = key.reflection[channel].as_ref();
            lookup.map(|lookup| self.shared(emit, surface, lookup, scale::REFLECTION[channel]))
        });
        if values == [None; 3] {
            return None;
        }
        let red = values[0].unwrap_or_else(|| emit.f32(1.0));
        let [green, blue] = [values[1], values[2]].map(|value| value.unwrap_or(red));
        Some(emit.op(Op::Build, &[red, green, blue]))
    }

    fn geometric_factor(&self, emit: &mut Emit) -> Value {
        let (zero, one) = (emit.f32(0.0), emit.f32(1.0));
        let is_zero = emit.equal(self.half_square, zero);
        let factor = emit.fdiv(self.facing, self.half_square);
        let factor = emit.min(factor, one);
        emit.select(is_zero, zero, factor)
    }
}

/// The entry of a table with an index of 0 to 1.
fn unsigned_entry(emit: &mut Emit, table: Value, value: Value) -> Value {
    let entries = emit.f32(256.0);
    let place = emit.fmul(value, entries);
    let whole = emit.truncate(place);
    let whole = emit.iclamp(whole, 0, 255);
    entry(emit, table, place, whole)
}

/// The entry of a table with an index of -1 to 1.
fn signed_entry(emit: &mut Emit, table: Value, value: Value) -> Value {
    let entries = emit.f32(128.0);
    let place = emit.fmul(value, entries);
    // Towards minus infinity; kept from wrapping below.
    let whole = emit.truncate(place);
    let float = emit.float(whole);
    let above = emit.less(place, float);
    let step = emit.b.convert(Op::Sext, xenoglot_ir::Flags::NONE, above, Type::I32);
    let whole = emit.iclamp(whole, -128, i32::MAX);
    let whole = emit.iadd(whole, step);
    let whole = emit.iclamp(whole, -128, 127);
    entry(emit, table, place, whole)
}

fn entry(emit: &mut Emit, table: Value, place: Value, whole: Value) -> Value {
    let float = emit.float(whole);
    let fraction = emit.fsub(place, float);
    let index = emit.low_byte(whole);
    let entry = emit.table_entry(table, index);
    emit.interpolate(entry, fraction)
}
