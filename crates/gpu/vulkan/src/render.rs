//! Draws with pipelines of several stages, their targets read back.

use crate::binding::check_limit;
use crate::descriptors::allocate;
use crate::device::{Device, HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::graphics::{descriptor_type, draws, format, layout, modules, pass};
use crate::job::{Contents, Numbers, PipelineStage, RenderJob, TextureContents, TextureShape};
use crate::{DescriptorKind, Error, RunOutput};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The greatest width of targets, and most layers and levels of an image.
const MAX_SIZE: u64 = 4096;

/// Bytes of a pixel, and of a texel that is not compared with.
const PIXEL_BYTES: u64 = 16;

/// An image with its view; the view goes first.
struct Picture {
    view: Owned<vk::ImageView>,
    image: Owned<vk::Image>,
    _memory: Owned<vk::DeviceMemory>,
    range: vk::ImageSubresourceRange,
}

/// A texture, and what is copied to it.
struct Texture<'a> {
    sampler: Owned<vk::Sampler>,
    picture: Picture,
    staging: HostBuffer,
    contents: &'a TextureContents,
}

/// A descriptor's element.
enum Bound<'a> {
    Buffer(HostBuffer),
    Texels { view: Owned<vk::BufferView>, _buffer: HostBuffer },
    Texture(Texture<'a>),
}

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
        let (sets, pipeline_layout) = layout(shared, &job.pipeline)?;
        // SAFETY: passed on to the caller.
        let modules = unsafe { modules(shared, &job.pipeline.stages) }?;
        let pass = pass(shared, &job.pipeline)?;
        let pipeline = draws(shared, &job.pipeline, &modules, pipeline_layout.raw, pass.raw, job.size)?;
        let bound: Vec<Vec<Bound>> = job
            .pipeline
            .descriptors
            .iter()
            .zip(&job.contents)
            .map(|(slot, contents)| contents.iter().map(|c| bind(shared, slot.kind, c)).collect())
            .collect::<Result<_, Error>>()?;
        let (pool, raw_sets) = write_sets(shared, job, &sets, &bound)?;
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
                for texture in textures(&bound) {
                    texture.fill(shared, commands);
                }
                let point = vk::PipelineBindPoint::GRAPHICS;
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, point, pipeline.raw);
                if !raw_sets.is_empty() {
                    device.cmd_bind_descriptor_sets(commands, point, pipeline_layout.raw, 0, &raw_sets, &[]);
                }
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
            })
        }?;
        drop(pool);
        let mut read = results.iter().map(|r| r.read(bytes)).collect::<Result<Vec<_>, _>>()?;
        for (slot, bound) in job.pipeline.descriptors.iter().zip(&bound) {
            for element in bound {
                if let (DescriptorKind::Storage, Bound::Buffer(buffer)) = (slot.kind, element) {
                    read.push(buffer.read(buffer.size)?);
                }
            }
        }
        Ok(vec![RunOutput { buffers: read, captures: BTreeMap::new(), elapsed }])
    }
}

fn check(job: &RenderJob) -> Result<(), Error> {
    check_limit("the width of targets", job.size.into(), MAX_SIZE)?;
    check_limit("the number of layers", job.layers.into(), MAX_SIZE)?;
    let enough = |values: &Vec<[u32; 4]>| values.len() as u64 >= u64::from(job.vertices);
    let elements = job.pipeline.descriptors.iter().zip(&job.contents);
    let suits = job.size > 0
        && job.layers > 0
        && job.contents.len() == job.pipeline.descriptors.len()
        && elements.clone().all(|(slot, contents)| contents.len() as u64 == u64::from(slot.count))
        && job.inputs.len() == job.pipeline.inputs.len()
        && job.inputs.iter().all(enough);
    if suits { Ok(()) } else { Err(Error::Unsupported("a draw without contents for what it uses".into())) }
}

fn textures<'a>(bound: &'a [Vec<Bound<'a>>]) -> impl Iterator<Item = &'a Texture<'a>> {
    bound.iter().flatten().filter_map(|b| match b {
        Bound::Texture(texture) => Some(texture),
        _ => None,
    })
}

fn texture_format(numbers: Numbers) -> vk::Format {
    match numbers {
        Numbers::Float => format(false),
        Numbers::Unsigned => format(true),
        Numbers::Signed => vk::Format::R32G32B32A32_SINT,
        Numbers::Depth => vk::Format::D32_SFLOAT,
    }
}

fn aspect(numbers: Numbers) -> vk::ImageAspectFlags {
    if numbers == Numbers::Depth { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR }
}

fn bind<'a>(shared: &Arc<Shared>, kind: DescriptorKind, contents: &'a Contents) -> Result<Bound<'a>, Error> {
    use vk::BufferUsageFlags as Usage;
    Ok(match (kind, contents) {
        (DescriptorKind::Uniform, Contents::Buffer(data)) => {
            Bound::Buffer(HostBuffer::new(shared, Usage::UNIFORM_BUFFER, data)?)
        }
        (DescriptorKind::Storage, Contents::Buffer(data)) => {
            Bound::Buffer(HostBuffer::new(shared, Usage::STORAGE_BUFFER, data)?)
        }
        (DescriptorKind::TexelBuffer, Contents::Texels(numbers, data)) => {
            let buffer = HostBuffer::new(shared, Usage::UNIFORM_TEXEL_BUFFER, data)?;
            let create = vk::BufferViewCreateInfo::default()
                .buffer(buffer.buffer.raw)
                .format(texture_format(*numbers))
                .range(vk::WHOLE_SIZE);
            // SAFETY: the buffer was made for this.
            let raw = unsafe { shared.raw.create_buffer_view(&create, None) }.named("vkCreateBufferView")?;
            Bound::Texels { view: Owned::new(shared, raw), _buffer: buffer }
        }
        (DescriptorKind::Texture, Contents::Texture(contents)) => Bound::Texture(texture(shared, contents)?),
        _ => return Err(Error::Unsupported(format!("contents of another kind than {kind:?}"))),
    })
}

/// Levels of a texture, from the first: their extents, and the bytes of each.
fn levels(t: &TextureContents) -> impl Iterator<Item = (vk::Extent3D, u64)> {
    let texel = if t.numbers == Numbers::Depth { 4 } else { PIXEL_BYTES };
    let (size, layers) = (t.size, u64::from(t.layers));
    (0..t.levels).map(move |level| {
        let [width, height, depth] = size.map(|n| (n >> level).max(1));
        let texels = u64::from(width) * u64::from(height) * u64::from(depth) * layers;
        (vk::Extent3D { width, height, depth }, texels * texel)
    })
}

fn texture<'a>(shared: &Arc<Shared>, t: &'a TextureContents) -> Result<Texture<'a>, Error> {
    for n in t.size.into_iter().chain([t.layers, t.levels]) {
        check_limit("the size of a texture", n.into(), MAX_SIZE)?;
    }
    let needed = if t.samples > 1 { PIXEL_BYTES } else { levels(t).map(|(_, bytes)| bytes).sum() };
    let suits = t.size.iter().all(|&n| n > 0) && t.layers > 0 && (1..=13).contains(&t.levels);
    if !suits || (t.texels.len() as u64) < needed {
        return Err(Error::Unsupported("a texture with less texels than its size says".into()));
    }
    let staging = HostBuffer::new(shared, vk::BufferUsageFlags::TRANSFER_SRC, &t.texels)?;
    let (ty, view) = match (t.shape, t.arrayed) {
        (TextureShape::D1, false) => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D),
        (TextureShape::D1, true) => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D_ARRAY),
        (TextureShape::D2, false) => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D),
        (TextureShape::D2, true) => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D_ARRAY),
        (TextureShape::D3, _) => (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D),
        (TextureShape::Cube, false) => (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE),
        (TextureShape::Cube, true) => (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE_ARRAY),
    };
    let flags = match t.shape {
        TextureShape::Cube => vk::ImageCreateFlags::CUBE_COMPATIBLE,
        _ => vk::ImageCreateFlags::empty(),
    };
    let [width, height, depth] = t.size;
    let create = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(ty)
        .format(texture_format(t.numbers))
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(t.levels)
        .array_layers(t.layers)
        .samples(vk::SampleCountFlags::from_raw(t.samples))
        .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
    let picture = picture(shared, &create, view, aspect(t.numbers))?;
    let filters = matches!(t.numbers, Numbers::Float | Numbers::Depth);
    let filter = if filters { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    let create = vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(if filters { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST })
        .max_lod(vk::LOD_CLAMP_NONE)
        .compare_enable(t.numbers == Numbers::Depth)
        .compare_op(vk::CompareOp::LESS_OR_EQUAL);
    // SAFETY: no feature beyond the core's is asked for.
    let sampler = unsafe { shared.raw.create_sampler(&create, None) }.named("vkCreateSampler")?;
    Ok(Texture { sampler: Owned::new(shared, sampler), picture, staging, contents: t })
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
    picture(shared, &create, vk::ImageViewType::TYPE_2D_ARRAY, vk::ImageAspectFlags::COLOR)
}

fn picture(
    shared: &Arc<Shared>,
    create: &vk::ImageCreateInfo,
    view: vk::ImageViewType,
    aspect: vk::ImageAspectFlags,
) -> Result<Picture, Error> {
    let device = &shared.raw;
    // SAFETY: sizes are within limits that every device has.
    let image = unsafe { device.create_image(create, None) }.named("vkCreateImage")?;
    let image = Owned::new(shared, image);
    // SAFETY: the image is of this device.
    let needs = unsafe { device.get_image_memory_requirements(image.raw) };
    let allocate = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(needs.memory_type_bits.trailing_zeros());
    // SAFETY: the type is one that the image allows.
    let memory = unsafe { device.allocate_memory(&allocate, None) }.named("vkAllocateMemory")?;
    let memory = Owned::new(shared, memory);
    // SAFETY: the memory is fresh and large enough.
    unsafe { device.bind_image_memory(image.raw, memory.raw, 0) }.named("vkBindImageMemory")?;
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(aspect)
        .level_count(create.mip_levels)
        .layer_count(create.array_layers);
    let create = vk::ImageViewCreateInfo::default()
        .image(image.raw)
        .view_type(view)
        .format(create.format)
        .subresource_range(range);
    // SAFETY: the view shows all of the image.
    let view = unsafe { device.create_image_view(&create, None) }.named("vkCreateImageView")?;
    Ok(Picture { view: Owned::new(shared, view), image, _memory: memory, range })
}

impl Picture {
    /// Waits for everything before, and leaves the layout `from` for the general one.
    ///
    /// # Safety
    /// The command buffer is being recorded, and the image in that layout.
    unsafe fn barrier(&self, shared: &Shared, commands: vk::CommandBuffer, from: vk::ImageLayout) {
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .old_layout(from)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.image.raw)
            .subresource_range(self.range);
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: passed on to the caller.
        unsafe {
            shared.raw.cmd_pipeline_barrier(
                commands,
                all,
                all,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &[barrier],
            );
        }
    }
}

impl Texture<'_> {
    /// Records the copy of the texels.
    ///
    /// # Safety
    /// The command buffer is being recorded, and the texture outlives its execution.
    unsafe fn fill(&self, shared: &Shared, commands: vk::CommandBuffer) {
        let (t, picture) = (self.contents, &self.picture);
        let (image, general) = (picture.image.raw, vk::ImageLayout::GENERAL);
        let device = &shared.raw;
        // SAFETY: the staging buffer has the bytes of all levels, as was checked.
        unsafe {
            picture.barrier(shared, commands, vk::ImageLayout::UNDEFINED);
            if t.samples > 1 {
                let words: Vec<u32> = t.texels.as_chunks().0.iter().map(|w| u32::from_ne_bytes(*w)).collect();
                let uint32 = std::array::from_fn(|i| words.get(i).copied().unwrap_or(0));
                device.cmd_clear_color_image(
                    commands,
                    image,
                    general,
                    &vk::ClearColorValue { uint32 },
                    &[picture.range],
                );
            } else {
                let mut offset = 0;
                for (level, (extent, bytes)) in levels(t).enumerate() {
                    let layers = vk::ImageSubresourceLayers::default()
                        .aspect_mask(aspect(t.numbers))
                        .mip_level(level as u32)
                        .layer_count(t.layers);
                    let copy = vk::BufferImageCopy::default()
                        .buffer_offset(offset)
                        .image_subresource(layers)
                        .image_extent(extent);
                    device.cmd_copy_buffer_to_image(
                        commands,
                        self.staging.buffer.raw,
                        image,
                        general,
                        &[copy],
                    );
                    offset += bytes;
                }
            }
            picture.barrier(shared, commands, general);
        }
    }
}

type Sets = (Option<Owned<vk::DescriptorPool>>, Vec<vk::DescriptorSet>);

fn write_sets(
    shared: &Arc<Shared>,
    job: &RenderJob,
    layouts: &[Owned<vk::DescriptorSetLayout>],
    bound: &[Vec<Bound>],
) -> Result<Sets, Error> {
    if layouts.is_empty() {
        return Ok((None, Vec::new()));
    }
    let slots = &job.pipeline.descriptors;
    let sizes: Vec<_> = slots
        .iter()
        .map(|s| vk::DescriptorPoolSize { ty: descriptor_type(s.kind), descriptor_count: s.count })
        .collect();
    // A set exists for the sake of a descriptor, so there are sizes.
    let (pool, sets) = allocate(shared, &sizes, layouts)?;
    for (slot, bound) in slots.iter().zip(bound) {
        let Some(&set) = sets.get(slot.set as usize) else { continue };
        for (element, bound) in (0..).zip(bound) {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(slot.binding)
                .dst_array_element(element)
                .descriptor_type(descriptor_type(slot.kind));
            let (mut buffer, mut image) =
                (vk::DescriptorBufferInfo::default(), vk::DescriptorImageInfo::default());
            let texels;
            let write = match bound {
                Bound::Buffer(b) => {
                    buffer = buffer.buffer(b.buffer.raw).range(b.size);
                    write.buffer_info(std::slice::from_ref(&buffer))
                }
                Bound::Texels { view, .. } => {
                    texels = view.raw;
                    write.texel_buffer_view(std::slice::from_ref(&texels))
                }
                Bound::Texture(t) => {
                    image = image
                        .sampler(t.sampler.raw)
                        .image_view(t.picture.view.raw)
                        .image_layout(vk::ImageLayout::GENERAL);
                    write.image_info(std::slice::from_ref(&image))
                }
            };
            // SAFETY: the layout has this binding with this type and count.
            unsafe { shared.raw.update_descriptor_sets(&[write], &[]) };
        }
    }
    Ok((Some(pool), sets))
}
