//! Rates of the CPU renderer in the scenes of vectors/picagpu/PEERS.md, from the clipper on: full-screen quads in
//! pixels per second, small triangles in triangles per second.

mod common;

use std::hint::black_box;

use common::*;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use xenoglot_pica::early_depth::EarlyDepth;
use xenoglot_pica::memory::{Memory, Regions};
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::regs::{self, Registers};
use xenoglot_pica::renderer::{Draw, Renderer as _};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::Triangle;

const QUADS: usize = 8;
const TRIANGLES: usize = 32_768;

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
            triangles: triangles.into(),
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
