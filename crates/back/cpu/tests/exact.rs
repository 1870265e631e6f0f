//! Registers that are exact only where somebody may look at them.
#![cfg(all(unix, target_arch = "x86_64"))]

mod common;

use common::guest;
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::memory::{Memory, Rights};
use xenoglot_guest::{Cause, Cpu, Engine, Event, Exception, Interpreter, reg};

const DATA: u32 = 0x50_0000;

/// An engine that compiles blocks when they have been interpreted so often.
fn jit(threshold: u32) -> Jit {
    let options = Options { threshold, baseline: None, background: false, ..Options::default() };
    Jit::new(options).expect("a host with code")
}

/// Runs until an access fails.
fn run_to_fault(mut cpu: Cpu, memory: &mut Memory, engine: &mut impl Engine) -> Cpu {
    let event = engine.run(&mut cpu, memory, &mut u64::MAX.clone());
    assert!(
        matches!(event, Event::Exception(Exception { cause: Cause::Memory(_), .. })),
        "{event:?} at {:#x}",
        cpu.pc
    );
    cpu
}

/// A loop whose load fails at last, while `t0` has a value that the next round would replace. Code that was made before the first
/// handler need not have kept it, and is not used any more.
#[test]
fn registers_are_exact_from_the_first_handler_on() {
    let words = [
        0x8ca2_0000, // loop: lw v0, 0(a1)
        0x0045_4021, // addu t0, v0, a1
        0x0068_1821, // addu v1, v1, t0
        0x24a5_0004, // addiu a1, a1, 4
        0x1000_fffb, // b loop
        0,
    ];
    let (mut cpu, mut memory) = guest(&words);
    memory.map(DATA, 0x1000, Rights::READ);
    cpu.set(reg::A1, DATA);
    let expected = run_to_fault(cpu.clone(), &mut memory, &mut Interpreter::default());
    for threshold in [0, 10] {
        let mut engine = jit(threshold);
        engine.exact_registers(false);
        let live = run_to_fault(cpu.clone(), &mut memory, &mut engine);
        assert_eq!(
            (live.pc, live.get(reg::A1), live.get(reg::V1)),
            (expected.pc, expected.get(reg::A1), expected.get(reg::V1))
        );
        engine.exact_registers(true);
        assert_eq!(run_to_fault(cpu.clone(), &mut memory, &mut engine), expected, "{threshold}");
    }
}

/// A loop that changes its instruction that sets `t0` to one that also reads it: the value is that of the round before, although
/// the code before had no need to keep it, because `synci` says that there is other code.
#[test]
fn changed_code_finds_registers_that_the_old_code_had_no_need_for() {
    let words = [
        0x3c09_0040, // lui t1, 0x40
        0x3c0b_2508, // lui t3, 0x2508
        0x356b_0001, // ori t3, t3, 1: addiu t0, t0, 1
        0x0000_1821, // move v1, zero
        0x3404_0064, // li a0, 100
        0x2485_ffce, // loop: addiu a1, a0, -50
        0x14a0_0003, // bnez a1, on
        0,
        0xad2b_0028, // sw t3, 40(t1)
        0x053f_0000, // synci 0(t1)
        0x2408_0007, // on: li t0, 7, which is overwritten
        0x0068_1821, // addu v1, v1, t0
        0x2484_ffff, // addiu a0, a0, -1
        0x1c80_fff7, // bgtz a0, loop
        0,
        0x0000_000c, // syscall
    ];
    let run = |engine: &mut dyn Engine| {
        let (mut cpu, mut memory) = guest(&words);
        engine.exact_registers(false);
        assert_eq!(engine.run(&mut cpu, &mut memory, &mut u64::MAX.clone()), Event::Syscall);
        cpu
    };
    let expected = run(&mut Interpreter::default());
    assert_eq!(expected.get(reg::V1), 50 * 7 + (8..58).sum::<u32>());
    for threshold in [0, 1, 10] {
        assert_eq!(run(&mut jit(threshold)), expected, "{threshold}");
    }
}
