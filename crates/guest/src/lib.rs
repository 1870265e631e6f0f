//! CPU guests: memory, the state of a processor, and an interpreter for 32-bit MIPS user code.
//!
//! * [`memory`] is 4 GiB in pages with rights, and reports changes of code.
//! * [`Cpu`] is the state that engines share; [`Engine`] runs code until something happens that only a kernel can
//!   answer; [`Interpreter`] is an engine.
//! * [`Kernel`] is what answers system calls and faults, and [`Machine`] puts the four together.
//! * [`ops`] are the operations that the interpreter executes, for engines that translate one by one.
//! * [`float`] is the arithmetic of the floating-point unit.
//! * `gdb`, a feature, is an engine under the control of that debugger.
//! * `linux`, on hosts with Linux, is a kernel: processes, files, signals, threads. It is all of this crate that does I/O.
//!
//! ```
//! use xenoglot_guest::memory::{Memory, Rights};
//! use xenoglot_guest::{Action, Cpu, Exception, Interpreter, Kernel, Machine, Outcome, reg};
//! use xenoglot_mips::Endian;
//!
//! /// Every system call ends the program with the value in `v0`.
//! struct Exit;
//!
//! impl Kernel for Exit {
//!     type Exit = Result<u32, Exception>;
//!
//!     fn syscall(&mut self, cpu: &mut Cpu, _: &mut Memory) -> Action<Self::Exit> {
//!         Action::Stop(Ok(cpu.get(reg::V0)))
//!     }
//!
//!     fn exception(&mut self, _: &mut Cpu, _: &mut Memory, exception: &Exception) -> Action<Self::Exit> {
//!         Action::Stop(Err(*exception))
//!     }
//! }
//!
//! // addiu v0,zero,42 ; syscall
//! let code: Vec<u8> = [0x2402_002a_u32, 0x0000_000c].into_iter().flat_map(u32::to_le_bytes).collect();
//! let mut memory = Memory::new(1 << 20);
//! memory.map(0x1000, 0x1000, Rights::READ.and(Rights::EXECUTE));
//! memory.poke(0x1000, &code).expect("mapped");
//! let mut cpu = Cpu::new(Endian::Little);
//! cpu.pc = 0x1000;
//! let mut machine = Machine { cpu, memory, engine: Interpreter::default(), kernel: Exit };
//! assert!(matches!(machine.run(&mut 1_000), Outcome::Exit(Ok(42))));
//! ```
#![deny(missing_docs)]

mod cpu;
mod engine;
pub mod float;
#[cfg(feature = "gdb")]
pub mod gdb;
mod interp;
#[cfg(target_os = "linux")]
pub mod linux;
mod machine;
pub mod memory;
pub mod ops;

pub use cpu::{Cpu, HI, LO, Link, SINK, reg};
pub use engine::{Cause, Engine, Event, Exception};
pub use interp::{Interpreter, condition_bit, float_cause};
pub use machine::{Action, Kernel, Machine, Outcome};
pub use xenoglot_mips;
