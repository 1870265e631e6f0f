//! The PICA200 vectors of the project on every engine, and hostile files.

use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;
use xenoglot_conformance::pica::format;
use xenoglot_conformance::{Case, Observer, Request, Suite, Summary, Verdict};
use xenoglot_testgen::property::is_long;
use xenoglot_vulkan::isolated::{WorkerCommand, serve_if_worker};

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/pica"))
}

/// Which programs run, by their number.
type Wanted = fn(usize) -> bool;

/// Every program.
const ALL: Wanted = |_| true;

/// Programs that did not pass, of those that run.
struct Failures {
    wanted: Wanted,
    found: Mutex<Vec<String>>,
}

impl Failures {
    fn of(wanted: Wanted) -> Failures {
        Failures { wanted, found: Mutex::default() }
    }
}

impl Observer for Failures {
    fn wants(&self, item: usize) -> bool {
        (self.wanted)(item)
    }

    fn total(&self, _cases: usize) {}

    fn case(&self, case: &Case) {
        match &case.verdict {
            Verdict::Passed => {}
            Verdict::Failed(d) | Verdict::TimedOut(d) => {
                self.found.lock().unwrap().push(format!("{}: {d}", case.name))
            }
            Verdict::Unconfirmed(d) => println!("unconfirmed: {}: {d}", case.name),
        }
    }
}

fn request(engine: &'static str) -> Request {
    Request::new(vectors(), engine).with_worker(WorkerCommand::this_test("vulkan_worker").unwrap())
}

fn passes(suite: &str, engine: &'static str, wanted: Wanted) -> Summary {
    let failures = Failures::of(wanted);
    let summary = Suite::find(suite).unwrap().run(&request(engine), &failures).unwrap();
    println!("{suite} on {engine}: {summary}");
    let failures = failures.found.into_inner().unwrap();
    let shown: Vec<&String> = failures.iter().take(20).collect();
    assert!(failures.is_empty(), "{} failures, among them {shown:#?}", failures.len());
    summary
}

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

#[test]
fn programs_natively() {
    assert_eq!(passes("pica", "native", ALL), Summary { passed: 422 * 8, failed: 0, unconfirmed: 0 });
}

#[test]
fn programs_on_lanes() {
    assert_eq!(passes("pica", "lanes", ALL), Summary { passed: 422 * 8, failed: 0, unconfirmed: 0 });
}

/// Irreducible programs whose native code once had frames of up to 2.6 MB.
#[test]
fn programs_of_large_frames_natively_on_a_small_stack() {
    let request = Request { path: vectors().join("native-stack"), ..request("native") };
    let threads = rayon::ThreadPoolBuilder::new().stack_size(256 << 10).build().unwrap();
    let failures = Failures::of(ALL);
    let summary = threads.install(|| Suite::find("pica").unwrap().run(&request, &failures).unwrap());
    assert_eq!(failures.found.into_inner().unwrap(), Vec::<String>::new());
    assert_eq!(summary, Summary { passed: 6 * 8, failed: 0, unconfirmed: 0 });
}

#[test]
fn programs_on_the_interpreter() {
    // Every program as lifted and after all passes.
    let programs = 422;
    assert_eq!(
        passes("pica", "interp", ALL),
        Summary { passed: programs * 8 * 2, failed: 0, unconfirmed: 0 }
    );
}

#[test]
fn float_conversions() {
    assert_eq!(passes("picafloats", "convert", ALL).passed, 5000);
}

fn on_device(engine: &'static str, wanted: Wanted) {
    match xenoglot_conformance::vulkan::device(&request(engine)) {
        Ok(device) => println!("device: {}", device.name),
        Err(e) => return xenoglot_testgen::skip::skip(&format!("no Vulkan device: {e}")),
    }
    if engine == "glsl" && !xenoglot_vulkan::glslang::available() {
        return xenoglot_testgen::skip::skip("glslangValidator is not installed");
    }
    passes("pica", engine, wanted);
}

/// The driver compiles two programs a second: each once, one in four as GLSL; in long runs as both.
fn is_of_glsl(item: usize) -> bool {
    item.is_multiple_of(4)
}

#[test]
fn programs_as_spirv() {
    on_device("spirv", |item| is_long() || !is_of_glsl(item));
}

#[test]
fn programs_as_glsl() {
    on_device("glsl", |item| is_long() || is_of_glsl(item));
}

#[test]
fn a_folder_without_vectors_is_an_error() {
    let request = Request { path: env!("CARGO_MANIFEST_DIR").into(), ..request("interp") };
    let error = Suite::find("pica").unwrap().run(&request, &xenoglot_conformance::Silent).unwrap_err();
    assert!(error.to_string().contains("PICV0001"), "{error}");
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_file_of_programs_is_read_or_refused(bytes: Vec<u8>) {
        let _ = format::programs(&[format::PROGRAMS_MAGIC.as_slice(), &bytes].concat());
        let _ = format::floats(&[format::FLOATS_MAGIC.as_slice(), &bytes].concat());
    }
}
