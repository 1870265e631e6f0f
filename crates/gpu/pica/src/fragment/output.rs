//! From the combiners' colour to the outputs: alpha test, fog, depth, and into the destination.

use xenoglot_ir::{Flags, Op, Type, Value};

use super::combiner::over_255;
use super::emit::{Emit, Storage};
use super::key::{BlendKey, FragmentKey, MixKey, OutputKey, PixelKey};
use super::layout::{ALPHA_REFERENCE, BLEND_CONSTANT, DEPTH, FOG_COLOR, FOG_TABLE, PIXEL_STRIDE};
use crate::raster::alpha_test::Compare;
use crate::raster::blend::Equation;
use crate::raster::framebuffer::ColorFormat;

const DEPTH_MAX: f32 = 16_777_215.0;

/// Ends the fragment if its alpha fails.
pub fn test_alpha(emit: &mut Emit, function: Compare, alpha: Value) {
    let reference = emit.uniform_i32(ALPHA_REFERENCE);
    let passes = compare(emit, function, alpha, reference);
    emit.require(passes);
}

/// `value op reference` of integers that are not negative.
pub fn compare(emit: &mut Emit, function: Compare, value: Value, reference: Value) -> Value {
    match function {
        Compare::Never => emit.b.bool(false),
        Compare::Always => emit.b.bool(true),
        Compare::Equal => emit.iequal(value, reference),
        Compare::NotEqual => emit.op(Op::IcmpNe, &[value, reference]),
        Compare::Less => emit.iless(value, reference),
        Compare::LessEqual => emit.op(Op::IcmpSle, &[value, reference]),
        Compare::Greater => emit.iless(reference, value),
        Compare::GreaterEqual => emit.op(Op::IcmpSle, &[reference, value]),
    }
}

/// Depth of the fragment, 0 to 1. The host's depth is -z/w of the vertex programs' clip space.
pub fn depth(emit: &mut Emit, w_buffer: bool) -> Value {
    let (scale, offset) = (emit.uniform_f32(DEPTH), emit.uniform_f32(DEPTH + 4));
    let position = emit.position();
    let z = emit.b.extract(position, 2);
    let z = emit.negate(z);
    let depth = emit.fmul(z, scale);
    let mut depth = emit.fadd(depth, offset);
    if w_buffer {
        let inverse_w = emit.b.extract(position, 3);
        depth = emit.fdiv(depth, inverse_w);
    }
    emit.clamp(depth, 1.0)
}

/// Blends towards the fog colour by depth.
pub fn fog(emit: &mut Emit, color: &mut [Value; 4], depth: Value, flip: bool) {
    let (one, entries, table) = (emit.f32(1.0), emit.f32(128.0), emit.i32(FOG_TABLE));
    let depth = if flip { emit.fsub(one, depth) } else { depth };
    let place = emit.fmul(depth, entries);
    let index = emit.truncate(place);
    let index = emit.iclamp(index, 0, 127);
    let whole = emit.float(index);
    let fraction = emit.fsub(place, whole);
    let entry = emit.table_entry(table, index);
    let factor = emit.interpolate(entry, fraction);
    let factor = emit.clamp(factor, 1.0);
    let rest = emit.fsub(one, factor);
    for (channel, offset) in color[..3].iter_mut().zip((FOG_COLOR..).step_by(4)) {
        let fog = emit.uniform_f32(offset);
        let own = emit.float(*channel);
        let (own, fog) = (emit.fmul(factor, own), emit.fmul(rest, fog));
        let sum = emit.fadd(own, fog);
        *channel = emit.byte(sum);
    }
}

/// Writes the outputs.
pub fn write(emit: &mut Emit, key: &FragmentKey, color: [Value; 4], depth: Option<Value>) {
    if let Some(depth) = depth.filter(|_| key.depth.written) {
        emit.output_depth(depth);
    }
    match (&key.output, depth) {
        (OutputKey::None, _) => {}
        (OutputKey::Color, _) => write_color(emit, color),
        (OutputKey::Pixel(pixel), _) => {
            let stored = pixel.reads_destination().then(|| {
                let word = destination(emit);
                emit.bytes_of(word)
            });
            let color = mix(emit, pixel, color, stored);
            let color = narrow(emit, pixel.format, color);
            write_color(emit, color);
        }
        (OutputKey::Shadow, Some(depth)) => {
            let stored = destination(emit);
            let word = shadow(emit, stored, depth, color[1]);
            emit.output(word);
        }
        (OutputKey::Shadow, None) => {}
    }
}

fn write_color(emit: &mut Emit, color: [Value; 4]) {
    let color = emit.op(Op::Build, &color);
    let color = emit.b.convert(Op::S2f, Flags::NONE, color, Type::F32X4);
    let white = emit.f32(255.0);
    let color = emit.divide(color, white);
    emit.output(color);
}

/// The destination's word under the fragment.
fn destination(emit: &mut Emit) -> Value {
    let position = emit.position();
    let [x, y] = [0, 1].map(|lane| {
        let coordinate = emit.b.extract(position, lane);
        emit.int(coordinate)
    });
    let stride = emit.uniform_i32(PIXEL_STRIDE);
    let row = emit.imul(y, stride);
    let index = emit.iadd(row, x);
    emit.load_word(Storage::Destination, index)
}

/// What fragment and `pixel` make; the latter is there if [`PixelKey::reads_destination`] says so.
pub fn mix(emit: &mut Emit, key: &PixelKey, source: [Value; 4], pixel: Option<[Value; 4]>) -> [Value; 4] {
    let Some(pixel) = pixel else {
        // Without the pixel nothing but logic operations changes the fragment.
        return match key.mix {
            MixKey::Logic(number) => source.map(|channel| logic(emit, number, channel, channel)),
            MixKey::Replace | MixKey::Blend(_) => source,
        };
    };
    let zero = emit.i32(0);
    let seen = if key.readable { pixel } else { [zero; 4] };
    let mixed = match key.mix {
        MixKey::Replace => source,
        MixKey::Logic(number) => {
            [0, 1, 2, 3].map(|channel: usize| logic(emit, number, source[channel], seen[channel]))
        }
        MixKey::Blend(keys) => {
            [0, 1, 2, 3].map(|channel: usize| blend(emit, keys[channel], channel, &source, &seen))
        }
    };
    [0, 1, 2, 3].map(|channel: usize| if key.mask[channel] { mixed } else { pixel }[channel])
}

/// A blend factor by number, for a channel.
fn factor(emit: &mut Emit, number: u32, channel: usize, source: &[Value; 4], pixel: &[Value; 4]) -> Value {
    let white = emit.i32(0xff);
    let constant = |emit: &mut Emit, lane: usize| {
        let constant = emit.uniform(BLEND_CONSTANT, Type::I32X4);
        emit.b.extract(constant, lane as u8)
    };
    let value = match number {
        0 => return emit.i32(0),
        2 | 3 => source[channel],
        4 | 5 => pixel[channel],
        6 | 7 => source[3],
        8 | 9 => pixel[3],
        10 | 11 => constant(emit, channel),
        12 | 13 => constant(emit, 3),
        14 if channel < 3 => {
            let rest = emit.xor(pixel[3], white);
            return emit.imin(source[3], rest);
        }
        _ => return white,
    };
    if number & 1 == 0 { value } else { emit.xor(value, white) }
}

fn blend(emit: &mut Emit, key: BlendKey, channel: usize, source: &[Value; 4], pixel: &[Value; 4]) -> Value {
    let [s, d] = [(key.source, source), (key.destination, pixel)].map(|(number, color)| {
        let factor = factor(emit, number, channel, source, pixel);
        emit.imul(color[channel], factor)
    });
    let (zero, white) = (emit.i32(0), emit.i32(255));
    let sum = match key.equation {
        Equation::Add => emit.iadd(s, d),
        Equation::Subtract => emit.isub(s, d),
        Equation::ReverseSubtract => emit.isub(d, s),
        Equation::Min => emit.imin(s, d),
        Equation::Max => emit.imax(s, d),
    };
    let sum = emit.imax(sum, zero);
    let value = over_255(emit, sum);
    emit.imin(value, white)
}

/// The logic operation of a number.
fn logic(emit: &mut Emit, number: u32, s: Value, d: Value) -> Value {
    let white = emit.i32(0xff);
    let invert = |emit: &mut Emit, value| emit.xor(value, white);
    match number & 15 {
        0 => emit.i32(0),
        1 => emit.and(s, d),
        2 => {
            let d = invert(emit, d);
            emit.and(s, d)
        }
        3 => s,
        4 => white,
        5 => invert(emit, s),
        6 => d,
        7 => invert(emit, d),
        8 => {
            let both = emit.and(s, d);
            invert(emit, both)
        }
        9 => emit.or(s, d),
        10 => {
            let any = emit.or(s, d);
            invert(emit, any)
        }
        11 => emit.xor(s, d),
        12 => {
            let difference = emit.xor(s, d);
            invert(emit, difference)
        }
        13 => {
            let s = invert(emit, s);
            emit.and(s, d)
        }
        14 => {
            let d = invert(emit, d);
            emit.or(s, d)
        }
        _ => {
            let s = invert(emit, s);
            emit.or(s, d)
        }
    }
}

/// Bits of a channel that a format keeps; 0 for a channel it does not have.
fn kept_bits(format: ColorFormat) -> [u32; 4] {
    match format {
        ColorFormat::Rgba8 => [8; 4],
        ColorFormat::Rgb8 => [8, 8, 8, 0],
        ColorFormat::Rgb5A1 => [5, 5, 5, 1],
        ColorFormat::Rgb565 => [5, 6, 5, 0],
        ColorFormat::Rgba4 => [4; 4],
    }
}

/// The colour as it reads after it was stored: low bits dropped, the rest repeated below.
fn narrow(emit: &mut Emit, format: ColorFormat, color: [Value; 4]) -> [Value; 4] {
    let bits = kept_bits(format);
    [0, 1, 2, 3].map(|channel: usize| {
        let value = color[channel];
        match bits[channel] {
            8 => value,
            0 => emit.i32(255),
            1 => {
                let (seven, white) = (emit.i32(7), emit.i32(255));
                let bit = emit.ushr(value, seven);
                emit.imul(bit, white)
            }
            bits => {
                let (high, shift) = (emit.i32(0xff << (8 - bits) & 0xff), emit.i32(bits));
                let high = emit.and(value, high);
                let low = emit.ushr(high, shift);
                emit.or(high, low)
            }
        }
    })
}

/// The shadow map's word over `stored`: depth in bytes 0 to 2, highest first, density in byte 3.
pub fn shadow(emit: &mut Emit, stored: Value, depth: Value, density: Value) -> Value {
    let max = emit.f32(DEPTH_MAX);
    let depth = emit.fmul(depth, max);
    let depth = emit.int(depth);
    let [eight, low_bytes] = [8, 0xff_ffff].map(|value| emit.i32(value));
    let reference = emit.op(Op::Byteswap, &[stored]);
    let reference = emit.ushr(reference, eight);
    let is_nearer = emit.iless(depth, reference);

    let stored_density = emit.byte_of(stored, 3);
    let [distance, whole] = [depth, reference].map(|value| emit.float(value));
    let distance = emit.fdiv(distance, whole);
    let (constant, linear) = (emit.uniform_f32(DEPTH + 8), emit.uniform_f32(DEPTH + 12));
    let growth = emit.fmul(linear, distance);
    let divisor = emit.fadd(constant, growth);
    let softened = emit.float(density);
    let softened = emit.fdiv(softened, divisor);
    let softened = emit.clamp(softened, 255.0);
    let softened = emit.int(softened);
    let softened = emit.imin(stored_density, softened);
    let (zero, top) = (emit.i32(0), emit.i32(24));
    let high = emit.shl(softened, top);
    let low = emit.and(stored, low_bytes);
    let darker = emit.or(low, high);

    let depth = emit.shl(depth, eight);
    let depth = emit.op(Op::Byteswap, &[depth]);
    let high = emit.shl(stored_density, top);
    let nearer = emit.or(depth, high);

    let is_solid = emit.iequal(density, zero);
    let merged = emit.select(is_solid, nearer, darker);
    emit.select(is_nearer, merged, stored)
}
