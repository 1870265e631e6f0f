//! The shared IR of Xenoglot: SSA over a control-flow graph with block parameters instead of phis.
//!
//! Front ends lift to it, passes improve it, back ends write it out; what both sides must agree on is here and
//! only here. Nothing in this crate knows a guest machine or a host language.
//!
//! * [`op`]: the op table, the single definition of every op; [`fold`] is its meaning on bits.
//! * [`ty`], [`flags`], [`imm`], [`entities`]: what instructions are made of.
//! * [`func`], [`module`]: facts and order; [`builder`] makes them.
//! * [`text`]: the text form; [`verify`](mod@verify): what a sound module is.
//! * [`analysis`]: dominators, loops, liveness and the like.
//!
//! ```
//! use xenoglot_ir::text::{Limits, canonical, parse};
//! use xenoglot_ir::{Builder, Function, Module, Op, Stage, Type, verify};
//!
//! let mut f = Function::new("main");
//! let block = f.add_block();
//! let x = f.add_param(block, Type::I32);
//! f.returns = vec![Type::I32];
//! let mut b = Builder::new(&mut f, block);
//! let sum = b.op(Op::Iadd, &[x, x]);
//! b.ret(&[sum]);
//! let mut module = Module::new(Stage::Cpu, "double");
//! module.funcs.push(f);
//!
//! verify(&module)?;
//! let text = module.to_string();
//! assert!(text.contains("iadd v0, v0"));
//! assert_eq!(canonical(&parse(&text, &Limits::default())?), canonical(&module));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod analysis;
pub mod builder;
pub mod entities;
pub mod flags;
pub mod fold;
pub mod func;
pub mod imm;
pub mod list;
pub mod module;
pub mod op;
pub mod stage;
pub mod text;
pub mod ty;
pub mod verify;

pub use builder::Builder;
pub use entities::{Block, Const, Func, Inst, Resource, Slot, Value, Var};
pub use flags::{DivZero, Flags, NanMode, Round};
pub use func::{Edge, Function, NO_GUEST, TermKind, Terminator, ValueDef};
pub use imm::{Imm, Lanes, MemInfo, Space};
pub use module::{Module, Stage};
pub use op::Op;
pub use ty::{Bits, Kind, Type};
pub use verify::verify;

/// Entity maps, re-exported so that users of the IR need no dependency of their own.
pub use cranelift_entity as entity;

/// Counts the changes of this crate's code that change what it makes: part of a cache's keys.
pub const VERSION: u16 = 13;
