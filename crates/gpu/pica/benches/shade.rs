//! Million vertices per second of each vertex engine alone, registers to registers, on one core: the shaders of the table
//! in docs/benchmarks.md. And the time of the first 300 vertices of a new shader on the engine that needs no compiler.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::sync::Arc;
use xenoglot_pica::shader::{Batch, Engine, Interp, Lanes, Packed, Program, Shader, Source, Uniforms};
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_pica_shader::container::Shbin;

const SHADED: [&str; 3] = ["textured.v.pica", "lit.v.pica", "skinned.v.pica"];
const VERTICES: usize = 1 << 12;

/// Register `n` of a vertex: the third of a shader that skins has numbers of bones.
fn register(vertex: usize, n: usize) -> [f32; 4] {
    match n {
        2 => std::array::from_fn(|c| ((vertex * 7 + c * 5) % 24) as f32),
        _ => [0.125 + (vertex % 97) as f32 / 97.0; 4],
    }
}

fn engines() -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Interp::new()),
        Box::new(Lanes::new()),
        #[cfg(feature = "native")]
        {
            let mut native = xenoglot_pica::shader::Native::new().expect("a compiler for this machine");
            native.set_threads(false);
            Box::new(native)
        },
    ]
}

fn bundled(name: &str) -> Shbin {
    let source = SHADERS.iter().find(|s| s.name == name).expect("a bundled shader").source;
    assemble(source).expect("assembles")
}

/// The vertex program of a shader, with more words behind its end.
fn program(shbin: &Shbin, behind: &[u32]) -> Arc<Program> {
    let code = [&shbin.program.code[..], behind].concat();
    let source = Arc::new(Source::new(&code, &shbin.program.descriptors));
    let shader = Shader { source, entry: shbin.executables[0].main, geometry: None };
    Arc::new(Program::new(&shader).expect("lifts"))
}

fn run(
    engine: &mut dyn Engine,
    program: &Arc<Program>,
    uniforms: &Uniforms,
    inputs: &Packed,
    outputs: &mut Packed,
) {
    let fuel = &mut { u64::MAX };
    engine.shade(Batch { program, uniforms, inputs: inputs.into(), outputs, fuel }).expect("ends");
}

fn shade(c: &mut Criterion) {
    let mut group = c.benchmark_group("shade");
    group.throughput(Throughput::Elements(VERTICES as u64)).sample_size(20);
    for name in SHADED {
        let program = program(&bundled(name), &[]);
        let mut uniforms = Uniforms::default();
        for n in 0..96 {
            uniforms.set_float(n, [0.5f32, 0.25, -0.75, 1.0].map(f32::to_bits));
        }
        let (mut inputs, mut outputs) = (Packed::default(), Packed::default());
        inputs.reset(program.inputs, VERTICES);
        let registers = (0..16).filter(|n| program.inputs >> n & 1 == 1);
        let values = (0..VERTICES).flat_map(|v| registers.clone().map(move |n| register(v, n)));
        inputs.values_mut().iter_mut().zip(values).for_each(|(place, value)| *place = value);
        for mut engine in engines() {
            group.bench_function(BenchmarkId::new(engine.name(), name), |b| {
                b.iter(|| run(&mut *engine, &program, &uniforms, &inputs, &mut outputs));
            });
        }
    }
    group.finish();
}

/// A shader that is new to the engine: lifting, preparing and running it.
fn new_shaders(c: &mut Criterion) {
    const FEW: usize = 300;
    let mut group = c.benchmark_group("new");
    for name in SHADED {
        let shbin = bundled(name);
        let (mut lanes, mut number) = (Lanes::new(), 0);
        let (uniforms, mut inputs, mut outputs) = (Uniforms::default(), Packed::default(), Packed::default());
        group.bench_function(name, |b| {
            b.iter(|| {
                // A word behind the program's end makes it another one.
                number += 1;
                let program = program(&shbin, &[number]);
                inputs.reset(program.inputs, FEW);
                run(&mut lanes, &program, &uniforms, &inputs, &mut outputs);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, shade, new_shaders);
criterion_main!(benches);
