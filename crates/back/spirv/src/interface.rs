//! Inputs, outputs and builtins.

use crate::error::{Error, Reason};
use crate::options::{Names, Version};
use crate::rays::{is_ray_stage, matrix_type, stage_needs};
use crate::unit::{Id, Unit};
use smallvec::SmallVec;
use spirv::{BuiltIn, Capability, Decoration, ExecutionModel, Op as S, StorageClass};
use xenoglot_ir::entities::Var;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Module, Semantic, Stage, VarData};
use xenoglot_ir::{Kind, NO_GUEST, Type};

/// A declared variable.
#[derive(Clone, Copy, Default)]
struct Declared {
    id: Id,
    output: bool,
    /// An index follows the variable in access chains: the one of the op, or 0.
    array: bool,
    /// Vulkan has it as a signed integer.
    signed: bool,
}

/// The variables of a module.
#[derive(Default)]
pub(crate) struct Interface {
    vars: SecondaryMap<Var, Declared>,
    host: Vec<(BuiltIn, Id)>,
}

/// The model of a stage that can be written.
pub(crate) fn model(stage: Stage) -> Result<ExecutionModel, Error> {
    match stage {
        Stage::Vertex => Ok(ExecutionModel::Vertex),
        Stage::TessControl => Ok(ExecutionModel::TessellationControl),
        Stage::TessEval => Ok(ExecutionModel::TessellationEvaluation),
        Stage::Geometry => Ok(ExecutionModel::Geometry),
        Stage::Fragment => Ok(ExecutionModel::Fragment),
        Stage::Compute => Ok(ExecutionModel::GLCompute),
        Stage::Mesh => Ok(ExecutionModel::MeshEXT),
        Stage::Task => Ok(ExecutionModel::TaskEXT),
        Stage::RayGen => Ok(ExecutionModel::RayGenerationKHR),
        Stage::Intersection => Ok(ExecutionModel::IntersectionKHR),
        Stage::AnyHit => Ok(ExecutionModel::AnyHitKHR),
        Stage::ClosestHit => Ok(ExecutionModel::ClosestHitKHR),
        Stage::Miss => Ok(ExecutionModel::MissKHR),
        Stage::Callable => Ok(ExecutionModel::CallableKHR),
        Stage::Cpu => Err(Error::Stage(stage.name())),
    }
}

impl Interface {
    /// Declares everything.
    pub(crate) fn declare(unit: &mut Unit, module: &Module) -> Result<Interface, Error> {
        let mut interface = Interface::default();
        if matches!(module.stage, Stage::Mesh | Stage::Task) || is_ray_stage(module.stage) {
            stage_needs(unit, module.stage).map_err(|reason| reason.at(None, NO_GUEST))?;
        }
        for (var, data) in &module.vars {
            interface.vars[var] = declare(unit, module, data).map_err(|reason| reason.at(None, NO_GUEST))?;
        }
        for capture in &module.captures {
            unit.capability(Capability::TransformFeedback);
            let Some(&Declared { id, .. }) = interface.vars.get(capture.var) else { continue };
            unit.decorate(id, Decoration::Offset, &[capture.offset]);
            unit.decorate(id, Decoration::XfbBuffer, &[capture.buffer]);
            unit.decorate(id, Decoration::XfbStride, &[capture.stride]);
        }
        Ok(interface)
    }

    /// Reads a variable.
    pub(crate) fn load(&self, unit: &mut Unit, var: Var, ty: Type, index: &[Id]) -> Result<Id, Reason> {
        let pointer = self.pointer(unit, var, ty, index)?;
        Ok(unit.op(S::Load, ty, &[pointer]))
    }

    /// Writes a variable.
    pub(crate) fn store(
        &self,
        unit: &mut Unit,
        var: Var,
        ty: Type,
        value: Id,
        index: &[Id],
    ) -> Result<(), Reason> {
        let pointer = self.pointer(unit, var, ty, index)?;
        let signed = self.vars.get(var).is_some_and(|declared| declared.signed);
        let value = if signed {
            let ty = signed_word(unit);
            unit.op_raw(S::Bitcast, ty, &[value])
        } else {
            value
        };
        unit.effect(S::Store, &[pointer, value]);
        Ok(())
    }

    pub(crate) fn pointer(&self, unit: &mut Unit, var: Var, ty: Type, index: &[Id]) -> Result<Id, Reason> {
        let Some(&declared) = self.vars.get(var) else {
            return Err(Reason::Invalid("an unknown variable"));
        };
        if !declared.array {
            return Ok(declared.id);
        }
        let class = if declared.output { StorageClass::Output } else { StorageClass::Input };
        let type_id = if declared.signed { signed_word(unit) } else { unit.ty(ty) };
        let pointer_type = unit.pointer(class, type_id);
        let mut words: SmallVec<[Id; 3]> = SmallVec::from_slice(&[declared.id]);
        words.extend_from_slice(index);
        if index.is_empty() {
            words.push(unit.u32(0));
        }
        Ok(unit.op_raw_of(S::AccessChain, pointer_type, &words))
    }

    /// Reads a builtin that only the host has: lane number and size of a subgroup.
    pub(crate) fn host_builtin(&mut self, unit: &mut Unit, builtin: BuiltIn, stage: Stage) -> Id {
        let known = self.host.iter().find(|(b, _)| *b == builtin).map(|(_, id)| *id);
        let id = known.unwrap_or_else(|| {
            let type_id = unit.ty(Type::I32);
            let id = unit.variable(StorageClass::Input, type_id);
            unit.decorate(id, Decoration::BuiltIn, &[builtin as u32]);
            if stage == Stage::Fragment {
                unit.decorate(id, Decoration::Flat, &[]);
            }
            // A call of another shader may come back in another subgroup.
            if is_ray_stage(stage) {
                unit.decorate(id, Decoration::Volatile, &[]);
            }
            self.host.push((builtin, id));
            id
        });
        unit.op(S::Load, Type::I32, &[id])
    }
}

fn declare(unit: &mut Unit, module: &Module, data: &VarData) -> Result<Declared, Reason> {
    let stage = module.stage;
    let output = data.direction == Direction::Output;
    let class = if output { StorageClass::Output } else { StorageClass::Input };
    let kind = data.ty.kind();
    use Builtin as B;
    let builtin = match data.semantic {
        Semantic::Builtin(builtin) => Some(builtin),
        Semantic::Location { .. } => None,
    };
    let is_bool_builtin = matches!(builtin, Some(B::FrontFacing | B::FullyCovered | B::CullPrimitive));
    if kind.is_handle() || (kind == Kind::Bool && !is_bool_builtin) {
        return Err(Reason::Unsupported("an interface variable of this type"));
    }
    match kind {
        Kind::F16 | Kind::I16 if builtin.is_none() && !unit.options.portable_ops => {
            unit.capability(Capability::StorageInputOutput16);
            if !unit.since(Version::V1_3) {
                unit.extension("SPV_KHR_16bit_storage");
            }
        }
        _ if kind.bits() < 32 && kind != Kind::Bool => {
            return Err(Reason::Unsupported("an interface variable of less than 32 bits"));
        }
        _ => {}
    }
    // Vulkan declares masks as arrays of words, naga's languages as a word.
    let mask = matches!(builtin, Some(B::SampleMask | B::ViewportMask)) && !unit.options.portable_ops;
    let elements = data.array.or(mask.then_some(1));
    // The validator asks for it where there is one for each primitive.
    let of_primitive = matches!(builtin, Some(B::Layer | B::ViewportIndex | B::PrimitiveId));
    let signed = of_primitive && stage == Stage::Mesh && output;
    let mut type_id = if signed { signed_word(unit) } else { unit.ty(data.ty) };
    let matrix = matches!(builtin, Some(B::ObjectToWorld | B::WorldToObject));
    if matrix {
        type_id = matrix_type(unit);
    }
    for n in data.inner.into_iter().chain(elements.filter(|_| !matrix)) {
        let n = unit.u32(n.max(1));
        type_id = unit.type_of(S::TypeArray, &[type_id, n]);
    }
    let id = unit.variable(class, type_id);
    unit.name(Names::Interface, id, &data.name);
    match data.semantic {
        Semantic::Location { location, component } => {
            let second = module.pipeline.dual_source && output && location == 1;
            unit.decorate(id, Decoration::Location, &[if second { 0 } else { location }]);
            if second {
                unit.decorate(id, Decoration::Index, &[1]);
            }
            if component != 0 {
                unit.decorate(id, Decoration::Component, &[u32::from(component)]);
            }
        }
        Semantic::Builtin(builtin) => {
            let builtin = host_builtin(unit, stage, builtin, data)?;
            unit.decorate(id, Decoration::BuiltIn, &[builtin as u32]);
            if module.pipeline.invariant_position && output && builtin == BuiltIn::Position {
                unit.decorate(id, Decoration::Invariant, &[]);
            }
        }
    }
    match data.interpolation {
        Interpolation::Patch => unit.decorate(id, Decoration::Patch, &[]),
        Interpolation::PerPrimitive => {
            stage_needs(unit, Stage::Mesh)?;
            unit.decorate(id, Decoration::PerPrimitiveEXT, &[]);
        }
        _ => {}
    }
    if data.stream != 0 {
        unit.capability(Capability::GeometryStreams);
        unit.decorate(id, Decoration::Stream, &[data.stream.into()]);
    }
    if stage == Stage::Fragment && !output {
        // Integers and 64-bit floats cannot be interpolated.
        let interpolates = matches!(kind, Kind::F32 | Kind::F16);
        match data.interpolation {
            Interpolation::PerPrimitive if interpolates => {}
            Interpolation::PerVertex => {
                barycentrics(unit);
                unit.decorate(id, Decoration::PerVertexKHR, &[]);
            }
            _ if !interpolates && kind != Kind::Bool => unit.decorate(id, Decoration::Flat, &[]),
            how if matches!(builtin, Some(B::BaryCoord | B::BaryCoordLinear)) => sampled(unit, id, how),
            _ if builtin.is_some() => {}
            Interpolation::Flat => unit.decorate(id, Decoration::Flat, &[]),
            Interpolation::Patch => return Err(Reason::Invalid("a value of a patch in a fragment shader")),
            how => interpolated(unit, id, how),
        }
    } else if output && stage != Stage::Fragment && unit.options.portable_ops && builtin.is_none() {
        // Vulkan asks the fragment shader alone; WebGPU compares both sides.
        if !matches!(kind, Kind::F32 | Kind::Bool) {
            unit.decorate(id, Decoration::Flat, &[]);
        }
    }
    Ok(Declared { id, output, array: elements.is_some(), signed })
}

fn signed_word(unit: &mut Unit) -> Id {
    unit.type_of(S::TypeInt, &[32, 1])
}

fn interpolated(unit: &mut Unit, id: Id, how: Interpolation) {
    use Interpolation as I;
    if matches!(how, I::Linear | I::LinearCentroid | I::LinearSample) {
        unit.decorate(id, Decoration::NoPerspective, &[]);
    }
    sampled(unit, id, how);
}

/// Where in the pixel an input is taken.
fn sampled(unit: &mut Unit, id: Id, how: Interpolation) {
    use Interpolation as I;
    if matches!(how, I::Centroid | I::LinearCentroid) {
        unit.decorate(id, Decoration::Centroid, &[]);
    }
    if matches!(how, I::Sample | I::LinearSample) {
        unit.capability(Capability::SampleRateShading);
        unit.decorate(id, Decoration::Sample, &[]);
    }
}

fn barycentrics(unit: &mut Unit) {
    unit.capability(Capability::FragmentBarycentricKHR);
    unit.extension("SPV_KHR_fragment_shader_barycentric");
}

fn host_builtin(unit: &mut Unit, stage: Stage, builtin: Builtin, data: &VarData) -> Result<BuiltIn, Reason> {
    use Builtin as B;
    let output = data.direction == Direction::Output;
    let pick = match builtin {
        B::Position => BuiltIn::Position,
        B::PointSize => {
            if stage == Stage::Geometry {
                unit.capability(Capability::GeometryPointSize);
            }
            BuiltIn::PointSize
        }
        B::ClipDistance => {
            unit.capability(Capability::ClipDistance);
            BuiltIn::ClipDistance
        }
        B::CullDistance => {
            unit.capability(Capability::CullDistance);
            BuiltIn::CullDistance
        }
        B::StencilRef => {
            unit.capability(Capability::StencilExportEXT);
            unit.extension("SPV_EXT_shader_stencil_export");
            BuiltIn::FragStencilRefEXT
        }
        B::FullyCovered => {
            unit.capability(Capability::FragmentFullyCoveredEXT);
            unit.extension("SPV_EXT_fragment_fully_covered");
            BuiltIn::FullyCoveredEXT
        }
        B::BaryCoord | B::BaryCoordLinear => {
            barycentrics(unit);
            if builtin == B::BaryCoord { BuiltIn::BaryCoordKHR } else { BuiltIn::BaryCoordNoPerspKHR }
        }
        B::ShadingRate => {
            unit.capability(Capability::FragmentShadingRateKHR);
            unit.extension("SPV_KHR_fragment_shading_rate");
            if output { BuiltIn::PrimitiveShadingRateKHR } else { BuiltIn::ShadingRateKHR }
        }
        B::ViewIndex => {
            unit.capability(Capability::MultiView);
            if !unit.since(Version::V1_3) {
                unit.extension("SPV_KHR_multiview");
            }
            BuiltIn::ViewIndex
        }
        B::PrimitiveIndices => match data.ty.lanes() {
            1 => BuiltIn::PrimitivePointIndicesEXT,
            2 => BuiltIn::PrimitiveLineIndicesEXT,
            _ => BuiltIn::PrimitiveTriangleIndicesEXT,
        },
        B::CullPrimitive => BuiltIn::CullPrimitiveEXT,
        B::LaunchId => BuiltIn::LaunchIdKHR,
        B::LaunchSize => BuiltIn::LaunchSizeKHR,
        B::WorldRayOrigin => BuiltIn::WorldRayOriginKHR,
        B::WorldRayDirection => BuiltIn::WorldRayDirectionKHR,
        B::ObjectRayOrigin => BuiltIn::ObjectRayOriginKHR,
        B::ObjectRayDirection => BuiltIn::ObjectRayDirectionKHR,
        B::RayTMin => BuiltIn::RayTminKHR,
        B::RayFlags => BuiltIn::IncomingRayFlagsKHR,
        B::HitKind => BuiltIn::HitKindKHR,
        B::InstanceId => BuiltIn::InstanceId,
        B::InstanceCustomIndex => BuiltIn::InstanceCustomIndexKHR,
        B::GeometryIndex => BuiltIn::RayGeometryIndexKHR,
        B::ObjectToWorld => BuiltIn::ObjectToWorldKHR,
        B::WorldToObject => BuiltIn::WorldToObjectKHR,
        B::VertexIndex => BuiltIn::VertexIndex,
        B::InstanceIndex => BuiltIn::InstanceIndex,
        B::PrimitiveId => {
            if stage == Stage::Fragment {
                unit.capability(Capability::Geometry);
            }
            BuiltIn::PrimitiveId
        }
        B::InvocationId => BuiltIn::InvocationId,
        B::FragCoord => BuiltIn::FragCoord,
        B::FrontFacing => BuiltIn::FrontFacing,
        B::FragDepth => BuiltIn::FragDepth,
        B::SampleMask => BuiltIn::SampleMask,
        B::SampleId => {
            unit.capability(Capability::SampleRateShading);
            BuiltIn::SampleId
        }
        B::Layer | B::ViewportIndex => {
            let layer = builtin == B::Layer;
            if matches!(stage, Stage::Vertex | Stage::TessEval | Stage::Mesh) && output {
                if unit.since(Version::V1_5) {
                    unit.capability(if layer {
                        Capability::ShaderLayer
                    } else {
                        Capability::ShaderViewportIndex
                    });
                } else {
                    unit.capability(Capability::ShaderViewportIndexLayerEXT);
                    unit.extension("SPV_EXT_shader_viewport_index_layer");
                }
            } else {
                unit.capability(if layer { Capability::Geometry } else { Capability::MultiViewport });
            }
            if layer { BuiltIn::Layer } else { BuiltIn::ViewportIndex }
        }
        B::ViewportMask => {
            unit.capability(Capability::ShaderViewportMaskNV);
            unit.extension("SPV_NV_viewport_array2");
            BuiltIn::ViewportMaskNV
        }
        B::GlobalInvocationId => BuiltIn::GlobalInvocationId,
        B::LocalInvocationId => BuiltIn::LocalInvocationId,
        B::WorkgroupId => BuiltIn::WorkgroupId,
        B::NumWorkgroups => BuiltIn::NumWorkgroups,
        B::LocalInvocationIndex => BuiltIn::LocalInvocationIndex,
        B::TessCoord => BuiltIn::TessCoord,
        B::TessLevelOuter => BuiltIn::TessLevelOuter,
        B::TessLevelInner => BuiltIn::TessLevelInner,
        B::PatchVertices => BuiltIn::PatchVertices,
        B::PointCoord => BuiltIn::PointCoord,
        B::BaseInstance | B::BaseVertex | B::DrawIndex => {
            unit.capability(Capability::DrawParameters);
            if !unit.since(Version::V1_3) {
                unit.extension("SPV_KHR_shader_draw_parameters");
            }
            match builtin {
                B::BaseVertex => BuiltIn::BaseVertex,
                B::DrawIndex => BuiltIn::DrawIndex,
                _ => BuiltIn::BaseInstance,
            }
        }
    };
    Ok(pick)
}
