//! The Maxwell vectors of the project on every engine, and hostile files.

use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;
use xenoglot_conformance::maxwell::format::{Corpus, Kernel};
use xenoglot_conformance::{Case, Observer, Request, Suite, Summary, Verdict};
use xenoglot_maxwell::container::Cubin;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::glslang;
use xenoglot_vulkan::isolated::{WorkerCommand, serve_if_worker};

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/maxwell/compute/public.tar.xz"))
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

/// A worker whose lavapipe rounds doubles right: see [`xenoglot_vulkan`]. Its cache does not tell the widths of vectors apart.
fn worker() -> WorkerCommand {
    let worker = WorkerCommand::this_test("vulkan_worker").unwrap();
    #[cfg(target_arch = "x86_64")]
    if !std::is_x86_feature_detected!("avx512f") {
        return worker.env("LP_NATIVE_VECTOR_WIDTH", "128").env("MESA_SHADER_CACHE_DISABLE", "true");
    }
    worker
}

fn request(engine: &'static str) -> Request {
    Request::new(vectors(), engine).with_worker(worker())
}

/// The counts, and what failed and how.
fn run(engine: &'static str) -> (Summary, Vec<String>) {
    let failures = Failures::default();
    let summary = Suite::find("maxwell").unwrap().run(&request(engine), &failures).unwrap();
    let mut failures = failures.0.into_inner().unwrap();
    failures.sort();
    (summary, failures)
}

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

#[test]
fn cubins_state_what_the_descriptions_state() {
    let corpus = Corpus::read(&vectors()).unwrap();
    let mut count = 0;
    for kernel in &corpus.kernels {
        for (name, variant) in &kernel.variants {
            let bytes = &corpus.cubins[&variant.cubin];
            let cubin = Cubin::parse(bytes).unwrap_or_else(|e| panic!("{} {name}: {e}", kernel.name));
            assert_eq!(cubin.sm, 53);
            let read = cubin.kernel(&kernel.name).unwrap_or_else(|| panic!("{} {name}", kernel.name));
            let at = variant.code_offset as usize;
            assert_eq!(read.code, &bytes[at..at + variant.code_size as usize], "{} {name}", kernel.name);
            let params: Vec<(u32, u32)> = read.params.iter().map(|p| (p.offset, p.size)).collect();
            let sizes = variant.param_sizes.iter().copied();
            let stated: Vec<(u32, u32)> = variant.param_offsets.iter().copied().zip(sizes).collect();
            assert_eq!(params, stated, "{} {name}", kernel.name);
            let memory = (read.shared_bytes, read.local_bytes);
            assert_eq!(memory, (variant.shared_bytes, variant.local_bytes), "{} {name}", kernel.name);
            for bank in &variant.const_banks {
                match &bank.data {
                    None => assert_eq!(read.bank0_bytes, bank.size),
                    Some(data) => {
                        let read = read.banks.iter().find(|b| b.bank == bank.bank).map(|b| b.data);
                        assert_eq!(read, Some(&data[..]), "{} {name}", kernel.name);
                    }
                }
            }
            count += 1;
        }
    }
    println!("{count} cubins of {} kernels", corpus.kernels.len());
    assert_eq!(count, 2 * 78);
}

#[test]
fn words() {
    let path = vectors().with_file_name("../decode/public.tsv.xz");
    let failures = Failures::default();
    let request = Request::new(path, "disasm");
    let summary = Suite::find("maxwell-decode").unwrap().run(&request, &failures).unwrap();
    assert_eq!(failures.0.into_inner().unwrap(), Vec::<String>::new());
    assert_eq!(summary, Summary { passed: 25_838, failed: 0, unconfirmed: 0 });
}

#[test]
fn kernels_on_the_interpreter() {
    // Each of 71 kernels at -O3 and -O0, as lifted, with storage buffers, and optimised; doubtful: `setp_float`, and `f32_arith` at -O3.
    let (summary, failures) = run("interp");
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(summary, Summary { passed: 6 * 71 - 9, failed: 0, unconfirmed: 9 });
}

/// Runs all on lavapipe, whose subgroups are narrower than warps and whose `Fma` rounds twice.
fn on_device(engine: &'static str) {
    match xenoglot_conformance::vulkan::device(&request(engine)) {
        Ok(device) if device.name.contains("llvmpipe") => {}
        Ok(device) => return skip(&format!("what {} may lack is not known", device.name)),
        Err(e) => return skip(&e.to_string()),
    }
    if engine == "glsl" && !glslang::available() {
        return skip("glslangValidator is not installed");
    }
    let (summary, failures) = run(engine);
    println!("maxwell on {engine}: {summary}");
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(summary, Summary { passed: 2 * 71 - 3, failed: 0, unconfirmed: 3 });
}

#[test]
fn kernels_as_spirv() {
    on_device("spirv");
}

#[test]
fn kernels_as_glsl() {
    on_device("glsl");
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(64))]
    #[test]
    fn any_description_is_read_or_refused(text: String, bytes: Vec<u8>) {
        let _ = serde_json::from_str::<Kernel>(&text);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.tar.xz");
        for start in [&[][..], b"\xfd7zXZ\0\0\x04"] {
            std::fs::write(&path, [start, &bytes].concat()).unwrap();
            prop_assert!(Corpus::read(&path).is_err());
        }
    }
}
