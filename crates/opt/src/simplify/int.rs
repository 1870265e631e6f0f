//! Rules for integers, truth values, conversions between them, and `select`.

use super::{Rule, Site};
use xenoglot_ir::{Bits, Kind, Op};

pub(super) fn rule(s: &mut Site<'_>) -> Rule {
    match *s.args.as_slice() {
        [a] => unary(s, a),
        [a, b] => binary(s, a, b),
        [a, b, c] => ternary(s, a, b, c),
        _ => Rule::Keep,
    }
}

type V = xenoglot_ir::Value;

fn unary(s: &mut Site<'_>, a: V) -> Rule {
    match s.op {
        Op::Not => invert(s, a),
        Op::Ineg => match s.args_of(a, Op::Ineg) {
            Some([x]) => Rule::Value(x),
            None => Rule::Keep,
        },
        Op::Zext | Op::Sext | Op::TruncInt => resize(s, a),
        Op::Bitcast => bitcast(s, a),
        _ => Rule::Keep,
    }
}

/// `bitcast` of a `bitcast`, and to the type it has.
pub(super) fn bitcast(s: &Site<'_>, a: V) -> Rule {
    if s.f.ty(a) == s.ty {
        return Rule::Value(a);
    }
    match s.args_of(a, Op::Bitcast) {
        Some([x]) if s.f.ty(x) == s.ty => Rule::Value(x),
        Some([x]) => Rule::op(Op::Bitcast, &[x]),
        None => Rule::Keep,
    }
}

/// `not` of what has an opposite. With NaNs, the opposite of an ordered compare is unordered.
fn invert(s: &Site<'_>, a: V) -> Rule {
    if let Some([x]) = s.args_of(a, Op::Not) {
        return Rule::Value(x);
    }
    let Some(data) = s.def(a) else { return Rule::Keep };
    let (op, swap) = match data.op {
        Op::FcmpOeq => (Op::FcmpUne, false),
        Op::FcmpOne => (Op::FcmpUeq, false),
        Op::FcmpUeq => (Op::FcmpOne, false),
        Op::FcmpUne => (Op::FcmpOeq, false),
        Op::FcmpOlt => (Op::FcmpUle, true),
        Op::FcmpOle => (Op::FcmpUlt, true),
        Op::FcmpUlt => (Op::FcmpOle, true),
        Op::FcmpUle => (Op::FcmpOlt, true),
        Op::FcmpOrd => (Op::FcmpUno, false),
        Op::FcmpUno => (Op::FcmpOrd, false),
        Op::IcmpEq => (Op::IcmpNe, false),
        Op::IcmpNe => (Op::IcmpEq, false),
        Op::IcmpUlt => (Op::IcmpUle, true),
        Op::IcmpUle => (Op::IcmpUlt, true),
        Op::IcmpSlt => (Op::IcmpSle, true),
        Op::IcmpSle => (Op::IcmpSlt, true),
        _ => return Rule::Keep,
    };
    match *data.args.as_slice(&s.f.pool) {
        [x, y] if swap => Rule::flagged(op, data.flags, &[y, x]),
        [x, y] => Rule::flagged(op, data.flags, &[x, y]),
        _ => Rule::Keep,
    }
}

/// Chains of widening and narrowing; those that end where they began become ops of one width, as hosts may lack
/// narrow ones.
fn resize(s: &mut Site<'_>, a: V) -> Rule {
    let Some(data) = s.def(a) else { return Rule::Keep };
    let (op, &[x]) = (data.op, data.args.as_slice(&s.f.pool)) else { return Rule::Keep };
    match (s.op, op) {
        (Op::Zext, Op::Zext) | (Op::Sext, Op::Sext) | (Op::TruncInt, Op::TruncInt) => Rule::op(s.op, &[x]),
        // Back to the width it was cut from.
        (Op::Zext, Op::TruncInt) if s.f.ty(x) == s.ty => {
            let mask = s.constant(s.ty, Bits::splat(s.ty, s.f.ty(a).kind().mask()));
            Rule::op(Op::And, &[x, mask])
        }
        (Op::Sext, Op::TruncInt) if s.f.ty(x) == s.ty => {
            let bits = s.f.ty(a).kind().bits().into();
            let [zero, count] = [0, bits].map(|n| s.constant(s.ty, Bits::splat(s.ty, n)));
            Rule::op(Op::BitfieldS, &[x, zero, count])
        }
        // What was widened with zeros has none in its sign, unless it was not widened at all.
        (Op::Sext, Op::Zext) if s.f.ty(x).kind().bits() < s.f.ty(a).kind().bits() => Rule::op(Op::Zext, &[x]),
        (Op::TruncInt, widen @ (Op::Zext | Op::Sext)) => {
            let (from, to) = (s.f.ty(x).kind().bits(), s.ty.kind().bits());
            if s.f.ty(x) == s.ty {
                Rule::Value(x)
            } else if from < to {
                Rule::op(widen, &[x])
            } else if s.f.ty(x).kind().is_int() {
                Rule::op(Op::TruncInt, &[x])
            } else {
                Rule::Keep
            }
        }
        _ => Rule::Keep,
    }
}

fn binary(s: &mut Site<'_>, a: V, b: V) -> Rule {
    let info = s.op.info();
    if info.traits.commutes && s.f.const_bits(a).is_some() && s.f.const_bits(b).is_none() {
        return Rule::flagged(s.op, s.flags, &[b, a]);
    }
    if matches!(s.op, Op::IcmpEq | Op::IcmpNe | Op::IcmpUlt | Op::IcmpUle | Op::IcmpSlt | Op::IcmpSle) {
        return compare(s, a, b);
    }
    if a == b {
        match s.op {
            Op::And | Op::Or | Op::Imin | Op::Imax | Op::Umin | Op::Umax => return Rule::Value(a),
            Op::Xor | Op::Isub => return Rule::Const(Bits::default()),
            _ => {}
        }
    }
    let mask = s.ty.kind().mask();
    let width = u64::from(s.ty.kind().bits());
    match (s.op, s.splat(b)) {
        (Op::Iadd | Op::Isub | Op::Or | Op::Xor, Some(0)) => return Rule::Value(a),
        (Op::Imul | Op::And | Op::Umulh, Some(0)) => return Rule::Const(Bits::default()),
        (Op::Imul | Op::Udiv | Op::Sdiv, Some(1)) if mask != 1 => return Rule::Value(a),
        (Op::Urem | Op::Srem, Some(1)) => return Rule::Const(Bits::default()),
        (Op::And, Some(m)) if m == mask => return Rule::Value(a),
        (Op::Or, Some(m)) if m == mask => return Rule::Const(Bits::splat(s.ty, mask)),
        (Op::Xor, Some(m)) if m == mask => return Rule::op(Op::Not, &[a]),
        (Op::Shl | Op::Ushr | Op::Sshr | Op::Rotl, Some(n)) if n % width == 0 => return Rule::Value(a),
        (Op::Imul, Some(n)) if n.is_power_of_two() => {
            let amount = s.constant(s.ty, Bits::splat(s.ty, u64::from(n.trailing_zeros())));
            return Rule::op(Op::Shl, &[a, amount]);
        }
        _ => {}
    }
    match s.op {
        Op::Isub if s.splat(a) == Some(0) => Rule::op(Op::Ineg, &[b]),
        Op::Isub => match s.args_of(b, Op::Ineg) {
            Some([x]) => Rule::op(Op::Iadd, &[a, x]),
            None => Rule::Keep,
        },
        Op::Iadd => match (s.args_of(a, Op::Ineg), s.args_of(b, Op::Ineg)) {
            (_, Some([x])) => Rule::op(Op::Isub, &[a, x]),
            (Some([x]), _) => Rule::op(Op::Isub, &[b, x]),
            _ => join(s, a, b),
        },
        Op::Imul | Op::And | Op::Or | Op::Xor => join(s, a, b),
        _ => Rule::Keep,
    }
}

/// `(x op c) op d` with constants, for an associative op.
fn join(s: &mut Site<'_>, a: V, b: V) -> Rule {
    let Some(d) = s.f.const_bits(b) else { return Rule::Keep };
    let Some([x, c]) = s.args_of(a, s.op) else { return Rule::Keep };
    let Some(c) = s.f.const_bits(c) else { return Rule::Keep };
    let mask = s.ty.kind().mask();
    let joined = std::array::from_fn(|i| {
        mask & match s.op {
            Op::Iadd => c.0[i].wrapping_add(d.0[i]),
            Op::Imul => c.0[i].wrapping_mul(d.0[i]),
            Op::And => c.0[i] & d.0[i],
            Op::Or => c.0[i] | d.0[i],
            _ => c.0[i] ^ d.0[i],
        }
    });
    let joined = s.constant(s.ty, Bits(joined));
    Rule::op(s.op, &[x, joined])
}

fn compare(s: &Site<'_>, a: V, b: V) -> Rule {
    let truth = |t: bool| Rule::Const(Bits::splat(s.ty, u64::from(t)));
    if a == b {
        return truth(matches!(s.op, Op::IcmpEq | Op::IcmpUle | Op::IcmpSle));
    }
    if !matches!(s.op, Op::IcmpEq | Op::IcmpNe) {
        return Rule::Keep;
    }
    let Some(k) = s.splat(b) else { return Rule::Keep };
    let holds = |x: u64| (x == k) == (s.op == Op::IcmpEq);
    let kind = s.f.ty(a).kind();
    // `a` is one of two constants: the compare says which.
    let (cond, if_true, if_false) = if kind == Kind::Bool {
        (a, 1, 0)
    } else if let Some([x]) = s.args_of(a, Op::Zext)
        && s.f.ty(x).kind() == Kind::Bool
    {
        (x, 1, 0)
    } else if let Some([x]) = s.args_of(a, Op::Sext)
        && s.f.ty(x).kind() == Kind::Bool
    {
        (x, kind.mask(), 0)
    } else if let Some([c, x, y]) = s.args_of(a, Op::Select)
        && let (Some(x), Some(y)) = (s.splat(x), s.splat(y))
        && s.f.ty(c) == s.ty
    {
        (c, x, y)
    } else {
        return Rule::Keep;
    };
    match (holds(if_true), holds(if_false)) {
        (true, false) => Rule::Value(cond),
        (false, true) => Rule::op(Op::Not, &[cond]),
        (both, _) => truth(both),
    }
}

fn ternary(s: &Site<'_>, a: V, b: V, c: V) -> Rule {
    match s.op {
        Op::Select => select(s, a, b, c),
        Op::IaddCarry if s.splat(c) == Some(0) => Rule::op(Op::Iadd, &[a, b]),
        Op::IsubBorrow if s.splat(c) == Some(0) => Rule::op(Op::Isub, &[a, b]),
        Op::Iadd3 if s.splat(a) == Some(0) => Rule::op(Op::Iadd, &[b, c]),
        Op::Iadd3 if s.splat(b) == Some(0) => Rule::op(Op::Iadd, &[a, c]),
        Op::Iadd3 if s.splat(c) == Some(0) => Rule::op(Op::Iadd, &[a, b]),
        _ => Rule::Keep,
    }
}

fn select(s: &Site<'_>, cond: V, yes: V, no: V) -> Rule {
    if yes == no {
        return Rule::Value(yes);
    }
    match s.splat(cond) {
        Some(0) => return Rule::Value(no),
        Some(_) => return Rule::Value(yes),
        None => {}
    }
    if let Some([x]) = s.args_of(cond, Op::Not) {
        return Rule::op(Op::Select, &[x, no, yes]);
    }
    if s.ty == s.f.ty(cond) {
        match (s.splat(yes), s.splat(no)) {
            (Some(1), Some(0)) => return Rule::Value(cond),
            (Some(0), Some(1)) => return Rule::op(Op::Not, &[cond]),
            (Some(1), None) => return Rule::op(Op::Or, &[cond, no]),
            (None, Some(0)) => return Rule::op(Op::And, &[cond, yes]),
            _ => {}
        }
    }
    Rule::Keep
}
