//! The facade: what embeds Xenoglot usually needs this crate alone.
//!
//! ```
//! use xenoglot::{Code, Host, pica};
//!
//! let source = "
//! .out o_pos position
//! .out o_col color
//! .fvec mvp[4]
//! .proc main
//!     dp4 o_pos.x, mvp[0], v0
//!     dp4 o_pos.y, mvp[1], v0
//!     dp4 o_pos.z, mvp[2], v0
//!     dp4 o_pos.w, mvp[3], v0
//!     mov o_col, v1
//!     end
//! .end";
//! let loaded = pica::load(source.as_bytes())?;
//! let mut lifted = pica::lift_executable(&loaded[0].shbin, 0, &pica::Options::default())?;
//! let host: Host = "gl-4.5".parse()?;
//! let code = xenoglot::compile(&mut lifted.module, &host, &Default::default())?;
//! let Code::Text(glsl) = code else { unreachable!() };
//! assert!(glsl.contains("gl_Position"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`guest::detect`] says what a file is; a [`Guest`](guest::Guest) loads, lists and lifts what is in it, whatever it is.
//! * [`pica`], [`maxwell`], [`dxil`], `mips` and `vpu` are the guests with all that is theirs alone. Each is a feature; the
//!   first three are on by default.
//! * [`Host`] describes what runs the code, and [`compile`] makes a module code for it: SPIR-V, GLSL and, with feature
//!   `naga`, WGSL, MSL and HLSL, with feature `native` the CPU's machine code. [`Translator`] does so for many modules with the same buffers.
//! * [`ir`], [`opt`], [`spirv`], [`glsl`] and, with their features, `native`, `naga` and `vulkan` are the crates whose types are in
//!   this one's signatures, and each guest's module re-exports its front end as `front`. No other crate of Xenoglot is needed as a dependency:
//!
//! ```
//! use xenoglot::{Code, Host, Options, Translator, guest, ir::Module, opt::pipeline::Level, spirv::Names};
//!
//! let (guest, _) = guest::detect(b".out o position\n.proc main\n mov o, v0\n end\n.end\n").unwrap();
//! let image = guest.load(b".out o position\n.proc main\n mov o, v0\n end\n.end\n")?;
//! let mut module: Module = image.lift(0, &guest.options())?;
//! let options = Options { level: Some(Level::Light), names: Names::Interface, ..Options::default() };
//! let code = Translator::new().compile(&mut module, &Host::default(), &options)?;
//! assert!(matches!(code, Code::Words(words) if words[0] == 0x0723_0203));
//! # Ok::<(), xenoglot::Error>(())
//! ```
#![deny(missing_docs)]

mod code;
#[cfg(feature = "dxil")]
pub mod dxil;
pub mod guest;
pub mod host;
mod ir_text;
#[cfg(feature = "maxwell")]
pub mod maxwell;
#[cfg(feature = "mips")]
pub mod mips;
#[cfg(feature = "pica")]
pub mod pica;
mod translator;
mod versions;
#[cfg(feature = "vpu")]
pub mod vpu;

pub use code::{Code, Floats, Options};
pub use host::Host;
pub use translator::{Translator, compile};
pub use versions::versions;
#[cfg(feature = "wgpu")]
pub use wgpu;
#[cfg(feature = "naga")]
pub use xenoglot_naga as naga;
#[cfg(feature = "native")]
pub use xenoglot_native as native;
#[cfg(feature = "vulkan")]
pub use xenoglot_vulkan as vulkan;
pub use {xenoglot_glsl as glsl, xenoglot_ir as ir, xenoglot_opt as opt, xenoglot_spirv as spirv};

use thiserror::Error;

/// Version of what this crate does between front ends, passes and writers. See [`versions`](fn@versions).
pub const VERSION: u16 = 18;

/// Why something was not translated.
#[derive(Debug, Error)]
pub enum Error {
    /// The bytes are nothing we know, and have nothing we know inside.
    #[error("not a shader of a known kind, and none inside")]
    UnknownFormat,
    /// A text is not UTF-8.
    #[error("{offset:#x}: not UTF-8")]
    Utf8 {
        /// Byte offset.
        offset: usize,
    },
    /// There is no executable with this number.
    #[error("there is no executable {index}; the file has {count}")]
    NoExecutable {
        /// The number asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Options of another guest than the program's.
    #[error("options of {given} mean nothing for {guest}")]
    ForeignOptions {
        /// The program's guest.
        guest: &'static str,
        /// The options'.
        given: &'static str,
    },
    /// Text of the IR cannot be read.
    #[error(transparent)]
    IrText(#[from] xenoglot_ir::text::ParseError),
    /// A module that was read is not sound.
    #[error("the module is not sound: {0}")]
    Unsound(#[from] xenoglot_ir::verify::VerifyErrors),
    /// A container is damaged.
    #[error(transparent)]
    #[cfg(feature = "pica")]
    Container(#[from] xenoglot_pica_shader::container::ContainerError),
    /// An assembly error with line and column.
    #[error(transparent)]
    #[cfg(feature = "pica")]
    Assembly(#[from] xenoglot_pica_shader::asm::AsmError),
    /// A program cannot be lifted.
    #[error(transparent)]
    #[cfg(feature = "pica")]
    Lift(#[from] xenoglot_pica_shader::lift::LiftError),
    /// A container of Maxwell programs is damaged.
    #[error(transparent)]
    #[cfg(feature = "maxwell")]
    MaxwellContainer(#[from] xenoglot_maxwell::container::ContainerError),
    /// A Maxwell program cannot be lifted.
    #[error(transparent)]
    #[cfg(feature = "maxwell")]
    MaxwellLift(#[from] xenoglot_maxwell::lift::LiftError),
    /// Code of a kernel refers to addresses of global data, which are not known.
    #[cfg(feature = "maxwell")]
    #[error(
        "{kernel}: its code refers to global data by relocations; give that data addresses, and link the file first"
    )]
    Unlinked {
        /// The kernel's name.
        kernel: String,
    },
    /// A DXBC container is damaged.
    #[error(transparent)]
    #[cfg(feature = "dxil")]
    DxilContainer(#[from] xenoglot_dxil::container::ContainerError),
    /// Bitcode is damaged.
    #[error(transparent)]
    #[cfg(feature = "dxil")]
    Bitcode(#[from] xenoglot_dxil::bitcode::BitcodeError),
    /// A DXIL shader cannot be lifted.
    #[error(transparent)]
    #[cfg(feature = "dxil")]
    DxilLift(#[from] xenoglot_dxil::lift::LiftError),
    /// A DXIL module's text is too long.
    #[error(transparent)]
    #[cfg(feature = "dxil")]
    DxilText(#[from] xenoglot_dxil::disasm::Limit),
    /// An ELF file of MIPS is damaged.
    #[error(transparent)]
    #[cfg(feature = "mips")]
    Elf(#[from] xenoglot_mips::container::elf::Error),
    /// An error in the Dragon's assembly, with its line.
    #[error(transparent)]
    #[cfg(feature = "vpu")]
    VpuAssembly(#[from] xenoglot_vpu::asm::AsmError),
    /// A program of the Dragon cannot be lifted.
    #[error(transparent)]
    #[cfg(feature = "vpu")]
    VpuLift(#[from] xenoglot_vpu::lift::LiftError),
    /// SPIR-V cannot express a module.
    #[error(transparent)]
    Spirv(#[from] xenoglot_spirv::Error),
    /// GLSL cannot express a module.
    #[error(transparent)]
    Glsl(#[from] xenoglot_glsl::Error),
    /// The host's language is not among those this library was built with, or a version of it that there is not.
    #[error("no writer for {0}; WGSL, MSL and HLSL need the feature `naga`")]
    Language(host::Language),
    /// The native back end does not have what a module needs, or the system has no memory for code.
    #[cfg(feature = "native")]
    #[error(transparent)]
    Native(#[from] xenoglot_native::CompileError),
    /// Naga refused our SPIR-V or cannot express it.
    #[cfg(feature = "naga")]
    #[error(transparent)]
    Naga(#[from] xenoglot_naga::Error),
}
