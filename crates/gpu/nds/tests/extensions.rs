//! Random frames are the same with whichever of the host's vector extensions.

#[path = "compute/scenes.rs"]
mod scenes;

use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::buffers::HEIGHT;
use xenoglot_nds::raster::{Extensions, Options, Renderer};
use xenoglot_testgen::property;

const SCENES: u64 = 60;

/// Colours, depths and attributes.
fn frame(gpu: &Gpu, extensions: Extensions) -> Vec<[[u32; 256]; 3]> {
    let mut renderer = Renderer::new(Options { threads: 1, extensions, ..Options::default() });
    renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
    let rows = (0..HEIGHT).map(|y| {
        [renderer.frame_row(y), renderer.depth_row(y), renderer.attribute_row(y)]
            .map(|row| *row.expect("a row"))
    });
    rows.collect()
}

#[test]
fn frames_are_the_same_with_all_extensions() {
    for seed in property::seeds(SCENES) {
        let gpu = play(&scenes::scene(seed), None, Gpu::default()).expect("no image").gpu;
        let best = frame(&gpu, Extensions::Best);
        for extensions in Extensions::ALL {
            assert!(frame(&gpu, extensions) == best, "scene {seed} with {extensions:?}");
        }
    }
}
