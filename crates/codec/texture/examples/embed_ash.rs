//! What an application does that uses Vulkan without wgpu: the program, its tables and the plan of a texture are given to a
//! pipeline of its own.
//!
//! `cargo run -p xenoglot-texture --features compute --example embed_ash`

use ash::{Device, Entry, Instance, vk};
use std::error::Error;
use std::ffi::CString;
use xenoglot_texture::compute::{Blocks, Plan, Resource, Shader, shader};
use xenoglot_texture::{Extent, Format, Profile, astc::Footprint, decode_into};

/// A buffer that the processor sees, and its memory.
struct Buffer {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

/// The index of a type of memory that the processor sees without flushing.
fn host_memory(instance: &Instance, physical: vk::PhysicalDevice, types: u32) -> Option<u32> {
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    // SAFETY: the physical device is the instance's.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    (0..memory.memory_type_count).find(|&index| {
        types >> index & 1 != 0 && memory.memory_types[index as usize].property_flags.contains(wanted)
    })
}

/// A buffer with `bytes` at its start, `size` bytes long.
///
/// # Safety
/// `device` is open, of `physical`, of `instance`.
unsafe fn buffer(
    (instance, physical, device): (&Instance, vk::PhysicalDevice, &Device),
    usage: vk::BufferUsageFlags,
    bytes: &[u8],
    size: u64,
) -> Result<Buffer, Box<dyn Error>> {
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    // SAFETY: memory is of the size and one of the types that the buffer asks for, and `bytes` fit into it.
    unsafe {
        let buffer = device.create_buffer(&info, None)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let kind = host_memory(instance, physical, needs.memory_type_bits).ok_or("no memory for the host")?;
        let allocation =
            vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        let memory = device.allocate_memory(&allocation, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        let mapped = device.map_memory(memory, 0, size, vk::MemoryMapFlags::empty())?;
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.cast(), bytes.len().min(size as usize));
        device.unmap_memory(memory);
        Ok(Buffer { buffer, memory })
    }
}

/// A pipeline with the layout that the program says.
///
/// # Safety
/// `device` is open.
unsafe fn pipeline(
    device: &Device,
    program: &Shader,
) -> Result<(vk::Pipeline, vk::PipelineLayout, vk::DescriptorSetLayout), Box<dyn Error>> {
    let kind = |resource: Resource| match resource {
        Resource::Uniform { .. } => vk::DescriptorType::UNIFORM_BUFFER,
        Resource::Read | Resource::Write => vk::DescriptorType::STORAGE_BUFFER,
    };
    let bindings: Vec<_> = (0..)
        .zip(program.bindings)
        .map(|(binding, resource)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind(resource))
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let name = CString::new(Shader::ENTRY)?;
    // SAFETY: the module is valid SPIR-V 1.0, and its layout is the pipeline's.
    unsafe {
        let set = device.create_descriptor_set_layout(
            &vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings),
            None,
        )?;
        let layout = device
            .create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&[set]), None)?;
        let module =
            device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&program.spirv), None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&name);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let made = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        device.destroy_shader_module(module, None);
        let pipeline = made.map_err(|(_, error)| error)?[0];
        Ok((pipeline, layout, set))
    }
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Decodes layers and levels with the first Vulkan device, and on the processor; nothing without such a device.
pub fn run() -> Result<Option<usize>, Box<dyn Error>> {
    // SAFETY: the loader is Vulkan's. Handles are made by those that are used with them, and destroyed after the queue is idle.
    unsafe {
        let Ok(entry) = Entry::load() else { return Ok(None) };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_0);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let Ok(instance) = entry.create_instance(&info, None) else { return Ok(None) };
        let result = match instance.enumerate_physical_devices()?.first() {
            Some(&physical) => decode(&instance, physical).map(Some),
            None => Ok(None),
        };
        instance.destroy_instance(None);
        result
    }
}

/// Decodes on a device, and says how many texels are as on the processor.
///
/// # Safety
/// `physical` is of `instance`.
unsafe fn decode(instance: &Instance, physical: vk::PhysicalDevice) -> Result<usize, Box<dyn Error>> {
    let footprint = Footprint::new(6, 6, 1).ok_or("no such footprint")?;
    let blocks = Blocks {
        format: Format::Astc(footprint, Profile::Srgb),
        extent: Extent { width: 90, height: 50, depth: 3 },
        levels: 5,
        volume: false,
    };
    let program = shader(blocks.format)?;
    let plan = Plan::new(&blocks, 65_535).ok_or("too large")?;
    let data: Vec<u8> =
        (0..plan.block_bytes as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    // SAFETY: see `run`.
    unsafe {
        let families = instance.get_physical_device_queue_family_properties(physical);
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .ok_or("no queue for programs")? as u32;
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &info, None)?;
        let on = (instance, physical, &device);
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let (uniform, tables) = (bytes_of(&plan.uniform), bytes_of(&program.tables));
        let buffers = [
            buffer(on, vk::BufferUsageFlags::UNIFORM_BUFFER, &uniform, uniform.len() as u64)?,
            buffer(on, storage, &tables, tables.len() as u64)?,
            buffer(on, storage, &data, plan.block_bytes)?,
            buffer(on, storage, &[], plan.texel_bytes)?,
        ];
        let (pipeline, layout, set_layout) = pipeline(&device, &program)?;
        let sizes = [
            vk::DescriptorPoolSize::default().ty(vk::DescriptorType::UNIFORM_BUFFER).descriptor_count(1),
            vk::DescriptorPoolSize::default().ty(vk::DescriptorType::STORAGE_BUFFER).descriptor_count(3),
        ];
        let pool = device.create_descriptor_pool(
            &vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes),
            None,
        )?;
        let layouts = [set_layout];
        let set = device.allocate_descriptor_sets(
            &vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts),
        )?[0];
        let whole = buffers
            .each_ref()
            .map(|buffer| [vk::DescriptorBufferInfo::default().buffer(buffer.buffer).range(vk::WHOLE_SIZE)]);
        let writes: Vec<_> = (0..)
            .zip(&whole)
            .map(|(binding, buffer)| {
                let kind = match binding {
                    0 => vk::DescriptorType::UNIFORM_BUFFER,
                    _ => vk::DescriptorType::STORAGE_BUFFER,
                };
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(kind)
                    .buffer_info(buffer)
            })
            .collect();
        device.update_descriptor_sets(&writes, &[]);

        let commands = device
            .create_command_pool(&vk::CommandPoolCreateInfo::default().queue_family_index(family), None)?;
        let command = device.allocate_command_buffers(
            &vk::CommandBufferAllocateInfo::default().command_pool(commands).command_buffer_count(1),
        )?[0];
        device.begin_command_buffer(command, &vk::CommandBufferBeginInfo::default())?;
        device.cmd_bind_pipeline(command, vk::PipelineBindPoint::COMPUTE, pipeline);
        device.cmd_bind_descriptor_sets(command, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
        let [x, y, z] = plan.groups;
        device.cmd_dispatch(command, x, y, z);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        device.cmd_pipeline_barrier(
            command,
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &barrier,
            &[],
            &[],
        );
        device.end_command_buffer(command)?;
        let queue = device.get_device_queue(family, 0);
        let submitted = [command];
        device.queue_submit(
            queue,
            &[vk::SubmitInfo::default().command_buffers(&submitted)],
            vk::Fence::null(),
        )?;
        device.queue_wait_idle(queue)?;

        let mapped =
            device.map_memory(buffers[3].memory, 0, plan.texel_bytes, vk::MemoryMapFlags::empty())?;
        let texels = std::slice::from_raw_parts(mapped.cast::<u8>(), plan.texel_bytes as usize).to_vec();
        device.unmap_memory(buffers[3].memory);
        for Buffer { buffer, memory } in buffers {
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
        device.destroy_command_pool(commands, None);
        device.destroy_descriptor_pool(pool, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_set_layout(set_layout, None);
        device.destroy_device(None);
        compare(&blocks, &plan, &data, &texels)
    }
}

/// Counts texels that the processor decodes to the same bytes; one that is another is an error.
fn compare(blocks: &Blocks, plan: &Plan, data: &[u8], texels: &[u8]) -> Result<usize, Box<dyn Error>> {
    let bytes = blocks.format.texel().bytes();
    let mut count = 0;
    for (number, level) in plan.levels.iter().enumerate() {
        let mut expected = vec![0; blocks.format.output_bytes(level.extent).ok_or("too large")?];
        decode_into(blocks.format, level.extent, &data[level.blocks as usize..], &mut expected)?;
        let rows = texels[level.texels as usize..].chunks(level.row as usize);
        for (row, expected) in rows.zip(expected.chunks(level.extent.width as usize * bytes)) {
            if &row[..expected.len()] != expected {
                return Err(format!("level {number} is another").into());
            }
        }
        count += expected.len() / bytes;
    }
    Ok(count)
}

#[allow(dead_code)]
fn main() -> Result<(), Box<dyn Error>> {
    match run()? {
        Some(texels) => println!("{texels} texels as on the CPU"),
        None => println!("there is no Vulkan device"),
    }
    Ok(())
}
