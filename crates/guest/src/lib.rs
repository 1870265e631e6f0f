//! CPU guests: memory, the state of a processor, and an interpreter for 32-bit MIPS user code.
//!
//! * [`memory`] is 4 GiB in pages with rights, and reports changes of code.
//! * [`Cpu`] is the state that engines share; [`Engine`] runs code until something happens that only a kernel can
//!   answer; [`Interpreter`] is an engine.
//! * [`Kernel`] is what answers system calls and faults, and [`Machine`] puts the four together.
//! * [`float`] is the arithmetic of the floating-point unit.
//!
//! Nothing here does I/O.
#![deny(missing_docs)]

mod cpu;
mod engine;
pub mod float;
mod interp;
mod machine;
pub mod memory;

pub use cpu::{Cpu, HI, LO, Link, reg};
pub use engine::{Cause, Engine, Event, Exception};
pub use interp::{Interpreter, float_cause};
pub use machine::{Action, Kernel, Machine, Outcome};
