//! A guest: processor, memory, engine and kernel.

use crate::cpu::Cpu;
use crate::engine::{Engine, Event, Exception};
use crate::memory::Memory;

/// What a kernel decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<E> {
    /// The program goes on at `Cpu::pc`.
    Continue,
    /// The program is over.
    Stop(E),
}

/// What a program asks for and what it runs into. Linux is one; an emulator of a console brings its own.
pub trait Kernel {
    /// How a program ends.
    type Exit;

    /// A system call; `cpu.pc` is behind it.
    fn syscall(&mut self, cpu: &mut Cpu, memory: &mut Memory) -> Action<Self::Exit>;

    /// An instruction that did not complete.
    fn exception(&mut self, cpu: &mut Cpu, memory: &mut Memory, exception: &Exception) -> Action<Self::Exit>;

    /// Whether the kernel, or a handler that it calls, may read the registers of an instruction that did not complete: the argument
    /// of [`Engine::exact_registers`].
    fn looks_at_registers(&self) -> bool {
        true
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<E> {
    /// The kernel ended the program.
    Exit(E),
    /// The fuel is used up; the guest can run on.
    OutOfFuel,
}

/// A guest.
#[derive(Debug)]
pub struct Machine<E, K> {
    /// The processor.
    pub cpu: Cpu,
    /// Its memory.
    pub memory: Memory,
    /// What executes the code.
    pub engine: E,
    /// What the code asks.
    pub kernel: K,
}

impl<E: Engine, K: Kernel> Machine<E, K> {
    /// Runs until the program ends or the fuel is used up.
    pub fn run(&mut self, fuel: &mut u64) -> Outcome<K::Exit> {
        loop {
            self.engine.exact_registers(self.kernel.looks_at_registers());
            let action = match self.engine.run(&mut self.cpu, &mut self.memory, fuel) {
                Event::OutOfFuel => return Outcome::OutOfFuel,
                Event::Syscall => {
                    self.cpu.link.valid = false;
                    self.kernel.syscall(&mut self.cpu, &mut self.memory)
                }
                Event::Exception(exception) => {
                    self.cpu.link.valid = false;
                    self.kernel.exception(&mut self.cpu, &mut self.memory, &exception)
                }
            };
            if let Action::Stop(exit) = action {
                return Outcome::Exit(exit);
            }
            // A guest that does nothing but fault or call makes progress in fuel, too.
            *fuel = fuel.saturating_sub(1);
        }
    }
}
