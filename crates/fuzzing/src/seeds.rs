//! Inputs to start from, small and of every kind, made of the bundled shaders and the generators.

use xenoglot::pica::{Options, lift_executable};
use xenoglot_ir::text::canonical;
use xenoglot_opt::{Context, optimize};
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_pica_shader::container::Shbin;
use xenoglot_testgen::pica::{Category, program};
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::{cfg, ir};

fn bundled() -> impl Iterator<Item = Shbin> {
    SHADERS.iter().map(|s| assemble(s.source).unwrap_or_else(|e| panic!("{}: {e}", s.name)))
}

/// Shader binaries.
pub fn binaries() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = bundled().map(|s| s.write()).collect();
    // One inside something else.
    let inner = all.first().cloned().unwrap_or_default();
    all.push([b"DVLB padding ".as_slice(), &inner, b"DVLB"].concat());
    all
}

/// Assembly.
pub fn sources() -> Vec<Vec<u8>> {
    SHADERS.iter().map(|s| s.source.into()).collect()
}

/// Modules as text: bundled shaders as lifted and optimised, and random ones.
pub fn modules() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for shbin in bundled() {
        let lifted = lift_executable(&shbin, 0, &Options::default());
        let mut module = lifted.unwrap_or_else(|e| panic!("a bundled shader: {e}")).module;
        all.push(canonical(&module).into_bytes());
        let Ok(()) = optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
        all.push(canonical(&module).into_bytes());
    }
    for seed in 0..8 {
        let module = ir::generate(seed, &ir::Options::default());
        all.push(canonical(&module).into_bytes());
    }
    all.retain(|text| text.len() < 1 << 15);
    all
}

/// Programs with a header, as [`translate`](crate::translate()) takes them.
pub fn programs() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for category in Category::ALL {
        for seed in 0..8 {
            let mut rng = Rng::new(seed);
            let words = 4 + rng.below(60);
            let sample = program(&mut rng, category, words);
            let kind =
                if sample.geometry.is_some() { 3 | rng.next_u32() as u8 } else { rng.next_u32() as u8 };
            let [low, high] = sample.geometry.unwrap_or(0xff).to_le_bytes();
            let descriptors = &sample.program.descriptors[..sample.program.descriptors.len().min(31)];
            let mut bytes =
                vec![kind, low, high, rng.next_u32() as u8, sample.entry as u8, descriptors.len() as u8];
            let words = descriptors.iter().chain(&sample.program.code);
            bytes.extend(words.flat_map(|w| w.to_le_bytes()));
            all.push(bytes);
        }
    }
    all
}

/// Graphs, as [`structure`](crate::structure()) takes them.
pub fn graphs() -> Vec<Vec<u8>> {
    let shapes = cfg::Shape::ALL.into_iter().flat_map(|shape| (0..8).map(move |seed| (shape, seed)));
    shapes
        .map(|(shape, seed)| {
            let graph = cfg::random_of(&mut Rng::new(seed), shape, 24);
            let mut bytes = vec![graph.len() as u8 - 1, 44];
            for out in &graph {
                // The index of the out-degree in the target's table; more than three ways become five.
                let (code, ways) = [(2, 0), (1, 1), (0, 2), (4, 3), (6, 5)][out.len().min(4)];
                bytes.push(code);
                bytes.extend((0..ways).map(|i| out.get(i).copied().unwrap_or(0) as u8));
            }
            bytes
        })
        .collect()
}
