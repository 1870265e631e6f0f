//! The renderer on the host's GPU against the CPU renderer, pixel by pixel.

mod scenes;

use std::sync::Arc;
use xenoglot_host::{Device, DeviceOptions};
use xenoglot_nds::container::Scene;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::compute::{ComputeRenderer, Invocations, Options};
use xenoglot_nds::raster::replace::{Answer, GuestTexture, Replacement, Replacements};
use xenoglot_nds::raster::{self, Frame, Profile, Renderer, Rules, Scale};
use xenoglot_nds::registers::Control;
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;

/// Scenes of a run in CI, and of a long one.
const SCENES: [u64; 2] = [48, 1000];
/// The same at higher resolutions.
const SCALED: [usize; 2] = [10, 200];

fn device() -> Option<Device> {
    Device::open(&DeviceOptions::from_env()).map_err(|error| skip(&error.to_string())).ok()
}

fn renderer() -> Option<ComputeRenderer> {
    Some(ComputeRenderer::new(&device()?, Options::default()).unwrap())
}

fn gpu(scene: &Scene) -> Gpu {
    play(scene, None, Gpu::new(raster::Options { threads: 1, ..raster::Options::default() })).unwrap().gpu
}

fn draw(renderer: &mut ComputeRenderer, gpu: &Gpu, options: Options) {
    renderer.set_options(options);
    renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory).unwrap();
}

/// The first pixel of the top left `columns` x `rows` that differs, if any.
fn difference(expected: &dyn Frame, got: &dyn Frame, [columns, rows]: [usize; 2]) -> Option<String> {
    for y in 0..rows {
        let (e, g) = (expected.row(y).unwrap(), got.row(y).unwrap());
        for (name, e, g) in [
            ("colour", e.color, g.color),
            ("depth", e.depth, g.depth),
            ("attributes", e.attributes, g.attributes),
        ] {
            if let Some(x) = (0..columns).find(|&x| e[x] != g[x]) {
                return Some(format!("{name} at {x}, {y}: {:08x}, expected {:08x}", g[x], e[x]));
            }
        }
    }
    None
}

fn seeds() -> std::ops::Range<u64> {
    property::seeds(SCENES[usize::from(property::is_long())])
}

#[test]
fn the_two_renderers_agree() {
    let Some(mut compute) = renderer() else { return };
    let mut different = Vec::new();
    let mut drawn = 0;
    for seed in seeds() {
        let gpu = gpu(&scenes::scene(seed));
        drawn += gpu.polygons().polygons.len();
        let rules = if seed % 2 == 0 {
            Profile::Console.rules()
        } else {
            Rules::from_bits_truncate(seed as u32 >> 1)
        };
        let mut cpu = Renderer::new(raster::Options { rules, threads: 1, ..raster::Options::default() });
        cpu.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
        draw(&mut compute, &gpu, Options { rules, ..Options::default() });
        different.extend(difference(&cpu, &compute, [256, 192]).map(|d| format!("seed {seed}: {d}")));
    }
    println!("{} scenes with {drawn} polygons: {} differ", seeds().count(), different.len());
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn invocations_of_a_pixel_and_of_four_draw_the_same() {
    let Some(device) = device() else { return };
    let mut renderers = [Invocations::OfPixels, Invocations::OfFour].map(|invocations| {
        ComputeRenderer::with_invocations(&device, Options::default(), invocations).unwrap()
    });
    for seed in seeds() {
        let gpu = gpu(&scenes::scene(seed));
        let scale = Scale::new(1 + seed as u32 % 3).unwrap();
        for renderer in &mut renderers {
            draw(renderer, &gpu, Options { scale, ..Options::default() });
        }
        let [one, four] = &renderers;
        assert_eq!(difference(one, four, scale.size()), None, "seed {seed}, {scale:?}");
    }
}

#[test]
fn colors_alone_are_those_of_whole_frames() {
    let Some(mut compute) = renderer() else { return };
    for seed in property::seeds(8) {
        let gpu = gpu(&scenes::scene(seed));
        let mut pictures = Vec::new();
        for (colors_only, band_rows) in [(false, 0), (true, 0), (true, 50)] {
            draw(&mut compute, &gpu, Options { colors_only, band_rows, ..Options::default() });
            let rows = (0..192).map(|y| compute.row(y).unwrap());
            pictures.push(rows.clone().map(|row| row.color.to_vec()).collect::<Vec<_>>());
            let others = rows.map(|row| row.depth.len() + row.attributes.len()).sum::<usize>();
            assert_eq!(others, if colors_only { 0 } else { 2 * 256 * 192 });
        }
        assert!(pictures.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}");
    }
}

#[test]
fn bands_of_any_height_are_one_frame() {
    let Some(mut compute) = renderer() else { return };
    for seed in property::seeds(12) {
        let gpu = gpu(&scenes::scene(seed));
        let mut rows = Vec::new();
        for band_rows in [0, 8, 50] {
            draw(&mut compute, &gpu, Options { band_rows, ..Options::default() });
            let row = |y| {
                let row = compute.row(y).unwrap();
                [row.color, row.depth, row.attributes].map(<[u32]>::to_vec)
            };
            rows.push((0..192).map(row).collect::<Vec<_>>());
        }
        assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}");
    }
}

#[test]
fn higher_resolutions_are_those_of_the_cpu_renderers_corner() {
    let Some(mut compute) = renderer() else { return };
    let mut different = Vec::new();
    for seed in seeds().take(SCALED[usize::from(property::is_long())]) {
        let scale = Scale::new([2, 3, 4, 7, 16][seed as usize % 5]).unwrap();
        let gpu = gpu(&scenes::scene(seed));
        let mut cpu = Renderer::new(raster::Options { threads: 1, ..raster::Options::default() });
        cpu.draw_corner(gpu.polygons(), gpu.registers(), &gpu.memory, scale);
        draw(&mut compute, &gpu, Options { scale, ..Options::default() });
        assert_eq!(compute.size(), scale.size());
        // Outlines of the corner's last column and row do not see what is beyond.
        different
            .extend(difference(&cpu, &compute, [255, 191]).map(|d| format!("seed {seed}, {scale:?}: {d}")));
    }
    assert!(different.is_empty(), "{different:#?}");
}

/// Pictures of any size in place of some textures.
struct Pictures;

impl Replacements for Pictures {
    fn replacement(&self, texture: &GuestTexture) -> Answer {
        let mut rng = Rng::new(texture.key.hash);
        if rng.below(4) == 0 {
            return Answer::None;
        }
        let [width, height] = texture.key.size;
        let size = match rng.below(3) {
            0 => [width * 4, height * 4],
            1 => [1 + rng.below(2 * width), 1 + rng.below(2 * height)],
            _ => [width, height],
        };
        let texel = |_| {
            let [r, g, b, a] = rng.next_u32().to_le_bytes();
            [r, g, b, if a < 160 { 255 } else { a }]
        };
        let texels: Vec<[u8; 4]> = (0..size[0] * size[1]).map(texel).collect();
        Answer::Picture(Arc::new(Replacement::from_rgba8(size, &texels).unwrap()))
    }
}

#[test]
fn pictures_in_place_of_textures_are_the_same_on_both() {
    let Some(mut compute) = renderer() else { return };
    let mut cpu = Renderer::new(raster::Options { threads: 1, ..raster::Options::default() });
    let mut different = Vec::new();
    let mut replaced = 0;
    for seed in seeds().take(SCALED[usize::from(property::is_long())]) {
        let scale = Scale::new([1, 4, 3][seed as usize % 3]).unwrap();
        let mut scene = scenes::scene(seed);
        scene.registers.control |= Control::TEXTURES.bits();
        let gpu = gpu(&scene);
        draw(&mut compute, &gpu, Options { scale, ..Options::default() });
        let colors = |frame: &ComputeRenderer| {
            (0..192).map(|y| frame.row(y).unwrap().color.to_vec()).collect::<Vec<_>>()
        };
        let as_they_are = colors(&compute);
        cpu.set_replacements(Some(Arc::new(Pictures)));
        compute.set_replacements(Some(Arc::new(Pictures)));
        // The second frame finds them again.
        for _ in 0..2 {
            cpu.draw_corner(gpu.polygons(), gpu.registers(), &gpu.memory, scale);
            draw(&mut compute, &gpu, Options { scale, ..Options::default() });
            different.extend(
                difference(&cpu, &compute, [255, 191]).map(|d| format!("seed {seed}, {scale:?}: {d}")),
            );
        }
        replaced += usize::from(colors(&compute) != as_they_are);
        compute.set_replacements(None);
        draw(&mut compute, &gpu, Options { scale, ..Options::default() });
        assert!(colors(&compute) == as_they_are, "seed {seed}: pictures stay");
    }
    assert!(different.is_empty() && replaced > 4, "{replaced} scenes with pictures, {different:#?}");
}
