//! NVIDIA Maxwell and Pascal shader code (SM50 to SM62; SM53, the Tegra X1, first).
//!
//! | room | what it is for |
//! |---|---|
//! | [`opcode`], [`inst`], [`modifier`] | typed instructions: what a lifter matches on |
//! | [`isa`] | the instruction set as a table of forms; the only place that knows bits |
//! | [`mod@decode`] | words to instructions |
//! | [`code`] | scheduling words, and walking code in groups of one such word and three instructions |
//! | [`disasm`] | the vendor's text |
//! | [`flow`] | control flow, the stacks resolved |
//! | [`lift`] | instructions to IR |
//! | [`gpu`] | what only the running GPU knows: textures, state |
//! | [`info`] | what a shader uses and binds |
//! | [`launch`] | what a driver sets up before a kernel runs |
//! | [`container`], [`sph`] | files with programs, and the header of graphics programs |
//!
//! ```
//! // The eight bytes of an instruction at address 8.
//! let inst = xenoglot_maxwell::decode(8, 0x3810_0000_0010_0303)?;
//! assert_eq!(inst.to_string(), "@P0 IADD R3, R3, 0x1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod code;
pub mod container;
pub mod decode;
pub mod disasm;
pub mod flow;
pub mod gpu;
pub mod info;
pub mod inst;
pub mod isa;
pub mod launch;
pub mod lift;
pub mod modifier;
mod number;
pub mod opcode;
pub mod sph;

pub use code::{Control, Instructions};
pub use decode::{DecodeError, decode};
pub use gpu::{DefaultGpu, GpuAccessor};
pub use inst::{Guard, Inst, Operand, Part, Role, Value};
pub use modifier::Mod;
pub use opcode::Opcode;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 13;
