//! The Maxwell graphics vectors: every shader lifted, checked, and translated.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use xenoglot::{Code, Target, Translator, maxwell};
use xenoglot_conformance::maxwell::graphics::{Shader, read};
use xenoglot_ir::verify;
use xenoglot_testgen::skip::skip;

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/maxwell/graphics/public.tar.xz"))
}

fn validate(words: &[u32]) -> Result<(), String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    stdin.write_all(&bytes).map_err(|e| e.to_string())?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn spirv(shader: &Shader, translator: &mut Translator) -> Result<Vec<u32>, String> {
    let mut lifted = shader.lift(0)?;
    verify(&lifted.module).map_err(|e| format!("as lifted: {e}"))?;
    let options = xenoglot_opt::Options { lower_memory: true, ..Default::default() };
    translator.optimize(&mut lifted.module, &options);
    verify(&lifted.module).map_err(|e| format!("optimised: {e}"))?;
    let host = xenoglot_spirv::Options { subgroup_width: 32, ..Default::default() };
    let target = maxwell::target_for(&Target::Spirv(host), &lifted.info);
    match translator.emit(&lifted.module, &target).map_err(|e| format!("{e}"))? {
        Code::Words(words) => Ok(words),
        Code::Text(_) => Err("text".into()),
    }
}

#[test]
fn every_shader_is_valid_spirv() {
    let validated = Command::new("spirv-val").arg("--version").output().is_ok();
    if !validated {
        skip("spirv-val is not installed");
    }
    let mut translator = Translator::new();
    let mut failures = Vec::new();
    let shaders = read(&vectors()).unwrap();
    for shader in &shaders {
        let result = spirv(shader, &mut translator);
        let result = result.and_then(|words| if validated { validate(&words) } else { Ok(()) });
        if let Err(e) = result {
            failures.push(format!("{}: {e}", shader.name));
        }
    }
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), shaders.len(), failures.join("\n"));
    assert_eq!(shaders.len(), 32);
}
