//! The renderer on the host's GPU against the engine on the CPU.

mod common;

use common::Scene;
use xenoglot_host::{Device, DeviceOptions};
use xenoglot_testgen::property;
use xenoglot_testgen::skip::skip;
use xenoglot_warp::host::{Options, Renderer};
use xenoglot_warp::{Cull, Draw, Engine, Vertex, set_up};

#[test]
fn memory_does_not_depend_on_what_is_covered() {
    let Ok(device) = Device::open(&DeviceOptions { timeout_s: 120, ..DeviceOptions::from_env() }) else {
        return skip("no device");
    };
    let mut scene = Scene::random(&mut property::rng(29), 9);
    let size = [150, 90];
    for surface in [&mut scene.targets.color, &mut scene.targets.depth] {
        (surface.size, surface.stride) = (size, 300);
    }
    let corner = |x: f32, y: f32| Vertex { position: [x, y, 0.5, 1.0], uv: [x, y], color: [x / 900.0; 4] };
    let corners = [corner(-500.0, -500.0), corner(900.0, -500.0), corner(-500.0, 900.0)];
    let whole = set_up(corners.each_ref(), [0; 2], Cull::None).unwrap();
    (scene.primitives, scene.state_of) = (vec![whole; 200], vec![0; 200]);
    scene.states[0].scissor = [0, 0, 150, 90];
    let options = Options { tile: 8, batch: 64 };
    let mut renderer = Renderer::new(&device, options).unwrap();
    let (mut expected, mut frame) = (scene.frame(), scene.frame());
    Engine::new().draw(&mut expected, &scene.memory, &scene.draw());
    renderer.draw(&mut frame, &scene.memory, &scene.draw()).unwrap();
    assert!(scene.stored(&expected) == scene.stored(&frame));
    let bound = options.memory(size, scene.states.len(), scene.memory.bytes());
    assert_eq!(renderer.most_bytes(), bound);
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

#[test]
fn frames_are_those_of_the_cpu() {
    let device = match Device::open(&DeviceOptions { timeout_s: 120, ..DeviceOptions::from_env() }) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    for (tile, stream) in [(8, 27), (16, 28)] {
        let mut rng = property::rng(stream);
        let mut renderer = Renderer::new(&device, Options { tile, batch: 33 }).unwrap();
        for number in 0..property::budget(150, 1000) {
            let scene = Scene::random(&mut rng, 60);
            let (mut expected, mut frame) = (scene.frame(), scene.frame());
            Engine::new().draw(&mut expected, &scene.memory, &scene.draw());
            renderer.draw(&mut frame, &scene.memory, &scene.draw()).unwrap();
            if scene.stored(&expected) != scene.stored(&frame) {
                panic!("tile {tile}, scene {number}: {}", first_difference(&scene, &mut renderer));
            }
        }
    }
}

#[test]
fn frames_that_stay_on_the_device_are_those_of_the_cpu() {
    let device = match Device::open(&DeviceOptions { timeout_s: 120, ..DeviceOptions::from_env() }) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let mut rng = property::rng(31);
    let mut renderer = Renderer::new(&device, Options { tile: 8, batch: 40 }).unwrap();
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
