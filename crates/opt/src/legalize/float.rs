//! Rules of float ops: flushed denormals, zeros that win, clamped results, what minima make of NaNs, sums in order.
//!
//! A NaN is what differs from itself. Choices are compares and selects: minima, maxima and clamps of host languages leave
//! NaNs and the sign of zeros to the host.

use super::Shape;
use super::code::Code;
use xenoglot_ir::imm::FloatFormat;
use xenoglot_ir::{Flags, Imm, Kind, NanMode, Op, Type, Value};

/// The fields of a float kind's bits.
struct Format {
    sign: u64,
    /// The exponent field: also the bits of infinity.
    exponent: u64,
    least_normal: u64,
    one: u64,
}

impl Format {
    fn of(kind: Kind) -> Format {
        match kind {
            Kind::F16 => Format { sign: 0x8000, exponent: 0x7c00, least_normal: 0x0400, one: 0x3c00 },
            Kind::F64 => {
                Format { sign: 1 << 63, exponent: 0x7ff << 52, least_normal: 1 << 52, one: 1f64.to_bits() }
            }
            _ => Format {
                sign: 0x8000_0000,
                exponent: 0x7f80_0000,
                least_normal: 0x0080_0000,
                one: u64::from(1f32.to_bits()),
            },
        }
    }
}

/// `x` with denormals as the zero of their sign.
pub(super) fn flush(c: &mut Code, x: Value) -> Value {
    let ty = c.ty(x);
    let Format { sign, exponent, .. } = Format::of(ty.kind());
    let bits = c.bits(x);
    let field = c.op_number(Op::And, bits, exponent);
    let is_small = c.op_number(Op::IcmpEq, field, 0);
    let zero = c.op_number(Op::And, bits, sign);
    let kept = c.select(is_small, zero, bits);
    c.cast(kept, ty)
}

/// `x` clamped to 0..=1, NaNs and -0 as 0; denormals too if `flush`.
pub(super) fn saturate(c: &mut Code, x: Value, flush: bool) -> Value {
    let ty = c.ty(x);
    let format = Format::of(ty.kind());
    if ty.kind() != Kind::F32 {
        // Hosts with such floats need not have integers as wide.
        let zero = c.number(ty, 0);
        let least = c.number(ty, format.least_normal);
        let is_positive = if flush { c.op(Op::FcmpOle, &[least, x]) } else { c.op(Op::FcmpOlt, &[zero, x]) };
        let positive = c.select(is_positive, x, zero);
        let one = c.number(ty, format.one);
        let is_below = c.op(Op::FcmpOlt, &[positive, one]);
        return c.select(is_below, positive, one);
    }
    // On the bits, in whose order positive floats are: drivers make `x > 0 ? x : 0` a maximum, which may keep -0.
    let bits = c.bits(x);
    let least = if flush { format.least_normal } else { 1 };
    let above = c.op_number(Op::Isub, bits, least);
    let last = c.number(c.ty(bits), format.exponent - least);
    let is_positive = c.op(Op::IcmpUle, &[above, last]);
    let clamped = c.op_number(Op::Umin, bits, format.one);
    let zero = c.number(c.ty(bits), 0);
    let kept = c.select(is_positive, clamped, zero);
    c.cast(kept, ty)
}

pub(super) fn is_nan(c: &mut Code, x: Value) -> Value {
    c.op(Op::FcmpUne, &[x, x])
}

/// Whether neither `x` nor `y` is a NaN.
fn are_numbers(c: &mut Code, x: Value, y: Value) -> Value {
    let [x, y] = [x, y].map(|v| c.op(Op::FcmpOeq, &[v, v]));
    c.op(Op::And, &[x, y])
}

/// `+0 + x`, which compilers that do not keep signs of zeros take for `x`; on the bits where every host has them.
fn plus_zero(c: &mut Code, x: Value) -> Value {
    let zero = c.number(c.ty(x), 0);
    let is_zero = match c.ty(x).kind() {
        Kind::F32 => {
            let bits = c.bits(x);
            c.op_number(Op::IcmpEq, bits, 0x8000_0000)
        }
        _ => c.op(Op::FcmpOeq, &[x, zero]),
    };
    c.select(is_zero, zero, x)
}

/// Whether the product of `x` and `y` is +0 by the rules of `flags`.
fn zero_wins(c: &mut Code, flags: Flags, product: Value, x: Value, y: Value) -> Option<Value> {
    let mut wins = None;
    if flags.zero_wins() {
        let (nan, numbers) = (is_nan(c, product), are_numbers(c, x, y));
        wins = Some(c.op(Op::And, &[nan, numbers]));
    }
    if flags.fmz() {
        let zero = c.number(c.ty(x), 0);
        let [of_x, of_y] = [x, y].map(|v| c.op(Op::FcmpOeq, &[v, zero]));
        let either = c.op(Op::Or, &[of_x, of_y]);
        wins = Some(wins.map_or(either, |other| c.op(Op::Or, &[either, other])));
    }
    wins
}

/// The flags that arithmetic keeps.
fn plain(flags: Flags) -> Flags {
    if flags.contract() { Flags::NONE.with_contract() } else { Flags::NONE }
}

fn product(c: &mut Code, flags: Flags, x: Value, y: Value) -> Value {
    let product = c.with(Op::Fmul, plain(flags), &[x, y]);
    let Some(wins) = zero_wins(c, flags, product, x, y) else { return product };
    let zero = c.number(c.ty(x), 0);
    c.select(wins, zero, product)
}

/// Products and `fma` with the rules for zeros, on flushed operands.
pub(super) fn with_zero_rules(c: &mut Code, shape: &Shape, args: &[Value]) -> Option<Value> {
    match *args {
        [x, y] => Some(product(c, shape.flags, x, y)),
        [x, y, z] => {
            let fused = c.with(Op::Fma, plain(shape.flags), &[x, y, z]);
            // Asked of the rounded product: what overflows is no NaN.
            let rounded = if shape.flags.zero_wins() { c.op(Op::Fmul, &[x, y]) } else { x };
            let Some(wins) = zero_wins(c, shape.flags, rounded, x, y) else { return Some(fused) };
            let sum = plus_zero(c, z);
            Some(c.select(wins, sum, fused))
        }
        _ => None,
    }
}

/// Sum from +0 of the products in lane order, everything flushed but for the operands, which are.
pub(super) fn dot(c: &mut Code, shape: &Shape, args: &[Value]) -> Option<Value> {
    let &[x, y] = args else { return None };
    let flushed = |c: &mut Code, v: Value| if shape.flags.ftz() { flush(c, v) } else { v };
    let products = product(c, shape.flags, x, y);
    let products = flushed(c, products);
    let first = c.lane(products, 0);
    let mut sum = plus_zero(c, first);
    for lane in 1..c.ty(products).lanes() {
        let term = c.lane(products, lane);
        sum = c.with(Op::Fadd, plain(shape.flags), &[sum, term]);
        sum = flushed(c, sum);
    }
    Some(if shape.flags.sat() { saturate(c, sum, false) } else { sum })
}

/// The lesser or greater operand; of equal ones the second.
pub(super) fn pick(c: &mut Code, shape: &Shape, args: &[Value]) -> Option<Value> {
    let &[x, y] = args else { return None };
    // Whether the first of two operands comes before the second in the order asked for, strictly or not.
    let before = |c: &mut Code, op: Op, x: Value, y: Value| match shape.op {
        Op::Fmin => c.op(op, &[x, y]),
        _ => c.op(op, &[y, x]),
    };
    Some(match shape.flags.nan() {
        NanMode::Second => {
            let first = before(c, Op::FcmpOlt, x, y);
            c.select(first, x, y)
        }
        NanMode::First => {
            let second = before(c, Op::FcmpOle, y, x);
            c.select(second, y, x)
        }
        NanMode::Other => {
            let second = before(c, Op::FcmpOle, y, x);
            let nan = is_nan(c, x);
            let second = c.op(Op::Or, &[second, nan]);
            c.select(second, y, x)
        }
        NanMode::Propagate => {
            let first = before(c, Op::FcmpOlt, x, y);
            let nan = is_nan(c, x);
            let first = c.op(Op::Or, &[first, nan]);
            c.select(first, x, y)
        }
    })
}

/// Compares that languages with C's operators lack.
pub(super) fn compare(c: &mut Code, op: Op, args: &[Value]) -> Option<Value> {
    let &[x, y] = args else { return None };
    Some(match op {
        Op::FcmpOrd => are_numbers(c, x, y),
        Op::FcmpUno => {
            let [x, y] = [x, y].map(|v| is_nan(c, v));
            c.op(Op::Or, &[x, y])
        }
        Op::FcmpOne | Op::FcmpUeq => {
            let [less, greater] = [[x, y], [y, x]].map(|args| c.op(Op::FcmpOlt, &args));
            let differ = c.op(Op::Or, &[less, greater]);
            if op == Op::FcmpOne { differ } else { c.not(differ) }
        }
        Op::FcmpUlt => {
            let opposite = c.op(Op::FcmpOle, &[y, x]);
            c.not(opposite)
        }
        Op::FcmpUle => {
            let opposite = c.op(Op::FcmpOlt, &[y, x]);
            c.not(opposite)
        }
        _ => return None,
    })
}

/// Rounding to a narrower format, on the bits.
pub(super) fn quantize(c: &mut Code, format: FloatFormat, x: Value) -> Option<Value> {
    let ty = c.ty(x);
    if ty.kind() != Kind::F32 || !format.is_valid() {
        return None;
    }
    let drop = 23 - u64::from(format.mant);
    let bias = (1u64 << (format.exp - 1)) - 1;
    let bits = c.bits(x);
    let sign = c.op_number(Op::And, bits, 0x8000_0000);
    let magnitude = c.op_number(Op::And, bits, 0x7fff_ffff);
    let odd = c.op_number(Op::Ushr, magnitude, drop);
    let odd = c.op_number(Op::And, odd, 1);
    let sum = c.op_number(Op::Iadd, magnitude, (1 << (drop - 1)) - 1);
    let sum = c.op(Op::Iadd, &[sum, odd]);
    let rounded = c.op_number(Op::And, sum, u64::from(u32::MAX) & !((1 << drop) - 1));
    let int = c.ty(bits);
    let is_small = c.op_number(Op::IcmpUlt, rounded, (128 - bias) << 23);
    let zero = c.number(int, 0);
    let value = c.select(is_small, zero, rounded);
    let over = c.number(int, (128 + bias) << 23);
    let is_large = c.op(Op::IcmpUle, &[over, rounded]);
    let infinity = c.number(int, 0x7f80_0000);
    let value = c.select(is_large, infinity, value);
    let value = c.op(Op::Or, &[sign, value]);
    let value = c.cast(value, ty);
    let nan = is_nan(c, x);
    Some(c.select(nan, x, value))
}

/// `x` in 32 bits, where halves are exact; no other kind than these has an exponent or mantissa to ask for.
fn single(c: &mut Code, x: Value) -> Option<Value> {
    let ty = c.ty(x);
    let wide = ty.with_kind(Kind::F32);
    matches!(ty.kind(), Kind::F16 | Kind::F32).then(|| c.convert(Op::F2f, x, wide))
}

/// Exponent or mantissa of `x = mantissa * 2^exponent`, on the bits.
pub(super) fn split(c: &mut Code, shape: &Shape, x: Value) -> Option<Value> {
    let ty = c.ty(x);
    let wide = single(c, x)?;
    let bits = c.bits(wide);
    let int = c.ty(bits);
    let magnitude = c.op_number(Op::And, bits, 0x7fff_ffff);
    // Zero wraps to the top, so that one compare finds all without an exponent of their own.
    let below = c.op_number(Op::Isub, magnitude, 1);
    let last = c.number(int, 0x7f80_0000 - 1);
    let is_special = c.op(Op::IcmpUle, &[last, below]);
    // Denormals: the highest one moves to where the hidden bit is.
    let is_denormal = c.op_number(Op::IcmpUlt, magnitude, 0x0080_0000);
    let zeros = super::bits::leading_zeros(c, magnitude);
    let zero = c.number(int, 0);
    let shift = c.op_number(Op::Isub, zeros, 8);
    let shift = c.op_number(Op::And, shift, 31);
    let shift = c.select(is_denormal, shift, zero);
    if shape.op == Op::FfrexpExp {
        // A denormal's exponent field, 0, counts as 1.
        let field = c.op_number(Op::Ushr, magnitude, 23);
        let one = c.number(int, 1);
        let field = c.op(Op::Umax, &[field, one]);
        let exponent = c.op(Op::Isub, &[field, shift]);
        let exponent = c.op_number(Op::Isub, exponent, 126);
        return Some(c.select(is_special, zero, exponent));
    }
    let lifted = c.op(Op::Shl, &[magnitude, shift]);
    let fraction = c.op_number(Op::And, lifted, 0x007f_ffff);
    let sign = c.op_number(Op::And, bits, 0x8000_0000);
    let value = c.op_number(Op::Or, fraction, 0x3f00_0000);
    let value = c.op(Op::Or, &[value, sign]);
    let value = c.select(is_special, bits, value);
    let value = c.cast(value, c.ty(wide));
    Some(c.convert(Op::F2f, value, ty))
}

/// `x * 2^n` by three factors; all products but the last are exact, or far below the least denormal.
pub(super) fn scale(c: &mut Code, x: Value, n: Value) -> Option<Value> {
    let ty = c.ty(x);
    let mut value = single(c, x)?;
    let (single, int) = (c.ty(value), c.ty(n));
    let number = |c: &mut Code, v: i32| c.number(int, u64::from(v as u32));
    let mut left = n;
    for _ in 0..2 {
        // Up by 127, or down by 102: 24 bits above the least exponent, so that no bit is lost yet.
        let [most, least, up, down, none] = [127, -126, 127, -102, 0].map(|v| number(c, v));
        let is_high = c.op(Op::IcmpSlt, &[most, left]);
        let is_low = c.op(Op::IcmpSlt, &[left, least]);
        let step = c.select(is_low, down, none);
        let step = c.select(is_high, up, step);
        let factor = power_of_two(c, step, single);
        value = c.op(Op::Fmul, &[value, factor]);
        left = c.op(Op::Isub, &[left, step]);
    }
    let [most, least] = [127, -126].map(|v| number(c, v));
    let left = c.op(Op::Imin, &[left, most]);
    let left = c.op(Op::Imax, &[left, least]);
    let factor = power_of_two(c, left, single);
    let value = c.op(Op::Fmul, &[value, factor]);
    Some(c.convert(Op::F2f, value, ty))
}

/// `2^n` for n from -126 to 127.
fn power_of_two(c: &mut Code, n: Value, ty: Type) -> Value {
    let field = c.op_number(Op::Iadd, n, 127);
    let bits = c.op_number(Op::Shl, field, 23);
    c.cast(bits, ty)
}

/// The format of a rounding.
pub(super) fn format(imm: Imm) -> Option<FloatFormat> {
    match imm {
        Imm::Format(format) => Some(format),
        _ => None,
    }
}

/// The bits of `kind`'s float `x`, and whether denormals are among what a constant holds: for facts.
pub(super) fn is_denormal(kind: Kind, bits: u64) -> bool {
    let format = Format::of(kind);
    bits & format.exponent == 0 && bits & !format.sign != 0
}

/// Whether `bits` are neither an infinity nor a NaN.
pub(super) fn is_finite(kind: Kind, bits: u64) -> bool {
    let format = Format::of(kind);
    bits & format.exponent != format.exponent
}

/// Whether `bits` are a NaN.
pub(super) fn is_nan_bits(kind: Kind, bits: u64) -> bool {
    let format = Format::of(kind);
    bits & !format.sign > format.exponent
}

/// `bits` with denormals as the zero of their sign.
pub(super) fn flushed_bits(kind: Kind, bits: u64) -> u64 {
    if is_denormal(kind, bits) { bits & Format::of(kind).sign } else { bits }
}
