//! The PICA200 scenes of the project, and hostile files.

use proptest::prelude::*;
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use xenoglot_conformance::picagpu::{compare, format, run, scenes};
use xenoglot_conformance::{Case, Observer, Request, Suite, Summary, Verdict};
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::host::{HostRenderer, Options, Programs, Triangles};
use xenoglot_pica::raster;
use xenoglot_pica::renderer::NullRenderer;
use xenoglot_pica::shader::Engines;
use xenoglot_testgen::skip::skip;

const SCENES: usize = 176;

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/picagpu"))
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

/// Everything up to the clipper, without pixels.
#[test]
fn triangles_and_interrupts() {
    let scenes = scenes(&vectors()).unwrap();
    assert_eq!(scenes.len(), SCENES);
    let different = |scene: &format::Scene| {
        let front = |got: &compare::Observed| compare::front(scene, got);
        let difference = run(scene, NullRenderer, Engines::default(), front)?;
        Some(format!("{}: {difference}", scene.name))
    };
    let failures: Vec<String> = scenes.iter().filter_map(different).collect();
    let triangles: usize = scenes.iter().map(|s| s.triangles.len()).sum();
    println!("{} scenes, {triangles} triangles", scenes.len());
    assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
}

/// Scenes whose memory is written by fills, transfers and copies only.
#[test]
fn transfers_without_pixels() {
    const FILL_OR_TRANSFER: u32 = 16;
    let scenes = scenes(&vectors()).unwrap();
    let transfers = scenes.iter().filter(|s| s.flags & FILL_OR_TRANSFER != 0 && s.triangles.is_empty());
    let mut count = 0;
    for scene in transfers {
        let verdict = run(scene, NullRenderer, Engines::default(), |got| compare::judge(scene, got));
        assert_eq!(verdict, Verdict::Passed, "{}", scene.name);
        count += 1;
    }
    println!("{count} scenes");
    assert!(count > 0);
}

fn passes(engine: &'static str) {
    let failures = Failures::default();
    let request = Request::new(vectors(), engine);
    let summary = Suite::find("picagpu").unwrap().run(&request, &failures).unwrap();
    println!("picagpu on {engine}: {summary}");
    let mut failures = failures.0.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
    assert_eq!(summary, Summary { passed: SCENES, failed: 0, unconfirmed: 0 });
}

#[test]
fn scenes_on_the_cpu() {
    passes("cpu");
}

#[test]
fn scenes_on_the_cpu_with_shaders_on_lanes() {
    passes("cpu-lanes");
}

#[test]
fn scenes_on_the_cpu_with_native_shaders() {
    passes("cpu-native");
}

/// The margin of the suite is for other devices: lavapipe divides as the processor does, and draws the same bytes.
#[test]
fn scenes_on_the_cpu_with_shaders_on_the_hosts_gpu() {
    passes("cpu-host");
}

#[test]
fn scenes_on_the_hosts_gpu() {
    for triangles in [Triangles::Processor, Triangles::Device] {
        passes_on_the_hosts_gpu(Options { triangles, ..Options::default() });
    }
}

fn passes_on_the_hosts_gpu(options: Options) {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
    let is_exact = device.name().contains("llvmpipe");
    let (mut exact, mut detours, mut failures) = (0, 0, Vec::new());
    for scene in scenes(&vectors()).unwrap() {
        let renderer = HostRenderer::with_options(Arc::clone(&programs), options).unwrap();
        let (verdict, same, on_cpu) = run(&scene, renderer, Engines::default(), |got| {
            (compare::judge_near(&scene, got), compare::judge(&scene, got), got.detours)
        });
        detours += on_cpu;
        exact += usize::from(same == Verdict::Passed);
        let verdict = if is_exact { same } else { verdict };
        if verdict != Verdict::Passed {
            failures.push(format!("{}: {verdict:?}", scene.name));
        }
    }
    let [ready, _, refused] = programs.counts();
    println!(
        "{SCENES} scenes on {}, {:?}: {exact} byte for byte, {ready} programs, {detours} draws on the CPU",
        device.name(),
        options.triangles
    );
    assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
    assert_eq!(refused, 0);
}

/// The same bytes without the processor's vector extensions.
#[test]
fn scenes_on_portable_code() {
    let options = raster::Options { code: raster::Code::Portable, ..raster::Options::default() };
    let scenes = scenes(&vectors()).unwrap();
    let verdict = |scene: &format::Scene| {
        let renderer = raster::Renderer::with_options(options);
        run(scene, renderer, Engines::default(), |got| compare::judge(scene, got))
    };
    let cases = scenes.par_iter().map(|s| Case { name: s.name.clone(), verdict: verdict(s) });
    let cases: Vec<Case> = cases.collect();
    let failures: Vec<_> = cases.iter().filter(|c| c.verdict != Verdict::Passed).collect();
    println!("{} scenes on portable code", cases.len());
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(cases.len(), SCENES);
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_scene_is_read_or_refused(bytes: Vec<u8>, tag in 0usize..13, len: u32) {
        let _ = format::scene(&[format::MAGIC.as_slice(), &bytes].concat());
        let tags = b"NAMETAGSFLAGREGSMEM CMDLFILLDISPTCPYOUTREXPMEXPTEXPI";
        let tag = &tags[tag * 4..][..4];
        for len in [len, bytes.len() as u32] {
            let parts = [format::MAGIC.as_slice(), tag, &len.to_le_bytes(), &bytes];
            let _ = format::scene(&parts.concat());
        }
    }
}
