//! Ray tracing: system values, calls of other shaders, inline queries.

use super::{Call, Made, NOT_LIFTED};
use crate::bitcode::ValueId;
use crate::lift::cx::Cx;
use crate::lift::memory::{Pointer, Region};
use crate::lift::queries::Query;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{QueryInfo, RayValue};
use xenoglot_ir::module::{Builtin, PayloadKind};
use xenoglot_ir::{Flags, Imm, Kind, Op, Resource, Type, Value};

impl Cx<'_> {
    pub(super) fn rays(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            Dx::DispatchRaysIndex => self.system(call, Builtin::LaunchId, Type::I32X3)?,
            Dx::DispatchRaysDimensions => self.system(call, Builtin::LaunchSize, Type::I32X3)?,
            Dx::WorldRayOrigin => self.system(call, Builtin::WorldRayOrigin, Type::F32X3)?,
            Dx::WorldRayDirection => self.system(call, Builtin::WorldRayDirection, Type::F32X3)?,
            Dx::ObjectRayOrigin => self.system(call, Builtin::ObjectRayOrigin, Type::F32X3)?,
            Dx::ObjectRayDirection => self.system(call, Builtin::ObjectRayDirection, Type::F32X3)?,
            Dx::ObjectToWorld => self.matrix(call, Builtin::ObjectToWorld)?,
            Dx::WorldToObject => self.matrix(call, Builtin::WorldToObject)?,
            Dx::RayTMin => self.builtin(Builtin::RayTMin, Type::F32).into(),
            Dx::RayTCurrent => self.inst(Op::RayT, Imm::None, &[], Type::F32).into(),
            Dx::RayFlags => self.builtin(Builtin::RayFlags, Type::I32).into(),
            Dx::HitKind => self.builtin(Builtin::HitKind, Type::I32).into(),
            Dx::InstanceIndex => self.builtin(Builtin::InstanceId, Type::I32).into(),
            Dx::InstanceID => self.builtin(Builtin::InstanceCustomIndex, Type::I32).into(),
            Dx::PrimitiveIndex => self.builtin(Builtin::PrimitiveId, Type::I32).into(),
            Dx::GeometryIndex => self.builtin(Builtin::GeometryIndex, Type::I32).into(),
            Dx::IgnoreHit => {
                self.b.inst(Op::RayIgnore, Flags::NONE, Imm::None, &[], &[]);
                self.end_invocation();
                Made::Nothing
            }
            Dx::AcceptHitAndEndSearch => {
                self.b.inst(Op::RayAccept, Flags::NONE, Imm::None, &[], &[]);
                self.end_invocation();
                Made::Nothing
            }
            Dx::TraceRay => {
                self.trace(call)?;
                Made::Nothing
            }
            // Distance, kind, attributes.
            Dx::ReportHit => {
                let operands = [self.arg(call, 0)?, self.arg(call, 1)?];
                let (attributes, bytes) = self.pointed(call.arg(2)?)?;
                let at = self.payload(PayloadKind::HitAttribute, bytes)?;
                let to = self.memory.whole(at);
                self.copy(&attributes, &to, bytes)?;
                self.inst(Op::RayReport, Imm::None, &operands, Type::BOOL).into()
            }
            // Number of the shader, parameter.
            Dx::CallShader => {
                let number = self.arg(call, 0)?;
                let (parameter, bytes) = self.pointed(call.arg(1)?)?;
                self.lend(PayloadKind::Callable, &parameter, bytes, |cx, resource| {
                    cx.b.inst(Op::RayCall, Flags::NONE, Imm::Resource(resource), &[number], &[]);
                    Ok(())
                })?;
                Made::Nothing
            }
            _ => return self.queries(call),
        })
    }

    fn system(&mut self, call: &Call<'_>, builtin: Builtin, ty: Type) -> Lift<Made> {
        let lane = self.small(call.arg(0)?, 3)?;
        let v = self.builtin(builtin, ty);
        Ok(self.b.extract(v, lane).into())
    }

    /// Row and column: those of Direct3D are the other way round.
    fn matrix(&mut self, call: &Call<'_>, builtin: Builtin) -> Lift<Made> {
        let (row, column) = (self.small(call.arg(0)?, 3)?, self.small(call.arg(1)?, 4)?);
        let column = self.i32(column.into());
        let v = self.builtin_at(builtin, Type::F32X3, 4, column);
        Ok(self.b.extract(v, row).into())
    }

    pub(super) fn small(&self, id: ValueId, below: u64) -> Lift<u8> {
        let n = self.integer(id)?;
        if n < below { Ok(n as u8) } else { Err(Stop::Unsupported("its component")) }
    }

    /// What an operand points to, and its size in bytes.
    pub(super) fn pointed(&mut self, id: ValueId) -> Lift<(Pointer, u32)> {
        let ty = self.type_of(id)?;
        let of = self.module.types.pointee(ty).ok_or(Stop::Unsupported("a payload that is no address"))?.0;
        let bytes = self.memory.size(of)?;
        Ok((self.pointer(id)?, bytes.next_multiple_of(4).max(4)))
    }

    /// Has `f` work on a copy of what is pointed to, and takes it back.
    pub(super) fn lend(
        &mut self,
        kind: PayloadKind,
        pointer: &Pointer,
        bytes: u32,
        f: impl FnOnce(&mut Self, Resource) -> Lift<()>,
    ) -> Lift<()> {
        let region = self.payload(kind, bytes)?;
        let Region::Payload(resource) = region else { return Ok(()) };
        let at = self.memory.whole(region);
        self.copy(pointer, &at, bytes)?;
        f(self, resource)?;
        self.copy(&at, pointer, bytes)
    }

    fn trace(&mut self, call: &Call<'_>) -> Lift<()> {
        let (operands, payload) = self.traced(call)?;
        let (payload, bytes) = self.pointed(payload)?;
        self.lend(PayloadKind::Ray, &payload, bytes, |cx, resource| {
            cx.b.inst(Op::RayTrace, Flags::NONE, Imm::Resource(resource), &operands, &[]);
            Ok(())
        })
    }

    /// Structure, flags, mask, offset, stride, miss shader, origin, least distance, direction, greatest; and the payload.
    pub(super) fn traced(&mut self, call: &Call<'_>) -> Lift<(Vec<Value>, ValueId)> {
        let structure = self.structure(call.arg(0)?)?;
        let mut operands = vec![structure];
        for n in 1..6 {
            operands.push(self.arg(call, n)?);
        }
        operands.extend(self.ray(call, 6)?);
        Ok((operands, call.arg(14)?))
    }

    fn structure(&mut self, id: ValueId) -> Lift<Value> {
        let handle = self.handle_of(id)?;
        self.opaque(&handle, Kind::Accel)
    }

    /// Origin, least distance, direction and greatest distance from an operand on.
    pub(super) fn ray(&mut self, call: &Call<'_>, first: usize) -> Lift<[Value; 4]> {
        let mut parts = [self.arg(call, first + 3)?; 4];
        for (part, at) in [(0, first), (2, first + 4)] {
            let lanes = [self.arg(call, at)?, self.arg(call, at + 1)?, self.arg(call, at + 2)?];
            parts[part] = self.op(Op::Build, &lanes);
        }
        parts[3] = self.arg(call, first + 7)?;
        Ok(parts)
    }

    fn queries(&mut self, call: &Call<'_>) -> Lift<Made> {
        let committed = |value| (value, true, 1);
        let candidate = |value| (value, false, 1);
        let (value, committed, operand) = match call.op {
            // Flags that the program has for all its rays; flags of the query, which say that there may be micromaps.
            Dx::AllocateRayQuery | Dx::AllocateRayQuery2 => {
                let flags = self.integer(call.arg(0)?)? as u32;
                return Ok(self.new_query(flags)?.into());
            }
            // Query, structure, flags, mask, the ray.
            Dx::RayQueryTraceRayInline => {
                let query = self.query(call)?;
                let structure = self.structure(call.arg(1)?)?;
                let (own, mask) = (self.arg(call, 2)?, self.arg(call, 3)?);
                let flags = self.op(Op::Or, &[own, query.flags]);
                let mut operands = vec![structure, flags, mask];
                operands.extend(self.ray(call, 4)?);
                let (operands, query) = (query.operands(&operands), Imm::Resource(query.resource));
                self.b.inst(Op::QueryStart, Flags::NONE, query, &operands, &[]);
                return Ok(Made::Nothing);
            }
            Dx::RayQueryProceed => {
                let query = self.query(call)?;
                let (operands, query) = (query.operands(&[]), Imm::Resource(query.resource));
                return Ok(self.inst(Op::QueryProceed, query, &operands, Type::BOOL).into());
            }
            Dx::RayQueryAbort => return self.query_effect(call, Op::QueryTerminate, &[]),
            Dx::RayQueryCommitNonOpaqueTriangleHit => {
                return self.query_effect(call, Op::QueryConfirm, &[]);
            }
            Dx::RayQueryCommitProceduralPrimitiveHit => {
                let distance = self.arg(call, 1)?;
                return self.query_effect(call, Op::QueryGenerate, &[distance]);
            }
            Dx::RayQueryCommittedStatus => committed(RayValue::Kind),
            Dx::RayQueryCandidateType => candidate(RayValue::Kind),
            Dx::RayQueryCandidateObjectToWorld3x4 => candidate(RayValue::ObjectToWorld),
            Dx::RayQueryCandidateWorldToObject3x4 => candidate(RayValue::WorldToObject),
            Dx::RayQueryCommittedObjectToWorld3x4 => committed(RayValue::ObjectToWorld),
            Dx::RayQueryCommittedWorldToObject3x4 => committed(RayValue::WorldToObject),
            Dx::RayQueryCandidateProceduralPrimitiveNonOpaque => candidate(RayValue::OpaqueBox),
            Dx::RayQueryCandidateTriangleFrontFace => candidate(RayValue::FrontFace),
            Dx::RayQueryCommittedTriangleFrontFace => committed(RayValue::FrontFace),
            Dx::RayQueryCandidateTriangleBarycentrics => candidate(RayValue::Barycentrics),
            Dx::RayQueryCommittedTriangleBarycentrics => committed(RayValue::Barycentrics),
            Dx::RayQueryRayFlags => candidate(RayValue::Flags),
            Dx::RayQueryWorldRayOrigin => candidate(RayValue::Origin),
            Dx::RayQueryWorldRayDirection => candidate(RayValue::Direction),
            Dx::RayQueryRayTMin => candidate(RayValue::TMin),
            Dx::RayQueryCandidateTriangleRayT => candidate(RayValue::T),
            Dx::RayQueryCommittedRayT => committed(RayValue::T),
            Dx::RayQueryCandidateInstanceIndex => candidate(RayValue::InstanceId),
            Dx::RayQueryCandidateInstanceID => candidate(RayValue::InstanceCustomIndex),
            Dx::RayQueryCandidateGeometryIndex => candidate(RayValue::GeometryIndex),
            Dx::RayQueryCandidatePrimitiveIndex => candidate(RayValue::PrimitiveIndex),
            Dx::RayQueryCandidateObjectRayOrigin => candidate(RayValue::ObjectOrigin),
            Dx::RayQueryCandidateObjectRayDirection => candidate(RayValue::ObjectDirection),
            Dx::RayQueryCommittedInstanceIndex => committed(RayValue::InstanceId),
            Dx::RayQueryCommittedInstanceID => committed(RayValue::InstanceCustomIndex),
            Dx::RayQueryCommittedGeometryIndex => committed(RayValue::GeometryIndex),
            Dx::RayQueryCommittedPrimitiveIndex => committed(RayValue::PrimitiveIndex),
            Dx::RayQueryCommittedObjectRayOrigin => committed(RayValue::ObjectOrigin),
            Dx::RayQueryCommittedObjectRayDirection => committed(RayValue::ObjectDirection),
            Dx::RayQueryCandidateInstanceContributionToHitGroupIndex => candidate(RayValue::InstanceOffset),
            Dx::RayQueryCommittedInstanceContributionToHitGroupIndex => committed(RayValue::InstanceOffset),
            _ => return Err(NOT_LIFTED),
        };
        let query = self.query(call)?;
        let (mut lane, mut column) = (0, 0);
        if value.is_matrix() {
            (lane, column) = (self.small(call.arg(operand)?, 3)?, self.small(call.arg(operand + 1)?, 4)?);
        } else if !value.ty().is_scalar() {
            lane = self.small(call.arg(operand)?, value.ty().lanes().into())?;
        }
        let imm = Imm::Query(QueryInfo { query: query.resource, value, committed, column });
        let v = self.inst(Op::QueryGet, imm, &query.operands(&[]), value.ty());
        Ok(match value {
            RayValue::OpaqueBox => self.b.not(v).into(),
            _ if value.ty().is_scalar() => v.into(),
            _ => self.b.extract(v, lane).into(),
        })
    }

    fn query_effect(&mut self, call: &Call<'_>, op: Op, operands: &[Value]) -> Lift<Made> {
        let query = self.query(call)?;
        self.b.inst(op, Flags::NONE, Imm::Resource(query.resource), &query.operands(operands), &[]);
        Ok(Made::Nothing)
    }

    /// The query that a call's first operand names.
    fn query(&mut self, call: &Call<'_>) -> Lift<Query> {
        let number = self.arg(call, 0)?;
        self.query_of(number)
    }
}
