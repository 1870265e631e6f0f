//! Draws with pipelines of several stages, their targets read back.

use crate::binding::check_limit;
use crate::bound::Bindings;
use crate::device::{Device, HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::graphics::{draws, format, layout, modules, pass};
use crate::image::{MAX_SIZE, Picture};
use crate::job::{PipelineStage, RenderJob};
use crate::{Error, RunOutput};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a pixel.
const PIXEL_BYTES: u64 = 16;

impl Device {
    /// Draws once and waits for it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for contents that do not suit their descriptors, [`Error::TooLarge`], or the driver's
    /// error.
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`], for each module; what the modules use is among the job's descriptors and
    /// inputs.
    pub unsafe fn render(&self, job: &RenderJob) -> Result<Vec<RunOutput>, Error> {
        let shared = &self.shared;
        check(job)?;
        let meshes = job.pipeline.stages.iter().any(|s| s.stage == PipelineStage::Mesh);
        let mesh = shared.mesh.as_ref().filter(|_| meshes);
        if meshes && mesh.is_none() {
            return Err(Error::Unsupported("mesh shaders".into()));
        }
        let (sets, pipeline_layout) = layout(shared, &job.pipeline.descriptors)?;
        // SAFETY: passed on to the caller.
        let modules = unsafe { modules(shared, &job.pipeline.stages) }?;
        let pass = pass(shared, &job.pipeline)?;
        let pipeline = draws(shared, &job.pipeline, &modules, pipeline_layout.raw, pass.raw, job.size)?;
        let bound = Bindings::new(shared, &job.pipeline.descriptors, &job.contents, &sets)?;
        let inputs = job
            .inputs
            .iter()
            .map(|values| {
                let bytes: Vec<u8> = values.as_flattened().iter().flat_map(|w| w.to_ne_bytes()).collect();
                HostBuffer::new(shared, vk::BufferUsageFlags::VERTEX_BUFFER, &bytes)
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let targets: Vec<Picture> = job
            .pipeline
            .targets
            .iter()
            .map(|&integers| target(shared, job, integers))
            .collect::<Result<_, _>>()?;
        let bytes = PIXEL_BYTES * u64::from(job.size) * u64::from(job.size) * u64::from(job.layers);
        let results = targets
            .iter()
            .map(|_| HostBuffer::zeroed(shared, vk::BufferUsageFlags::TRANSFER_DST, bytes))
            .collect::<Result<Vec<_>, Error>>()?;
        let views: Vec<_> = targets.iter().map(|t| t.view.raw).collect();
        let create = vk::FramebufferCreateInfo::default()
            .render_pass(pass.raw)
            .attachments(&views)
            .width(job.size)
            .height(job.size)
            .layers(job.layers);
        // SAFETY: the views are of the pass's formats and as large as said.
        let framebuffer =
            unsafe { shared.raw.create_framebuffer(&create, None) }.named("vkCreateFramebuffer")?;
        let framebuffer = Owned::new(shared, framebuffer);
        let clears = vec![vk::ClearValue::default(); targets.len()];
        let extent = vk::Extent2D { width: job.size, height: job.size };
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass.raw)
            .framebuffer(framebuffer.raw)
            .render_area(vk::Rect2D { extent, ..Default::default() })
            .clear_values(&clears);
        let buffers: Vec<_> = inputs.iter().map(|input| input.buffer.raw).collect();
        let zeros = vec![0; buffers.len()];
        // SAFETY: pipeline, pass, framebuffer, sets and inputs belong together and, like the buffers copied to, live until
        // the commands are done.
        let elapsed = unsafe {
            shared.submit(|commands| {
                let device = &shared.raw;
                bound.fill(shared, commands);
                let point = vk::PipelineBindPoint::GRAPHICS;
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, point, pipeline.raw);
                bound.bind(shared, commands, point, pipeline_layout.raw);
                if !buffers.is_empty() {
                    device.cmd_bind_vertex_buffers(commands, 0, &buffers, &zeros);
                }
                match mesh {
                    Some(mesh) => mesh.cmd_draw_mesh_tasks(commands, job.vertices, 1, 1),
                    None => device.cmd_draw(commands, job.vertices, job.instances, 0, 0),
                }
                device.cmd_end_render_pass(commands);
                for (target, result) in targets.iter().zip(&results) {
                    target.barrier(shared, commands, vk::ImageLayout::GENERAL);
                    let layers = vk::ImageSubresourceLayers::default()
                        .aspect_mask(vk::ImageAspectFlags::COLOR)
                        .layer_count(job.layers);
                    let copy =
                        vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent.into());
                    let (image, layout) = (target.image.raw, vk::ImageLayout::GENERAL);
                    device.cmd_copy_image_to_buffer(commands, image, layout, result.buffer.raw, &[copy]);
                }
                bound.read_back(shared, commands);
            })
        }?;
        let mut read = results.iter().map(|r| r.read(bytes)).collect::<Result<Vec<_>, _>>()?;
        read.extend(bound.written()?);
        Ok(vec![RunOutput { buffers: read, captures: BTreeMap::new(), elapsed }])
    }
}

fn check(job: &RenderJob) -> Result<(), Error> {
    check_limit("the width of targets", job.size.into(), MAX_SIZE)?;
    check_limit("the number of layers", job.layers.into(), MAX_SIZE)?;
    let enough = |values: &Vec<[u32; 4]>| values.len() as u64 >= u64::from(job.vertices);
    let suits = job.size > 0
        && job.layers > 0
        && job.inputs.len() == job.pipeline.inputs.len()
        && job.inputs.iter().all(enough);
    if suits { Ok(()) } else { Err(Error::Unsupported("a draw without contents for what it uses".into())) }
}

/// A colour target.
fn target(shared: &Arc<Shared>, job: &RenderJob, integers: bool) -> Result<Picture, Error> {
    let create = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format(integers))
        .extent(vk::Extent3D { width: job.size, height: job.size, depth: 1 })
        .mip_levels(1)
        .array_layers(job.layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
    Picture::new(shared, &create, vk::ImageViewType::TYPE_2D_ARRAY, vk::ImageAspectFlags::COLOR)
}
