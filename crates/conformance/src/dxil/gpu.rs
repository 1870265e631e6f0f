//! The `spirv` and `glsl` engines: translated shaders on a Vulkan device, in a worker process.

use super::format::{Class, Kind, Resource, Test, Vector};
use super::{FOR_DEVICES, compare, lifted};
use crate::vulkan::{Language, Runner, texel_format};
use crate::{Error, Request};
use xenoglot_ir::module::ImageFormat;
use xenoglot_vulkan::{
    BufferBinding, BufferKind, ComputeJob, ComputeRun, DeviceInfo, Job, TexelFormat, glslang,
};

/// A device with a translator: one per thread.
pub struct Engine(Runner);

impl Engine {
    /// An engine on `device`, found for the same request.
    ///
    /// # Errors
    /// [`Error::Device`] if the tools of the language are missing.
    pub fn new(language: Language, request: &Request, device: &DeviceInfo) -> Result<Engine, Error> {
        Runner::new(language, request, device).map(Engine)
    }

    /// Translates a shader and runs its test, if it has one.
    ///
    /// # Errors
    /// What the language cannot express, the device's error, or what differs.
    pub fn run(&mut self, vector: &Vector) -> Result<(), String> {
        let mut module = lifted(vector, &FOR_DEVICES)?;
        let spirv = self.0.compile(&mut module, glslang::Stage::Compute)?;
        let Some(test) = &vector.test else { return Ok(()) };
        let outputs = self.0.device.run(&job(test, spirv)).map_err(|e| e.to_string())?;
        let after = outputs.into_iter().next().map(|o| o.buffers).ok_or("results are missing")?;
        compare(test, &after)
    }
}

/// A test's run of a module in which a register space is a descriptor set and a register a binding.
pub fn job(test: &Test, spirv: Vec<u32>) -> Job {
    let run = ComputeRun { buffers: buffers(test), push_constants: Vec::new(), groups: test.groups };
    Job::Compute(ComputeJob { spirv, entry: "main".into(), runs: vec![run] })
}

fn buffers(test: &Test) -> Vec<BufferBinding> {
    let buffer = |r: &Resource| BufferBinding {
        set: r.space,
        binding: r.register,
        kind: kind(r),
        data: r.data.clone(),
    };
    test.resources.iter().map(buffer).collect()
}

/// The format of a buffer of texels. The reader takes none that is not said.
fn texels(format: ImageFormat) -> TexelFormat {
    texel_format(format).unwrap_or(TexelFormat::R32Sfloat)
}

/// How a shader sees a resource.
pub(super) fn kind(resource: &Resource) -> BufferKind {
    match (resource.kind, resource.class) {
        (Kind::ConstantBuffer, _) => BufferKind::Uniform,
        (Kind::Typed(format), Class::Uav) => BufferKind::StorageTexel(texels(format)),
        (Kind::Typed(format), _) => BufferKind::UniformTexel(texels(format)),
        (Kind::Raw | Kind::Structured, _) => BufferKind::Storage,
    }
}
