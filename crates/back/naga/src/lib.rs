//! WGSL, MSL and HLSL from our SPIR-V, through naga.
//!
//! The SPIR-V must be made with [`xenoglot_spirv::Options::for_naga`]:
//!
//! * switches as chains of ifs, since WGSL cannot leave or repeat a loop from inside a switch;
//! * no unordered float compares but `!=`, which naga reads as ordered ones, and no extended multiplication, which
//!   it does not read at all;
//! * minimum and maximum of integers as compares and selects: naga takes the sign from the type, and our integers
//!   are declared unsigned;
//! * logical and/or of vectors as selects, which naga knows for scalars only;
//! * infinities and NaNs by a function of their bits: WGSL has neither literals nor constant expressions for them;
//! * a phi in a loop's continue block for whatever the loop carries: naga's MSL and HLSL writers put that block in
//!   front of the body, and panic or write undeclared names where it uses what the body computes;
//! * no float controls and no `NoContraction`'s effect: the target languages have nothing like them, so results
//!   there are as exact as their compilers are by themselves;
//! * no 8-bit and 16-bit integers, which WGSL lacks.
#![deny(missing_docs)]

use naga::back::{hlsl, msl, wgsl};
use naga::front::spv;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use thiserror::Error;

pub use naga::back::hlsl::ShaderModel;

/// What the writers are asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Version of the Metal Shading Language, major and minor.
    pub metal: (u8, u8),
    /// Shader model of HLSL.
    pub shader_model: ShaderModel,
    /// Turn y of the position round, as naga does for SPIR-V made for Vulkan's coordinates.
    pub flip_y: bool,
    /// Bound the iterations of loops, as WebGPU implementations do, so that compilers cannot call an endless loop
    /// undefined.
    pub bound_loops: bool,
}

impl Default for Options {
    /// Metal 2.4, shader model 6.0, position and loops as they are.
    fn default() -> Options {
        Options { metal: (2, 4), shader_model: ShaderModel::V6_0, flip_y: false, bound_loops: false }
    }
}

/// Why naga gave no text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Error {
    /// The module uses something naga's SPIR-V reader does not take.
    #[error("naga cannot read the module: {0}")]
    Read(String),
    /// The module breaks a rule of naga's (and mostly WGSL's).
    #[error("naga refuses the module: {0}")]
    Validate(String),
    /// The target language cannot express the module, or naga does not know how.
    #[error("naga cannot write the module: {0}")]
    Write(String),
}

/// The SPIR-V module as WGSL.
///
/// # Errors
/// See [`Error`].
pub fn to_wgsl(words: &[u32], options: &Options) -> Result<String, Error> {
    let (module, info) = read(words, options)?;
    wgsl::write_string(&module, &info, wgsl::WriterFlags::empty()).map_err(|e| Error::Write(e.to_string()))
}

/// The SPIR-V module as the Metal Shading Language. Resources get the slots naga makes up.
///
/// # Errors
/// See [`Error`].
pub fn to_msl(words: &[u32], options: &Options) -> Result<String, Error> {
    let (module, info) = read(words, options)?;
    let target = msl::Options {
        lang_version: options.metal,
        force_loop_bounding: options.bound_loops,
        zero_initialize_workgroup_memory: false,
        ..msl::Options::default()
    };
    msl::write_string(&module, &info, &target, &msl::PipelineOptions::default())
        .map(|(text, _)| text)
        .map_err(|e| Error::Write(e.to_string()))
}

/// The SPIR-V module as HLSL. Resources get the registers naga makes up.
///
/// # Errors
/// See [`Error`].
pub fn to_hlsl(words: &[u32], options: &Options) -> Result<String, Error> {
    let (module, info) = read(words, options)?;
    let target = hlsl::Options {
        shader_model: options.shader_model,
        force_loop_bounding: options.bound_loops,
        zero_initialize_workgroup_memory: false,
        ..hlsl::Options::default()
    };
    let mut text = String::new();
    let pipeline = hlsl::PipelineOptions::default();
    hlsl::Writer::new(&mut text, &target, &pipeline)
        .write(&module, &info, None)
        .map_err(|e| Error::Write(e.to_string()))?;
    Ok(text)
}

fn read(words: &[u32], options: &Options) -> Result<(naga::Module, ModuleInfo), Error> {
    let reader = spv::Options {
        adjust_coordinate_space: options.flip_y,
        strict_capabilities: true,
        ..spv::Options::default()
    };
    let module =
        spv::Frontend::new(words.iter().copied(), &reader).parse().map_err(|e| Error::Read(e.to_string()))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|e| Error::Validate(causes(e.as_inner())))?;
    Ok((module, info))
}

/// An error with all its causes: naga's outermost messages say only where.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
