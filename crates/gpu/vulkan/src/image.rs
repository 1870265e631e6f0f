//! Images: their memory, what shaders see of them, and what is copied to and from them.

use crate::Error;
use crate::binding::check_limit;
use crate::contents::{ImageContents, Numbers, Sampling, TextureContents, TextureShape};
use crate::device::{HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::graphics::format;
use crate::texel::TexelFormat;
use ash::vk;
use std::sync::Arc;

/// The greatest size of an image, most layers and levels.
pub(crate) const MAX_SIZE: u64 = 4096;

/// Bytes of a texel of a texture that is not compared with.
const TEXEL_BYTES: u64 = 16;

/// An image with its view; the view goes first.
pub(crate) struct Picture {
    pub view: Owned<vk::ImageView>,
    pub image: Owned<vk::Image>,
    _memory: Owned<vk::DeviceMemory>,
    range: vk::ImageSubresourceRange,
}

impl Picture {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        create: &vk::ImageCreateInfo,
        view: vk::ImageViewType,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Picture, Error> {
        check_image(shared, create)?;
        // SAFETY: the device has said that it makes such images.
        let (image, memory) = unsafe { allocate(shared, create) }?;
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
        let view = unsafe { shared.raw.create_image_view(&create, None) }.named("vkCreateImageView")?;
        Ok(Picture { view: Owned::new(shared, view), image, _memory: memory, range })
    }

    /// Waits for everything before, and leaves the layout `from` for the general one.
    ///
    /// # Safety
    /// The command buffer is being recorded, and the image in that layout.
    pub(crate) unsafe fn barrier(&self, shared: &Shared, commands: vk::CommandBuffer, from: vk::ImageLayout) {
        // SAFETY: passed on to the caller.
        unsafe { barrier(shared, commands, self.image.raw, self.range, [from, vk::ImageLayout::GENERAL]) }
    }
}

/// An image with memory of its own, which is dropped after it.
///
/// # Safety
/// The device makes such images, and so large; it is not disjoint.
pub(crate) unsafe fn allocate(
    shared: &Arc<Shared>,
    create: &vk::ImageCreateInfo,
) -> Result<(Owned<vk::Image>, Owned<vk::DeviceMemory>), Error> {
    let device = &shared.raw;
    // SAFETY: passed on to the caller.
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
    Ok((image, memory))
}

/// Waits for everything before, and changes the layout of a part of an image.
///
/// # Safety
/// The command buffer is being recorded, and the image has the part, in the first layout.
pub(crate) unsafe fn barrier(
    shared: &Shared,
    commands: vk::CommandBuffer,
    image: vk::Image,
    range: vk::ImageSubresourceRange,
    [from, to]: [vk::ImageLayout; 2],
) {
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        .old_layout(from)
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(range);
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let flags = vk::DependencyFlags::empty();
    // SAFETY: passed on to the caller.
    unsafe { shared.raw.cmd_pipeline_barrier(commands, all, all, flags, &[], &[], &[barrier]) }
}

/// Whether the device makes such images, and so large.
fn check_image(shared: &Shared, create: &vk::ImageCreateInfo) -> Result<(), Error> {
    let Some(limits) = shared.image_limits(create) else {
        let what = format!("such images of format {}", create.format.as_raw());
        return Err(Error::Unsupported(what));
    };
    let (size, most) = (create.extent, limits.max_extent);
    check_limit("the width of an image", size.width.into(), most.width.into())?;
    check_limit("the height of an image", size.height.into(), most.height.into())?;
    check_limit("the depth of an image", size.depth.into(), most.depth.into())?;
    check_limit("the number of layers", create.array_layers.into(), limits.max_array_layers.into())?;
    check_limit("the number of levels", create.mip_levels.into(), limits.max_mip_levels.into())?;
    match limits.sample_counts.contains(create.samples) {
        true => Ok(()),
        false => Err(Error::Unsupported(format!("images of {} samples", create.samples.as_raw()))),
    }
}

/// What an image of these dimensions is created with, and how it is seen. Sizes are at least one.
fn shape(
    shape: TextureShape,
    arrayed: bool,
    size: [u32; 3],
    layers: u32,
) -> (vk::ImageCreateInfo<'static>, vk::ImageViewType) {
    let (ty, view) = match (shape, arrayed) {
        (TextureShape::D1, false) => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D),
        (TextureShape::D1, true) => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D_ARRAY),
        (TextureShape::D2, false) => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D),
        (TextureShape::D2, true) => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D_ARRAY),
        (TextureShape::D3, _) => (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D),
        (TextureShape::Cube, false) => (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE),
        (TextureShape::Cube, true) => (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE_ARRAY),
    };
    let flags = match shape {
        TextureShape::Cube => vk::ImageCreateFlags::CUBE_COMPATIBLE,
        _ => vk::ImageCreateFlags::empty(),
    };
    let [width, height, depth] = size;
    let create = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(ty)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(1)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::TYPE_1);
    (create, view)
}

/// Whether dimensions are what an image of that shape has.
fn check_shape(shape: TextureShape, arrayed: bool, size: [u32; 3], layers: u32) -> Result<(), Error> {
    for n in size.into_iter().chain([layers]) {
        check_limit("the size of an image", n.into(), MAX_SIZE)?;
    }
    let [width, height, depth] = size;
    let flat = match shape {
        TextureShape::D1 => height == 1 && depth == 1,
        TextureShape::D2 => depth == 1,
        TextureShape::D3 => layers == 1,
        TextureShape::Cube => depth == 1 && width == height && layers.is_multiple_of(6),
    };
    let single = match shape {
        TextureShape::Cube => layers == 6,
        _ => layers == 1,
    };
    if size.contains(&0) || layers == 0 || !flat || !(arrayed || single) {
        return Err(Error::Unsupported(format!("images of {size:?} with {layers} layers as {shape:?}")));
    }
    Ok(())
}

/// A sampler of all levels.
pub(crate) fn sampler(shared: &Arc<Shared>, sampling: Sampling) -> Result<Owned<vk::Sampler>, Error> {
    let (filter, mipmap) = match sampling.filters {
        true => (vk::Filter::LINEAR, vk::SamplerMipmapMode::LINEAR),
        false => (vk::Filter::NEAREST, vk::SamplerMipmapMode::NEAREST),
    };
    let create = vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(mipmap)
        .max_lod(vk::LOD_CLAMP_NONE)
        .compare_enable(sampling.compares)
        .compare_op(vk::CompareOp::LESS_OR_EQUAL);
    // SAFETY: no feature beyond the core's is asked for.
    let sampler = unsafe { shared.raw.create_sampler(&create, None) }.named("vkCreateSampler")?;
    Ok(Owned::new(shared, sampler))
}

/// A texture, and what is copied to it.
pub(crate) struct Texture<'a> {
    pub sampler: Owned<vk::Sampler>,
    pub picture: Picture,
    staging: HostBuffer,
    contents: &'a TextureContents,
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

/// Levels of a texture, from the first: their extents, and the bytes of each.
fn levels(t: &TextureContents) -> impl Iterator<Item = (vk::Extent3D, u64)> {
    let texel = if t.numbers == Numbers::Depth { 4 } else { TEXEL_BYTES };
    let (size, layers) = (t.size, u64::from(t.layers));
    (0..t.levels).map(move |level| {
        let [width, height, depth] = size.map(|n| (n >> level).max(1));
        let texels = u64::from(width) * u64::from(height) * u64::from(depth) * layers;
        (vk::Extent3D { width, height, depth }, texels * texel)
    })
}

impl Texture<'_> {
    pub(crate) fn new<'a>(shared: &Arc<Shared>, t: &'a TextureContents) -> Result<Texture<'a>, Error> {
        check_shape(t.shape, t.arrayed, t.size, t.layers)?;
        if !(1..=13).contains(&t.levels) {
            return Err(Error::Unsupported(format!("textures of {} levels", t.levels)));
        }
        let needed = if t.samples > 1 { TEXEL_BYTES } else { levels(t).map(|(_, bytes)| bytes).sum() };
        if (t.texels.len() as u64) < needed {
            return Err(Error::Unsupported("a texture with less texels than its size says".into()));
        }
        let staging = HostBuffer::new(shared, vk::BufferUsageFlags::TRANSFER_SRC, &t.texels)?;
        let (create, view) = shape(t.shape, t.arrayed, t.size, t.layers);
        let create = create
            .format(texture_format(t.numbers))
            .mip_levels(t.levels)
            .samples(vk::SampleCountFlags::from_raw(t.samples))
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        let picture = Picture::new(shared, &create, view, aspect(t.numbers))?;
        let filters = matches!(t.numbers, Numbers::Float | Numbers::Depth);
        let sampler = sampler(shared, Sampling { filters, compares: t.numbers == Numbers::Depth })?;
        Ok(Texture { sampler, picture, staging, contents: t })
    }

    /// Records the copy of the texels.
    ///
    /// # Safety
    /// The command buffer is being recorded, and the texture outlives its execution.
    pub(crate) unsafe fn fill(&self, shared: &Shared, commands: vk::CommandBuffer) {
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

/// A storage image, with the buffer that its texels are copied from and back to.
pub(crate) struct StorageImage {
    pub picture: Picture,
    format: TexelFormat,
    dimensions: vk::ImageViewType,
    texels: HostBuffer,
    /// None of several samples.
    copy: Option<vk::BufferImageCopy>,
}

impl StorageImage {
    /// An image; other formats may see its texels where it is `mutable`.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        contents: &ImageContents,
        mutable: bool,
    ) -> Result<StorageImage, Error> {
        let ImageContents { shape: dims, arrayed, format, size, layers, samples, ref texels } = *contents;
        check_shape(dims, arrayed, size, layers)?;
        let count: u64 = match samples {
            1 => size.into_iter().chain([layers]).map(u64::from).product(),
            _ => 0,
        };
        if texels.len() as u64 != count * u64::from(format.bytes()) {
            return Err(Error::Unsupported("an image with other texels than its size says".into()));
        }
        let (create, dimensions) = shape(dims, arrayed, size, layers);
        let flags =
            if mutable { vk::ImageCreateFlags::MUTABLE_FORMAT } else { vk::ImageCreateFlags::empty() };
        let create = create
            .flags(create.flags | flags)
            .format(format.raw())
            .samples(vk::SampleCountFlags::from_raw(samples))
            .usage(
                vk::ImageUsageFlags::STORAGE
                    | vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST,
            );
        let picture = Picture::new(shared, &create, dimensions, vk::ImageAspectFlags::COLOR)?;
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let of_layers = vk::ImageSubresourceLayers::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .layer_count(layers);
        let copy = vk::BufferImageCopy::default().image_subresource(of_layers).image_extent(create.extent);
        let copy = (samples == 1).then_some(copy);
        let texels = HostBuffer::new(shared, usage, texels)?;
        Ok(StorageImage { picture, format, dimensions, texels, copy })
    }

    /// A view in another format of an image that is mutable.
    pub(crate) fn view(
        &self,
        shared: &Arc<Shared>,
        format: TexelFormat,
    ) -> Result<Owned<vk::ImageView>, Error> {
        let can = shared.format_properties(format.raw()).optimal_tiling_features;
        if format.bytes() != self.format.bytes() || !can.contains(vk::FormatFeatureFlags::STORAGE_IMAGE) {
            return Err(Error::Unsupported(format!("{:?} seen as {format:?}", self.format)));
        }
        let create = vk::ImageViewCreateInfo::default()
            .image(self.picture.image.raw)
            .view_type(self.dimensions)
            .format(format.raw())
            .subresource_range(self.picture.range);
        // SAFETY: the image was made for other formats, this one has texels of the same size, and is one of storage images.
        let view = unsafe { shared.raw.create_image_view(&create, None) }.named("vkCreateImageView")?;
        Ok(Owned::new(shared, view))
    }

    /// Records the copy of the texels to the image.
    ///
    /// # Safety
    /// The command buffer is being recorded, and the image outlives its execution.
    pub(crate) unsafe fn fill(&self, shared: &Shared, commands: vk::CommandBuffer) {
        let (from, to) = (self.texels.buffer.raw, self.picture.image.raw);
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: the buffer has all texels of the image, which is in the layout that each command names.
        unsafe {
            self.picture.barrier(shared, commands, vk::ImageLayout::UNDEFINED);
            match self.copy {
                Some(copy) => shared.raw.cmd_copy_buffer_to_image(commands, from, to, general, &[copy]),
                None => {
                    let zeros = vk::ClearColorValue { uint32: [0; 4] };
                    shared.raw.cmd_clear_color_image(commands, to, general, &zeros, &[self.picture.range]);
                }
            }
            self.picture.barrier(shared, commands, vk::ImageLayout::GENERAL);
        }
    }

    /// Records the copy back, after all that was recorded.
    ///
    /// # Safety
    /// As for [`StorageImage::fill`], which was recorded before.
    pub(crate) unsafe fn read_back(&self, shared: &Shared, commands: vk::CommandBuffer) {
        let (from, to) = (self.picture.image.raw, self.texels.buffer.raw);
        let Some(copy) = self.copy else { return };
        // SAFETY: the buffer has room for all texels of the image, which is in the general layout.
        unsafe {
            self.picture.barrier(shared, commands, vk::ImageLayout::GENERAL);
            shared.raw.cmd_copy_image_to_buffer(commands, from, vk::ImageLayout::GENERAL, to, &[copy]);
        }
    }

    /// The texels, when what was recorded is done.
    pub(crate) fn texels(&self) -> Result<Vec<u8>, Error> {
        match self.copy {
            Some(_) => self.texels.read(self.texels.size),
            None => Ok(Vec::new()),
        }
    }
}
