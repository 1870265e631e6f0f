//! Runs the IR: the reference every front end and back end is compared with.
//!
//! What a pure op means is in the op table's fold functions; this crate adds only what needs a machine around it:
//! memory, interface variables, calls, control flow, and invocations that run together.
//!
//! ```
//! use xenoglot_interp::{Bindings, Interpreter, Limits};
//! use xenoglot_ir::{Bits, Builder, Function, Module, Op, Stage, Type};
//!
//! let mut f = Function::new("main");
//! let block = f.add_block();
//! let x = f.add_param(block, Type::I32);
//! f.returns = vec![Type::I32];
//! let mut b = Builder::new(&mut f, block);
//! let sum = b.op(Op::Iadd, &[x, x]);
//! b.ret(&[sum]);
//! let mut module = Module::new(Stage::Compute, "doubles");
//! let main = module.funcs.push(f);
//!
//! let mut interp = Interpreter::new(&module)?;
//! let mut bindings = Bindings::new(&module);
//! let out = interp.run_function(main, &[Bits::scalar(21)], &mut bindings, &Limits::default())?;
//! assert_eq!(out.returns[0], Bits::scalar(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Interpreter::new`] resolves a module once; running it allocates nothing per instruction, so thousands of
//! invocations are cheap. The host's stack does not grow with anything in the module.
//!
//! With the feature `tree`, `Interpreter::run_tree` runs a function by its structured form instead of its graph.
#![deny(missing_docs)]

mod bindings;
mod code;
mod cohort;
mod exec;
mod guest;
mod interpreter;
mod memory;
mod order;
mod outcome;
mod subgroup;
mod texel;
mod trap;
#[cfg(feature = "tree")]
mod tree;

pub use bindings::{Bindings, MAX_ELEMENTS};
pub use code::Invalid;
pub use guest::{Guest, Refused};
pub use interpreter::Interpreter;
pub use outcome::{Dispatched, End, Event, Fragment, Limits, Outcome, Stats, Visit};
pub use trap::{At, Cause, Trap};
