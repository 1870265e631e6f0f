//! Vertices per second and time to compile, natively and on the interpreter: `cargo bench -p xenoglot-native`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use xenoglot_interp::{Bindings as Reference, Interpreter, Limits as ReferenceLimits};
use xenoglot_ir::Module;
use xenoglot_native::{Bindings, Compiler, Limits, Tier};
use xenoglot_opt::{Context, optimize};
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::{LiftOptions, Records, lift};
use xenoglot_testgen::rng::Rng;

const VERTICES: u32 = 1024;

struct Shader {
    name: &'static str,
    words: usize,
    module: Module,
}

/// Lifts with the compute wrapper.
fn shader(name: &'static str, source: &str, records: Records) -> Shader {
    let shbin = assemble(source).expect("assembles");
    let options = LiftOptions { records, ..LiftOptions::compute(shbin.executables[0].main) };
    let mut module = lift(&shbin.program, &options).expect("lifts").module;
    let Ok(()) = optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
    Shader { name, words: shbin.program.code.len(), module }
}

fn bundled(name: &str) -> &'static str {
    SHADERS.iter().find(|s| s.name == name).expect("bundled").source
}

fn shaders() -> Vec<Shader> {
    let (lit, skinned) = (bundled("lit.v.pica"), bundled("skinned.v.pica"));
    vec![
        shader("textured", bundled("textured.v.pica"), Records::Outputs),
        shader("lit", lit, Records::Outputs),
        shader("skinned", skinned, Records::Outputs),
        shader("lit, all registers", lit, Records::Whole),
        shader("skinned, all registers", skinned, Records::Whole),
        shader("specular", bundled("two_lights.v.pica"), Records::Outputs),
        shader("skinned by branches", bundled("skin4.v.pica"), Records::Outputs),
    ]
}

/// How thoroughly registers are allocated.
const TIERS: [(&str, Tier); 2] = [("quick", Tier::Quick), ("thorough", Tier::Thorough)];

/// Uniforms and inputs of ordinary size; the third attribute is bone indices.
fn buffers() -> (Vec<u8>, Vec<u8>) {
    let mut rng = Rng::new(1);
    let mut float = || ((rng.below(2000) as f32) / 1000.0 - 0.9).to_le_bytes();
    let floats: Vec<u32> = (0..UNIFORM_ONES / 4).map(|_| u32::from_le_bytes(float())).collect();
    let uniforms = uniform_buffer(floats, [1; 16], 0x0101).to_vec();
    let mut inputs: Vec<u8> = (0..VERTICES * INPUT_STRIDE / 4).flat_map(|_| float()).collect();
    for vertex in 0..VERTICES as usize {
        for c in 0..4 {
            let bone = ((vertex * 7 + c * 5) % 24) as f32;
            let at = vertex * INPUT_STRIDE as usize + 32 + 4 * c;
            inputs[at..at + 4].copy_from_slice(&bone.to_le_bytes());
        }
    }
    (uniforms, inputs)
}

fn compile(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    group.sample_size(30).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let mut compiler = Compiler::new().expect("a host");
    for shader in shaders() {
        let insts = shader.module.entry_func().map_or(0, |f| f.inst_count());
        for (tier_name, tier) in TIERS {
            compiler.set_tier(tier);
            let name = format!("{tier_name}, {} ({} words, {insts} ops)", shader.name, shader.words);
            group.bench_function(name, |b| {
                b.iter(|| compiler.compile(black_box(&shader.module)).expect("compiles"));
            });
        }
    }
    group.finish();
}

fn vertices(c: &mut Criterion) {
    let (uniforms, inputs) = buffers();
    let mut state = vec![0; (VERTICES * VERTEX_STATE_STRIDE) as usize];
    let mut compiler = Compiler::new().expect("a host");
    let mut group = c.benchmark_group("vertices");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.throughput(Throughput::Elements(VERTICES.into()));
    for (shader, (tier_name, tier)) in shaders().iter().flat_map(|s| TIERS.map(|tier| (s, tier))) {
        compiler.set_tier(tier);
        let program = compiler.compile(&shader.module).expect("compiles");
        let mut bindings = Bindings::new();
        bindings.read(0, UNIFORM_BINDING, &uniforms).read(0, INPUT_BINDING, &inputs);
        bindings.write(0, STATE_BINDING, &mut state);
        let ran = program.run(&mut bindings, 0..VERTICES, &Limits::default()).expect("runs");
        println!("{tier_name}, {}: {} bytes of code, {ran:?}", shader.name, program.code_size());
        group.bench_function(format!("{tier_name}, {}", shader.name), |b| {
            b.iter(|| program.run(&mut bindings, 0..VERTICES, &Limits::default()).expect("runs"));
        });
    }
    group.sample_size(10);
    for mut shader in shaders().into_iter().take(3) {
        shader.module.workgroup = [VERTICES, 1, 1];
        let mut interpreter = Interpreter::new(&shader.module).expect("verified");
        let mut bindings = Reference::new(&shader.module);
        for (id, r) in shader.module.resources.iter() {
            let bytes = match r.binding {
                UNIFORM_BINDING => &uniforms,
                INPUT_BINDING => &inputs,
                _ => &state,
            };
            bindings.set_buffer(id, bytes.clone());
        }
        let limits = ReferenceLimits { fuel: u64::MAX, ..ReferenceLimits::default() };
        group.bench_function(format!("interpreter, {}", shader.name), |b| {
            b.iter(|| interpreter.dispatch([1; 3], &mut bindings, &limits).expect("runs"));
        });
    }
    group.finish();
}

criterion_group!(benches, compile, vertices);
criterion_main!(benches);
