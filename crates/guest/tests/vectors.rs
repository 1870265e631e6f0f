//! The programs of `vectors/mips` under Linux: same output and exit code as under qemu-user.

#![cfg(target_os = "linux")]

mod common;

use common::{Ran, compile, run, run_file, vectors, writable};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use xenoglot_guest::linux::Config;

/// Programs with handlers of signals.
const SIGNALS: &[&str] = &["segv", "bus", "ill", "overflow", "trap", "float", "altstack", "waiting"];

#[test]
fn freestanding_programs_print_and_exit_as_under_qemu() {
    let codes = [
        ("hello", 0),
        ("int", 42),
        ("sha", 0),
        ("fp", 1),
        ("smc", 5),
        ("chain", 5),
        ("ill", 132),
        ("segv", 139),
        ("unal", 135),
        ("ovf", 136),
        ("brk", 133),
    ];
    for (name, code) in codes {
        let base = vectors().join("bare").join(format!("bare_{name}"));
        let ran = run_file(&base.with_extension("elf"));
        assert_eq!(ran.stdout, std::fs::read(base.with_extension("out")).expect("output"), "{name}");
        assert_eq!(ran.code(), code, "{name}");
        assert_eq!(ran.deaths.len(), usize::from(code >= 128), "{name}");
    }
}

#[test]
fn handlers_of_signals_see_and_change_what_they_do_under_qemu() {
    for name in SIGNALS {
        let base = vectors().join("signals").join(name);
        let wanted =
            String::from_utf8(std::fs::read(base.with_extension("out")).expect("output")).expect("text");
        for target in ["mips", "mipsel"] {
            let ran = run_file(&base.with_extension(format!("{target}.elf")));
            assert_eq!((ran.text(), ran.code()), (wanted.clone(), 0), "{name} {target}");
        }
    }
}

/// The same ahead of time, with the programs that a signal ends.
#[test]
#[cfg(target_arch = "x86_64")]
fn signals_of_programs_ahead_of_time_are_as_under_qemu() {
    use common::run_by;
    use std::sync::Arc;
    use xenoglot_cpu::aot::{self, AotError, Library};
    use xenoglot_cpu::{Jit, Options};
    use xenoglot_testgen::skip;
    let ended = [("ill", 132), ("segv", 139), ("unal", 135), ("ovf", 136), ("brk", 133)];
    let ended = ended.map(|(name, code)| (format!("bare/bare_{name}"), "elf", code));
    let handled = SIGNALS
        .iter()
        .flat_map(|name| ["mips.elf", "mipsel.elf"].map(|end| (format!("signals/{name}"), end, 0)));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, end, code) in ended.into_iter().chain(handled) {
        let base = vectors().join(&name);
        let bytes = std::fs::read(base.with_extension(end)).expect("a program");
        let path = folder.path().join("program.xga");
        let options = aot::Options { optimize: 1, jobs: 1, ..aot::Options::default() };
        match aot::compile(&bytes, &path, &options) {
            Ok(_) => {}
            Err(AotError::NoCompiler { .. }) => return skip("programs ahead of time: no C compiler"),
            Err(e) => panic!("{name} {end}: {e}"),
        }
        let library = Arc::new(Library::open(&path, &bytes).expect("a library that was just made"));
        let engine =
            move || Jit::with_library(Options::default(), Arc::clone(&library)).expect("a host with code");
        let ran = run_by(engine, Config::default(), bytes, &["program"], b"", 1 << 34);
        let wanted = std::fs::read(base.with_extension("out")).expect("output");
        assert_eq!((ran.text().into_bytes(), ran.code()), (wanted, code), "{name} {end}");
    }
}

/// Arguments and exit codes of the programs.
fn expected() -> BTreeMap<String, (Vec<String>, u8)> {
    let text = std::fs::read(vectors().join("programs/expect_musl.json")).expect("expectations");
    let all: BTreeMap<String, Value> = serde_json::from_slice(&text).expect("JSON");
    all.into_iter()
        .map(|(name, value)| {
            let arguments = value["args"].as_array().expect("arguments");
            let arguments = arguments.iter().map(|text| text.as_str().expect("text").to_owned()).collect();
            (name, (arguments, value["exit"].as_u64().expect("a code") as u8))
        })
        .collect()
}

fn run_program(bytes: Vec<u8>, arguments: &[String]) -> Ran {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(writable(folder.path()), bytes, &arguments, "", 1 << 36)
}

#[test]
fn musl_programs_print_and_exit_as_under_qemu() {
    let folder = vectors().join("programs");
    let archive = std::fs::File::open(folder.join("elf_musl.tar.xz")).expect("archive");
    let mut archive = tar::Archive::new(lzma_rust2::XzReader::new(archive, true));
    let expected = expected();
    let mut count = 0;
    for entry in archive.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").into_owned();
        let Some(name) =
            path.file_stem().and_then(|name| name.to_str()).filter(|_| path.extension().is_some())
        else {
            continue;
        };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("a program");
        let (arguments, code) = &expected[name];
        let ran = run_program(bytes, arguments);
        let wanted = std::fs::read(folder.join("expected_musl").join(format!("{name}.out"))).expect("output");
        assert_eq!(ran.stdout, wanted, "{name}");
        assert_eq!(ran.code(), *code, "{name}");
        count += 1;
    }
    assert_eq!(count, expected.len());
}

/// The same sources with glibc, in both byte orders, static and with Debian's loader and libraries as sysroot.
#[test]
fn glibc_programs_print_and_exit_as_under_qemu() {
    let folder = vectors().join("programs");
    for (name, (arguments, code)) in expected() {
        // These need a C++ compiler and a header of stb.
        if matches!(name.as_str(), "cxx" | "png") {
            continue;
        }
        let output = if name == "va" { "va_glibc.out".into() } else { format!("expected_musl/{name}.out") };
        let wanted = std::fs::read(folder.join(output)).expect("output");
        let source = folder.join("src").join(format!("{name}.c"));
        for target in ["mips", "mipsel"] {
            let Some(bytes) = compile(target, &source, &["-static"]) else { return };
            let ran = run_program(bytes, &arguments);
            assert_eq!((&ran.stdout, ran.code()), (&wanted, code), "{name} {target}");
            let Some(bytes) = compile(target, &source, &[]) else { return };
            let folder = tempfile::tempdir().expect("a folder");
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let sysroot = Some(format!("/usr/{target}-linux-gnu").into());
            let config = Config { sysroot, ..writable(folder.path()) };
            let ran = run(config, bytes, &arguments, "", 1 << 36);
            assert_eq!((&ran.stdout, ran.code()), (&wanted, code), "{name} {target}, dynamically linked");
        }
    }
}
