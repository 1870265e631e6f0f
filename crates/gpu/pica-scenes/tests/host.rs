//! Every scene on the host's GPU: against the CPU renderer by the rule of docs/scenes.md, and without waiting for
//! programs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use xenoglot_capture::Capture;
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::host::{HostRenderer, Options, Programs, Triangles};
use xenoglot_pica::raster;
use xenoglot_pica::regs::Registers;
use xenoglot_pica::renderer::{Draw, OutOfPixels, Renderer};
use xenoglot_pica::replay::{Image, Limits, Player};
use xenoglot_pica::report::{Error, Report};
use xenoglot_pica_scenes::{Params, SCENES, Scene};
use xenoglot_testgen::skip::skip;

const FRAMES: u32 = 2;

fn device() -> Option<Device> {
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => Some(device),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

fn capture(scene: &Scene) -> Capture {
    scene.build(Params { frames: Some(FRAMES), count: None })
}

fn play<R: Renderer>(capture: &Capture, renderer: R) -> (Vec<Image>, Report) {
    let mut player = Player::new(capture, renderer, Limits::default()).unwrap();
    let frames: Vec<Image> = std::iter::from_fn(|| player.next_frame()).map(Result::unwrap).collect();
    assert_eq!(frames.len(), FRAMES as usize);
    (frames, player.take_report())
}

/// Pixels that differ at all, and those with a channel that differs by more than one.
fn differences(a: &[Image], b: &[Image]) -> [usize; 2] {
    let pairs =
        a.iter().zip(b).flat_map(|(a, b)| a.rgba.as_chunks::<4>().0.iter().zip(b.rgba.as_chunks::<4>().0));
    let worst = pairs.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0));
    worst.fold([0; 2], |[any, more], worst| [any + usize::from(worst > 0), more + usize::from(worst > 1)])
}

#[test]
fn scenes_are_those_of_the_cpu_renderer() {
    let Some(device) = device() else { return };
    let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
    for scene in SCENES {
        let capture = capture(scene);
        let (expected, _) = play(&capture, raster::Renderer::new());
        let pixels: usize = expected.iter().map(|image| image.rgba.len() / 4).sum();
        for triangles in [Triangles::ByCount, Triangles::Processor, Triangles::Device] {
            let options = Options { triangles, ..Options::default() };
            let renderer = HostRenderer::with_options(Arc::clone(&programs), options).unwrap();
            let (got, report) = play(&capture, renderer);
            assert_eq!((report.errors, report.detours), (0, 0), "{}: {:?}", scene.name, report.messages);
            let [any, more] = differences(&expected, &got);
            println!(
                "{:14}{pixels:>8} pixels, {any} differ, {more} by more than 1, {triangles:?}",
                scene.name
            );
            if device.name().contains("llvmpipe") {
                assert_eq!(any, 0, "{}, {triangles:?}", scene.name);
            }
            // Beyond one, only where a texel, a table's entry or a fraction is chosen the other way.
            assert!(more * 1000 <= pixels, "{}, {triangles:?}", scene.name);
        }
    }
}

/// Draws whose programs are being compiled are the CPU renderer's: the picture does not depend on which they are.
#[test]
fn nothing_waits_for_programs() {
    let Some(device) = device() else { return };
    let scene = Scene::find("multitexture").unwrap();
    let capture = capture(scene);
    let (expected, _) = play(&capture, raster::Renderer::new());
    let programs = Arc::new(Programs::new(&device, Compilation::Background));
    let (got, report) = play(&capture, HostRenderer::new(Arc::clone(&programs)).unwrap());
    assert_eq!(report.errors, 0, "{:?}", report.messages);
    assert!(report.detours > 0);
    let [_, more] = differences(&expected, &got);
    assert_eq!(more, 0);
}

/// A CPU renderer that notes the pixel states of draws.
#[derive(Default)]
struct Noting {
    inner: raster::Renderer,
    states: Vec<Registers>,
}

impl Renderer for Noting {
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
        self.states.push(draw.regs.clone());
        self.inner.draw(draw)
    }

    xenoglot_pica::forward_renderer!(inner);
}

/// Of states that were prepared and are compiled, all draws are the device's.
#[test]
fn prepared_states_are_not_waited_for() {
    let Some(device) = device() else { return };
    let capture = capture(Scene::find("multitexture").unwrap());
    let mut player = Player::new(&capture, Noting::default(), Limits::default()).unwrap();
    while player.next_frame().transpose().unwrap().is_some() {}
    let programs = Arc::new(Programs::new(&device, Compilation::Background));
    player.gpu().renderer().states.iter().for_each(|regs| programs.prepare(regs, Options::default()));
    let start = Instant::now();
    while programs.counts()[1] != 0 {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    let prepared = programs.counts();
    assert!(prepared[0] > 0 && prepared[2] == 0, "{prepared:?}");
    let (_, report) = play(&capture, HostRenderer::new(Arc::clone(&programs)).unwrap());
    assert_eq!((report.errors, report.detours, programs.counts()), (0, 0, prepared));
}

/// Losing the device is an error for what was on it; later draws are the CPU renderer's, wherever triangles were set up before.
#[test]
fn the_processor_goes_on_where_a_device_is_lost() {
    let capture = Scene::find("batch").unwrap().build(Params { frames: Some(4), count: None });
    let mut reference = Player::new(&capture, raster::Renderer::new(), Limits::default()).unwrap();
    let expected: Vec<Image> = std::iter::from_fn(|| reference.next_frame()).map(Result::unwrap).collect();
    for triangles in [Triangles::Processor, Triangles::Device] {
        // A device of its own, as losing it must not disturb other tests.
        let Some(device) = device() else { return };
        let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
        let options = Options { triangles, ..Options::default() };
        let renderer = HostRenderer::with_options(programs, options).unwrap();
        let mut player = Player::new(&capture, renderer, Limits::default()).unwrap();
        let first = player.next_frame().unwrap().unwrap();
        if device.name().contains("llvmpipe") {
            assert_eq!(first.rgba, expected[0].rgba);
        }
        assert_eq!(player.take_report().errors, 0);
        device.wgpu().0.destroy();
        player.next_frame().unwrap().unwrap();
        let report = player.take_report();
        let is_lost =
            report.messages.iter().any(|message| matches!(message, Error::Lost(_) | Error::Detour(_)));
        assert!(is_lost, "{triangles:?}: {:?}", report.messages);
        for expected in &expected[2..] {
            assert_eq!(player.next_frame().unwrap().unwrap().rgba, expected.rgba, "{triangles:?}");
        }
        let report = player.take_report();
        assert!(report.errors == 0 && report.detours > 0, "{triangles:?}: {report:?}");
    }
}
