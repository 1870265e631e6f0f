//! The threads that compile: there are few, whatever number of engines comes and goes.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::memory::{Memory, Rights};
use xenoglot_guest::{Cpu, Engine, Event, reg};
use xenoglot_mips::Endian;

const CODE: u32 = 0x40_0000;

/// How many of the process's threads compile.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("the system's folder");
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("xenoglot-cpu")).count()
}

/// An engine that has handed a loop of its own over.
fn engine(number: u32) -> Jit {
    let mut memory = Memory::new(1 << 20);
    memory.map(CODE, 0x1000, Rights::READ.and(Rights::EXECUTE));
    // addiu v1,v1,number ; addiu a0,a0,-1 ; bgtz a0 ; nop ; syscall
    let words = [0x2463_0000 | number, 0x2484_ffff, 0x1c80_fffd, 0, 0x0000_000c];
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect();
    memory.poke(CODE, &bytes).expect("mapped");
    let mut cpu = Cpu::new(Endian::Big);
    cpu.pc = CODE;
    cpu.set(reg::A0, 100);
    let mut jit =
        Jit::new(Options { threshold: 2, background: true, ..Options::default() }).expect("a host with code");
    assert_eq!(jit.run(&mut cpu, &mut memory, &mut 1_000_000), Event::Syscall);
    assert_eq!(cpu.get(reg::V1), 100 * number);
    jit
}

#[test]
fn engines_of_short_lives_share_a_few_threads() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..50 {
                    // Dropped at once, with what it has handed over.
                    drop(engine(1 + thread * 50 + number));
                    assert!(threads() <= 2);
                }
            });
        }
    });
    let kept: Vec<Jit> = (1..30).map(engine).collect();
    assert!(threads() <= 2);
    drop(kept);
}
