//! MIPS programs for Linux by each engine: the same output and exit code.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use xenoglot_conformance::{Request, Silent, Suite, Summary};

fn passes(engine: &'static str) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/mips/programs"));
    let request = Request::new(path, engine);
    let summary = Suite::find("mips").unwrap().run(&request, &Silent).unwrap();
    assert_eq!(summary, Summary { passed: 13, ..Summary::default() });
}

#[test]
fn programs_interpreted() {
    passes("interp");
}

#[test]
fn programs_compiled() {
    passes("jit");
}

/// Compiling takes minutes: only in long runs.
#[test]
fn programs_compiled_ahead_of_time() {
    if xenoglot_testgen::property::budget(0, 1) == 1 {
        passes("aot");
    }
}
