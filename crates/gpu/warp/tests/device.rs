//! The renderer on the host's GPU against the engine on the CPU.

mod common;

use common::Scene;
use xenoglot_host::{Device, DeviceOptions};
use xenoglot_testgen::property;
use xenoglot_testgen::skip::skip;
use xenoglot_warp::Engine;
use xenoglot_warp::host::{Options, Renderer};

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
            assert!(scene.stored(&expected) == scene.stored(&frame), "tile {tile}, scene {number}");
        }
    }
}
