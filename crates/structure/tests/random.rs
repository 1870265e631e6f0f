//! Random graphs: proof, traces, determinism and growth.

mod common;

use common::{graph, same_traces, structured};
use xenoglot_ir::Block;
use xenoglot_structure::check::check;
use xenoglot_structure::dominance::Dominance;
use xenoglot_structure::tree::{List, Stats, Stmt};
use xenoglot_structure::{Options, Tree, structure_graph};
use xenoglot_testgen::cfg::{self, random, random_of};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

#[test]
fn traces_are_those_of_the_graph() {
    let graphs = property::budget(5_000, 100_000);
    let (mut ended, mut irreducible, mut deepest) = (0, 0, 0);
    let mut total = Stats::default();
    let mut worst = 0.0f64;
    for seed in property::seeds(graphs) {
        let mut rng = Rng::new(seed);
        let g = graph(&random(&mut rng, 150));
        // A low limit now and then, so that moving out of deep nesting is met on small graphs too.
        let limit = [48, 48, 4, 5, 6, 9][rng.below(6) as usize];
        let tree = structured(&g, limit);
        ended += same_traces(&g, &tree, &mut rng, 6, 300);
        let s = tree.stats();
        irreducible += u32::from(s.dispatches > 0);
        deepest = deepest.max(s.max_depth);
        total.blocks += s.blocks;
        total.guards += s.guards;
        total.dispatches += s.dispatches;
        total.routes += s.routes;
        total.reparented += s.reparented;
        if limit == 48 {
            worst = worst.max(f64::from(s.guards + s.dispatches) / f64::from(s.blocks));
        }
    }
    println!(
        "{graphs} graphs, {irreducible} with dispatch; {} blocks, {} guards, {} dispatch nodes, {} routes, {} moved out, depth \
         up to {deepest}; worst growth at limit 48 {worst:.2} per block; {ended} of {} traces ended, the rest ran out of fuel",
        total.blocks,
        total.guards,
        total.dispatches,
        total.routes,
        total.reparented,
        6 * graphs
    );
    assert!(ended > graphs as u32 && irreducible * 10 > graphs as u32 && total.reparented > 0);
}

/// Byte-identical over runs and threads.
#[test]
fn the_output_is_deterministic() {
    let text = || {
        let mut rng = property::rng(99);
        (0..60)
            .map(|_| structure_graph(&graph(&random(&mut rng, 200)), &Options::default()).to_string())
            .collect::<String>()
    };
    let first = text();
    assert!(first.len() > 10_000);
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(text)).collect();
    for thread in threads {
        assert!(thread.join().expect("the thread ran") == first);
    }
}

/// Doubling the input costs at most 2.5 times the steps, in every family.
#[test]
fn cost_is_nearly_linear() {
    type Family = (&'static str, fn(u32) -> cfg::Succs);
    let families: [Family; 10] = [
        ("chain", cfg::chain),
        ("nested loops", cfg::nested_loops),
        ("long exits", cfg::nested_loops_with_long_exits),
        ("switch ladder", |n| cfg::switch_ladder(n, 8)),
        ("guard chain", cfg::guard_chain),
        ("nested ifs", cfg::nested_ifs),
        ("ifs in a row", cfg::ifs_in_a_row),
        ("irreducible row", cfg::irreducible_row),
        ("endless loops", cfg::exits_and_endless_loops),
        // A clique of n nodes has n² edges.
        ("clique", |n| cfg::clique(f64::from(n).sqrt() as u32)),
    ];
    for (name, family) in families {
        let sizes = [250, 500, 1000, 2000, 4000];
        let steps = sizes.map(|n| structure_graph(&graph(&family(n)), &Options::default()).stats().steps);
        println!("{name}: {steps:?} steps for n = {sizes:?}");
        for pair in steps.windows(2) {
            assert!(pair[1] * 2 <= pair[0] * 5, "{name}: {steps:?}");
        }
    }
    for shape in cfg::Shape::ALL {
        let steps = [500, 1000, 2000, 4000].map(|n| {
            let (mut steps, mut blocks) = (0, 0);
            for seed in property::seeds(24) {
                let g = graph(&random_of(&mut Rng::new(seed), shape, n));
                let stats = *structure_graph(&g, &Options::default()).stats();
                steps += stats.steps;
                blocks += u64::from(stats.blocks);
            }
            steps as f64 / blocks as f64
        });
        println!("{shape:?}: {steps:.1?} steps per block for 500, 1000, 2000 and 4000 nodes");
        for pair in steps.windows(2) {
            assert!(pair[1] <= 1.25 * pair[0], "{shape:?}: {steps:?}");
        }
    }
}

/// Marks what is reached in the tree, taking every way past selectors and never passing `without`. Returns whether the end is.
fn reach(tree: &Tree, list: List, without: Block, seen: &mut [bool], breaks: &mut bool) -> bool {
    for &stmt in tree.list(list) {
        let passes = match stmt {
            Stmt::Block(b) if b == without => false,
            Stmt::Block(b) => {
                seen[b.as_u32() as usize] = true;
                true
            }
            Stmt::Branch { arms, .. } | Stmt::Switch { arms, .. } => {
                let arms = tree.arms(arms).iter();
                arms.fold(false, |any, a| any | reach(tree, a.body, without, seen, breaks))
            }
            Stmt::Guard { body, .. } => {
                reach(tree, body, without, seen, breaks);
                true
            }
            Stmt::Loop { body, .. } => {
                let mut left = false;
                reach(tree, body, without, seen, &mut left);
                left
            }
            Stmt::Break => {
                *breaks = true;
                false
            }
            Stmt::Edge(_) | Stmt::Set { .. } => true,
            Stmt::Continue | Stmt::Terminate(_) | Stmt::Unreachable => false,
        };
        if !passes {
            return false;
        }
    }
    true
}

/// Against its definition: `a` dominates `b` if `b` is not reached without `a`. Then it does so in the graph too, and what is
/// visible dominates.
#[test]
fn dominance_is_exact() {
    let (mut claims, mut lost) = (0, 0);
    for seed in property::seeds(400) {
        let mut rng = Rng::new(seed);
        let g = graph(&random(&mut rng, 60));
        let limit = [48, 5][rng.below(2) as usize];
        let tree = structured(&g, limit);
        let d = Dominance::new(&tree);
        let reachable = g.reachable();
        for a in g.blocks().filter(|a| reachable[a.as_u32() as usize]) {
            let mut in_tree = vec![false; g.block_count()];
            reach(&tree, tree.root(), a, &mut in_tree, &mut false);
            let mut in_graph = vec![false; g.block_count()];
            let mut stack = vec![g.entry()];
            while let Some(block) = stack.pop() {
                if block != a && !std::mem::replace(&mut in_graph[block.as_u32() as usize], true) {
                    stack.extend(g.successors(block));
                }
            }
            for b in g.blocks().filter(|b| reachable[b.as_u32() as usize]) {
                let i = b.as_u32() as usize;
                assert_eq!(d.dominates(a, b), !in_tree[i], "{a} {b}\n{tree}");
                assert!(in_tree[i] || !in_graph[i], "{a} {b}\n{tree}");
                assert!(!d.visible(a, b) || d.dominates(a, b), "{a} {b}\n{tree}");
                claims += u32::from(a != b && d.dominates(a, b));
                lost += u32::from(in_tree[i] && !in_graph[i]);
            }
            assert!(d.visible(a, a));
        }
    }
    println!("{claims} pairs dominate, {lost} do so in the graph only");
    assert!(claims > 1000 && lost > 100);
}

/// Pins change where blocks stand, never what is executed.
#[test]
fn pins_keep_traces() {
    let (mut asked, mut honoured) = (0, 0);
    for seed in property::seeds(1000) {
        let mut rng = Rng::new(seed);
        let g = graph(&random(&mut rng, 60));
        let blocks = g.block_count() as u32 + 1;
        let block = |rng: &mut Rng| Block::from_u32(rng.below(blocks));
        let pins: Vec<_> = (0..rng.below(12)).map(|_| (block(&mut rng), block(&mut rng))).collect();
        let tree = structure_graph(&g, &Options { depth_limit: 48, pins: &pins });
        assert_eq!(check(&g, &tree, 48), Ok(()), "{pins:?}\n{tree}");
        same_traces(&g, &tree, &mut rng, 2, 100);
        asked += pins.len() as u32;
        honoured += tree.stats().pinned;
    }
    println!("{honoured} of {asked} pins honoured");
    assert!(honoured > 100 && honoured < asked);
}

#[test]
fn blocks_the_entry_does_not_reach_are_left_out() {
    let n = Block::from_u32;
    let g = xenoglot_structure::Graph::new(n(1), [vec![n(1)], vec![n(2), n(2)], vec![], vec![n(3)]]).unwrap();
    let tree = structured(&g, 48);
    assert_eq!(tree.stats().blocks, 2);
    assert!(!Dominance::new(&tree).dominates(n(0), n(1)));
}
