//! Frames of Y′CbCr through the host's own sampler conversion (Vulkan 1.1, `VkSamplerYcbcrConversion`).

use crate::compute::{entry_name, first_pipeline};
use crate::device::{Device, HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::job::{SampleJob, SampledFrame};
use crate::{Error, RunOutput, image};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What planes start at multiples of in a copy: more than any texel has bytes.
const PLANE_ALIGNMENT: usize = 16;

/// Descriptors that a sampler with conversion may take in a pool: one a plane.
const MOST_PLANES: u32 = 3;

impl Device {
    /// Samples a frame at each of its texels, as the job's module does, and waits for it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device does not convert, or not such frames in that way.
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`]; the module uses what [`SampleJob`] says.
    pub unsafe fn sample_frame(&self, job: &SampleJob) -> Result<Vec<RunOutput>, Error> {
        let shared = &self.shared;
        let frame = &job.frame;
        let [width, height] = frame.size;
        let planes = planes(frame)?;
        let format = format(frame).ok_or_else(|| Error::Unsupported("a format of such frames".into()))?;
        self.check(frame, format)?;
        let conversion = conversion(shared, frame, format)?;
        let sampler = sampler(shared, frame, conversion.raw)?;
        let image = Image::new(shared, frame, format, conversion.raw)?;
        let mut contents = Vec::new();
        let mut copies = Vec::new();
        let mut rest = frame.data.as_slice();
        for &(aspect, [width, height], bytes) in &planes {
            contents.resize(contents.len().next_multiple_of(PLANE_ALIGNMENT), 0);
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(aspect).layer_count(1);
            copies.push(
                vk::BufferImageCopy::default()
                    .buffer_offset(contents.len() as u64)
                    .image_subresource(layers)
                    .image_extent(vk::Extent3D { width, height, depth: 1 }),
            );
            let (plane, behind) = rest.split_at(bytes);
            contents.extend_from_slice(plane);
            rest = behind;
        }
        let staging = HostBuffer::new(shared, vk::BufferUsageFlags::TRANSFER_SRC, &contents)?;
        let bytes = 16 * u64::from(width) * u64::from(height);
        let texels = HostBuffer::zeroed(shared, vk::BufferUsageFlags::STORAGE_BUFFER, bytes)?;
        // SAFETY: passed on to the caller.
        let program = unsafe { Program::new(shared, &job.spirv, &sampler) }?;
        let (_pool, set) = program.bind(&image, &texels)?;
        // SAFETY: the image has the layout that each command names, the set is the pipeline's, and all lives until the
        // commands are done.
        let elapsed = unsafe {
            shared.submit(|commands| {
                let device = &shared.raw;
                use vk::ImageLayout as Layout;
                image.barrier(commands, Layout::UNDEFINED, Layout::TRANSFER_DST_OPTIMAL);
                let (from, to) = (staging.buffer.raw, image.raw.raw);
                device.cmd_copy_buffer_to_image(commands, from, to, Layout::TRANSFER_DST_OPTIMAL, &copies);
                image.barrier(commands, Layout::TRANSFER_DST_OPTIMAL, Layout::SHADER_READ_ONLY_OPTIMAL);
                let point = vk::PipelineBindPoint::COMPUTE;
                device.cmd_bind_pipeline(commands, point, program.pipeline.raw);
                device.cmd_bind_descriptor_sets(commands, point, program.layout.raw, 0, &[set], &[]);
                device.cmd_dispatch(commands, width, height, 1);
            })
        }?;
        Ok(vec![RunOutput { buffers: vec![texels.read(bytes)?], captures: BTreeMap::new(), elapsed }])
    }

    /// Whether the device samples such images in that way.
    fn check(&self, frame: &SampledFrame, format: vk::Format) -> Result<(), Error> {
        let refused = |what: &str| Err(Error::Unsupported(what.to_owned()));
        if !self.shared.info.features.sampler_ycbcr_conversion {
            return refused("samplers that convert");
        }
        use vk::FormatFeatureFlags as Can;
        let can = self.shared.format_properties(format).optimal_tiling_features;
        let has = |flag| can.contains(flag);
        if !has(Can::SAMPLED_IMAGE | Can::TRANSFER_DST) {
            return refused(&format!("sampling format {}", format.as_raw()));
        }
        let halved = |axis: usize| frame.subsampling[axis] == 2;
        for axis in (0..2).filter(|&axis| halved(axis)) {
            let needed = match frame.midpoint[axis] {
                true => Can::MIDPOINT_CHROMA_SAMPLES,
                false => Can::COSITED_CHROMA_SAMPLES,
            };
            if !has(needed) {
                return refused("chroma at such places");
            }
        }
        if frame.linear && !has(Can::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER) {
            return refused("linear filters for chroma");
        }
        let explicit = has(Can::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT);
        let forced = has(Can::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE);
        // Filters between samples give the same either way, and so does chroma that is not halved.
        let same = frame.linear || !(halved(0) || halved(1));
        match (frame.explicit, same) {
            (true, false) if !explicit && !forced => refused("explicit reconstruction"),
            (false, false) if explicit => refused("implicit reconstruction"),
            _ => Ok(()),
        }
    }
}

/// Aspect, extent and bytes of each plane.
type Planes = Vec<(vk::ImageAspectFlags, [u32; 2], usize)>;

fn planes(frame: &SampledFrame) -> Result<Planes, Error> {
    use vk::ImageAspectFlags as Aspect;
    let refused = |what: &str| Err(Error::Unsupported(what.to_owned()));
    let [width, height] = frame.size;
    let [fx, fy] = frame.subsampling;
    if !(1..=2).contains(&fx) || !(1..=2).contains(&fy) || !(2..=3).contains(&frame.planes) {
        return refused("such planes");
    }
    if width == 0 || height == 0 || width % fx != 0 || height % fy != 0 || width.max(height) > 4096 {
        return refused("a frame of such a size");
    }
    let sample = if frame.bits == 8 { 1 } else { 2 };
    let chroma = [width / fx, height / fy];
    let area = |[width, height]: [u32; 2]| width as usize * height as usize;
    let mut planes = vec![(Aspect::PLANE_0, frame.size, area(frame.size) * sample)];
    match frame.planes {
        2 => planes.push((Aspect::PLANE_1, chroma, 2 * area(chroma) * sample)),
        _ => {
            for aspect in [Aspect::PLANE_1, Aspect::PLANE_2] {
                planes.push((aspect, chroma, area(chroma) * sample));
            }
        }
    }
    if frame.data.len() != planes.iter().map(|plane| plane.2).sum::<usize>() {
        return refused("a frame with other bytes than its size says");
    }
    Ok(planes)
}

/// Vulkan's name of a frame's planes.
fn format(frame: &SampledFrame) -> Option<vk::Format> {
    use vk::Format as F;
    // By subsampling: half along both axes, half along x, none.
    let [two, three] = match frame.bits {
        8 => [
            [F::G8_B8R8_2PLANE_420_UNORM, F::G8_B8R8_2PLANE_422_UNORM, F::G8_B8R8_2PLANE_444_UNORM],
            [F::G8_B8_R8_3PLANE_420_UNORM, F::G8_B8_R8_3PLANE_422_UNORM, F::G8_B8_R8_3PLANE_444_UNORM],
        ],
        10 => [
            [
                F::G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16,
                F::G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16,
                F::G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16,
            ],
            [
                F::G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16,
                F::G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16,
                F::G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16,
            ],
        ],
        12 => [
            [
                F::G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16,
                F::G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16,
                F::G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16,
            ],
            [
                F::G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16,
                F::G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16,
                F::G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16,
            ],
        ],
        16 => [
            [F::G16_B16R16_2PLANE_420_UNORM, F::G16_B16R16_2PLANE_422_UNORM, F::G16_B16R16_2PLANE_444_UNORM],
            [
                F::G16_B16_R16_3PLANE_420_UNORM,
                F::G16_B16_R16_3PLANE_422_UNORM,
                F::G16_B16_R16_3PLANE_444_UNORM,
            ],
        ],
        _ => return None,
    };
    let row = if frame.planes == 2 { two } else { three };
    Some(match frame.subsampling {
        [2, 2] => row[0],
        [2, 1] => row[1],
        [1, 1] => row[2],
        _ => return None,
    })
}

fn conversion(
    shared: &Arc<Shared>,
    frame: &SampledFrame,
    format: vk::Format,
) -> Result<Owned<vk::SamplerYcbcrConversion>, Error> {
    use vk::SamplerYcbcrModelConversion as Model;
    let models =
        [Model::RGB_IDENTITY, Model::YCBCR_IDENTITY, Model::YCBCR_709, Model::YCBCR_601, Model::YCBCR_2020];
    let model = models.get(frame.model as usize).copied();
    let model = model.ok_or_else(|| Error::Unsupported(format!("the model {}", frame.model)))?;
    let range = match frame.narrow {
        true => vk::SamplerYcbcrRange::ITU_NARROW,
        false => vk::SamplerYcbcrRange::ITU_FULL,
    };
    let [x, y] = [0, 1].map(|axis| match frame.midpoint[axis] && frame.subsampling[axis] == 2 {
        true => vk::ChromaLocation::MIDPOINT,
        false => vk::ChromaLocation::COSITED_EVEN,
    });
    let native = vk::FormatFeatureFlags::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT;
    let forceable =
        vk::FormatFeatureFlags::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE;
    let can = shared.format_properties(format).optimal_tiling_features;
    let force = frame.explicit && !can.contains(native) && can.contains(forceable);
    let create = vk::SamplerYcbcrConversionCreateInfo::default()
        .format(format)
        .ycbcr_model(model)
        .ycbcr_range(range)
        .x_chroma_offset(x)
        .y_chroma_offset(y)
        .chroma_filter(filter(frame))
        .force_explicit_reconstruction(force);
    // SAFETY: the feature is enabled, and the format has what is asked for, as `Device::check` saw.
    let raw = unsafe { shared.raw.create_sampler_ycbcr_conversion(&create, None) }
        .named("vkCreateSamplerYcbcrConversion")?;
    Ok(Owned::new(shared, raw))
}

fn filter(frame: &SampledFrame) -> vk::Filter {
    if frame.linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST }
}

fn sampler(
    shared: &Arc<Shared>,
    frame: &SampledFrame,
    conversion: vk::SamplerYcbcrConversion,
) -> Result<Owned<vk::Sampler>, Error> {
    let mut info = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let create = vk::SamplerCreateInfo::default()
        .mag_filter(filter(frame))
        .min_filter(filter(frame))
        .address_mode_u(edge)
        .address_mode_v(edge)
        .address_mode_w(edge)
        .push_next(&mut info);
    // SAFETY: filters and address modes are those that conversions allow.
    let raw = unsafe { shared.raw.create_sampler(&create, None) }.named("vkCreateSampler")?;
    Ok(Owned::new(shared, raw))
}

/// An image of planes; the view goes first.
struct Image {
    view: Owned<vk::ImageView>,
    raw: Owned<vk::Image>,
    _memory: Owned<vk::DeviceMemory>,
    shared: Arc<Shared>,
}

const RANGE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

impl Image {
    fn new(
        shared: &Arc<Shared>,
        frame: &SampledFrame,
        format: vk::Format,
        conversion: vk::SamplerYcbcrConversion,
    ) -> Result<Image, Error> {
        let [width, height] = frame.size;
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        // SAFETY: the size is a multiple of the subsampling and within limits that every device has.
        let (raw, memory) = unsafe { image::allocate(shared, &create) }?;
        let mut info = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let create = vk::ImageViewCreateInfo::default()
            .image(raw.raw)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(RANGE)
            .push_next(&mut info);
        // SAFETY: the view shows all of the image, with the conversion of the sampler it is used with.
        let view = unsafe { shared.raw.create_image_view(&create, None) }.named("vkCreateImageView")?;
        Ok(Image { view: Owned::new(shared, view), raw, _memory: memory, shared: Arc::clone(shared) })
    }

    /// Waits for everything before, and changes the layout.
    ///
    /// # Safety
    /// The command buffer is being recorded, and the image in the first layout.
    unsafe fn barrier(&self, commands: vk::CommandBuffer, from: vk::ImageLayout, to: vk::ImageLayout) {
        // SAFETY: passed on to the caller.
        unsafe { image::barrier(&self.shared, commands, self.raw.raw, RANGE, [from, to]) }
    }
}

/// The module with its layout.
struct Program {
    pipeline: Owned<vk::Pipeline>,
    layout: Owned<vk::PipelineLayout>,
    set: Owned<vk::DescriptorSetLayout>,
    _module: Owned<vk::ShaderModule>,
    shared: Arc<Shared>,
}

impl Program {
    /// # Safety
    /// As for [`Device::sample_frame`].
    unsafe fn new(
        shared: &Arc<Shared>,
        spirv: &[u32],
        sampler: &Owned<vk::Sampler>,
    ) -> Result<Program, Error> {
        let device = &shared.raw;
        let samplers = [sampler.raw];
        let slot = |binding, ty| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings = [
            slot(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER).immutable_samplers(&samplers),
            slot(1, vk::DescriptorType::STORAGE_BUFFER),
        ];
        let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the sampler is alive; owners outlive the layout.
        let set = unsafe { device.create_descriptor_set_layout(&create, None) }
            .named("vkCreateDescriptorSetLayout")?;
        let set = Owned::new(shared, set);
        let sets = [set.raw];
        let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        // SAFETY: the set layout is alive.
        let layout =
            unsafe { device.create_pipeline_layout(&create, None) }.named("vkCreatePipelineLayout")?;
        let layout = Owned::new(shared, layout);
        let create = vk::ShaderModuleCreateInfo::default().code(spirv);
        // SAFETY: the module's validity is the caller's promise.
        let module = unsafe { device.create_shader_module(&create, None) }.named("vkCreateShaderModule")?;
        let module = Owned::new(shared, module);
        let name = entry_name("main")?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.raw)
            .name(&name);
        let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.raw)];
        // SAFETY: the layout has what the module uses, as the caller promises.
        let made = unsafe { device.create_compute_pipelines(shared.pipelines.raw, &create, None) };
        let pipeline = first_pipeline(shared, made, "vkCreateComputePipelines")?;
        Ok(Program { pipeline, layout, set, _module: module, shared: Arc::clone(shared) })
    }

    /// The pool and its only set: the image, and the buffer that texels go to.
    fn bind(
        &self,
        image: &Image,
        texels: &HostBuffer,
    ) -> Result<(Owned<vk::DescriptorPool>, vk::DescriptorSet), Error> {
        let device = &self.shared.raw;
        let sizes = [
            (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, MOST_PLANES),
            (vk::DescriptorType::STORAGE_BUFFER, 1),
        ]
        .map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
        let create = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: no count is zero.
        let pool = unsafe { device.create_descriptor_pool(&create, None) }.named("vkCreateDescriptorPool")?;
        let pool = Owned::new(&self.shared, pool);
        let layouts = [self.set.raw];
        let allocate =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.raw).set_layouts(&layouts);
        // SAFETY: the pool has room for one set of this layout.
        let sets = unsafe { device.allocate_descriptor_sets(&allocate) }.named("vkAllocateDescriptorSets")?;
        let set = sets.first().copied().unwrap_or_default();
        let images = [vk::DescriptorImageInfo::default()
            .image_view(image.view.raw)
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
        let buffers = [vk::DescriptorBufferInfo::default().buffer(texels.buffer.raw).range(vk::WHOLE_SIZE)];
        let writes = [
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(0)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .image_info(&images),
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(1)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&buffers),
        ];
        // SAFETY: the set has these bindings, and what they name outlives its use.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
        Ok((pool, set))
    }
}
