//! Floats. What the flags ask for beyond this, and ops that no host has, are lowered before (`legalize`).
//!
//! Arithmetic without the flag `contract` is decorated `NoContraction`, which also keeps compilers from other algebra with
//! it.

use super::{Made, Shape};
use crate::error::Reason;
use crate::unit::{Id, Unit};
use spirv::{Decoration, GlslStd450Op as GlOp, Op as S};
use xenoglot_ir::fold::convert::f16_bits;
use xenoglot_ir::{Flags, Kind, Op, Round, Type};

const SHAPE: Reason = Reason::Invalid("operands of a float op");
const ROUNDING: Reason = Reason::Unsupported("this rounding");
/// What `legalize` makes of other ops.
pub(super) const LOWER: Reason = Reason::Unsupported("the op or its flags have to be lowered first");

/// `x` as bits of `kind`.
pub(super) fn bits_of(kind: Kind, x: f64) -> u64 {
    match kind {
        Kind::F16 => f16_bits(x),
        Kind::F64 => x.to_bits(),
        _ => u64::from((x as f32).to_bits()),
    }
}

/// Whether `bits` are neither an infinity nor a NaN.
pub(super) fn is_finite(kind: Kind, bits: u64) -> bool {
    let exponent = match kind {
        Kind::F16 => 0x7c00,
        Kind::F64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    };
    bits & exponent != exponent
}

/// Refuses flags that change what float arithmetic gives: they are lowered to ops.
pub(super) fn plain(flags: Flags) -> Result<(), Reason> {
    if !matches!(flags.round(), Round::Natural | Round::Even) {
        return Err(ROUNDING);
    }
    let rules = flags.ftz() || flags.sat() || flags.zero_wins() || flags.fmz();
    if rules { Err(LOWER) } else { Ok(()) }
}

impl Unit {
    pub(super) fn float(&mut self, shape: &Shape, args: &[Id]) -> Made {
        plain(shape.flags)?;
        if shape.ty.kind() == Kind::Bool {
            return self.float_compare(shape, args);
        }
        let (ty, flags) = (shape.arg(0), shape.flags);
        let transcendental = |u: &mut Unit, op: GlOp, a: Id| match ty.kind() {
            Kind::F64 => Err(Reason::Unsupported("not for 64-bit floats")),
            _ => Ok(u.glsl(op, ty, &[a])),
        };
        Ok(match (shape.op, args) {
            (Op::Fadd, _) => self.exact(S::FAdd, flags, ty, args),
            (Op::Fsub, _) => self.exact(S::FSub, flags, ty, args),
            (Op::Fdiv, _) => self.exact(S::FDiv, flags, ty, args),
            (Op::Fmul, _) => self.exact(S::FMul, flags, ty, args),
            (Op::Fma, &[a, b, c]) => {
                let fused = self.glsl(GlOp::Fma, ty, &[a, b, c]);
                if !flags.contract() {
                    self.decorate(fused, Decoration::NoContraction, &[]);
                }
                fused
            }
            (Op::Fneg, &[a]) => self.op(S::FNegate, ty, &[a]),
            (Op::Fabs, &[a]) => self.glsl(GlOp::FAbs, ty, &[a]),
            // The host's own, of modules whose floats follow the host.
            (Op::Fmin, &[a, b]) => self.glsl(GlOp::FMin, ty, &[a, b]),
            (Op::Fmax, &[a, b]) => self.glsl(GlOp::FMax, ty, &[a, b]),
            (Op::Fsat, &[a]) => {
                let [zero, one] = [0.0, 1.0].map(|x| self.splat(ty, bits_of(ty.kind(), x)));
                self.glsl(GlOp::FClamp, ty, &[a, zero, one])
            }
            (Op::Fdot2 | Op::Fdot3 | Op::Fdot4, &[a, b]) => self.op(S::Dot, ty.lane(), &[a, b]),
            (Op::Floor, &[a]) => self.glsl(GlOp::Floor, ty, &[a]),
            (Op::Ceil, &[a]) => self.glsl(GlOp::Ceil, ty, &[a]),
            (Op::Trunc, &[a]) => self.glsl(GlOp::Trunc, ty, &[a]),
            (Op::RoundEven, &[a]) => self.glsl(GlOp::RoundEven, ty, &[a]),
            (Op::Fract, &[a]) => {
                let floor = self.glsl(GlOp::Floor, ty, &[a]);
                self.exact(S::FSub, Flags::NONE, ty, &[a, floor])
            }
            (Op::Sqrt, &[a]) => self.glsl(GlOp::Sqrt, ty, &[a]),
            (Op::Rsqrt, &[a]) => self.glsl(GlOp::InverseSqrt, ty, &[a]),
            (Op::Rcp, &[a]) => {
                let one = self.splat(ty, bits_of(ty.kind(), 1.0));
                self.exact(S::FDiv, flags, ty, &[one, a])
            }
            (Op::Exp2, &[a]) => transcendental(self, GlOp::Exp2, a)?,
            (Op::Log2, &[a]) => transcendental(self, GlOp::Log2, a)?,
            (Op::Sin, &[a]) => transcendental(self, GlOp::Sin, a)?,
            (Op::Cos, &[a]) => transcendental(self, GlOp::Cos, a)?,
            (Op::Fldexp | Op::FfrexpExp | Op::FfrexpMant | Op::Fquantize, _) => return Err(LOWER),
            _ => return Err(SHAPE),
        })
    }

    /// Float arithmetic, not to be contracted unless the flags allow it.
    fn exact(&mut self, op: S, flags: Flags, ty: Type, args: &[Id]) -> Id {
        let id = self.op_of(op, ty, args);
        if !flags.contract() {
            self.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    fn float_compare(&mut self, shape: &Shape, args: &[Id]) -> Made {
        let &[a, b] = args else { return Err(SHAPE) };
        let op = match shape.op {
            Op::FcmpOeq => S::FOrdEqual,
            Op::FcmpUne => S::FUnordNotEqual,
            Op::FcmpOlt => S::FOrdLessThan,
            Op::FcmpOle => S::FOrdLessThanEqual,
            Op::FcmpOne => S::FOrdNotEqual,
            Op::FcmpUeq => S::FUnordEqual,
            Op::FcmpUlt => S::FUnordLessThan,
            Op::FcmpUle => S::FUnordLessThanEqual,
            _ => return Err(LOWER),
        };
        Ok(self.op(op, shape.ty, &[a, b]))
    }
}
