//! What goes wrong is said, with its place, and seen in the exit code.

use crate::common::{folder, run, run_with, shader};
use std::fs;

const COMMANDS: [&[&str]; 7] =
    [&["info"], &["disasm"], &["asm"], &["cfg"], &["ir"], &["translate", "--to", "glsl"], &["run"]];

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn senseless_command_lines_are_usage_errors() {
    for args in [
        &["frobnicate"][..],
        &["info"],
        &["translate", "--to", "klingon", "-"],
        &["translate", &shader("basic.v.pica")],
        &["translate", "--to", "spirv", &shader("basic.v.pica"), &shader("toon.v.pica")],
        &["run", &shader("basic.v.pica"), "--input", "v0"],
        &["run", &shader("basic.v.pica"), "--uniform", "c96=1"],
    ] {
        let output = run(args, 2);
        assert!(stderr(&output).starts_with("error: "), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn missing_files_fail() {
    for command in COMMANDS {
        let output = run(&[command, &["/no/such/file"]].concat(), 1);
        assert!(stderr(&output).contains("/no/such/file: "), "{}", stderr(&output));
    }
}

#[test]
fn assembly_errors_have_line_and_column() {
    let dir = folder("line-and-column");
    let file = dir.join("wrong.pica");
    fs::write(&file, ".proc main\n    mov r0, q7\n    end\n.end\n").unwrap();
    let file = file.to_str().unwrap();
    for command in COMMANDS {
        let said = stderr(&run(&[command, &[file]].concat(), 1));
        assert!(said.starts_with(&format!("error: {file}:2:13: ")), "{command:?}: {said}");
    }
}

#[test]
fn binary_errors_have_an_offset_and_ir_errors_a_place() {
    let good = run(&["asm", &shader("basic.v.pica"), "-o", "-"], 0).stdout;
    let output = run_with(&["info", "-"], &good[..good.len() / 2]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error: <stdin>: 0x"), "{}", stderr(&output));
    let output = run_with(&["ir", "-"], b"module compute \"m\" {\n  nonsense\n}\n");
    assert!(stderr(&output).starts_with("error: <stdin>:2:3: "), "{}", stderr(&output));
    // It parses, but v0 is not defined.
    let unsound = b"module compute \"m\" {\n  entry func @main() -> i32 {\n  block0:\n    return\n  }\n}\n";
    let output = run_with(&["ir", "-"], unsound);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn one_bad_input_does_not_stop_the_others() {
    let dir = folder("one-bad");
    fs::write(dir.join("bad.shbin"), b"DVLB\x01\0\0\0\xff\xff\xff\xff").unwrap();
    fs::write(dir.join("notes.txt"), b"nothing of interest").unwrap();
    fs::copy(shader("basic.v.pica"), dir.join("good.pica")).unwrap();
    let folder = dir.to_str().unwrap();
    let output = run(&["translate", "--to", "glsl", "--json", folder], 1);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // Files of a folder that are none of ours are passed over; what is damaged is not.
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    assert!(list[0]["error"].as_str().unwrap().contains("0x"), "{list}");
    assert!(list[1]["text"].as_str().unwrap().contains("gl_Position"));
    run(&["info", &format!("{folder}/notes.txt")], 1);
}

#[test]
fn hostile_bytes_are_errors_in_every_command() {
    let good = run(&["asm", &shader("subdivision.g.pica"), "-o", "-"], 0).stdout;
    let mut inputs: Vec<Vec<u8>> =
        vec![vec![], vec![0; 64], b"DVLB".to_vec(), b"module".to_vec(), b".proc".to_vec(), vec![0xff; 300]];
    // Each word of the header made huge.
    for at in (0..good.len().min(320)).step_by(16) {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&0xffff_fff0u32.to_le_bytes());
        inputs.push(bytes);
    }
    inputs.push(good[..good.len() - 1].to_vec());
    let mut failed = 0;
    for input in &inputs {
        for command in COMMANDS {
            let output = run_with(&[command, &["-"]].concat(), input);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{command:?}");
            failed += usize::from(output.status.code() == Some(1));
        }
    }
    println!("{} runs, {failed} refused", inputs.len() * COMMANDS.len());
    assert!(failed > 0);
}

#[test]
fn nothing_is_written_twice() {
    let dir = folder("twice");
    for name in ["a.shbin.pica", "b"] {
        fs::create_dir_all(dir.join(name)).unwrap();
    }
    fs::copy(shader("basic.v.pica"), dir.join("b/basic.v.pica")).unwrap();
    let copy = dir.join("b/basic.v.pica");
    let out = dir.join("out");
    let args = [
        "translate",
        "--to",
        "glsl",
        &shader("basic.v.pica"),
        copy.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ];
    assert!(stderr(&run(&args, 1)).contains("would be written twice"));
}

/// Metal has no doubles.
#[cfg(feature = "naga")]
#[test]
fn doubles_are_refused_in_metal_and_the_rest_of_the_batch_is_written() {
    let dir = folder("doubles");
    let double = dir.join("double.xir");
    let text = "module compute \"m\" {
  storage @log = set 0 binding 0 readwrite
  entry func @main() {
  block0:
    v0 : i32 = const 0
    v1 : f64 = load storage @log align 8, v0
    v2 : f64 = fadd v1, v1
    store storage @log align 8, v0, v2
    return
  }
}
";
    fs::write(&double, text).unwrap();
    let out = dir.join("out");
    let (input, other, folder) = (double.to_str().unwrap(), shader("basic.v.pica"), out.to_str().unwrap());
    let output = run(&["translate", "--to", "msl,hlsl", input, &other, "-o", folder], 1);
    assert!(stderr(&output).contains("Metal cannot express the module"), "{}", stderr(&output));
    for (name, there) in
        [("double.metal", false), ("double.hlsl", true), ("basic.v.metal", true), ("basic.v.hlsl", true)]
    {
        assert_eq!(out.join(name).is_file(), there, "{name}");
    }
}
