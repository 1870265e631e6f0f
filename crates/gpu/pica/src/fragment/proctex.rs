//! The procedural texture.

use xenoglot_ir::{Op, Value};

use super::emit::Emit;
use super::key::ProctexKey;
use super::layout::{
    ALPHA_MAP, COLOR_DIFFERENCES, COLOR_MAP, COLORS, NOISE_TABLE, PROCTEX_AXES, PROCTEX_TABLE,
};
use crate::raster::proctex::{Clamp, NOISE_FIRST, NOISE_SECOND, Shift};

/// The colour of the procedural texture.
pub fn sample(emit: &mut Emit, key: &ProctexKey) -> [Value; 4] {
    let attributes = emit.attributes(key.coordinates);
    let [mut u, mut v] = [0, 1].map(|lane| {
        let coordinate = emit.b.extract(attributes, lane);
        emit.abs(coordinate)
    });
    let offset_u = shift(emit, key.shift[0], v, key.clamp[0]);
    let offset_v = shift(emit, key.shift[1], u, key.clamp[1]);
    if key.noise {
        let strength = noise(emit, u, v);
        [u, v] = [(u, PROCTEX_AXES), (v, PROCTEX_AXES + 16)].map(|(coordinate, axis)| {
            let (amplitude, one) = (emit.uniform_f32(axis), emit.f32(4095.0));
            let noise = emit.fmul(strength, amplitude);
            let noise = emit.fdiv(noise, one);
            let coordinate = emit.fadd(coordinate, noise);
            emit.abs(coordinate)
        });
    }
    let (u, v) = (emit.fadd(u, offset_u), emit.fadd(v, offset_v));
    let (u, v) = (clamp(emit, key.clamp[0], u), clamp(emit, key.clamp[1], v));
    let position = combine(emit, key.color_function, u, v);
    let position = look_up(emit, COLOR_MAP, position);
    let mut color = table_color(emit, key.linear, position);
    if let Some(function) = key.alpha_function {
        let position = combine(emit, function, u, v);
        let alpha = look_up(emit, ALPHA_MAP, position);
        let white = emit.f32(255.0);
        let alpha = emit.fmul(alpha, white);
        color[3] = emit.byte(alpha);
    }
    color
}

/// What to add to a coordinate of mode `clamp` where the other one is `other`.
fn shift(emit: &mut Emit, shift: Shift, other: Value, clamp: Clamp) -> Value {
    let first = match shift {
        Shift::None => return emit.f32(0.0),
        Shift::Odd => 0,
        Shift::Even => 1,
    };
    let offset = emit.f32(if clamp == Clamp::Mirror { 1.0 } else { 0.5 });
    let (first, two) = (emit.i32(first), emit.i32(2));
    let whole = emit.truncate(other);
    let whole = emit.iadd(whole, first);
    let pair = emit.op(Op::Sdiv, &[whole, two]);
    let odd = emit.op(Op::Srem, &[pair, two]);
    let odd = emit.float(odd);
    emit.fmul(offset, odd)
}

fn fraction(emit: &mut Emit, value: Value) -> Value {
    let whole = emit.op(Op::Trunc, &[value]);
    emit.fsub(value, whole)
}

fn clamp(emit: &mut Emit, clamp: Clamp, coordinate: Value) -> Value {
    let (zero, half, one) = (emit.f32(0.0), emit.f32(0.5), emit.f32(1.0));
    match clamp {
        Clamp::Zero => {
            let beyond = emit.less(one, coordinate);
            emit.select(beyond, zero, coordinate)
        }
        Clamp::Edge => emit.min(coordinate, one),
        Clamp::Repeat => fraction(emit, coordinate),
        Clamp::Mirror => {
            let (two, even) = (emit.i32(2), emit.i32(0));
            let whole = emit.truncate(coordinate);
            let parity = emit.op(Op::Srem, &[whole, two]);
            let is_even = emit.iequal(parity, even);
            let fraction = fraction(emit, coordinate);
            let turned = emit.fsub(one, fraction);
            emit.select(is_even, fraction, turned)
        }
        Clamp::Pulse => {
            let above = emit.less(half, coordinate);
            emit.select(above, one, zero)
        }
    }
}

/// Combination of the coordinates, by number; numbers above 9 give 0.
fn combine(emit: &mut Emit, function: u32, u: Value, v: Value) -> Value {
    let (half, one) = (emit.f32(0.5), emit.f32(1.0));
    let square_sum = |emit: &mut Emit| {
        let (u, v) = (emit.fmul(u, u), emit.fmul(v, v));
        emit.fadd(u, v)
    };
    match function {
        0 => u,
        1 => emit.fmul(u, u),
        2 => v,
        3 => emit.fmul(v, v),
        4 => {
            let sum = emit.fadd(u, v);
            emit.fmul(sum, half)
        }
        5 => {
            let sum = square_sum(emit);
            emit.fmul(sum, half)
        }
        6 => {
            let sum = square_sum(emit);
            let length = emit.sqrt(sum);
            emit.min(length, one)
        }
        7 => emit.min(u, v),
        8 => emit.max(u, v),
        9 => {
            let sum = square_sum(emit);
            let length = emit.sqrt(sum);
            let mean = emit.fadd(u, v);
            let mean = emit.fmul(mean, half);
            let sum = emit.fadd(mean, length);
            let sum = emit.fmul(sum, half);
            emit.min(sum, one)
        }
        _ => emit.f32(0.0),
    }
}

/// The value of a map of 128 entries.
fn look_up(emit: &mut Emit, map: u32, coordinate: Value) -> Value {
    let (entries, map) = (emit.f32(128.0), emit.i32(map));
    let place = emit.fmul(coordinate, entries);
    let index = emit.truncate(place);
    let index = emit.iclamp(index, 0, 127);
    let whole = emit.float(index);
    let fraction = emit.fsub(place, whole);
    let entry = emit.table_entry(map, index);
    emit.interpolate(entry, fraction)
}

fn table_color(emit: &mut Emit, linear: bool, position: Value) -> [Value; 4] {
    let (first, last) = (emit.uniform_f32(PROCTEX_TABLE), emit.uniform_f32(PROCTEX_TABLE + 4));
    let index = emit.fmul(position, last);
    let index = emit.fadd(first, index);
    if !linear {
        let entry = emit.round(index);
        let entry = emit.low_byte(entry);
        let color = emit.table_word(COLORS, entry);
        return emit.bytes_of(color);
    }
    let whole = emit.truncate(index);
    let float = emit.float(whole);
    let fraction = emit.fsub(index, float);
    let two = emit.f32(2.0);
    let share = emit.fmul(fraction, two);
    let entry = emit.low_byte(whole);
    let color = emit.table_word(COLORS, entry);
    let differences = emit.table_word(COLOR_DIFFERENCES, entry);
    let eight = emit.i32(8);
    [0, 1, 2, 3].map(|channel| {
        let value = emit.byte_of(color, channel);
        let first_bit = emit.i32(8 * channel);
        let difference = emit.op(Op::BitfieldS, &[differences, first_bit, eight]);
        let [value, difference] = [value, difference].map(|value| emit.float(value));
        let step = emit.fmul(share, difference);
        let value = emit.fadd(value, step);
        emit.byte(value)
    })
}

/// Whole part and fraction of the place in the noise lattice.
fn lattice(emit: &mut Emit, axis: u32, coordinate: Value) -> (Value, Value) {
    let (phase, frequency) = (emit.uniform_f32(axis + 4), emit.uniform_f32(axis + 8));
    let moved = emit.fadd(coordinate, phase);
    let moved = emit.abs(moved);
    let place = emit.fmul(frequency, moved);
    let whole = emit.truncate(place);
    let float = emit.float(whole);
    (whole, emit.fsub(place, float))
}

fn noise(emit: &mut Emit, u: Value, v: Value) -> Value {
    let (x, x_fraction) = lattice(emit, PROCTEX_AXES, u);
    let (y, y_fraction) = lattice(emit, PROCTEX_AXES + 16, v);
    let sum = emit.fadd(x_fraction, y_fraction);
    let one = emit.i32(1);
    let (next_x, next_y) = (emit.iadd(x, one), emit.iadd(y, one));
    let [columns, rows] = [[x, next_x], [y, next_y]].map(|line| line.map(|place| hash(emit, place)));
    let mut gradient = |i: usize, j: usize| {
        let steps = emit.f32((i + j) as f32);
        let distance = emit.fsub(sum, steps);
        let random = random(emit, columns[i], rows[j]);
        emit.fmul(random, distance)
    };
    let [below, above] = [0, 1].map(|j| [gradient(0, j), gradient(1, j)]);
    let (x_share, y_share) = (look_up(emit, NOISE_TABLE, x_fraction), look_up(emit, NOISE_TABLE, y_fraction));
    let (below, above) = (mix(emit, below, x_share), mix(emit, above, x_share));
    mix(emit, [below, above], y_share)
}

fn mix(emit: &mut Emit, [a, b]: [Value; 2], share: Value) -> Value {
    let one = emit.f32(1.0);
    let rest = emit.fsub(one, share);
    let (a, b) = (emit.fmul(a, rest), emit.fmul(b, share));
    emit.fadd(a, b)
}

/// Pseudo-random value of the lattice point of two hashes, -1 to 1.
fn random(emit: &mut Emit, a: Value, b: Value) -> Value {
    let [zero, one, three, four, six, ten, mask] = [0, 1, 3, 4, 6, 10, 15].map(|value| emit.i32(value));
    let remainder = emit.and(a, three);
    let is_one = emit.iequal(remainder, one);
    let extra = emit.select(is_one, four, zero);
    let b = emit.iadd(b, extra);
    let odd = emit.and(a, one);
    let flip = emit.imul(odd, six);
    let b = emit.xor(b, flip);
    let sum = emit.iadd(b, ten);
    let sum = emit.iadd(sum, a);
    let b = emit.and(sum, mask);
    let second = nibble(emit, &NOISE_SECOND, a);
    let b = emit.xor(b, second);
    let b = emit.float(b);
    let (two, fifteen, minus_one) = (emit.f32(2.0), emit.f32(15.0), emit.f32(-1.0));
    let b = emit.fmul(b, two);
    let b = emit.fdiv(b, fifteen);
    emit.fadd(minus_one, b)
}

fn hash(emit: &mut Emit, place: Value) -> Value {
    let [two, three, nine, mask] = [2, 3, 9, 15].map(|value| emit.i32(value));
    let remainder = emit.op(Op::Urem, &[place, nine]);
    let quotient = emit.op(Op::Udiv, &[place, nine]);
    let sum = emit.iadd(remainder, two);
    let product = emit.imul(sum, three);
    let low = emit.and(product, mask);
    let number = emit.and(quotient, mask);
    let first = nibble(emit, &NOISE_FIRST, number);
    emit.xor(low, first)
}

/// Entry `index` (0 to 15) of a table of values below 16.
fn nibble(emit: &mut Emit, table: &[u32; 16], index: Value) -> Value {
    let pack = |half: &[u32]| half.iter().rev().fold(0, |word, value| word << 4 | value);
    let [low, high] = [&table[..8], &table[8..]].map(|half| emit.i32(pack(half)));
    let [two, seven, mask] = [2, 7, 15].map(|value| emit.i32(value));
    let is_high = emit.iless(seven, index);
    let word = emit.select(is_high, high, low);
    let place = emit.and(index, seven);
    let shift = emit.shl(place, two);
    let word = emit.ushr(word, shift);
    emit.and(word, mask)
}
