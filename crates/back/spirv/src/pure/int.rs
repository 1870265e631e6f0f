//! Integer arithmetic, logic and compares. Integers are declared unsigned; signedness is the instruction's.

use super::float::LOWER;
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
            [a, b] => self.int2(shape, ty, a.id, b.id),
            // Sums of three, and with carries.
            _ => Err(LOWER),
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
        Ok(match op {
            Op::Not => self.op(S::Not, ty, &[a]),
            Op::Ineg => {
                let zero = self.splat(ty, 0);
                self.op(S::ISub, ty, &[zero, a])
            }
            _ => return Err(LOWER),
        })
    }

    fn int2(&mut self, shape: &Shape, ty: Type, a: Id, b: Id) -> Made {
        Ok(match shape.op {
            op if let Some(Plain::Op(host)) = plain(op) => self.op(host, shape.ty, &[a, b]),
            op if let Some(Plain::Pick(test)) = plain(op) => self.first_if(test, ty, a, b),
            // Vulkan knows high halves for 32 bits only.
            Op::Umulh if ty.kind() == Kind::I32 => self.mul_extended(S::UMulExtended, ty, a, b),
            Op::Imulh if ty.kind() == Kind::I32 => self.mul_extended(S::SMulExtended, ty, a, b),
            Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => {
                let op = match (shape.flags.div_zero(), shape.op) {
                    (DivZero::Trap, _) => {
                        return Err(Reason::Unsupported("a shader cannot trap a division by zero"));
                    }
                    (DivZero::Never, Op::Udiv) => S::UDiv,
                    (DivZero::Never, Op::Urem) => S::UMod,
                    (DivZero::Never, Op::Sdiv) => return Ok(self.signed_op(S::SDiv, ty, a, b)),
                    _ => return Err(LOWER),
                };
                self.op(op, ty, &[a, b])
            }
            Op::Umulh | Op::Imulh => return Err(LOWER),
            _ => return Err(SHAPE),
        })
    }

    /// `test(a, b) ? a : b`, lane by lane.
    #[inline]
    pub(crate) fn first_if(&mut self, test: S, ty: Type, a: Id, b: Id) -> Id {
        let first = self.op(test, ty.with_kind(Kind::Bool), &[a, b]);
        self.choose(ty, first, a, b)
    }

    fn mul_extended(&mut self, op: S, ty: Type, a: Id, b: Id) -> Id {
        let id = self.ty(ty);
        let pair = self.type_of(S::TypeStruct, &[id, id]);
        let product = self.op_raw(op, pair, &[a, b]);
        self.op(S::CompositeExtract, ty, &[product, 1])
    }
}
