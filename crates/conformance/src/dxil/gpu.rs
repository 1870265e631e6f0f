//! The `spirv` and `glsl` engines: translated shaders on a Vulkan device, in a worker process.

use super::format::{Kind, Test, Vector};
use super::{compare, lifted};
use crate::vulkan::{Host, Language};
use crate::{Error, Request};
use xenoglot_opt::lower_floats;
use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeJob, ComputeRun, DeviceInfo, Job, glslang};

/// A device with a translator: one per thread.
pub struct Engine(Host);

impl Engine {
    /// An engine on `device`, found for the same request.
    ///
    /// # Errors
    /// [`Error::Device`] if the tools of the language are missing.
    pub fn new(language: Language, request: &Request, device: &DeviceInfo) -> Result<Engine, Error> {
        Host::new(language, request, device).map(Engine)
    }

    /// Translates a shader and runs its test, if it has one.
    ///
    /// # Errors
    /// What the language cannot express, the device's error, or what differs.
    pub fn run(&mut self, vector: &Vector) -> Result<(), String> {
        let mut module = lifted(vector)?;
        // Vulkan promises no `fma` that rounds once.
        let floats = lower_floats::Options { fma: true, ..Default::default() };
        self.0.translator.optimize(&mut module, &xenoglot_opt::Options { floats, ..Default::default() });
        let spirv = self.0.words(&module, glslang::Stage::Compute, false)?;
        let Some(test) = &vector.test else { return Ok(()) };
        let run = ComputeRun { buffers: buffers(test), push_constants: Vec::new(), groups: test.groups };
        let job = Job::Compute(ComputeJob { spirv, entry: "main".into(), runs: vec![run] });
        let outputs = self.0.device.run(&job).map_err(|e| e.to_string())?;
        let after = outputs.into_iter().next().map(|o| o.buffers).ok_or("results are missing")?;
        compare(test, &after)
    }
}

fn buffers(test: &Test) -> Vec<BufferBinding> {
    let buffer = |r: &super::format::Resource| BufferBinding {
        set: r.space,
        binding: r.register,
        kind: match r.kind {
            Kind::ConstantBuffer => BufferKind::Uniform,
            _ => BufferKind::Storage,
        },
        data: r.data.clone(),
    };
    test.resources.iter().map(buffer).collect()
}
