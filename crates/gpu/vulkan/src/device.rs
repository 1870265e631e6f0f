//! An opened device: its queue, its memory, and handles that destroy themselves.

use crate::error::Named;
use crate::info::{FeatureChain, OLDEST_API};
use crate::instance::Instance;
use crate::pipelines::{PipelineStore, Pipelines};
use crate::{DeviceInfo, Error};
use ash::vk;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The environment variable [`DeviceOptions::from_env`] takes the selector from.
pub const DEVICE_VARIABLE: &str = "XENOGLOT_VULKAN_DEVICE";

/// The environment variable that makes [`DeviceOptions::from_env`] ask for validation, when it is `1`.
pub const VALIDATION_VARIABLE: &str = "XENOGLOT_VULKAN_VALIDATION";

/// Which device to open, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceOptions {
    /// A part of the device's name, upper and lower case alike. `None` takes the first of the best kind, in the order
    /// of [`crate::DeviceKind`] and then of the loader.
    pub selector: Option<String>,
    /// Enables `robustBufferAccess` where the device has it: accesses outside a buffer stay inside its memory or read
    /// zero.
    pub robust_buffer_access: bool,
    /// Loads the Khronos validation layer and turns its errors into [`Error::Validation`].
    pub validation: bool,
    /// How long one dispatch or draw may take, in milliseconds. A device that takes longer is given up: see
    /// [`Error::Timeout`].
    pub timeout_ms: u64,
}

impl Default for DeviceOptions {
    /// Any device, robust, no validation, ten seconds.
    fn default() -> DeviceOptions {
        DeviceOptions { selector: None, robust_buffer_access: true, validation: false, timeout_ms: 10_000 }
    }
}

impl DeviceOptions {
    /// The defaults, with the selector of [`DEVICE_VARIABLE`] and validation as [`VALIDATION_VARIABLE`] says.
    pub fn from_env() -> DeviceOptions {
        DeviceOptions {
            selector: std::env::var(DEVICE_VARIABLE).ok().filter(|name| !name.is_empty()),
            validation: std::env::var_os(VALIDATION_VARIABLE).is_some_and(|value| value == "1"),
            ..DeviceOptions::default()
        }
    }
}

/// An opened device. Pipelines keep it open.
pub struct Device {
    pub(crate) shared: Arc<Shared>,
}

impl Device {
    /// All devices of the host, in the loader's order.
    ///
    /// # Errors
    /// [`Error::NoVulkan`] on a host without Vulkan.
    pub fn list() -> Result<Vec<DeviceInfo>, Error> {
        let devices = Instance::new(false)?.devices()?;
        Ok(devices.into_iter().map(|(_, info)| info).collect())
    }

    /// Opens a device with every feature it has enabled, robust buffer access as the options say.
    ///
    /// # Errors
    /// [`Error::NoVulkan`] on a host without Vulkan, [`Error::NoDevice`] when no device matches,
    /// [`Error::Unsupported`] when the one that matches is older than Vulkan 1.2 or has no compute queue.
    pub fn open(options: &DeviceOptions) -> Result<Device, Error> {
        Device::choose(options, None)
    }

    /// The same with a store that keeps what the driver compiles: it is read now, and written when the device is closed.
    ///
    /// What is in the store reaches the driver as it is: whoever may write it is trusted as much as this program.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open_with(options: &DeviceOptions, store: Arc<dyn PipelineStore>) -> Result<Device, Error> {
        Device::choose(options, Some(store))
    }

    fn choose(options: &DeviceOptions, store: Option<Arc<dyn PipelineStore>>) -> Result<Device, Error> {
        let instance = Instance::new(options.validation)?;
        let mut devices = instance.devices()?;
        let available = devices.iter().map(|(_, info)| info.name.clone()).collect();
        if let Some(selector) = &options.selector {
            let selector = selector.to_lowercase();
            devices.retain(|(_, info)| info.name.to_lowercase().contains(&selector));
        }
        // `min_by_key` takes the first of equals.
        let Some((physical, info)) = devices.into_iter().min_by_key(|(_, info)| info.kind) else {
            return Err(Error::NoDevice { selector: options.selector.clone(), available });
        };
        let mut shared = Shared::new(instance, physical, info, options)?;
        if let Some(store) = store {
            // SAFETY: the physical device comes from this instance.
            let properties = unsafe { shared.instance.raw.get_physical_device_properties(physical) };
            shared.pipelines = Pipelines::open(&shared.raw, &properties, store)?;
        }
        Ok(Device { shared: Arc::new(shared) })
    }

    /// What the device says of itself.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }
}

/// What pipelines and buffers share of a device.
pub(crate) struct Shared {
    pub raw: ash::Device,
    pub info: DeviceInfo,
    pub transform_feedback: Option<ash::ext::transform_feedback::Device>,
    pub mesh: Option<ash::ext::mesh_shader::Device>,
    pub structures: Option<ash::khr::acceleration_structure::Device>,
    pub rays: Option<ash::khr::ray_tracing_pipeline::Device>,
    pub pipelines: Pipelines,
    physical: vk::PhysicalDevice,
    memory_types: Vec<vk::MemoryType>,
    queue: Mutex<Queue>,
    /// The queue takes draws, not only dispatches.
    pub draws: bool,
    /// The device never came back from a job: its objects may be in use, so they are leaked.
    stuck: AtomicBool,
    timeout: Duration,
    // Last, so that it outlives the device.
    instance: Instance,
}

/// The queue with the one command buffer that is recorded anew for each job.
struct Queue {
    raw: vk::Queue,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    done: vk::Fence,
}

impl Shared {
    fn new(
        instance: Instance,
        physical: vk::PhysicalDevice,
        info: DeviceInfo,
        options: &DeviceOptions,
    ) -> Result<Shared, Error> {
        let (major, minor, patch) = info.api_version;
        let api_version = vk::make_api_version(0, major, minor, patch);
        if api_version < OLDEST_API {
            return Err(Error::Unsupported(format!("Vulkan 1.2 (it has {major}.{minor})")));
        }
        // SAFETY: the physical device comes from this instance.
        let families = unsafe { instance.raw.get_physical_device_queue_family_properties(physical) };
        let with = |flags| families.iter().position(|family| family.queue_flags.contains(flags));
        let both = with(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let family = both
            .or_else(|| with(vk::QueueFlags::COMPUTE))
            .and_then(|index| u32::try_from(index).ok())
            .ok_or_else(|| Error::Unsupported("a queue for compute".to_owned()))?;

        let mut chain = FeatureChain::query(&instance.raw, physical, api_version);
        if !options.robust_buffer_access {
            chain.core.robust_buffer_access = vk::FALSE;
        }
        let extensions = chain.extensions;
        let names = extensions.names();
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let mut features = chain.link();
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut features);
        // SAFETY: the queue family exists, the extensions are offered, and the features are those the device has.
        let raw = unsafe { instance.raw.create_device(physical, &create, None) }.named("vkCreateDevice")?;
        // A layer older than the device complains of feature structures that it does not know.
        let _ = instance.check_validation();
        // SAFETY: one queue of this family was asked for.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        // SAFETY: the physical device comes from this instance.
        let memory = unsafe { instance.raw.get_physical_device_memory_properties(physical) };
        let transform_feedback = info
            .features
            .transform_feedback
            .then(|| ash::ext::transform_feedback::Device::new(&instance.raw, &raw));
        let features = info.features;
        let mesh = features.mesh_shader.then(|| ash::ext::mesh_shader::Device::new(&instance.raw, &raw));
        let structures = features
            .acceleration_structure
            .then(|| ash::khr::acceleration_structure::Device::new(&instance.raw, &raw));
        let rays = features
            .ray_tracing_pipeline
            .then(|| ash::khr::ray_tracing_pipeline::Device::new(&instance.raw, &raw));
        // Complete from here on: what fails below leaves null handles, which `drop` may destroy.
        let mut shared = Shared {
            raw,
            info,
            transform_feedback,
            mesh,
            structures,
            rays,
            pipelines: Pipelines::default(),
            physical,
            memory_types: memory.memory_types_as_slice().to_vec(),
            queue: Mutex::new(Queue {
                raw: queue,
                pool: vk::CommandPool::null(),
                commands: vk::CommandBuffer::null(),
                done: vk::Fence::null(),
            }),
            draws: both.is_some(),
            stuck: AtomicBool::new(false),
            timeout: Duration::from_millis(options.timeout_ms),
            instance,
        };
        shared.queue.get_mut().unwrap_or_else(PoisonError::into_inner).complete(&shared.raw, family)?;
        Ok(shared)
    }

    /// Turns what the validation layer said since the last call into an error.
    pub(crate) fn check_validation(&self) -> Result<(), Error> {
        self.instance.check_validation()
    }

    /// Records commands, runs them, waits, and says how long running and waiting took.
    ///
    /// # Errors
    /// [`Error::Timeout`], and from then on [`Error::Stuck`], when the device does not finish.
    ///
    /// # Safety
    /// The commands are valid, and what they use stays alive until this returns (or, on [`Error::Timeout`], for ever:
    /// [`Owned`] sees to that).
    pub(crate) unsafe fn submit(
        self: &Arc<Self>,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<Duration, Error> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stuck() {
            return Err(Error::Stuck);
        }
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the lock makes this the only user of queue, pool, buffer and fence, and no earlier submission is
        // unfinished, as every one is waited for or leaves the device stuck.
        unsafe {
            self.raw
                .reset_command_pool(queue.pool, vk::CommandPoolResetFlags::empty())
                .named("vkResetCommandPool")?;
            self.raw.reset_fences(&[queue.done]).named("vkResetFences")?;
            self.raw.begin_command_buffer(queue.commands, &begin).named("vkBeginCommandBuffer")?;
        }
        record(queue.commands);
        // SAFETY: as above; the recorded commands are the caller's promise.
        unsafe {
            let written = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ)];
            self.raw.cmd_pipeline_barrier(
                queue.commands,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &written,
                &[],
                &[],
            );
            self.raw.end_command_buffer(queue.commands).named("vkEndCommandBuffer")?;
            let commands = [queue.commands];
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            let start = Instant::now();
            self.raw.queue_submit(queue.raw, &submit, queue.done).named("vkQueueSubmit")?;
            let nanoseconds = u64::try_from(self.timeout.as_nanos()).unwrap_or(u64::MAX);
            match self.raw.wait_for_fences(&[queue.done], true, nanoseconds) {
                Ok(()) => {}
                Err(vk::Result::TIMEOUT) => {
                    self.stuck.store(true, Ordering::Release);
                    // The job may still run in the driver's threads, so the device is never destroyed.
                    std::mem::forget(Arc::clone(self));
                    return Err(Error::Timeout(self.timeout.as_millis() as u64));
                }
                Err(other) => return Err(other).named("vkWaitForFences"),
            }
            let elapsed = start.elapsed();
            self.check_validation()?;
            Ok(elapsed)
        }
    }

    /// What can be done with a format.
    pub(crate) fn format_properties(&self, format: vk::Format) -> vk::FormatProperties {
        // SAFETY: the physical device comes from this instance.
        unsafe { self.instance.raw.get_physical_device_format_properties(self.physical, format) }
    }

    /// How large such images may be; `None` where the device does not make them.
    pub(crate) fn image_limits(&self, create: &vk::ImageCreateInfo) -> Option<vk::ImageFormatProperties> {
        // SAFETY: the physical device comes from this instance.
        unsafe {
            self.instance.raw.get_physical_device_image_format_properties(
                self.physical,
                create.format,
                create.image_type,
                create.tiling,
                create.usage,
                create.flags,
            )
        }
        .ok()
    }

    /// What tables of shaders for rays have to look like.
    pub(crate) fn ray_properties(&self) -> vk::PhysicalDeviceRayTracingPipelinePropertiesKHR<'static> {
        let mut rays = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
        if self.rays.is_some() {
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut rays);
            // SAFETY: the physical device comes from this instance and has the structure's extension.
            unsafe {
                self.instance.raw.get_physical_device_properties2(self.physical, &mut properties);
            }
        }
        rays
    }

    fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Acquire)
    }

    /// The first memory type of the mask that the host can map without flushing; cached by the host if there is one,
    /// since results are read back.
    fn host_memory_type(&self, mask: u32) -> Result<u32, Error> {
        let plain = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let with = |flags: vk::MemoryPropertyFlags| {
            (0_u32..)
                .zip(&self.memory_types)
                .find(|(index, kind)| mask >> index & 1 == 1 && kind.property_flags.contains(flags))
                .map(|(index, _)| index)
        };
        with(plain | vk::MemoryPropertyFlags::HOST_CACHED)
            .or_else(|| with(plain))
            .ok_or_else(|| Error::Unsupported("memory that the host can map".to_owned()))
    }
}

impl Queue {
    fn complete(&mut self, device: &ash::Device, family: u32) -> Result<(), Error> {
        let pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(family);
        // SAFETY: the family is the one the device was made with.
        self.pool = unsafe { device.create_command_pool(&pool, None) }.named("vkCreateCommandPool")?;
        let allocate =
            vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool was just made.
        let commands =
            unsafe { device.allocate_command_buffers(&allocate) }.named("vkAllocateCommandBuffers")?;
        self.commands = commands.first().copied().unwrap_or_default();
        // SAFETY: no preconditions.
        self.done =
            unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }.named("vkCreateFence")?;
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: every submission was waited for, and all other objects of the device hold it by reference count,
        // so these are the last ones. Null handles are allowed.
        unsafe {
            self.pipelines.close(&self.raw);
            self.raw.destroy_fence(queue.done, None);
            self.raw.destroy_command_pool(queue.pool, None);
            self.raw.destroy_device(None);
        }
    }
}

/// A handle that destroys itself, unless the device is stuck and may still use it.
pub(crate) struct Owned<H: Destroy> {
    pub raw: H,
    shared: Arc<Shared>,
}

impl<H: Destroy> Owned<H> {
    pub(crate) fn new(shared: &Arc<Shared>, raw: H) -> Owned<H> {
        Owned { raw, shared: Arc::clone(shared) }
    }
}

impl<H: Destroy> Drop for Owned<H> {
    fn drop(&mut self) {
        if !self.shared.is_stuck() {
            // SAFETY: the handle came from this device and nothing else destroys it; no submission is unfinished, and
            // owners order their fields so that users go before what they use.
            unsafe { self.raw.destroy(&self.shared.raw) }
        }
    }
}

/// A kind of object a device makes.
pub(crate) trait Destroy: Copy {
    /// # Safety
    /// As for the Vulkan command that destroys the object.
    unsafe fn destroy(self, device: &ash::Device);
}

macro_rules! destroy {
    ($($handle:ident => $command:ident),* $(,)?) => {
        $(impl Destroy for vk::$handle {
            unsafe fn destroy(self, device: &ash::Device) {
                // SAFETY: passed on to the caller.
                unsafe { device.$command(self, None) }
            }
        })*
    };
}

destroy! {
    Buffer => destroy_buffer,
    BufferView => destroy_buffer_view,
    DescriptorPool => destroy_descriptor_pool,
    DescriptorSetLayout => destroy_descriptor_set_layout,
    DeviceMemory => free_memory,
    Framebuffer => destroy_framebuffer,
    Image => destroy_image,
    ImageView => destroy_image_view,
    Pipeline => destroy_pipeline,
    PipelineLayout => destroy_pipeline_layout,
    RenderPass => destroy_render_pass,
    Sampler => destroy_sampler,
    SamplerYcbcrConversion => destroy_sampler_ycbcr_conversion,
    ShaderModule => destroy_shader_module,
}

/// A buffer in mapped memory.
pub(crate) struct HostBuffer {
    // The buffer before its memory: fields drop in this order.
    pub buffer: Owned<vk::Buffer>,
    memory: Owned<vk::DeviceMemory>,
    /// Bytes, at least one: Vulkan has no empty buffers.
    pub size: u64,
}

impl HostBuffer {
    /// A buffer with these contents; of four zero bytes when there are none.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        usage: vk::BufferUsageFlags,
        contents: &[u8],
    ) -> Result<HostBuffer, Error> {
        let contents = if contents.is_empty() { &[0; 4] } else { contents };
        let buffer = HostBuffer::unwritten(shared, usage, contents.len() as u64)?;
        // SAFETY: the mapping is as long as the contents.
        buffer.with_mapping(|bytes| unsafe {
            std::ptr::copy_nonoverlapping(contents.as_ptr(), bytes, contents.len());
        })?;
        Ok(buffer)
    }

    /// A buffer of zeros.
    pub(crate) fn zeroed(
        shared: &Arc<Shared>,
        usage: vk::BufferUsageFlags,
        size: u64,
    ) -> Result<HostBuffer, Error> {
        let buffer = HostBuffer::unwritten(shared, usage, size.max(4))?;
        // SAFETY: the mapping is of this size, which as a successful allocation fits the address space.
        buffer.with_mapping(|bytes| unsafe { std::ptr::write_bytes(bytes, 0, buffer.size as usize) })?;
        Ok(buffer)
    }

    fn unwritten(shared: &Arc<Shared>, usage: vk::BufferUsageFlags, size: u64) -> Result<HostBuffer, Error> {
        let create = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the size is not zero.
        let raw = unsafe { shared.raw.create_buffer(&create, None) }.named("vkCreateBuffer")?;
        let buffer = Owned::new(shared, raw);
        // SAFETY: the buffer is of this device.
        let needs = unsafe { shared.raw.get_buffer_memory_requirements(raw) };
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(shared.host_memory_type(needs.memory_type_bits)?);
        if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            allocate = allocate.push_next(&mut flags);
        }
        // SAFETY: the type is one of the device's.
        let memory = unsafe { shared.raw.allocate_memory(&allocate, None) }.named("vkAllocateMemory")?;
        let memory = Owned::new(shared, memory);
        // SAFETY: the memory is fresh, large enough and of a type the buffer allows.
        unsafe { shared.raw.bind_buffer_memory(raw, memory.raw, 0) }.named("vkBindBufferMemory")?;
        Ok(HostBuffer { buffer, memory, size })
    }

    /// Writes the first bytes; those that do not fit are left out.
    pub(crate) fn write(&self, contents: &[u8]) -> Result<(), Error> {
        let length = contents.len().min(self.size as usize);
        // SAFETY: the mapping is at least as long, and no submission runs.
        self.with_mapping(|bytes| unsafe {
            std::ptr::copy_nonoverlapping(contents.as_ptr(), bytes, length);
        })
    }

    /// The first `length` bytes, all there are when it is larger.
    ///
    /// What the device wrote is there when [`Shared::submit`] has returned.
    pub(crate) fn read(&self, length: u64) -> Result<Vec<u8>, Error> {
        let mut contents = vec![0; length.min(self.size) as usize];
        // SAFETY: the mapping is at least as long, and no submission runs.
        self.with_mapping(|bytes| unsafe {
            std::ptr::copy_nonoverlapping(bytes, contents.as_mut_ptr(), contents.len());
        })?;
        Ok(contents)
    }

    /// Maps the memory for the time of the call; the pointer is good for `size` bytes.
    fn with_mapping(&self, access: impl FnOnce(*mut u8)) -> Result<(), Error> {
        let device = &self.buffer.shared.raw;
        // SAFETY: host-visible memory that is not mapped: only this function maps it, and always unmaps it.
        unsafe {
            let bytes = device
                .map_memory(self.memory.raw, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .named("vkMapMemory")?;
            access(bytes.cast());
            device.unmap_memory(self.memory.raw);
        }
        Ok(())
    }
}
