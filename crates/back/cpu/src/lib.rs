//! Code of CPU guests as machine code of the host.
//!
//! [`Jit`] is an [`Engine`]: it interprets at first, makes simple code of what is executed again, compiles what is executed often
//! by way of the IR and Cranelift, and runs that. [`Reference`] is the same with the IR's interpreter in Cranelift's place: slow, and what
//! the code is compared with. [`engine`] is the fastest there is on the host.
//!
//! Compiled code never touches memory of the host outside of the guest's: an address of 32 bits leads into the
//! [window](xenoglot_guest::memory::Memory::window) of 4 GiB, which the host's page protection guards, or to a place in the tables of
//! [`Memory::host_pages`](xenoglot_guest::memory::Memory::host_pages). For the first, handlers of SIGSEGV, SIGBUS and SIGILL are
//! installed ([`Access`]). Registers are exact whenever anybody looks. Calls of the guest are jumps, so the host's stack does not grow with the guest's, and memory for
//! code is never writable and executable at once.
//!
//! What the functions mean: `docs/ir-cpu.md`.
//!
//! ```
//! use xenoglot_cpu::engine;
//! use xenoglot_guest::memory::{Memory, Rights};
//! use xenoglot_guest::{Cpu, Engine, Event, reg};
//! use xenoglot_mips::Endian;
//!
//! // addiu v0,zero,42 ; syscall
//! let code: Vec<u8> = [0x2402_002a_u32, 0x0000_000c].into_iter().flat_map(u32::to_le_bytes).collect();
//! let mut memory = Memory::new(1 << 20);
//! memory.map(0x1000, 0x1000, Rights::READ.and(Rights::EXECUTE));
//! memory.poke(0x1000, &code).expect("mapped");
//! let mut cpu = Cpu::new(Endian::Little);
//! cpu.pc = 0x1000;
//! assert!(matches!(engine().run(&mut cpu, &mut memory, &mut 1_000), Event::Syscall));
//! assert_eq!(cpu.get(reg::V0), 42);
//! ```
#![deny(missing_docs)]

#[cfg(all(unix, target_arch = "x86_64"))]
mod accesses;
#[cfg(all(unix, target_arch = "x86_64"))]
pub mod aot;
#[cfg(all(unix, target_arch = "x86_64"))]
mod background;
#[cfg(all(unix, target_arch = "x86_64"))]
mod baseline;
#[cfg(all(unix, target_arch = "x86_64"))]
mod compiler;
#[cfg(all(unix, target_arch = "x86_64"))]
mod emit;
mod error;
#[cfg(all(unix, target_arch = "x86_64"))]
mod exec;
#[cfg(all(unix, target_arch = "x86_64"))]
mod jit;
#[cfg(all(unix, target_arch = "x86_64"))]
mod live;
#[cfg(all(unix, target_arch = "x86_64"))]
mod options;
#[cfg(all(unix, target_arch = "x86_64"))]
mod orders;
mod reference;
#[cfg(all(unix, target_arch = "x86_64"))]
mod registers;
#[cfg(all(unix, target_arch = "x86_64"))]
#[cfg_attr(not(target_os = "linux"), path = "no_signals.rs")]
mod signals;
#[cfg(all(unix, target_arch = "x86_64"))]
mod state;
#[cfg(all(unix, target_arch = "x86_64"))]
mod table;
#[cfg(all(unix, target_arch = "x86_64"))]
mod warm;
mod words;

pub use error::CompileError;
#[cfg(all(unix, target_arch = "x86_64"))]
pub use jit::Jit;
#[cfg(all(unix, target_arch = "x86_64"))]
pub use options::{Access, Compiled, Observer, Options, Stats};
pub use reference::Reference;
pub use xenoglot_guest;

use xenoglot_guest::{Engine, Interpreter};

/// The fastest engine of the host: a [`Jit`], or the direct interpreter where there is no code for the host, or the system gives
/// no memory for it.
pub fn engine() -> Box<dyn Engine + Send> {
    #[cfg(all(unix, target_arch = "x86_64"))]
    if let Ok(jit) = Jit::new(Options::default()) {
        return Box::new(jit);
    }
    Box::new(Interpreter::default())
}
