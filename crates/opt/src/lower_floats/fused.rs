//! Correctly rounded quotients and roots of 32-bit floats, of the host's own that are a few units off, with `fma`.
//!
//! Newton's method on significands in [1, 4), where nothing overflows or vanishes, comes within a unit of the result. `fma`
//! gives exactly what that leaves of the dividend, and so whether the middle between the result and its neighbour is passed.
//! Denormal operands and results are the host's, and so are NaNs.

use xenoglot_ir::{Bits, Builder, Flags, Op, Type, Value};

const FRACTION: u64 = 0x007f_ffff;
const ONE: u64 = 0x3f80_0000;
const SIGN: u64 = 0x8000_0000;
const INFINITY: u64 = 0x7f80_0000;
/// Exponents of normal numbers, from 1 on.
const NORMAL_EXPONENTS: u64 = 254;

fn number(b: &mut Builder, value: u64) -> Value {
    b.constant(Type::I32, Bits::scalar(value & 0xffff_ffff))
}

fn bits(b: &mut Builder, v: Value) -> Value {
    b.convert(Op::Bitcast, Flags::NONE, v, Type::I32)
}

fn float(b: &mut Builder, v: Value) -> Value {
    b.convert(Op::Bitcast, Flags::NONE, v, Type::F32)
}

fn with(b: &mut Builder, op: Op, v: Value, value: u64) -> Value {
    let value = number(b, value);
    b.op(op, &[v, value])
}

/// `low <= v < low + count`.
fn within(b: &mut Builder, v: Value, low: i64, count: u64) -> Value {
    let v = with(b, Op::Isub, v, low as u64);
    with(b, Op::IcmpUlt, v, count)
}

/// The exponent's bits of a float, and the fraction as a float in [1, 2).
fn parts(b: &mut Builder, bits: Value) -> (Value, Value) {
    let exponent = with(b, Op::Ushr, bits, 23);
    let exponent = with(b, Op::And, exponent, 0xff);
    let fraction = with(b, Op::And, bits, FRACTION);
    let one = with(b, Op::Or, fraction, ONE);
    (exponent, float(b, one))
}

/// The float after or before the one of these bits.
fn moved(b: &mut Builder, bits: Value, up: Value, down: Value) -> Value {
    let [up, down] = [up, down].map(|v| b.convert(Op::Zext, Flags::NONE, v, Type::I32));
    let step = b.op(Op::Isub, &[up, down]);
    b.op(Op::Iadd, &[bits, step])
}

/// `x - root * root`.
fn left_of_square(b: &mut Builder, x: Value, root: Value) -> Value {
    let minus = b.op(Op::Fneg, &[root]);
    b.op(Op::Fma, &[minus, root, x])
}

/// `x / y`.
pub(super) fn quotient(b: &mut Builder, flags: Flags, x: Value, y: Value) -> Value {
    let natural = b.op_flags(Op::Fdiv, flags, &[x, y]);
    let [of_x, of_y] = [x, y].map(|v| bits(b, v));
    let [(x_exponent, x), (y_exponent, y)] = [of_x, of_y].map(|v| parts(b, v));
    let one = b.f32(1.0);
    let minus_y = b.op(Op::Fneg, &[y]);
    let inverse = b.op(Op::Fdiv, &[one, y]);
    let rest = b.op(Op::Fma, &[minus_y, inverse, one]);
    let inverse = b.op(Op::Fma, &[inverse, rest, inverse]);
    let near = b.op(Op::Fmul, &[x, inverse]);
    let rest = b.op(Op::Fma, &[minus_y, near, x]);
    let near = b.op(Op::Fma, &[rest, inverse, near]);
    // Between the result and its neighbours is half the unit of the lesser one's exponent.
    let rest = b.op(Op::Fma, &[minus_y, near, x]);
    let near = bits(b, near);
    let below = with(b, Op::Isub, near, 1);
    let [up, down] = [near, below].map(|v| {
        let exponent = with(b, Op::And, v, !FRACTION);
        let half_unit = with(b, Op::Isub, exponent, 24 << 23);
        let half_unit = float(b, half_unit);
        b.op(Op::Fmul, &[y, half_unit])
    });
    let down = b.op(Op::Fneg, &[down]);
    let (up, down) = (b.op(Op::FcmpOlt, &[up, rest]), b.op(Op::FcmpOlt, &[rest, down]));
    let near = moved(b, near, up, down);
    // A quotient of significands is in (1/2, 2).
    let exponent = b.op(Op::Isub, &[x_exponent, y_exponent]);
    let scale = with(b, Op::Shl, exponent, 23);
    let made = b.op(Op::Iadd, &[near, scale]);
    let sign = b.op(Op::Xor, &[of_x, of_y]);
    let sign = with(b, Op::And, sign, SIGN);
    let made = b.op(Op::Or, &[made, sign]);
    let made = float(b, made);
    let normal = [x_exponent, y_exponent].map(|exponent| within(b, exponent, 1, NORMAL_EXPONENTS));
    let of_near = with(b, Op::Ushr, near, 23);
    let exponent = b.op(Op::Iadd, &[exponent, of_near]);
    let result = within(b, exponent, 1, NORMAL_EXPONENTS);
    let normal = b.op(Op::And, &[normal[0], normal[1]]);
    let normal = b.op(Op::And, &[normal, result]);
    let quotient = b.select(normal, made, natural);
    // Where large divisors have an inverse of 0, infinity divided by one is no number.
    let magnitude = with(b, Op::And, of_x, !SIGN);
    let is_infinite = with(b, Op::IcmpEq, magnitude, INFINITY);
    let is_finite = with(b, Op::IcmpUlt, y_exponent, NORMAL_EXPONENTS + 1);
    let is_infinite = b.op(Op::And, &[is_infinite, is_finite]);
    let infinity = with(b, Op::Or, sign, INFINITY);
    let infinity = float(b, infinity);
    b.select(is_infinite, infinity, quotient)
}

/// The square root of `x`.
pub(super) fn root(b: &mut Builder, flags: Flags, x: Value) -> Value {
    let natural = b.op_flags(Op::Sqrt, flags, &[x]);
    let of_x = bits(b, x);
    let (exponent, one) = parts(b, of_x);
    // Halves of even exponents are whole: one more of the bias is odd.
    let odd = with(b, Op::And, exponent, 1);
    let odd = with(b, Op::Xor, odd, 1);
    let up = with(b, Op::Shl, odd, 23);
    let one = bits(b, one);
    let scaled = b.op(Op::Iadd, &[one, up]);
    let scaled = float(b, scaled);
    let near = b.op(Op::Sqrt, &[scaled]);
    let half = b.f32(0.5);
    let slope = b.op(Op::Fdiv, &[half, near]);
    let rest = left_of_square(b, scaled, near);
    let near = b.op(Op::Fma, &[rest, slope, near]);
    // The square of the middle to a neighbour is s² ± u s + u²/4 for a unit of u; squares and what is left of them are
    // multiples of u².
    let rest = left_of_square(b, scaled, near);
    let unit = b.f32(f32::EPSILON);
    let up = b.op(Op::Fmul, &[near, unit]);
    let down = b.op(Op::Fneg, &[up]);
    let (up, down) = (b.op(Op::FcmpOlt, &[up, rest]), b.op(Op::FcmpOle, &[rest, down]));
    let near = bits(b, near);
    let near = moved(b, near, up, down);
    let half = with(b, Op::Isub, exponent, 127);
    let half = with(b, Op::Sshr, half, 1);
    let scale = with(b, Op::Shl, half, 23);
    let made = b.op(Op::Iadd, &[near, scale]);
    let made = float(b, made);
    // Positive normal numbers, whose roots are.
    let least = 1 << 23;
    let normal = within(b, of_x, least, NORMAL_EXPONENTS << 23);
    b.select(normal, made, natural)
}

#[cfg(test)]
mod tests {
    //! The steps as Rust, for all significands and hosts that are off by some units.

    use xenoglot_testgen::property;

    fn off(value: f32, units: i32) -> f32 {
        f32::from_bits(value.to_bits().wrapping_add_signed(units))
    }

    fn moved(value: f32, up: bool, down: bool) -> f32 {
        off(value, i32::from(up) - i32::from(down))
    }

    fn half_unit(bits: u32) -> f32 {
        f32::from_bits((bits & 0xff80_0000) - (24 << 23))
    }

    fn quotient(x: f32, y: f32, units: i32) -> f32 {
        let inverse = off(1.0 / y, units);
        let inverse = inverse.mul_add((-y).mul_add(inverse, 1.0), inverse);
        let near = x * inverse;
        let near = (-y).mul_add(near, x).mul_add(inverse, near);
        let rest = (-y).mul_add(near, x);
        let [up, down] = [near.to_bits(), near.to_bits() - 1].map(|bits| y * half_unit(bits));
        moved(near, up < rest, rest < -down)
    }

    fn root(x: f32, units: [i32; 2]) -> f32 {
        let near = off(x.sqrt(), units[0]);
        let slope = off(0.5 / near, units[1]);
        let near = (-near).mul_add(near, x).mul_add(slope, near);
        let rest = (-near).mul_add(near, x);
        let up = near * f32::EPSILON;
        moved(near, up < rest, rest <= -up)
    }

    fn significand(bits: u32) -> f32 {
        f32::from_bits(0x3f80_0000 + bits)
    }

    /// Each nth significand of [1, 4), all of them in long runs.
    fn significands() -> impl Iterator<Item = f32> {
        let step = if property::budget(1, 0) == 0 { 1 } else { 61 };
        (0..1 << 24).step_by(step).chain([(1 << 23) - 1, 1 << 23, (1 << 24) - 1]).map(significand)
    }

    #[test]
    fn quotients_are_rounded_once_on_hosts_that_are_three_units_off() {
        let mut rng = property::rng(1990);
        for y in significands().filter(|&y| y < 2.0) {
            for units in -3..=3 {
                // The dividends whose quotients are nearest to the middle between two floats are those near multiples.
                let random = significand(rng.next_u32() >> 9);
                let product = significand(rng.next_u32() >> 9) * y;
                let near = if product < 2.0 { product } else { product / 2.0 };
                for x in [1.0, random, off(near, -1).max(1.0), near, off(near, 1)] {
                    assert_eq!(quotient(x, y, units), x / y, "{x:e} / {y:e}, {units} off");
                }
            }
        }
    }

    #[test]
    fn roots_are_rounded_once_on_hosts_that_are_four_units_off() {
        for x in significands() {
            for units in [[-4, 3], [-1, -3], [0, 0], [1, 3], [4, -3]] {
                assert_eq!(root(x, units), x.sqrt(), "root of {x:e}, {units:?} off");
            }
        }
    }
}
