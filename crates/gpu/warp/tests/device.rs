//! The renderer on the host's GPU, in all its ways, against the engines on the CPU.

mod common;

use common::Scene;
use std::fmt::Debug;
use xenoglot_host::{Device, DeviceOptions};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_warp::host::{Architecture, Compilation, Error, Joining, Options, Renderer};
use xenoglot_warp::state::{blend, combiner, depth};
use xenoglot_warp::{Cull, Draw, Engine, Primitive, RenderState, Vertex, reference, set_up};

const SPLIT: Architecture = Architecture::Split(Compilation::Blocking);

fn device() -> Option<Device> {
    match Device::open(&DeviceOptions { timeout_s: 120, ..DeviceOptions::from_env() }) {
        Ok(device) => Some(device),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

/// Both architectures, both sizes of tiles, both ways to bin.
fn ways(device: &Device, batch: u32) -> Vec<Options> {
    let mut joinings = vec![Joining::Plain];
    if device.has_subgroups() {
        joinings.push(Joining::Subgroups);
    } else {
        skip("the device has no subgroup operations");
    }
    let of_tile = |tile| {
        let of_joining = move |joining| {
            [Architecture::Uber, SPLIT].map(|architecture| Options {
                tile,
                batch,
                architecture,
                joining: Some(joining),
            })
        };
        joinings.iter().copied().flat_map(of_joining).collect::<Vec<_>>()
    };
    [8, 16].into_iter().flat_map(of_tile).collect()
}

fn renderers(device: &Device, batch: u32) -> Vec<(Options, Renderer)> {
    let all = ways(device, batch).into_iter();
    all.map(|options| (options, Renderer::new(device, options).unwrap())).collect()
}

/// Draws a scene in all ways; all frames are the reference's.
fn agree(scene: &Scene, renderers: &mut [(Options, Renderer)], name: &dyn Debug) {
    let (mut slow, mut fast) = (scene.frame(), scene.frame());
    reference::draw(&mut slow, &scene.memory, &scene.draw());
    let expected = scene.stored(&slow);
    Engine::new().draw(&mut fast, &scene.memory, &scene.draw());
    assert!(scene.stored(&fast) == expected, "{name:?}, cpu");
    for (options, renderer) in renderers {
        let mut frame = scene.frame();
        renderer.draw(&mut frame, &scene.memory, &scene.draw()).unwrap();
        if scene.stored(&frame) != expected {
            panic!("{name:?}, {options:?}: {}", first_difference(scene, renderer));
        }
    }
}

/// The first primitive after which frames differ, and where.
fn first_difference(scene: &Scene, renderer: &mut Renderer) -> String {
    for count in 1..=scene.primitives.len() {
        let draw = Draw::new(&scene.states, &scene.primitives[..count], &scene.state_of[..count]).unwrap();
        let (mut expected, mut frame) = (scene.frame(), scene.frame());
        Engine::new().draw(&mut expected, &scene.memory, &draw);
        renderer.draw(&mut frame, &scene.memory, &draw).unwrap();
        let [width, height] = frame.size();
        let mut places = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        if let Some([x, y]) = places.find(|&[x, y]| expected.pixel(x, y) != frame.pixel(x, y)) {
            let (primitive, state) = (&scene.primitives[count - 1], scene.state_of[count - 1]);
            let (got, want) = (frame.pixel(x, y), expected.pixel(x, y));
            let state = &scene.states[usize::from(state)];
            return format!("({x}, {y}) is {got:x?}, not {want:x?}, after {primitive:?} in {state:?}");
        }
    }
    "no prefix of it differs".into()
}

/// A triangle over all of a screen whose sides add up to less than 2000 pixels.
fn whole_screen() -> Primitive {
    let corner = |x: f32, y: f32| Vertex { position: [x, y, 0.5, 1.0], uv: [x, y], color: [x / 900.0; 4] };
    let corners = [corner(-1000.0, -1000.0), corner(3000.0, -1000.0), corner(-1000.0, 3000.0)];
    set_up(corners.each_ref(), [0; 2], Cull::None).unwrap()
}

/// A scene of one size.
fn sized(rng: &mut Rng, most: u32, size: [u32; 2]) -> Scene {
    let mut scene = Scene::random(rng, most);
    let targets = &mut scene.targets;
    for (surface, offset) in [(&mut targets.color, 0), (&mut targets.depth, 2 * size[0] * size[1])] {
        (surface.offset, surface.size, surface.stride) = (offset, size, 2 * size[0]);
    }
    scene
}

#[test]
fn all_ways_agree_on_random_scenes() {
    let Some(device) = device() else { return };
    let mut renderers = renderers(&device, 33);
    let mut rng = property::rng(27);
    for number in 0..property::budget(8, 300) {
        agree(&Scene::random(&mut rng, 60), &mut renderers, &number);
    }
}

/// The glTF scenes, in fog and without.
#[cfg(feature = "gltf")]
#[test]
fn all_ways_agree_on_models() {
    use xenoglot_dragon::host::{MeshLimits, load_gltf};
    use xenoglot_warp::golden::Error;
    use xenoglot_warp::model::{Model, View};
    use xenoglot_warp::{Frame, Memory};

    let Some(device) = device() else { return };
    let mut renderers = renderers(&device, 1000);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "glb")).collect();
    assert!(!paths.is_empty());
    for (path, fog) in paths.iter().flat_map(|path| [false, true].map(|fog| (path, fog))) {
        let mesh = load_gltf(&std::fs::read(path).unwrap(), &|_| None, &MeshLimits::default()).unwrap();
        let view = View { size: [161, 121], fog, ..View::default() };
        let scene = Model::from(&mesh).scene(&view).unwrap();
        let run = |draw: &mut dyn FnMut(&mut Frame, &Memory, &Draw<'_>)| -> Vec<u8> {
            let engine = |frame: &mut Frame, memory: &Memory, drawn: &Draw<'_>| -> Result<(), Error> {
                draw(frame, memory, drawn);
                Ok(())
            };
            scene.run(engine).unwrap()
        };
        let expected = run(&mut reference::draw);
        let cpu = run(&mut |frame, memory, draw| Engine::new().draw(frame, memory, draw));
        assert!(cpu == expected, "{}, cpu", path.display());
        for (options, renderer) in &mut renderers {
            let made = run(&mut |frame, memory, draw| renderer.draw(frame, memory, draw).unwrap());
            assert!(made == expected, "{}, {options:?}", path.display());
        }
    }
}

/// Subgroups of 4 and of 8, which lavapipe has by the width of its vectors: this test once more in another process.
#[test]
fn all_ways_agree_with_other_subgroups() {
    const WIDTH: &str = "LP_NATIVE_VECTOR_WIDTH";
    if std::env::var_os(WIDTH).is_some() {
        let Some(device) = device() else { return };
        let info = device.wgpu().0.adapter_info();
        println!("subgroups of {} to {}", info.subgroup_min_size, info.subgroup_max_size);
        let mut renderers = renderers(&device, 33);
        let mut rng = property::rng(37);
        for number in 0..property::budget(2, 40) {
            agree(&Scene::random(&mut rng, 60), &mut renderers, &number);
        }
        return;
    }
    match device() {
        Some(device) if device.is_software() => {}
        _ => return skip("no lavapipe, whose subgroups can be chosen"),
    }
    for (bits, lanes) in [("128", 4), ("256", 8)] {
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "all_ways_agree_with_other_subgroups", "--nocapture"])
            .env(WIDTH, bits)
            .output()
            .unwrap();
        let text =
            [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(run.status.success(), "{text}");
        assert!(text.contains(&format!("subgroups of {lanes} to {lanes}")), "{text}");
    }
}

/// What WebGPU promises of every device: 16 KiB of workgroup memory, storage buffers of 128 MiB, no subgroups. Shaders are SPIR-V as
/// we write it where the device takes that, and what naga makes of them.
#[test]
fn all_ways_agree_within_the_limits_of_webgpu() {
    let Some(device) = device() else { return };
    for features in [wgpu::Features::PASSTHROUGH_SHADERS, wgpu::Features::empty()] {
        if device.is_native() || features.is_empty() {
            agree_within_the_limits_of_webgpu(&device, features);
        }
    }
}

fn agree_within_the_limits_of_webgpu(device: &Device, required_features: wgpu::Features) {
    let (raw, _) = device.wgpu();
    let opened = pollster::block_on(async {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
        let name = raw.adapter_info().name;
        let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name)?;
        let descriptor = wgpu::DeviceDescriptor { required_features, ..Default::default() };
        adapter.request_device(&descriptor).await.ok()
    });
    let (limited, queue) = opened.unwrap();
    let limited = Device::from_wgpu(&limited, &queue);
    assert_eq!(limited.is_native(), !required_features.is_empty());
    assert_eq!((limited.max_buffer(), limited.has_subgroups()), (128 << 20, false));
    let options = |tile, architecture| Options { tile, batch: 33, architecture, joining: None };
    let ways = [options(8, SPLIT), options(16, SPLIT), options(16, Architecture::Uber)];
    let mut renderers: Vec<_> =
        ways.into_iter().map(|options| (options, Renderer::new(&limited, options).unwrap())).collect();
    let mut rng = property::rng(38);
    for number in 0..property::budget(3, 40) {
        agree(&Scene::random(&mut rng, 60), &mut renderers, &number);
    }
    let mut scene = sized(&mut rng, 9, [1279, 719]);
    (scene.primitives, scene.state_of) = (vec![whole_screen(); 3], vec![0; 3]);
    agree(&scene, &mut renderers, &"large");
}

#[test]
fn all_ways_agree_on_odd_sizes() {
    let Some(device) = device() else { return };
    let mut renderers = renderers(&device, 33);
    let mut rng = property::rng(30);
    for size in [[1, 1], [7, 5], [8, 8], [17, 9], [3, 1025], [129, 127]] {
        agree(&sized(&mut rng, 60, size), &mut renderers, &size);
    }
}

/// Four batches of 16,384 primitives are one of all.
#[test]
fn batches_are_drawn_in_order() {
    let Some(device) = device() else { return };
    let mut rng = property::rng(32);
    let mut scene = sized(&mut rng, 2, [97, 61]);
    scene.states.truncate(2);
    let [width, height] = [97, 61];
    for (i, state) in scene.states.iter_mut().enumerate() {
        let blend = [blend::ADD, blend::SUBTRACT][i % 2];
        let scissor = [0, 0, width, height];
        *state = RenderState { scissor, blend, combiner: combiner::COLOR, ..RenderState::default() };
    }
    scene.primitives.clear();
    while scene.primitives.len() < 65536 {
        let at = [width, height].map(|pixels| rng.below(pixels as u32) as f32);
        let corner = |rng: &mut Rng| Vertex {
            position: [at[0] + rng.below(9) as f32, at[1] + rng.below(9) as f32, 0.5, 1.0],
            uv: [0.0; 2],
            color: std::array::from_fn(|_| rng.below(64) as f32 / 255.0),
        };
        let corners = [0; 3].map(|_| corner(&mut rng));
        scene.primitives.extend(set_up(corners.each_ref(), [0; 2], Cull::None));
    }
    scene.state_of = (0..65536).map(|i| (i % scene.states.len()) as u16).collect();
    let mut expected = scene.frame();
    Engine::new().with_batch(65536).draw(&mut expected, &scene.memory, &scene.draw());
    for architecture in [Architecture::Uber, SPLIT] {
        let mut renderer = Renderer::new(&device, Options { architecture, ..Options::default() }).unwrap();
        let mut frame = scene.frame();
        renderer.draw(&mut frame, &scene.memory, &scene.draw()).unwrap();
        assert!(scene.stored(&expected) == scene.stored(&frame), "{architecture:?}");
    }
}

#[test]
fn blends_are_in_order_across_batches() {
    let Some(device) = device() else { return };
    let mut scene = sized(&mut property::rng(33), 2, [40, 24]);
    let state = |blend, constant| RenderState {
        scissor: [0, 0, 40, 24],
        blend,
        constant,
        combiner: 3 | combiner::ADD_CONSTANT,
        depth: depth::WRITE,
        ..RenderState::default()
    };
    // 31 - 9 + 4 and min(31, 31 + 4) - 9 are not the same, nor is a mixture before and behind either.
    scene.states = vec![
        state(blend::REPLACE, [255; 4]),
        state(blend::SUBTRACT, [72, 40, 16, 255]),
        state(blend::ADD, [32, 32, 32, 0]),
        state(blend::ALPHA, [200, 100, 50, 128]),
    ];
    scene.primitives = vec![whole_screen(); 4];
    let mut different = Vec::new();
    for order in [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 2, 1]] {
        scene.state_of = order.to_vec();
        for batch in 1..4 {
            agree(&scene, &mut renderers(&device, batch), &(order, batch));
        }
        let mut frame = scene.frame();
        reference::draw(&mut frame, &scene.memory, &scene.draw());
        different.push(frame.pixel(20, 12));
    }
    different.dedup();
    assert_eq!(different.len(), 3);
}

#[test]
fn memory_does_not_depend_on_what_is_covered() {
    let Some(device) = device() else { return };
    let size = [150, 90];
    let mut scene = sized(&mut property::rng(29), 9, size);
    (scene.primitives, scene.state_of) = (vec![whole_screen(); 200], vec![0; 200]);
    scene.states[0].scissor = [0, 0, 150, 90];
    for architecture in [Architecture::Uber, SPLIT] {
        let options = Options { batch: 64, architecture, ..Options::default() };
        let mut renderer = Renderer::new(&device, options).unwrap();
        let (mut expected, mut frame) = (scene.frame(), scene.frame());
        Engine::new().draw(&mut expected, &scene.memory, &scene.draw());
        renderer.draw(&mut frame, &scene.memory, &scene.draw()).unwrap();
        assert!(scene.stored(&expected) == scene.stored(&frame));
        let bound = options.memory(size, scene.states.len(), scene.memory.bytes());
        // The formula has room for a variant of each state.
        let spare = if architecture == Architecture::Uber { 0 } else { 2 * 280 * scene.states.len() as u64 };
        let most = renderer.most_bytes();
        assert!(most <= bound && bound - most <= spare, "{architecture:?}: {most} of {bound}");
    }
}

/// Primitives over a large frame do not fit between shading and output together, and are cut into batches.
#[test]
fn shading_a_large_frame_takes_bounded_memory() {
    let Some(device) = device() else { return };
    let size = [1279, 719];
    let mut scene = sized(&mut property::rng(34), 9, size);
    scene.states.truncate(1);
    scene.states[0] = RenderState {
        scissor: [0, 0, 1279, 719],
        combiner: combiner::COLOR,
        blend: blend::ADD,
        ..RenderState::default()
    };
    (scene.primitives, scene.state_of) = (vec![whole_screen(); 5], vec![0; 5]);
    let options = Options { tile: 16, architecture: SPLIT, ..Options::default() };
    assert!(options.instances(size) < 5 * 80 * 45);
    let mut renderer = Renderer::new(&device, options).unwrap();
    let (mut expected, mut frame) = (scene.frame(), scene.frame());
    Engine::new().draw(&mut expected, &scene.memory, &scene.draw());
    renderer.draw(&mut frame, &scene.memory, &scene.draw()).unwrap();
    assert!(scene.stored(&expected) == scene.stored(&frame));
    assert!(renderer.most_bytes() <= options.memory(size, 1, scene.memory.bytes()));
}

/// While programs of variants are compiled, the general one shades.
#[test]
fn programs_in_the_making_change_no_frame() {
    let Some(device) = device() else { return };
    let architecture = Architecture::Split(Compilation::Background);
    let options = Options { batch: 40, architecture, ..Options::default() };
    let mut renderer = Renderer::new(&device, options).unwrap();
    let mut rng = property::rng(35);
    for number in 0..property::budget(6, 60) {
        let scene = Scene::random(&mut rng, 40);
        let mut expected = scene.frame();
        Engine::new().draw(&mut expected, &scene.memory, &scene.draw());
        for _ in 0..2 {
            let mut frame = scene.frame();
            renderer.draw(&mut frame, &scene.memory, &scene.draw()).unwrap();
            assert!(scene.stored(&expected) == scene.stored(&frame), "scene {number}");
        }
    }
}

#[test]
fn a_lost_device_is_an_error_and_the_cpu_redraws() {
    for architecture in [Architecture::Uber, SPLIT] {
        let Some(device) = device() else { return };
        let options = Options { batch: 16, architecture, ..Options::default() };
        let mut renderer = Renderer::new(&device, options).unwrap();
        let mut rng = property::rng(36);
        let scene = sized(&mut rng, 60, [64, 48]);
        let (mut expected, mut frame) = (scene.frame(), scene.frame());
        Engine::new().draw(&mut expected, &scene.memory, &scene.draw());
        let on_device = renderer.load(&frame).unwrap();
        renderer.draw_on(&on_device, &scene.memory, &scene.draw()).unwrap();
        device.wgpu().0.destroy();
        let drawn = renderer.draw_on(&on_device, &scene.memory, &scene.draw());
        let drawn = drawn.and_then(|()| renderer.read(&on_device, &mut frame));
        assert!(matches!(drawn, Err(Error::Lost(_))), "{drawn:?}");
        let engine = Engine::new();
        let error = renderer.draw_or_redraw(&engine, &mut frame, &scene.memory, &scene.draw());
        assert!(matches!(error, Some(Error::Lost(_))), "{error:?}");
        assert!(scene.stored(&expected) == scene.stored(&frame));
    }
}

#[test]
fn frames_that_stay_on_the_device_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let mut rng = property::rng(31);
    let options = Options { batch: 40, ..Options::default() };
    let mut renderer = Renderer::new(&device, options).unwrap();
    for number in 0..property::budget(20, 200) {
        let mut scene = Scene::random(&mut rng, 60);
        let (mut expected, mut frame) = (scene.frame(), scene.frame());
        let on_device = renderer.load(&frame).unwrap();
        for draws in 0..4 {
            let [color, depth] =
                [rng.below(3) == 0, rng.below(3) == 0].map(|on| on.then(|| rng.next_u32() as u16));
            expected.clear(color, depth);
            renderer.clear(&on_device, color, depth).unwrap();
            Engine::new().draw(&mut expected, &scene.memory, &scene.draw());
            renderer.draw_on(&on_device, &scene.memory, &scene.draw()).unwrap();
            if draws % 2 == 0 {
                // Textures change between draws.
                (0..64).for_each(|_| scene.memory.set_unit(rng.next_u32(), rng.next_u32() as u16));
            }
        }
        renderer.read(&on_device, &mut frame).unwrap();
        assert!(scene.stored(&expected) == scene.stored(&frame), "scene {number}");
    }
}
