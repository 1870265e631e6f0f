//! An interpreter of decoded instructions: starts at once, and is the reference for engines that translate.

mod cache;
mod exec;
mod fpu;

use crate::cpu::Cpu;
use crate::engine::{Engine, Event};
use crate::memory::Memory;
use cache::Cache;
pub use fpu::{condition_bit, float_cause};
use xenoglot_mips::Endian;

/// The interpreter, with the blocks it decoded.
#[derive(Debug, Default)]
pub struct Interpreter {
    cache: Cache,
    /// Blocks of one instruction, for steps.
    single: Option<Cache>,
}

impl Interpreter {
    /// Runs until an event, or until `stop`, which is asked for the address of each block before it runs, wants to stop there.
    /// Comes back with `None` then, and when code is stale: the caller takes what is ([`Memory::take_stale`]) and says so
    /// to [`Interpreter::forget`].
    pub fn run_until(
        &mut self,
        cpu: &mut Cpu,
        memory: &mut Memory,
        fuel: &mut u64,
        stop: impl FnMut(u32) -> bool,
    ) -> Option<Event> {
        run(&mut self.cache, cpu, memory, fuel, Some(stop))
    }

    /// Runs one instruction, a branch with its delay slot; `None` when nothing happened. As [`Interpreter::run_until`], it
    /// does nothing while code is stale.
    pub fn step(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Option<Event> {
        let mut again = false;
        let cache = self.single.get_or_insert_with(|| Cache::new(1));
        run(cache, cpu, memory, fuel, Some(|_| std::mem::replace(&mut again, true)))
    }

    /// Forgets the blocks of pages, by their numbers.
    pub fn forget(&mut self, pages: &[u32]) {
        self.cache.forget(pages);
        if let Some(single) = &mut self.single {
            single.forget(pages);
        }
    }
}

fn run<S: FnMut(u32) -> bool>(
    cache: &mut Cache,
    cpu: &mut Cpu,
    memory: &mut Memory,
    fuel: &mut u64,
    stop: Option<S>,
) -> Option<Event> {
    match cpu.endian {
        Endian::Big => exec::run::<true, S>(cache, cpu, memory, fuel, stop),
        Endian::Little => exec::run::<false, S>(cache, cpu, memory, fuel, stop),
    }
}

impl Engine for Interpreter {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        // Without somebody who wants to stop, only an event ends the run.
        run(&mut self.cache, cpu, memory, fuel, None::<fn(u32) -> bool>).unwrap_or(Event::OutOfFuel)
    }
}
