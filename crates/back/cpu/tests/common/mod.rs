//! The freestanding programs of `vectors/mips/bare`, with a kernel of three calls.

#![allow(dead_code)]

use xenoglot_guest::memory::{Memory, Rights};
use xenoglot_guest::{Action, Cpu, Engine, Exception, Kernel, Machine, Outcome, reg};
use xenoglot_mips::container::{Elf, Limits};

/// Output, exit, and flushing of code.
pub struct Calls(pub Vec<u8>);

impl Kernel for Calls {
    type Exit = Result<u32, Exception>;

    fn syscall(&mut self, cpu: &mut Cpu, memory: &mut Memory) -> Action<Self::Exit> {
        match cpu.get(reg::V0) {
            4001 => return Action::Stop(Ok(cpu.get(reg::A0))),
            4004 => {
                let mut bytes = vec![0; cpu.get(reg::A2) as usize];
                memory.read_bytes(cpu.get(reg::A1), &mut bytes).expect("readable");
                self.0.extend(bytes);
            }
            4147 => memory.flush_code(cpu.get(reg::A0), cpu.get(reg::A1)),
            other => panic!("call {other}"),
        }
        cpu.set(reg::A3, 0);
        Action::Continue
    }

    fn exception(&mut self, _: &mut Cpu, _: &mut Memory, exception: &Exception) -> Action<Self::Exit> {
        Action::Stop(Err(*exception))
    }
}

/// A loaded program.
pub fn load<E: Engine>(bytes: &[u8], engine: E) -> Machine<E, Calls> {
    let elf = Elf::parse(bytes, &Limits::default()).expect("ELF");
    let mut memory = Memory::new(1 << 28);
    let all = Rights::READ.and(Rights::WRITE).and(Rights::EXECUTE);
    for segment in &elf.segments {
        let start = segment.address & !0xfff;
        let length = u64::from(segment.address - start) + u64::from(segment.size);
        // Segments may share a page.
        for page in (start..).step_by(0x1000).take(length.div_ceil(0x1000) as usize) {
            if memory.is_free(page, 1) {
                memory.map(page, 0x1000, all);
            }
        }
        memory.poke(segment.address, segment.bytes).expect("mapped");
    }
    memory.map(0x7f00_0000, 0x100_0000, Rights::READ.and(Rights::WRITE));
    let mut cpu = Cpu::new(elf.endian);
    cpu.pc = elf.entry;
    cpu.set(reg::SP, 0x7fff_ff00);
    Machine { cpu, memory, engine, kernel: Calls(Vec::new()) }
}

/// Runs a program to its end.
pub fn run<E: Engine>(machine: &mut Machine<E, Calls>) -> Result<u32, Exception> {
    let mut fuel = 1 << 40;
    match machine.run(&mut fuel) {
        Outcome::Exit(exit) => exit,
        Outcome::OutOfFuel => panic!("no fuel left"),
    }
}

/// The file of a program of `vectors/mips/bare`, and what it prints.
pub fn bare(name: &str) -> (Vec<u8>, Vec<u8>) {
    let base = format!("{}/../../../vectors/mips/bare/bare_{name}", env!("CARGO_MANIFEST_DIR"));
    let read = |suffix: &str| std::fs::read(format!("{base}.{suffix}")).expect("file");
    (read("elf"), read("out"))
}
