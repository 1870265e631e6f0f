//! Frames and geometry of a few scenes of `vectors/nds`, on one core.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use xenoglot_nds::container::{Limits, Scene};
use xenoglot_nds::geometry::GeometryEngine;
use xenoglot_nds::geometry::fifo::CommandFifo;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::{play, run_geometry};
use xenoglot_nds::raster::{Options, Renderer};

/// A frame with nothing in it, the most polygons, small and large stress scenes.
const SCENES: [&str; 5] = ["scene_177", "scene_180", "scene_189", "scene_206", "scene_236"];

fn unpacked(name: &str) -> Vec<u8> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../vectors/nds"));
    let file = std::fs::File::open(folder.join(name)).expect("the vectors are there");
    let mut bytes = Vec::new();
    let mut unpacked = ruzstd::decoding::StreamingDecoder::new(file).expect("zstd");
    unpacked.read_to_end(&mut bytes).expect("zstd");
    bytes
}

fn scene(name: &str) -> (Scene, Gpu) {
    let scene =
        Scene::from_bytes(&unpacked(&format!("{name}.ndsf.zst")), &Limits::default()).expect("a scene");
    let image = scene.memory.as_deref().map(|image| unpacked(&format!("vram/{image}.bin.zst")));
    let gpu = play(&scene, image.as_deref(), Gpu::default()).expect("the image is there").gpu;
    (scene, gpu)
}

fn frames(c: &mut Criterion) {
    let mut group = c.benchmark_group("frame");
    for name in SCENES {
        let (_, gpu) = scene(name);
        let mut renderer = Renderer::new(Options { threads: 1, ..Options::default() });
        group.throughput(Throughput::Elements(gpu.polygons().polygons.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| renderer.draw(black_box(gpu.polygons()), gpu.registers(), &gpu.memory));
        });
    }
}

fn geometry(c: &mut Criterion) {
    let mut group = c.benchmark_group("geometry");
    for name in SCENES {
        let (scene, _) = scene(name);
        group.throughput(Throughput::Elements(scene.stream.len() as u64));
        group.bench_function(name, |b| {
            let (mut engine, mut fifo) = (GeometryEngine::default(), CommandFifo::default());
            b.iter(|| run_geometry(&mut engine, &mut fifo, black_box(&scene.stream)));
        });
    }
}

criterion_group!(benches, frames, geometry);
criterion_main!(benches);
