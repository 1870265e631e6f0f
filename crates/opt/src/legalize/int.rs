//! Carries, high halves of products, and quotients whatever the divisor is.

use super::Shape;
use super::code::Code;
use xenoglot_ir::{DivZero, Flags, Op, Value};

/// Sums and differences with a carry, and what they carry out.
pub(super) fn carry(c: &mut Code, op: Op, [x, y, carry]: [Value; 3]) -> Option<Value> {
    let ty = c.ty(x);
    let combine = match op {
        Op::IaddCarry | Op::IaddCarryOut | Op::IaddOverflowOut => Op::Iadd,
        _ => Op::Isub,
    };
    if op == Op::IsubBorrowOut {
        let less = c.op(Op::IcmpUlt, &[x, y]);
        let equal = c.op(Op::IcmpEq, &[x, y]);
        let by_borrow = c.op(Op::And, &[equal, carry]);
        return Some(c.op(Op::Or, &[less, by_borrow]));
    }
    let carried = c.convert(Op::Zext, carry, ty);
    let half = c.op(combine, &[x, y]);
    let full = c.op(combine, &[half, carried]);
    Some(match op {
        Op::IaddCarry | Op::IsubBorrow => full,
        Op::IaddCarryOut => {
            let first = c.op(Op::IcmpUlt, &[half, x]);
            let second = c.op(Op::IcmpUlt, &[full, half]);
            c.op(Op::Or, &[first, second])
        }
        Op::IaddOverflowOut | Op::IsubOverflowOut => {
            // The result's sign differs from that of `x`, though `y` pulled the other way (sum) or this way (difference).
            let changed = c.op(Op::Xor, &[x, full]);
            let pulled = c.op(Op::Xor, &[y, if combine == Op::Iadd { full } else { x }]);
            let both = c.op(Op::And, &[changed, pulled]);
            let zero = c.number(ty, 0);
            c.op(Op::IcmpSlt, &[both, zero])
        }
        _ => return None,
    })
}

pub(super) fn add3(c: &mut Code, [x, y, z]: [Value; 3]) -> Value {
    let sum = c.op(Op::Iadd, &[x, y]);
    c.op(Op::Iadd, &[sum, z])
}

pub(super) fn abs(c: &mut Code, x: Value) -> Value {
    let zero = c.number(c.ty(x), 0);
    let is_negative = c.op(Op::IcmpSlt, &[x, zero]);
    let negated = c.op(Op::Ineg, &[x]);
    c.select(is_negative, negated, x)
}

/// The high half of a product, by halves of the factors as on paper.
pub(super) fn high_product(c: &mut Code, op: Op, x: Value, y: Value) -> Value {
    let ty = c.ty(x);
    let half = u64::from(ty.kind().bits() / 2);
    let mask = (1 << half) - 1;
    let [xl, yl] = [x, y].map(|v| c.op_number(Op::And, v, mask));
    let [xh, yh] = [x, y].map(|v| c.op_number(Op::Ushr, v, half));
    let [ll, lh, hl, hh] = [[xl, yl], [xl, yh], [xh, yl], [xh, yh]].map(|args| c.op(Op::Imul, &args));
    let carry = c.op_number(Op::Ushr, ll, half);
    let [lh_low, hl_low] = [lh, hl].map(|v| c.op_number(Op::And, v, mask));
    let [lh_high, hl_high] = [lh, hl].map(|v| c.op_number(Op::Ushr, v, half));
    let middle = add3(c, [carry, lh_low, hl_low]);
    let middle = c.op_number(Op::Ushr, middle, half);
    let high = add3(c, [hh, lh_high, hl_high]);
    let high = c.op(Op::Iadd, &[high, middle]);
    if op == Op::Umulh {
        return high;
    }
    // Each negative factor counts the other one too often in the unsigned product.
    let sign = u64::from(ty.kind().bits() - 1);
    [(x, y), (y, x)].into_iter().fold(high, |high, (x, y)| {
        let negative = c.op_number(Op::Sshr, x, sign);
        let excess = c.op(Op::And, &[negative, y]);
        c.op(Op::Isub, &[high, excess])
    })
}

/// Whether a division by `divisor` is one that every host does: not by zero, nor, signed, by -1.
pub(super) fn is_harmless(c: &Code, op: Op, divisor: Value) -> bool {
    let ty = c.ty(divisor);
    let is_signed = matches!(op, Op::Sdiv | Op::Srem);
    c.b.func.const_bits(divisor).is_some_and(|bits| {
        (0..usize::from(ty.lanes()))
            .all(|i| bits.lane(i) != 0 && !(is_signed && bits.lane(i) == ty.kind().mask()))
    })
}

/// Quotient or remainder by a divisor that is made harmless. Hosts leave zero divisors undefined, the least integer by -1,
/// and remainders of negative operands.
pub(super) fn divide(c: &mut Code, shape: &Shape, x: Value, y: Value) -> Option<Value> {
    let ty = c.ty(x);
    let kind = ty.kind();
    let never = Flags::NONE.with_div_zero(DivZero::Never);
    let is_signed = matches!(shape.op, Op::Sdiv | Op::Srem);
    let harmless = is_harmless(c, shape.op, y);
    let is_zero = if harmless { None } else { Some(c.op_number(Op::IcmpEq, y, 0)) };
    let safe = match is_zero {
        None => y,
        Some(is_zero) => {
            let mut bad = is_zero;
            if is_signed {
                // By 1 instead of -1 gives the wrapped quotient of the least integer and its remainder, 0.
                let is_least = c.op_number(Op::IcmpEq, x, 1 << (kind.bits() - 1));
                let is_minus_one = c.op_number(Op::IcmpEq, y, kind.mask());
                let wraps = c.op(Op::And, &[is_least, is_minus_one]);
                bad = c.op(Op::Or, &[bad, wraps]);
            }
            let one = c.number(ty, 1);
            c.select(bad, one, y)
        }
    };
    let result = match shape.op {
        Op::Srem => {
            let quotient = c.with(Op::Sdiv, never, &[x, safe]);
            let product = c.op(Op::Imul, &[quotient, safe]);
            c.op(Op::Isub, &[x, product])
        }
        op => c.with(op, never, &[x, safe]),
    };
    let Some(is_zero) = is_zero else { return Some(result) };
    let by_zero = match shape.flags.div_zero() {
        DivZero::Ones => kind.mask(),
        DivZero::Zero => 0,
        DivZero::Trap | DivZero::Never => return None,
    };
    let by_zero = c.number(ty, by_zero);
    Some(c.select(is_zero, by_zero, result))
}
