//! GLSL writer for the IR: 330 core, 450 (OpenGL and Vulkan), ES 310.
//!
//! The output computes exactly what the fold functions of the op table say, and is written to be read: names come
//! from the module, values share variables by live range, pure values with one use become expressions, masked
//! writes become masked writes. Nothing here knows a guest machine.
//!
//! * [`options`], [`error`]: what can be asked for, and what can be refused.
//! * `plan` decides which values get a variable; `variables` gives them one.
//! * `expr`, `convert`, `memory`, `body`, `statement`, `edges` write expressions, accesses and statements; `interface` writes declarations.
//! * `helpers` holds the functions that stand for ops GLSL does not have; only those used are written.
//!
//! Integers are signless in the IR and `uint` in the output; signed ops convert around themselves. Float variables
//! are `precise`, so that no compiler contracts what the IR does not allow to be contracted. Where the host's
//! compiler lacks it (ES 310 without `GL_EXT_gpu_shader5`, 330 without `GL_ARB_gpu_shader5`) results may differ in
//! the last place.
//!
//! ```
//! use xenoglot_glsl::{Options, emit};
//! use xenoglot_ir::text::{Limits, parse};
//! use xenoglot_ir::verify;
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
//! let glsl = emit(&module, &Options::default())?;
//! assert!(glsl.contains("void main()"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod body;
mod buffers;
mod convert;
mod edges;
pub mod error;
mod expr;
mod helpers;
mod interface;
mod literal;
mod memory;
mod names;
pub mod options;
mod plan;
mod stage;
mod statement;
mod texture;
mod variables;
mod writer;

pub use error::Error;
pub use options::{Options, Target};
pub use writer::Context;

use xenoglot_ir::Module;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 10;

/// Writes a verified module as GLSL source text.
///
/// All stages of the graphics pipeline are written, those between vertices and fragments in version 450, and compute; the entry function becomes `main`. Use a [`Context`] to write
/// many modules with the same buffers.
///
/// # Errors
/// [`Error::Unsupported`] with op and guest address for what the target cannot express, other variants for what is
/// wrong with the module as a whole.
pub fn emit(module: &Module, options: &Options) -> Result<String, Error> {
    Context::default().emit(module, options)
}
