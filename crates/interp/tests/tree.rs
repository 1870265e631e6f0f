//! A function run by its structured form does what it does by its graph: values across edges, trace, statistics.

mod common;

use common::{STEPS, walker};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::{Bits, Kind, Resource};
use xenoglot_structure::{Options, structure};
use xenoglot_testgen::property;
use xenoglot_testgen::{cfg, ir};

const LIMITS: Limits = Limits { fuel: 100_000, call_depth: 8, memory: 1 << 24, events: 0, trace: 1 << 12 };

#[test]
fn walks_are_the_same() {
    let mut rng = property::rng(7);
    let (mut blocks, mut dispatches) = (0, 0);
    for depth_limit in [Options::DEPTH_LIMIT, Options::MIN_DEPTH_LIMIT] {
        for _ in 0..300 {
            let succs = cfg::random(&mut rng, 30);
            let (m, oracle, visits) = walker(&succs, 1, |b, node| b.i32(node + 1));
            let func = m.entry.expand().unwrap();
            let tree = structure(&m.funcs[func], &Options { depth_limit, ..Options::default() }).unwrap();
            dispatches += tree.stats().dispatches;
            let words: Vec<u32> = (0..STEPS).map(|_| rng.next_u32()).collect();
            let mut interp = Interpreter::new(&m).unwrap();
            let [graph, by_tree] = [false, true].map(|by_tree| {
                let mut bind = Bindings::new(&m);
                bind.set_words(oracle, &words);
                bind.set_words(visits, &vec![0; words.len()]);
                let out = match by_tree {
                    true => interp.run_tree(func, &tree, &[], &mut bind, &LIMITS),
                    false => interp.run_function(func, &[], &mut bind, &LIMITS),
                };
                (out.unwrap(), bind.words(visits))
            });
            blocks += graph.0.stats.blocks;
            assert_eq!(graph, by_tree, "{succs:?}\n{tree}");
        }
    }
    println!("{blocks} blocks executed both ways, {dispatches} loops with several entries");
    assert!(dispatches > 50);
}

#[test]
fn a_tree_of_another_function_is_noticed() {
    let [a, b] = [vec![vec![1, 2], vec![2], vec![]], vec![vec![2, 1], vec![2], vec![]]]
        .map(|succs| walker(&succs, 1, |b, node| b.i32(node)).0);
    let func = a.entry.expand().unwrap();
    let tree = structure(&b.funcs[func], &Options::default()).unwrap();
    let same = structure(&a.funcs[func], &Options::default()).unwrap();
    assert_ne!(tree, same);
    let c = walker(&[vec![1], vec![0]], 1, |b, node| b.i32(node)).0;
    let mut interp = Interpreter::new(&c).unwrap();
    let mut bind = Bindings::new(&c);
    for r in c.resources.keys() {
        bind.set_words(r, &[0; STEPS as usize]);
    }
    let trap = interp.run_tree(func, &same, &[], &mut bind, &LIMITS).unwrap_err();
    assert!(trap.to_string().starts_with("the tree is wrong"), "{trap}");
}

/// Random programs with block parameters of all types on their edges.
#[test]
fn programs_are_the_same() {
    let options =
        ir::Options { kinds: vec![Kind::I64, Kind::F16], invocations: 1, nodes: 24, ..Default::default() };
    let (mut ended, mut insts, mut params) = (0, 0, 0);
    let count = 300;
    for seed in property::seeds(count) {
        let m = ir::generate(seed, &options);
        let func = m.entry.expand().unwrap();
        let f = &m.funcs[func];
        params += f.layout.iter().map(|&b| f.params(b).len()).sum::<usize>();
        let depth_limit = if seed % 2 == 0 { Options::DEPTH_LIMIT } else { Options::MIN_DEPTH_LIMIT };
        let tree = structure(f, &Options { depth_limit, ..Options::default() }).unwrap();
        let mut interp = Interpreter::new(&m).unwrap();
        let [graph, by_tree] = [false, true].map(|by_tree| {
            let mut bind = Bindings::new(&m);
            let [input, output] = [ir::INPUT, ir::OUTPUT].map(Resource::from_u32);
            bind.set_words(input, &ir::inputs(seed, &options));
            bind.set_words(output, &vec![0; ir::output_words(&options)]);
            let id = m.vars.keys().next().unwrap();
            bind.set_input(id, Bits::default());
            let out = match by_tree {
                true => interp.run_tree(func, &tree, &[], &mut bind, &LIMITS),
                false => interp.run_function(func, &[], &mut bind, &LIMITS),
            };
            (out, bind.words(output))
        });
        assert_eq!(graph, by_tree, "seed {seed}\n{tree}");
        if let Ok(out) = graph.0 {
            ended += 1;
            insts += out.stats.insts;
        }
    }
    println!("{ended} of {count} programs ended; {insts} instructions; {params} block parameters");
    assert_eq!(ended, count);
}
