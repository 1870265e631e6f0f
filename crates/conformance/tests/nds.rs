//! The DS scenes of the project, the slope captures beside it, and hostile files.

use proptest::prelude::*;
use rayon::prelude::*;
use std::path::PathBuf;
use xenoglot_conformance::nds::{console, judge, load, slopes};
use xenoglot_conformance::{Request, Silent, Suite, Summary, Verdict};
use xenoglot_host::{Device, DeviceOptions};
use xenoglot_nds::dump::FrameDump;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::{Frame, Rules};
use xenoglot_testgen::property;
use xenoglot_testgen::skip::skip;

const SCENES: usize = 255;
const RECORDED: usize = 65;

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/nds"))
}

/// Every scene, with as many threads.
fn passes(threads: usize) {
    let scenes = load(&vectors()).unwrap();
    let different = |loaded: &_| match judge(loaded, threads) {
        Verdict::Passed => None,
        verdict => Some(format!("{}: {verdict:?}", loaded.name)),
    };
    let failures: Vec<String> = scenes.par_iter().filter_map(different).collect();
    println!("{} scenes with {threads} threads: {} differ", scenes.len(), failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(scenes.len(), SCENES);
}

#[test]
fn scenes_on_one_thread() {
    passes(1);
}

#[test]
fn scenes_on_five_threads() {
    passes(5);
}

#[test]
fn suite_of_scenes() {
    let request = Request::new(vectors(), "cpu");
    let summary = Suite::find("nds").unwrap().run(&request, &Silent).unwrap();
    assert_eq!(summary, Summary { passed: SCENES, ..Summary::default() });
}

/// A bitmap as ndsframereplay takes them of a console, here of what our renderer draws, but for a pixel.
fn screenshot(gpu: &Gpu, changed: bool) -> Vec<u8> {
    let mut out = b"BM".to_vec();
    out.extend([0; 8]);
    [66u32, 40, 256, 192].iter().for_each(|word| out.extend(word.to_le_bytes()));
    [1u16, 32].iter().for_each(|half| out.extend(half.to_le_bytes()));
    out.extend([0; 24]);
    [0x3fu32, 0xfc0, 0x3_f000].iter().for_each(|mask| out.extend(mask.to_le_bytes()));
    for y in (0..192).rev() {
        for &color in gpu.renderer().row(y).unwrap().color {
            let [red, green, blue, _] = color.to_le_bytes().map(u32::from);
            out.extend((red | green << 6 | blue << 12).to_le_bytes());
        }
    }
    if changed {
        out[66] ^= 1;
    }
    out
}

#[test]
fn frame_dumps_are_compared_with_screenshots_beside_them() {
    let scenes = load(&vectors()).unwrap();
    let loaded = scenes.iter().find(|s| s.name == "stress_006").unwrap();
    let dump = FrameDump::of_scene(&loaded.scene, loaded.image()).unwrap();
    let gpu = play(&dump.scene().unwrap(), None, Gpu::default()).unwrap().gpu;
    let folder = tempfile::tempdir().unwrap();
    for (name, changed) in [("same", false), ("different", true)] {
        std::fs::write(folder.path().join(format!("{name}.ntrfd")), dump.to_bytes()).unwrap();
        std::fs::write(folder.path().join(format!("{name}.bmp")), screenshot(&gpu, changed)).unwrap();
    }
    let request = Request::new(folder.path(), "cpu");
    let summary = Suite::find("nds-console").unwrap().run(&request, &Silent).unwrap();
    assert_eq!(summary, Summary { passed: 1, failed: 1, ..Summary::default() });
}

#[test]
fn scenes_with_chunks_that_are_not_known_do_not_pass() {
    let scenes = load(&vectors()).unwrap();
    let scene = scenes.iter().find(|s| s.scene.memory.is_none()).unwrap().scene.to_bytes();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.ndsf");
    let request = Request::new(path.clone(), "cpu");
    let verdict = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Suite::find("nds").unwrap().run(&request, &Silent).unwrap()
    };
    let passed = Summary { passed: 1, ..Summary::default() };
    let failed = Summary { failed: 1, ..Summary::default() };
    assert_eq!(verdict(&scene), passed);
    for tag in [b"WRIT", b"XNEW"] {
        assert_eq!(verdict(&[&scene[..], tag, &[2, 0, 0, 0, 1, 2]].concat()), failed, "{tag:?}");
    }
    // All up to the first expectation.
    let start = scene.windows(4).position(|tag| tag == b"XSTA").unwrap();
    assert_eq!(verdict(&scene[..start]), failed);
}

/// Pictures of both screens with capture, and hostile files.
#[test]
fn whole_pictures() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/nds-2d"));
    let request = Request::new(path, "cpu");
    let summary = Suite::find("nds-2d").unwrap().run(&request, &Silent).unwrap();
    println!("nds-2d: {summary}");
    assert_eq!(summary, Summary { passed: 252, ..Summary::default() });
}

fn console_vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/nds-console"))
}

/// Every pixel of the scenes that a console drew.
#[test]
fn scenes_recorded_on_a_console() {
    let request = Request::new(console_vectors(), "cpu");
    let summary = Suite::find("nds-console").unwrap().run(&request, &Silent).unwrap();
    assert_eq!(summary, Summary { passed: RECORDED, ..Summary::default() });
}

/// And on the host's GPU.
#[test]
fn scenes_recorded_on_a_console_on_the_hosts_gpu() {
    if let Err(error) = Device::open(&DeviceOptions::from_env()) {
        return skip(&error.to_string());
    }
    let device = DeviceOptions::from_env().selector;
    let request = Request { device, ..Request::new(console_vectors(), "compute") };
    let summary = Suite::find("nds").unwrap().run(&request, &Silent).unwrap();
    assert_eq!(summary, Summary { passed: RECORDED, ..Summary::default() });
}

/// Coverage of every recorded edge in a long run, else of each 64th.
#[test]
fn edges_recorded_on_a_console() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/nds-console"));
    if !folder.is_dir() {
        return skip("no folder `shared` beside the checkout: antialiased edges are not compared");
    }
    let step = if property::is_long() { 1 } else { 64 };
    for name in ["aa_LP", "aa_LN", "aa_RP", "aa_RN"] {
        let file = std::fs::read(folder.join(format!("{name}.bin.zst"))).unwrap();
        assert_eq!(console::judge_file(&file, step).unwrap(), Verdict::Passed, "{name}");
    }
}

#[test]
fn suite_of_scenes_on_the_hosts_gpu() {
    if let Err(error) = Device::open(&DeviceOptions::from_env()) {
        return skip(&error.to_string());
    }
    let device = DeviceOptions::from_env().selector;
    let request = Request { device, ..Request::new(vectors(), "compute") };
    let summary = Suite::find("nds").unwrap().run(&request, &Silent).unwrap();
    println!("nds, compute: {summary}");
    assert_eq!(summary, Summary { passed: SCENES, ..Summary::default() });
}

#[test]
fn slopes_of_the_console() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/nds-slopes"));
    if !path.is_dir() {
        return skip("no slope captures: ../shared/vectors/nds-slopes is not there");
    }
    let request = Request::new(path, "cpu");
    let summary = Suite::find("nds-slopes").unwrap().run(&request, &Silent).unwrap();
    println!("nds-slopes: {summary}");
    assert_eq!(summary, Summary { passed: 4, ..Summary::default() });
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_capture_is_compared_or_refused(bytes: Vec<u8>, kind in 0u8..5) {
        let _ = slopes::compare(&bytes, Rules::all());
        let _ = console::judge_file(&bytes, 1);
        let _ = console::judge_file(&[b"NDAA\x01\x02".as_slice(), &bytes].concat(), 1);
        let _ = slopes::compare(&[&[kind, 0, 0, 0, 1, 0, 192, 0, 0], bytes.as_slice()].concat(), Rules::all());
    }
}
