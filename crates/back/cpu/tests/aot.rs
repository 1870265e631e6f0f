//! Programs compiled ahead of time: output, end and final state are those of the direct interpreter.
//!
//! Needs a C compiler as `cc`; without one there is nothing to test.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use common::{bare, load, run};
use std::path::Path;
use std::sync::Arc;
use xenoglot_cpu::aot::{self, AotError, Library};
use xenoglot_cpu::{Jit, Options};
use xenoglot_guest::Interpreter;

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
