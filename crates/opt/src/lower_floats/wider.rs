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
    let mut odd = b.op(Op::Iadd, &[sum, step]);
    if round == Round::Down {
        let [x, y] = [x, y].map(|v| b.convert(Op::Bitcast, Flags::NONE, v, int));
        let either = b.op(Op::Or, &[x, y]);
        let sign = number(b, 1 << (int.bits() - 1));
        let sign = b.op(Op::And, &[either, sign]);
        let exact_zero = b.op(Op::IcmpEq, &[odd, zero]);
        odd = b.select(exact_zero, sign, odd);
    }
    b.convert(Op::Bitcast, Flags::NONE, odd, wide)
}
