//! Guests for tests: a few words of code, and the freestanding programs of `vectors/mips/bare` with a kernel of three calls.

#![allow(dead_code)]

use xenoglot_guest::memory::{Memory, Rights};
use xenoglot_guest::{Action, Cpu, Engine, Exception, Kernel, Machine, Outcome, reg};
use xenoglot_mips::Endian;
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

/// An ELF file of nothing but code at an address.
pub fn elf(endian: Endian, address: u32, code: &[u8]) -> Vec<u8> {
    const HEADERS: u32 = 52 + 32;
    let big = endian == Endian::Big;
    let mut out = vec![0x7f, b'E', b'L', b'F', 1, if big { 2 } else { 1 }, 1];
    out.resize(16, 0);
    let half = |out: &mut Vec<u8>, v: u16| out.extend(if big { v.to_be_bytes() } else { v.to_le_bytes() });
    let word = |out: &mut Vec<u8>, v: u32| out.extend(if big { v.to_be_bytes() } else { v.to_le_bytes() });
    // An executable for MIPS, o32, release 2.
    half(&mut out, 2);
    half(&mut out, 8);
    for v in [1, address, 52, 0, 0x7000_1000] {
        word(&mut out, v);
    }
    for v in [52, 32, 1, 40, 0, 0] {
        half(&mut out, v);
    }
    let length = code.len() as u32;
    // Loaded, readable and executable.
    for v in [1, HEADERS, address, address, length, length, 5, 4] {
        word(&mut out, v);
    }
    out.extend(code);
    out
}

/// Where [`guest`] has its code.
pub const CODE: u32 = 0x40_0000;

/// A big-endian guest of some words of code, which it may change.
pub fn guest(words: &[u32]) -> (Cpu, Memory) {
    let mut memory = Memory::new(1 << 26);
    memory.map(CODE, 0x1000, Rights::READ.and(Rights::WRITE).and(Rights::EXECUTE));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    memory.poke(CODE, &bytes).expect("mapped");
    let mut cpu = Cpu::new(Endian::Big);
    cpu.pc = CODE;
    (cpu, memory)
}
