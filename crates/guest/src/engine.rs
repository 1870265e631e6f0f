//! What runs guest code, seen from outside: an engine executes until something happens that is not its business.

use crate::cpu::Cpu;
use crate::memory::{Fault, Memory};

/// What an instruction did that only a kernel can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A load, store or fetch failed.
    Memory(Fault),
    /// `add`, `addi` or `sub` overflowed.
    Overflow,
    /// The condition of a trap held; its code.
    Trap(u32),
    /// `break`, with its code.
    Break(u32),
    /// A word that is no instruction, or one that this processor refuses.
    Reserved(u32),
    /// An enabled floating-point exception; the cause bits are in FCSR.
    Float,
}

/// An instruction that did not complete. `Cpu::pc` is the address to go on at after a repair: that of the instruction, or
/// of the branch when the instruction is in its delay slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// What happened.
    pub cause: Cause,
    /// Address of the instruction.
    pub pc: u32,
    /// Whether it is in the delay slot of the branch before.
    pub in_slot: bool,
}

/// Why an engine returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `syscall`; `Cpu::pc` is where the program goes on.
    Syscall,
    /// An instruction did not complete.
    Exception(Exception),
    /// The fuel is used up.
    OutOfFuel,
}

/// Executes guest code.
pub trait Engine {
    /// Runs from `cpu.pc` until an event. Takes about one unit of `fuel` for each instruction; it may overrun by a block.
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event;

    /// Asks that all runs from now on depend on nothing but what is run, not even on the time: fuel always ends them at the same
    /// instruction. Engines of which that is true anyway do nothing.
    fn repeat_itself(&mut self) {}

    /// Sets whether all registers are to be exact when an instruction faults and where fuel ends a run. Engines begin with `true`.
    /// With `false`, a register that the guest is going to set before it reads it may have an older value there: for guests without
    /// a handler that would see it.
    fn exact_registers(&mut self, _exact: bool) {}
}

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        (**self).run(cpu, memory, fuel)
    }

    fn repeat_itself(&mut self) {
        (**self).repeat_itself();
    }

    fn exact_registers(&mut self, exact: bool) {
        (**self).exact_registers(exact);
    }
}
