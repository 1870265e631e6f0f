//! Random programs: valid in every version and under every option, and on a device the same words as in the
//! interpreter.

mod common;

use common::{device, emit_valid, lowered, run};
use xenoglot_ir::module::Module;
use xenoglot_ir::{Builder, Function, Kind, Stage};
use xenoglot_spirv::{FloatControls, Options, Version};
use xenoglot_testgen::{cfg, ir, property};

#[test]
fn vulkan_worker() {
    xenoglot_vulkan::isolated::serve_if_worker();
}

fn variants() -> Vec<Options> {
    let default = Options::default;
    let mut all: Vec<Options> = Version::ALL.into_iter().map(Options::version).collect();
    all.push(Options { switch_as_if_chain: true, portable_ops: true, ..default() });
    all.push(Options { robust: true, ..default() });
    all.push(Options { max_depth: 6, ..default() });
    all.push(Options { guest_lines: true, names: xenoglot_spirv::Names::All, ..default() });
    all.push(Options { float_controls: FloatControls::ALL, maximal_reconvergence: true, ..default() });
    all
}

#[test]
fn random_programs_are_valid() {
    let options = ir::Options::default();
    let variants = variants();
    for seed in property::seeds(60) {
        let module = ir::generate(seed, &options);
        for (i, variant) in variants.iter().enumerate() {
            if i % 4 == seed as usize % 4 {
                emit_valid(&module, variant);
            }
        }
    }
}

#[test]
fn a_device_agrees_with_the_interpreter() {
    let Some(mut device) = device() else { return };
    let narrow = ir::Options::default();
    let wide = ir::Options {
        kinds: vec![Kind::I64, Kind::F64, Kind::I16, Kind::I8],
        nodes: 20,
        denormals: true,
        ..ir::Options::default()
    };
    let words = ir::output_words(&narrow);
    // Without the promise to keep them, hosts take a product with zero for +0.
    let signs = FloatControls { signed_zero_inf_nan: [false, true, false], ..FloatControls::NONE };
    let base = Options { float_controls: signs, ..Options::default() };
    let variants = [
        base.clone(),
        Options { switch_as_if_chain: true, portable_ops: true, ..base.clone() },
        Options { robust: true, ..base.clone() },
        Options { max_depth: 6, version: Some(Version::V1_6), ..base.clone() },
    ];
    let (mut ended, mut stopped) = (0, 0);
    for seed in property::seeds(120) {
        let options = if seed % 3 == 0 { &wide } else { &narrow };
        let module = ir::generate(seed, options);
        let input = ir::inputs(seed, options);
        let Some(want) = ir::interpret(&module, &input, words) else {
            stopped += 1;
            continue;
        };
        ended += 1;
        let variant = &variants[seed as usize % variants.len()];
        // lavapipe rounds the product of `fma`, too.
        let spirv = emit_valid(&lowered(&module, variant, true), variant);
        let out = run(&mut device, spirv, &[(ir::INPUT, input), (ir::OUTPUT, vec![0; words])], 1);
        assert_eq!(out[1], want, "seed {seed} with {variant:?}\n{}", xenoglot_ir::text::canonical(&module));
    }
    println!("{ended} programs ran to the end, {stopped} were stopped");
    assert!(ended > 10 * stopped);
}

#[test]
fn the_output_depends_on_the_input_only() {
    let options = ir::Options::default();
    let mut emitter = xenoglot_spirv::Emitter::new();
    for seed in property::seeds(20) {
        let module = ir::generate(seed, &options);
        let fresh = xenoglot_spirv::emit(&module, &Options::default());
        assert_eq!(emitter.emit(&module, &Options::default()), fresh, "seed {seed}");
    }
}

/// A kernel on a graph, each block deciding by a sum that it carries on.
fn kernel(succs: &cfg::Succs) -> Module {
    let mut f = Function::new("main");
    let start = f.add_block();
    let blocks: Vec<_> = succs.iter().map(|_| f.add_block()).collect();
    let carried: Vec<_> = blocks.iter().map(|&b| f.add_param(b, xenoglot_ir::Type::I32)).collect();
    let mut b = Builder::new(&mut f, start);
    let first = b.i32(0);
    b.jump(blocks[0], &[first]);
    for (i, to) in succs.iter().enumerate() {
        b.switch_to(blocks[i]);
        let step = b.i32(i as u32 | 1);
        let sum = [b.op(xenoglot_ir::Op::Iadd, &[carried[i], step])];
        let targets: Vec<_> = to.iter().map(|&t| blocks[t as usize]).collect();
        match targets[..] {
            [] => b.ret(&[]),
            [one] => b.jump(one, &sum),
            [ref cases @ .., last] => {
                let cases: Vec<_> = (0..).zip(cases).map(|(n, &t)| (n, t, &sum[..])).collect();
                b.switch(sum[0], &cases, (last, &sum));
            }
        }
    }
    let mut module = Module::new(Stage::Compute, "graph");
    let main = module.funcs.push(f);
    module.entry = main.into();
    module
}

#[test]
fn hard_graphs_are_valid() {
    let graphs = [
        ("chain", cfg::chain(5000)),
        ("clique", cfg::clique(16)),
        ("nested loops", cfg::nested_loops(200)),
        ("nested loops with long exits", cfg::nested_loops_with_long_exits(40)),
        ("switch ladder", cfg::switch_ladder(30, 30)),
        ("guard chain", cfg::guard_chain(200)),
        ("nested ifs", cfg::nested_ifs(300)),
        ("irreducible row", cfg::irreducible_row(100)),
        ("exits and endless loops", cfg::exits_and_endless_loops(60)),
    ];
    for (name, succs) in graphs {
        let module = kernel(&succs);
        for options in [Options::default(), Options { switch_as_if_chain: true, ..Options::default() }] {
            let words = emit_valid(&module, &options);
            println!("{name}: {} blocks, {} words", succs.len(), words.len());
        }
    }
}
