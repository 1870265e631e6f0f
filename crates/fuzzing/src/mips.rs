//! MIPS: words, ELF files, and programs under Linux.

use xenoglot_mips::container::elf::{Elf, Limits, is_mips};
use xenoglot_mips::{Endian, decode, disasm};
use xenoglot_testgen::mips::{elf, i, sequences};
use xenoglot_testgen::rng::Rng;

/// Words: each is an instruction with a text that does not depend on anything else, or is printed as a word.
pub fn mips_decode(data: &[u8]) {
    for bytes in data.as_chunks().0 {
        let word = u32::from_be_bytes(*bytes);
        let text = disasm::text(word, 0x40_0000);
        match decode(word) {
            Ok(inst) => assert_eq!(inst.text(0x40_0000).to_string(), text),
            Err(unknown) => assert_eq!((unknown.word, text), (word, format!(".word\t{word:#x}"))),
        }
    }
}

/// ELF files: segments lie in the file and the address space; a file that is read is run as far as little fuel goes.
pub fn mips_elf(data: &[u8]) {
    let limits = Limits { program_headers: 64, sections: 64, symbols: 4096 };
    let Ok(elf) = Elf::parse(data, &limits) else { return };
    assert!(is_mips(data));
    for segment in &elf.segments {
        assert!(segment.bytes.len() <= segment.size as usize);
        assert!(u64::from(segment.address) + u64::from(segment.size) <= 1 << 32);
    }
    if let Ok(functions) = elf.functions(&limits) {
        assert!(functions.len() <= limits.symbols as usize);
    }
    run(data.to_vec());
}

/// Programs: whatever instructions do, the guest ends or its fuel does, and a second run is the same. The first byte is
/// the byte order, the rest is code.
pub fn mips_guest(data: &[u8]) {
    let Some((&first, code)) = data.split_first() else { return };
    let endian = if first & 1 == 0 { Endian::Big } else { Endian::Little };
    let code: Vec<u32> = code.as_chunks().0.iter().take(4096).map(|word| u32::from_be_bytes(*word)).collect();
    run(elf(endian, &code, 0x1_0000));
}

/// Code, on memory of one page of data and with registers that lead there: as machine code, it does what it does when it is
/// interpreted, and the host's float modes are as before. The first byte is the byte order, how memory is reached, whether other
/// threads compile, and for how many runs there is baseline code; the rest is code.
#[cfg(all(unix, target_arch = "x86_64"))]
pub fn mips_jit(data: &[u8]) {
    use xenoglot_cpu::{Access, Jit, Options};
    use xenoglot_guest::Interpreter;

    let Some((&first, code)) = data.split_first() else { return };
    let endian = if first & 1 == 0 { Endian::Big } else { Endian::Little };
    let access = if first & 2 == 0 { Access::Window } else { Access::Tables };
    let code: Vec<u32> = code.as_chunks().0.iter().take(256).map(|word| u32::from_be_bytes(*word)).collect();
    let background = first & 4 != 0;
    // Baseline code that gives way early or late, or none.
    let baseline = (first & 8 != 0).then_some(0);
    let threshold = if baseline.is_some() { u32::from(first >> 4) } else { u32::from(background) };
    let options = Options { threshold, baseline, access, background, ..Options::default() };
    let Ok(mut jit) = Jit::new(options) else { return };
    let expected = code_run(endian, &code, &mut Interpreter::default());
    let before = mxcsr();
    let found = code_run(endian, &code, &mut jit);
    // Bits 0 to 5 are what happened, the others how floats are computed.
    assert_eq!(mxcsr() >> 6, before >> 6, "the host's float modes");
    if let (Some(expected), Some(found)) = (expected, found) {
        assert!(found == expected, "{found:x?}\n{expected:x?}");
    }
}

/// The file of a library of a program without its hash and mark: it is refused without them; with them it is refused, or says no
/// more than it has room for, and no byte of it may change.
#[cfg(all(unix, target_arch = "x86_64"))]
pub fn mips_library(data: &[u8]) {
    use xenoglot_cpu::aot::describe;

    if let Ok(description) = describe(data) {
        assert!(description.code.len() <= data.len() / 40);
    }
    let mut file = [data, blake3::hash(data).as_bytes(), b"xga lib\0"].concat();
    let Ok(description) = describe(&file) else { return };
    // Each range of code with its hash, and 80 bytes of other fields.
    assert!(40 * description.code.len() + 80 <= data.len());
    // Any place, the same one for the same file.
    let sum = file.iter().fold(0, |sum, &byte| (31 * sum + u64::from(byte)) % 0xffff_fffb);
    let at = Rng::new(sum).below(file.len() as u32) as usize;
    assert!(file.get(..at).is_some_and(|part| describe(part).is_err()));
    file.get_mut(at).into_iter().for_each(|byte| *byte ^= 1);
    assert!(describe(&file).is_err());
}

/// Says nothing: there are no libraries here.
#[cfg(not(all(unix, target_arch = "x86_64")))]
pub fn mips_library(_: &[u8]) {}

/// Says nothing: there is no machine code here.
#[cfg(not(all(unix, target_arch = "x86_64")))]
pub fn mips_jit(_: &[u8]) {}

/// The control and status of the host's floats.
#[cfg(all(unix, target_arch = "x86_64"))]
fn mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: the instruction stores 32 bits to the variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

/// Events, processor and data after some events; `None` when the fuel is used up, which is taken in other steps.
#[cfg(all(unix, target_arch = "x86_64"))]
fn code_run(
    endian: Endian,
    code: &[u32],
    engine: &mut impl xenoglot_guest::Engine,
) -> Option<(Vec<xenoglot_guest::Event>, xenoglot_guest::Cpu, Vec<u8>)> {
    use xenoglot_guest::memory::{Memory, Rights};
    use xenoglot_guest::{Cpu, Event, LO};

    const CODE: u32 = 0x40_0000;
    const DATA: u32 = 0x50_0000;
    let bytes = |word: &u32| match endian {
        Endian::Big => word.to_be_bytes(),
        Endian::Little => word.to_le_bytes(),
    };
    let mut memory = Memory::new(1 << 16);
    memory.map(CODE, 0x1000, Rights::READ.and(Rights::WRITE).and(Rights::EXECUTE));
    memory.map(DATA, 0x1000, Rights::READ.and(Rights::WRITE));
    let code: Vec<u8> = code.iter().flat_map(bytes).collect();
    memory.poke(CODE, &code).ok()?;
    let mut rng = Rng::new(code.len() as u64);
    let mut cpu = Cpu::new(endian);
    for register in 1..32 {
        let anything = rng.next_u32();
        cpu.set(register, if register % 2 == 0 { DATA + (anything & 0x7fc) } else { anything });
    }
    cpu.fpr = std::array::from_fn(|_| rng.next_u32());
    cpu.pc = CODE;
    let mut fuel = 20_000;
    let mut events = Vec::new();
    for _ in 0..8 {
        let event = engine.run(&mut cpu, &mut memory, &mut fuel);
        events.push(event);
        match event {
            Event::OutOfFuel => return None,
            Event::Syscall => {}
            Event::Exception(exception) => cpu.pc = exception.pc.wrapping_add(4),
        }
    }
    // What engines use for themselves.
    cpu.regs[LO + 1..].fill(0);
    let mut data = vec![0; 0x1000];
    memory.read_bytes(DATA, &mut data).ok()?;
    Some((events, cpu, data))
}

#[cfg(target_os = "linux")]
fn run(bytes: Vec<u8>) {
    use std::time::{Duration, Instant};
    use xenoglot_guest::Interpreter;
    use xenoglot_guest::linux::{Config, End, Program, Stdio, System};

    let once = || {
        let config =
            Config { memory: 1 << 20, stack: 1 << 16, processes: 4, seed: Some(1), ..Config::default() };
        let program = Program {
            bytes: bytes.clone().into(),
            path: "/program".into(),
            arguments: vec![b"program".to_vec()],
            environment: Vec::new(),
        };
        let stdio = Stdio { streams: [None, None, None] };
        let mut system = System::new(config, stdio, program, Interpreter::default).ok()?;
        let mut fuel = 20_000;
        // With a seed, nobody waits for a clock; nothing of the outside is there to wait for.
        let end = system.run(&mut fuel, Some(Instant::now() + Duration::from_secs(20)));
        assert_ne!(end, End::OutOfTime);
        assert!(system.deaths().iter().all(|death| !death.to_string().is_empty()));
        Some((end, system.instructions()))
    };
    assert_eq!(once(), once());
}

#[cfg(not(target_os = "linux"))]
fn run(_: Vec<u8>) {}

/// Words of all kinds.
pub(crate) fn words() -> Vec<Vec<u8>> {
    programs().into_iter().map(|bytes| bytes.into_iter().skip(1).collect()).collect()
}

/// Random sequences, and system calls with numbers and arguments of all kinds.
pub(crate) fn programs() -> Vec<Vec<u8>> {
    let bytes = |endian: u8, code: &[u32]| {
        let words = code.iter().flat_map(|word| word.to_be_bytes());
        std::iter::once(endian).chain(words).collect::<Vec<u8>>()
    };
    let mut rng = Rng::new(1);
    let mut all =
        vec![bytes(0, &sequences(&mut rng, 2, 20).code), bytes(1, &sequences(&mut rng, 2, 20).code)];
    for number in
        [4002, 4003, 4004, 4045, 4090, 4120, 4125, 4167, 4188, 4193, 4194, 4199, 4210, 4238, 4252, 4288]
    {
        let mut code = vec![i::addiu(29, 29, -64), i::lui(8, 0x1000)];
        for register in 4..8 {
            code.push(match rng.below(3) {
                0 => i::addiu(register, 0, rng.below(64) as i32),
                1 => i::addiu(register, 8, rng.below(4096) as i32),
                _ => i::lui(register, rng.below(0x10000) as i32),
            });
        }
        code.extend([
            i::sw(4, 29, 16),
            i::sw(8, 29, 20),
            i::addiu(2, 0, number),
            i::SYSCALL,
            i::branch(-9),
            0,
        ]);
        all.push(bytes(rng.below(2) as u8, &code));
    }
    all
}

/// Libraries without hash and mark: some bytes, ranges of code, and fields.
pub(crate) fn libraries() -> Vec<Vec<u8>> {
    let library = |ranges: u32, length: usize| {
        let mut bytes = vec![0x7f; length];
        for start in (0..ranges).map(|number| number << 20) {
            bytes.extend([start, start + 0x100].into_iter().flat_map(u32::to_le_bytes));
            bytes.extend([1; 32]);
        }
        // The count, the level of the processor, two hashes, the bytes before the ranges.
        bytes.extend([ranges, 2].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend([2; 64]);
        bytes.extend((length as u64).to_le_bytes());
        bytes
    };
    (0..4).flat_map(|ranges| [0, 1, 16, 64].map(|length| library(ranges, length))).collect()
}

/// ELF files of both byte orders.
pub(crate) fn files() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(2);
    let exit = [i::addiu(4, 0, 3), i::addiu(2, 0, 4001), i::SYSCALL];
    let mut all = Vec::new();
    for endian in [Endian::Big, Endian::Little] {
        all.push(elf(endian, &exit, 64));
        all.extend((0..6).map(|length| {
            let program = sequences(&mut rng, 1, 4 * length);
            elf(endian, &program.code, program.data)
        }));
    }
    all
}
