//! Dispatches with descriptors of any kind.

use crate::binding::check_limit;
use crate::bound::Bindings;
use crate::device::Device;
use crate::graphics::{computes, layout, modules};
use crate::job::{DispatchJob, PipelineStage, StageModule};
use crate::{Error, RunOutput};
use ash::vk;
use std::collections::BTreeMap;

impl Device {
    /// Dispatches once and waits for it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for contents that do not suit their descriptors, [`Error::TooLarge`], or the driver's
    /// error.
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`]; what the module uses is among the job's descriptors, its images of the
    /// dimensions and formats that it declares.
    pub unsafe fn dispatch(&self, job: &DispatchJob) -> Result<Vec<RunOutput>, Error> {
        let shared = &self.shared;
        for (groups, limit) in job.groups.into_iter().zip(shared.info.limits.workgroup_count) {
            check_limit("the number of workgroups", u64::from(groups), u64::from(limit))?;
        }
        let (sets, layout) = layout(shared, &job.descriptors)?;
        let stage = StageModule { stage: PipelineStage::Compute, spirv: job.spirv.clone() };
        // SAFETY: passed on to the caller.
        let modules = unsafe { modules(shared, &[stage]) }?;
        let Some((_, module)) = modules.first() else { return Ok(Vec::new()) };
        let pipeline = computes(shared, module.raw, layout.raw)?;
        let bound = Bindings::new(shared, &job.descriptors, &job.contents, &sets)?;
        let [x, y, z] = job.groups;
        // SAFETY: pipeline and sets fit the one layout, the group counts are within limits, and all of it lives until the
        // commands are done.
        let elapsed = unsafe {
            shared.submit(|commands| {
                let point = vk::PipelineBindPoint::COMPUTE;
                bound.fill(shared, commands);
                shared.raw.cmd_bind_pipeline(commands, point, pipeline.raw);
                bound.bind(shared, commands, point, layout.raw);
                shared.raw.cmd_dispatch(commands, x, y, z);
                bound.read_back(shared, commands);
            })
        }?;
        Ok(vec![RunOutput { buffers: bound.written()?, captures: BTreeMap::new(), elapsed }])
    }
}
