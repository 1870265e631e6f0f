//! The 3DS PICA200 shader unit: containers, decoder, disassembler, assembler and lifter.
//!
//! | room | what it is for |
//! |---|---|
//! | [`inst`], [`desc`], [`decode`] | the instruction set as a table, typed instructions, words both ways |
//! | [`program`] | program memory: words and operand descriptors |
//! | [`container`] | SHBIN files, raw dumps, and SHBINs inside other files |
//! | [`flow`] | what instructions do to control |
//! | [`float`] | 24-, 20- and 16-bit floats |
//! | [`asm`], [`disasm`], [`names`] | text both ways: `assemble(disassemble(x)) == x` for every program and container |
//! | [`bundled`] | our own shaders |
//! | [`lift`] | programs to IR |
//!
//! ```
//! use xenoglot_pica_shader::asm::assemble;
//! use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble};
//! use xenoglot_pica_shader::lift::{LiftOptions, lift};
//!
//! let shbin = assemble(
//!     ".out o_pos position
//! .proc main
//!     mov o_pos, v0
//!     end
//! .end",
//! )?;
//! let text = disassemble(&shbin, &DisasmOptions::default());
//! assert_eq!(assemble(&text)?, shbin);
//! let lifted = lift(&shbin.program, &LiftOptions::compute(0))?;
//! xenoglot_ir::verify(&lifted.module)?;
//! assert_eq!((lifted.inputs, lifted.outputs), (1, 1), "v0 is read, o0 is written");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod asm;
pub mod bundled;
pub mod container;
pub mod decode;
pub mod desc;
pub mod disasm;
pub mod float;
pub mod flow;
pub mod inst;
pub mod lift;
pub mod names;
pub mod program;

pub use program::Program;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 5;
