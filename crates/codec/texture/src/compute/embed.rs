//! Decoding on a device of the caller's, among its own commands.

use super::plan::{Blocks, PLAN_WORDS, Plan};
use super::source::{self, Input, Target};
use super::{Decoder, Error, program_number};
use crate::decode;
use crate::format::{Format, Texel};
use std::sync::{Arc, PoisonError};
use xenoglot_host::{Device, Error as HostError, TextureShape};

/// Where blocks come from.
#[derive(Clone, Copy, Debug)]
pub enum BlockSource<'a> {
    /// A buffer with the usage `STORAGE`, from a byte on: a multiple of the device's `min_storage_buffer_offset_alignment`.
    Buffer(&'a wgpu::Buffer, u64),
    /// A texture of `Rg32Uint` for blocks of 8 bytes and `Rgba32Uint` for those of 16, with the usage `TEXTURE_BINDING`: of two
    /// dimensions, with a texel for each block, as many layers, and as many levels.
    Texture(&'a wgpu::Texture),
}

/// A program and its arguments' layout.
pub(super) struct Ready {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
    tables: xenoglot_host::Buffer,
}

/// A decoding whose arguments are bound: recording it makes nothing, however often.
#[derive(Debug)]
pub struct Prepared {
    pipeline: wgpu::ComputePipeline,
    arguments: wgpu::BindGroup,
    plan: Plan,
    texture: wgpu::Texture,
    /// What the program writes, unless that is the texture.
    staging: Option<wgpu::Buffer>,
}

impl Decoder {
    /// Decoders on a device that the caller has opened. It needs no features.
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Decoder {
        Decoder::new(&Device::from_wgpu(device, queue))
    }

    /// Compiles what is needed and binds `from` and `to`, to decode once or, when blocks change, again and again. All levels,
    /// layers, faces or slices are one dispatch.
    ///
    /// A texture of one level with the usage `STORAGE_BINDING` and [`Decoder::texture_format`] is written as it is. Any other needs
    /// `COPY_DST`; texels go through a buffer that is made here, and are exact. It has [`Blocks::extent`] and at least the levels
    /// of `blocks`, and is of `Rgba8Unorm`, `Rgba8UnormSrgb`, `Rgba16Float`, or for components of 16 bits of `R16Unorm`, `R16Snorm`,
    /// `Rg16Unorm` and `Rg16Snorm`, or integers of these sizes.
    ///
    /// # Errors
    /// [`Error::Format`] without a program, [`Error::Extent`] if there is no [`Plan`] for the device, [`Error::Size`] if there are
    /// too few blocks, [`Error::WgpuTexture`] if a texture is another, [`Error::Host`] if the device refuses.
    pub fn prepare(
        &self,
        blocks: &Blocks,
        from: BlockSource<'_>,
        to: &wgpu::Texture,
    ) -> Result<Prepared, Error> {
        let (device, _) = self.device().wgpu();
        let limits = device.limits();
        let format = blocks.format;
        if !format.has_program() {
            return Err(Error::Format(format));
        }
        let plan = Plan::new(blocks, limits.max_compute_workgroups_per_dimension);
        let plan = plan.ok_or(Error::Extent(blocks.extent))?;
        check_target(blocks, to)?;
        check_source(blocks, &plan, from)?;
        let is_direct = blocks.levels == 1
            && to.usage().contains(wgpu::TextureUsages::STORAGE_BINDING)
            && to.format() == source::texture_format(format).wgpu();
        let shape = if blocks.volume { TextureShape::Volume } else { TextureShape::Layers };
        let target = if is_direct { Target::Texture(shape) } else { Target::Buffer };
        let too_large = plan.texel_bytes > limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        if !is_direct && (too_large || !to.usage().contains(wgpu::TextureUsages::COPY_DST)) {
            return Err(if too_large { Error::Extent(blocks.extent) } else { other_texture(to) });
        }
        let ready = self.ready(format, input(from), target)?;
        let uniform = self.device().buffer_of(&plan.uniform)?;
        let refused = |reason| Error::Host(HostError::Arguments(reason));
        let bound = self.device().attempt(|| {
            let staging = (!is_direct).then(|| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("decoded texels"),
                    size: plan.texel_bytes,
                    usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: false,
                })
            });
            let view = to.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(match shape {
                    TextureShape::Layers => wgpu::TextureViewDimension::D2Array,
                    TextureShape::Volume => wgpu::TextureViewDimension::D3,
                }),
                mip_level_count: Some(1),
                ..Default::default()
            });
            let texels = match &staging {
                Some(staging) => staging.as_entire_binding(),
                None => wgpu::BindingResource::TextureView(&view),
            };
            let block_view;
            let data = match from {
                BlockSource::Buffer(buffer, offset) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset,
                    size: wgpu::BufferSize::new(plan.block_bytes.next_multiple_of(4)),
                }),
                BlockSource::Texture(texture) => {
                    block_view = texture.create_view(&wgpu::TextureViewDescriptor {
                        dimension: Some(wgpu::TextureViewDimension::D2Array),
                        ..Default::default()
                    });
                    wgpu::BindingResource::TextureView(&block_view)
                }
            };
            let resources =
                [uniform.wgpu().as_entire_binding(), ready.tables.wgpu().as_entire_binding(), data, texels];
            let entries: Vec<_> = (0..)
                .zip(resources)
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
                .collect();
            let arguments = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("decoding of a texture"),
                layout: &ready.layout,
                entries: &entries,
            });
            (staging, arguments)
        });
        let (staging, arguments) = bound.map_err(refused)?;
        Ok(Prepared { pipeline: ready.pipeline.clone(), arguments, plan, texture: to.clone(), staging })
    }

    fn ready(&self, format: Format, input: Input, target: Target) -> Result<Arc<Ready>, Error> {
        let number = program_number(format, target).ok_or(Error::Format(format))?;
        let mut programs = self.embedded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = programs.get(&(number, input, target)) {
            return Ok(Arc::clone(ready));
        }
        let (device, _) = self.device().wgpu();
        let (source, tables) = source::program(format, input, target).ok_or(Error::Format(format))?;
        let tables = self.device().buffer_of(&tables)?;
        let (layout, pipeline) = self
            .device()
            .attempt(|| {
                let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some("decoder of textures"),
                    entries: &entries(format, input, target),
                });
                let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("decoder of textures"),
                    source: wgpu::ShaderSource::Wgsl(source.into()),
                });
                let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    bind_group_layouts: &[Some(&layout)],
                    ..Default::default()
                });
                let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some("decoder of textures"),
                    layout: Some(&pipeline_layout),
                    module: &module,
                    entry_point: Some("main"),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        zero_initialize_workgroup_memory: false,
                        ..Default::default()
                    },
                    cache: None,
                });
                (layout, pipeline)
            })
            .map_err(HostError::Program)?;
        let ready = Arc::new(Ready { layout, pipeline, tables });
        programs.insert((number, input, target), Arc::clone(&ready));
        Ok(ready)
    }
}

impl Prepared {
    /// Records the decoding: a compute pass of one dispatch, and a copy for each level where texels are copied.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.arguments, &[]);
            let [x, y, z] = self.plan.groups;
            pass.dispatch_workgroups(x, y, z);
        }
        let Some(staging) = &self.staging else { return };
        for (mip_level, level) in (0..).zip(&self.plan.levels) {
            let layout = wgpu::TexelCopyBufferLayout {
                offset: level.texels,
                bytes_per_row: Some(level.row),
                rows_per_image: Some(level.extent.height),
            };
            let to = wgpu::TexelCopyTextureInfo {
                texture: &self.texture,
                mip_level,
                origin: wgpu::Origin3d::ZERO,
                aspect: wgpu::TextureAspect::All,
            };
            let size = wgpu::Extent3d {
                width: level.extent.width,
                height: level.extent.height,
                depth_or_array_layers: level.extent.depth,
            };
            encoder.copy_buffer_to_texture(wgpu::TexelCopyBufferInfo { buffer: staging, layout }, to, size);
        }
    }

    /// Where levels lie in the blocks.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

const fn input(from: BlockSource<'_>) -> Input {
    match from {
        BlockSource::Buffer(..) => Input::Levels,
        BlockSource::Texture(_) => Input::Blocks,
    }
}

pub(super) fn other_texture(texture: &wgpu::Texture) -> Error {
    let size = texture.size();
    Error::WgpuTexture {
        format: texture.format(),
        size: [size.width, size.height, size.depth_or_array_layers],
        levels: texture.mip_level_count(),
    }
}

/// Whether a texture is for the texels.
fn check_target(blocks: &Blocks, to: &wgpu::Texture) -> Result<(), Error> {
    use wgpu::TextureFormat as F;
    let formats: &[F] = match blocks.format.texel() {
        Texel::R16Unorm => &[F::R32Float, F::R16Unorm, F::R16Uint],
        Texel::R16Snorm => &[F::R32Float, F::R16Snorm, F::R16Sint],
        Texel::Rg16Unorm => &[F::Rg32Float, F::Rg16Unorm, F::Rg16Uint],
        Texel::Rg16Snorm => &[F::Rg32Float, F::Rg16Snorm, F::Rg16Sint],
        Texel::Rgba16Float => &[F::Rgba16Float, F::Rgba16Uint],
        _ => &[F::Rgba8Unorm, F::Rgba8UnormSrgb, F::Rgba8Uint],
    };
    let size = to.size();
    let is_size = [size.width, size.height, size.depth_or_array_layers]
        == [blocks.extent.width, blocks.extent.height, blocks.extent.depth];
    let dimension = if blocks.volume { wgpu::TextureDimension::D3 } else { wgpu::TextureDimension::D2 };
    // Singles are only written, by programs: copies are of the components' own sizes.
    let is_written = !matches!(to.format(), F::R32Float | F::Rg32Float)
        || (blocks.levels == 1 && to.usage().contains(wgpu::TextureUsages::STORAGE_BINDING));
    let is_right = formats.contains(&to.format())
        && is_written
        && is_size
        && to.dimension() == dimension
        && to.sample_count() == 1
        && to.mip_level_count() >= blocks.levels;
    if is_right { Ok(()) } else { Err(other_texture(to)) }
}

/// Whether there are all blocks.
fn check_source(blocks: &Blocks, plan: &Plan, from: BlockSource<'_>) -> Result<(), Error> {
    match from {
        BlockSource::Buffer(buffer, offset) => {
            let given = buffer.size().saturating_sub(offset);
            if given < plan.block_bytes {
                let [needed, given] = [plan.block_bytes, given].map(|n| n as usize);
                return Err(decode::Error::Data { needed, given }.into());
            }
        }
        BlockSource::Texture(texture) => {
            let format = match blocks.format.block_bytes() {
                8 => wgpu::TextureFormat::Rg32Uint,
                _ => wgpu::TextureFormat::Rgba32Uint,
            };
            let size = texture.size();
            let needed = blocks.extent.blocks(blocks.format.block());
            // A level of blocks may be larger than half of that before: sizes are rounded up.
            let has = |size: u32, level: u32, needed: u32| (size >> level).max(1) >= needed;
            let has_levels = (0..).zip(&plan.levels).all(|(n, level)| {
                let [width, height, _] = level.extent.blocks(blocks.format.block());
                has(size.width, n, width) && has(size.height, n, height)
            });
            let is_right = texture.format() == format
                && !blocks.volume
                && texture.dimension() == wgpu::TextureDimension::D2
                && size.depth_or_array_layers == needed[2]
                && texture.mip_level_count() >= blocks.levels
                && has_levels;
            if !is_right {
                return Err(other_texture(texture));
            }
        }
    }
    Ok(())
}

/// The arguments of a program.
fn entries(format: Format, input: Input, target: Target) -> [wgpu::BindGroupLayoutEntry; 4] {
    let buffer = |ty, size| wgpu::BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: wgpu::BufferSize::new(size),
    };
    let storage = |read_only| buffer(wgpu::BufferBindingType::Storage { read_only }, 0);
    let blocks = match input {
        Input::Blocks => wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Uint,
            view_dimension: wgpu::TextureViewDimension::D2Array,
            multisampled: false,
        },
        _ => storage(true),
    };
    let texels = match target {
        Target::Buffer => storage(false),
        Target::Texture(shape) => wgpu::BindingType::StorageTexture {
            access: wgpu::StorageTextureAccess::WriteOnly,
            format: source::texture_format(format).wgpu(),
            view_dimension: match shape {
                TextureShape::Layers => wgpu::TextureViewDimension::D2Array,
                TextureShape::Volume => wgpu::TextureViewDimension::D3,
            },
        },
    };
    let uniform = buffer(wgpu::BufferBindingType::Uniform, 4 * PLAN_WORDS as u64);
    let mut binding = 0;
    [uniform, storage(true), blocks, texels].map(|ty| {
        binding += 1;
        wgpu::BindGroupLayoutEntry {
            binding: binding - 1,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty,
            count: None,
        }
    })
}
