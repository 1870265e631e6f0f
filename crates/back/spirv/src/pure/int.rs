//! Integer arithmetic, logic and compares. Integers are declared unsigned; signedness is the instruction's.

use super::{Arg, Made, Shape};
use crate::error::Reason;
use crate::unit::{Id, Unit};
use spirv::Op as S;
use xenoglot_ir::{DivZero, Kind, Op, Type};

const SHAPE: Reason = Reason::Invalid("operands of an integer op");

/// How the host does an op on two integers.
pub(crate) enum Plain {
    /// By one instruction that is just that.
    Op(S),
    /// By a shift, whose amount has to be below the width.
    Shift(S),
    /// By a choice of the first where this compare holds, of the second elsewhere.
    Pick(S),
}

/// How the host does an op on two integers, without flags, if it does it by one or two instructions.
#[inline]
pub(crate) fn plain(op: Op) -> Option<Plain> {
    Some(Plain::Op(match op {
        Op::Iadd => S::IAdd,
        Op::Isub => S::ISub,
        Op::Imul => S::IMul,
        Op::And => S::BitwiseAnd,
        Op::Or => S::BitwiseOr,
        Op::Xor => S::BitwiseXor,
        Op::IcmpEq => S::IEqual,
        Op::IcmpNe => S::INotEqual,
        Op::IcmpUlt => S::ULessThan,
        Op::IcmpUle => S::ULessThanEqual,
        Op::IcmpSlt => S::SLessThan,
        Op::IcmpSle => S::SLessThanEqual,
        Op::Shl => return Some(Plain::Shift(S::ShiftLeftLogical)),
        Op::Ushr => return Some(Plain::Shift(S::ShiftRightLogical)),
        Op::Sshr => return Some(Plain::Shift(S::ShiftRightArithmetic)),
        Op::Imin => return Some(Plain::Pick(S::SLessThan)),
        Op::Imax => return Some(Plain::Pick(S::SGreaterThan)),
        Op::Umin => return Some(Plain::Pick(S::ULessThan)),
        Op::Umax => return Some(Plain::Pick(S::UGreaterThan)),
        _ => return None,
    }))
}

impl Unit {
    pub(super) fn int(&mut self, shape: &Shape, args: &[Arg]) -> Made {
        let ty = shape.arg(0);
        if ty.kind() == Kind::Bool {
            return self.logic(shape, args);
        }
        match *args {
            [a] => self.int1(shape.op, ty, a.id),
            [a, b] => self.int2(shape, ty, a, b),
            [a, b, c] => self.int3(shape, ty, [a.id, b.id, c.id]),
            _ => Err(SHAPE),
        }
    }

    fn logic(&mut self, shape: &Shape, args: &[Arg]) -> Made {
        let ty = shape.ty;
        Ok(match (shape.op, args) {
            (Op::Not, [a]) => self.op(S::LogicalNot, ty, &[a.id]),
            (Op::And, [a, b]) => self.both(ty, a.id, b.id),
            (Op::Or, [a, b]) => self.either(ty, a.id, b.id),
            (Op::Xor | Op::IcmpNe, [a, b]) => self.op(S::LogicalNotEqual, ty, &[a.id, b.id]),
            (Op::IcmpEq, [a, b]) => self.op(S::LogicalEqual, ty, &[a.id, b.id]),
            _ => return Err(SHAPE),
        })
    }

    fn int1(&mut self, op: Op, ty: Type, a: Id) -> Made {
        let bool = ty.with_kind(Kind::Bool);
        let zero = self.splat(ty, 0);
        Ok(match op {
            Op::Not => self.op(S::Not, ty, &[a]),
            Op::Ineg => self.op(S::ISub, ty, &[zero, a]),
            Op::Iabs => {
                let negative = self.op(S::SLessThan, bool, &[a, zero]);
                let negated = self.op(S::ISub, ty, &[zero, a]);
                self.choose(ty, negative, negated, a)
            }
            _ => return Err(SHAPE),
        })
    }

    fn int2(&mut self, shape: &Shape, ty: Type, arg_a: Arg, arg_b: Arg) -> Made {
        let (a, b) = (arg_a.id, arg_b.id);
        Ok(match shape.op {
            op if let Some(Plain::Op(host)) = plain(op) => self.op(host, shape.ty, &[a, b]),
            op if let Some(Plain::Pick(test)) = plain(op) => self.first_if(test, ty, a, b),
            Op::Umulh => self.umulh(ty, a, b),
            Op::Imulh => self.imulh(ty, a, b),
            Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => return self.divide(shape, ty, a, arg_b),
            _ => return Err(SHAPE),
        })
    }

    /// `test(a, b) ? a : b`, lane by lane.
    #[inline]
    pub(crate) fn first_if(&mut self, test: S, ty: Type, a: Id, b: Id) -> Id {
        let first = self.op(test, ty.with_kind(Kind::Bool), &[a, b]);
        self.choose(ty, first, a, b)
    }

    fn int3(&mut self, shape: &Shape, ty: Type, [a, b, c]: [Id; 3]) -> Made {
        let bool = ty.with_kind(Kind::Bool);
        if shape.op == Op::Iadd3 {
            let ab = self.op(S::IAdd, ty, &[a, b]);
            return Ok(self.op(S::IAdd, ty, &[ab, c]));
        }
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let combine = match shape.op {
            Op::IaddCarry | Op::IaddCarryOut | Op::IaddOverflowOut => S::IAdd,
            Op::IsubBorrow | Op::IsubBorrowOut | Op::IsubOverflowOut => S::ISub,
            _ => return Err(SHAPE),
        };
        if shape.op == Op::IsubBorrowOut {
            let less = self.op(S::ULessThan, bool, &[a, b]);
            let equal = self.op(S::IEqual, bool, &[a, b]);
            let by_borrow = self.both(bool, equal, c);
            return Ok(self.either(bool, less, by_borrow));
        }
        let carry = self.choose(ty, c, one, zero);
        let half = self.op(combine, ty, &[a, b]);
        let full = self.op(combine, ty, &[half, carry]);
        Ok(match shape.op {
            Op::IaddCarry | Op::IsubBorrow => full,
            Op::IaddCarryOut => {
                let first = self.op(S::ULessThan, bool, &[half, a]);
                let second = self.op(S::ULessThan, bool, &[full, half]);
                self.either(bool, first, second)
            }
            _ => {
                // The result's sign differs from `a`'s, though `b` pulled the other way (add) or this way (sub).
                let changed = self.op(S::BitwiseXor, ty, &[a, full]);
                let other = if combine == S::IAdd { full } else { a };
                let pulled = self.op(S::BitwiseXor, ty, &[b, other]);
                let both = self.op(S::BitwiseAnd, ty, &[changed, pulled]);
                self.op(S::SLessThan, bool, &[both, zero])
            }
        })
    }

    /// High half of the unsigned product.
    fn umulh(&mut self, ty: Type, a: Id, b: Id) -> Id {
        if ty.kind() == Kind::I32 && !self.options.portable_ops {
            return self.mul_extended(S::UMulExtended, ty, a, b);
        }
        // By halves of the word, as on paper.
        let half = u64::from(ty.kind().bits() / 2);
        let (shift, mask) = (self.splat(ty, half), self.splat(ty, (1 << half) - 1));
        let [al, bl] = [a, b].map(|x| self.op(S::BitwiseAnd, ty, &[x, mask]));
        let [ah, bh] = [a, b].map(|x| self.op(S::ShiftRightLogical, ty, &[x, shift]));
        let [ll, lh, hl, hh] =
            [(al, bl), (al, bh), (ah, bl), (ah, bh)].map(|(x, y)| self.op(S::IMul, ty, &[x, y]));
        let carry = self.op(S::ShiftRightLogical, ty, &[ll, shift]);
        let [lh_low, hl_low] = [lh, hl].map(|x| self.op(S::BitwiseAnd, ty, &[x, mask]));
        let [lh_high, hl_high] = [lh, hl].map(|x| self.op(S::ShiftRightLogical, ty, &[x, shift]));
        let middle = self.op(S::IAdd, ty, &[carry, lh_low]);
        let middle = self.op(S::IAdd, ty, &[middle, hl_low]);
        let middle = self.op(S::ShiftRightLogical, ty, &[middle, shift]);
        [lh_high, hl_high, middle].into_iter().fold(hh, |sum, x| self.op(S::IAdd, ty, &[sum, x]))
    }

    fn imulh(&mut self, ty: Type, a: Id, b: Id) -> Id {
        if ty.kind() == Kind::I32 && !self.options.portable_ops {
            return self.mul_extended(S::SMulExtended, ty, a, b);
        }
        // Each negative factor counts 2^n too much in the unsigned product.
        let unsigned = self.umulh(ty, a, b);
        let sign = self.splat(ty, u64::from(ty.kind().bits() - 1));
        [(a, b), (b, a)].into_iter().fold(unsigned, |high, (x, y)| {
            let negative = self.op(S::ShiftRightArithmetic, ty, &[x, sign]);
            let excess = self.op(S::BitwiseAnd, ty, &[negative, y]);
            self.op(S::ISub, ty, &[high, excess])
        })
    }

    fn mul_extended(&mut self, op: S, ty: Type, a: Id, b: Id) -> Id {
        let id = self.ty(ty);
        let pair = self.type_of(S::TypeStruct, &[id, id]);
        let product = self.op_raw(op, pair, &[a, b]);
        self.op(S::CompositeExtract, ty, &[product, 1])
    }

    /// Quotient and remainder. Vulkan leaves a zero divisor, the least value by -1, and remainders of negative
    /// operands undefined.
    fn divide(&mut self, shape: &Shape, ty: Type, a: Id, divisor: Arg) -> Made {
        let bool = ty.with_kind(Kind::Bool);
        let (kind, b) = (ty.kind(), divisor.id);
        let signed = matches!(shape.op, Op::Sdiv | Op::Srem);
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let minus_one = kind.mask();
        let lanes = usize::from(ty.lanes());
        let harmless = divisor.bits.is_some_and(|bits| {
            (0..lanes).all(|i| bits.lane(i) != 0 && !(signed && bits.lane(i) == minus_one))
        });
        if shape.flags.div_zero() == DivZero::Trap && !harmless {
            return Err(Reason::Unsupported("a shader cannot trap a division by zero"));
        }
        let is_zero = if harmless { None } else { Some(self.op(S::IEqual, bool, &[b, zero])) };
        let safe = match is_zero {
            None => b,
            Some(is_zero) => {
                let mut bad = is_zero;
                if signed {
                    // By 1 instead of -1 gives the wrapped quotient of the least value and its remainder, 0.
                    let least = self.splat(ty, 1 << (kind.bits() - 1));
                    let ones = self.splat(ty, minus_one);
                    let is_least = self.op(S::IEqual, bool, &[a, least]);
                    let is_ones = self.op(S::IEqual, bool, &[b, ones]);
                    let wraps = self.both(bool, is_least, is_ones);
                    bad = self.either(bool, bad, wraps);
                }
                self.choose(ty, bad, one, b)
            }
        };
        let quotient = self.op(if signed { S::SDiv } else { S::UDiv }, ty, &[a, safe]);
        let result = if matches!(shape.op, Op::Udiv | Op::Sdiv) {
            quotient
        } else {
            let product = self.op(S::IMul, ty, &[quotient, safe]);
            self.op(S::ISub, ty, &[a, product])
        };
        Ok(match is_zero {
            None => result,
            Some(is_zero) => {
                let bits = if shape.flags.div_zero() == DivZero::Ones { kind.mask() } else { 0 };
                let by_zero = self.splat(ty, bits);
                self.choose(ty, is_zero, by_zero, result)
            }
        })
    }
}
