//! Rules for floats.
//!
//! A float op without `ftz`, `sat` and directed rounding gives back an operand untouched where IEEE 754 says so;
//! the zero rules matter to products only.

use super::{Rule, Site, int};
use xenoglot_ir::{Bits, Flags, Kind, Op, Round, Value};

pub(super) fn rule(s: &mut Site<'_>) -> Rule {
    match *s.args.as_slice() {
        [a] => unary(s, a),
        [a, b] => binary(s, a, b),
        [a, b, c] if s.op == Op::Fma => fma(s, a, b, c),
        _ => Rule::Keep,
    }
}

fn unary(s: &Site<'_>, a: Value) -> Rule {
    match s.op {
        Op::Fneg => match s.args_of(a, Op::Fneg) {
            Some([x]) => Rule::Value(x),
            None => Rule::Keep,
        },
        Op::Fabs => match (s.args_of(a, Op::Fneg), s.args_of::<1>(a, Op::Fabs)) {
            (Some([x]), _) => Rule::op(Op::Fabs, &[x]),
            (_, Some(_)) => Rule::Value(a),
            _ => Rule::Keep,
        },
        Op::Fsat => match s.def(a) {
            // Clamped once, and flushed if it has to be.
            Some(d) if (d.flags.sat() || d.op == Op::Fsat) && (d.flags.ftz() || !s.flags.ftz()) => {
                Rule::Value(a)
            }
            _ => Rule::Keep,
        },
        Op::Bitcast => int::bitcast(s, a),
        _ => Rule::Keep,
    }
}

/// Whether an op that is the identity on its operand by IEEE 754 gives that operand back bit for bit.
fn gives_back(s: &Site<'_>) -> bool {
    !s.flags.ftz() && !s.flags.sat() && matches!(s.flags.round(), Round::Natural | Round::Even)
}

/// One, by kind.
fn one(kind: Kind) -> u64 {
    match kind {
        Kind::F16 => 0x3c00,
        Kind::F64 => 1f64.to_bits(),
        _ => u64::from(1f32.to_bits()),
    }
}

fn sign(kind: Kind) -> u64 {
    1 << (kind.bits() - 1)
}

/// Whether `bits` are a number that a product with anything but a NaN cannot turn into a NaN: finite, and not zero
/// even after flushing.
fn finite_nonzero(kind: Kind, bits: u64) -> bool {
    let exponent = match kind {
        Kind::F16 => 0x7c00,
        Kind::F64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    };
    bits & exponent != 0 && bits & exponent != exponent
}

/// The flags without `zw`, if no product of `a` and `b` can need it: a square, or one factor finite and not zero.
fn without_zero_wins(s: &Site<'_>, a: Value, b: Value) -> Option<Flags> {
    let kind = s.f.ty(a).kind();
    let harmless =
        a == b || s.all_lanes(a, |l| finite_nonzero(kind, l)) || s.all_lanes(b, |l| finite_nonzero(kind, l));
    (s.flags.zero_wins() && harmless).then(|| {
        let flags = sum_flags(s.flags);
        if s.flags.fmz() { flags.with_fmz() } else { flags }
    })
}

fn binary(s: &Site<'_>, a: Value, b: Value) -> Rule {
    let traits = s.op.info().traits;
    if traits.commutes && s.f.const_bits(a).is_some() && s.f.const_bits(b).is_none() {
        return Rule::flagged(s.op, s.flags, &[b, a]);
    }
    let kind = s.f.ty(a).kind();
    match s.op {
        Op::Fadd => match (s.args_of(a, Op::Fneg), s.args_of(b, Op::Fneg)) {
            _ if s.splat(b) == Some(sign(kind)) && gives_back(s) => Rule::Value(a),
            (_, Some([x])) => Rule::flagged(Op::Fsub, s.flags, &[a, x]),
            (Some([x]), _) => Rule::flagged(Op::Fsub, s.flags, &[b, x]),
            _ => Rule::Keep,
        },
        Op::Fsub => match s.args_of(b, Op::Fneg) {
            _ if s.splat(b) == Some(0) && gives_back(s) => Rule::Value(a),
            _ if s.splat(a) == Some(sign(kind)) && gives_back(s) => Rule::op(Op::Fneg, &[b]),
            Some([x]) => Rule::flagged(Op::Fadd, s.flags, &[a, x]),
            None => Rule::Keep,
        },
        Op::Fmul => product(s, a, b),
        Op::Fdiv if s.splat(b) == Some(one(kind)) && gives_back(s) => Rule::Value(a),
        Op::Fmin | Op::Fmax if a == b && !s.flags.ftz() => Rule::Value(a),
        Op::Fdot2 | Op::Fdot3 | Op::Fdot4 => match without_zero_wins(s, a, b) {
            Some(flags) => Rule::flagged(s.op, flags, &[a, b]),
            None => Rule::Keep,
        },
        _ => Rule::Keep,
    }
}

fn product(s: &Site<'_>, a: Value, b: Value) -> Rule {
    let kind = s.ty.kind();
    if let Some(flags) = without_zero_wins(s, a, b) {
        return Rule::flagged(Op::Fmul, flags, &[a, b]);
    }
    // With `fmz` a negative zero times one is a positive one.
    if gives_back(s) && !s.flags.fmz() {
        match s.splat(b) {
            Some(l) if l == one(kind) => return Rule::Value(a),
            Some(l) if l == one(kind) | sign(kind) => return Rule::op(Op::Fneg, &[a]),
            _ => {}
        }
    }
    match (s.args_of(a, Op::Fneg), s.args_of(b, Op::Fneg)) {
        (Some([x]), Some([y])) => Rule::flagged(Op::Fmul, s.flags, &[x, y]),
        _ => Rule::Keep,
    }
}

/// Whether a product is a positive zero in all lanes, whatever a factor that is no constant may be.
fn product_is_zero(s: &Site<'_>, a: Value, b: Value) -> bool {
    let kind = s.f.ty(b).kind();
    let is_zero = |v| s.all_lanes(v, |l| l & !sign(kind) == 0);
    if s.flags.fmz() {
        return is_zero(a) || is_zero(b);
    }
    let (Some(x), Some(y)) = (s.splat(a), s.splat(b)) else { return false };
    let finite = |l| l & !sign(kind) == 0 || finite_nonzero(kind, l);
    (is_zero(a) || is_zero(b)) && finite(x) && finite(y) && (x ^ y) & sign(kind) == 0
}

/// What of the flags of products and sums a sum has.
fn sum_flags(f: Flags) -> Flags {
    let keep = |flags: Flags, on: bool, with: fn(Flags) -> Flags| if on { with(flags) } else { flags };
    let flags = keep(Flags::NONE.with_round(f.round()), f.contract(), Flags::with_contract);
    keep(keep(flags, f.ftz(), Flags::with_ftz), f.sat(), Flags::with_sat)
}

fn fma(s: &mut Site<'_>, a: Value, b: Value, c: Value) -> Rule {
    if s.f.const_bits(a).is_some() && s.f.const_bits(b).is_none() {
        return Rule::flagged(Op::Fma, s.flags, &[b, a, c]);
    }
    if product_is_zero(s, a, b) {
        let flags = sum_flags(s.flags);
        let zero = s.constant(s.f.ty(c), Bits::default());
        return Rule::flagged(Op::Fadd, flags, &[c, zero]);
    }
    if let Some(flags) = without_zero_wins(s, a, b) {
        return Rule::flagged(Op::Fma, flags, &[a, b, c]);
    }
    match (s.args_of(a, Op::Fneg), s.args_of(b, Op::Fneg)) {
        (Some([x]), Some([y])) => Rule::flagged(Op::Fma, s.flags, &[x, y, c]),
        _ => Rule::Keep,
    }
}
