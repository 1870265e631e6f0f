//! Frames above the console's resolution: texels where they belong, and no holes between polygons that share edges.

use std::sync::Arc;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::raster::replace::{Answer, GuestTexture, Replacement, Replacements};
use xenoglot_nds::raster::{Frame, Options, Renderer, Scale};
use xenoglot_nds::registers::{Control, Registers};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

fn gpu(control: Control, words: &[u32]) -> Gpu {
    let mut gpu = Gpu::default();
    gpu.set_registers(Registers {
        control: control.bits(),
        // Nothing is transparent.
        clear_color: 0,
        clear_depth: 0x7fff,
        ..Registers::default()
    });
    let start = [0x60, 255 << 16 | 191 << 24, 0x10, 0, 0x15];
    gpu.feed(&[&start, words, &[0x50, 0]].concat());
    gpu.swap();
    gpu
}

fn corner(gpu: &Gpu, times: u32) -> Renderer {
    let mut renderer = Renderer::new(Options { threads: 1, ..Options::default() });
    renderer.draw_corner(gpu.polygons(), gpu.registers(), &gpu.memory, Scale::new(times).unwrap());
    renderer
}

/// A vertex of 4.12.
fn vertex([x, y, z]: [i32; 3]) -> [u32; 3] {
    let half = |value: i32| value as u32 & 0xffff;
    [0x23, half(x) | half(y) << 16, half(z)]
}

/// A mesh that covers the screen, some of it beyond the borders.
fn mesh(rng: &mut Rng) -> Vec<u32> {
    const SIDE: usize = 12;
    // Also those within a pixel of the console's, which it drops otherwise.
    let mut words = vec![0x29, 0xc0 | 1 << 13 | 31 << 16];
    // w is 1, or 1.5 to 2 with the depth.
    let mut half = 0x1500;
    if rng.below(2) == 0 {
        half *= 2;
        words.extend([0x16, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x1000, 0x1000, 0, 0, 0, 0x1800]);
    }
    let step = 2 * half / (SIDE as i32 - 1);
    let mut vertex_at = |i: usize| {
        let mut at = |place: usize| place as i32 * step - half + rng.below(step as u32 / 2) as i32 - step / 4;
        [at(i % SIDE), at(i / SIDE), rng.below(0x800) as i32]
    };
    let vertices: Vec<[i32; 3]> = (0..SIDE * SIDE).map(&mut vertex_at).collect();
    for i in (0..SIDE * (SIDE - 1)).filter(|i| i % SIDE != SIDE - 1) {
        let quad = [i, i + 1, i + SIDE + 1, i + SIDE];
        // Quads may be concave, so they are two triangles, along either diagonal.
        let turn = rng.below(2) as usize;
        for corners in [[0, 1, 2], [0, 2, 3]] {
            words.extend([0x20, rng.next_u32() & 0x7fff, 0x40, 0]);
            corners.iter().for_each(|corner| words.extend(vertex(vertices[quad[(corner + turn) % 4]])));
        }
    }
    words
}

#[test]
fn polygons_that_share_edges_leave_no_holes() {
    for seed in property::seeds(40) {
        let rng = &mut Rng::new(seed);
        let words = mesh(rng);
        for control in [Control::empty(), Control::ANTIALIASING, Control::BLENDING] {
            let gpu = gpu(control, &words);
            assert!(gpu.polygons().polygons.len() > 100);
            for times in [2, 3, 4, 7, 16] {
                let frame = corner(&gpu, times);
                let holes: Vec<_> = (0..192)
                    .flat_map(|y| (0..256).map(move |x| (x, y)))
                    .filter(|&(x, y)| frame.row(y).unwrap().color[x] >> 24 == 0)
                    .collect();
                assert!(
                    holes.is_empty(),
                    "seed {seed}, {control:?}, {times} times: {} holes, {:?}",
                    holes.len(),
                    holes[0]
                );
            }
        }
    }
}

/// A picture whose colours are places along one axis, in sixteenths of the texels of a texture of 1024.
struct Ruler {
    axis: usize,
}

const RULER: u32 = 1024 * 16;

impl Replacements for Ruler {
    fn replacement(&self, texture: &GuestTexture) -> Answer {
        assert_eq!(texture.key.size[self.axis], 1024);
        let texel = |at: u32| [at & 63, at >> 6 & 63, at >> 12].map(|c| (c << 2 | c >> 4) as u8);
        let texels: Vec<[u8; 4]> = (0..RULER).map(texel).map(|[r, g, b]| [r, g, b, 255]).collect();
        let mut size = [1, 1];
        size[self.axis] = RULER;
        Answer::Picture(Arc::new(Replacement::from_rgba8(size, &texels).unwrap()))
    }
}

/// A plane over the whole screen that is four times as far away at its right, or lower, end.
#[test]
fn texels_are_where_perspective_has_them() {
    for (axis, size) in [(0, 7 << 20), (1, 7 << 23)] {
        // w is z.
        let mut words = vec![0x16, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0];
        // Decals of a texture of direct colours.
        words.extend([0x29, 0xc0 | 1 << 4 | 31 << 16, 0x2a, 7 << 26 | size, 0x40, 1]);
        for [x, y] in [[0, 0], [0, 1], [1, 1], [1, 0]] {
            let place = [x, y];
            let w = if place[axis] == 0 { 0x1000 } else { 0x4000 };
            let at = place.map(|end| end * (RULER - 1));
            words.extend([0x22, if axis == 0 { at[0] } else { at[1] << 16 }]);
            words.extend(vertex([if x == 0 { -w } else { w }, if y == 0 { w } else { -w }, w]));
        }
        let gpu = gpu(Control::TEXTURES, &words);
        let (mut most, mut most_of_console) = (0.0f64, 0.0f64);
        for times in [1, 2, 4, 16] {
            let mut renderer = Renderer::new(Options { threads: 1, ..Options::default() });
            renderer.set_replacements(Some(Arc::new(Ruler { axis })));
            let scale = Scale::new(times).unwrap();
            renderer.draw_corner(gpu.polygons(), gpu.registers(), &gpu.memory, scale);
            for (x, y) in (0..192).flat_map(|y| (0..256).map(move |x| (x, y))) {
                let color = renderer.row(y).unwrap().color[x];
                let got = color & 63 | (color >> 8 & 63) << 6 | (color >> 16 & 63) << 12;
                let part = [x, y][axis] as f64 / scale.size()[axis] as f64;
                let exact = f64::from(RULER - 1) * (part / 4.0) / (1.0 - part + part / 4.0);
                let off = (f64::from(got) - exact).abs();
                let most = if times == 1 { &mut most_of_console } else { &mut most };
                *most = most.max(off);
            }
        }
        println!("axis {axis}: {most} sixteenths of a texel off, the console {most_of_console}");
        // The console's factors have 256 or 512 steps.
        assert!(most <= 4.0 && most_of_console > 16.0, "axis {axis}: {most}, {most_of_console}");
    }
}
