//! Random programs: accepted in every version that has buffers, never contracted, and on a device the same words as
//! in the interpreter.

mod common;

use common::{accepted, compiler, device, lowered, run};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;
use xenoglot_glsl::{Context, Error, Options, Target, emit};
use xenoglot_ir::Op;
use xenoglot_testgen::ir;
use xenoglot_testgen::property;
use xenoglot_vulkan::glslang;

#[test]
fn vulkan_worker() {
    xenoglot_vulkan::isolated::serve_if_worker();
}

/// GLSL's `fma` is as exact as the host's.
fn programs() -> ir::Options {
    ir::Options { without: vec![Op::Fma], ..ir::Options::default() }
}

#[test]
fn compilers_accept_random_programs() {
    if !compiler() {
        return;
    }
    let options = ir::Options::default();
    let (mut taken, mut refused) = (0, 0);
    for seed in property::seeds(60) {
        let module = ir::generate(seed, &options);
        let target = [Target::Gl450, Target::Vulkan450, Target::Es310][seed as usize % 3];
        let switch_as_if_chain = seed % 2 == 0;
        let depth_limit = if seed % 5 == 0 { 6 } else { 48 };
        let options = Options { target, switch_as_if_chain, depth_limit, ..Options::default() };
        match accepted(&module, &options) {
            Ok(_) => taken += 1,
            Err(Error::Unsupported { .. }) => refused += 1,
            Err(e) => panic!("seed {seed}: {e}"),
        }
    }
    println!("{taken} programs accepted, {refused} refused with a typed error");
    assert!(refused < taken / 4);
}

#[test]
fn a_device_agrees_with_the_interpreter() {
    if !compiler() {
        return;
    }
    let Some(mut device) = device() else { return };
    let options = programs();
    let words = ir::output_words(&options);
    let (mut ended, mut stopped) = (0, 0);
    let mut wrong = BTreeSet::new();
    for seed in property::seeds(120) {
        let module = ir::generate(seed, &options);
        let input = ir::inputs(seed, &options);
        let Some(want) = ir::interpret(&module, &input, words) else {
            stopped += 1;
            continue;
        };
        ended += 1;
        let switch_as_if_chain = seed % 2 == 0;
        let depth_limit = if seed % 5 == 0 { 6 } else { 48 };
        let options = Options { switch_as_if_chain, depth_limit, ..Options::default() };
        let text = emit(&lowered(&module, &options), &options).unwrap();
        let out = run(&mut device, &text, &[(ir::INPUT, input), (ir::OUTPUT, vec![0; words])]);
        if out[1] != want {
            wrong.insert(seed);
        }
    }
    println!("{ended} programs ran to the end, {stopped} were stopped");
    assert!(ended > 10 * stopped);
    assert!(wrong.is_empty(), "{} of {ended} differ: {wrong:?}", wrong.len());
}

/// Float sums and products, by opcode: what a host may contract.
const CONTRACTIBLE: [u32; 3] = [129, 131, 133];

#[test]
fn nothing_may_be_contracted() {
    if !compiler() {
        return;
    }
    let mut arithmetic = 0;
    let options = ir::Options { nodes: 24, ops: 24, ..programs() };
    for seed in property::seeds(120) {
        let written = Options::default();
        let text = emit(&lowered(&ir::generate(seed, &options), &written), &written).unwrap();
        let words = glslang::compile(&text, glslang::Stage::Compute).unwrap();
        let mut exact = BTreeSet::new();
        let mut at = 5;
        while let Some(&word) = words.get(at) {
            let (len, opcode) = ((word >> 16) as usize, word & 0xffff);
            // OpDecorate id NoContraction precedes the code.
            if opcode == 71 && words[at + 2] == 42 {
                exact.insert(words[at + 1]);
            }
            if CONTRACTIBLE.contains(&opcode) {
                arithmetic += 1;
                assert!(
                    exact.contains(&words[at + 2]),
                    "seed {seed}: result {} of {opcode}\n{text}",
                    words[at + 2]
                );
            }
            at += len;
        }
    }
    println!("{arithmetic} sums and products");
    assert!(arithmetic > 100);
}

#[test]
fn the_output_depends_on_the_input_only() {
    let mut context = Context::default();
    for seed in property::seeds(20) {
        let module = lowered(&ir::generate(seed, &programs()), &Options::default());
        let fresh = emit(&module, &Options::default());
        assert_eq!(context.emit(&module, &Options::default()), fresh, "seed {seed}");
    }
}

#[test]
fn emission_time_is_printed() {
    let mut context = Context::default();
    let options = Options::default();
    let mut best: Option<(usize, f64)> = None;
    for seed in property::seeds(200) {
        let module = ir::generate(seed, &ir::Options { helpers: 0, ..programs() });
        let module = lowered(&module, &options);
        let count = module.entry_func().map_or(0, |f| f.inst_count());
        if !(180..260).contains(&count) {
            continue;
        }
        let times = (0..20).map(|_| {
            let start = Instant::now();
            black_box(context.emit(&module, &options)).unwrap();
            start.elapsed().as_secs_f64() * 1e6
        });
        let time = times.fold(f64::MAX, f64::min);
        if best.is_none_or(|b| time < b.1) {
            best = Some((count, time));
        }
    }
    if let Some((count, time)) = best {
        println!("{count} instructions, structuring included: {time:.1} us");
    }
}
