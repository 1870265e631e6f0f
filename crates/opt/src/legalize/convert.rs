//! Conversions of floats to integers.

use super::Shape;
use super::code::Code;
use xenoglot_ir::{Kind, Op, Round, Value};

/// Conversions to integers: rounded as asked, saturating if `clamp`.
pub(super) fn to_integer(c: &mut Code, shape: &Shape, x: Value) -> Option<Value> {
    let (mut x, to) = (x, shape.ty);
    if c.ty(x).kind() == Kind::F16 {
        // Halves do not reach the ends of wider integers.
        let wide = c.ty(x).with_kind(Kind::F32);
        x = c.convert(Op::F2f, x, wide);
    }
    let from = c.ty(x);
    x = match shape.flags.round() {
        Round::Natural | Round::Zero => x,
        Round::Even => c.op(Op::RoundEven, &[x]),
        Round::Up => c.op(Op::Ceil, &[x]),
        Round::Down => c.op(Op::Floor, &[x]),
    };
    let bits = to.kind().bits();
    let word = if bits < 32 { to.with_kind(Kind::I32) } else { to };
    if !shape.flags.clamp() {
        let made = c.convert(shape.op, x, word);
        return Some(c.convert(Op::TruncInt, made, to));
    }
    let is_signed = shape.op == Op::F2s;
    // Powers of two, so exact: the first value too large, and the last that is not too small.
    let high = 2f64.powi(bits as i32 - i32::from(is_signed));
    let low = if is_signed { -high } else { 0.0 };
    let most = to.kind().mask() >> u32::from(is_signed);
    let least = if is_signed { word.kind().mask() & !most } else { 0 };
    let float = |v: f64| match from.kind() {
        Kind::F64 => v.to_bits(),
        _ => u64::from((v as f32).to_bits()),
    };
    let [high, low, zero] = [high, low, 0.0].map(|v| c.number(from, float(v)));
    let [most, least] = [most, least].map(|v| c.number(word, v));
    let is_high = c.op(Op::FcmpOle, &[high, x]);
    let is_low = c.op(Op::FcmpOlt, &[x, low]);
    // What is out of range or no number is converted as 0.
    let is_above = c.op(Op::FcmpOle, &[low, x]);
    let is_below = c.op(Op::FcmpOlt, &[x, high]);
    let is_inside = c.op(Op::And, &[is_above, is_below]);
    let safe = c.select(is_inside, x, zero);
    let value = c.convert(shape.op, safe, word);
    let value = c.select(is_high, most, value);
    let value = c.select(is_low, least, value);
    Some(c.convert(Op::TruncInt, value, to))
}
