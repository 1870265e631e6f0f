//! Pipelines of several stages. Some are built and not run: whether a driver takes them.

use crate::compute::{entry_name, first_pipeline};
use crate::descriptors::{self, Layout};
use crate::device::{Device, Owned, Shared};
use crate::error::Named;
use crate::job::{DescriptorKind, DescriptorSlot, PipelineJob, PipelineStage, StageModule, Topology};
use crate::{Error, RunOutput};
use ash::vk;
use std::sync::Arc;

/// Bytes of one value of a vertex input.
pub(crate) const INPUT_BYTES: u32 = 16;

impl PipelineStage {
    fn flag(self) -> vk::ShaderStageFlags {
        match self {
            PipelineStage::Vertex => vk::ShaderStageFlags::VERTEX,
            PipelineStage::TessControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
            PipelineStage::TessEval => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
            PipelineStage::Geometry => vk::ShaderStageFlags::GEOMETRY,
            PipelineStage::Fragment => vk::ShaderStageFlags::FRAGMENT,
            PipelineStage::Compute => vk::ShaderStageFlags::COMPUTE,
            PipelineStage::Task => vk::ShaderStageFlags::TASK_EXT,
            PipelineStage::Mesh => vk::ShaderStageFlags::MESH_EXT,
            PipelineStage::RayGen => vk::ShaderStageFlags::RAYGEN_KHR,
            PipelineStage::Miss => vk::ShaderStageFlags::MISS_KHR,
            PipelineStage::ClosestHit => vk::ShaderStageFlags::CLOSEST_HIT_KHR,
            PipelineStage::AnyHit => vk::ShaderStageFlags::ANY_HIT_KHR,
            PipelineStage::Intersection => vk::ShaderStageFlags::INTERSECTION_KHR,
            PipelineStage::Callable => vk::ShaderStageFlags::CALLABLE_KHR,
        }
    }
}

pub(crate) fn descriptor_type(kind: DescriptorKind) -> vk::DescriptorType {
    match kind {
        DescriptorKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        DescriptorKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        DescriptorKind::Texture => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        DescriptorKind::SampledImage => vk::DescriptorType::SAMPLED_IMAGE,
        DescriptorKind::Sampler => vk::DescriptorType::SAMPLER,
        DescriptorKind::TexelBuffer => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        DescriptorKind::Image => vk::DescriptorType::STORAGE_IMAGE,
        DescriptorKind::ImageBuffer => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    }
}

/// Four components of 32 bits.
pub(crate) fn format(integers: bool) -> vk::Format {
    if integers { vk::Format::R32G32B32A32_UINT } else { vk::Format::R32G32B32A32_SFLOAT }
}

impl Device {
    /// Builds a pipeline of the job's stages: of one that computes, or of some that draw. Gives nothing.
    ///
    /// # Errors
    /// The driver's error if it refuses a module or the pipeline.
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`], for each module.
    pub unsafe fn build_pipeline(&self, job: &PipelineJob) -> Result<Vec<RunOutput>, Error> {
        let shared = &self.shared;
        let (sets, layout) = layout(shared, &job.descriptors)?;
        // SAFETY: passed on to the caller.
        let modules = unsafe { modules(shared, &job.stages) }?;
        if let [(vk::ShaderStageFlags::COMPUTE, module)] = &modules[..] {
            computes(shared, module.raw, layout.raw)?;
        } else {
            let pass = pass(shared, job)?;
            draws(shared, job, &modules, layout.raw, pass.raw, 1)?;
        }
        drop(sets);
        shared.check_validation()?;
        Ok(Vec::new())
    }
}

pub(crate) type Modules = Vec<(vk::ShaderStageFlags, Owned<vk::ShaderModule>)>;

/// The modules of the stages.
///
/// # Safety
/// As for [`Device::prepare_compute`], for each module.
pub(crate) unsafe fn modules(shared: &Arc<Shared>, stages: &[StageModule]) -> Result<Modules, Error> {
    let module = |stage: &StageModule| {
        let create = vk::ShaderModuleCreateInfo::default().code(&stage.spirv);
        // SAFETY: the module is valid, as the caller promises.
        let raw = unsafe { shared.raw.create_shader_module(&create, None) }.named("vkCreateShaderModule")?;
        Ok((stage.stage.flag(), Owned::new(shared, raw)))
    };
    stages.iter().map(module).collect()
}

/// A pipeline that computes; the layout has what its module, whose entry point is `main`, uses.
pub(crate) fn computes(
    shared: &Arc<Shared>,
    module: vk::ShaderModule,
    layout: vk::PipelineLayout,
) -> Result<Owned<vk::Pipeline>, Error> {
    let name = entry_name("main")?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(&name);
    let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: that the module has this entry point, and the layout what it uses, is the caller's promise.
    let made = unsafe { shared.raw.create_compute_pipelines(shared.pipelines.raw, &create, None) };
    first_pipeline(shared, made, "vkCreateComputePipelines")
}

/// The layout of descriptors.
pub(crate) fn layout(shared: &Arc<Shared>, slots: &[DescriptorSlot]) -> Result<Layout, Error> {
    let binding =
        |slot: &DescriptorSlot| ((slot.set, slot.binding), (descriptor_type(slot.kind), slot.count));
    descriptors::layout(shared, &slots.iter().map(binding).collect())
}

/// A pass with the job's colour targets.
pub(crate) fn pass(shared: &Arc<Shared>, job: &PipelineJob) -> Result<Owned<vk::RenderPass>, Error> {
    let attachments: Vec<_> = job
        .targets
        .iter()
        .map(|&integers| {
            vk::AttachmentDescription::default()
                .format(format(integers))
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .final_layout(vk::ImageLayout::GENERAL)
        })
        .collect();
    let references: Vec<_> = (0..attachments.len() as u32)
        .map(|n| {
            vk::AttachmentReference::default().attachment(n).layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        })
        .collect();
    let subpass = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&references)];
    let create = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpass);
    // SAFETY: the references name attachments of the pass.
    let pass = unsafe { shared.raw.create_render_pass(&create, None) }.named("vkCreateRenderPass")?;
    Ok(Owned::new(shared, pass))
}

/// A pipeline that draws on targets of a size.
pub(crate) fn draws(
    shared: &Arc<Shared>,
    job: &PipelineJob,
    modules: &Modules,
    layout: vk::PipelineLayout,
    pass: vk::RenderPass,
    size: u32,
) -> Result<Owned<vk::Pipeline>, Error> {
    let name = entry_name("main")?;
    let stages: Vec<_> = modules
        .iter()
        .map(|(flag, module)| {
            vk::PipelineShaderStageCreateInfo::default().stage(*flag).module(module.raw).name(&name)
        })
        .collect();
    let mut bindings = Vec::new();
    let mut attributes = Vec::new();
    for (input, binding) in job.inputs.iter().zip(0..) {
        bindings.push(vk::VertexInputBindingDescription::default().binding(binding).stride(INPUT_BYTES));
        attributes.push(
            vk::VertexInputAttributeDescription::default()
                .location(input.location)
                .binding(binding)
                .format(format(input.integers)),
        );
    }
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let has = |stage| job.stages.iter().any(|s| s.stage == stage);
    let topology = match has(PipelineStage::TessControl) {
        true => vk::PrimitiveTopology::PATCH_LIST,
        false => match job.topology {
            Topology::Points => vk::PrimitiveTopology::POINT_LIST,
            Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
            Topology::LinesAdjacency => vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY,
            Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
            Topology::TrianglesAdjacency => vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY,
        },
    };
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
    let tessellation =
        vk::PipelineTessellationStateCreateInfo::default().patch_control_points(job.patch_vertices.max(1));
    let (width, extent) = (size as f32, vk::Extent2D { width: size, height: size });
    let viewports = [vk::Viewport { width, height: width, max_depth: 1.0, ..Default::default() }];
    let scissors = [vk::Rect2D { extent, ..Default::default() }];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let blends: Vec<_> = job
        .targets
        .iter()
        .map(|_| {
            vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)
        })
        .collect();
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let create = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&assembly)
        .tessellation_state(&tessellation)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&blend)
        .layout(layout)
        .render_pass(pass)];
    // SAFETY: every state that rasterisation needs is there, the arrays live until the call returns, and that layout and
    // modules belong together is the caller's promise.
    let made = unsafe { shared.raw.create_graphics_pipelines(shared.pipelines.raw, &create, None) };
    first_pipeline(shared, made, "vkCreateGraphicsPipelines")
}
