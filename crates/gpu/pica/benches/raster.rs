//! Rates of the CPU renderer in the scenes of vectors/picagpu/PEERS.md, from the clipper on: full-screen quads in
//! pixels per second, small triangles in triangles per second.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use xenoglot_pica::early_depth::EarlyDepth;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::regs::{self, Registers};
use xenoglot_pica::renderer::{Draw, Renderer as _};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::{Triangle, Vertex};

const SIDE: u32 = 512;
const QUADS: usize = 8;
const TRIANGLES: usize = 32_768;
const DEPTH_BUFFER: u32 = VRAM + SIDE * SIDE * 4;
const TEXTURE: u32 = FCRAM;
/// 256 as float24.
const HALF_SIDE: u32 = 71 << 16;
const MINUS_ONE: u32 = 1 << 23 | 63 << 16;

/// A stage that passes on what came before, and one that takes sources 1 times 2 in colour and alpha.
const PREVIOUS: u32 = 0x000f_000f;
const MODULATE: u32 = 1 << 16 | 1;

fn vertex(x: f32, y: f32, z: f32, shade: f32) -> Vertex {
    let mut values = [0.0; 24];
    values[..4].copy_from_slice(&[x, y, z, 1.0]);
    values[4..8].copy_from_slice(&[0.1 * x, 0.1 * y, 0.0, 1.0]);
    values[8..12].copy_from_slice(&[shade, 1.0 - shade, 0.5, 0.75]);
    values[12..14].copy_from_slice(&[(x + 1.0) * 0.5, (y + 1.0) * 0.5]);
    values[18..21].copy_from_slice(&[-x, -y, 1.0]);
    Vertex { values }
}

/// Quads over the whole screen, all at one depth.
fn quads() -> Vec<Triangle> {
    let quad = |_| {
        let z = -0.5;
        let [a, b, c, d] = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| vertex(x, y, z, 0.5 + 0.25 * x));
        [[a, b, c], [a, c, d]]
    };
    (0..QUADS).flat_map(quad).collect()
}

/// Triangles with legs of `legs` pixels in a grid.
fn small_triangles(legs: [f32; 2]) -> Vec<Triangle> {
    let pixel = 2.0 / SIDE as f32;
    let triangle = |number: usize| {
        let (x, y) =
            ((number % 128) as f32 * 4.0 * pixel - 1.0, (number / 128 % 128) as f32 * 4.0 * pixel - 1.0);
        [(x, y), (x + legs[0] * pixel, y), (x, y + legs[1] * pixel)].map(|(x, y)| vertex(x, y, -0.5, 0.5))
    };
    (0..TRIANGLES).map(triangle).collect()
}

/// A 512x512 target of RGBA8 and D24S8; the fragment is the vertex colour.
fn flat() -> Registers {
    let mut regs = Registers::default();
    let set = [
        (regs::VIEWPORT_HALF_WIDTH, HALF_SIDE),
        (regs::VIEWPORT_HALF_HEIGHT, HALF_SIDE),
        (regs::DEPTH_SCALE, MINUS_ONE),
        (regs::DEPTH_MODE, 1),
        (regs::COMBINER0, 0),
        (regs::COMBINER1, PREVIOUS),
        (regs::COMBINER2, PREVIOUS),
        (regs::COMBINER3, PREVIOUS),
        (regs::COMBINER4, PREVIOUS),
        (regs::COMBINER5, PREVIOUS),
        (regs::FRAGMENT_MODE, 1 << 8),
        (regs::BLENDING, 0x0101_0000),
        (regs::DEPTH_TEST, 0xf << 8),
        (regs::COLOR_WRITE, 0xf),
        (regs::DEPTH_WRITE, 3),
        (regs::DEPTH_FORMAT, 3),
        (regs::COLOR_ADDRESS, VRAM / 8),
        (regs::DEPTH_ADDRESS, DEPTH_BUFFER / 8),
        (regs::FRAMEBUFFER_SIZE, (SIDE - 1) << 12 | SIDE),
        (regs::LIGHTING_DISABLE, 1),
    ];
    set.into_iter().for_each(|(register, value)| regs.set(register, value));
    regs
}

/// The same with a 256x256 RGBA8 texture, depth test and alpha blending.
fn textured() -> Registers {
    let mut regs = flat();
    let set = [
        (regs::TEXTURE_UNITS, 1),
        (regs::TEXTURE0 + 1, 256 << 16 | 256),
        (regs::TEXTURE0 + 2, 2 << 12 | 2 << 8),
        (regs::TEXTURE0 + 4, TEXTURE / 8),
        (regs::COMBINER0, 0x0030_0030),
        (regs::COMBINER0 + 2, MODULATE),
        (regs::BLENDING, 0x7676_0000),
        // Greater or equal: every quad is drawn.
        (regs::DEPTH_TEST, 0x1f << 8 | 7 << 4 | 1),
    ];
    set.into_iter().for_each(|(register, value)| regs.set(register, value));
    regs
}

/// The same with two lights and the table D0.
fn lit() -> Registers {
    let mut regs = textured();
    let grey = 128 << 20 | 128 << 10 | 128;
    let set = [
        (regs::LIGHTING_DISABLE, 0),
        (regs::LIGHT_COUNT, 1),
        (regs::LIGHT_ORDER, 0x10),
        // Everything but D0.
        (regs::LIGHT_DISABLE, !(1 << 16)),
        (regs::COMBINER0, 0x0030_0031),
        (regs::COMBINER1, 0x000f_002f),
        (regs::COMBINER1 + 2, 2),
    ];
    set.into_iter().for_each(|(register, value)| regs.set(register, value));
    for light in [regs::LIGHT, regs::LIGHT + 0x10] {
        (0..4).for_each(|color| regs.set(light + color, grey));
        regs.set(light + 4, 0x3800_3400);
        regs.set(light + 5, 0x3c00);
    }
    regs
}

fn tables() -> Tables {
    let mut tables = Tables::default();
    for (entry, word) in (0..).zip(&mut tables.lighting[0]) {
        *word = (entry * 16) | (8 << 12);
    }
    tables
}

struct Bench {
    renderer: Renderer,
    tables: Tables,
    memory: Regions,
}

impl Bench {
    fn new() -> Bench {
        let mut memory = Regions::console(1 << 20);
        let texture = memory.bytes_mut(TEXTURE, 256 * 256 * 4).expect("memory holds the texture");
        for (byte, i) in texture.iter_mut().zip(0u32..) {
            *byte = (i.wrapping_mul(2_654_435_761) >> 24) as u8;
        }
        Bench { renderer: Renderer::new(), tables: tables(), memory }
    }

    fn draw(&mut self, regs: &Registers, triangles: &[Triangle]) {
        let (regs, triangles) = (black_box(regs), black_box(triangles));
        let drawn = self.renderer.draw(Draw {
            regs,
            tables: &self.tables,
            memory: &mut self.memory,
            early_depth: &mut EarlyDepth::default(),
            triangles,
            pixels: &mut u64::MAX.clone(),
        });
        drawn.expect("there are pixels left");
    }
}

fn pixels(c: &mut Criterion) {
    let mut group = c.benchmark_group("quads");
    let quads = quads();
    for (name, regs) in [("flat", flat()), ("textured", textured()), ("lit", lit())] {
        group.throughput(Throughput::Elements(QUADS as u64 * u64::from(SIDE * SIDE)));
        let mut bench = Bench::new();
        group.bench_function(BenchmarkId::from_parameter(name), |b| b.iter(|| bench.draw(&regs, &quads)));
    }
    group.finish();
}

fn triangles(c: &mut Criterion) {
    let mut group = c.benchmark_group("triangles");
    for (name, legs, culling) in
        [("culled", [4.0, 4.0], 1), ("2 pixels", [2.0, 2.0], 0), ("8 pixels", [4.0, 4.0], 0)]
    {
        group.throughput(Throughput::Elements(TRIANGLES as u64));
        let mut regs = flat();
        regs.set(regs::CULLING, culling);
        let triangles = small_triangles(legs);
        let mut bench = Bench::new();
        group.bench_function(BenchmarkId::from_parameter(name), |b| b.iter(|| bench.draw(&regs, &triangles)));
    }
    group.finish();
}

criterion_group!(benches, pixels, triangles);
criterion_main!(benches);
