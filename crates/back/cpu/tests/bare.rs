//! The freestanding programs of `vectors/mips/bare` as machine code and as IR: output, end and final state are those of the
//! direct interpreter.
#![cfg(all(unix, target_arch = "x86_64"))]

mod common;

use common::{bare, load, run};
use xenoglot_cpu::{Jit, Options, Reference};
use xenoglot_guest::{Engine, Interpreter};

const PROGRAMS: [&str; 11] =
    ["hello", "int", "sha", "fp", "smc", "chain", "brk", "ill", "ovf", "segv", "unal"];

fn same_as_interpreted<E: Engine>(programs: &[&str], engine: impl Fn() -> E) {
    for name in programs {
        let (elf, out) = bare(name);
        let mut expected = load(&elf, Interpreter::default());
        let end = run(&mut expected);
        let mut machine = load(&elf, engine());
        assert_eq!(run(&mut machine), end, "{name}");
        assert_eq!(machine.kernel.0, out, "{name}");
        assert_eq!(machine.cpu, expected.cpu, "{name}");
    }
}

#[test]
fn compiled_at_once() {
    same_as_interpreted(&PROGRAMS, || {
        Jit::new(Options { threshold: 0, background: false, ..Options::default() }).expect("a host with code")
    });
}

#[test]
fn compiled_as_baseline_code() {
    same_as_interpreted(&PROGRAMS, || {
        let options = Options { threshold: u32::MAX, baseline: Some(0), ..Options::default() };
        Jit::new(options).expect("a host with code")
    });
}

#[test]
fn compiled_in_small_regions() {
    same_as_interpreted(&PROGRAMS, || {
        Jit::new(Options { threshold: 3, max_insts: 7, background: false, ..Options::default() })
            .expect("a host with code")
    });
}

#[test]
fn compiled_when_hot() {
    same_as_interpreted(&PROGRAMS, || Jit::new(Options::default()).expect("a host with code"));
}

#[test]
fn interpreted_as_ir() {
    // The others take minutes this way.
    let programs = ["hello", "smc", "chain", "brk", "ill", "ovf", "segv", "unal"];
    same_as_interpreted(&programs, Reference::default);
}
