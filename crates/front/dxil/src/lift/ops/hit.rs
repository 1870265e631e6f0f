//! Hit objects of SM 6.9, by `SPV_EXT_shader_invocation_reorder`.
//!
//! What Direct3D says of objects that are no hits (HLSL proposal 0027: zeros, the ray in the world's space, matrices that
//! change nothing) is chosen here, as SPIR-V does not say what it gives for them.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::Lift;
use crate::lift::cx::Cx;
use crate::lift::hits::HitObject;
use crate::lift::memory::Region;
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{HitInfo, MemInfo, QueryInfo, RayValue};
use xenoglot_ir::module::PayloadKind;
use xenoglot_ir::{Block, Flags, Imm, Op, Resource, Space, Type, Value};

/// Bytes of the attributes of triangles' hits: two barycentric coordinates.
const BARYCENTRICS: u32 = 8;

/// Which objects have a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Hits,
    HitsAndMisses,
}

impl Cx<'_> {
    pub(super) fn hit_objects(&mut self, call: &Call<'_>) -> Lift<Made> {
        let (value, of) = match call.op {
            Dx::HitObjectTraceRay => {
                let (operands, payload) = self.traced(call)?;
                let hit = self.new_hit(call.result)?;
                let (payload, bytes) = self.pointed(payload)?;
                self.lend(PayloadKind::Ray, &payload, bytes, |cx, payload| {
                    cx.hit_op(Op::HitTrace, hit, payload, &operands);
                    Ok(())
                })?;
                return Ok(self.hit_value(hit, true).into());
            }
            // Flags, number of the miss shader, the ray.
            Dx::HitObjectMakeMiss => {
                let mut operands = vec![self.arg(call, 0)?, self.arg(call, 1)?];
                operands.extend(self.ray(call, 2)?);
                let hit = self.new_hit(call.result)?;
                self.hit_change(Op::HitMiss, hit, &operands);
                return Ok(self.hit_value(hit, true).into());
            }
            Dx::HitObjectMakeNop => {
                let hit = self.new_hit(call.result)?;
                self.hit_change(Op::HitNop, hit, &[]);
                return Ok(self.hit_value(hit, true).into());
            }
            Dx::HitObjectFromRayQuery | Dx::HitObjectFromRayQueryWithAttrs => {
                return self.hit_of_query(call).map(Made::from);
            }
            Dx::HitObjectInvoke => {
                let hit = self.hit(call.arg(0)?)?;
                let (payload, bytes) = self.pointed(call.arg(1)?)?;
                self.lend(PayloadKind::Ray, &payload, bytes, |cx, payload| {
                    cx.hit_op(Op::HitInvoke, hit, payload, &[]);
                    Ok(())
                })?;
                return Ok(Made::Nothing);
            }
            // Object, hint, how many of its bits count.
            Dx::MaybeReorderThread => {
                let hit = self.hit(call.arg(0)?)?;
                let operands = [self.arg(call, 1)?, self.arg(call, 2)?];
                self.hit_change(Op::HitReorder, hit, &operands);
                return Ok(Made::Nothing);
            }
            Dx::HitObjectSetShaderTableIndex => {
                let operand = call.arg(0)?;
                self.changes_hit(operand, call.result)?;
                let (hit, record) = (self.hit(operand)?, self.arg(call, 1)?);
                self.hit_change(Op::HitSetRecord, hit, &[record]);
                return Ok(self.hit_value(hit, true).into());
            }
            Dx::HitObjectLoadLocalRootTableConstant => return self.record_constant(call).map(Made::from),
            Dx::HitObjectAttributes => {
                self.hit_attributes(call)?;
                return Ok(Made::Nothing);
            }
            Dx::HitObjectIsMiss => (RayValue::IsMiss, None),
            Dx::HitObjectIsHit => (RayValue::IsHit, None),
            Dx::HitObjectIsNop => (RayValue::IsNop, None),
            Dx::HitObjectRayFlags => (RayValue::Flags, Some(Of::HitsAndMisses)),
            Dx::HitObjectRayTMin => (RayValue::TMin, Some(Of::HitsAndMisses)),
            Dx::HitObjectRayTCurrent => (RayValue::T, Some(Of::HitsAndMisses)),
            Dx::HitObjectWorldRayOrigin => (RayValue::Origin, Some(Of::HitsAndMisses)),
            Dx::HitObjectWorldRayDirection => (RayValue::Direction, Some(Of::HitsAndMisses)),
            Dx::HitObjectObjectRayOrigin => (RayValue::ObjectOrigin, Some(Of::Hits)),
            Dx::HitObjectObjectRayDirection => (RayValue::ObjectDirection, Some(Of::Hits)),
            Dx::HitObjectObjectToWorld3x4 => (RayValue::ObjectToWorld, Some(Of::Hits)),
            Dx::HitObjectWorldToObject3x4 => (RayValue::WorldToObject, Some(Of::Hits)),
            Dx::HitObjectGeometryIndex => (RayValue::GeometryIndex, Some(Of::Hits)),
            Dx::HitObjectInstanceIndex => (RayValue::InstanceId, Some(Of::Hits)),
            Dx::HitObjectInstanceID => (RayValue::InstanceCustomIndex, Some(Of::Hits)),
            Dx::HitObjectPrimitiveIndex => (RayValue::PrimitiveIndex, Some(Of::Hits)),
            Dx::HitObjectHitKind => (RayValue::HitKind, Some(Of::Hits)),
            Dx::HitObjectShaderTableIndex => (RayValue::Record, Some(Of::HitsAndMisses)),
            _ => return Err(NOT_LIFTED),
        };
        let hit = self.hit(call.arg(0)?)?;
        self.hit_told(call, hit, value, of).map(Made::from)
    }

    /// What an object tells, and what Direct3D has it tell where there is nothing to.
    fn hit_told(&mut self, call: &Call<'_>, hit: HitObject, value: RayValue, of: Option<Of>) -> Lift<Value> {
        let (mut lane, mut column) = (0, 0);
        if value.is_matrix() {
            (lane, column) = (self.small(call.arg(1)?, 3)?, self.small(call.arg(2)?, 4)?);
        } else if !value.ty().is_scalar() {
            lane = self.small(call.arg(1)?, value.ty().lanes().into())?;
        }
        let told = self.hit_get(hit, value, column);
        let told = if value.ty().is_scalar() { told } else { self.b.extract(told, lane) };
        let of = match of {
            None => return Ok(told),
            Some(of) => of,
        };
        let other = match value {
            // The ray in the world's space.
            RayValue::ObjectOrigin => self.of_ray(hit, RayValue::Origin, lane),
            RayValue::ObjectDirection => self.of_ray(hit, RayValue::Direction, lane),
            _ if value.is_matrix() && lane == column => self.f32(1.0),
            _ => {
                let ty = self.ty(told);
                self.constant(ty, 0)
            }
        };
        Ok(match of {
            Of::Hits => {
                let is_hit = self.hit_get(hit, RayValue::IsHit, 0);
                self.b.select(is_hit, told, other)
            }
            Of::HitsAndMisses => {
                let is_nop = self.hit_get(hit, RayValue::IsNop, 0);
                self.b.select(is_nop, other, told)
            }
        })
    }

    /// A lane of a vector of the ray's; zero of objects that have none.
    fn of_ray(&mut self, hit: HitObject, value: RayValue, lane: u8) -> Value {
        let (told, zero) = (self.hit_get(hit, value, 0), self.f32(0.0));
        let told = self.b.extract(told, lane);
        let is_nop = self.hit_get(hit, RayValue::IsNop, 0);
        self.b.select(is_nop, zero, told)
    }

    fn hit_get(&mut self, hit: HitObject, value: RayValue, column: u8) -> Value {
        let info = QueryInfo { query: hit.resource, value, committed: false, column };
        self.inst(Op::HitGet, Imm::Query(info), &hit.operands(&[]), value.ty())
    }

    /// An op on an object alone.
    fn hit_change(&mut self, op: Op, hit: HitObject, operands: &[Value]) {
        self.b.inst(op, Flags::NONE, Imm::Resource(hit.resource), &hit.operands(operands), &[]);
    }

    /// An op on an object and memory.
    fn hit_op(&mut self, op: Op, hit: HitObject, payload: Resource, operands: &[Value]) {
        let info = HitInfo { object: hit.resource, payload, query: None.into() };
        self.b.inst(op, Flags::NONE, Imm::Hit(info), &hit.operands(operands), &[]);
    }

    /// Goes to one of two new blocks.
    fn either(&mut self, condition: Value) -> [Block; 2] {
        let [yes, no] = [(); 2].map(|()| self.b.func.add_block());
        self.b.branch(condition, (yes, &[]), (no, &[]));
        [yes, no]
    }

    /// Query, and of hits that the shader generated kind and attributes. A query without a hit makes a nop.
    fn hit_of_query(&mut self, call: &Call<'_>) -> Lift<Value> {
        let number = self.arg(call, 0)?;
        let query = self.query_of(number)?;
        let (kind, attributes) = match call.op {
            Dx::HitObjectFromRayQuery => (self.i32(0), None),
            _ => (self.arg(call, 1)?, Some(self.pointed(call.arg(2)?)?)),
        };
        let bytes = attributes.as_ref().map_or(BARYCENTRICS, |(_, bytes)| *bytes);
        let region = self.payload(PayloadKind::HitObjectAttribute, bytes)?;
        let Region::Payload(payload) = region else { return Err(NOT_LIFTED) };
        if let Some((from, bytes)) = attributes {
            let to = self.memory.whole(region);
            self.copy(&from, &to, bytes)?;
        }
        let hit = self.new_hit(call.result)?;
        let asked = QueryInfo { query: query.resource, value: RayValue::Kind, committed: true, column: 0 };
        let found = self.inst(Op::QueryGet, Imm::Query(asked), &query.operands(&[]), Type::I32);
        let zero = self.i32(0);
        let is_hit = self.op(Op::IcmpNe, &[found, zero]);
        let [yes, no] = self.either(is_hit);
        let next = self.b.func.add_block();
        self.b.switch_to(yes);
        let info = HitInfo { object: hit.resource, payload, query: Some(query.resource).into() };
        let operands = hit.operands(&query.operands(&[kind]));
        self.b.inst(Op::HitFromQuery, Flags::NONE, Imm::Hit(info), &operands, &[]);
        self.b.jump(next, &[]);
        self.b.switch_to(no);
        self.hit_change(Op::HitNop, hit, &[]);
        self.b.jump(next, &[]);
        self.b.switch_to(next);
        Ok(self.hit_value(hit, false))
    }

    /// A word of the local root arguments in an object's record: object, offset in bytes. Zero of objects without a record.
    fn record_constant(&mut self, call: &Call<'_>) -> Lift<Value> {
        let (hit, offset) = (self.hit(call.arg(0)?)?, self.arg(call, 1)?);
        let is_nop = self.hit_get(hit, RayValue::IsNop, 0);
        let mut is_there = self.b.not(is_nop);
        if let Some(has_record) = self.has_record(hit) {
            is_there = self.op(Op::And, &[is_there, has_record]);
        }
        let next = self.b.func.add_block();
        let found = self.b.func.add_param(next, Type::I32);
        let [there, not_there] = self.either(is_there);
        self.b.switch_to(there);
        let address = self.hit_get(hit, RayValue::RecordAddress, 0);
        let (address, offset) = (self.cast(address, Type::I64), self.resize(offset, Type::I64));
        let at = self.op(Op::Iadd, &[address, offset]);
        let word = self.b.load(MemInfo::plain(Space::Global, None, 2), at, Type::I32);
        self.b.jump(next, &[word]);
        self.b.switch_to(not_there);
        let zero = self.i32(0);
        self.b.jump(next, &[zero]);
        self.b.switch_to(next);
        Ok(found)
    }

    /// Object, where to put its attributes: zeros of one that is no hit.
    fn hit_attributes(&mut self, call: &Call<'_>) -> Lift<()> {
        let hit = self.hit(call.arg(0)?)?;
        let (to, bytes) = self.pointed(call.arg(1)?)?;
        let region = self.payload(PayloadKind::HitObjectAttribute, bytes)?;
        let Region::Payload(payload) = region else { return Err(NOT_LIFTED) };
        let from = self.memory.whole(region);
        self.clear(&from, bytes)?;
        let is_hit = self.hit_get(hit, RayValue::IsHit, 0);
        let [yes, next] = self.either(is_hit);
        self.b.switch_to(yes);
        self.hit_op(Op::HitAttributes, hit, payload, &[]);
        self.b.jump(next, &[]);
        self.b.switch_to(next);
        self.copy(&from, &to, bytes)
    }
}
