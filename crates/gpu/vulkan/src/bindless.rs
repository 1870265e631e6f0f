//! Compute shaders whose buffers are elements of arrays of descriptors, or are reached by addresses.

use crate::binding::{check_limit, descriptor_type};
use crate::compute::{entry_name, first_pipeline};
use crate::descriptors::{allocate, upload, write_buffer};
use crate::device::{Device, HostBuffer, Owned};
use crate::error::Named;
use crate::{BindlessJob, BufferKind, Error, RunOutput};
use ash::vk;
use std::collections::BTreeMap;

/// Buffers of a job, with what was made of them.
#[derive(Default)]
struct Bound {
    // Views before their buffers: fields drop in this order.
    views: Vec<Owned<vk::BufferView>>,
    elements: Vec<HostBuffer>,
    addressed: Vec<HostBuffer>,
    sets: Vec<vk::DescriptorSet>,
    layouts: Vec<Owned<vk::DescriptorSetLayout>>,
    pool: Option<Owned<vk::DescriptorPool>>,
}

/// What is bound at a binding: the kind, and how many there are.
type Arrays = BTreeMap<(u32, u32), (BufferKind, u32)>;

impl Device {
    /// Compiles a shader and runs it once. Its layout is what the job binds.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a device without descriptor indexing or buffer addresses,
    /// [`Error::DuplicateBinding`], [`Error::BindingKind`] and [`Error::TooLarge`] for elements that do not make arrays,
    /// and the driver's errors.
    ///
    /// # Safety
    /// The module is valid for Vulkan, and binds nothing but what the job has.
    pub unsafe fn run_bindless(&self, job: &BindlessJob) -> Result<Vec<RunOutput>, Error> {
        let features = &self.shared.info.features;
        if !features.descriptor_indexing || !features.buffer_device_address {
            return Err(Error::Unsupported("descriptor indexing and buffer addresses".to_owned()));
        }
        let mut bound = Bound::default();
        self.bind_arrays(job, &mut bound)?;
        let constants = self.bind_addresses(job, &mut bound)?;
        let stages = vk::ShaderStageFlags::COMPUTE;
        let raw_sets: Vec<_> = bound.layouts.iter().map(|l| l.raw).collect();
        let range = vk::PushConstantRange::default().stage_flags(stages).size(constants.len() as u32);
        let ranges = if constants.is_empty() { &[][..] } else { &[range][..] };
        let create =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&raw_sets).push_constant_ranges(ranges);
        let device = &self.shared.raw;
        // SAFETY: the set layouts are alive, and the push constants within the device's limits.
        let layout =
            unsafe { device.create_pipeline_layout(&create, None) }.named("vkCreatePipelineLayout")?;
        let layout = Owned::new(&self.shared, layout);
        let create = vk::ShaderModuleCreateInfo::default().code(&job.spirv);
        // SAFETY: the module's validity is the caller's promise.
        let module = unsafe { device.create_shader_module(&create, None) }.named("vkCreateShaderModule")?;
        let module = Owned::new(&self.shared, module);
        let name = entry_name(&job.entry)?;
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(stages).module(module.raw).name(&name);
        let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.raw)];
        // SAFETY: that the module has the entry point and the layout what it uses is the caller's promise.
        let pipeline = unsafe { device.create_compute_pipelines(self.shared.pipelines.raw, &create, None) };
        let pipeline = first_pipeline(&self.shared, pipeline, "vkCreateComputePipelines")?;
        for (groups, limit) in job.groups.into_iter().zip(self.shared.info.limits.workgroup_count) {
            check_limit("the number of workgroups", u64::from(groups), u64::from(limit))?;
        }
        let [x, y, z] = job.groups;
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: pipeline, sets and constants fit the one layout, and live until the commands are done.
        let elapsed = unsafe {
            self.shared.submit(|commands| {
                device.cmd_bind_pipeline(commands, point, pipeline.raw);
                if !bound.sets.is_empty() {
                    device.cmd_bind_descriptor_sets(commands, point, layout.raw, 0, &bound.sets, &[]);
                }
                if !constants.is_empty() {
                    device.cmd_push_constants(commands, layout.raw, stages, 0, &constants);
                }
                device.cmd_dispatch(commands, x, y, z);
            })
        }?;
        let elements = job.elements.iter().map(|e| &e.buffer.data).zip(&bound.elements);
        let addressed = job.addressed.iter().map(|a| &a.data).zip(&bound.addressed);
        let read = |(data, buffer): (&Vec<u8>, &HostBuffer)| buffer.read(data.len() as u64);
        let buffers = elements.chain(addressed).map(read).collect::<Result<_, _>>()?;
        Ok(vec![RunOutput { buffers, captures: BTreeMap::new(), elapsed }])
    }

    /// Copies elements of arrays to the device and binds them.
    fn bind_arrays(&self, job: &BindlessJob, bound: &mut Bound) -> Result<(), Error> {
        const MOST_ELEMENTS: u64 = 1 << 16;
        let mut arrays = Arrays::new();
        for element in &job.elements {
            let (set, binding) = (element.buffer.set, element.buffer.binding);
            let kind = element.buffer.kind;
            let (known, count) = arrays.entry((set, binding)).or_insert((kind, 0));
            if !known.fits(kind) {
                return Err(Error::BindingKind { set, binding, declared: *known, bound: kind });
            }
            check_limit("the element", u64::from(element.element) + 1, MOST_ELEMENTS)?;
            *count = (*count).max(element.element + 1);
        }
        if arrays.is_empty() {
            return Ok(());
        }
        self.layouts(&arrays, bound)?;
        let sizes: Vec<_> = arrays
            .values()
            .map(|&(kind, count)| vk::DescriptorPoolSize {
                ty: descriptor_type(kind),
                descriptor_count: count,
            })
            .collect();
        // No count is zero.
        let (pool, sets) = allocate(&self.shared, &sizes, &bound.layouts)?;
        bound.sets = sets;
        bound.pool = Some(pool);
        for element in &job.elements {
            let given = &element.buffer;
            let copy = upload(&self.shared, given)?;
            let Some(&set) = bound.sets.get(given.set as usize) else { continue };
            // The layout has this binding with this type and as many elements.
            bound.views.extend(write_buffer(&self.shared, (set, element.element), given, &copy)?);
            bound.elements.push(copy);
        }
        Ok(())
    }

    /// A layout for each set from 0 to the highest; elements may stay unbound.
    fn layouts(&self, arrays: &Arrays, bound: &mut Bound) -> Result<(), Error> {
        let count = arrays.keys().map(|&(set, _)| u64::from(set) + 1).max().unwrap_or(0);
        let limit = u64::from(self.shared.info.limits.descriptor_sets);
        check_limit("the number of descriptor sets", count, limit)?;
        for set in 0..count as u32 {
            let mut bindings = Vec::new();
            for (&(_, binding), &(kind, count)) in arrays.range((set, 0)..=(set, u32::MAX)) {
                bindings.push(
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding)
                        .descriptor_type(descriptor_type(kind))
                        .descriptor_count(count)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE),
                );
            }
            let flags = vec![vk::DescriptorBindingFlags::PARTIALLY_BOUND; bindings.len()];
            let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
            let create =
                vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut flags);
            // SAFETY: the binding numbers differ, as keys of a map, and the device has descriptor indexing.
            let layout = unsafe { self.shared.raw.create_descriptor_set_layout(&create, None) }
                .named("vkCreateDescriptorSetLayout")?;
            bound.layouts.push(Owned::new(&self.shared, layout));
        }
        Ok(())
    }

    /// Copies buffers with addresses to the device; the push constants with the addresses in them.
    fn bind_addresses(&self, job: &BindlessJob, bound: &mut Bound) -> Result<Vec<u8>, Error> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let mut constants = job.push_constants.clone();
        constants.resize(constants.len().next_multiple_of(4), 0);
        let limit = self.shared.info.limits.push_constant_bytes;
        check_limit("the number of push constant bytes", constants.len() as u64, u64::from(limit))?;
        let mut addresses = Vec::new();
        for given in &job.addressed {
            let copy = HostBuffer::new(&self.shared, usage, &given.data)?;
            let info = vk::BufferDeviceAddressInfo::default().buffer(copy.buffer.raw);
            // SAFETY: the buffer was made with an address, and its memory is bound.
            let address = unsafe { self.shared.raw.get_buffer_device_address(&info) };
            put_address(&mut constants, given.offset, address, "the push constants")?;
            addresses.push(address);
            bound.addressed.push(copy);
        }
        for (given, copy) in job.addressed.iter().zip(&bound.addressed) {
            if given.addresses.is_empty() {
                continue;
            }
            let mut data = given.data.clone();
            for of in &given.addresses {
                let limit = addresses.len() as u64;
                let address = addresses.get(of.buffer as usize).ok_or_else(|| Error::TooLarge {
                    what: "the number of a buffer with an address".to_owned(),
                    size: u64::from(of.buffer) + 1,
                    limit,
                })?;
                put_address(&mut data, of.at, address.wrapping_add(of.offset.into()), "a buffer")?;
            }
            copy.write(&data)?;
        }
        Ok(constants)
    }
}

/// Writes an address to a byte of what is handed to the device.
fn put_address(to: &mut [u8], at: u32, address: u64, what: &str) -> Result<(), Error> {
    let limit = to.len() as u64;
    let place = to.get_mut(at as usize..).and_then(|c| c.get_mut(..8)).ok_or_else(|| Error::TooLarge {
        what: format!("the end of an address in {what}"),
        size: u64::from(at) + 8,
        limit,
    })?;
    place.copy_from_slice(&address.to_le_bytes());
    Ok(())
}
