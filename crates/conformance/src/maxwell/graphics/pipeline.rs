//! Translated shaders as pipelines of a Vulkan device, the other stages being stubs.

use super::Shader;
use crate::vulkan::{Language, Runner};
use crate::{Error, Request};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{Count, Direction, Module, ResourceKind, Semantic, Stage};
use xenoglot_ir::{Kind, Type};
use xenoglot_maxwell::gpu::InputPrimitive;
use xenoglot_maxwell::lift::Lifted;
use xenoglot_vulkan::{
    DescriptorKind, DescriptorSlot, DeviceInfo, Job, PipelineInput, PipelineJob, PipelineStage, StageModule,
    Topology, glslang,
};

const VERTEX: &str = "#version 450\nvoid main() { gl_Position = vec4(0); }\n";
const FRAGMENT: &str = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }\n";
const CONTROL: &str = "#version 450\nlayout(vertices = 3) out; void main() { \
    gl_out[gl_InvocationID].gl_Position = vec4(0); gl_TessLevelOuter[0] = 1; gl_TessLevelOuter[1] = 1; \
    gl_TessLevelOuter[2] = 1; gl_TessLevelInner[0] = 1; }\n";
const EVALUATION: &str = "#version 450\nlayout(triangles) in; void main() { gl_Position = vec4(0); }\n";

/// A device with a translator.
pub struct Engine(pub(super) Runner);

impl Engine {
    /// An engine on `device`, found for the same request.
    ///
    /// # Errors
    /// [`Error::Device`] if the tools of the language, or glslang for the stubs, are missing.
    pub fn new(language: Language, request: &Request, device: &DeviceInfo) -> Result<Engine, Error> {
        if !glslang::available() {
            return Err(Error::Device("glslangValidator is not installed".into()));
        }
        Runner::new(language, request, device).map(Engine)
    }

    /// Translates a shader and builds a pipeline with it.
    ///
    /// # Errors
    /// What is not lifted or cannot be expressed, or the device's error.
    pub fn build(&mut self, shader: &Shader) -> Result<(), String> {
        let (lifted, spirv) = self.translate(shader)?;
        let job = Job::Pipeline(job(&lifted, spirv)?);
        self.0.device.run(&job).map(|_| ()).map_err(|e| e.to_string())
    }

    /// Translates a shader; what it binds is in descriptor set 0.
    pub(super) fn translate(&mut self, shader: &Shader) -> Result<(Lifted, Vec<u32>), String> {
        let mut lifted = shader.lift(0)?;
        xenoglot_ir::verify(&lifted.module).map_err(|e| e.to_string())?;
        let spirv = self.0.compile(&mut lifted.module, shader.stage)?;
        Ok((lifted, spirv))
    }
}

fn stub(stage: PipelineStage) -> Result<StageModule, String> {
    let (source, of) = match stage {
        PipelineStage::Vertex => (VERTEX, glslang::Stage::Vertex),
        PipelineStage::TessControl => (CONTROL, glslang::Stage::TessControl),
        PipelineStage::TessEval => (EVALUATION, glslang::Stage::TessEvaluation),
        _ => (FRAGMENT, glslang::Stage::Fragment),
    };
    Ok(StageModule { stage, spirv: glslang::compile(source, of).map_err(|e| e.to_string())? })
}

fn job(lifted: &Lifted, spirv: Vec<u32>) -> Result<PipelineJob, String> {
    use PipelineStage as P;
    let module = &lifted.module;
    let (stage, others): (P, &[P]) = match module.stage {
        Stage::Vertex => (P::Vertex, &[P::Fragment]),
        Stage::TessControl => (P::TessControl, &[P::Vertex, P::TessEval, P::Fragment]),
        Stage::TessEval => (P::TessEval, &[P::Vertex, P::TessControl, P::Fragment]),
        Stage::Geometry => (P::Geometry, &[P::Vertex, P::Fragment]),
        Stage::Fragment => (P::Fragment, &[P::Vertex]),
        _ => (P::Compute, &[]),
    };
    let mut stages = vec![StageModule { stage, spirv }];
    for &other in others {
        stages.push(stub(other)?);
    }
    let geometry = lifted.info.graphics.as_ref().and_then(|g| g.geometry);
    Ok(PipelineJob {
        stages,
        descriptors: descriptors(module),
        inputs: inputs(module),
        targets: targets(module),
        topology: topology(geometry.map_or(InputPrimitive::Triangles, |g| g.input)),
        // As many as the control shader's stub makes.
        patch_vertices: 3,
    })
}

/// What a geometry shader is drawn with.
pub(super) fn topology(input: InputPrimitive) -> Topology {
    match input {
        InputPrimitive::Points => Topology::Points,
        InputPrimitive::Lines => Topology::Lines,
        InputPrimitive::LinesAdjacency => Topology::LinesAdjacency,
        InputPrimitive::Triangles => Topology::Triangles,
        InputPrimitive::TrianglesAdjacency => Topology::TrianglesAdjacency,
    }
}

pub(super) fn descriptors(module: &Module) -> Vec<DescriptorSlot> {
    let slot = |r: &xenoglot_ir::module::ResourceData| {
        let kind = match r.kind {
            ResourceKind::UniformBuffer { .. } => DescriptorKind::Uniform,
            ResourceKind::StorageBuffer { .. } => DescriptorKind::Storage,
            ResourceKind::Texture { dim: Dim::Buffer, .. } => DescriptorKind::TexelBuffer,
            ResourceKind::Texture { .. } => DescriptorKind::Texture,
            ResourceKind::Image { dim: Dim::Buffer, .. } => DescriptorKind::ImageBuffer,
            ResourceKind::Image { .. } => DescriptorKind::Image,
            _ => return None,
        };
        let count = if let Count::Fixed(n) = r.count { n } else { 1 };
        Some(DescriptorSlot { set: r.set, binding: r.binding, kind, count })
    };
    module.resources.values().filter_map(slot).collect()
}

/// Locations of a direction with what is there.
fn locations(module: &Module, direction: Direction) -> Vec<(u32, Type)> {
    let mut found: Vec<(u32, Type)> = module
        .vars
        .values()
        .filter(|v| v.direction == direction)
        .filter_map(|v| match v.semantic {
            Semantic::Location { location, .. } => Some((location, v.ty)),
            Semantic::Builtin(_) => None,
        })
        .collect();
    found.sort_by_key(|(location, _)| *location);
    found.dedup_by_key(|(location, _)| *location);
    found
}

fn inputs(module: &Module) -> Vec<PipelineInput> {
    if module.stage != Stage::Vertex {
        return Vec::new();
    }
    let input = |(location, ty): (u32, Type)| PipelineInput { location, integers: ty.kind() == Kind::I32 };
    locations(module, Direction::Input).into_iter().map(input).collect()
}

fn targets(module: &Module) -> Vec<bool> {
    if module.stage != Stage::Fragment {
        return vec![false];
    }
    let written = locations(module, Direction::Output);
    let count = written.last().map_or(0, |(location, _)| location + 1);
    let integers = |n| written.iter().any(|(location, ty)| *location == n && ty.kind() == Kind::I32);
    (0..count).map(integers).collect()
}
