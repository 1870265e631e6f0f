//! Programs compiled ahead of time: output, end and final state are those of the direct interpreter.
//!
//! Needs a C compiler as `cc`; without one there is nothing to test.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use common::{CODE, bare, elf, load, run};
use std::path::Path;
use std::sync::Arc;
use xenoglot_cpu::aot::{self, AotError, Library};
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::Interpreter;
use xenoglot_mips::Endian;

const PROGRAMS: [&str; 11] =
    ["hello", "int", "sha", "fp", "smc", "chain", "brk", "ill", "ovf", "segv", "unal"];

/// The library of a program; `None` where there is no compiler.
fn library(elf: &[u8], folder: &Path) -> Option<Library> {
    let path = folder.join("program.xga");
    match aot::compile(elf, &path, &aot::Options { jobs: 1, ..aot::Options::default() }) {
        Ok(report) => {
            assert!(report.functions > 0 && report.refused == 0, "{report:?}");
            let file = std::fs::read(&path).expect("a library that was just made");
            let description = aot::describe(&file).expect("a library that was just made");
            assert_eq!(description.elf, *blake3::hash(elf).as_bytes());
            assert!(description.is_current && description.runs_here && !description.code.is_empty());
            Some(Library::open(&path, elf).expect("a library that was just made"))
        }
        Err(AotError::NoCompiler { .. }) => {
            xenoglot_testgen::skip("programs ahead of time: no C compiler");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn programs_are_as_interpreted() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in PROGRAMS {
        let (elf, out) = bare(name);
        let Some(library) = library(&elf, folder.path()) else { return };
        let mut expected = load(&elf, Interpreter::default());
        let end = run(&mut expected);
        let jit = Jit::with_library(Options::default(), Arc::new(library)).expect("a host with code");
        let mut machine = load(&elf, jit);
        assert_eq!(run(&mut machine), end, "{name}");
        assert_eq!(machine.kernel.0, out, "{name}");
        assert_eq!(machine.cpu, expected.cpu, "{name}");
        // A program that changes itself runs without the library from then on.
        assert_eq!(machine.engine.uses_library(), name != "smc", "{name}");
        assert!(name == "smc" || machine.engine.stats().regions == 0, "{name}");
    }
}

/// A conversion of an integer that rounds, whose result is overwritten: it leaves its exception all the same.
#[test]
fn conversions_that_nobody_uses_are_inexact() {
    let words: [u32; 8] = [
        0x3c08_0100, // lui t0, 0x100
        0x3508_0001, // ori t0, t0, 1
        0x4488_2000, // mtc1 t0, $f4
        0x4680_2020, // cvt.s.w $f0, $f4
        0x4480_0000, // mtc1 zero, $f0
        0x2402_0fa1, // li v0, 4001
        0x2404_0000, // li a0, 0
        0x0000_000c, // syscall
    ];
    let elf = elf(Endian::Big, CODE, &words.map(u32::to_be_bytes).concat());
    let folder = tempfile::tempdir().expect("a folder");
    let Some(library) = library(&elf, folder.path()) else { return };
    let mut expected = load(&elf, Interpreter::default());
    assert_eq!(run(&mut expected), Ok(0));
    assert_ne!(expected.cpu.fcsr & 1 << 2, 0);
    let mut machine =
        load(&elf, Jit::with_library(Options::default(), Arc::new(library)).expect("a host with code"));
    assert_eq!(run(&mut machine), Ok(0));
    assert_eq!(machine.cpu, expected.cpu);
}
