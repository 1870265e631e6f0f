//! What guest code does to the host: nothing.
#![cfg(all(unix, target_arch = "x86_64"))]

mod common;

use common::CODE;
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::memory::{FaultKind, Memory, Rights};
use xenoglot_guest::{Cause, Cpu, Engine, Event, Interpreter, reg};

const STACK: u32 = 0x7f00_0000;

fn jit() -> Jit {
    Jit::new(Options { threshold: 0, background: false, ..Options::default() }).expect("a host with code")
}

/// A guest with code that may be written, and 16 MiB of stack.
fn guest(words: &[u32]) -> (Cpu, Memory) {
    let (mut cpu, mut memory) = common::guest(words);
    memory.map(STACK, 1 << 24, Rights::READ.and(Rights::WRITE));
    cpu.set(reg::SP, STACK + (1 << 24) - 64);
    (cpu, memory)
}

/// A sum from 1 to `a0`, by recursion, and `syscall`.
const RECURSION: [u32; 17] = [
    0x0c10_0005, // jal f
    0,
    0x0000_000c, // syscall
    0x0000_000d, // break
    0,
    0x1080_0009, // f: beqz a0, end
    0x0000_1021, // move v0, zero
    0x27bd_fff8, // addiu sp, sp, -8
    0xafbf_0000, // sw ra, 0(sp)
    0xafa4_0004, // sw a0, 4(sp)
    0x0c10_0005, // jal f
    0x2484_ffff, // addiu a0, a0, -1
    0x8fbf_0000, // lw ra, 0(sp)
    0x8fa4_0004, // lw a0, 4(sp)
    0x27bd_0008, // addiu sp, sp, 8
    0x03e0_0008, // end: jr ra
    0x0044_1021, // addu v0, v0, a0
];

/// The host's stack is 128 KiB here: 300,000 calls within each other take none of it.
#[test]
fn recursion_takes_no_stack_of_the_host() {
    let thread = std::thread::Builder::new().stack_size(1 << 17);
    let (mut cpu, mut memory) = guest(&RECURSION);
    cpu.set(reg::A0, 300_000);
    let mut engine = jit();
    // Compiles everything: that takes more of the stack than running it.
    let mut warm = cpu.clone();
    warm.set(reg::A0, 10);
    assert_eq!(engine.run(&mut warm, &mut memory, &mut 1_000_000), Event::Syscall);
    let regions = engine.stats().regions;
    let deep = move || {
        let event = engine.run(&mut cpu, &mut memory, &mut 1_000_000_000);
        (event, cpu, engine.stats().regions)
    };
    let (event, cpu, after) = thread.spawn(deep).expect("a thread").join().expect("no panic");
    assert_eq!((event, after), (Event::Syscall, regions));
    assert_eq!(cpu.get(reg::V0), (300_000u64 * 300_001 / 2) as u32);
}

#[test]
fn who_observes_is_told_of_all_code() {
    use std::sync::{Arc, Mutex};
    let (mut cpu, mut memory) = guest(&RECURSION);
    cpu.set(reg::A0, 10);
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut engine = jit();
    let list = told.clone();
    engine.observe(Arc::new(move |code| list.lock().expect("no panic").push(*code)));
    assert_eq!(engine.run(&mut cpu, &mut memory, &mut 1_000_000), Event::Syscall);
    let told = told.lock().expect("no panic");
    assert_eq!((told.len() as u64, told[0].pc), (engine.stats().regions, CODE));
    assert_eq!(told.iter().map(|code| code.bytes as u64).sum::<u64>(), engine.stats().host_bytes);
    assert!(told.windows(2).all(|code| code[0].address + code[0].bytes as u64 <= code[1].address));
}

/// How the host computes: masks, rounding, denormals. Any float operation of Rust sets the flags below.
fn mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: the instruction stores 32 bits to the variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value) };
    value & !0x3f
}

#[test]
fn the_hosts_float_state_stays() {
    // div.d $f0,$f2,$f4: inexact; break
    let (mut cpu, mut memory) = guest(&[0x4624_1003, 0x0000_000d]);
    cpu.set_double(2, 1f64.to_bits());
    cpu.set_double(4, 3f64.to_bits());
    let before = mxcsr();
    let event = jit().run(&mut cpu, &mut memory, &mut 100);
    assert_eq!(mxcsr(), before);
    assert!(matches!(event, Event::Exception(e) if matches!(e.cause, Cause::Break(_))));
    assert_eq!(f64::from_bits(cpu.double(0)), 1.0 / 3.0);
    // Cause and flag of an inexact result.
    assert_eq!(cpu.fcsr, 1 << 12 | 1 << 2);
}

/// A loop that stores an instruction right before it executes it, without a flush.
#[test]
fn code_follows_its_stores() {
    let words = [
        0x3c08_2402, // lui t0, 0x2402: addiu v0, zero, N
        0x3c09_0040, // lui t1, 0x40
        0x0000_1821, // move v1, zero
        0x240a_0064, // li t2, 100
        0x010a_5825, // loop: or t3, t0, t2
        0xad2b_001c, // sw t3, 28(t1)
        0,
        0x2402_0000, // addiu v0, zero, 0, which is overwritten
        0x0062_1821, // addu v1, v1, v0
        0x254a_ffff, // addiu t2, t2, -1
        0x1d40_fff9, // bgtz t2, loop
        0,
        0x0000_000c, // syscall
    ];
    for threshold in [0, 5] {
        let (mut cpu, mut memory) = guest(&words);
        let mut engine = Jit::new(Options { threshold, background: false, ..Options::default() })
            .expect("a host with code");
        assert_eq!(engine.run(&mut cpu, &mut memory, &mut 1_000_000), Event::Syscall);
        assert_eq!(cpu.get(reg::V1), 5050);
        let (mut expected, mut memory) = guest(&words);
        assert_eq!(Interpreter::default().run(&mut expected, &mut memory, &mut 1_000_000), Event::Syscall);
        assert_eq!(cpu, expected);
    }
}

#[test]
fn pages_that_lose_their_rights_run_no_longer() {
    let (mut cpu, mut memory) = guest(&RECURSION);
    cpu.set(reg::A0, 10);
    let start = cpu.clone();
    let mut engine = jit();
    assert_eq!(engine.run(&mut cpu, &mut memory, &mut 10_000), Event::Syscall);
    assert!(memory.protect(CODE, 0x1000, Rights::READ));
    let mut cpu = start.clone();
    let event = engine.run(&mut cpu, &mut memory, &mut 10_000);
    assert!(
        matches!(event, Event::Exception(e) if matches!(e.cause, Cause::Memory(f) if f.kind == FaultKind::Denied))
    );
    // Data, too: what is compiled meets a stack that is gone.
    assert!(memory.protect(CODE, 0x1000, Rights::READ.and(Rights::EXECUTE)));
    memory.unmap(STACK, 1 << 24);
    let mut cpu = start;
    let event = engine.run(&mut cpu, &mut memory, &mut 10_000);
    let Event::Exception(exception) = event else { panic!("{event:?}") };
    assert_eq!(exception.pc, CODE + 4 * 8);
    // Registers are exact: the stack pointer has moved already.
    assert_eq!(cpu.get(reg::SP), STACK + (1 << 24) - 72);
}

#[test]
fn fuel_ends_loops_of_all_kinds() {
    for words in [
        // A loop in a region, and one of calls between regions.
        &[0x1000_ffff, 0][..],
        &[0x0c10_0002, 0, 0x0c10_0000, 0],
        // Through a register.
        &[0x3c09_0040, 0x0120_0008, 0],
    ] {
        let (mut cpu, mut memory) = guest(words);
        let mut fuel = 100_000;
        assert_eq!(jit().run(&mut cpu, &mut memory, &mut fuel), Event::OutOfFuel);
        assert_eq!(fuel, 0);
        assert!((100_000..100_100).contains(&cpu.retired), "{}", cpu.retired);
    }
}
