//! Pictures that stay on the host's GPU: those of the processor, with nothing that comes back.

use std::sync::Arc;
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::host::{HostRenderer, Options, PresentError, Programs, Triangles};
use xenoglot_pica::lcd::{Frame, FrameError, Gamma};
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::replay::Operation;
use xenoglot_pica::report::Traffic;
use xenoglot_pica_scenes::{Params, Scene};
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;

fn renderer(options: Options) -> Option<HostRenderer> {
    match Device::open(&DeviceOptions::from_env()) {
        Ok(device) => {
            let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
            Some(HostRenderer::with_options(programs, options).unwrap())
        }
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

#[test]
fn frames_of_any_shape_are_those_of_the_processor() {
    let Some(mut renderer) = renderer(Options::default()) else { return };
    let mut rng = Rng::new(5);
    let mut memory = Regions::new();
    memory.set_tracked(true);
    memory.add(VRAM, (0..1 << 16).map(|_| rng.next_u32() as u8).collect());
    let gamma: Gamma = std::array::from_fn(|_| [(); 3].map(|()| rng.next_u32() as u8));
    let mut old = None;
    for round in 0..200 {
        let format = rng.below(5);
        let bytes = [4, 3, 2, 2, 2][format as usize];
        let (width, height) = (1 + rng.below(60), 1 + rng.below(60));
        let frame = Frame {
            address: VRAM + rng.below(0x1000),
            width,
            height,
            // Sometimes not of whole pixels.
            bytes_per_row: width * bytes + if rng.percent(50) { 0 } else { rng.below(20) },
            format,
            on_its_side: rng.percent(50),
            gamma: rng.percent(40).then(|| Arc::new(gamma)),
        };
        let picture = renderer.present(&mut memory, &frame, old.take()).unwrap();
        assert_eq!(renderer.screenshot(&picture), Ok(frame.read(&memory).unwrap()), "{round}: {frame:?}");
        old = Some(picture);
    }
    let frame = Frame {
        address: FCRAM,
        width: 1,
        height: 1,
        bytes_per_row: 4,
        format: 0,
        on_its_side: false,
        gamma: None,
    };
    let error = FrameError::Unmapped { address: FCRAM, bytes: 4 };
    assert_eq!(renderer.present(&mut memory, &frame, None).err(), Some(PresentError::Frame(error)));
}

/// A scene's frames on the screen: the bytes that cross are those of its commands.
#[test]
fn nothing_comes_back_for_a_scene_that_only_presents() {
    nothing_comes_back("multitexture", Options::default());
}

/// The same where the device sets triangles up and bins them: one draw of thousands, many draws, clipped ones.
#[test]
fn nothing_comes_back_for_triangles_that_the_device_sets_up() {
    for scene in ["batch", "cubes", "mirror"] {
        nothing_comes_back(scene, Options { triangles: Triangles::Device, ..Options::default() });
    }
}

fn nothing_comes_back(scene: &str, options: Options) {
    let Some(renderer) = renderer(options) else { return };
    let capture = Scene::find(scene).unwrap().build(Params { frames: Some(4), count: None });
    let mut memory = Regions::console(48 << 20);
    memory.set_tracked(true);
    for block in &capture.memory {
        memory.bytes_mut(block.address, block.bytes.len() as u32).unwrap().copy_from_slice(&block.bytes);
    }
    let mut gpu = Gpu::new(renderer);
    let (mut pictures, mut traffic) = (Vec::new(), Vec::new());
    for op in capture.ops.iter() {
        match Operation::decode(&op).unwrap() {
            Operation::Frame(shown) => {
                pictures.push(gpu.renderer_mut().present(&mut memory, &shown.frame(), None).unwrap());
                let report = gpu.take_report();
                assert_eq!((report.errors, report.detours), (0, 0), "{:?}", report.messages);
                traffic.push(report.traffic);
            }
            operation => operation.run(&mut gpu, &mut memory).unwrap(),
        }
    }
    println!("{traffic:?}");
    // Textures are there after the first frame.
    for Traffic { uploaded, downloaded, waits, .. } in &traffic[1..] {
        assert_eq!((*uploaded, *downloaded, *waits), (0, 0, 0));
    }
    // The last one is what guest memory has.
    let shown = capture.ops.iter().filter_map(|op| match Operation::decode(&op) {
        Ok(Operation::Frame(shown)) => Some(shown.frame()),
        _ => None,
    });
    let expected = gpu.show(&mut memory, &shown.last().unwrap()).unwrap();
    assert_eq!(gpu.renderer_mut().screenshot(pictures.last().unwrap()), Ok(expected));
}
