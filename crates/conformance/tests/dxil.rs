//! The DXIL vectors of the project on every engine, and hostile tests.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use xenoglot::dxil::{LiftOptions, lift, load};
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_conformance::dxil::format::parse;
use xenoglot_conformance::validator::validate;
use xenoglot_conformance::{Case, Observer, Request, Suite, Summary, Verdict};
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::glslang;
use xenoglot_vulkan::isolated::{WorkerCommand, serve_if_worker};

fn vectors(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil").join(folder)
}

#[derive(Default)]
struct Failures(Mutex<Vec<String>>);

impl Observer for Failures {
    fn total(&self, _cases: usize) {}

    fn case(&self, case: &Case) {
        if let Verdict::Failed(d) | Verdict::TimedOut(d) = &case.verdict {
            self.0.lock().unwrap().push(format!("{}: {d}", case.name));
        }
    }
}

fn request(path: &Path, engine: &'static str) -> Request {
    Request::new(path, engine).with_worker(WorkerCommand::this_test("vulkan_worker").unwrap())
}

/// Runs a folder of the vectors and expects all of it to pass.
fn all_pass(folder: &str, engine: &'static str, count: usize) {
    all_pass_in(&vectors(folder), engine, count);
}

fn all_pass_in(folder: &Path, engine: &'static str, count: usize) {
    assert_eq!(none_fails(folder, engine), Summary { passed: count, failed: 0, unconfirmed: 0 });
}

/// Runs a folder and expects nothing to fail; cases that need what a device lacks are unconfirmed.
fn none_fails(folder: &Path, engine: &'static str) -> Summary {
    let failures = Failures::default();
    let summary = Suite::find("dxil").unwrap().run(&request(folder, engine), &failures).unwrap();
    let mut failures = failures.0.into_inner().unwrap();
    failures.sort();
    println!("dxil {} on {engine}: {summary}", folder.display());
    assert!(failures.is_empty(), "{failures:#?}");
    summary
}

/// Whether an engine's device is there: lavapipe, of which it is known what it has.
fn device_for(engine: &'static str) -> bool {
    match xenoglot_conformance::vulkan::device(&request(&vectors("compute"), engine)) {
        Ok(device) if device.name.contains("llvmpipe") => {}
        Ok(device) => {
            skip(&format!("what {} may lack is not known", device.name));
            return false;
        }
        Err(e) => {
            skip(&e.to_string());
            return false;
        }
    }
    if engine == "glsl" && !glslang::available() {
        skip("glslangValidator is not installed");
        return false;
    }
    true
}

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

#[test]
fn compute_on_the_interpreter() {
    all_pass("compute", "interp", 32);
}

#[test]
fn compute_as_glsl() {
    if device_for("glsl") {
        all_pass("compute", "glsl", 32);
    }
}

#[test]
fn own_on_the_interpreter() {
    all_pass("compute-own", "interp", 9);
}

#[test]
fn own_on_the_device() {
    for engine in ["spirv", "glsl", "bindless"] {
        if device_for(engine) {
            let summary = none_fails(&vectors("compute-own"), engine);
            assert_eq!(summary.passed + summary.unconfirmed, 9);
            if summary.unconfirmed > 0 {
                skip(&format!(
                    "{} shaders on {engine}: the device lacks what they need",
                    summary.unconfirmed
                ));
            }
        }
    }
}

#[test]
fn quads_of_groups_on_the_interpreter() {
    all_pass("quads", "interp", 8);
}

#[test]
fn quads_of_groups_on_the_device() {
    for engine in ["spirv", "glsl", "bindless"] {
        if device_for(engine) {
            all_pass("quads", engine, 8);
        }
    }
}

#[test]
fn derivatives_in_groups_on_the_device() {
    if device_for("spirv") {
        all_pass("derivatives", "spirv", 2);
    }
}

#[test]
fn control_flow_on_the_interpreter() {
    all_pass("fuzz", "interp", 100);
}

#[test]
fn compute_as_spirv() {
    if device_for("spirv") {
        all_pass("compute", "spirv", 32);
    }
}

#[test]
fn compute_through_heaps() {
    if device_for("bindless") {
        all_pass("compute", "bindless", 32);
    }
}

#[test]
fn root_signatures_on_the_device() {
    if device_for("bindless") {
        all_pass("bindless", "bindless", 6);
    }
}

/// In the long run all of them. lavapipe compiles most of a container of 16,000 bytes or less in a second, but larger ones
/// in minutes.
#[test]
fn control_flow_as_spirv() {
    if !device_for("spirv") {
        return;
    }
    if xenoglot_testgen::property::is_long() {
        return all_pass("fuzz", "spirv", 100);
    }
    let small = tempfile::tempdir().unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(vectors("fuzz")).unwrap() {
        let path = entry.unwrap().path();
        let is_small = |path: &Path| std::fs::metadata(path).unwrap().len() <= 16_000;
        if path.extension().is_some_and(|e| e == "test") && is_small(&path.with_extension("dxil")) {
            for extension in ["test", "dxil"] {
                let from = path.with_extension(extension);
                std::fs::copy(&from, small.path().join(from.file_name().unwrap())).unwrap();
            }
            count += 1;
        }
    }
    assert!(count >= 80);
    all_pass_in(small.path(), "spirv", count);
}

#[test]
fn stages_in_both_binding_models() {
    all_pass("stages", "spirv", 37);
}

fn second(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil-2").join(folder)
}

#[test]
fn second_vectors_on_the_interpreter() {
    for (folder, passed, unconfirmed) in [("compute", 21, 3), ("compute-dxc17", 15, 3)] {
        let summary = none_fails(&second(folder), "interp");
        assert_eq!(summary, Summary { passed, failed: 0, unconfirmed }, "{folder}");
    }
}

#[test]
fn second_vectors_on_the_device() {
    for engine in ["spirv", "bindless"] {
        if device_for(engine) {
            for (folder, count) in [("compute", 24), ("compute-dxc17", 18)] {
                if engine == "spirv" || folder == "compute-dxc17" {
                    all_pass_in(&second(folder), engine, count);
                }
            }
        }
    }
}

#[test]
fn second_vectors_of_stages() {
    none_fails(&second("stages-dxc17"), "spirv");
    let summary = none_fails(&second("stages-own"), "spirv");
    assert_eq!(summary.passed + summary.unconfirmed, 1);
    let summary = none_fails(&second("stages"), "spirv");
    assert_eq!(summary.passed + summary.unconfirmed, 29);
}

/// Revision 3 of the extension gives the kind of a hit that a query's shader made up as an operand, which the validator
/// does not know yet: the rest is valid.
#[test]
fn kinds_of_made_up_hits_are_an_operand() {
    const FROM_QUERY: u32 = 5304;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../front/dxil/tests/containers/hit_kind.dxil");
    let module = load(&std::fs::read(path).unwrap()).unwrap();
    let mut lifted = lift(&module, &LiftOptions::default()).unwrap().module;
    let host = Host::named("vulkan-1.3").unwrap();
    let code = Translator::new().compile(&mut lifted, &host, &Options::default()).unwrap();
    let Code::Words(mut words) = code else { panic!("no words") };
    let mut starts = std::iter::successors(Some(5), |&at| Some(at + (words[at] >> 16) as usize));
    let at = starts.find(|&at| words[at] & 0xffff == FROM_QUERY).unwrap();
    assert_eq!(words[at] >> 16, 6);
    words[at] = 5 << 16 | FROM_QUERY;
    words.remove(at + 5);
    match validate(&words) {
        Verdict::Passed => {}
        Verdict::Unconfirmed(why) => skip(&why),
        verdict => panic!("{verdict:?}"),
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_test_is_read_or_refused(text: String, words: Vec<u32>) {
        let path = Path::new("x.test");
        let _ = parse(path, &text);
        let _ = parse(path, &format!("dxt 1\n{text}"));
        let data: Vec<String> = words.iter().map(|w| format!("{w:x}")).collect();
        let _ = parse(path, &format!("dxt 1\nresource uav 0 0 raw 8 0 -\ninit\n{}\nend\n{text}", data.join("\n")));
    }
}
