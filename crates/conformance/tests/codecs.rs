//! The vectors of textures, frames and the tone filter, and hostile files.

use std::path::PathBuf;
use std::sync::Mutex;
use xenoglot_conformance::{Case, Observer, Request, Suite, Summary, Verdict};
use xenoglot_testgen::skip::skip;
use xenoglot_tone::Engine;
use xenoglot_vulkan::isolated::{WorkerCommand, serve_if_worker};

#[test]
fn vulkan_worker() {
    serve_if_worker();
}

fn vectors(suite: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors")).join(suite)
}

#[derive(Default)]
struct Failures(Mutex<Vec<String>>);

impl Observer for Failures {
    fn total(&self, _cases: usize) {}

    fn case(&self, case: &Case) {
        if let Verdict::Failed(d) | Verdict::Unconfirmed(d) | Verdict::TimedOut(d) = &case.verdict {
            self.0.lock().unwrap().push(format!("{}: {d}", case.name));
        }
    }
}

fn run(suite: &str, engine: &'static str, path: PathBuf) -> (Result<Summary, String>, Vec<String>) {
    let suite = Suite::find(suite).unwrap();
    let failures = Failures::default();
    let device = std::env::var("XENOGLOT_VULKAN_DEVICE").ok().filter(|name| !name.is_empty());
    let worker = WorkerCommand::this_test("vulkan_worker").ok();
    let request = Request { device, worker, ..Request::new(path, engine) };
    let summary = suite.run(&request, &failures).map_err(|e| e.to_string());
    (summary, failures.0.into_inner().unwrap())
}

/// Every case passes, and there are so many.
fn all_pass(suite: &str, engine: &'static str, passed: usize) {
    let (summary, failures) = run(suite, engine, vectors(suite));
    assert!(failures.is_empty(), "{} failures: {:#?}", failures.len(), &failures[..failures.len().min(20)]);
    assert_eq!(summary, Ok(Summary { passed, failed: 0, unconfirmed: 0 }));
}

/// 24 footprints of 2,050 blocks in four outputs, 18 formats of 2,048 blocks, 14 + 16 + 222 of consoles.
#[test]
fn textures() {
    all_pass("texture", "cpu", 24 * 2050 * 4 + 18 * 2048 + 14 + 16 + 222);
}

/// The same blocks on the host's GPU; consoles' layouts have no programs.
#[cfg(feature = "host")]
#[test]
fn textures_on_the_gpu() {
    if device() {
        all_pass("texture", "compute", 24 * 2050 * 4 + 18 * 2048);
    }
}

/// 415 files; those that are not read are of formats which the standards of their containers do not have.
#[test]
fn texture_files() {
    let (summary, failures) = run("texture-files", "cpu", vectors("texture-files"));
    let unknown = ["hdr_6x6i", "xuastc", "PVRTC1"];
    let unexpected: Vec<_> =
        failures.iter().filter(|f| !unknown.iter().any(|name| f.contains(name))).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert_eq!(summary, Ok(Summary { passed: 408, failed: 0, unconfirmed: 7 }));
}

/// Whether there is one; else says so.
#[cfg(feature = "host")]
fn device() -> bool {
    use xenoglot_host::{Device, DeviceOptions};
    Device::open(&DeviceOptions::from_env()).map_err(|e| skip(&e.to_string())).is_ok()
}

/// 552 cases by both definitions of reconstruction.
#[test]
fn frames() {
    all_pass("yuv", "cpu", 2 * 552);
}

#[cfg(feature = "host")]
#[test]
fn frames_on_the_gpu() {
    if device() {
        all_pass("yuv", "compute", 2 * 552);
    }
}

/// The host's own samplers, where it has them, for those of the cases that it does.
#[test]
fn frames_by_the_hosts_sampler() {
    match run("yuv", "sampler", vectors("yuv")).0 {
        Ok(summary) => assert!(summary.failed == 0 && summary.passed > 0, "{summary:?}"),
        Err(e) => skip(&e),
    }
}

/// Coefficients; five signals, each whole and in five sizes of blocks; two of powers; the mix.
#[test]
fn tones() {
    for engine in Engine::ALL {
        if engine.is_available() {
            all_pass("tone", engine.name(), 1 + 5 * 6 + 2 + 1);
        } else {
            skip(&format!("this processor has no {engine}"));
        }
    }
}

/// A file cut anywhere is an error, not a panic; so is one whose counts say too much.
#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (suite, name, whole) in [
        ("texture", "bc7.bin", "bc_etc/bc7.bin.zst"),
        ("texture", "astc.bin", "astc/astc_4x4.bin.zst"),
        ("texture", "pica.bin", "console/pica.bin.zst"),
        ("texture", "ds.bin", "console/ds.bin.zst"),
        ("yuv", "yuv.bin", "yuv.bin.zst"),
    ] {
        let bytes = xenoglot_conformance::input::read(&vectors(suite).join(whole)).unwrap();
        let path = folder.path().join(name);
        for cut in [9, 12, 20, 40, 1000, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(run(suite, "cpu", path.clone()).0.is_err(), "{name} cut at {cut}");
        }
        let mut more = bytes.clone();
        more[8..24].fill(0xff);
        std::fs::write(&path, more).unwrap();
        assert!(run(suite, "cpu", path).0.is_err(), "{name}");
    }
}
