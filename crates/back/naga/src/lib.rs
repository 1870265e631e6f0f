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
//! * no 8-bit and 16-bit integers, which WGSL lacks;
//! * copies of what subgroup ops and atomics take from other blocks, and amounts of shifts as words;
//! * functions that take an image for accesses to elements of arrays, whose type naga's reader does not find. They, and counts of
//!   layers, are put right in the module that it makes.
//!
//! ```
//! use xenoglot_ir::text::{Limits, parse};
//! use xenoglot_ir::verify;
//! use xenoglot_naga::{Options, to_wgsl};
//!
//! let module = parse(
//!     r#"module compute "double" {
//!   storage @data = set 0 binding 0 readwrite oob zero
//!   entry func @main() {
//!   block0:
//!     v0 : i32 = const 0
//!     v1 : i32 = load storage @data align 4, v0
//!     v2 : i32 = iadd v1, v1
//!     store storage @data align 4, v0, v2
//!     return
//!   }
//! }"#,
//!     &Limits::default(),
//! )?;
//! verify(&module)?;
//! let words = xenoglot_spirv::emit(&module, &xenoglot_spirv::Options::for_naga())?;
//! let wgsl = to_wgsl(&words, &Options::default())?;
//! assert!(wgsl.contains("@compute"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod repair;

use naga::back::{hlsl, msl, wgsl};
use naga::front::spv;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::panic::{AssertUnwindSafe, catch_unwind};
use thiserror::Error;

pub use naga::back::hlsl::ShaderModel;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 4;

/// The register space of push constants in HLSL: they are at `b0` there.
pub const ROOT_CONSTANTS_SPACE: u8 = 200;

/// The shader model of a version, 5.0 to 6.9.
pub fn shader_model(major: u8, minor: u8) -> Option<ShaderModel> {
    use ShaderModel as M;
    let five = [M::V5_0, M::V5_1];
    let six = [M::V6_0, M::V6_1, M::V6_2, M::V6_3, M::V6_4, M::V6_5, M::V6_6, M::V6_7, M::V6_8, M::V6_9];
    let of_major: &[ShaderModel] = match major {
        5 => &five,
        6 => &six,
        _ => &[],
    };
    of_major.get(usize::from(minor)).copied()
}

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
    /// The target language has nothing for what the module uses, or naga does not know how to say it there.
    #[error("{language} cannot express the module: {reason}")]
    Unsupported {
        /// The language.
        language: &'static str,
        /// What there is nothing for.
        reason: String,
    },
    /// A writer refused the module.
    #[error("naga cannot write the module: {0}")]
    Write(String),
    /// naga panicked: it met a case that it holds for impossible.
    #[error("naga cannot write the module, and panicked: {0}")]
    Panicked(String),
}

/// A language, and what naga's writer cannot do in it. The writers take the module for one that their users have
/// checked by these capabilities, and panic where it is not.
struct Language {
    name: &'static str,
    lacks: Capabilities,
}

/// Its writer knows no ray queries.
const WGSL: Language = Language { name: "WGSL", lacks: Capabilities::RAY_QUERY };
/// The language has no doubles; its writer knows neither ray tracing stages nor the vertices that a ray hit.
const MSL: Language = Language {
    name: "Metal",
    lacks: Capabilities::FLOAT64
        .union(Capabilities::RAY_TRACING_PIPELINE)
        .union(Capabilities::RAY_HIT_VERTEX_POSITION),
};
/// Its writer knows no ray tracing stages, no vertices that a ray hit and no cooperative matrices.
const HLSL: Language = Language {
    name: "HLSL",
    lacks: Capabilities::RAY_TRACING_PIPELINE
        .union(Capabilities::RAY_HIT_VERTEX_POSITION)
        .union(Capabilities::COOPERATIVE_MATRIX),
};

/// The SPIR-V module as WGSL.
///
/// # Errors
/// See [`Error`](enum@Error).
pub fn to_wgsl(words: &[u32], options: &Options) -> Result<String, Error> {
    written(words, options, &WGSL, |module, info| {
        wgsl::write_string(module, info, wgsl::WriterFlags::empty()).map_err(|e| e.to_string())
    })
}

/// The SPIR-V module as the Metal Shading Language. Resources get the slots naga makes up.
///
/// # Errors
/// See [`Error`](enum@Error).
pub fn to_msl(words: &[u32], options: &Options) -> Result<String, Error> {
    let target = msl::Options {
        lang_version: options.metal,
        force_loop_bounding: options.bound_loops,
        zero_initialize_workgroup_memory: false,
        ..msl::Options::default()
    };
    written(words, options, &MSL, |module, info| {
        let pipeline = msl::PipelineOptions::default();
        let (text, _) = msl::write_string(module, info, &target, &pipeline).map_err(|e| e.to_string())?;
        Ok(text)
    })
}

/// The SPIR-V module as HLSL. Resources get the registers naga makes up, push constants [`ROOT_CONSTANTS_SPACE`].
///
/// # Errors
/// See [`Error`](enum@Error).
pub fn to_hlsl(words: &[u32], options: &Options) -> Result<String, Error> {
    let target = hlsl::Options {
        shader_model: options.shader_model,
        force_loop_bounding: options.bound_loops,
        zero_initialize_workgroup_memory: false,
        // Push constants are root constants in a space of their own, which no descriptor set is likely to have.
        immediates_target: Some(hlsl::BindTarget {
            space: ROOT_CONSTANTS_SPACE,
            ..hlsl::BindTarget::default()
        }),
        ..hlsl::Options::default()
    };
    written(words, options, &HLSL, |module, info| {
        let mut text = String::new();
        let pipeline = hlsl::PipelineOptions::default();
        let mut writer = hlsl::Writer::new(&mut text, &target, &pipeline);
        writer.write(module, info, None).map_err(|e| e.to_string())?;
        Ok(text)
    })
}

/// The module read, checked for the language, and written.
fn written(
    words: &[u32],
    options: &Options,
    language: &Language,
    write: impl FnOnce(&naga::Module, &ModuleInfo) -> Result<String, String>,
) -> Result<String, Error> {
    // naga promises no panics for valid modules only, and not for every writer.
    let all = || {
        let (module, info) = read(words, options, language)?;
        write(&module, &info).map_err(Error::Write)
    };
    catch_unwind(AssertUnwindSafe(all)).unwrap_or_else(|payload| {
        let said = payload.downcast_ref::<String>().cloned();
        let said = said.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(Error::Panicked(said.unwrap_or_default()))
    })
}

fn read(words: &[u32], options: &Options, language: &Language) -> Result<(naga::Module, ModuleInfo), Error> {
    let reader = spv::Options {
        adjust_coordinate_space: options.flip_y,
        strict_capabilities: true,
        ..spv::Options::default()
    };
    let mut module =
        spv::Frontend::new(words.iter().copied(), &reader).parse().map_err(|e| Error::Read(e.to_string()))?;
    repair::repair(&mut module);
    let all = Capabilities::all();
    let info = match validate(&module, all - language.lacks) {
        Ok(info) => info,
        Err(reason) => {
            // The module is sound where everything is allowed: then the language lacks something.
            validate(&module, all).map_err(Error::Validate)?;
            return Err(Error::Unsupported { language: language.name, reason });
        }
    };
    Ok((module, info))
}

fn validate(module: &naga::Module, capabilities: Capabilities) -> Result<ModuleInfo, String> {
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.validate(module).map_err(|e| causes(e.as_inner()))
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
