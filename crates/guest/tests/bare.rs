//! The freestanding programs of `vectors/mips/bare` with a kernel of three calls: output, exit code or fault.

use xenoglot_guest::memory::{FaultKind, Memory, Rights};
use xenoglot_guest::{Action, Cause, Cpu, Exception, Interpreter, Kernel, Machine, Outcome, reg};
use xenoglot_mips::container::{Elf, Limits};

struct Calls(Vec<u8>);

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

fn run(name: &str) -> Result<u32, Cause> {
    let base = format!("{}/../../vectors/mips/bare/bare_{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(format!("{base}.elf")).expect("program");
    let elf = Elf::parse(&bytes, &Limits::default()).expect("ELF");
    let mut memory = Memory::new(1 << 26);
    for segment in &elf.segments {
        let rights = Rights::READ.and(Rights::WRITE).and(Rights::EXECUTE);
        let start = segment.address & !0xfff;
        memory.map(start, u64::from(segment.address - start) + u64::from(segment.size), rights);
        memory.poke(segment.address, segment.bytes).expect("mapped");
    }
    memory.map(0x7fff_0000, 0x1_0000, Rights::READ.and(Rights::WRITE));
    let mut cpu = Cpu::new(elf.endian);
    cpu.pc = elf.entry;
    cpu.set(reg::SP, 0x7fff_ff00);
    let mut machine = Machine { cpu, memory, engine: Interpreter::default(), kernel: Calls(Vec::new()) };
    let mut fuel = 1 << 32;
    let outcome = machine.run(&mut fuel);
    assert_eq!(machine.kernel.0, std::fs::read(format!("{base}.out")).expect("output"), "{name}");
    match outcome {
        Outcome::Exit(exit) => exit.map_err(|exception| exception.cause),
        Outcome::OutOfFuel => panic!("{name}: no fuel left"),
    }
}

#[test]
fn programs_print_and_exit_as_under_qemu() {
    for (name, exit) in [("hello", 0), ("int", 42), ("sha", 0), ("fp", 1), ("smc", 5), ("chain", 5)] {
        assert_eq!(run(name), Ok(exit), "{name}");
    }
}

#[test]
fn faults_are_told_apart() {
    assert!(matches!(run("brk"), Err(Cause::Break(_))));
    assert!(matches!(run("ill"), Err(Cause::Reserved(0x3b))));
    assert!(matches!(run("ovf"), Err(Cause::Overflow)));
    assert!(matches!(run("segv"), Err(Cause::Memory(fault)) if fault.kind == FaultKind::Unmapped));
    assert!(matches!(run("unal"), Err(Cause::Memory(fault)) if fault.kind == FaultKind::Unaligned));
}
