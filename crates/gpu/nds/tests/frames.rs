//! Random frames are the same however they are drawn: with whichever of the host's vector extensions, and in parts.

#[path = "compute/scenes.rs"]
mod scenes;

use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::buffers::HEIGHT;
use xenoglot_nds::raster::{Extensions, Options, Renderer};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

const SCENES: u64 = 60;

/// Colours, depths and attributes.
fn rows(renderer: &Renderer) -> Vec<[[u32; 256]; 3]> {
    let row = |y| {
        [renderer.frame_row(y), renderer.depth_row(y), renderer.attribute_row(y)]
            .map(|row| *row.expect("a row"))
    };
    (0..HEIGHT).map(row).collect()
}

fn frame(gpu: &Gpu, extensions: Extensions) -> Vec<[[u32; 256]; 3]> {
    let mut renderer = Renderer::new(Options { threads: 1, extensions, ..Options::default() });
    renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
    rows(&renderer)
}

fn gpu(seed: u64) -> Gpu {
    play(&scenes::scene(seed), None, Gpu::default()).expect("no image").gpu
}

#[test]
fn frames_are_the_same_with_all_extensions() {
    for seed in property::seeds(SCENES) {
        let gpu = gpu(seed);
        let best = frame(&gpu, Extensions::Best);
        for extensions in Extensions::ALL {
            assert!(frame(&gpu, extensions) == best, "scene {seed} with {extensions:?}");
        }
    }
}

#[test]
fn frames_are_the_same_in_parts() {
    for seed in property::seeds(SCENES) {
        let gpu = gpu(seed);
        let whole = frame(&gpu, Extensions::Best);
        let rng = &mut Rng::new(seed);
        for most in [1, 3, 30, 150] {
            let mut renderer =
                Renderer::new(Options { threads: 1 + rng.below(3) as usize, ..Options::default() });
            // What an emulator has drawn before is of no meaning.
            renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
            renderer.begin(gpu.polygons(), gpu.registers());
            while renderer.rows_drawn() < HEIGHT {
                let before = renderer.rows_drawn();
                renderer.draw_until(before + 1 + rng.below(most) as usize, &gpu.memory);
                let drawn = before..renderer.rows_drawn();
                assert!(
                    rows(&renderer)[drawn.clone()] == whole[drawn.clone()],
                    "scene {seed}, rows {drawn:?}"
                );
            }
        }
    }
}
