//! Large programs of every shape have a form in every language that is written without naga.

use xenoglot::{Host, Options, Translator};
use xenoglot_pica_shader::lift::{LiftOptions, VertexOutputs, lift};
use xenoglot_testgen::pica::{Category, program};
use xenoglot_testgen::rng::Rng;

#[test]
fn large_programs_are_translated() {
    let mut translator = Translator::new();
    for category in [Category::Straight, Category::Structured, Category::Jumps, Category::Typical] {
        // Jumps of seed 4: parallel copies whose values read several variables, in circles that meet.
        for (words, seed) in [(512, 0), (2048, 4)] {
            let sample = program(&mut Rng::new(seed), category, words);
            let options = LiftOptions::vertex(sample.entry, VertexOutputs::Registers(u16::MAX));
            for host in ["vulkan-glsl", "vulkan"] {
                let host = Host::named(host).unwrap();
                let mut module = lift(&sample.program, &options).expect("every word decodes").module;
                if let Err(e) = translator.compile(&mut module, &host, &Options::default()) {
                    panic!("{category:?}, {words} words, seed {seed}: {e}");
                }
            }
        }
    }
}
