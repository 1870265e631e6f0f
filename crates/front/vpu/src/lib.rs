//! The vector processing unit (VPU) of the Dragon GPU: its instruction set and everything that reads or writes it.
//!
//! * [`isa`] is the table of instructions, [`Inst`] a decoded one, [`Program`] a program memory.
//! * [`asm`] and [`disasm`] are inverse to each other on every word.
//! * [`number`] has the arithmetic of both number types, [`format`](mod@format) the pixels of tile buffers, [`texture`]
//!   the sampler; [`exec`] runs one instruction of one thread, which is what the simulator does each tick.
//! * [`lift`] makes the shared IR of a program: a compute kernel with one invocation per thread.
//!
//! Sixteen registers `r0` to `r15` and sixteen read-only globals `g0` to `g15` have four lanes of 32 bits each.
//! The instruction set, its encodings and its arithmetic are this project's own: of the original only the opcodes
//! `store(tb, Rn)` and `exit()`, `Rn` = attribute n and the whole-program load are known. `docs/dragon.md` lists them.
//!
//! ```
//! use xenoglot_vpu::asm::assemble;
//! use xenoglot_vpu::disasm::disassemble;
//!
//! // Each thread scales its first attribute by a global and stores it as a pixel.
//! let words = assemble("mul.sat r1, r0, g0\nstore tb0, r1\nexit")?;
//! assert_eq!(words.len(), 3);
//! assert_eq!(assemble(&disassemble(&words))?, words);
//! # Ok::<(), xenoglot_vpu::asm::AsmError>(())
//! ```
#![deny(missing_docs)]

pub mod asm;
pub mod disasm;
pub mod exec;
pub mod format;
mod inst;
pub mod isa;
pub mod lift;
pub mod number;
mod program;
pub mod texture;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 1;

pub use format::TileFormat;
pub use inst::{Inst, Undefined};
pub use isa::Op;
pub use number::{Lanes, Number};
pub use program::{MAX_PROGRAM_WORDS, Program};
pub use texture::Texture;

/// Registers of a thread, and globals of the machine.
pub const REGISTERS: usize = 16;
/// Tile buffers a program can name.
pub const TILE_BUFFERS: usize = 4;
/// Textures a program can name.
pub const TEXTURES: usize = 4;
