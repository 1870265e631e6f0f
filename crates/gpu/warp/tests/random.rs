//! Random scenes: the fast engine against the reference.

mod common;

use common::Scene;
use fearless_simd::Level;
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_warp::state::{combiner, format};
use xenoglot_warp::{Engine, reference};

/// An engine for each instruction set that the engine has code for and this processor supports.
fn engines() -> Vec<Engine> {
    let best = Level::new();
    let mut levels = vec![best, Level::baseline()];
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    levels.extend(best.as_avx2().map(Level::Avx2));
    levels.into_iter().map(|level| Engine::new().with_level(level)).collect()
}

/// Compares engines with the reference.
fn agree(scene: &Scene, name: &str, engines: &[Engine]) {
    let mut slow = scene.frame();
    reference::draw(&mut slow, &scene.memory, &scene.draw());
    let expected = scene.stored(&slow);
    for engine in engines {
        let mut fast = scene.frame();
        engine.draw(&mut fast, &scene.memory, &scene.draw());
        assert!(expected == scene.stored(&fast), "{name}, {engine:?}");
    }
}

#[test]
fn engines_agree() {
    let mut rng = property::rng(24);
    for number in 0..property::budget(150, 3000) {
        let scene = Scene::random(&mut rng, 60);
        let engines = engines().into_iter().map(|engine| engine.with_batch(1 + number as usize % 50));
        agree(&scene, &format!("scene {number}"), &engines.collect::<Vec<_>>());
    }
}

/// Textures that have fewer texels than pixels that are drawn with them.
#[test]
fn engines_agree_on_small_textures() {
    let mut rng = property::rng(26);
    for number in 0..property::budget(40, 1000) {
        let mut scene = Scene::random(&mut rng, 400);
        for state in &mut scene.states {
            small_texture(&mut rng, state);
        }
        agree(&scene, &format!("scene {number}"), &engines());
    }
}

fn small_texture(rng: &mut Rng, state: &mut xenoglot_warp::RenderState) {
    state.format |= format::BILINEAR;
    state.combiner |= combiner::SAMPLE;
    let mut axis = |axis: usize| {
        let first = rng.below(40) as i16 - 20;
        let mask = [3, 7, 15, 0, 0xffff, 0xffff, 5][rng.below(7) as usize];
        let wide = [i16::MIN, i16::MAX];
        let [low, high] =
            if mask != 0xffff && rng.below(2) == 0 { wide } else { [first, first + rng.below(20) as i16] };
        (state.clamp[axis], state.clamp[axis + 2], state.mask[axis]) = (low, high, mask);
    };
    axis(0);
    axis(1);
    // Opaque primitives, and many with the usual state.
    if rng.below(2) == 0 {
        (state.blend, state.alpha_threshold) = (0, 0);
    }
    if rng.below(2) == 0 {
        (state.combiner, state.max_level, state.fog.enable) = (combiner::SAMPLE, 0, 0);
    }
}

/// More opaque primitives in a tile than wait for their colours together.
#[test]
fn many_opaque_primitives_wait() {
    let mut rng = property::rng(27);
    let mut scene = Scene::random(&mut rng, 2);
    while scene.primitives.len() < 12000 {
        let more = Scene::random(&mut rng, 3000);
        scene.primitives.extend(&more.primitives);
    }
    for state in &mut scene.states {
        (state.blend, state.alpha_threshold, state.scissor) = (0, 0, [0, 0, 60, 60]);
    }
    scene.state_of = scene.primitives.iter().map(|_| rng.below(scene.states.len() as u32) as u16).collect();
    agree(&scene, "many", &engines());
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
