//! An interpreter of decoded instructions: starts at once, and is the reference for engines that translate.

mod cache;
mod exec;
mod fpu;
mod lower;

use crate::cpu::Cpu;
use crate::engine::{Engine, Event};
use crate::memory::Memory;
use cache::Cache;
use xenoglot_mips::Endian;

/// The interpreter, with the blocks it decoded.
#[derive(Debug, Default)]
pub struct Interpreter {
    cache: Cache,
}

impl Engine for Interpreter {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        match cpu.endian {
            Endian::Big => exec::run::<true>(&mut self.cache, cpu, memory, fuel),
            Endian::Little => exec::run::<false>(&mut self.cache, cpu, memory, fuel),
        }
    }
}
