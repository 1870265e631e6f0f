//! Compute shaders.

use crate::binding::{Program, check_limit};
use crate::device::{Device, Owned};
use crate::error::Named;
use crate::module::Interface;
use crate::{ComputeJob, ComputeRun, Error, RunOutput, Stage};
use ash::vk;
use std::collections::BTreeMap;
use std::ffi::CString;

/// A compute shader, ready to run.
pub struct ComputePipeline {
    pipeline: Owned<vk::Pipeline>,
    program: Program,
}

impl Device {
    /// Compiles a compute shader. Its layout is taken from the module.
    ///
    /// # Errors
    /// [`Error::Module`], [`Error::NoEntry`] and [`Error::Unsupported`] for a module that the device cannot take, the
    /// driver's error if it fails to compile it.
    ///
    /// # Safety
    /// The module is valid for Vulkan (`spirv-val --target-env vulkan…`). A driver trusts it: what an invalid one does
    /// is undefined. Modules that are not known to be valid belong into a worker: [`crate::isolated`].
    pub unsafe fn prepare_compute(&self, spirv: &[u32], entry: &str) -> Result<ComputePipeline, Error> {
        let interface = Interface::read(spirv, entry, Stage::Compute)?;
        // SAFETY: the module is valid, as the caller promises.
        let program = unsafe { Program::new(&self.shared, spirv, interface, vk::ShaderStageFlags::COMPUTE) }?;
        let name = entry_name(entry)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(program.module.raw)
            .name(&name);
        let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(program.layout.raw)];
        // SAFETY: the module has this entry point, and the layout has what the module uses.
        let pipeline =
            unsafe { self.shared.raw.create_compute_pipelines(self.shared.pipelines.raw, &create, None) };
        let pipeline = first_pipeline(&self.shared, pipeline, "vkCreateComputePipelines")?;
        self.shared.check_validation()?;
        Ok(ComputePipeline { pipeline, program })
    }

    /// Compiles a shader and does all its runs.
    ///
    /// # Errors
    /// The first error of [`Device::prepare_compute`] or [`ComputePipeline::dispatch`].
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`].
    pub unsafe fn run_compute(&self, job: &ComputeJob) -> Result<Vec<RunOutput>, Error> {
        // SAFETY: passed on to the caller.
        let pipeline = unsafe { self.prepare_compute(&job.spirv, &job.entry) }?;
        job.runs.iter().map(|run| pipeline.dispatch(run)).collect()
    }
}

impl ComputePipeline {
    /// Runs the shader once and waits for it.
    ///
    /// # Errors
    /// [`Error::MissingBinding`], [`Error::BindingKind`], [`Error::DuplicateBinding`] and [`Error::TooLarge`] for a
    /// run that does not fit the module or the device; [`Error::Timeout`] when it does not come to an end.
    pub fn dispatch(&self, run: &ComputeRun) -> Result<RunOutput, Error> {
        let shared = &self.program.shared;
        for (axis, (groups, limit)) in
            ["x", "y", "z"].into_iter().zip(run.groups.into_iter().zip(shared.info.limits.workgroup_count))
        {
            let what = || format!("the number of workgroups in {axis}");
            check_limit(what(), u64::from(groups), u64::from(limit))?;
        }
        let bound = self.program.bind(&run.buffers)?;
        let push_constants = self.program.push_constants(&run.push_constants)?;
        let [x, y, z] = run.groups;
        // SAFETY: the pipeline's own sets and push constants are bound, the group counts are within limits, and
        // `self` and `bound` live until the commands are done.
        let elapsed = unsafe {
            shared.submit(|commands| {
                let point = vk::PipelineBindPoint::COMPUTE;
                self.program.record_bind(commands, point, self.pipeline.raw, &bound, &push_constants);
                shared.raw.cmd_dispatch(commands, x, y, z);
            })
        }?;
        Ok(RunOutput { buffers: bound.read(&run.buffers)?, captures: BTreeMap::new(), elapsed })
    }
}

/// An entry point's name for the driver. One with a nul inside cannot be in a module.
pub(crate) fn entry_name(entry: &str) -> Result<CString, Error> {
    CString::new(entry)
        .map_err(|_| Error::Module { word: 0, reason: "an entry point with a nul in its name".into() })
}

/// The one pipeline of a creation command.
pub(crate) fn first_pipeline(
    shared: &std::sync::Arc<crate::device::Shared>,
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    call: &str,
) -> Result<Owned<vk::Pipeline>, Error> {
    let pipelines = made.map_err(|(_, result)| result).named(call)?;
    match pipelines.first() {
        // Some drivers report success for a shader they failed to compile.
        Some(&raw) if raw != vk::Pipeline::null() => Ok(Owned::new(shared, raw)),
        _ => Err(Error::Vulkan { call: call.to_owned(), result: "no pipeline".to_owned() }),
    }
}
