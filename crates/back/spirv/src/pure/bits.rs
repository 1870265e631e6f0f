//! Shifts, and what Vulkan has of fields and counts: in 32-bit integers.
//!
//! SPIR-V leaves shifts by the width undefined; those of the IR count modulo the width. What else guests do with bits is
//! lowered before (`legalize`).

use super::float::LOWER;
use super::int::{Plain, plain};
use super::{Arg, Made, Shape};
use crate::options::Version;
use crate::unit::{Id, Unit};
use spirv::{Capability, GlslStd450Op as GlOp, Op as S, PackedVectorFormat};
use xenoglot_ir::{Kind, Op, Type};

impl Unit {
    pub(super) fn bit(&mut self, shape: &Shape, args: &[Arg]) -> Made {
        let ty = shape.ty;
        match (shape.op, args) {
            (op, &[a, s]) if let Some(Plain::Shift(op)) = plain(op) => Ok(self.shift(op, ty, a.id, s)),
            _ if ty.kind() != Kind::I32 => Err(LOWER),
            (Op::BitfieldU, &[a, offset, count]) => {
                let (offset, count) = self.constant_field(ty, offset, count).ok_or(LOWER)?;
                Ok(self.op(S::BitFieldUExtract, ty, &[a.id, offset, count]))
            }
            (Op::BitfieldInsert, &[a, b, offset, count]) => {
                let (offset, count) = self.constant_field(ty, offset, count).ok_or(LOWER)?;
                Ok(self.op(S::BitFieldInsert, ty, &[a.id, b.id, offset, count]))
            }
            (Op::Popcount, &[a]) => Ok(self.op(S::BitCount, ty, &[a.id])),
            (Op::Clz, &[a]) => {
                // The index of the highest one is -1 for 0.
                let top = self.splat(ty, 31);
                let index = self.glsl(GlOp::FindUMsb, ty, &[a.id]);
                Ok(self.op(S::ISub, ty, &[top, index]))
            }
            (Op::Reverse, &[a]) => Ok(self.op(S::BitReverse, ty, &[a.id])),
            (Op::Sdot4 | Op::Udot4 | Op::SUdot4, &[a, b]) if ty.is_scalar() => {
                Ok(self.byte_dot(shape.op, a.id, b.id))
            }
            _ => Err(LOWER),
        }
    }

    /// A dot product of the bytes of two words.
    fn byte_dot(&mut self, op: Op, a: Id, b: Id) -> Id {
        if !self.since(Version::V1_6) {
            self.extension("SPV_KHR_integer_dot_product");
        }
        self.capability(Capability::DotProduct);
        self.capability(Capability::DotProductInput4x8BitPacked);
        let op = match op {
            Op::Sdot4 => S::SDot,
            Op::Udot4 => S::UDot,
            _ => S::SUDot,
        };
        self.op(op, Type::I32, &[a, b, PackedVectorFormat::PackedVectorFormat4x8Bit as u32])
    }

    /// A shift by an amount modulo the width.
    pub(crate) fn shift(&mut self, op: S, ty: Type, a: Id, s: Arg) -> Id {
        let top = u64::from(ty.kind().bits() - 1);
        let s = match s.uniform(ty) {
            Some(_) => s,
            None => {
                let mask = self.splat(ty, top);
                Arg { id: self.op(S::BitwiseAnd, ty, &[s.id, mask]), bits: None }
            }
        };
        self.shift_by(op, ty, a, s)
    }

    /// [`Unit::shift`] by an amount below the width, or a constant.
    pub(crate) fn shift_by(&mut self, op: S, ty: Type, a: Id, s: Arg) -> Id {
        let portable = self.options.portable_ops;
        // Amounts are words in WGSL, of whatever is shifted; naga takes them as they are.
        let words = if portable { Type::new(Kind::I32, ty.lanes()).unwrap_or(ty) } else { ty };
        let s = match s.uniform(ty) {
            Some(n) => self.splat(words, n & u64::from(ty.kind().bits() - 1)),
            None if words == ty => s.id,
            None => self.op(S::UConvert, words, &[s.id]),
        };
        if !portable || op != S::ShiftRightArithmetic {
            return self.op(op, ty, &[a, s]);
        }
        let signed = self.signed_type(ty);
        let a = self.op_raw(S::Bitcast, signed, &[a]);
        let made = self.op_raw(op, signed, &[a, s]);
        self.op(S::Bitcast, ty, &[made])
    }

    /// An instruction on signed integers. Ours are declared unsigned; naga goes by the type, not by the instruction, so that it
    /// is given signed ones.
    pub(crate) fn signed_op(&mut self, op: S, ty: Type, a: Id, b: Id) -> Id {
        if !self.options.portable_ops {
            return self.op(op, ty, &[a, b]);
        }
        let signed = self.signed_type(ty);
        let [a, b] = [a, b].map(|v| self.op_raw(S::Bitcast, signed, &[v]));
        let made = self.op_raw(op, signed, &[a, b]);
        self.op(S::Bitcast, ty, &[made])
    }

    /// A float of signed integers; see [`Unit::signed_op`].
    pub(crate) fn float_of_signed(&mut self, from: Type, to: Type, a: Id) -> Id {
        if !self.options.portable_ops {
            return self.op(S::ConvertSToF, to, &[a]);
        }
        let signed = self.signed_type(from);
        let a = self.op_raw(S::Bitcast, signed, &[a]);
        self.op(S::ConvertSToF, to, &[a])
    }

    /// Signed integers of floats; see [`Unit::signed_op`].
    pub(crate) fn signed_of_float(&mut self, to: Type, a: Id) -> Id {
        if !self.options.portable_ops {
            return self.op(S::ConvertFToS, to, &[a]);
        }
        let signed = self.signed_type(to);
        let made = self.op_raw(S::ConvertFToS, signed, &[a]);
        self.op(S::Bitcast, to, &[made])
    }

    /// Signed integers of the width and lanes of a type.
    pub(crate) fn signed_type(&mut self, ty: Type) -> Id {
        let scalar = self.type_of(S::TypeInt, &[ty.kind().bits(), 1]);
        match ty.lanes() {
            1 => scalar,
            lanes => self.type_of(S::TypeVector, &[scalar, lanes.into()]),
        }
    }

    /// A field that constants place inside a 32-bit word: its offset and count as scalar constants.
    fn constant_field(&mut self, ty: Type, offset: Arg, count: Arg) -> Option<(Id, Id)> {
        let (offset, count) = (offset.uniform(ty)?, count.uniform(ty)?);
        let is_inside = offset < 32 && (1..=32 - offset).contains(&count);
        is_inside.then(|| (self.u32(offset as u32), self.u32(count as u32)))
    }
}
