//! DXIL: the shader code of Direct3D 12, shader models 6.0 to 6.9.
//!
//! | room | what it is for |
//! |---|---|
//! | [`container`] | DXBC containers and their parts |
//! | [`bitcode`] | LLVM 3.7 bitcode: bits, blocks, and the module they say |
//! | [`model`] | shader models and kinds of shaders |
//! | [`ops`] | the table of `dx.op` operations |
//! | [`disasm`] | modules as LLVM's text |
//! | [`root_signature`] | root signatures: how registers are bound |
//! | [`binding`] | where registers are bound on the host |
//! | [`program`] | what metadata says of a shader |
//! | [`lift`] | modules to IR |
//!
//! ```
//! use xenoglot_dxil::lift::{LiftOptions, lift};
//! use xenoglot_dxil::{bitcode, container, disasm};
//!
//! let file = std::fs::read("tests/containers/counters.dxil")?;
//! let code = container::bitcode(&file)?;
//! let module = bitcode::read(code.bytes, &bitcode::Limits::default())?;
//! assert!(disasm::disassemble(&module)?.contains("call void @dx.op."));
//! let lifted = lift(&module, &LiftOptions::default())?;
//! xenoglot_ir::verify(&lifted.module)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod binding;
pub mod bitcode;
pub mod container;
pub mod disasm;
pub mod lift;
pub mod model;
mod number;
pub mod ops;
pub mod program;
pub mod root_signature;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 16;
