//! Rays, inline queries of them, and what mesh and task shaders do beside outputs.

use crate::body::Body;
use crate::error::Reason;
use crate::memory::descriptors;
use crate::options::{Names, Version};
use crate::texture::OPERANDS;
use crate::unit::{Id, Unit};
use smallvec::SmallVec;
use spirv::{BuiltIn, Capability, Decoration, Op as S, StorageClass};
use xenoglot_ir::entities::Resource;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::imm::{HitInfo, QueryInfo, RayValue};
use xenoglot_ir::module::{Count, Module, PayloadKind, ResourceKind, Stage};
use xenoglot_ir::{Imm, Inst, Op, Type, Value};

/// Whether a stage is one of ray tracing.
pub(crate) fn is_ray_stage(stage: Stage) -> bool {
    matches!(
        stage,
        Stage::RayGen
            | Stage::Intersection
            | Stage::AnyHit
            | Stage::ClosestHit
            | Stage::Miss
            | Stage::Callable
    )
}

/// Where a payload is.
pub(crate) fn payload_class(kind: PayloadKind) -> StorageClass {
    match kind {
        PayloadKind::Task => StorageClass::TaskPayloadWorkgroupEXT,
        PayloadKind::Ray => StorageClass::RayPayloadKHR,
        PayloadKind::IncomingRay => StorageClass::IncomingRayPayloadKHR,
        PayloadKind::HitAttribute => StorageClass::HitAttributeKHR,
        PayloadKind::HitObjectAttribute => StorageClass::HitObjectAttributeEXT,
        PayloadKind::Callable => StorageClass::CallableDataKHR,
        PayloadKind::IncomingCallable => StorageClass::IncomingCallableDataKHR,
    }
}

/// What a stage of ray tracing or of meshes needs.
pub(crate) fn stage_needs(unit: &mut Unit, stage: Stage) -> Result<(), Reason> {
    unit.needs(Version::V1_4, "stages of rays and meshes")?;
    if is_ray_stage(stage) {
        unit.capability(Capability::RayTracingKHR);
        unit.extension("SPV_KHR_ray_tracing");
    } else {
        unit.capability(Capability::MeshShadingEXT);
        unit.extension("SPV_EXT_mesh_shader");
    }
    Ok(())
}

/// The type of acceleration structures.
pub(crate) fn structure_type(unit: &mut Unit, stage: Stage) -> Result<Id, Reason> {
    if !is_ray_stage(stage) {
        query_needs(unit)?;
    }
    Ok(unit.type_of(S::TypeAccelerationStructureKHR, &[]))
}

fn query_needs(unit: &mut Unit) -> Result<(), Reason> {
    unit.needs(Version::V1_4, "ray queries")?;
    unit.capability(Capability::RayQueryKHR);
    unit.extension("SPV_KHR_ray_query");
    Ok(())
}

/// Hit objects need SPIR-V 1.4, which stages of rays have.
fn hit_needs(unit: &mut Unit) {
    unit.capability(Capability::ShaderInvocationReorderEXT);
    unit.extension("SPV_EXT_shader_invocation_reorder");
}

/// Inline queries and hit objects of a module, and the distance of rays.
#[derive(Default)]
pub(crate) struct Rays {
    objects: SecondaryMap<Resource, Id>,
    distance: Id,
}

impl Rays {
    pub(crate) fn declare(unit: &mut Unit, module: &Module) -> Result<Rays, Reason> {
        let mut rays = Rays::default();
        for (resource, data) in &module.resources {
            let Some(object) = object_type(data.kind) else { continue };
            if object == S::TypeRayQueryKHR {
                query_needs(unit)?;
            } else {
                hit_needs(unit);
            }
            let object = unit.type_of(object, &[]);
            let ty = descriptors(unit, data.count, object);
            let var = unit.variable(StorageClass::Private, ty);
            unit.name(Names::Interface, var, &data.name);
            rays.objects[resource] = var;
        }
        let uses = |op| {
            let insts = |f: &xenoglot_ir::Function| f.insts.values().any(|i| i.op == op);
            module.funcs.values().any(insts)
        };
        if is_ray_stage(module.stage) && uses(Op::RayT) {
            let ty = unit.ty(Type::F32);
            rays.distance = unit.variable(StorageClass::Input, ty);
            unit.decorate(rays.distance, Decoration::BuiltIn, &[BuiltIn::RayTmaxKHR as u32]);
            // Hits that it reports change it.
            if module.stage == Stage::Intersection {
                unit.decorate(rays.distance, Decoration::Volatile, &[]);
            }
        }
        Ok(rays)
    }
}

/// The type of the variables that a kind of resource is, which has no descriptor.
fn object_type(kind: ResourceKind) -> Option<S> {
    match kind {
        ResourceKind::RayQuery => Some(S::TypeRayQueryKHR),
        ResourceKind::HitObject => Some(S::TypeHitObjectEXT),
        _ => None,
    }
}

impl Body<'_, '_> {
    fn words(&mut self, inst: Inst) -> SmallVec<[Id; 12]> {
        let function = self.function;
        function.args(inst).iter().map(|&v| self.value(v)).collect()
    }

    fn payload(&self, resource: Resource) -> Result<Id, Reason> {
        let view = self.shared.memory.resource(resource);
        Ok(view.ok_or(Reason::Invalid("the resource is no payload"))?.var)
    }

    /// The query or the hit object of an op and its other operands; of an array, the last operand is the element.
    fn object<'f>(&mut self, resource: Resource, args: &'f [Value]) -> Result<(Id, &'f [Value]), Reason> {
        const OTHER: Reason = Reason::Invalid("the resource is no ray query or hit object");
        let var = self.shared.rays.objects.get(resource).copied().filter(|&id| id != 0).ok_or(OTHER)?;
        let data = &self.shared.module.resources[resource];
        if data.count == Count::One {
            return Ok((var, args));
        }
        let ty = object_type(data.kind).ok_or(OTHER)?;
        let (&element, args) = args.split_last().ok_or(OPERANDS)?;
        let element = self.value(element);
        let unit = self.unit();
        let ty = unit.type_of(ty, &[]);
        let pointer = unit.pointer(StorageClass::Private, ty);
        Ok((unit.op_raw(S::AccessChain, pointer, &[var, element]), args))
    }

    /// An op on rays or meshes; what it gives.
    pub(crate) fn rays(&mut self, inst: Inst) -> Result<Option<Id>, Reason> {
        let function = self.function;
        let data = &function.insts[inst];
        match (data.op, data.imm) {
            (Op::RayTrace | Op::QueryStart, Imm::Resource(resource)) => {
                let mut args = function.args(inst);
                let mut words = SmallVec::<[Id; 12]>::new();
                if data.op == Op::QueryStart {
                    let query;
                    (query, args) = self.object(resource, args)?;
                    words.push(query);
                }
                let (&structure, args) = args.split_first().ok_or(OPERANDS)?;
                words.push(self.structure(structure)?);
                for &v in args {
                    words.push(self.value(v));
                }
                if data.op == Op::RayTrace {
                    words.push(self.payload(resource)?);
                    self.unit().effect_of(S::TraceRayKHR, &words);
                } else {
                    self.unit().effect_of(S::RayQueryInitializeKHR, &words);
                }
                Ok(None)
            }
            (Op::RayReport, _) => {
                let words = self.words(inst);
                Ok(Some(self.unit().op_of(S::ReportIntersectionKHR, Type::BOOL, &words)))
            }
            (Op::RayCall, Imm::Resource(resource)) => {
                let mut words = self.words(inst);
                words.push(self.payload(resource)?);
                self.unit().effect_of(S::ExecuteCallableKHR, &words);
                Ok(None)
            }
            (Op::RayT, _) => {
                let var = self.shared.rays.distance;
                Ok(Some(self.unit().op(S::Load, Type::F32, &[var])))
            }
            (Op::RayIgnore, _) => {
                self.end_invocation(S::IgnoreIntersectionKHR, &[]);
                Ok(None)
            }
            (Op::RayAccept, _) => {
                self.end_invocation(S::TerminateRayKHR, &[]);
                Ok(None)
            }
            (Op::QueryProceed, Imm::Resource(resource)) => {
                let (query, _) = self.object(resource, function.args(inst))?;
                Ok(Some(self.unit().op(S::RayQueryProceedKHR, Type::BOOL, &[query])))
            }
            (Op::QueryTerminate | Op::QueryConfirm | Op::QueryGenerate, Imm::Resource(resource)) => {
                let (query, args) = self.object(resource, function.args(inst))?;
                let mut words = SmallVec::<[Id; 2]>::from_slice(&[query]);
                for &v in args {
                    words.push(self.value(v));
                }
                let op = match data.op {
                    Op::QueryTerminate => S::RayQueryTerminateKHR,
                    Op::QueryConfirm => S::RayQueryConfirmIntersectionKHR,
                    _ => S::RayQueryGenerateIntersectionKHR,
                };
                self.unit().effect_of(op, &words);
                Ok(None)
            }
            (Op::QueryGet, Imm::Query(info)) => {
                let (query, _) = self.object(info.query, function.args(inst))?;
                self.query_value(query, info).map(Some)
            }
            (Op::HitGet, Imm::Query(info)) => {
                let (object, _) = self.object(info.query, function.args(inst))?;
                self.hit_value(object, info).map(Some)
            }
            (Op::HitTrace | Op::HitFromQuery | Op::HitInvoke | Op::HitAttributes, Imm::Hit(info)) => {
                self.hit(inst, info)?;
                Ok(None)
            }
            (Op::HitMiss | Op::HitNop | Op::HitSetRecord | Op::HitReorder, Imm::Resource(resource)) => {
                let (object, mut args) = self.object(resource, function.args(inst))?;
                let op = match data.op {
                    Op::HitMiss => S::HitObjectRecordMissEXT,
                    Op::HitNop => S::HitObjectRecordEmptyEXT,
                    Op::HitSetRecord => S::HitObjectSetShaderBindingTableRecordIndexEXT,
                    _ => S::ReorderThreadWithHitObjectEXT,
                };
                // A hint of no bits is none.
                if let (Op::HitReorder, [_, bits]) = (data.op, args)
                    && function.const_bits(*bits).is_some_and(|bits| bits.lane(0) == 0)
                {
                    args = &[];
                }
                let mut words = SmallVec::<[Id; 8]>::from_slice(&[object]);
                words.extend(args.iter().map(|&v| self.value(v)));
                self.unit().effect_of(op, &words);
                Ok(None)
            }
            (Op::MeshSetCounts, _) => {
                let words = self.words(inst);
                self.unit().effect_of(S::SetMeshOutputsEXT, &words);
                Ok(None)
            }
            (Op::MeshDispatch, Imm::Resource(resource)) => {
                let mut words = self.words(inst);
                words.push(self.payload(resource)?);
                self.end_invocation(S::EmitMeshTasksEXT, &words);
                Ok(None)
            }
            _ => Err(Reason::Unsupported("no back end takes this op yet")),
        }
    }

    /// An op on a hit object and memory.
    fn hit(&mut self, inst: Inst, info: HitInfo) -> Result<(), Reason> {
        let function = self.function;
        let (object, mut args) = self.object(info.object, function.args(inst))?;
        let mut words = SmallVec::<[Id; 16]>::from_slice(&[object]);
        let payload = self.payload(info.payload)?;
        let op = match function.insts[inst].op {
            Op::HitTrace => {
                let (&structure, args) = args.split_first().ok_or(OPERANDS)?;
                words.push(self.structure(structure)?);
                words.extend(args.iter().map(|&v| self.value(v)));
                words.push(payload);
                S::HitObjectTraceRayEXT
            }
            Op::HitFromQuery => {
                let query = info.query.expand().ok_or(Reason::Invalid("no ray query is named"))?;
                let query_var;
                (query_var, args) = self.object(query, args)?;
                let &kind = args.first().ok_or(OPERANDS)?;
                // The record is what `hit.set_record` gives it.
                let none = self.unit().u32(0);
                words.extend([query_var, none, payload]);
                // The kind is an operand since revision 3 of the extension, which other validators refuse.
                if function.const_bits(kind).is_none_or(|bits| bits.lane(0) != 0) {
                    words.push(self.value(kind));
                }
                S::HitObjectRecordFromQueryEXT
            }
            Op::HitInvoke => {
                words.push(payload);
                S::HitObjectExecuteShaderEXT
            }
            _ => {
                words.push(payload);
                S::HitObjectGetAttributesEXT
            }
        };
        self.unit().effect_of(op, &words);
        Ok(())
    }

    fn hit_value(&mut self, object: Id, info: QueryInfo) -> Result<Id, Reason> {
        let op = match info.value {
            RayValue::IsHit => S::HitObjectIsHitEXT,
            RayValue::IsMiss => S::HitObjectIsMissEXT,
            RayValue::IsNop => S::HitObjectIsEmptyEXT,
            RayValue::T => S::HitObjectGetRayTMaxEXT,
            RayValue::TMin => S::HitObjectGetRayTMinEXT,
            RayValue::Flags => S::HitObjectGetRayFlagsEXT,
            RayValue::Origin => S::HitObjectGetWorldRayOriginEXT,
            RayValue::Direction => S::HitObjectGetWorldRayDirectionEXT,
            RayValue::ObjectOrigin => S::HitObjectGetObjectRayOriginEXT,
            RayValue::ObjectDirection => S::HitObjectGetObjectRayDirectionEXT,
            RayValue::ObjectToWorld => S::HitObjectGetObjectToWorldEXT,
            RayValue::WorldToObject => S::HitObjectGetWorldToObjectEXT,
            RayValue::InstanceId => S::HitObjectGetInstanceIdEXT,
            RayValue::InstanceCustomIndex => S::HitObjectGetInstanceCustomIndexEXT,
            RayValue::GeometryIndex => S::HitObjectGetGeometryIndexEXT,
            RayValue::PrimitiveIndex => S::HitObjectGetPrimitiveIndexEXT,
            RayValue::HitKind => S::HitObjectGetHitKindEXT,
            RayValue::Record => S::HitObjectGetShaderBindingTableRecordIndexEXT,
            RayValue::RecordAddress => S::HitObjectGetShaderRecordBufferHandleEXT,
            _ => return Err(Reason::Invalid("hit objects do not tell it")),
        };
        Ok(self.ray_value(op, info, &[object]))
    }

    fn query_value(&mut self, query: Id, info: QueryInfo) -> Result<Id, Reason> {
        let (op, of_hit) = match info.value {
            RayValue::Kind => (S::RayQueryGetIntersectionTypeKHR, true),
            RayValue::T => (S::RayQueryGetIntersectionTKHR, true),
            RayValue::InstanceId => (S::RayQueryGetIntersectionInstanceIdKHR, true),
            RayValue::InstanceCustomIndex => (S::RayQueryGetIntersectionInstanceCustomIndexKHR, true),
            RayValue::InstanceOffset => {
                (S::RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR, true)
            }
            RayValue::GeometryIndex => (S::RayQueryGetIntersectionGeometryIndexKHR, true),
            RayValue::PrimitiveIndex => (S::RayQueryGetIntersectionPrimitiveIndexKHR, true),
            RayValue::Barycentrics => (S::RayQueryGetIntersectionBarycentricsKHR, true),
            RayValue::FrontFace => (S::RayQueryGetIntersectionFrontFaceKHR, true),
            RayValue::OpaqueBox => (S::RayQueryGetIntersectionCandidateAABBOpaqueKHR, false),
            RayValue::ObjectOrigin => (S::RayQueryGetIntersectionObjectRayOriginKHR, true),
            RayValue::ObjectDirection => (S::RayQueryGetIntersectionObjectRayDirectionKHR, true),
            RayValue::ObjectToWorld => (S::RayQueryGetIntersectionObjectToWorldKHR, true),
            RayValue::WorldToObject => (S::RayQueryGetIntersectionWorldToObjectKHR, true),
            RayValue::Flags => (S::RayQueryGetRayFlagsKHR, false),
            RayValue::TMin => (S::RayQueryGetRayTMinKHR, false),
            RayValue::Origin => (S::RayQueryGetWorldRayOriginKHR, false),
            RayValue::Direction => (S::RayQueryGetWorldRayDirectionKHR, false),
            _ => return Err(Reason::Invalid("ray queries do not tell it")),
        };
        let mut words = SmallVec::<[Id; 2]>::from_slice(&[query]);
        if of_hit {
            words.push(self.unit().u32(u32::from(info.committed)));
        }
        Ok(self.ray_value(op, info, &words))
    }

    /// What an instruction tells; of a matrix, one column.
    fn ray_value(&mut self, op: S, info: QueryInfo, words: &[Id]) -> Id {
        let unit = self.unit();
        let ty = info.value.ty();
        if info.value.is_matrix() {
            let matrix = matrix_type(unit);
            let whole = unit.op_raw_of(op, matrix, words);
            return unit.op(S::CompositeExtract, ty, &[whole, info.column.into()]);
        }
        unit.op_of(op, ty, words)
    }
}

/// Four columns of three floats.
pub(crate) fn matrix_type(unit: &mut Unit) -> Id {
    let column = unit.ty(Type::F32X3);
    unit.type_of(S::TypeMatrix, &[column, 4])
}
