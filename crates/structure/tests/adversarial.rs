//! Graphs made to hurt: large, deep, dense, or without an end.

mod common;

use common::{graph, same_traces, structured};
use xenoglot_structure::dominance::Dominance;
use xenoglot_structure::tree::Stats;
use xenoglot_testgen::cfg::{self, Succs};
use xenoglot_testgen::rng::Rng;

fn run(name: &str, succs: &Succs) -> Stats {
    let g = graph(succs);
    let mut stats = Stats::default();
    for limit in [48, 4, 7] {
        let tree = structured(&g, limit);
        let oracles = if succs.len() > 20_000 { 1 } else { 4 };
        same_traces(&g, &tree, &mut Rng::new(1), oracles, 2_000);
        Dominance::new(&tree);
        println!("{name}, limit {limit}: {:?}", tree.stats());
        if limit == 48 {
            stats = *tree.stats();
        }
    }
    stats
}

#[test]
fn long_chains() {
    for n in [10_000, 100_000] {
        let s = run("chain", &cfg::chain(n));
        assert_eq!((s.max_depth, s.guards, s.sets), (0, 0, 0));
    }
}

/// A row of conditionals is no nesting.
#[test]
fn conditionals_in_a_row_stay_flat() {
    let s = run("ifs in a row", &cfg::ifs_in_a_row(20_000));
    assert_eq!((s.max_depth, s.guards, s.reparented, s.sets), (1, 0, 0, 0));
}

#[test]
fn deep_conditionals() {
    for n in [40, 200, 5_000] {
        let s = run("nested ifs", &cfg::nested_ifs(n));
        assert_eq!(s.reparented > 0, n > 48);
    }
}

#[test]
fn nested_loops() {
    for n in [20, 200, 5_000] {
        let s = run("nested loops", &cfg::nested_loops(n));
        assert_eq!(s.dispatches > 0, n > 23);
        run("nested loops with long exits", &cfg::nested_loops_with_long_exits(n));
    }
}

#[test]
fn cliques() {
    for n in [2, 3, 10, 60] {
        let s = run("clique", &cfg::clique(n));
        // The entry heads the outer loop, all others are entries of the inner one.
        assert_eq!(s.dispatches, u32::from(n > 2));
        assert_eq!(s.routes, if n > 2 { n - 1 } else { 0 });
    }
}

#[test]
fn ladders_and_chains_of_guards() {
    run("switch ladder", &cfg::switch_ladder(50, 20));
    run("wide switch", &cfg::switch_ladder(1, 5_000));
    for n in [5, 200] {
        run("guard chain", &cfg::guard_chain(n));
    }
}

#[test]
fn endless_loops_and_unreachable_exits() {
    let s = run("endless loop", &vec![vec![0]]);
    assert_eq!((s.loops, s.max_depth), (1, 1));
    run("endless loop without a way out", &vec![vec![1], vec![2], vec![1]]);
    run("two-entry endless loop", &vec![vec![1, 2], vec![2], vec![1]]);
    run("exits and endless loops", &cfg::exits_and_endless_loops(500));
    run("irreducible row", &cfg::irreducible_row(2_000));
}
