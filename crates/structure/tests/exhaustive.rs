//! Every graph of up to five blocks with at most two successors each; with XENOGLOT_LONG=1 of six.

mod common;

use common::{graph, same_traces, structured};
use xenoglot_ir::Block;
use xenoglot_structure::check::check;
use xenoglot_structure::{Options, structure_graph};
use xenoglot_testgen::cfg::all_small;
use xenoglot_testgen::property;

/// Every order of successors; for six blocks up to that order.
#[test]
fn all_small_graphs() {
    let mut rng = property::rng(5);
    for nodes in 1..=property::budget(5, 6) {
        let ordered = nodes < 6;
        let mut ended = 0;
        let mut counts = [0u64; 3];
        let count = all_small(nodes, ordered, |succs| {
            let g = graph(succs);
            let tree = structured(&g, 48);
            ended += same_traces(&g, &tree, &mut rng, 2, 24);
            counts[0] += u64::from(tree.stats().guards);
            counts[1] += u64::from(tree.stats().dispatches > 0);
            counts[2] = counts[2].max(u64::from(tree.stats().max_depth));
        });
        let [guards, irreducible, depth] = counts;
        println!(
            "{nodes} blocks{}: {count} graphs, {irreducible} irreducible, {guards} guards, depth up to {depth}; \
             {ended} of {} traces ended",
            if ordered { "" } else { " up to the order of successors" },
            2 * count
        );
        let numberings = (1..nodes as u64).product::<u64>();
        if ordered {
            assert_eq!(count * numberings, reachable_graphs(nodes, |n| 1 + n + n * n));
        } else {
            // Graphs with a symmetry have fewer numberings, and some graphs come twice.
            assert!(count * numberings >= reachable_graphs(nodes, |n| 1 + n + n * (n + 1) / 2));
        }
    }
}

/// Every small graph with every single pin.
#[test]
fn all_pins_on_small_graphs() {
    let nodes = property::budget(3, 4);
    let mut honoured = 0;
    all_small(nodes, true, |succs| {
        let g = graph(succs);
        for pin in (0..nodes * nodes).map(|i| (Block::from_u32(i / nodes), Block::from_u32(i % nodes))) {
            let tree = structure_graph(&g, &Options { pins: &[pin], ..Options::default() });
            assert_eq!(check(&g, &tree, Options::DEPTH_LIMIT), Ok(()), "{pin:?} {g:?}\n{tree}");
            honoured += tree.stats().pinned;
        }
    });
    assert!(honoured > 0);
}

/// How many graphs on numbered nodes have all nodes reachable, where a node has `choices(n)` ways to choose successors among n.
///
/// All graphs on n nodes are those whose reachable part has k nodes, for all k: pick the k - 1 besides the entry, choose a
/// reachable graph on them, and let the rest choose freely.
fn reachable_graphs(nodes: u32, choices: impl Fn(u64) -> u64) -> u64 {
    let binomial = |n: u64, k: u64| (1..=k).fold(1, |b, i| b * (n + 1 - i) / i);
    let mut reachable = Vec::<u64>::new();
    for n in 1..=u64::from(nodes) {
        let free = choices(n);
        let smaller: u64 = (1..n)
            .map(|k| binomial(n - 1, k - 1) * reachable[k as usize - 1] * free.pow((n - k) as u32))
            .sum();
        reachable.push(free.pow(n as u32) - smaller);
    }
    reachable[nodes as usize - 1]
}
