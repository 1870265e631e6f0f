//! From a module's interface to pipeline layout, and from a run's buffers to descriptor sets.

use crate::descriptors::{allocate, upload, write_buffer};
use crate::device::{HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::module::Interface;
use crate::{BufferBinding, BufferKind, Error, TexelFormat};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A shader module with the layout it asks for.
pub(crate) struct Program {
    pub module: Owned<vk::ShaderModule>,
    pub layout: Owned<vk::PipelineLayout>,
    sets: Vec<Owned<vk::DescriptorSetLayout>>,
    pub interface: Interface,
    pub stages: vk::ShaderStageFlags,
    pub shared: Arc<Shared>,
}

/// Descriptor sets filled with a run's buffers.
pub(crate) struct Bound {
    pub sets: Vec<vk::DescriptorSet>,
    // Views before their buffers: fields drop in this order.
    views: Vec<Owned<vk::BufferView>>,
    /// For each buffer of the run the copy on the device, if the module uses it.
    buffers: Vec<Option<HostBuffer>>,
    _pool: Option<Owned<vk::DescriptorPool>>,
}

pub(crate) fn descriptor_type(kind: BufferKind) -> vk::DescriptorType {
    match kind {
        BufferKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        BufferKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BufferKind::UniformTexel(_) => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        BufferKind::StorageTexel(_) => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    }
}

pub(crate) fn check_limit(what: impl Into<String>, size: u64, limit: u64) -> Result<(), Error> {
    if size <= limit { Ok(()) } else { Err(Error::TooLarge { what: what.into(), size, limit }) }
}

impl Program {
    /// # Safety
    /// The words are a module that is valid for the device's Vulkan.
    pub(crate) unsafe fn new(
        shared: &Arc<Shared>,
        words: &[u32],
        interface: Interface,
        stages: vk::ShaderStageFlags,
    ) -> Result<Program, Error> {
        check_demands(shared, &interface)?;
        let sets = set_layouts(shared, &interface, stages)?;
        let raw_sets: Vec<_> = sets.iter().map(|set| set.raw).collect();
        let range =
            vk::PushConstantRange::default().stage_flags(stages).size(shared.info.limits.push_constant_bytes);
        let ranges = if interface.push_constants { &[range][..] } else { &[] };
        let create =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&raw_sets).push_constant_ranges(ranges);
        // SAFETY: the set layouts are alive and within the device's limits.
        let layout =
            unsafe { shared.raw.create_pipeline_layout(&create, None) }.named("vkCreatePipelineLayout")?;
        let layout = Owned::new(shared, layout);
        let create = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the module's validity is the caller's promise.
        let module =
            unsafe { shared.raw.create_shader_module(&create, None) }.named("vkCreateShaderModule")?;
        let module = Owned::new(shared, module);
        Ok(Program { module, layout, sets, interface, stages, shared: Arc::clone(shared) })
    }

    /// Copies a run's buffers to the device and binds them where the module uses them.
    pub(crate) fn bind(&self, buffers: &[BufferBinding]) -> Result<Bound, Error> {
        let mut given = BTreeMap::new();
        for (index, buffer) in buffers.iter().enumerate() {
            let (set, binding) = (buffer.set, buffer.binding);
            if given.insert((set, binding), index).is_some() {
                return Err(Error::DuplicateBinding { set, binding });
            }
        }
        let mut bound = Bound {
            sets: Vec::new(),
            views: Vec::new(),
            buffers: std::iter::repeat_with(|| None).take(buffers.len()).collect(),
            _pool: None,
        };
        for (&(set, binding), &kind) in &self.interface.buffers {
            let missing = Error::MissingBinding { set, binding, kind };
            let Some(&index) = given.get(&(set, binding)) else { return Err(missing) };
            let (Some(buffer), Some(slot)) = (buffers.get(index), bound.buffers.get_mut(index)) else {
                return Err(missing);
            };
            if !buffer.kind.fits(kind) {
                return Err(Error::BindingKind { set, binding, declared: kind, bound: buffer.kind });
            }
            *slot = Some(upload(&self.shared, buffer)?);
        }
        self.write_sets(&mut bound, buffers)?;
        Ok(bound)
    }

    fn write_sets(&self, bound: &mut Bound, buffers: &[BufferBinding]) -> Result<(), Error> {
        if self.sets.is_empty() {
            return Ok(());
        }
        let count = self.interface.buffers.len() as u32;
        let size = |kind| vk::DescriptorPoolSize { ty: descriptor_type(kind), descriptor_count: count };
        let any = TexelFormat::R32Uint;
        let sizes = [
            BufferKind::Uniform,
            BufferKind::Storage,
            BufferKind::UniformTexel(any),
            BufferKind::StorageTexel(any),
        ]
        .map(size);
        // No size is zero: a set exists for the sake of a buffer.
        let (pool, sets) = allocate(&self.shared, &sizes, &self.sets)?;
        bound.sets = sets;
        bound._pool = Some(pool);
        for (buffer, copy) in buffers.iter().zip(&bound.buffers) {
            let (Some(copy), Some(&set)) = (copy, bound.sets.get(buffer.set as usize)) else { continue };
            // The layout has this binding with this type, as only buffers the module uses have a copy.
            bound.views.extend(write_buffer(&self.shared, (set, 0), buffer, copy)?);
        }
        Ok(())
    }

    /// Push constants as long as the layout's range; empty when the module has none.
    pub(crate) fn push_constants(&self, given: &[u8]) -> Result<Vec<u8>, Error> {
        if !self.interface.push_constants {
            return Ok(Vec::new());
        }
        let limit = self.shared.info.limits.push_constant_bytes;
        check_limit("the number of push constant bytes", given.len() as u64, u64::from(limit))?;
        let mut padded = given.to_vec();
        padded.resize(limit as usize, 0);
        Ok(padded)
    }

    /// Records the binding of pipeline, sets and push constants.
    ///
    /// # Safety
    /// The command buffer is being recorded, and all that is bound outlives its execution.
    pub(crate) unsafe fn record_bind(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
        bound: &Bound,
        push_constants: &[u8],
    ) {
        let device = &self.shared.raw;
        // SAFETY: pipeline, sets and push constants fit the one layout.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            if !bound.sets.is_empty() {
                device.cmd_bind_descriptor_sets(commands, point, self.layout.raw, 0, &bound.sets, &[]);
            }
            if !push_constants.is_empty() {
                device.cmd_push_constants(commands, self.layout.raw, self.stages, 0, push_constants);
            }
        }
    }
}

impl Bound {
    /// The contents of the run's buffers, in the run's order and sizes.
    pub(crate) fn read(&self, buffers: &[BufferBinding]) -> Result<Vec<Vec<u8>>, Error> {
        let contents = |(buffer, copy): (&BufferBinding, &Option<HostBuffer>)| match copy {
            Some(copy) if buffer.kind.is_written() => copy.read(buffer.data.len() as u64),
            _ => Ok(buffer.data.clone()),
        };
        buffers.iter().zip(&self.buffers).map(contents).collect()
    }
}

fn check_demands(shared: &Shared, interface: &Interface) -> Result<(), Error> {
    let newest = shared.info.spirv_version();
    if interface.version > newest {
        let ((major, minor), (newest_major, newest_minor)) = (interface.version, newest);
        return Err(Error::Unsupported(format!(
            "SPIR-V {major}.{minor}: it takes {newest_major}.{newest_minor} at most"
        )));
    }
    match interface.capabilities.iter().find(|capability| !shared.info.offers(**capability)) {
        Some(lacking) => Err(Error::Unsupported(format!("the SPIR-V capability {lacking:?}"))),
        None => Ok(()),
    }
}

/// One layout for each set from 0 to the highest the module uses; sets in between are empty.
fn set_layouts(
    shared: &Arc<Shared>,
    interface: &Interface,
    stages: vk::ShaderStageFlags,
) -> Result<Vec<Owned<vk::DescriptorSetLayout>>, Error> {
    let count = interface.buffers.keys().map(|&(set, _)| u64::from(set) + 1).max().unwrap_or(0);
    check_limit("the number of descriptor sets", count, u64::from(shared.info.limits.descriptor_sets))?;
    // Drivers keep an array as long as the highest binding.
    const HIGHEST_BINDING: u64 = 65_535;
    let mut layouts = Vec::new();
    for set in 0..count as u32 {
        let mut bindings = Vec::new();
        for (&(_, binding), &kind) in interface.buffers.range((set, 0)..=(set, u32::MAX)) {
            check_limit("the binding number", u64::from(binding), HIGHEST_BINDING)?;
            bindings.push(
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(descriptor_type(kind))
                    .descriptor_count(1)
                    .stage_flags(stages),
            );
        }
        let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the binding numbers differ, as keys of a map.
        let layout = unsafe { shared.raw.create_descriptor_set_layout(&create, None) }
            .named("vkCreateDescriptorSetLayout")?;
        layouts.push(Owned::new(shared, layout));
    }
    Ok(layouts)
}
