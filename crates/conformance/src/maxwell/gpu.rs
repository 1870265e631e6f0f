//! The `spirv` and `glsl` engines: translated kernels on a Vulkan device, in a worker process.

use super::launch::{BANK_BYTES, Launch};
use crate::vulkan::{Language, Runner};
use crate::{Error, Request};
use xenoglot_ir::Module;
use xenoglot_maxwell::lift::layout;
use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeJob, ComputeRun, DeviceInfo, Job, glslang};

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

    /// Global memory after a launch.
    ///
    /// # Errors
    /// What the language cannot express, or the device's error.
    pub fn run(&mut self, launch: &Launch, mut module: Module) -> Result<Vec<u8>, String> {
        let spirv = self.0.compile(&mut module, glslang::Stage::Compute)?;
        let storage = BufferBinding {
            set: 0,
            binding: layout::GLOBAL_BINDING,
            kind: BufferKind::Storage,
            data: launch.memory.bytes().to_vec(),
        };
        let banks = launch.banks.iter().map(|(bank, data)| BufferBinding {
            set: 0,
            binding: layout::bank_binding(*bank),
            kind: BufferKind::Uniform,
            data: {
                let mut data = data.clone();
                data.resize(BANK_BYTES, 0);
                data
            },
        });
        let buffers = [storage].into_iter().chain(banks).collect();
        let run = ComputeRun { buffers, push_constants: Vec::new(), groups: launch.kernel.grid };
        let job = Job::Compute(ComputeJob { spirv, entry: "main".into(), runs: vec![run] });
        let outputs = self.0.device.run(&job).map_err(|e| e.to_string())?;
        let memory = outputs.into_iter().next().and_then(|o| o.buffers.into_iter().next());
        memory.ok_or_else(|| "results are missing".into())
    }
}
