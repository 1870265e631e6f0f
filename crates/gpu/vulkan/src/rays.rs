//! Rays: acceleration structures of small scenes, tables of shaders, and what they leave in buffers.

use crate::binding::check_limit;
use crate::compute::{entry_name, first_pipeline};
use crate::descriptors::{Sets, allocate, layout};
use crate::device::{Device, HostBuffer, Owned, Shared};
use crate::error::Named;
use crate::graphics::{Modules, modules};
use crate::job::{BufferKind, HitGroup, RayGeometry, RayJob};
use crate::{Error, RunOutput};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::Arc;
use vk::BufferUsageFlags as Usage;

/// Most invocations, geometries and triangles.
const MAX_COUNT: u64 = 1 << 16;

/// Alignment of memory that structures are built in, which is more than any device asks for.
const SCRATCH_ALIGN: u64 = 256;

/// Rays within rays.
const RECURSION: u32 = 4;

/// An acceleration structure with its memory.
struct Structure {
    raw: vk::AccelerationStructureKHR,
    address: u64,
    shared: Arc<Shared>,
    _buffer: HostBuffer,
}

impl Drop for Structure {
    fn drop(&mut self) {
        if let Some(functions) = &self.shared.structures {
            // SAFETY: every submission was waited for, and nothing else destroys it.
            unsafe { functions.destroy_acceleration_structure(self.raw, None) }
        }
    }
}

impl Device {
    /// Builds a scene, and traces rays in it or runs a compute shader on it; the buffers afterwards.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on a device without rays, [`Error::TooLarge`], or the driver's error.
    ///
    /// # Safety
    /// As for [`Device::prepare_compute`], for each module; what the modules use is among the job's buffers.
    pub unsafe fn trace(&self, job: &RayJob) -> Result<Vec<RunOutput>, Error> {
        let shared = &self.shared;
        let counts = [job.scene.len() as u64, job.size.iter().map(|&n| u64::from(n)).product()];
        for count in counts {
            check_limit("the number of geometries or rays", count, MAX_COUNT)?;
        }
        let (bottom, top) = scene(shared, &job.scene)?;
        let buffers = job
            .buffers
            .iter()
            .map(|binding| match binding.kind {
                BufferKind::Storage => HostBuffer::new(shared, Usage::STORAGE_BUFFER, &binding.data),
                _ => Err(Error::Unsupported("buffers for rays that are no storage buffers".into())),
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let (layouts, layout) = layout(shared, &bindings(job).map(|(at, kind)| (at, (kind, 1))).collect())?;
        let (pool, sets) = sets(shared, job, &layouts, &top, &buffers)?;
        // SAFETY: passed on to the caller.
        let modules = unsafe { modules(shared, &job.modules) }?;
        let [x, y, z] = job.size;
        let elapsed = if let [(vk::ShaderStageFlags::COMPUTE, module)] = &modules[..] {
            let name = entry_name("main")?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module.raw)
                .name(&name);
            let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.raw)];
            // SAFETY: the module has this entry point, and the layout is the caller's promise.
            let made = unsafe { shared.raw.create_compute_pipelines(shared.pipelines.raw, &create, None) };
            let pipeline = first_pipeline(shared, made, "vkCreateComputePipelines")?;
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: pipeline and sets belong together and live until the commands are done.
            unsafe {
                shared.submit(|commands| {
                    shared.raw.cmd_bind_pipeline(commands, point, pipeline.raw);
                    shared.raw.cmd_bind_descriptor_sets(commands, point, layout.raw, 0, &sets, &[]);
                    shared.raw.cmd_dispatch(commands, x, y, z);
                })
            }?
        } else {
            let functions = shared.rays.as_ref().ok_or_else(no_rays)?;
            let pipeline = pipeline(shared, &modules, &job.groups, layout.raw)?;
            let table = Table::new(shared, &modules, job.groups.len(), pipeline.raw)?;
            let point = vk::PipelineBindPoint::RAY_TRACING_KHR;
            // SAFETY: as above; the table has a record for each group of the pipeline.
            unsafe {
                shared.submit(|commands| {
                    shared.raw.cmd_bind_pipeline(commands, point, pipeline.raw);
                    shared.raw.cmd_bind_descriptor_sets(commands, point, layout.raw, 0, &sets, &[]);
                    let [generate, miss, hit, callable] = &table.regions;
                    functions.cmd_trace_rays(commands, generate, miss, hit, callable, x, y, z);
                })
            }?
        };
        drop((pool, top, bottom));
        let read = buffers.iter().map(|b| b.read(b.size)).collect::<Result<_, Error>>()?;
        Ok(vec![RunOutput { buffers: read, captures: BTreeMap::new(), elapsed }])
    }
}

fn no_rays() -> Error {
    Error::Unsupported("ray tracing".into())
}

fn address(shared: &Shared, buffer: &HostBuffer) -> u64 {
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.buffer.raw);
    // SAFETY: the buffer was made for having an address.
    unsafe { shared.raw.get_buffer_device_address(&info) }
}

/// A structure for each geometry, and one of them all.
fn scene(shared: &Arc<Shared>, scene: &[RayGeometry]) -> Result<(Vec<Structure>, Structure), Error> {
    let input = Usage::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR | Usage::SHADER_DEVICE_ADDRESS;
    let bytes = |floats: &[f32]| floats.iter().flat_map(|f| f.to_ne_bytes()).collect::<Vec<u8>>();
    let mut bottom = Vec::new();
    let mut instances = Vec::new();
    for (number, geometry) in (0..).zip(scene) {
        let (data, ty, count) = match geometry {
            RayGeometry::Triangles(all) => {
                (bytes(all.as_flattened().as_flattened()), vk::GeometryTypeKHR::TRIANGLES, all.len())
            }
            RayGeometry::Boxes(all) => {
                (bytes(all.as_flattened().as_flattened()), vk::GeometryTypeKHR::AABBS, all.len())
            }
        };
        check_limit("the number of triangles or boxes", count as u64, MAX_COUNT)?;
        let buffer = HostBuffer::new(shared, input, &data)?;
        let device_address = vk::DeviceOrHostAddressConstKHR { device_address: address(shared, &buffer) };
        let data = if ty == vk::GeometryTypeKHR::TRIANGLES {
            vk::AccelerationStructureGeometryDataKHR {
                triangles: vk::AccelerationStructureGeometryTrianglesDataKHR::default()
                    .vertex_format(vk::Format::R32G32B32_SFLOAT)
                    .vertex_data(device_address)
                    .vertex_stride(12)
                    .max_vertex((3 * count as u32).saturating_sub(1))
                    .index_type(vk::IndexType::NONE_KHR),
            }
        } else {
            vk::AccelerationStructureGeometryDataKHR {
                aabbs: vk::AccelerationStructureGeometryAabbsDataKHR::default()
                    .data(device_address)
                    .stride(24),
            }
        };
        let geometry = vk::AccelerationStructureGeometryKHR::default().geometry_type(ty).geometry(data);
        let level = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;
        let built = structure(shared, level, geometry, count as u32)?;
        instances.extend(instance(number, built.address));
        bottom.push(built);
    }
    let buffer = HostBuffer::new(shared, input, &instances)?;
    let data = vk::AccelerationStructureGeometryDataKHR {
        instances: vk::AccelerationStructureGeometryInstancesDataKHR::default()
            .data(vk::DeviceOrHostAddressConstKHR { device_address: address(shared, &buffer) }),
    };
    let geometry = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::INSTANCES)
        .geometry(data);
    let level = vk::AccelerationStructureTypeKHR::TOP_LEVEL;
    let top = structure(shared, level, geometry, scene.len() as u32)?;
    Ok((bottom, top))
}

/// `VkAccelerationStructureInstanceKHR`: where it was made, of any ray, its number twice, its structure.
fn instance(number: u32, address: u64) -> Vec<u8> {
    let matrix = [1.0f32, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let mut bytes: Vec<u8> = matrix.iter().flat_map(|f| f.to_ne_bytes()).collect();
    bytes.extend((number & 0xff_ffff | 0xff << 24).to_ne_bytes());
    bytes.extend((number & 0xff_ffff).to_ne_bytes());
    bytes.extend(address.to_ne_bytes());
    bytes
}

fn structure(
    shared: &Arc<Shared>,
    level: vk::AccelerationStructureTypeKHR,
    geometry: vk::AccelerationStructureGeometryKHR<'_>,
    count: u32,
) -> Result<Structure, Error> {
    let functions = shared.structures.as_ref().ok_or_else(no_rays)?;
    let geometries = [geometry];
    let build = vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(level)
        .mode(vk::BuildAccelerationStructureModeKHR::BUILD)
        .geometries(&geometries);
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    // SAFETY: there is a count for the only geometry.
    unsafe {
        functions.get_acceleration_structure_build_sizes(
            vk::AccelerationStructureBuildTypeKHR::DEVICE,
            &build,
            &[count],
            &mut sizes,
        );
    }
    let usage = Usage::ACCELERATION_STRUCTURE_STORAGE_KHR | Usage::SHADER_DEVICE_ADDRESS;
    let buffer = HostBuffer::zeroed(shared, usage, sizes.acceleration_structure_size)?;
    let create = vk::AccelerationStructureCreateInfoKHR::default()
        .buffer(buffer.buffer.raw)
        .size(sizes.acceleration_structure_size)
        .ty(level);
    // SAFETY: the buffer is large enough and for this.
    let raw = unsafe { functions.create_acceleration_structure(&create, None) }
        .named("vkCreateAccelerationStructureKHR")?;
    let of = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(raw);
    // SAFETY: the structure is of this device.
    let at = unsafe { functions.get_acceleration_structure_device_address(&of) };
    let structure = Structure { raw, address: at, shared: Arc::clone(shared), _buffer: buffer };
    let usage = Usage::STORAGE_BUFFER | Usage::SHADER_DEVICE_ADDRESS;
    let scratch = HostBuffer::zeroed(shared, usage, sizes.build_scratch_size + SCRATCH_ALIGN)?;
    let start = address(shared, &scratch).next_multiple_of(SCRATCH_ALIGN);
    let build = build
        .dst_acceleration_structure(raw)
        .scratch_data(vk::DeviceOrHostAddressKHR { device_address: start });
    let ranges = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(count)];
    // SAFETY: inputs, scratch memory and structure live until the commands are done.
    unsafe {
        shared.submit(|commands| {
            functions.cmd_build_acceleration_structures(commands, &[build], &[&ranges]);
        })
    }?;
    Ok(structure)
}

fn bindings(job: &RayJob) -> impl Iterator<Item = ((u32, u32), vk::DescriptorType)> {
    let buffers = job.buffers.iter().map(|b| ((b.set, b.binding), vk::DescriptorType::STORAGE_BUFFER));
    std::iter::once((job.structure, vk::DescriptorType::ACCELERATION_STRUCTURE_KHR)).chain(buffers)
}

fn sets(
    shared: &Arc<Shared>,
    job: &RayJob,
    layouts: &[Owned<vk::DescriptorSetLayout>],
    top: &Structure,
    buffers: &[HostBuffer],
) -> Result<Sets, Error> {
    let sizes: Vec<_> =
        bindings(job).map(|(_, ty)| vk::DescriptorPoolSize { ty, descriptor_count: 1 }).collect();
    // There is a set for the structure at least.
    let (pool, sets) = allocate(shared, &sizes, layouts)?;
    let set = |number: u32| sets.get(number as usize).copied().ok_or_else(no_rays);
    let structures = [top.raw];
    let mut of_structure =
        vk::WriteDescriptorSetAccelerationStructureKHR::default().acceleration_structures(&structures);
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set(job.structure.0)?)
        .dst_binding(job.structure.1)
        .descriptor_type(vk::DescriptorType::ACCELERATION_STRUCTURE_KHR)
        .descriptor_count(1)
        .push_next(&mut of_structure);
    // SAFETY: the layout has this binding with this type.
    unsafe { shared.raw.update_descriptor_sets(&[write], &[]) };
    for (binding, buffer) in job.buffers.iter().zip(buffers) {
        let info = [vk::DescriptorBufferInfo::default().buffer(buffer.buffer.raw).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set(binding.set)?)
            .dst_binding(binding.binding)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&info);
        // SAFETY: as above.
        unsafe { shared.raw.update_descriptor_sets(&[write], &[]) };
    }
    Ok((pool, sets))
}

/// Modules that are a group each, by the region of the table that they are in.
fn region(stage: vk::ShaderStageFlags) -> Option<usize> {
    match stage {
        vk::ShaderStageFlags::RAYGEN_KHR => Some(0),
        vk::ShaderStageFlags::MISS_KHR => Some(1),
        vk::ShaderStageFlags::CALLABLE_KHR => Some(3),
        _ => None,
    }
}

/// A pipeline whose groups are modules that are one each, in order, and then those for hits.
fn pipeline(
    shared: &Arc<Shared>,
    modules: &Modules,
    hits: &[HitGroup],
    layout: vk::PipelineLayout,
) -> Result<Owned<vk::Pipeline>, Error> {
    let functions = shared.rays.as_ref().ok_or_else(no_rays)?;
    let name = entry_name("main")?;
    let stages: Vec<_> = modules
        .iter()
        .map(|(flag, module)| {
            vk::PipelineShaderStageCreateInfo::default().stage(*flag).module(module.raw).name(&name)
        })
        .collect();
    let unused = vk::SHADER_UNUSED_KHR;
    let group = |ty| {
        vk::RayTracingShaderGroupCreateInfoKHR::default()
            .ty(ty)
            .general_shader(unused)
            .closest_hit_shader(unused)
            .any_hit_shader(unused)
            .intersection_shader(unused)
    };
    let mut groups = Vec::new();
    for (number, (stage, _)) in (0..).zip(modules) {
        if region(*stage).is_some() {
            groups.push(group(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(number));
        }
    }
    for hit in hits {
        let ty = match hit.intersection {
            Some(_) => vk::RayTracingShaderGroupTypeKHR::PROCEDURAL_HIT_GROUP,
            None => vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP,
        };
        let module = |number: Option<usize>| match number {
            None => Ok(unused),
            Some(n) if n < modules.len() => Ok(n as u32),
            Some(_) => Err(Error::Unsupported("a hit group of modules that there are not".into())),
        };
        groups.push(
            group(ty)
                .closest_hit_shader(module(hit.closest)?)
                .any_hit_shader(module(hit.any)?)
                .intersection_shader(module(hit.intersection)?),
        );
    }
    let create = [vk::RayTracingPipelineCreateInfoKHR::default()
        .stages(&stages)
        .groups(&groups)
        .max_pipeline_ray_recursion_depth(RECURSION.min(shared.ray_properties().max_ray_recursion_depth))
        .layout(layout)];
    let (deferred, cache) = (vk::DeferredOperationKHR::null(), shared.pipelines.raw);
    // SAFETY: the modules have these entry points, and that layout and modules belong together is the caller's promise.
    let made = unsafe { functions.create_ray_tracing_pipelines(deferred, cache, &create, None) };
    first_pipeline(shared, made, "vkCreateRayTracingPipelinesKHR")
}

/// The table of shaders: those that generate rays, of misses, of hits, and that are called.
struct Table {
    regions: [vk::StridedDeviceAddressRegionKHR; 4],
    _buffer: HostBuffer,
}

impl Table {
    fn new(
        shared: &Arc<Shared>,
        modules: &Modules,
        hits: usize,
        pipeline: vk::Pipeline,
    ) -> Result<Table, Error> {
        let functions = shared.rays.as_ref().ok_or_else(no_rays)?;
        let properties = shared.ray_properties();
        let size = properties.shader_group_handle_size as usize;
        let mut order: Vec<usize> = modules.iter().filter_map(|(stage, _)| region(*stage)).collect();
        order.extend(std::iter::repeat_n(2, hits));
        // SAFETY: these are all groups of the pipeline.
        let handles = unsafe {
            functions.get_ray_tracing_shader_group_handles(
                pipeline,
                0,
                order.len() as u32,
                order.len() * size,
            )
        }
        .named("vkGetRayTracingShaderGroupHandlesKHR")?;
        // Every record is aligned as the start of a region.
        let align = u64::from(properties.shader_group_base_alignment.max(1));
        let stride = (size as u64).next_multiple_of(align);
        let mut bytes = vec![0; (align + stride * order.len().max(1) as u64) as usize];
        let usage = Usage::SHADER_BINDING_TABLE_KHR | Usage::SHADER_DEVICE_ADDRESS;
        let buffer = HostBuffer::zeroed(shared, usage, bytes.len() as u64)?;
        let start = address(shared, &buffer);
        let mut at = start.next_multiple_of(align);
        let mut regions = [vk::StridedDeviceAddressRegionKHR::default(); 4];
        for (number, region) in regions.iter_mut().enumerate() {
            let first = at;
            for (handle, _) in handles.chunks(size.max(1)).zip(&order).filter(|(_, r)| **r == number) {
                let offset = (at - start) as usize;
                bytes[offset..offset + handle.len()].copy_from_slice(handle);
                at += stride;
            }
            if at > first {
                *region = region.device_address(first).stride(stride).size(at - first);
            }
        }
        buffer.write(&bytes)?;
        Ok(Table { regions, _buffer: buffer })
    }
}
