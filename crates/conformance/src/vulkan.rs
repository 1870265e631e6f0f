//! What the `spirv` and `glsl` engines of all suites share: a device in a worker process, and the way to its code.

use crate::limit::LIMIT;
use crate::{Error, Request};
use std::time::Duration;
use xenoglot::host::Language as HostLanguage;
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_ir::Module;
use xenoglot_ir::module::ImageFormat;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand};
use xenoglot_vulkan::{DeviceInfo, DeviceOptions, TexelFormat, glslang};

/// Which language the module goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Our SPIR-V.
    Spirv,
    /// Our GLSL, compiled by glslang.
    Glsl,
}

impl Language {
    /// The engine's name.
    pub fn name(self) -> &'static str {
        match self {
            Language::Spirv => "spirv",
            Language::Glsl => "glsl",
        }
    }
}

/// The format of texels of an image's memory format; none where none is said.
pub(crate) fn texel_format(format: ImageFormat) -> Option<TexelFormat> {
    use TexelFormat as T;
    Some(match format {
        ImageFormat::Unknown | ImageFormat::UnknownSint | ImageFormat::UnknownUint => return None,
        ImageFormat::Rgba32f => T::R32G32B32A32Sfloat,
        ImageFormat::Rgba16f => T::R16G16B16A16Sfloat,
        ImageFormat::Rg32f => T::R32G32Sfloat,
        ImageFormat::Rg16f => T::R16G16Sfloat,
        ImageFormat::R32f => T::R32Sfloat,
        ImageFormat::R16f => T::R16Sfloat,
        ImageFormat::R11fG11fB10f => T::B10G11R11UfloatPack32,
        ImageFormat::Rgba16 => T::R16G16B16A16Unorm,
        ImageFormat::Rgb10A2 => T::A2B10G10R10UnormPack32,
        ImageFormat::Rgba8 => T::R8G8B8A8Unorm,
        ImageFormat::Rg16 => T::R16G16Unorm,
        ImageFormat::Rg8 => T::R8G8Unorm,
        ImageFormat::R16 => T::R16Unorm,
        ImageFormat::R8 => T::R8Unorm,
        ImageFormat::Rgba8Snorm => T::R8G8B8A8Snorm,
        ImageFormat::Rgba32i => T::R32G32B32A32Sint,
        ImageFormat::Rgba16i => T::R16G16B16A16Sint,
        ImageFormat::Rgba8i => T::R8G8B8A8Sint,
        ImageFormat::Rg32i => T::R32G32Sint,
        ImageFormat::Rg16i => T::R16G16Sint,
        ImageFormat::Rg8i => T::R8G8Sint,
        ImageFormat::R32i => T::R32Sint,
        ImageFormat::R16i => T::R16Sint,
        ImageFormat::R8i => T::R8Sint,
        ImageFormat::Rgba32ui => T::R32G32B32A32Uint,
        ImageFormat::Rgba16ui => T::R16G16B16A16Uint,
        ImageFormat::Rgba8ui => T::R8G8B8A8Uint,
        ImageFormat::Rg32ui => T::R32G32Uint,
        ImageFormat::Rg16ui => T::R16G16Uint,
        ImageFormat::Rg8ui => T::R8G8Uint,
        ImageFormat::R32ui => T::R32Uint,
        ImageFormat::R16ui => T::R16Uint,
        ImageFormat::R8ui => T::R8Uint,
        ImageFormat::R64i => T::R64Sint,
        ImageFormat::R64ui => T::R64Uint,
    })
}

/// What the device itself may take for a run. Workers are ended before, by the time of the case.
const PATIENCE: Duration = Duration::from_secs(1800);

/// What lavapipe reads to leave out LLVM's passes. Shaders run a few times here, and the largest would be compiled for
/// minutes.
const LAVAPIPE: (&str, &str) = ("GALLIVM_PERF", "nopt");

/// How to start a worker for a request.
pub(crate) fn worker(request: &Request) -> Result<WorkerCommand, Error> {
    let worker = match &request.worker {
        Some(worker) => worker.clone(),
        None => WorkerCommand::this_program().map_err(|e| Error::Device(e.to_string()))?,
    };
    let (name, value) = LAVAPIPE;
    Ok(if std::env::var_os(name).is_some() { worker } else { worker.env(name, value) })
}

/// A worker's device for a request.
pub(crate) fn isolated(request: &Request, command: WorkerCommand) -> Isolated {
    let mut device = DeviceOptions { timeout_ms: PATIENCE.as_millis() as u64, ..DeviceOptions::from_env() };
    if let Some(name) = &request.device {
        device.selector = Some(name.clone());
    }
    Isolated::new(command, IsolatedOptions { device, timeout: LIMIT })
}

/// The device a request means.
///
/// # Errors
/// [`Error::Device`] if there is none.
pub fn device(request: &Request) -> Result<DeviceInfo, Error> {
    let selector = request.device.clone().or(DeviceOptions::from_env().selector);
    let wanted = |name: &str| match &selector {
        Some(s) => name.to_lowercase().contains(&s.to_lowercase()),
        None => true,
    };
    let devices = isolated(request, worker(request)?).devices().map_err(|e| Error::Device(e.to_string()))?;
    let found = devices.into_iter().filter(|d| wanted(&d.name)).min_by_key(|d| d.kind);
    found.ok_or_else(|| Error::Device(format!("no Vulkan device matches {selector:?}")))
}

/// A device with a translator for it.
pub(crate) struct Runner {
    pub(crate) translator: Translator,
    pub(crate) device: Isolated,
    /// The device behind the language that the runner's engine goes through.
    pub(crate) host: Host,
}

impl Runner {
    /// A worker for `device`, which [`device`] found for the same request.
    pub(crate) fn new(language: Language, request: &Request, device: &DeviceInfo) -> Result<Runner, Error> {
        if language == Language::Glsl && !glslang::available() {
            return Err(Error::Device("glslangValidator is not installed".into()));
        }
        let mut host = Host::of_vulkan(device);
        host.language = match language {
            // The version that each module needs: what drivers are asked for most.
            Language::Spirv => HostLanguage::Spirv(None),
            Language::Glsl => HostLanguage::Glsl(xenoglot_glsl::Target::Vulkan450),
        };
        let device = isolated(request, worker(request)?);
        Ok(Runner { translator: Translator::new(), device, host })
    }

    /// The time of each job from now on: [`LIMIT`], if not told.
    pub(crate) fn set_limit(&mut self, limit: Duration) {
        self.device.set_timeout(limit);
    }

    /// The words for the device of a module, which is left as they were written.
    pub(crate) fn compile(&mut self, module: &mut Module, stage: glslang::Stage) -> Result<Vec<u32>, String> {
        self.compile_edited(module, stage, |_| {})
    }

    /// The words of a module that is edited after all passes.
    pub(crate) fn compile_edited(
        &mut self,
        module: &mut Module,
        stage: glslang::Stage,
        edit: impl FnOnce(&mut Module),
    ) -> Result<Vec<u32>, String> {
        let options = Options::default();
        let Ok(()) = self.translator.prepare(module, &self.host, &options, &mut ());
        edit(module);
        match self.translator.write(module, &self.host, &options).map_err(|e| e.to_string())? {
            Code::Words(words) => Ok(words),
            Code::Text(text) => glslang::compile(&text, stage).map_err(|e| e.to_string()),
            _ => Err("neither words nor text".into()),
        }
    }
}
