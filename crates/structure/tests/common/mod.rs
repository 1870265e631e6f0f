//! What the test files share; not every file uses all of it.
#![allow(dead_code)]

use xenoglot_ir::Block;
use xenoglot_structure::check::check;
use xenoglot_structure::trace::{run_graph, run_tree};
use xenoglot_structure::{Graph, Options, Tree, structure_graph};
use xenoglot_testgen::cfg::Succs;
use xenoglot_testgen::rng::Rng;

pub fn graph(succs: &Succs) -> Graph {
    let nodes = succs.iter().map(|out| out.iter().map(|&t| Block::from_u32(t)));
    Graph::new(Block::from_u32(0), nodes).expect("generated graphs are in range")
}

/// Structures and proves the result right.
pub fn structured(graph: &Graph, depth_limit: u32) -> Tree {
    let tree = structure_graph(graph, &Options { depth_limit, pins: &[] });
    if let Err(violations) = check(graph, &tree, depth_limit) {
        panic!("{violations:#?}\n{graph:?}\n{tree}");
    }
    tree
}

/// Compares traces under oracles drawn from `rng`; returns how many ended before their fuel.
pub fn same_traces(graph: &Graph, tree: &Tree, rng: &mut Rng, oracles: u32, fuel: usize) -> u32 {
    let mut ended = 0;
    for _ in 0..oracles {
        let seed = rng.next_u64();
        let mut oracle = Rng::new(seed);
        let want = run_graph(graph, fuel, |_| oracle.next_u32() as usize);
        let mut oracle = Rng::new(seed);
        let got = run_tree(tree, fuel, |_| oracle.next_u32() as usize);
        assert_eq!(got.as_ref(), Ok(&want), "{graph:?}\n{tree}");
        ended += u32::from(want.ended);
    }
    ended
}
