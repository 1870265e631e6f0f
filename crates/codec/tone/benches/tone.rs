//! Samples a second of each engine: `cargo bench -p xenoglot-tone`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use xenoglot_tone::{Engine, ToneFilter};

const SAMPLES: usize = 65536;

/// White noise of a generator that gives the same everywhere.
fn noise() -> Vec<f32> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..SAMPLES).map(|_| next()).collect()
}

fn engines(c: &mut Criterion) {
    let input = noise();
    let mut output = vec![0.0; SAMPLES];
    let mut group = c.benchmark_group("tone");
    group.throughput(Throughput::Elements(SAMPLES as u64));
    for engine in Engine::ALL.into_iter().filter(|e| e.is_available()) {
        let mut filter = ToneFilter::with_engine(44_100, 440.0, engine).expect("the engine is there");
        group.bench_function(engine.name(), |b| b.iter(|| filter.process(&input, &mut output)));
    }
}

criterion_group!(benches, engines);
criterion_main!(benches);
