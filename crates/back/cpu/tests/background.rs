//! Code that other threads compile while the guest goes on: what the guest does is the same, whatever happens to its code
//! meanwhile.
#![cfg(all(unix, target_arch = "x86_64"))]

mod common;

use common::{CODE, guest};
use std::time::{Duration, Instant};
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::memory::{FaultKind, Memory, Rights};
use xenoglot_guest::{Cause, Cpu, Engine, Event, Interpreter, reg};
use xenoglot_testgen::property::budget;
use xenoglot_testgen::skip::skip;

/// Adds a number to `v1` as often as `a0` says.
const LOOP: [u32; 6] = [
    0x0000_1821, // move v1, zero
    0x2463_0001, // loop: addiu v1, v1, 1
    0x2484_ffff, // addiu a0, a0, -1
    0x1c80_fffd, // bgtz a0, loop
    0,
    0x0000_000c, // syscall
];
/// The instruction that has the number.
const NUMBER: u32 = CODE + 4;

fn jit(threshold: u32) -> Jit {
    Jit::new(Options { threshold, background: true, ..Options::default() }).expect("a host with code")
}

/// Whether there is another processor to compile on. Says so where there is none.
fn has_another() -> bool {
    let has = std::thread::available_parallelism().is_ok_and(|count| count.get() > 1);
    if !has {
        skip("code of other threads: one processor");
    }
    has
}

/// `v1` after the loop.
fn sum(engine: &mut Jit, cpu: &Cpu, memory: &mut Memory, rounds: u32) -> u32 {
    let mut cpu = cpu.clone();
    cpu.set(reg::A0, rounds);
    let retired = cpu.retired;
    assert_eq!(engine.run(&mut cpu, memory, &mut 1_000_000_000), Event::Syscall);
    assert_eq!(cpu.retired - retired, 2 + 4 * u64::from(rounds), "instructions");
    cpu.get(reg::V1)
}

#[test]
fn a_loop_goes_on_in_code_that_was_made_beside() {
    if !has_another() {
        return;
    }
    let start = Instant::now();
    // An engine whose job no other thread begins soon does it by itself.
    loop {
        let (cpu, mut memory) = guest(&LOOP);
        let mut engine = jit(1000);
        assert_eq!(sum(&mut engine, &cpu, &mut memory, 1_000_000), 1_000_000);
        assert_eq!(sum(&mut engine, &cpu, &mut memory, 1000), 1000);
        if engine.stats().background > 0 {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no other thread compiles");
    }
}

/// Instructions change at any time of a compilation: before it is begun, while it goes on, when it is done.
#[test]
fn code_that_changes_meanwhile_is_not_installed() {
    if !has_another() {
        return;
    }
    let (cpu, mut memory) = guest(&LOOP);
    let (mut compiled, mut forgotten) = (0, 0);
    for round in 0..budget(400, 20_000) as u32 {
        // Each is an engine's first code: pages that change often are interpreted only.
        let mut engine = jit(1 + round % 5);
        for number in 1..4 {
            memory.poke(NUMBER, &(0x2463_0000_u32 | number).to_be_bytes()).expect("mapped");
            assert_eq!(sum(&mut engine, &cpu, &mut memory, 20), 20 * number);
            std::thread::sleep(Duration::from_micros(u64::from(round % 16) * 40));
            assert_eq!(sum(&mut engine, &cpu, &mut memory, 20), 20 * number);
        }
        compiled += engine.stats().background;
        forgotten += engine.stats().forgotten;
        // The next engine meets this memory as it is.
        memory.poke(NUMBER, &0x2463_0001_u32.to_be_bytes()).expect("mapped");
        assert_eq!(sum(&mut engine, &cpu, &mut memory, 20), 20);
    }
    assert!(compiled > 0 && forgotten > 0, "{compiled} {forgotten}");
}

/// A program that changes its own loop every so many rounds, a few times before it is left to the interpreter.
#[test]
fn programs_that_change_themselves_meanwhile_do_as_interpreted() {
    let words = [
        0x3c09_0040, // lui t1, 0x40
        0x3c08_2463, // lui t0, 0x2463: addiu v1, v1, N
        0x0000_1821, // move v1, zero
        0x240a_0014, // li t2, 20
        0x010a_5825, // outer: or t3, t0, t2
        0xad2b_001c, // sw t3, 28(t1)
        0x3404_c350, // li a0, 50000
        0x2463_0000, // inner: addiu v1, v1, 0, which is overwritten
        0x2484_ffff, // addiu a0, a0, -1
        0x1c80_fffd, // bgtz a0, inner
        0,
        0x254a_ffff, // addiu t2, t2, -1
        0x1d40_fff7, // bgtz t2, outer
        0,
        0x0000_000c, // syscall
    ];
    let (mut expected, mut memory) = guest(&words);
    assert_eq!(Interpreter::default().run(&mut expected, &mut memory, &mut u64::MAX.clone()), Event::Syscall);
    assert_eq!(expected.get(reg::V1), 50_000 * 210);
    for threshold in [1, 20, 500, 5000] {
        let (mut cpu, mut memory) = guest(&words);
        let mut engine = jit(threshold);
        assert_eq!(engine.run(&mut cpu, &mut memory, &mut u64::MAX.clone()), Event::Syscall);
        assert_eq!(cpu, expected);
    }
}

#[test]
fn code_that_is_unmapped_meanwhile_runs_no_longer() {
    for round in 0..budget(50, 1000) {
        let (cpu, mut memory) = guest(&LOOP);
        let mut engine = jit(3);
        assert_eq!(sum(&mut engine, &cpu, &mut memory, 20), 20);
        std::thread::sleep(Duration::from_micros(round % 8 * 100));
        if round % 2 == 0 {
            memory.unmap(CODE, 0x1000);
        } else {
            assert!(memory.protect(CODE, 0x1000, Rights::READ));
        }
        std::thread::sleep(Duration::from_micros(round % 5 * 100));
        let mut after = cpu.clone();
        let event = engine.run(&mut after, &mut memory, &mut 1000);
        let kind = if round % 2 == 0 { FaultKind::Unmapped } else { FaultKind::Denied };
        assert!(
            matches!(event, Event::Exception(e) if matches!(e.cause, Cause::Memory(f) if f.kind == kind)),
            "{event:?}"
        );
        assert_eq!(after.retired, 0);
    }
}

/// What was ordered for one memory is not installed for the next one that the engine meets.
#[test]
fn code_of_another_memory_is_not_installed() {
    let mut engine = jit(2);
    for round in 0..budget(200, 5000) as u32 {
        let number = 1 + round % 100;
        let mut words = LOOP;
        words[1] = 0x2463_0000 | number;
        let (cpu, mut memory) = guest(&words);
        for _ in 0..3 {
            assert_eq!(sum(&mut engine, &cpu, &mut memory, 10), 10 * number);
            std::thread::sleep(Duration::from_micros(u64::from(round % 4) * 100));
        }
    }
}

#[test]
fn asked_to_repeat_itself_an_engine_compiles_by_itself() {
    let run = || {
        let (mut cpu, mut memory) = guest(&LOOP);
        cpu.set(reg::A0, 1_000_000);
        let mut engine = jit(100);
        engine.repeat_itself();
        let ends: Vec<u64> = (0..20)
            .map(|_| {
                assert_eq!(engine.run(&mut cpu, &mut memory, &mut 1234), Event::OutOfFuel);
                cpu.retired
            })
            .collect();
        (ends, engine.stats().regions, engine.stats().background)
    };
    let (ends, regions, background) = run();
    assert_eq!((regions, background), (1, 0));
    for _ in 0..5 {
        assert_eq!(run().0, ends);
    }
}
