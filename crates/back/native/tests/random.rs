//! Random programs natively and on the interpreter, bit for bit.

mod common;

use common::{compare, promote};
use std::collections::BTreeMap;
use xenoglot_native::{CompileError, Compiler, Tier};
use xenoglot_testgen::cfg::Shape;
use xenoglot_testgen::ir::{Family, Options, generate, inputs, output_words};
use xenoglot_testgen::property;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Compares the programs of `count` seeds from `first` on.
fn run(options: &Options, first: u64, count: u64) {
    let mut compiler = Compiler::new().expect("a host");
    let mut unsupported: BTreeMap<String, u32> = BTreeMap::new();
    let (mut passed, mut given_up) = (0, 0);
    let count = count * property::budget(1, 20);
    for seed in property::seeds(count).map(|seed| first + seed) {
        let mut module = generate(seed, options);
        promote(&mut module);
        compiler.set_tier(if seed % 16 == 0 { Tier::Thorough } else { Tier::Quick });
        let buffers = [bytes(&inputs(seed, options)), vec![0; 4 * output_words(options)]];
        match compare(&mut compiler, &module, &buffers, options.invocations, &format!("seed {seed}")) {
            Ok(ran) => {
                passed += 1;
                given_up += ran.given_up;
            }
            Err(CompileError::Unsupported { what, .. }) => *unsupported.entry(what).or_default() += 1,
            Err(e) => panic!("seed {seed}: {e}"),
        }
    }
    println!("{passed} of {count} equal, {given_up} groups given up, unsupported: {unsupported:?}");
    assert!(passed > count / 2);
}

fn options() -> Options {
    let families = Family::ALL.iter().copied().filter(|&f| f != Family::Calls).collect();
    Options { families, helpers: 0, invocations: 7, denormals: true, ..Options::default() }
}

#[test]
fn straight_lines() {
    run(&Options { nodes: 1, ops: 60, ..options() }, 0, 400);
}

#[test]
fn structured_graphs() {
    run(&Options { shape: Some(Shape::Program), nodes: 16, ops: 4, ..options() }, 10_000, 600);
}

#[test]
fn forward_graphs() {
    run(&Options { shape: Some(Shape::Forward), nodes: 16, ops: 4, ..options() }, 20_000, 600);
}

#[test]
fn wild_graphs() {
    run(&Options { shape: Some(Shape::Wild), nodes: 14, ops: 3, ..options() }, 30_000, 600);
}
