//! Runs one SPIR-V module on a Vulkan device, headless, and reads the results back.
//!
//! * [`Device`]: the devices of the host, and compute and vertex shaders run on one of them in this process. Bindings,
//!   vertex inputs and captured outputs are read from the module, so a run only brings data.
//! * [`isolated`]: the same in a worker process, for modules that are not known to be valid and drivers that are not
//!   known to survive them. Tests and the command line use this.
//! * [`glslang`]: GLSL to SPIR-V by Khronos' compiler.
//!
//! The Vulkan loader is opened when the first device is asked for. Building needs no system package, and a host without
//! Vulkan gets [`Error::NoVulkan`].
//!
//! This crate knows nothing of the IR or of any guest machine: SPIR-V and bytes go in, bytes come out. What it draws
//! goes to images that are read back; there are no surfaces.
//!
//! # What lavapipe does with floats
//!
//! Mesa 25.0.7 with LLVM 15, 32-bit floats, as `cargo test -p xenoglot-vulkan --test numerics -- --nocapture` shows for
//! any device and claims for this one:
//!
//! * It offers `SignedZeroInfNanPreserve` and `RoundingModeRTE`, no control over denormals. Compute shaders keep
//!   denormals. Vertex shaders take denormal operands for zero and make zero of denormal results, in comparisons, too;
//!   copies keep them.
//! * Exact: `+ - * /`, square root, rounding to integers, comparisons, conversions; `1/sqrt` is the rounded reciprocal
//!   of the rounded root. Conversions to integers saturate and make 0 of NaN.
//! * `Exp2` and `Log2` are within 3 units in the last place or 2⁻²¹; `Log2` of a denormal is far off.
//! * Products and sums are not fused, with `NoContraction` or without it; neither is `Fma`, which rounds twice.
//! * `FMin` and `FMax` are `NMin` and `NMax`: of a NaN and a number the number. Of two zeros either.
//! * Without `SignedZeroInfNanPreserve`, `x * 0` and, without `NoContraction`, `x - x` become 0 for every x, and sums of
//!   products may be factored out. With it both are exact, and `IsNan` sees every NaN.
//! * `RoundEven` of doubles adds a half and cuts off where a vector of them is wider than the host's registers: on x86 without
//!   AVX-512, unless `LP_NATIVE_VECTOR_WIDTH=128` makes vectors half as wide.
//! * A constant zero is dropped from sums whatever the module asks for: -0 + 0 gives -0, and 0 - 0 gives -0.
//!
//! # Example
//!
//! ```no_run
//! use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeRun, Device, DeviceOptions, glslang};
//!
//! let source = "#version 450\nlayout(set = 0, binding = 0) buffer B { uint x; }; void main() { x *= 2u; }";
//! let spirv = glslang::compile(source, glslang::Stage::Compute)?;
//! let device = Device::open(&DeviceOptions::from_env())?;
//! // SAFETY: glslang makes valid modules.
//! let pipeline = unsafe { device.prepare_compute(&spirv, "main") }?;
//! let data = 21_u32.to_le_bytes().to_vec();
//! let buffers = vec![BufferBinding { set: 0, binding: 0, kind: BufferKind::Storage, data }];
//! let output = pipeline.dispatch(&ComputeRun { buffers, push_constants: Vec::new(), groups: [1, 1, 1] })?;
//! assert_eq!(output.buffers[0], 42_u32.to_le_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

mod binding;
mod bindless;
mod bound;
mod child;
mod compute;
mod contents;
mod descriptors;
mod device;
mod dispatch;
mod error;
pub mod glslang;
mod graphics;
mod hex;
mod image;
mod info;
mod instance;
pub mod isolated;
mod job;
mod module;
mod pipelines;
mod rays;
mod render;
mod spread;
mod texel;
mod vertex;
mod ycbcr;

pub use compute::ComputePipeline;
pub use contents::{Contents, ImageContents, Numbers, Sampling, TextureContents, TextureShape, View};
pub use device::{DEVICE_VARIABLE, Device, DeviceOptions, VALIDATION_VARIABLE};
pub use error::{Error, WorkerError};
pub use info::{DeviceInfo, DeviceKind, Features, FloatControls, Limits};
pub use job::{
    AddressOf, AddressedBuffer, ArrayElement, BindlessJob, BufferBinding, BufferKind, Capture, ComputeJob,
    ComputeRun, DescriptorKind, DescriptorSlot, DispatchJob, Job, PipelineInput, PipelineJob, PipelineStage,
    RenderJob, RunOutput, SampleJob, SampledFrame, Stage, StageModule, Topology, VertexInput, VertexJob,
    VertexRun,
};
pub use job::{HitGroup, RayGeometry, RayJob};
pub use pipelines::PipelineStore;
pub use spread::spread;
pub use texel::TexelFormat;
pub use vertex::VertexPipeline;
