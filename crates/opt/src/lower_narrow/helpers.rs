//! Halves as 32-bit floats: functions that round, flush, and go from the bits of one to the other.

use crate::legalize::Code;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Builder, Flags, Func, Function, Op, Type, Value};

/// What a helper does to a 32-bit float, or the bits of a half, in each lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Help {
    /// The nearest half, ties to even.
    Round,
    /// A half with denormals as the zero of their sign.
    Flush,
    /// The bits of a half, from the float of its value.
    Bits,
    /// The float of a half's value, from its bits.
    Value,
}

impl Help {
    fn name(self) -> &'static str {
        match self {
            Help::Round => "round_half",
            Help::Flush => "flush_half",
            Help::Bits => "half_bits",
            Help::Value => "half_value",
        }
    }
}

/// The helpers that a module came to need.
pub(super) struct Helpers {
    next: usize,
    known: Vec<(Help, Type, Func)>,
    /// Functions to be added behind those of the module.
    pub(super) made: Vec<Function>,
}

impl Helpers {
    /// None yet, for a module of so many functions.
    pub(super) fn new(next: usize) -> Helpers {
        Helpers { next, known: Vec::new(), made: Vec::new() }
    }

    /// What a helper makes of `v`, whose lanes are 32 bits wide.
    pub(super) fn call(&mut self, c: &mut Code, help: Help, v: Value) -> Value {
        let from = c.ty(v);
        let to = match help {
            Help::Round | Help::Flush => from,
            Help::Bits => from.with_kind(xenoglot_ir::Kind::I32),
            Help::Value => from.with_kind(xenoglot_ir::Kind::F32),
        };
        let known = self.known.iter().find(|k| k.0 == help && k.1 == from).map(|k| k.2);
        let func = known.unwrap_or_else(|| {
            let func = Func::new(self.next + self.made.len());
            self.made.push(function(help, from, to));
            self.known.push((help, from, func));
            func
        });
        c.b.call_pure(func, &[v], to)
    }
}

fn function(help: Help, from: Type, to: Type) -> Function {
    let mut f = Function::new(format!("{}_{from}", help.name()));
    f.returns = vec![to];
    let block = f.add_block();
    let v = f.add_param(block, from);
    let mut b = Builder::new(&mut f, block);
    let mut c = Code::plain(&mut b);
    let made = match help {
        Help::Round => round(&mut c, v),
        Help::Flush => flush(&mut c, v),
        Help::Bits => bits(&mut c, v),
        Help::Value => value(&mut c, v),
    };
    b.ret(&[made]);
    f
}

/// 2^-14, the least half that is no denormal, as a float.
const LEAST_NORMAL: u64 = 0x3880_0000;
/// 2^16, which no half reaches.
const LIMIT: u64 = 0x4780_0000;
const INFINITY: u64 = 0x7f80_0000;
/// 2^-24, the least denormal.
const UNIT: f32 = 5.960_464_5e-8;

fn sign_and_magnitude(c: &mut Code, bits: Value, sign: u64) -> [Value; 2] {
    [sign, sign - 1].map(|mask| c.op_number(Op::And, bits, mask))
}

/// How many of the least denormal a float below 2^-14 is, to nearest even: one half and this float have that many units in
/// the last place of their sum behind the half.
fn units(c: &mut Code, magnitude: Value, ty: Type) -> Value {
    let float = c.cast(magnitude, ty);
    let half = c.number(ty, u64::from(0.5f32.to_bits()));
    let sum = c.op(Op::Fadd, &[float, half]);
    let sum = c.bits(sum);
    c.op_number(Op::Isub, sum, u64::from(0.5f32.to_bits()))
}

/// So many of the least denormal as the bits of a float.
fn of_units(c: &mut Code, units: Value, ty: Type) -> Value {
    let number = c.b.convert(Op::U2f, Flags::NONE, units, ty);
    let unit = c.number(ty, u64::from(UNIT.to_bits()));
    let value = c.op(Op::Fmul, &[number, unit]);
    c.bits(value)
}

fn round(c: &mut Code, v: Value) -> Value {
    let ty = c.ty(v);
    let raw = c.bits(v);
    let int = c.ty(raw);
    let [sign, magnitude] = sign_and_magnitude(c, raw, 0x8000_0000);
    // Thirteen bits go; a carry comes into the exponent as it must.
    let odd = c.op_number(Op::Ushr, magnitude, 13);
    let odd = c.op_number(Op::And, odd, 1);
    let sum = c.op_number(Op::Iadd, magnitude, 0xfff);
    let sum = c.op(Op::Iadd, &[sum, odd]);
    let normal = c.op_number(Op::And, sum, 0xffff_e000);
    let [limit, infinity] = [LIMIT, INFINITY].map(|n| c.number(int, n));
    let fits = c.op(Op::IcmpUlt, &[normal, limit]);
    let normal = c.select(fits, normal, infinity);
    let n = units(c, magnitude, ty);
    let small = of_units(c, n, ty);
    let is_small = c.op_number(Op::IcmpUlt, magnitude, LEAST_NORMAL);
    let kept = c.select(is_small, small, normal);
    let is_nan = c.op(Op::IcmpUlt, &[infinity, magnitude]);
    // A NaN stays one when its low bits go.
    let quiet = c.op_number(Op::Or, magnitude, 0x0040_0000);
    let quiet = c.op_number(Op::And, quiet, 0xffff_e000);
    let kept = c.select(is_nan, quiet, kept);
    let made = c.op(Op::Or, &[kept, sign]);
    c.cast(made, ty)
}

fn flush(c: &mut Code, v: Value) -> Value {
    let ty = c.ty(v);
    let raw = c.bits(v);
    let [sign, magnitude] = sign_and_magnitude(c, raw, 0x8000_0000);
    let is_small = c.op_number(Op::IcmpUlt, magnitude, LEAST_NORMAL);
    let made = c.select(is_small, sign, raw);
    c.cast(made, ty)
}

fn bits(c: &mut Code, v: Value) -> Value {
    let ty = c.ty(v);
    let raw = c.bits(v);
    let int = c.ty(raw);
    let [sign, magnitude] = sign_and_magnitude(c, raw, 0x8000_0000);
    let moved = c.op_number(Op::Ushr, magnitude, 13);
    let normal = c.op_number(Op::Isub, moved, (127 - 15) << 10);
    let small = units(c, magnitude, ty);
    let is_small = c.op_number(Op::IcmpUlt, magnitude, LEAST_NORMAL);
    let finite = c.select(is_small, small, normal);
    let special = c.op_number(Op::And, moved, 0x3ff);
    let special = c.op_number(Op::Or, special, 0x7c00);
    let infinity = c.number(int, INFINITY);
    let is_finite = c.op(Op::IcmpUlt, &[magnitude, infinity]);
    let made = c.select(is_finite, finite, special);
    let sign = c.op_number(Op::Ushr, sign, 16);
    c.op(Op::Or, &[made, sign])
}

fn value(c: &mut Code, raw: Value) -> Value {
    let int = c.ty(raw);
    let ty = int.with_kind(xenoglot_ir::Kind::F32);
    let [sign, magnitude] = sign_and_magnitude(c, raw, 0x8000);
    let moved = c.op_number(Op::Shl, magnitude, 13);
    let normal = c.op_number(Op::Iadd, moved, (127 - 15) << 23);
    let small = of_units(c, magnitude, ty);
    let is_small = c.op_number(Op::IcmpUlt, magnitude, 0x400);
    let finite = c.select(is_small, small, normal);
    let special = c.op_number(Op::Or, moved, INFINITY);
    let first_special = c.number(int, 0x7c00);
    let is_finite = c.op(Op::IcmpUlt, &[magnitude, first_special]);
    let made = c.select(is_finite, finite, special);
    let sign = c.op_number(Op::Shl, sign, 16);
    let made = c.op(Op::Or, &[made, sign]);
    c.cast(made, ty)
}

/// The bits of the float that has a half's value; a NaN keeps its payload.
pub(super) fn widened(half: u64) -> u64 {
    let (sign, magnitude) = ((half & 0x8000) << 16, half & 0x7fff);
    sign | match magnitude {
        0x7c00.. => INFINITY | magnitude << 13,
        0x400.. => (magnitude << 13) + ((127 - 15) << 23),
        _ => u64::from((magnitude as f32 * UNIT).to_bits()),
    }
}
