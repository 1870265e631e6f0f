//! Random scenes: the fast engine against the reference.

mod common;

use common::Scene;
use xenoglot_testgen::property;
use xenoglot_warp::{Engine, reference};

#[test]
fn engines_agree() {
    let mut rng = property::rng(24);
    for number in 0..property::budget(150, 3000) {
        let scene = Scene::random(&mut rng, 60);
        let (mut slow, mut fast) = (scene.frame(), scene.frame());
        reference::draw(&mut slow, &scene.memory, &scene.draw());
        Engine::new().with_batch(1 + number as usize % 50).draw(&mut fast, &scene.memory, &scene.draw());
        assert!(scene.stored(&slow) == scene.stored(&fast), "scene {number}");
    }
}

#[test]
fn batches_are_in_order() {
    let mut rng = property::rng(25);
    let mut scene = Scene::random(&mut rng, 2);
    while scene.primitives.len() < 65536 {
        let more = Scene::random(&mut rng, 3000);
        scene.primitives.extend(&more.primitives);
    }
    scene.primitives.truncate(65536);
    for (i, state) in scene.states.iter_mut().enumerate() {
        (state.blend, state.depth) = ([1, 3][i % 2], 0);
    }
    scene.state_of = (0..65536usize).map(|i| (i % scene.states.len()) as u16).collect();
    // Four batches are one, and two blends on both sides of a border are in order.
    let [one, four] = [65536, 16384].map(|batch| {
        let mut frame = scene.frame();
        Engine::new().with_batch(batch).draw(&mut frame, &scene.memory, &scene.draw());
        scene.stored(&frame)
    });
    let mut frame = scene.frame();
    reference::draw(&mut frame, &scene.memory, &scene.draw());
    assert!(one == four && one == scene.stored(&frame));
}
