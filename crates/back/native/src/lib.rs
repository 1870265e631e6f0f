//! IR to native code with Cranelift: one lane per invocation, several invocations at once.
//!
//! [`Compiler::compile`] takes a verified compute module whose registers are promoted to values and gives a
//! [`Program`]; [`Program::run`] runs a range of its invocations on the caller's buffers, [`LANES`] at a time. Each
//! component of an IR value is one SIMD value with a lane per invocation.
//!
//! * **Exactness.** Results are those of the fold functions of the op table, bit for bit, NaNs included. Ops without
//!   instructions of their own call the fold function, lane by lane.
//! * **Two variants.** The *optimistic* one takes arithmetic as the host has it: no rule for NaN products, no canonical
//!   NaNs, no bounds checks where addresses advance by a constant from invocation to invocation. Before anything is
//!   stored it looks for NaNs in the values that no further arithmetic takes up (a NaN spreads to those), and gives the
//!   group up if it finds one; the *exact* variant, compiled when first needed, then runs that group. Invocations for
//!   which an address would leave its buffer go to the exact variant at once. Programs that load what they store have the
//!   exact variant only: a group must be able to start again.
//! * **Divergence** (`masked`): functions whose lanes never part are translated block by block; others along their
//!   structured tree with masks, and only branches that diverge cost anything.
//! * **Hostile modules** neither leave their buffers nor run for ever: [`Limits::fuel`] bounds the rounds of loops.
//! * **The stack** of the calling thread is used up to [`MAX_FRAME`] and probed page by page. Values that outlive their
//!   block lie in memory that a run allocates (`emit::homes`). If the frame is still too large with the quick allocator of
//!   registers, which gives each value its own place, the thorough one compiles the function again; what it cannot make
//!   fit is refused.
//! * What is not supported is a typed [`CompileError::Unsupported`]: other kinds than `bool`, `i32` and `f32`, calls,
//!   slots, atomics, shared memory, subgroups, textures.
//!
//! The only `unsafe` code of the crate is in `exec`.
//!
//! ```
//! use xenoglot_ir::text::{Limits, parse};
//! use xenoglot_ir::verify;
//! use xenoglot_native::{Bindings, Compiler};
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
//! let program = Compiler::new()?.compile(&module)?;
//! let mut data = 21_u32.to_le_bytes();
//! program.run(Bindings::new().write(0, 0, &mut data), 0..1, &Default::default())?;
//! assert_eq!(u32::from_le_bytes(data), 42);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]
#![deny(unsafe_code)]

mod compiler;
mod emit;
mod error;
#[allow(unsafe_code)]
mod exec;
mod host;
mod plan;
mod program;

pub use compiler::{Compiler, Tier};
pub use error::{CompileError, Fault, RunError};
pub use program::{Bindings, Limits, Program, Ran};
pub use xenoglot_ir;

/// Invocations that run at once.
pub const LANES: u32 = 4;

/// Bytes of stack that the code of a program takes at most, without what the functions it calls take. A module whose code
/// would need more is [`CompileError::Unsupported`].
pub const MAX_FRAME: u32 = 1 << 15;

/// Which code is made; see the crate's documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variant {
    Optimistic,
    Exact,
}
