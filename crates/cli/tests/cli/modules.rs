//! Commands that take programs of any guest, by the one interface to them.

use crate::common::{folder, json, run, run_with, shader, text};
use std::fs;

fn demo(name: &str) -> String {
    format!("{}/demo/{name}", env!("CARGO_MANIFEST_DIR"))
}

const SUMS: [&str; 4] = ["--bind", "t0=u32[128]=1,2,3,4", "--bind", "u1=u32[6]"];

#[test]
fn a_direct3d_shader_runs_on_buffers_by_name_or_place() {
    let shader = demo("lds_scan.dxil");
    let sums = text(&[&["run", &shader], &SUMS[..]].concat());
    assert_eq!(sums, "main\nu1: u32[6]\n       0:  1  3  6 10 10 10\n");
    let by_place = ["run", &shader, "--bind", "0.0=u32[]=1,2,3,4", "--bind", "0.1=u32[6]"];
    assert_eq!(text(&by_place), sums);
    assert_eq!(text(&[&["run", "--optimized", &shader], &SUMS[..]].concat()), sums);
}

#[test]
fn ir_text_runs_as_the_program_it_came_from() {
    let module = text(&["ir", &demo("lds_scan.dxil")]);
    let output = run_with(&[&["run", "-", "--json"], &SUMS[..]].concat(), module.as_bytes());
    let left: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(left["buffers"][0]["values"], serde_json::json!([1, 3, 6, 10, 10, 10]));
}

#[test]
fn a_stage_runs_on_inputs_by_name() {
    let folder = folder("modules");
    let path = folder.join("stage.xir");
    let module = "module fragment \"f\" {\n  input %a = location 0 : f32x2\n  output %o = location 0 : f32\n\n  \
                  entry func @main() {\n  block0:\n    v0 : f32x2 = input %a\n    v1 : f32 = extract 1, v0\n    \
                  output %o, v1\n    return\n  }\n}\n";
    fs::write(&path, module).unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(text(&["run", path, "--input", "a=1,2.5"]), "f\no: 2.5\n");
    assert_eq!(text(&["run", path]), "f\no: 0\n");
    for wrong in [["--input", "b=1"], ["--input", "a=1,2,3"], ["--bind", "o=f32[1]"], ["--uniform", "c0=1"]] {
        run(&[&["run", path], &wrong[..]].concat(), 2);
    }
}

#[test]
fn what_is_not_bound_is_told() {
    let output = run(&["run", &demo("lds_scan.dxil")], 2);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("nothing is bound to t0 (storage 0.0): --bind 't0=u32[COUNT]'"), "{said}");
}

#[test]
fn options_of_another_guest_are_an_error() {
    for args in [
        ["translate", "--to", "glsl", "--clip", "guest", &demo("lds_scan.dxil")],
        ["translate", "--to", "glsl", "--workgroup", "64", &shader("skin2.v.pica")],
        ["translate", "--to", "glsl", "--bindings", "registers", &demo("reduce_shared.cubin")],
        ["translate", "--to", "glsl", "--gp", "0x1000", &demo("reduce_shared.cubin")],
    ] {
        let output = run(&args, 1);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(&format!("{} is an option of", args[3])), "{said}");
    }
}

#[test]
fn faults_of_descriptors_are_told() {
    use xenoglot::dxil::checks;
    let path = folder("checks").join("checks.bin");
    // Three descriptors, two faults of which the ring has the last: shader 7 used the place behind them as a storage buffer.
    let mut buffer = checks::buffer(&[0; 3], 1);
    buffer[..4].copy_from_slice(&2u32.to_le_bytes());
    let ring = buffer.len() - checks::ENTRY as usize;
    for (field, word) in [2u32, 3, 5, 0, 7, 12].into_iter().enumerate() {
        buffer[ring + 4 * field..][..4].copy_from_slice(&word.to_le_bytes());
    }
    fs::write(&path, &buffer).unwrap();
    let path = path.to_str().unwrap();
    let said = text(&["dxil-checks", "decode", path]);
    assert!(said.starts_with("2 faults, the last 1 told here; 3 descriptors\n"), "{said}");
    assert!(said.contains("storage buffer          behind the last"), "{said}");
    let fault = &json(&["dxil-checks", "decode", "--json", path])["faults"][0];
    assert_eq!((&fault["program"], &fault["instruction"]), (&7.into(), &12.into()));
    fs::write(path, &buffer[..40]).unwrap();
    run(&["dxil-checks", "decode", path], 1);
    run(&["translate", "--to", "spirv", "--buffer-windows=3,0,4", &demo("lds_scan.dxil")], 2);
}

#[test]
fn a_guest_that_no_content_tells_is_named() {
    let folder = folder("vpu");
    let path = folder.join("scale.vpu");
    fs::write(&path, "mul.sat r1, r0, g0\nstore tb0, r1\nexit\n").unwrap();
    let path = path.to_str().unwrap();
    assert!(text(&["disasm", "--guest", "vpu", path]).contains("mul.sat r1, r0, g0"));
    assert!(text(&["ir", "--guest", "vpu", "--comments", path]).contains("; 0x0000 mul.sat r1, r0, g0"));
    assert_eq!(json(&["info", "--json", "--guest", "vpu", path])[0]["module"]["stage"], "compute");
    run(&["disasm", path], 1);
    run(&["disasm", "--guest", "z80", path], 2);
}

#[test]
fn functions_of_mips_programs_are_modules() {
    let ir = text(&["ir", "--comments", &demo("sha.elf"), "--entry", "0"]);
    assert!(ir.starts_with("module cpu "), "{ir}");
    assert!(ir.contains("slot_set r"), "{ir}");
}
