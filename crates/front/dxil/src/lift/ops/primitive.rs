//! What hull, domain, geometry, mesh and amplification shaders do.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::interface::Signature;
use crate::lift::memory::Region;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{BarrierInfo, Scope};
use xenoglot_ir::module::{Builtin, PayloadKind};
use xenoglot_ir::{Flags, Imm, Op, Stage, Type};

impl Cx<'_> {
    pub(super) fn primitives(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            // Element, row, column, control point.
            Dx::LoadOutputControlPoint => {
                let (place, s) = (self.place(call, Signature::Output)?, self.result(call)?);
                match self.ir.stage {
                    // What domain shaders take from hull shaders is their input.
                    Stage::TessEval => {
                        let place = crate::lift::interface::Place { signature: Signature::Input, ..place };
                        self.load_input(place, call.arg(3)?, s)?.into()
                    }
                    _ => self.load_control_point(place, call.arg(3)?, s)?.into(),
                }
            }
            // Element, row, column.
            Dx::LoadPatchConstant => {
                let (place, s) = (self.place(call, Signature::Patch)?, self.result(call)?);
                self.load_patch(place, s)?.into()
            }
            // Element, row, column, value.
            Dx::StorePatchConstant => {
                let place = self.place(call, Signature::Patch)?;
                self.store_output(place, call.arg(3)?)?;
                Made::Nothing
            }
            Dx::OutputControlPointID | Dx::GSInstanceID => {
                self.builtin(Builtin::InvocationId, Type::I32).into()
            }
            Dx::DomainLocation => {
                let lane = self.integer(call.arg(0)?)?;
                let lane = u8::try_from(lane).ok().filter(|&l| l < 3);
                let v = self.builtin(Builtin::TessCoord, Type::F32X3);
                self.b.extract(v, lane.ok_or(Stop::Unsupported("its component"))?).into()
            }
            // The stream.
            Dx::EmitStream | Dx::CutStream | Dx::EmitThenCutStream => {
                let stream = (self.integer(call.arg(0)?)? & 3) as u8;
                if call.op != Dx::CutStream {
                    self.write_outputs(Signature::Output, stream)?;
                    self.b.inst(Op::EmitVertex, Flags::NONE, Imm::Stream(stream), &[], &[]);
                }
                if call.op != Dx::EmitStream {
                    self.b.inst(Op::EndPrimitive, Flags::NONE, Imm::Stream(stream), &[], &[]);
                }
                Made::Nothing
            }
            Dx::SetMeshOutputCounts => {
                let counts = [self.arg(call, 0)?, self.arg(call, 1)?];
                self.has_counts = true;
                self.b.inst(Op::MeshSetCounts, Flags::NONE, Imm::None, &counts, &[]);
                Made::Nothing
            }
            // Primitive, its vertices.
            Dx::EmitIndices => {
                let vertices = [call.arg(1)?, call.arg(2)?, call.arg(3)?];
                self.store_indices(call.arg(0)?, vertices)?;
                Made::Nothing
            }
            // Element, row, column, value, vertex or primitive.
            Dx::StoreVertexOutput | Dx::StorePrimitiveOutput => {
                let vertex = call.op == Dx::StoreVertexOutput;
                let signature = if vertex { Signature::Output } else { Signature::Patch };
                let place = self.place(call, signature)?;
                self.store_mesh(place, call.arg(3)?, call.arg(4)?)?;
                Made::Nothing
            }
            Dx::GetMeshPayload => {
                let payload = self.payload(PayloadKind::Task, self.program.payload_bytes)?;
                Made::Value(Val::Pointer(self.memory.whole(payload)))
            }
            // Groups along x, y and z, the payload.
            Dx::DispatchMesh => {
                self.dispatch_mesh(call)?;
                Made::Nothing
            }
            _ => return Err(NOT_LIFTED),
        })
    }

    /// A payload in memory of the workgroup is copied by its invocations, which take turns; one of the invocation's own,
    /// which is the same for all, by the first.
    fn dispatch_mesh(&mut self, call: &Call<'_>) -> Lift<()> {
        let groups = [self.arg(call, 0)?, self.arg(call, 1)?, self.arg(call, 2)?];
        let from = self.pointer(call.arg(3)?)?;
        let bytes = self.program.payload_bytes;
        let payload = self.payload(PayloadKind::Task, bytes)?;
        let words = bytes.div_ceil(4).max(1);
        let threads: u32 = self.ir.workgroup.iter().product();
        let own = self.builtin(Builtin::LocalInvocationIndex, Type::I32);
        let to = self.memory.whole(payload);
        if from.region == Region::Shared {
            self.wait_for_workgroup();
            for first in (0..words).step_by(threads.max(1) as usize) {
                let (first, last, four) = (self.i32(first), self.i32(words - 1), self.i32(4));
                let word = self.op(Op::Iadd, &[own, first]);
                let word = self.op(Op::Umin, &[word, last]);
                let offset = self.op(Op::Imul, &[word, four]);
                self.copy_word(&from, &to, offset)?;
            }
            self.wait_for_workgroup();
        } else if threads > 1 {
            let (copies, goes_on) = (self.b.func.add_block(), self.b.func.add_block());
            let zero = self.i32(0);
            let is_first = self.op(Op::IcmpEq, &[own, zero]);
            self.b.branch(is_first, (copies, &[]), (goes_on, &[]));
            self.b.switch_to(copies);
            self.copy(&from, &to, words * 4)?;
            self.b.jump(goes_on, &[]);
            self.b.switch_to(goes_on);
            self.wait_for_workgroup();
        } else {
            self.copy(&from, &to, words * 4)?;
        }
        let Region::Payload(resource) = payload else { return Ok(()) };
        self.b.inst(Op::MeshDispatch, Flags::NONE, Imm::Resource(resource), &groups, &[]);
        self.end_invocation();
        Ok(())
    }

    fn wait_for_workgroup(&mut self) {
        let info =
            BarrierInfo { scope: Scope::Workgroup, shared: true, storage: false, image: false, exec: true };
        self.b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
    }
}
