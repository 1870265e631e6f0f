//! Programs for applications that use Vulkan, or WebGPU, by themselves.

use super::Error;
use super::encode::{self, ENCODER_PLAN_WORDS};
use super::plan::PLAN_WORDS;
use super::source::{self, Input, Target};
use crate::format::Format;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// What a program's binding is, in set 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A uniform buffer of so many bytes: [`super::Plan::uniform`], or [`super::EncoderPlan::uniform`].
    Uniform {
        /// Bytes.
        bytes: u32,
    },
    /// A storage buffer that is read.
    Read,
    /// A storage buffer that is written.
    Write,
}

/// A compute program: one that decodes all levels of a texture, by a [`super::Plan`], or one that encodes a picture, by a
/// [`super::EncoderPlan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// SPIR-V 1.0, without capabilities but `Shader`. Accesses outside of buffers stay within them.
    pub spirv: Vec<u32>,
    /// The same in WGSL.
    pub wgsl: String,
    /// The words of the buffer at binding 1; they do not change.
    pub tables: Vec<u32>,
    /// What bindings 0 to 3 are: the plan, the tables, what is read and what is written. Decoders read blocks and write texels in rows
    /// of [`super::Level::row`] bytes; encoders read texels and write blocks, in rows without padding.
    pub bindings: [Resource; 4],
}

impl Shader {
    /// The name of the entry point.
    pub const ENTRY: &str = "main";

    /// A program with a plan of so many words; nothing if it is no valid one.
    fn of(wgsl: String, tables: Vec<u32>, plan_words: usize) -> Option<Shader> {
        let uniform = Resource::Uniform { bytes: 4 * plan_words as u32 };
        let bindings = [uniform, Resource::Read, Resource::Read, Resource::Write];
        Some(Shader { spirv: translated(&wgsl)?, wgsl, tables, bindings })
    }
}

/// The program of a format. That of ASTC serves all footprints and profiles, which the plan says.
///
/// # Errors
/// [`Error::Format`] if the format has no program.
pub fn shader(format: Format) -> Result<Shader, Error> {
    let unknown = || Error::Format(format);
    let (wgsl, tables) = source::program(format, Input::Levels, Target::Buffer).ok_or_else(unknown)?;
    Shader::of(wgsl, tables, PLAN_WORDS).ok_or_else(unknown)
}

/// The program that encodes to a format. It runs over [`super::EncoderPlan::groups`].
///
/// # Errors
/// [`Error::Encoder`] if the format is none of [`super::Encoder::FORMATS`].
pub fn encoder_shader(format: Format) -> Result<Shader, Error> {
    let unknown = || Error::Encoder(format);
    let (wgsl, tables) = encode::source::program(format).ok_or_else(unknown)?;
    Shader::of(wgsl, tables, ENCODER_PLAN_WORDS).ok_or_else(unknown)
}

/// SPIR-V of a program; nothing if it were no valid one, which tests rule out for all formats.
fn translated(wgsl: &str) -> Option<Vec<u32>> {
    let module = naga::front::wgsl::parse_str(wgsl).ok()?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).ok()?;
    let options = spv::Options {
        lang_version: (1, 0),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            ..BoundsCheckPolicies::default()
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..spv::Options::default()
    };
    spv::write_vec(&module, &info, &options, None).ok()
}
