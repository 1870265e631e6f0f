//! The way from program words to host code, end to end: `cargo bench -p xenoglot`. `xenoglot bench translate` measures
//! the stages and larger sizes.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use xenoglot::{Host, Options, Translator};
use xenoglot_pica_shader::lift::{LiftOptions, VertexOutputs, lift};
use xenoglot_testgen::pica::{Category, program};
use xenoglot_testgen::rng::Rng;

fn translate(c: &mut Criterion) {
    for (language, host) in [("spirv", "vulkan"), ("glsl", "vulkan-glsl")] {
        let host = Host::named(host).expect("a name of the table");
        let mut group = c.benchmark_group(language);
        group.measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_secs(1));
        for category in [Category::Typical, Category::Structured, Category::Jumps] {
            // 35 words are the median of the programs in vectors/pica/PEERS.md.
            for words in [35, 512] {
                let sample = program(&mut Rng::new(1), category, words);
                let options = LiftOptions::vertex(sample.entry, VertexOutputs::Registers(u16::MAX));
                let mut translator = Translator::new();
                group.bench_function(BenchmarkId::new(format!("{category:?}"), words), |b| {
                    b.iter(|| {
                        let mut lifted =
                            lift(black_box(&sample.program), &options).expect("every word decodes");
                        let code = translator.compile(&mut lifted.module, &host, &Options::default());
                        code.expect("lifted modules have a form")
                    });
                });
            }
        }
    }
}

criterion_group!(benches, translate);
criterion_main!(benches);
