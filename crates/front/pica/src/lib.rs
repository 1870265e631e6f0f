//! The 3DS PICA200 shader unit: containers, decoder, disassembler, assembler and lifter.
//!
//! | room | what it is for |
//! |---|---|
//! | [`inst`], [`desc`], [`decode`] | the instruction set as a table, typed instructions, words both ways |
//! | [`program`] | program memory: words and operand descriptors |
//! | [`container`] | SHBIN files, raw dumps, and SHBINs inside other files |
//! | [`float`] | 24-, 20- and 16-bit floats |
//! | [`asm`], [`disasm`], [`names`] | text both ways: `assemble(disassemble(x)) == x` for every program and container |
//! | [`bundled`] | our own shaders |
//! | [`lift`] | programs to IR |
#![deny(missing_docs)]

pub mod asm;
pub mod bundled;
pub mod container;
pub mod decode;
pub mod desc;
pub mod disasm;
pub mod float;
pub mod inst;
pub mod lift;
pub mod names;
pub mod program;

pub use program::Program;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 1;
