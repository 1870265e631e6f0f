//! Sums and products in the next wider format of the host, rounded to odd there: an inexact result has its last bit set.
//! That leaves enough of it for a second rounding, in any direction, to be right.

use xenoglot_ir::{Bits, Builder, Flags, Kind, Op, Round, Type, Value};

/// The format in which products of `kind` are exact.
pub(super) fn of(kind: Kind) -> Option<Kind> {
    match kind {
        Kind::F16 => Some(Kind::F32),
        Kind::F32 => Some(Kind::F64),
        _ => None,
    }
}

/// The integers of the bits of floats of type `ty`.
fn bits_of(ty: Type) -> Type {
    ty.with_kind(if ty.kind() == Kind::F64 { Kind::I64 } else { Kind::I32 })
}

/// Fraction bits and exponent bias.
fn format(kind: Kind) -> (u32, u64) {
    match kind {
        Kind::F16 => (10, 15),
        Kind::F64 => (52, 1023),
        _ => (23, 127),
    }
}

/// A float as one of kind `wide`, on the bits: drivers drop the rounding of a conversion whose result is converted back,
/// and what some of them flush is kept here.
pub(super) fn widen(b: &mut Builder, flags: Flags, wide: Type, v: Value) -> Value {
    let kind = b.func.ty(v).kind();
    let ((fraction, bias), (wide_fraction, wide_bias)) = (format(kind), format(wide.kind()));
    let (int, bits) = (bits_of(wide), kind.bits());
    let narrow = Type::scalar(if bits == 16 { Kind::I16 } else { Kind::I32 });
    let number = |b: &mut Builder, v: u64| b.constant(int, Bits::scalar(v));
    let v = b.convert(Op::Bitcast, Flags::NONE, v, narrow);
    let v = b.convert(Op::Zext, Flags::NONE, v, int);
    let magnitude = number(b, (1 << (bits - 1)) - 1);
    let magnitude = b.op(Op::And, &[v, magnitude]);
    let up = number(b, (wide_fraction - fraction).into());
    let shifted = b.op(Op::Shl, &[magnitude, up]);
    let rebias = number(b, (wide_bias - bias) << wide_fraction);
    let normal = b.op(Op::Iadd, &[shifted, rebias]);
    // A denormal as the fraction of the least normal number, which is then taken away.
    let zero = number(b, 0);
    let denormal = if flags.ftz() {
        zero
    } else {
        let hidden = number(b, 1 << wide_fraction);
        let above = b.op(Op::Iadd, &[normal, hidden]);
        let above = b.convert(Op::Bitcast, Flags::NONE, above, wide);
        let least = b.constant(wide, Bits::scalar((wide_bias - bias + 1) << wide_fraction));
        let difference = b.op(Op::Fsub, &[above, least]);
        b.convert(Op::Bitcast, Flags::NONE, difference, int)
    };
    let infinity = number(b, (2 * wide_bias + 1) << wide_fraction);
    let special = b.op(Op::Or, &[shifted, infinity]);
    let (first_normal, first_special) = (number(b, 1 << fraction), number(b, (2 * bias + 1) << fraction));
    let is_denormal = b.op(Op::IcmpUlt, &[magnitude, first_normal]);
    let is_finite = b.op(Op::IcmpUlt, &[magnitude, first_special]);
    let finite = b.select(is_denormal, denormal, normal);
    let value = b.select(is_finite, finite, special);
    let up = number(b, (int.bits() - bits).into());
    let sign = b.op(Op::Xor, &[v, magnitude]);
    let sign = b.op(Op::Shl, &[sign, up]);
    let value = b.op(Op::Or, &[value, sign]);
    b.convert(Op::Bitcast, Flags::NONE, value, wide)
}

/// `a * b` as floats of `wide`, which represents it, with the zero rules of the flags.
pub(super) fn product(b: &mut Builder, flags: Flags, wide: Type, x: Value, y: Value) -> Value {
    let product = b.op(Op::Fmul, &[x, y]);
    let zero = b.constant(wide, Bits::default());
    let wins = if flags.fmz() {
        let [x, y] = [x, y].map(|v| b.op(Op::FcmpOeq, &[v, zero]));
        b.op(Op::Or, &[x, y])
    } else if flags.zero_wins() {
        let (numbers, none) = (b.op(Op::FcmpOrd, &[x, y]), b.op(Op::FcmpUno, &[product, product]));
        b.op(Op::And, &[numbers, none])
    } else {
        return product;
    };
    b.select(wins, zero, product)
}

/// `a + b` rounded to odd; `round` decides the sign of a zero made of opposite operands.
pub(super) fn sum(b: &mut Builder, round: Round, wide: Type, x: Value, y: Value) -> Value {
    let int = bits_of(wide);
    let sum = b.op(Op::Fadd, &[x, y]);
    // What it lost, by Knuth's two-sum.
    let of_y = b.op(Op::Fsub, &[sum, x]);
    let of_x = b.op(Op::Fsub, &[sum, of_y]);
    let (lost_x, lost_y) = (b.op(Op::Fsub, &[x, of_x]), b.op(Op::Fsub, &[y, of_y]));
    let lost = b.op(Op::Fadd, &[lost_x, lost_y]);
    let none = b.constant(wide, Bits::default());
    // False where infinities make it a NaN.
    let inexact = b.op(Op::FcmpOne, &[lost, none]);
    let [sum, lost] = [sum, lost].map(|v| b.convert(Op::Bitcast, Flags::NONE, v, int));
    let number = |b: &mut Builder, v: u64| b.constant(int, Bits::scalar(v & int.kind().mask()));
    let (zero, one, ones) = (number(b, 0), number(b, 1), number(b, u64::MAX));
    let parity = b.op(Op::And, &[sum, one]);
    let even = b.op(Op::IcmpEq, &[parity, zero]);
    let moves = b.op(Op::And, &[inexact, even]);
    let signs = b.op(Op::Xor, &[sum, lost]);
    let inwards = b.op(Op::IcmpSlt, &[signs, zero]);
    let step = b.select(inwards, ones, one);
    let step = b.select(moves, step, zero);
    let odd = b.op(Op::Iadd, &[sum, step]);
    // The sign of a zero is worked out from those of the operands: drivers take `x + 0` for `x`, which is wrong for -0, and
    // rounded down, opposite operands make -0.
    let [x, y] = [x, y].map(|v| b.convert(Op::Bitcast, Flags::NONE, v, int));
    let signs = b.op(if round == Round::Down { Op::Or } else { Op::And }, &[x, y]);
    let (sign, magnitude) = (1 << (int.bits() - 1), (1 << (int.bits() - 1)) - 1);
    let (sign, magnitude) = (number(b, sign), number(b, magnitude));
    let sign = b.op(Op::And, &[signs, sign]);
    let magnitude = b.op(Op::And, &[odd, magnitude]);
    let is_zero = b.op(Op::IcmpEq, &[magnitude, zero]);
    let odd = b.select(is_zero, sign, odd);
    b.convert(Op::Bitcast, Flags::NONE, odd, wide)
}
