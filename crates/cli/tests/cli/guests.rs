//! MIPS programs for Linux.

use crate::common::{folder, json, run, run_with, text, xenoglot};
use std::fs;
use std::process::Stdio;

fn program(name: &str) -> String {
    format!("{}/../../vectors/mips/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_program_prints_and_exits_as_it_does_on_its_own_machine() {
    let output = run(&["run", &program("bare/bare_int.elf")], 42);
    assert_eq!(output.stdout, fs::read(program("bare/bare_int.out")).unwrap());
    let output = run(&["run", &program("signals/waiting.mipsel.elf")], 0);
    assert_eq!(output.stdout, fs::read(program("signals/waiting.out")).unwrap());
}

#[test]
fn a_signal_without_a_handler_is_told_with_registers_and_calls() {
    let output = run(&["run", &program("bare/bare_unal.elf")], 135);
    let said = String::from_utf8(output.stderr).unwrap();
    for part in ["SIGBUS", "address 0x", "pc 0x00400", "lw t0,1(v0)", "sp 7fff", "#0 0x00400"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn limits_end_a_program_with_an_error() {
    let output = run(&["run", "--fuel", "1000", &program("bare/bare_sha.elf")], 1);
    assert!(String::from_utf8(output.stderr).unwrap().contains("the fuel is used up after 1"));
    run(&["run", "--time-limit", "-1", &program("bare/bare_sha.elf")], 2);
    run(&["run", "--env", "nothing", &program("bare/bare_sha.elf")], 2);
    run(&["run", "--memory-limit", "4096", &program("bare/bare_sha.elf")], 1);
    // Options of guests are for guests.
    run(&["run", "--seed", "1", &crate::common::shader("skin2.v.pica")], 2);
}

#[test]
fn what_is_no_program_that_can_run_is_an_error_with_the_reason() {
    let folder = folder("guests");
    let mut bytes = fs::read(program("bare/bare_hello.elf")).unwrap();
    // The calling convention n32.
    bytes[39] |= 0x20;
    let path = folder.join("n32.elf");
    fs::write(&path, &bytes).unwrap();
    let output = run(&["run", path.to_str().unwrap()], 1);
    assert!(String::from_utf8(output.stderr).unwrap().contains("o32"));
    let output = run_with(&["run", "-"], &bytes[..60]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn perf_is_told_of_compiled_code() {
    let run = |arguments: &[&str]| {
        let mut command = xenoglot(arguments);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let map = format!("/tmp/perf-{}.map", child.id());
        (child.wait_with_output().unwrap().status.code(), map)
    };
    let (code, path) = run(&["run", "--perf-map", &program("bare/bare_sha.elf")]);
    assert_eq!(code, Some(0));
    let map = fs::read_to_string(&path).unwrap();
    fs::remove_file(path).unwrap();
    assert!(!map.is_empty());
    for line in map.lines() {
        let [address, bytes, name] = line.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
        let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
        assert!(number(address) > 0 && number(bytes) > 0 && !name.is_empty(), "{line}");
    }
    assert_eq!(run(&["run", "--perf-map", "--engine", "interp", &program("bare/bare_sha.elf")]).0, Some(2));
}

#[test]
fn info_and_disasm_show_what_is_in_a_program() {
    let facts = &json(&["info", "--json", &program("signals/float.mipsel.elf")])[0];
    assert_eq!((&facts["byte order"], &facts["architecture"]), (&"little".into(), &"MIPS II".into()));
    assert_eq!(facts["segments"][0]["rights"], "r-x");
    let listing = text(&["disasm", &program("signals/float.mipsel.elf")]);
    assert!(listing.contains("\tdiv.d\t$f4,"), "{listing}");
    assert!(listing.contains("\tsyscall"), "{listing}");
}

/// Whether there is a C compiler; says so where there is none.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn has_compiler() -> bool {
    let has = std::process::Command::new("cc")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !has {
        xenoglot_testgen::skip("programs ahead of time: no C compiler");
    }
    has
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_program_runs_ahead_of_time() {
    if !has_compiler() {
        return;
    }
    let folder = folder("ahead");
    let library = folder.join("int.xga").display().to_string();
    let made = text(&["aot", &program("bare/bare_int.elf"), "-O1", "-o", &library]);
    assert!(made.contains("int.xga: 21 functions"), "{made}");
    let output = run(&["run", "--aot", &library, &program("bare/bare_int.elf")], 42);
    assert_eq!(output.stdout, fs::read(program("bare/bare_int.out")).unwrap());
    // Of another program, damaged, and none at all.
    for (name, text, problem) in [
        ("bare/bare_hello.elf", library.clone(), "it was made of another program"),
        ("bare/bare_int.elf", program("bare/bare_int.out"), "no library of a program"),
        ("bare/bare_int.elf", folder.join("none.xga").display().to_string(), "none.xga"),
    ] {
        let said = run(&["run", "--aot", &text, &program(name)], 1).stderr;
        assert!(String::from_utf8_lossy(&said).contains(problem), "{}", String::from_utf8_lossy(&said));
    }
    let sources = folder.join("c").display().to_string();
    let files = text(&["aot", &program("bare/bare_int.elf"), "--emit-c", &sources]);
    assert!(files.contains("code0.c") && files.contains("table.c"), "{files}");
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_compiler_that_is_not_there_is_named() {
    let library = folder("no_compiler").join("int.xga").display().to_string();
    let output = run(&["aot", &program("bare/bare_int.elf"), "--cc", "no-such-compiler", "-o", &library], 1);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no C compiler: `no-such-compiler` cannot be started"), "{said}");
}
