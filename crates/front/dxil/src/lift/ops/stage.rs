//! Inputs and outputs of graphics stages, and what only pixel shaders do.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::interface::{At, Place, Signature};
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Flags, Imm, Op, Type, Value};

impl Cx<'_> {
    pub(super) fn stages(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            // Element, row, column, vertex.
            Dx::LoadInput => {
                let (place, s) = (self.place(call, Signature::Input)?, self.result(call)?);
                self.load_input(place, call.arg(3)?, s)?.into()
            }
            // Element, row, column, value.
            Dx::StoreOutput => {
                let place = self.place(call, Signature::Output)?;
                self.store_output(place, call.arg(3)?)?;
                Made::Nothing
            }
            // Element, row, column, then where.
            Dx::EvalSnapped => {
                let (x, y) = (self.arg(call, 3)?, self.arg(call, 4)?);
                let offset = [x, y].map(|v| self.sixteenths(v));
                let at = At::Offset(self.op(Op::Build, &offset));
                self.evaluated(call, at)?
            }
            Dx::EvalSampleIndex => {
                let at = At::Sample(self.arg(call, 3)?);
                self.evaluated(call, at)?
            }
            Dx::EvalCentroid => self.evaluated(call, At::Centroid)?,
            Dx::AttributeAtVertex => {
                let (place, s) = (self.place(call, Signature::Input)?, self.result(call)?);
                self.attribute_at_vertex(place, call.arg(3)?, s)?.into()
            }
            Dx::DerivCoarseX => self.derivative(call, Op::DdxCoarse)?,
            Dx::DerivCoarseY => self.derivative(call, Op::DdyCoarse)?,
            Dx::DerivFineX => self.derivative(call, Op::DdxFine)?,
            Dx::DerivFineY => self.derivative(call, Op::DdyFine)?,
            Dx::Discard => {
                let condition = self.arg(call, 0)?;
                self.b.inst(Op::DiscardIf, Flags::NONE, Imm::None, &[condition], &[]);
                Made::Nothing
            }
            Dx::IsHelperLane => match self.ir.stage {
                xenoglot_ir::Stage::Fragment => self.inst(Op::Helper, Imm::None, &[], Type::BOOL).into(),
                _ => self.constant(Type::BOOL, 0).into(),
            },
            Dx::SampleIndex => self.builtin(Builtin::SampleId, Type::I32).into(),
            Dx::Coverage => self.builtin(Builtin::SampleMask, Type::I32).into(),
            Dx::InnerCoverage => {
                let covered = self.builtin(Builtin::FullyCovered, Type::BOOL);
                self.resize(covered, Type::I32).into()
            }
            Dx::PrimitiveID => self.builtin(Builtin::PrimitiveId, Type::I32).into(),
            Dx::StartVertexLocation => self.builtin(Builtin::BaseVertex, Type::I32).into(),
            Dx::StartInstanceLocation => self.builtin(Builtin::BaseInstance, Type::I32).into(),
            Dx::ViewID => self.builtin(Builtin::ViewIndex, Type::I32).into(),
            _ => return Err(NOT_LIFTED),
        })
    }

    /// The element, row and column that a call names first.
    pub(super) fn place(&mut self, call: &Call<'_>, signature: Signature) -> Lift<Place> {
        let id = self.integer(call.arg(0)?)? as u32;
        let column = self.integer(call.arg(2)?)?;
        let column = u8::try_from(column).ok().filter(|&c| c < 4).ok_or(Stop::Unsupported("its column"))?;
        Ok(Place { signature, id, row: call.arg(1)?, column })
    }

    /// The scalar type of a call's result.
    pub(super) fn result(&self, call: &Call<'_>) -> Lift<crate::lift::int::Scalar> {
        let ty = self.type_of(call.result.ok_or(Stop::Unsupported("no result"))?)?;
        self.scalar_type(self.lane_type(ty))
    }

    fn evaluated(&mut self, call: &Call<'_>, at: At) -> Lift<Made> {
        let (place, s) = (self.place(call, Signature::Input)?, self.result(call)?);
        Ok(self.evaluate(place, at, s)?.into())
    }

    /// The low four bits as a signed number of sixteenths.
    pub(super) fn sixteenths(&mut self, v: Value) -> Value {
        let shift = self.i32(28);
        let high = self.op(Op::Shl, &[v, shift]);
        let v = self.op(Op::Sshr, &[high, shift]);
        let v = self.b.convert(Op::S2f, Flags::NONE, v, Type::F32);
        let scale = self.f32(1.0 / 16.0);
        self.op(Op::Fmul, &[v, scale])
    }

    fn derivative(&mut self, call: &Call<'_>, op: Op) -> Lift<Made> {
        let v = self.arg(call, 0)?;
        let ty = self.ty(v);
        // Hosts derive floats of 32 bits.
        let single = self.float(v, Type::F32);
        let made = self.op(op, &[single]);
        Ok(self.float(made, ty).into())
    }
}
