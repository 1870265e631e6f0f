//! Debian's own packages for `mipsel`, unchanged, and a program in C++ from one of its sources: what they print and the code
//! they exit with are as under qemu-user. The smallest package runs always, where it can be fetched; the others in long runs.

#![cfg(target_os = "linux")]

mod common;

use common::{debian, run_by, vectors, writable};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use xenoglot_guest::linux::Config;
use xenoglot_guest::{Engine, Interpreter};
use xenoglot_testgen::debian::{Input, PROGRAMS, text};
use xenoglot_testgen::property::is_long;
use xenoglot_testgen::skip;

/// Commands of the scripts, by busybox.
const TOOLS: &[&str] = &[
    "awk", "cat", "cmp", "cp", "cut", "find", "grep", "gunzip", "head", "ln", "ls", "md5sum", "mkdir",
    "mktemp", "mv", "printf", "rm", "sed", "seq", "sh", "sleep", "sort", "tail", "test", "tr", "uniq", "wc",
    "yes",
];
/// Where the packages are kept; `xenoglot bench mips` finds those of the second.
const SMALL: &str = "busybox";
const ALL: &str = "programs";

/// Makes an engine.
type Maker = fn() -> Box<dyn Engine + Send>;

/// The root of all packages; nothing, having said so, in short runs and where they cannot be fetched.
fn all() -> Option<PathBuf> {
    if !is_long() {
        skip("a long run");
        return None;
    }
    // The standard library of Python has the module for JSON.
    let more = ["dash", "sash", "libpython3.11-stdlib"];
    let names: Vec<&str> = PROGRAMS.iter().map(|program| program.package).chain(more).collect();
    debian::packages(ALL, &names)
        .map_err(|e| skip(&format!("packages for mipsel cannot be fetched: {e}")))
        .ok()
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A folder for a guest that writes: the tools as links to busybox, which is in the sysroot, and the scripts.
fn root_of_shells() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["bin", "tmp"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    for tool in TOOLS {
        std::os::unix::fs::symlink("/bin/busybox", folder.path().join("bin").join(tool)).expect("a link");
    }
    for name in ["shell.sh", "script.sash", "more.sash"] {
        std::fs::copy(here("tests/programs").join(name), folder.path().join(name)).expect("a copy");
    }
    folder
}

/// A shell with a script: output and exit code as under qemu-mipsel, where the commands that the script starts are the host's.
fn shell(sysroot: &Path, path: &str, arguments: &[&str]) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_host = root_of_shells();
    let mut qemu = Command::new("qemu-mipsel");
    qemu.arg("-L").arg(sysroot).arg(sysroot.join(path)).args(arguments).current_dir(by_host.path());
    qemu.env_clear().env("PATH", "/usr/bin:/bin").stderr(Stdio::null());
    let Ok(wanted) = qemu.output() else { return skip("no qemu-mipsel") };
    assert!(!wanted.stdout.is_empty(), "{name}");
    let engines: [(&str, Maker); 2] =
        [("interpreted", || Box::new(Interpreter::default())), ("compiled", xenoglot_cpu::engine)];
    for (kind, engine) in engines {
        let root = root_of_shells();
        let config = Config { sysroot: Some(sysroot.into()), ..writable(root.path()) };
        let bytes = std::fs::read(sysroot.join(path)).expect("a program");
        let ran = run_by(engine, config, bytes, &[&[name], arguments].concat(), b"", u64::MAX);
        let wanted_text = String::from_utf8_lossy(&wanted.stdout);
        assert_eq!(ran.text(), wanted_text, "{name} {kind}, {:?}, {:?}", ran.end, ran.deaths);
        assert_eq!(Some(i32::from(ran.code())), wanted.status.code(), "{name} {kind}");
    }
}

#[test]
fn busybox_of_debian_runs_a_script_as_under_qemu() {
    match debian::packages(SMALL, &["busybox-static"]) {
        Ok(root) => shell(&root, "bin/busybox", &["sh", "shell.sh"]),
        Err(e) => skip(&format!("busybox-static for mipsel cannot be fetched: {e}")),
    }
}

#[test]
fn shells_of_debian_run_scripts_as_under_qemu() {
    let Some(root) = all() else { return };
    shell(&root, "bin/busybox", &["sh", "shell.sh"]);
    shell(&root, "bin/bash-static", &["shell.sh"]);
    shell(&root, "bin/dash", &["shell.sh"]);
    shell(&root, "bin/sash", &["-f", "script.sash"]);
}

/// Runs a program by qemu-user and by us, and compares output and exit code. Says how long each took.
fn compare(qemu: &str, sysroot: &Path, file: &Path, name: &str, arguments: &[&str], input: &[u8]) {
    let mut stdin = tempfile::tempfile().expect("a file");
    stdin.write_all(input).expect("written");
    stdin.rewind().expect("rewound");
    let mut command = Command::new(qemu);
    command.arg("-L").arg(sysroot).arg(file).args(arguments).stdin(stdin).stderr(Stdio::inherit());
    command.env_clear().env("PATH", "/bin");
    let start = Instant::now();
    let Ok(wanted) = command.output() else { return skip(&format!("no {qemu}")) };
    let by_qemu = start.elapsed();
    let bytes = std::fs::read(file).expect("a program");
    let root = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(root.path().join("tmp")).expect("a folder");
    let config = Config { sysroot: Some(sysroot.into()), ..writable(root.path()) };
    let start = Instant::now();
    let ran = run_by(xenoglot_cpu::engine, config, bytes, &[&[name], arguments].concat(), input, u64::MAX);
    let by_us = start.elapsed();
    eprintln!("{name}: {by_us:.2?}, {qemu} {by_qemu:.2?}");
    assert!(wanted.status.success() && !wanted.stdout.is_empty(), "{name}: {:?}", wanted.status);
    assert_eq!(Some(i32::from(ran.code())), wanted.status.code(), "{name}: {}", ran.text());
    let same = ran.stdout.iter().zip(&wanted.stdout).take_while(|(a, b)| a == b).count();
    let lengths = (ran.stdout.len(), wanted.stdout.len());
    assert!(ran.stdout == wanted.stdout, "{name}: output differs from byte {same} on, lengths {lengths:?}");
}

#[test]
fn programs_of_debian_print_as_under_qemu() {
    let Some(root) = all() else { return };
    for program in PROGRAMS {
        let input = match program.input {
            Input::File(name) => std::fs::read(vectors().join("debian").join(name)).expect("a file"),
            Input::Text(bytes) => text(bytes),
        };
        let name = format!("/{}", program.path);
        compare("qemu-mipsel", &root, &root.join(program.path), &name, program.arguments, &input);
    }
}

/// Units of the tests of a library of 25,000 lines, without those that want files or CMake.
const UNITS: &[&str] =
    &["unit", "unit-class_parser", "unit-deserialization", "unit-conversions", "unit-json_pointer"];

/// A large program in C++ with exceptions and containers: the tests of a library for JSON.
#[test]
fn a_large_program_in_cpp_prints_as_under_qemu() {
    if !is_long() {
        return skip("a long run");
    }
    let sources = match debian::sources("nlohmann-json3") {
        Ok(sources) => sources,
        Err(e) => return skip(&format!("sources of nlohmann-json3 cannot be fetched: {e}")),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("json");
    let mut compiler = Command::new("mips-linux-gnu-g++");
    compiler.args([
        "-std=c++17",
        "-O1",
        "-w",
        "-static",
        "-I",
        "single_include",
        "-I",
        "tests/thirdparty/doctest",
        "-o",
    ]);
    compiler.arg(&program).args(UNITS.iter().map(|unit| format!("tests/src/{unit}.cpp")));
    let Ok(built) = compiler.current_dir(&sources).output() else { return skip("no mips-linux-gnu-g++") };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    compare("qemu-mips", folder.path(), &program, "json", &["--no-version"], b"");
}
