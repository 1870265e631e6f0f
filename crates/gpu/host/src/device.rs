//! Choosing and opening a device.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use xenoglot::Host;
use xenoglot::host::Language;
use xenoglot_cache::{Cache, Key};

use crate::Error;
use crate::compilers::Compilers;
use crate::pipelines::{Pipelines, driver};

/// The environment variable [`DeviceOptions::from_env`] takes the selector from.
pub const DEVICE_VARIABLE: &str = "XENOGLOT_VULKAN_DEVICE";

/// Storage buffers that programs may use: WebGPU's default.
const STORAGE_BUFFERS: u32 = 8;

/// How long an error waits for the work of a device that may be lost.
const LAST_WORK: Duration = Duration::from_secs(1);

/// Bytes of a cache that nobody handed in. Programs that are used are held by who uses them.
const MEMORY: u64 = 16 << 20;

/// Which device to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceOptions {
    /// A part of the device's name, upper and lower case alike. `None` takes the first of the best kind: discrete,
    /// integrated, virtual, a processor.
    pub selector: Option<String>,
    /// How long [`Device::wait`] and [`Device::read`] wait, in seconds.
    pub timeout_s: u64,
}

impl Default for DeviceOptions {
    /// Any device, ten seconds.
    fn default() -> DeviceOptions {
        DeviceOptions { selector: None, timeout_s: 10 }
    }
}

impl DeviceOptions {
    /// The defaults, with the selector of [`DEVICE_VARIABLE`].
    pub fn from_env() -> DeviceOptions {
        let selector = std::env::var(DEVICE_VARIABLE).ok().filter(|name| !name.is_empty());
        DeviceOptions { selector, ..DeviceOptions::default() }
    }
}

/// An opened device. Clones are the same device; all of it may be used from several threads.
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) raw: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    name: Arc<str>,
    native: bool,
    /// What modules are compiled for.
    pub(crate) host: Arc<Host>,
    /// Programs run on the processor.
    software: bool,
    pub(crate) timeout_s: u64,
    /// Errors that no call reported.
    failure: Arc<Mutex<Option<String>>>,
    /// Why the device is gone, once it is. One that the caller has opened tells the caller.
    lost: Arc<OnceLock<String>>,
    /// Code of modules.
    pub(crate) cache: Arc<Cache>,
    pub(crate) pipelines: Option<Arc<Pipelines>>,
    /// The device and its driver: an update of the driver makes it another.
    pub(crate) driver: Key,
    /// What compiles programs before they reach the driver here.
    pub(crate) compilers: Option<Arc<Compilers>>,
}

impl Device {
    /// Opens a device with the limits it has, and a cache in memory.
    ///
    /// # Errors
    /// [`Error::NoDevice`], and [`Error::Open`] if the driver refuses.
    pub fn open(options: &DeviceOptions) -> Result<Device, Error> {
        let versions = xenoglot_cache::translate::present();
        Device::open_with(options, &Arc::new(Cache::with_memory(MEMORY, versions)))
    }

    /// Opens a device whose programs are looked up in a cache before they are translated. One on disk has what the driver
    /// made of them, too.
    ///
    /// Code from the cache reaches drivers as it is: whoever may write its folder, or hands in packs, is trusted as much as
    /// this program.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open_with(options: &DeviceOptions, cache: &Arc<Cache>) -> Result<Device, Error> {
        let adapter = choose(options)?;
        let pipelines = Pipelines::features(&adapter, cache);
        Device::of(&adapter, options.timeout_s, cache, pipelines)
    }

    /// The same device, whose programs of modules are compiled in other processes first: what makes the driver crash or hang,
    /// or takes all memory, is an error of that program, and is kept in the cache as one. What the driver makes of a program is
    /// kept there, too, where the driver gives it; so this process does not compile it again.
    ///
    /// A program that is refused so is tried again after an update of the driver or of this program.
    ///
    /// # Errors
    /// [`Error::Open`] where the processes do not start, or find another device or driver.
    pub fn with_compilers(self, compilers: Arc<Compilers>) -> Result<Device, Error> {
        compilers.check(&self)?;
        Ok(Device { compilers: Some(compilers), ..self })
    }

    /// Opens the device of this name for [`crate::Compiler`], with all that drivers tell of pipelines.
    pub(crate) fn open_to_compile(name: &str) -> Result<Device, Error> {
        let options = DeviceOptions { selector: Some(name.to_owned()), ..DeviceOptions::default() };
        let adapter = choose(&options)?;
        let more = adapter.features() & wgpu::Features::PIPELINE_CACHE;
        let cache = Arc::new(Cache::with_memory(MEMORY, xenoglot_cache::translate::present()));
        Device::of(&adapter, options.timeout_s, &cache, more)
    }

    /// Whether programs run on the processor.
    pub fn is_software(&self) -> bool {
        self.software
    }

    fn of(
        adapter: &wgpu::Adapter,
        timeout_s: u64,
        cache: &Arc<Cache>,
        more: wgpu::Features,
    ) -> Result<Device, Error> {
        let info = adapter.get_info();
        let native = is_native(info.backend, adapter.features());
        let features = if native { wgpu::Features::PASSTHROUGH_SHADERS } else { wgpu::Features::empty() };
        let more = more | adapter.features() & (wgpu::Features::SUBGROUP | wgpu::Features::TIMESTAMP_QUERY);
        let descriptor = wgpu::DeviceDescriptor {
            required_features: features | more,
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (raw, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| Error::Open { name: info.name.clone(), reason: e.to_string() })?;
        let failure = Arc::new(Mutex::new(None));
        let first = Arc::clone(&failure);
        raw.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_string());
        }));
        let lost = Arc::new(OnceLock::new());
        let note = Arc::clone(&lost);
        raw.set_device_lost_callback(move |reason, message| {
            // The first reason is the one that counts.
            let _ = note.set(format!("{reason:?}: {message}"));
        });
        let software = info.device_type == wgpu::DeviceType::Cpu;
        let host = Arc::new(host(Host::of_adapter(adapter, features), native));
        let pipelines = Pipelines::open(&raw, &info, cache).map(Arc::new);
        let (driver, compilers) = (driver(&info), None);
        let (name, cache) = (info.name.into(), Arc::clone(cache));
        Ok(Device {
            raw,
            queue,
            name,
            native,
            host,
            software,
            timeout_s,
            failure,
            lost,
            cache,
            pipelines,
            driver,
            compilers,
        })
    }

    /// A device that the caller has opened, with the limits and features that it was opened with. Its errors go to scopes of ours
    /// or to the caller's handler, and programs are not kept from run to run.
    ///
    /// On Vulkan with [`wgpu::Features::PASSTHROUGH_SHADERS`] programs are SPIR-V as we write it. Otherwise naga translates them,
    /// which keeps nothing of what forbids drivers to fuse or to reorder floats: results may differ in their last bits.
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Device {
        let info = device.adapter_info();
        let native = is_native(info.backend, device.features());
        Device {
            raw: device.clone(),
            queue: queue.clone(),
            name: info.name.as_str().into(),
            native,
            host: Arc::new(host(Host::of_device(device), native)),
            software: info.device_type == wgpu::DeviceType::Cpu,
            timeout_s: DeviceOptions::default().timeout_s,
            failure: Arc::new(Mutex::new(None)),
            lost: Arc::default(),
            cache: Arc::new(Cache::with_memory(MEMORY, xenoglot_cache::translate::present())),
            pipelines: None,
            driver: driver(&info),
            compilers: None,
        }
    }

    /// What wgpu has.
    pub fn wgpu(&self) -> (&wgpu::Device, &wgpu::Queue) {
        (&self.raw, &self.queue)
    }

    /// The same device opened once more, with a queue of its own, if its driver compiles in the queue.
    pub(crate) fn twin(&self) -> Result<Option<Device>, Error> {
        let options = DeviceOptions { selector: Some(self.name.to_string()), timeout_s: self.timeout_s };
        let open = || Device::of(&choose(&options)?, self.timeout_s, &self.cache, wgpu::Features::empty());
        self.software.then(open).transpose()
    }

    /// Where its programs are looked up.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether programs reach the driver as they are; elsewhere naga translates them.
    pub fn is_native(&self) -> bool {
        self.native
    }

    /// Whether WGSL programs may use subgroup operations.
    pub fn has_subgroups(&self) -> bool {
        self.raw.features().contains(wgpu::Features::SUBGROUP)
    }

    /// Whether [`crate::Commands::submit_timed`] measures.
    pub fn has_timestamps(&self) -> bool {
        self.raw.features().contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Most bytes of a buffer that programs read and write.
    pub fn max_buffer(&self) -> u64 {
        let limits = self.raw.limits();
        limits.max_buffer_size.min(limits.max_storage_buffer_binding_size)
    }

    /// Most texels of a two-dimensional texture along an axis.
    pub fn max_texture_side(&self) -> u32 {
        self.raw.limits().max_texture_dimension_2d
    }

    /// Most workgroups of a dispatch along an axis.
    pub fn max_groups(&self) -> u32 {
        self.raw.limits().max_compute_workgroups_per_dimension
    }

    /// What offsets of uniform buffers in [`crate::Commands::dispatch`] are multiples of, in bytes.
    pub fn uniform_alignment(&self) -> u32 {
        self.raw.limits().min_uniform_buffer_offset_alignment
    }

    /// Waits until all that was submitted is done.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::Device`], [`Error::Lost`].
    pub fn wait(&self) -> Result<(), Error> {
        let wait = wgpu::PollType::Wait {
            submission_index: None,
            timeout: Some(Duration::from_secs(self.timeout_s)),
        };
        let polled = self.raw.poll(wait);
        if let Some(reason) = self.lost.get() {
            return Err(Error::Lost(reason.clone()));
        }
        match polled {
            Ok(_) => self.check(),
            Err(wgpu::PollError::Timeout) => Err(Error::Timeout(self.timeout_s)),
            Err(error) => Err(Error::Device(error.to_string())),
        }
    }

    /// An error of a device that is still there; else that it is lost, which makes any call fail in some way.
    pub(crate) fn lost_or(&self, error: Error) -> Error {
        // The message that it is lost comes with a poll, once what was submitted before is done: an error may well wait.
        let timeout = Some(LAST_WORK.min(Duration::from_secs(self.timeout_s)));
        let _ = self.raw.poll(wgpu::PollType::Wait { submission_index: None, timeout });
        self.lost.get().map_or(error, |reason| Error::Lost(reason.clone()))
    }

    /// The first failure that no call has reported.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(reason) => Err(Error::Device(reason)),
        }
    }

    /// Does something with wgpu that may fail, and says how it did.
    ///
    /// # Errors
    /// What wgpu says of the first failure.
    pub fn attempt<T>(&self, action: impl FnOnce() -> T) -> Result<T, String> {
        let scopes =
            [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation]
                .map(|filter| self.raw.push_error_scope(filter));
        let result = action();
        // The last scope is popped first; all of them are popped.
        let errors = scopes.into_iter().rev().map(|scope| pollster::block_on(scope.pop()));
        match errors.fold(None, Option::or) {
            None => Ok(result),
            Some(error) => Err(error.to_string()),
        }
    }
}

/// Whether a device takes SPIR-V as it is.
fn is_native(backend: wgpu::Backend, features: wgpu::Features) -> bool {
    backend == wgpu::Backend::Vulkan && features.contains(wgpu::Features::PASSTHROUGH_SHADERS)
}

/// What programs are compiled for on a device that runs WGSL as `of_wgsl` says.
fn host(of_wgsl: Host, native: bool) -> Host {
    if native {
        // Drivers themselves refuse what they lack.
        Host { language: Language::Spirv(None), without: Default::default(), ..of_wgsl }
    } else {
        Host { language: Language::SpirvForNaga, ..of_wgsl }
    }
}

/// The first adapter of the best kind that matches and takes our programs.
fn choose(options: &DeviceOptions) -> Result<wgpu::Adapter, Error> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.retain(|adapter| {
        let limits = adapter.limits();
        let features = adapter.get_downlevel_capabilities().flags;
        features.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
            && limits.max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS
    });
    let available = adapters.iter().map(|adapter| adapter.get_info().name).collect();
    if let Some(selector) = &options.selector {
        let selector = selector.to_lowercase();
        adapters.retain(|adapter| adapter.get_info().name.to_lowercase().contains(&selector));
    }
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Cpu => 3,
        wgpu::DeviceType::Other => 4,
    };
    // `min_by_key` takes the first of equals.
    let best = adapters.into_iter().min_by_key(rank);
    best.ok_or_else(|| Error::NoDevice { selector: options.selector.clone(), available })
}
