//! The Maxwell graphics vectors: every shader lifted, checked, translated, and drawn beside its source.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use xenoglot::host::{Language, Subgroups};
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_conformance::maxwell::graphics::{Shader, read};
use xenoglot_conformance::{Case, Observer, Request, Suite, Verdict};
use xenoglot_ir::verify;
use xenoglot_maxwell::lift::{LiftOptions, Lifted, flatten_integer_cubes, scale_textures, stage_to_compute};
use xenoglot_opt::pipeline::Verify;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::glslang;
use xenoglot_vulkan::isolated::{WorkerCommand, serve_if_worker};

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

fn host() -> Host {
    Host { subgroups: Subgroups::exactly(32), ..Host::of(Language::Spirv(None)) }
}

fn optimised(shader: &Shader, translator: &mut Translator, rework: Rework) -> Result<Lifted, String> {
    let mut lifted = shader.lift(0)?;
    rework(&mut lifted);
    verify(&lifted.module).map_err(|e| format!("as lifted: {e}"))?;
    let options = Options::default();
    translator.prepare(&mut lifted.module, &host(), &options, &mut Verify).map_err(|e| e.to_string())?;
    Ok(lifted)
}

/// What is done to a shader that is lifted.
type Rework = fn(&mut Lifted);

/// The passes for hosts that lack something.
const REWORKS: [Rework; 3] = [
    |_| {},
    |lifted| {
        flatten_integer_cubes(lifted);
        scale_textures(lifted, &LiftOptions::default());
    },
    |lifted| {
        let made = stage_to_compute(lifted, &LiftOptions::default(), None);
        assert_eq!(made.is_ok(), lifted.info.compute_stage.is_some());
    },
];

fn spirv(shader: &Shader, translator: &mut Translator, rework: Rework) -> Result<Vec<u32>, String> {
    let lifted = optimised(shader, translator, rework)?;
    match translator.write(&lifted.module, &host(), &Options::default()).map_err(|e| e.to_string())? {
        Code::Words(words) => Ok(words),
        _ => Err("text".into()),
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
    for (shader, rework) in shaders.iter().flat_map(|shader| REWORKS.map(|rework| (shader, rework))) {
        let result = spirv(shader, &mut translator, rework);
        let result = result.and_then(|words| if validated { validate(&words) } else { Ok(()) });
        if let Err(e) = result {
            failures.push(format!("{}: {e}", shader.name));
        }
    }
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), shaders.len(), failures.join("\n"));
    assert_eq!(shaders.len(), 32);
}

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

#[derive(Default)]
struct Failures(Mutex<Vec<String>>);

impl Observer for Failures {
    fn total(&self, _cases: usize) {}

    fn case(&self, case: &Case) {
        match &case.verdict {
            Verdict::Failed(e) | Verdict::TimedOut(e) => {
                self.0.lock().unwrap().push(format!("{}: {e}", case.name))
            }
            Verdict::Unconfirmed(e) => println!("{}: {e}", case.name),
            Verdict::Passed => {}
        }
    }
}

/// The names of the shaders that no pipeline is made of or that draw something else than their sources, sorted.
fn refused(engine: &'static str) -> Option<Vec<String>> {
    if !glslang::available() || !xenoglot_vulkan::Device::list().is_ok_and(|d| !d.is_empty()) {
        skip("no Vulkan device, or no glslangValidator");
        return None;
    }
    let worker = WorkerCommand::this_test("vulkan_worker").unwrap();
    let request = Request::new(vectors(), engine).with_worker(worker);
    let failures = Failures::default();
    let summary = Suite::find("maxwell-graphics").unwrap().run(&request, &failures).unwrap();
    // What the others are free to differ in is part of the suite.
    assert_eq!(summary.passed + summary.failed + summary.unconfirmed, 32);
    assert!(summary.unconfirmed <= 2);
    let failures = failures.0.into_inner().unwrap();
    failures.iter().for_each(|f| println!("{f}"));
    let mut names: Vec<String> =
        failures.iter().filter_map(|f| Some(f.split_once(':')?.0.to_owned())).collect();
    names.sort();
    Some(names)
}

#[test]
fn every_shader_draws_what_its_source_does_as_spirv() {
    if let Some(refused) = refused("spirv") {
        assert!(refused.is_empty(), "{refused:?}");
    }
}

#[test]
fn every_shader_draws_what_its_source_does_as_glsl() {
    if let Some(refused) = refused("glsl") {
        assert!(refused.is_empty(), "{refused:?}");
    }
}

/// What a shader uses survives being written as JSON.
#[test]
fn infos_are_read_back() {
    for shader in read(&vectors()).unwrap() {
        let info = shader.lift(0).unwrap().info;
        let text = serde_json::to_string(&info).unwrap();
        assert_eq!(serde_json::from_str::<xenoglot_maxwell::info::ShaderInfo>(&text).unwrap(), info);
    }
}
