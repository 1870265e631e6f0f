//! Random scenes of each feature of the chip: all engines and both renderers leave the same in memory.

mod console;

use console::{Console, first_difference};
use std::sync::Arc;
use xenoglot_capture::Capture;
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::host::{HostRenderer, Options, Programs, Triangles};
use xenoglot_pica::raster;
use xenoglot_pica::renderer::Renderer;
use xenoglot_pica::replay::Operation;
use xenoglot_pica::report::Report;
use xenoglot_pica::shader::{Engines, Host, Native};
use xenoglot_pica_scenes::features;
use xenoglot_testgen::property;
use xenoglot_testgen::skip::skip;

/// Scenes; `XENOGLOT_LONG` runs ten times as many.
const SCENES: u64 = 372;

/// Memory after a capture, and what was done.
fn play<R: Renderer>(capture: &Capture, gpu: Gpu<R>) -> (Console<R>, Report) {
    let mut console = Console::new(capture, gpu);
    for op in capture.ops.iter() {
        console.run(&Operation::decode(&op).unwrap());
    }
    console.flushed();
    let report = console.gpu.take_report();
    (console, report)
}

/// Plays scenes with the reference and with another GPU, a new one for each scene.
fn compare<R: Renderer>(scenes: u64, other: impl Fn() -> Gpu<R>) -> Report {
    let mut sum = Report::default();
    let mut failures = Vec::new();
    for seed in 0..scenes {
        let (name, capture) = features::capture(seed);
        let reference = Gpu::with_engines(raster::Renderer::new(), Engines::reference());
        let (mut expected, report) = play(&capture, reference);
        assert_eq!(report.errors, 0, "seed {seed}, {name}: {:?}", report.messages);
        let (mut got, report) = play(&capture, other());
        if let Some((memory, at)) = first_difference(expected.flushed(), got.flushed()) {
            failures.push(format!("seed {seed}, {name}: memory {memory} at {at:#x}, {:?}", report.messages));
        }
        sum.merge(report);
    }
    assert!(failures.is_empty(), "{} of {scenes} differ: {failures:#?}", failures.len());
    sum
}

/// Each feature draws something, and its seeds draw different things.
#[test]
fn features_are_seen() {
    let mut blank = Vec::new();
    for seed in 0..features::count() {
        let play = |seed| {
            let (name, capture) = features::capture(seed);
            (name, play(&capture, Gpu::new(raster::Renderer::new())))
        };
        let (name, (mut one, report)) = play(seed);
        let (_, (mut other, _)) = play(seed + features::count());
        let same = first_difference(one.flushed(), other.flushed()).is_none();
        if same || report.pixels < 20 || report.errors > 0 {
            blank.push(format!("{name}: {report:?}"));
        }
    }
    assert!(blank.is_empty(), "{blank:#?}");
}

#[test]
fn machine_code_and_lanes_do_what_the_interpreter_does() {
    let scenes = property::budget(SCENES as u32, SCENES as u32 * 10).into();
    let native =
        || Gpu::with_engines(raster::Renderer::new(), Engines::new(vec![Box::new(Native::new().unwrap())]));
    let report = compare(scenes, native);
    println!("{:?}", report.engines);
    compare(scenes, || Gpu::new(raster::Renderer::new()));
}

#[test]
fn the_device_does_what_the_processor_does() {
    let device = match Device::open(&DeviceOptions::from_env()) {
        Ok(device) if device.name().contains("llvmpipe") => device,
        Ok(_) => return skip("quotients and roots of vertices are the device's own"),
        Err(error) => return skip(&error.to_string()),
    };
    let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
    let scenes = property::budget(2 * features::count() as u32, SCENES as u32).into();
    for triangles in [Triangles::Processor, Triangles::Device] {
        let options = Options { triangles, ..Options::default() };
        let report = compare(scenes, || {
            let engines = Engines::new(vec![Box::new(Host::new(&device, Compilation::Blocking))]);
            let renderer = HostRenderer::with_options(Arc::clone(&programs), options).unwrap();
            Gpu::with_engines(renderer, engines)
        });
        println!("{triangles:?}: {} draws, {:?}, {:?}", report.draws, report.messages, report.engines);
        // All but a few draws are shaded and drawn on the device.
        assert!(report.messages.len() < 4, "{:?}", report.messages);
    }
}
