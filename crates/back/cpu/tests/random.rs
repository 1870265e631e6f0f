//! Random instructions on random registers: machine code, IR and the direct interpreter end alike, in registers, FCSR, memory,
//! and the count of instructions.
#![cfg(all(unix, target_arch = "x86_64"))]

mod common;

use xenoglot_cpu::{Access, Jit, Options, Reference, Stats};
use xenoglot_guest::memory::{Memory, Rights};
use xenoglot_guest::{Cause, Cpu, Engine, Event, Exception, HI, Interpreter, LO};
use xenoglot_mips::isa::{OPS, OpInfo, Operand};
use xenoglot_mips::{Endian, Op, decode};
use xenoglot_testgen::property::{budget, seed};
use xenoglot_testgen::rng::Rng;

const CODE: u32 = 0x40_0000;
const DATA: u32 = 0x50_0000;
/// Bytes of data; the next page may be read only.
const DATA_BYTES: u32 = 0x1000;
const LENGTH: usize = 24;

/// Registers that code changes, and those with addresses of data and code.
const GENERAL: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 31];
const DATA_BASES: [u8; 2] = [16, 17];
const CODE_BASES: [u8; 2] = [20, 21];

/// A number below `n`.
fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n as u32) as usize
}

fn word(rng: &mut Rng, at: usize) -> u32 {
    loop {
        let row: &OpInfo = &OPS[below(rng, OPS.len())];
        let has = |operand| row.operands.contains(&operand);
        let mut bits = rng.next_u64() as u32;
        let mut field = |shift: u32, value: u8| bits = bits & !(31 << shift) | u32::from(value) << shift;
        if row.bits >> 26 != 0x11 && row.bits >> 26 != 0x13 {
            for shift in [21, 16, 11] {
                field(shift, GENERAL[below(rng, GENERAL.len())]);
            }
        } else {
            // Mostly even registers: doubles are in pairs.
            for shift in [16, 11, 6] {
                field(shift, (below(rng, 8) as u8) << u8::from(below(rng, 8) != 0));
            }
            field(21, [16, 17, 20][below(rng, 3)]);
        }
        if has(Operand::Memory) || has(Operand::Indexed) {
            field(21, DATA_BASES[below(rng, 2)]);
            if has(Operand::Indexed) {
                field(16, GENERAL[below(rng, 2)]);
            } else {
                // Around the data, aligned to words in most cases.
                let offset = (below(rng, 64) as u32) << if below(rng, 8) == 0 { 0 } else { 2 };
                bits = bits & 0xffff_0000 | offset;
            }
        }
        if has(Operand::Branch) {
            let back = below(rng, 8) == 0;
            let to = if back { below(rng, at + 1) } else { at + 1 + below(rng, LENGTH - at) };
            bits = bits & 0xffff_0000 | (to as i32 - at as i32 - 1) as u32 & 0xffff;
        }
        if has(Operand::Jump) {
            bits = (CODE >> 2) + (at + 1 + below(rng, LENGTH - at)) as u32;
        }
        if matches!(row.op, Op::Jr | Op::JrHb | Op::Jalr | Op::JalrHb) {
            bits = bits & !(31 << 21) | u32::from(CODE_BASES[below(rng, 2)]) << 21;
        }
        let bits = row.bits | bits & !row.mask;
        if decode(bits).is_ok_and(|inst| inst.op == row.op) {
            return bits;
        }
    }
}

fn float_bits(rng: &mut Rng) -> u32 {
    const SPECIAL: [u32; 16] = [
        0,
        1 << 31,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fbf_ffff,
        0x7fc0_0001,
        0x0080_0000,
        0x007f_ffff,
        1,
        0x7f7f_ffff,
        0x4f00_0000,
        0xcf00_0000,
        0x3ff0_0000,
        0x7ff8_0000,
    ];
    match below(rng, 4) {
        0 => SPECIAL[below(rng, 16)],
        1 => (below(rng, 64) as f32 - 20.0).to_bits(),
        2 => ((rng.next_u64() as u32 as i32) as f64 / 3.0).to_bits().rotate_left(32) as u32,
        _ => rng.next_u64() as u32,
    }
}

struct Case {
    cpu: Cpu,
    code: Vec<u8>,
    data: Vec<u8>,
}

fn case(rng: &mut Rng) -> Case {
    code_and_state(rng, &[])
}

/// A case that is executed several times over.
fn case_in_a_loop(rng: &mut Rng) -> Case {
    // addiu $7, $7, -1; bgtz $7, the beginning; nop
    let back = -(LENGTH as i32 + 2);
    let mut case = code_and_state(rng, &[0x24e7_ffff, 0x1ce0_0000 | back as u32 & 0xffff, 0]);
    case.cpu.set(7, 1 + below(rng, 5) as u32);
    case
}

/// Random code with some words behind it, and what it begins with.
fn code_and_state(rng: &mut Rng, behind: &[u32]) -> Case {
    let endian = if below(rng, 2) == 0 { Endian::Big } else { Endian::Little };
    let mut cpu = Cpu::new(endian);
    for register in 1..32 {
        cpu.set(register, if below(rng, 3) == 0 { below(rng, 32) as u32 } else { rng.next_u64() as u32 });
    }
    // Now and then a base is elsewhere, or not aligned.
    for base in DATA_BASES {
        cpu.set(base.into(), DATA + 4 * below(rng, 0x200) as u32 + u32::from(below(rng, 32) == 0));
    }
    if below(rng, 16) == 0 {
        cpu.set(17, DATA + DATA_BYTES - 16);
    }
    for base in CODE_BASES {
        cpu.set(base.into(), CODE + 4 * below(rng, LENGTH + 1) as u32 + u32::from(below(rng, 64) == 0));
    }
    cpu.regs[HI] = rng.next_u64() as u32;
    cpu.regs[LO] = rng.next_u64() as u32;
    cpu.fpr = std::array::from_fn(|_| float_bits(rng));
    cpu.fcsr = match below(rng, 6) {
        0 => rng.next_u64() as u32 & 0xfe80_007c,
        1 => rng.next_u64() as u32 & 0xff80_0fff,
        // Any rounding, denormals flushed or not, no exception enabled.
        2 => rng.next_u64() as u32 & 0xff80_007f,
        _ => 0,
    };
    cpu.tls = rng.next_u64() as u32;
    cpu.pc = CODE;
    let mut words: Vec<u32> = (0..LENGTH).map(|at| word(rng, at)).collect();
    words.extend(behind);
    // `break`, also where jumps behind the end lead.
    words.extend([0x0000_000d; 4]);
    let bytes = |word: &u32| match endian {
        Endian::Big => word.to_be_bytes(),
        Endian::Little => word.to_le_bytes(),
    };
    let code = words.iter().flat_map(bytes).collect();
    let data = (0..DATA_BYTES).map(|_| rng.next_u64() as u8).collect();
    Case { cpu, code, data }
}

/// How a run of a case ends.
#[derive(Clone, Debug, PartialEq)]
struct End {
    events: Vec<Event>,
    cpu: Cpu,
    data: Vec<u8>,
}

/// The memory of a case, with its code.
fn memory(case: &Case) -> Memory {
    let mut memory = Memory::new(1 << 20);
    let read = Rights::READ;
    memory.map(CODE, case.code.len().next_multiple_of(0x1000) as u64, read.and(Rights::EXECUTE));
    memory.map(DATA, DATA_BYTES.into(), read.and(Rights::WRITE));
    memory.map(DATA + DATA_BYTES, 0x1000, read);
    memory.poke(CODE, &case.code).expect("mapped");
    memory
}

/// `None` if it does not come to an end.
fn run(case: &Case, engine: &mut impl Engine) -> Option<End> {
    run_in(&mut memory(case), case, engine)
}

/// [`run`] in a memory that has the code.
fn run_in(memory: &mut Memory, case: &Case, engine: &mut impl Engine) -> Option<End> {
    memory.write_bytes(DATA, &case.data).expect("mapped");
    let mut cpu = case.cpu.clone();
    let mut fuel = 2000;
    let mut events = Vec::new();
    for _ in 0..4 {
        let event = engine.run(&mut cpu, memory, &mut fuel);
        events.push(event);
        match event {
            Event::OutOfFuel => return None,
            Event::Syscall => {}
            // As a handler would that skips the instruction.
            Event::Exception(exception) => cpu.pc = exception.pc.wrapping_add(4),
        }
    }
    // What engines use for themselves.
    cpu.regs[LO + 1..].fill(0);
    let mut data = vec![0; case.data.len()];
    memory.read_bytes(DATA, &mut data).expect("mapped");
    Some(End { events, cpu, data })
}

/// The code of a case.
fn listing(case: &Case) -> String {
    let line = |(at, bytes): (usize, &[u8; 4])| {
        let pc = CODE + 4 * at as u32;
        format!("{pc:x}: {}\n", xenoglot_mips::disasm::text(case.cpu.endian.word(*bytes), pc))
    };
    case.code.as_chunks().0.iter().enumerate().map(line).collect()
}

/// What differs between two ends.
fn differences(end: &End, expected: &End) -> String {
    let mut text = String::new();
    for (at, (a, b)) in end.cpu.regs.iter().zip(&expected.cpu.regs).enumerate() {
        if a != b {
            text += &format!("r{at}: {a:#x} instead of {b:#x}\n");
        }
    }
    for (at, (a, b)) in end.cpu.fpr.iter().zip(&expected.cpu.fpr).enumerate() {
        if a != b {
            text += &format!("f{at}: {a:#x} instead of {b:#x}\n");
        }
    }
    text += &format!("fcsr {:#x}, {:#x}\n", end.cpu.fcsr, expected.cpu.fcsr);
    text += &format!("pc {:#x}, {:#x}\n", end.cpu.pc, expected.cpu.pc);
    text += &format!("retired {}, {}\n", end.cpu.retired, expected.cpu.retired);
    text += &format!("link {:?}, {:?}\n", end.cpu.link, expected.cpu.link);
    text + &format!("data {}\n{:?}\n{:?}\n", end.data == expected.data, end.events, expected.events)
}

fn compare(count: u64, name: &str, engine: &mut impl Engine) {
    let first = seed();
    let cases = (0..count).map(|n| case(&mut Rng::new(first.wrapping_add(n))));
    compare_cases(cases, name, engine);
}

fn compare_cases(cases: impl Iterator<Item = Case>, name: &str, engine: &mut impl Engine) {
    let (mut count, mut ended) = (0, 0);
    for (n, case) in cases.enumerate() {
        count += 1;
        let Some(expected) = run(&case, &mut Interpreter::default()) else { continue };
        ended += 1;
        let Some(end) = run(&case, engine) else { panic!("case {n}: {name} does not end") };
        if end != expected {
            let text = listing(&case) + &differences(&end, &expected);
            panic!("case {n} of {name} on {:?}:\n{text}", case.cpu.endian);
        }
    }
    assert!(ended * 2 > count, "{ended} of {count} cases end");
}

/// Runs a case without a handler for faults: an access that fails ends it.
fn run_without_handlers(memory: &mut Memory, case: &Case, engine: &mut impl Engine) -> Option<End> {
    memory.write_bytes(DATA, &case.data).expect("mapped");
    let (mut cpu, mut fuel, mut events) = (case.cpu.clone(), 2000, Vec::new());
    engine.exact_registers(false);
    loop {
        let event = engine.run(&mut cpu, memory, &mut fuel);
        events.push(event);
        match event {
            Event::OutOfFuel => return None,
            Event::Syscall if events.len() < 8 => {}
            _ => break,
        }
    }
    cpu.regs[LO + 1..].fill(0);
    if let Some(Event::Exception(Exception { cause: Cause::Memory(_), .. })) = events.last() {
        // Those that the code may have set, and need not keep.
        cpu.regs[..16].fill(0);
        [31, HI, LO].into_iter().for_each(|register| cpu.regs[register] = 0);
        cpu.fpr.fill(0);
        (cpu.fcsr, cpu.link) = Default::default();
    }
    let mut data = vec![0; case.data.len()];
    memory.read_bytes(DATA, &mut data).expect("mapped");
    Some(End { events, cpu, data })
}

/// Registers that the code sets again before it reads them are not written to memory each time round, and nothing comes of it.
#[test]
fn loops_that_nobody_looks_into_end_as_interpreted() {
    let first = seed();
    for (access, count) in
        [(Access::Window, budget(3_000, 1_000_000)), (Access::Tables, budget(500, 100_000))]
    {
        let options = Options { threshold: 0, background: false, access, ..Options::default() };
        let mut jit = Jit::new(options).expect("a host with code");
        let mut ended = 0;
        for n in 0..count {
            let case = case_in_a_loop(&mut Rng::new(first.wrapping_add(n)));
            let interpreted = run_without_handlers(&mut memory(&case), &case, &mut Interpreter::default());
            let Some(expected) = interpreted else { continue };
            let found = run_without_handlers(&mut memory(&case), &case, &mut jit);
            let found = found.unwrap_or_else(|| panic!("case {n} does not end:\n{}", listing(&case)));
            if found != expected {
                panic!(
                    "case {n} on {:?}:\n{}{}",
                    case.cpu.endian,
                    listing(&case),
                    differences(&found, &expected)
                );
            }
            ended += 1;
        }
        assert!(ended * 2 > count, "{ended} of {count} cases end");
    }
}

/// Cases of a byte order with their code one behind the other: what a program compiled ahead of time is made of.
#[cfg(target_os = "linux")]
fn together(count: usize, endian: Endian, first: u64) -> Vec<Case> {
    let cases = (0..).map(|n| case(&mut Rng::new(first.wrapping_add(n))));
    let mut cases: Vec<Case> = cases.filter(|case| case.cpu.endian == endian).take(count).collect();
    let mut all: Vec<u8> = Vec::new();
    for case in &mut cases {
        let by = all.len() as u32;
        case.cpu.pc += by;
        for base in CODE_BASES {
            case.cpu.set(base.into(), case.cpu.get(base.into()) + by);
        }
        for bytes in case.code.as_chunks().0 {
            let word = endian.word(*bytes);
            let jumps = decode(word).is_ok_and(|inst| matches!(inst.op, Op::J | Op::Jal));
            let word = if jumps { word + by / 4 } else { word };
            all.extend(if endian == Endian::Big { word.to_be_bytes() } else { word.to_le_bytes() });
        }
    }
    cases.iter_mut().for_each(|case| case.code.clone_from(&all));
    cases
}

/// Cases compiled ahead of time.
#[cfg(target_os = "linux")]
fn compare_library(count: usize, endian: Endian, optimize: u8) {
    use std::sync::Arc;
    use xenoglot_cpu::aot::{self, AotError, Library};
    let cases = together(count, endian, seed());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cases.xga");
    let elf = common::elf(endian, CODE, &cases[0].code);
    match aot::compile(&elf, &path, &aot::Options { optimize, jobs: 2, ..aot::Options::default() }) {
        Err(AotError::NoCompiler { .. }) => {
            return xenoglot_testgen::skip("programs ahead of time: no C compiler");
        }
        result => assert_eq!(result.expect("compiled").refused, 0),
    }
    let library = Arc::new(Library::open(&path, &elf).expect("a library that was just made"));
    let mut jit =
        Jit::with_library(Options { threshold: u32::MAX, ..Options::default() }, library).expect("an engine");
    compare_cases(cases.into_iter(), &format!("a library with -O{optimize}"), &mut jit);
    assert!(jit.uses_library());
}

#[test]
#[cfg(target_os = "linux")]
fn libraries_are_as_interpreted() {
    compare_library(budget(100, 2_000) as usize, Endian::Big, 2);
    compare_library(budget(50, 2_000) as usize, Endian::Little, 2);
    compare_library(budget(100, 2_000) as usize, Endian::Big, 0);
}

/// The control and status of the host's floats.
fn mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: the instruction stores 32 bits to the variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

/// With everything compiled at once.
fn compare_code(count: u64, options: Options) {
    let options = Options { threshold: 0, background: false, ..options };
    let before = mxcsr();
    let mut jit = Jit::new(options).expect("a host with code");
    compare(count, &format!("machine code with {options:?}"), &mut jit);
    // Nothing was interpreted for want of code.
    assert!(jit.stats().regions > count);
    assert_eq!(jit.stats().refused, 0);
    assert_eq!(mxcsr() & !0x3f, before & !0x3f, "the host's modes");
}

#[test]
fn machine_code_is_as_interpreted() {
    compare_code(budget(10_000, 1_000_000), Options { access: Access::Window, ..Options::default() });
}

/// Baseline code for everything that there is some for, and nothing else.
#[test]
#[cfg(target_os = "linux")]
fn baseline_code_is_as_interpreted() {
    for (links, count) in [(true, budget(4_000, 1_000_000)), (false, budget(1_000, 100_000))] {
        let (threshold, baseline) = (u32::MAX, Some(0));
        let options = Options { threshold, baseline, links, background: false, ..Options::default() };
        let mut jit = Jit::new(options).expect("a host with code");
        compare(count, &format!("baseline code with {options:?}"), &mut jit);
        assert!(jit.stats().baseline > count / 2 && jit.stats().regions == 0, "{:?}", jit.stats());
    }
}

#[test]
fn machine_code_with_tables_of_pages_is_as_interpreted() {
    compare_code(budget(4_000, 1_000_000), Options { access: Access::Tables, ..Options::default() });
}

#[test]
fn machine_code_that_calls_for_memory_is_as_interpreted() {
    compare_code(budget(1_000, 100_000), Options { access: Access::Calls, ..Options::default() });
}

#[test]
fn machine_code_that_returns_to_the_engine_is_as_interpreted() {
    compare_code(budget(1_000, 100_000), Options { links: false, ..Options::default() });
}

/// Runs each case again and again in one memory, with time between; what was compiled.
fn compare_again(count: u64, options: Options) -> Stats {
    let mut jit = Jit::new(options).expect("a host with code");
    let first = seed();
    for n in 0..count {
        let case = case(&mut Rng::new(first.wrapping_add(n)));
        let Some(expected) = run(&case, &mut Interpreter::default()) else { continue };
        let mut memory = memory(&case);
        for round in 0..8 {
            let found = run_in(&mut memory, &case, &mut jit);
            let found = found.unwrap_or_else(|| panic!("case {n} does not end:\n{}", listing(&case)));
            if found != expected {
                let text = listing(&case) + &differences(&found, &expected);
                panic!("case {n}, round {round}, {options:?}, {:?}:\n{text}", case.cpu.endian);
            }
            if options.background {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
        }
    }
    assert_eq!(jit.stats().refused, 0);
    jit.stats()
}

/// Code is compiled beside and comes piece by piece.
#[test]
fn machine_code_of_other_threads_is_as_interpreted() {
    if std::thread::available_parallelism().map_or(1, usize::from) == 1 {
        return xenoglot_testgen::skip::skip("code of other threads: one processor");
    }
    let options = Options { threshold: 1, background: true, ..Options::default() };
    let count = budget(1_000, 100_000);
    let stats = compare_again(count, options);
    assert!(stats.background > count / 10, "{stats:?}");
}

/// Baseline code counts its runs, and gives way to better code in the middle of a run.
#[test]
#[cfg(target_os = "linux")]
fn baseline_code_that_gives_way_is_as_interpreted() {
    for links in [true, false] {
        let options =
            Options { threshold: 2, baseline: Some(0), background: false, links, ..Options::default() };
        let count = budget(1_000, 100_000);
        let stats = compare_again(count, options);
        assert!(stats.baseline > count / 10 && stats.regions > count / 10, "{stats:?}");
    }
}

#[test]
fn ir_is_as_interpreted() {
    compare(budget(10_000, 1_000_000), "IR", &mut Reference::default());
}
