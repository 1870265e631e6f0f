//! Vertex shaders, their outputs captured by transform feedback; nothing is rasterised.

use crate::binding::{Bound, Program, check_limit};
use crate::compute::{entry_name, first_pipeline};
use crate::device::{Device, HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::module::{InputType, Interface};
use crate::{Capture, Error, RunOutput, Stage, VertexJob, VertexRun};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most one draw may capture in one buffer: a gibibyte.
const CAPTURE_BYTES: u64 = 1 << 30;

/// Bytes of one value of a vertex input.
const INPUT_BYTES: u32 = 16;

/// A vertex shader, ready to draw.
pub struct VertexPipeline {
    pipeline: Owned<vk::Pipeline>,
    framebuffer: Owned<vk::Framebuffer>,
    pass: Owned<vk::RenderPass>,
    program: Program,
}

impl Device {
    /// Compiles a vertex shader. Its layout, vertex inputs and captured outputs are taken from the module.
    ///
    /// Drawing points, Vulkan wants the shader to write `PointSize` on devices older than `VK_KHR_maintenance5`; as
    /// nothing is rasterised, drivers do without, and only a validation layer minds.
    ///
    /// # Errors
    /// As for [`Device::prepare_compute`], and [`Error::NothingCaptured`] for a module that captures nothing.
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`].
    pub unsafe fn prepare_vertex(&self, spirv: &[u32], entry: &str) -> Result<VertexPipeline, Error> {
        let shared = &self.shared;
        if shared.transform_feedback.is_none() || !shared.draws {
            return Err(Error::Unsupported("transform feedback".to_owned()));
        }
        let interface = Interface::read(spirv, entry, Stage::Vertex)?;
        if interface.captures.is_empty() {
            return Err(Error::NothingCaptured);
        }
        let limits = &shared.info.limits;
        for (&buffer, &stride) in &interface.captures {
            let buffers = u64::from(limits.capture_buffers);
            check_limit("the number of transform feedback buffers", u64::from(buffer) + 1, buffers)?;
            let strides = u64::from(limits.capture_stride);
            check_limit("the transform feedback stride in bytes", u64::from(stride), strides)?;
        }
        // SAFETY: the module is valid, as the caller promises.
        let program = unsafe { Program::new(shared, spirv, interface, vk::ShaderStageFlags::VERTEX) }?;
        let pass = empty_pass(shared)?;
        let create = vk::FramebufferCreateInfo::default().render_pass(pass.raw).width(1).height(1).layers(1);
        // SAFETY: the pass has no attachments, so none are needed.
        let framebuffer =
            unsafe { shared.raw.create_framebuffer(&create, None) }.named("vkCreateFramebuffer")?;
        let framebuffer = Owned::new(shared, framebuffer);
        let pipeline = build(&program, &pass, entry)?;
        shared.check_validation()?;
        Ok(VertexPipeline { pipeline, framebuffer, pass, program })
    }

    /// Compiles a shader and does all its runs.
    ///
    /// # Errors
    /// The first error of [`Device::prepare_vertex`] or [`VertexPipeline::draw`].
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`].
    pub unsafe fn run_vertex(&self, job: &VertexJob) -> Result<Vec<RunOutput>, Error> {
        // SAFETY: passed on to the caller.
        let pipeline = unsafe { self.prepare_vertex(&job.spirv, &job.entry) }?;
        job.runs.iter().map(|run| pipeline.draw(run)).collect()
    }
}

impl VertexPipeline {
    /// Draws once and waits for it.
    ///
    /// # Errors
    /// [`Error::VertexInput`] when an input of the shader has not one value for each vertex, otherwise as for
    /// [`crate::ComputePipeline::dispatch`].
    pub fn draw(&self, run: &VertexRun) -> Result<RunOutput, Error> {
        let program = &self.program;
        let bound = program.bind(&run.buffers)?;
        let push_constants = program.push_constants(&run.push_constants)?;
        let inputs = self.upload_inputs(run)?;
        let captures = Captures::new(program, run.vertices)?;
        let elapsed = self.submit(&bound, &push_constants, &inputs, &captures, run.vertices)?;
        Ok(RunOutput {
            buffers: bound.read(&run.buffers)?,
            captures: captures.read(&program.interface.captures)?,
            elapsed,
        })
    }

    /// One buffer for each input of the shader, in the order of locations.
    fn upload_inputs(&self, run: &VertexRun) -> Result<Vec<HostBuffer>, Error> {
        let mut buffers = Vec::new();
        for &location in self.program.interface.inputs.keys() {
            let values =
                run.inputs.iter().find(|input| input.location == location).map(|input| &input.values);
            let got = values.map_or(0, Vec::len);
            let Some(values) = values.filter(|_| got as u64 == u64::from(run.vertices)) else {
                return Err(Error::VertexInput { location, got, vertices: run.vertices });
            };
            let bytes: Vec<u8> = values.as_flattened().iter().flat_map(|word| word.to_ne_bytes()).collect();
            buffers.push(HostBuffer::new(&self.program.shared, vk::BufferUsageFlags::VERTEX_BUFFER, &bytes)?);
        }
        Ok(buffers)
    }

    fn submit(
        &self,
        bound: &Bound,
        push_constants: &[u8],
        inputs: &[HostBuffer],
        captures: &Captures,
        vertices: u32,
    ) -> Result<std::time::Duration, Error> {
        let shared = &self.program.shared;
        let Some(feedback) = &shared.transform_feedback else {
            return Err(Error::Unsupported("transform feedback".to_owned()));
        };
        let area =
            vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: 1, height: 1 } };
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass.raw)
            .framebuffer(self.framebuffer.raw)
            .render_area(area);
        let inputs: Vec<_> = inputs.iter().map(|input| input.buffer.raw).collect();
        let slots = &captures.0;
        let raw: Vec<_> = slots.iter().map(|slot| slot.data.buffer.raw).collect();
        let sizes: Vec<_> = slots.iter().map(|slot| slot.data.size).collect();
        let counters: Vec<_> = slots.iter().map(|slot| slot.counter.buffer.raw).collect();
        let zeros = vec![0; inputs.len().max(slots.len())];
        let count = slots.len() as u32;
        // SAFETY: pipeline, pass and framebuffer belong together; there is a buffer for each input and each capture,
        // of the size `vertices` needs; arrays passed by pointer have the lengths passed; `self` and the arguments
        // live until the commands are done.
        unsafe {
            shared.submit(|commands| {
                let device = &shared.raw;
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                let point = vk::PipelineBindPoint::GRAPHICS;
                self.program.record_bind(commands, point, self.pipeline.raw, bound, push_constants);
                if !inputs.is_empty() {
                    device.cmd_bind_vertex_buffers(commands, 0, &inputs, &zeros[..inputs.len()]);
                }
                let feedback = feedback.fp();
                (feedback.cmd_bind_transform_feedback_buffers_ext)(
                    commands,
                    0,
                    count,
                    raw.as_ptr(),
                    zeros.as_ptr(),
                    sizes.as_ptr(),
                );
                (feedback.cmd_begin_transform_feedback_ext)(
                    commands,
                    0,
                    0,
                    std::ptr::null(),
                    std::ptr::null(),
                );
                device.cmd_draw(commands, vertices, 1, 0, 0);
                (feedback.cmd_end_transform_feedback_ext)(
                    commands,
                    0,
                    count,
                    counters.as_ptr(),
                    zeros.as_ptr(),
                );
                device.cmd_end_render_pass(commands);
            })
        }
    }
}

/// The buffers outputs are captured in: one for each number up to the highest in the module, the smallest possible
/// where the module has none.
struct Captures(Vec<CaptureSlot>);

struct CaptureSlot {
    data: HostBuffer,
    /// Where the device leaves the number of bytes it captured.
    counter: HostBuffer,
}

impl Captures {
    fn new(program: &Program, vertices: u32) -> Result<Captures, Error> {
        let strides = &program.interface.captures;
        let highest = strides.keys().max().copied().unwrap_or(0);
        let slot = |number| {
            let stride = strides.get(&number).copied().unwrap_or(0);
            let size = u64::from(stride) * u64::from(vertices);
            check_limit("the number of bytes captured", size, CAPTURE_BYTES)?;
            let zeroed = |usage, size| HostBuffer::zeroed(&program.shared, usage, size);
            Ok(CaptureSlot {
                data: zeroed(vk::BufferUsageFlags::TRANSFORM_FEEDBACK_BUFFER_EXT, size)?,
                counter: zeroed(vk::BufferUsageFlags::TRANSFORM_FEEDBACK_COUNTER_BUFFER_EXT, 4)?,
            })
        };
        Ok(Captures((0..=highest).map(slot).collect::<Result<_, Error>>()?))
    }

    fn read(&self, strides: &BTreeMap<u32, u32>) -> Result<BTreeMap<u32, Capture>, Error> {
        let mut captures = BTreeMap::new();
        for (number, slot) in (0..).zip(&self.0) {
            let Some(&stride) = strides.get(&number) else { continue };
            let count = slot.counter.read(4)?;
            let captured = count.as_array().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
            captures.insert(number, Capture { stride, data: slot.data.read(u64::from(captured))? });
        }
        Ok(captures)
    }
}

/// A render pass without attachments.
fn empty_pass(shared: &Arc<Shared>) -> Result<Owned<vk::RenderPass>, Error> {
    let subpass = [vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)];
    let create = vk::RenderPassCreateInfo::default().subpasses(&subpass);
    // SAFETY: nothing is referenced.
    let pass = unsafe { shared.raw.create_render_pass(&create, None) }.named("vkCreateRenderPass")?;
    Ok(Owned::new(shared, pass))
}

fn build(program: &Program, pass: &Owned<vk::RenderPass>, entry: &str) -> Result<Owned<vk::Pipeline>, Error> {
    let name = entry_name(entry)?;
    let stages = [vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::VERTEX)
        .module(program.module.raw)
        .name(&name)];
    let mut bindings = Vec::new();
    let mut attributes = Vec::new();
    for ((&location, &kind), binding) in program.interface.inputs.iter().zip(0..) {
        bindings.push(vk::VertexInputBindingDescription::default().binding(binding).stride(INPUT_BYTES));
        let format = match kind {
            InputType::Float => vk::Format::R32G32B32A32_SFLOAT,
            InputType::Signed => vk::Format::R32G32B32A32_SINT,
            InputType::Unsigned => vk::Format::R32G32B32A32_UINT,
        };
        let attribute = vk::VertexInputAttributeDescription::default().location(location).binding(binding);
        attributes.push(attribute.format(format));
    }
    let limits = &program.shared.info.limits;
    let inputs = u64::from(limits.vertex_inputs);
    let needed = program.interface.inputs.keys().max().map_or(0, |&location| u64::from(location) + 1);
    check_limit("the number of vertex input locations", needed, inputs)?;

    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::POINT_LIST);
    let raster =
        vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true).line_width(1.0);
    let create = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&assembly)
        .rasterization_state(&raster)
        .layout(program.layout.raw)
        .render_pass(pass.raw)];
    let device = &program.shared.raw;
    // SAFETY: the module has this entry point, layout and inputs are those it uses, and with rasterisation off the
    // later states are not read.
    let pipeline = unsafe { device.create_graphics_pipelines(program.shared.pipelines.raw, &create, None) };
    first_pipeline(&program.shared, pipeline, "vkCreateGraphicsPipelines")
}
