//! Random frames are the same however they are drawn: with any of the host's vector extensions, on any number of threads, in
//! parts, and with pictures of the textures' own texels in their place.

#[path = "compute/scenes.rs"]
mod scenes;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use xenoglot_nds::container::Scene;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::buffers::HEIGHT;
use xenoglot_nds::raster::replace::{
    Answer, GuestTexture, Replacement, Replacements, TextureKey, TexturePack,
};
use xenoglot_nds::raster::{Extensions, Options, Renderer, Scale};
use xenoglot_nds::registers::Control;
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
    gpu_of(&scenes::scene(seed))
}

fn gpu_of(scene: &Scene) -> Gpu {
    play(scene, None, Gpu::default()).expect("no image").gpu
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
fn frames_are_the_same_with_any_number_of_threads() {
    for seed in property::seeds(2 * SCENES) {
        let gpu = gpu(seed);
        let one = frame(&gpu, Extensions::Best);
        for threads in 2..5 {
            let mut renderer = Renderer::new(Options { threads, ..Options::default() });
            // The second frame finds threads as the first left them.
            for _ in 0..2 {
                renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
                assert!(rows(&renderer) == one, "scene {seed} with {threads} threads");
            }
        }
    }
}

/// The commands of a random scene with all polygons made masks and shadows, in their order, between two masks of the whole screen: no
/// mask clears what the rows above have left.
fn tied(stream: &[u32]) -> Vec<u32> {
    let attributes = |attributes: u32| attributes & !(31 << 16) | 0x30 | 15 << 16;
    let quad = [[0xf000, 0x1000], [0xf000, 0xf000], [0x1000, 0xf000], [0x1000, 0x1000]];
    let mask = [0x29, attributes(0xc0), 0x40, 1]
        .into_iter()
        .chain(quad.into_iter().flat_map(|[x, y]: [u32; 2]| [0x23, x | y << 16, 0xe00]));
    let mask: Vec<u32> = mask.collect();
    let (mut out, mut rest, mut has_begun) = (Vec::new(), stream, false);
    while let [command, parameters @ ..] = rest {
        let count = match command {
            0x15 => 0,
            0x16 => 16,
            0x23 => 2,
            _ => 1,
        };
        let (parameters, after) = parameters.split_at(count);
        match command {
            0x29 => {
                if !has_begun {
                    out.extend(&mask);
                }
                has_begun = true;
                out.extend([0x29, attributes(parameters[0])]);
            }
            0x50 if has_begun => {
                out.extend(&mask);
                out.extend([0x50, parameters[0] | 1]);
            }
            _ => {
                out.push(*command);
                out.extend(parameters);
            }
        }
        rest = after;
    }
    out
}

/// Marks of masks come back two rows later, at a resolution above the console's as many times as late.
#[test]
fn frames_whose_masks_tie_rows_together_are_the_same_with_any_number_of_threads() {
    for seed in property::seeds(SCENES) {
        let mut scene = scenes::scene(seed);
        scene.stream = tied(&scene.stream);
        let gpu = gpu_of(&scene);
        for scale in [1, 2, 3].map(|times| Scale::new(times).unwrap()) {
            let drawn = |threads| {
                let mut renderer = Renderer::new(Options { threads, ..Options::default() });
                renderer.draw_corner(gpu.polygons(), gpu.registers(), &gpu.memory, scale);
                rows(&renderer)
            };
            let one = drawn(1);
            for threads in [2, 3, 8] {
                assert!(drawn(threads) == one, "scene {seed} at {scale:?} with {threads} threads");
            }
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
            renderer.begin(gpu.polygons(), gpu.registers(), &gpu.memory);
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

/// What textures there are, each in twice its size.
#[derive(Default)]
struct Dump(Mutex<HashMap<TextureKey, Arc<Replacement>>>);

impl Replacements for Dump {
    fn replacement(&self, texture: &GuestTexture) -> Answer {
        let [width, height] = texture.key.size;
        let texels = texture.rgba8();
        let twice =
            (0..4 * width * height).map(|i| texels[(i / (4 * width) * width + i % (2 * width) / 2) as usize]);
        let picture = Replacement::from_rgba8([2 * width, 2 * height], &twice.collect::<Vec<_>>()).unwrap();
        self.0.lock().unwrap().insert(texture.key, Arc::new(picture));
        Answer::Later
    }
}

#[test]
fn pictures_of_the_same_texels_change_nothing() {
    let mut found = 0;
    for seed in property::seeds(SCENES) {
        let mut scene = scenes::scene(seed);
        scene.registers.control |= Control::TEXTURES.bits();
        let gpu = gpu_of(&scene);
        let before = frame(&gpu, Extensions::Best);
        let mut renderer = Renderer::new(Options { threads: 1, ..Options::default() });
        let dump = Arc::new(Dump::default());
        renderer.set_replacements(Some(dump.clone()));
        renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
        assert!(rows(&renderer) == before, "scene {seed}: no pictures are there yet");
        let pictures = dump.0.lock().unwrap().clone();
        found += pictures.len();
        renderer.set_replacements(Some(Arc::new(TexturePack(pictures))));
        renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
        assert!(rows(&renderer) == before, "scene {seed}");
    }
    assert!(found > 100, "{found} textures");
}
