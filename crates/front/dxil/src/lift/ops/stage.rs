//! Inputs and outputs of graphics stages, and what only pixel shaders do.

use super::{Call, Made};
use crate::lift::cx::Cx;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Flags, Imm, Op, Type};

impl Cx<'_> {
    pub(super) fn stages(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            // Element, row, column, vertex.
            Dx::LoadInput => {
                let (element, row, column) = self.place(call)?;
                let ty = self.result_scalar(call, None)?;
                self.load_input(element, row, column, ty)?.into()
            }
            // Element, row, column, value.
            Dx::StoreOutput => {
                let (element, row, column) = self.place(call)?;
                let v = self.arg(call, 3)?;
                self.store_output(element, row, column, v)?;
                Made::Nothing
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
            Dx::PrimitiveID => self.builtin(Builtin::PrimitiveId, Type::I32).into(),
            _ => return Ok(Made::Not),
        })
    }

    fn place(&mut self, call: &Call<'_>) -> Lift<(u32, u32, u8)> {
        let element = self.integer(call.arg(0)?)? as u32;
        let row = self.integer(call.arg(1)?).map_err(|_| Stop::Unsupported("a row that is computed"))?;
        let column = self.integer(call.arg(2)?)?;
        let column = u8::try_from(column).ok().filter(|&c| c < 4);
        Ok((element, row as u32, column.ok_or(Stop::Unsupported("its column"))?))
    }

    fn derivative(&mut self, call: &Call<'_>, op: Op) -> Lift<Made> {
        let v = self.arg(call, 0)?;
        Ok(self.op(op, &[v]).into())
    }
}
