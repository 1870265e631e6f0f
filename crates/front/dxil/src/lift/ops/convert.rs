//! Conversions that LLVM has no instruction for.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::{Flags, Kind, Op, Type, Value};

impl Cx<'_> {
    pub(super) fn conversions(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            // Low and high word.
            Dx::MakeDouble => {
                let words = [self.arg(call, 0)?, self.arg(call, 1)?];
                let v = self.op(Op::Build, &words);
                self.cast(v, Type::F64).into()
            }
            Dx::SplitDouble => {
                let v = self.arg(call, 0)?;
                let v = self.cast(v, Type::I32X2);
                let words = [0, 1].map(|lane| self.b.extract(v, lane));
                Made::Value(Val::scalars(words))
            }
            Dx::LegacyF32ToF16 => {
                let v = self.arg(call, 0)?;
                let half = self.b.convert(Op::F2f, Flags::NONE, v, Type::F16);
                let bits = self.cast(half, Type::scalar(Kind::I16));
                self.resize(bits, Type::I32).into()
            }
            Dx::LegacyF16ToF32 => {
                let v = self.arg(call, 0)?;
                let bits = self.resize(v, Type::scalar(Kind::I16));
                let half = self.cast(bits, Type::F16);
                self.b.convert(Op::F2f, Flags::NONE, half, Type::F32).into()
            }
            Dx::LegacyDoubleToFloat => self.as_float(call, Type::F32)?,
            Dx::LegacyDoubleToSInt32 => self.as_integer(call, Op::F2s)?,
            Dx::LegacyDoubleToUInt32 => self.as_integer(call, Op::F2u)?,
            Dx::BitcastI16toF16 | Dx::BitcastF16toI16 if !self.native16 => return Err(Stop::Unsupported("")),
            Dx::BitcastI16toF16 => self.bits_as(call, Type::F16)?,
            Dx::BitcastF16toI16 => self.bits_as(call, Type::scalar(Kind::I16))?,
            Dx::BitcastI32toF32 => self.bits_as(call, Type::F32)?,
            Dx::BitcastF32toI32 => self.bits_as(call, Type::I32)?,
            Dx::BitcastI64toF64 => self.bits_as(call, Type::F64)?,
            Dx::BitcastF64toI64 => self.bits_as(call, Type::I64)?,
            _ => return Err(NOT_LIFTED),
        })
    }

    fn as_float(&mut self, call: &Call<'_>, ty: Type) -> Lift<Made> {
        let v = self.arg(call, 0)?;
        Ok(self.float(v, ty).into())
    }

    fn as_integer(&mut self, call: &Call<'_>, op: Op) -> Lift<Made> {
        let v: Value = self.arg(call, 0)?;
        Ok(self.b.convert(op, Flags::NONE.with_clamp(), v, Type::I32).into())
    }

    fn bits_as(&mut self, call: &Call<'_>, ty: Type) -> Lift<Made> {
        let v = self.arg(call, 0)?;
        Ok(self.cast(v, ty).into())
    }
}
