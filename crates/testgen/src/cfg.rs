//! Control-flow graphs as bare successor lists: random ones, all small ones, and families made to hurt.
//!
//! Node 0 is the entry. Everything but [`random`] with [`Shape::Wild`] reaches all of its nodes.

use crate::rng::Rng;

/// A graph: for each node its successors, in order; equal ones allowed.
pub type Succs = Vec<Vec<u32>>;

/// What random graphs look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Edges to anywhere, the entry and unreachable nodes included: mostly irreducible.
    Wild,
    /// Edges mostly a few nodes ahead, one in seven to anywhere: like code with gotos.
    Forward,
    /// Nested conditionals, switches and loops with early exits, and now and then a jump to anywhere.
    Program,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 3] = [Shape::Wild, Shape::Forward, Shape::Program];
}

/// A random graph of 1 to `max_nodes` nodes (at least one), in a shape of the generator's choice. Small ones are likelier.
pub fn random(rng: &mut Rng, max_nodes: u32) -> Succs {
    let shape = Shape::ALL[rng.below(3) as usize];
    let top = max_nodes.max(1) >> rng.below(5);
    let nodes = 1 + rng.below(top.max(1));
    random_of(rng, shape, nodes)
}

/// A random graph of `nodes` nodes (at least one) of the given shape; [`Shape::Program`] may use fewer.
pub fn random_of(rng: &mut Rng, shape: Shape, nodes: u32) -> Succs {
    let nodes = nodes.max(1);
    match shape {
        Shape::Wild => (0..nodes)
            .map(|_| {
                let out = out_degree(rng);
                (0..out).map(|_| rng.below(nodes)).collect()
            })
            .collect(),
        Shape::Forward => keep_reachable(
            (0..nodes)
                .map(|node| {
                    let out = if node + 1 == nodes { 0 } else { out_degree(rng) };
                    let near = |rng: &mut Rng| (node + 1 + rng.below(4)).min(nodes - 1);
                    (0..out).map(|_| if rng.percent(15) { rng.below(nodes) } else { near(rng) }).collect()
                })
                .collect(),
        ),
        Shape::Program => program(rng, nodes),
    }
}

fn out_degree(rng: &mut Rng) -> u32 {
    match rng.below(100) {
        0..6 => 0,
        6..35 => 1,
        35..90 => 2,
        _ => 3 + rng.below(3),
    }
}

/// Drops what the entry does not reach and closes the gaps, keeping the order.
pub fn keep_reachable(succs: Succs) -> Succs {
    let mut seen = vec![false; succs.len()];
    let mut stack = vec![0u32];
    seen[0] = true;
    while let Some(node) = stack.pop() {
        for &to in &succs[node as usize] {
            if !std::mem::replace(&mut seen[to as usize], true) {
                stack.push(to);
            }
        }
    }
    let mut count = 0;
    let number: Vec<u32> = seen
        .iter()
        .map(|&s| {
            count += u32::from(s);
            count.wrapping_sub(1)
        })
        .collect();
    succs
        .into_iter()
        .zip(&seen)
        .filter(|&(_, &s)| s)
        .map(|(out, _)| out.into_iter().map(|to| number[to as usize]).collect())
        .collect()
}

/// Grows a structured program by replacing a random node with a construct until it is large enough, then adds a few jumps.
fn program(rng: &mut Rng, nodes: u32) -> Succs {
    let mut succs: Succs = vec![vec![]];
    let mut loops: Vec<u32> = Vec::new();
    while (succs.len() as u32) + 4 <= nodes {
        let at = rng.below(succs.len() as u32);
        let fresh = succs.len() as u32;
        let after = succs[at as usize].clone();
        match rng.below(5) {
            // if / else
            0 | 1 => {
                succs[at as usize] = vec![fresh, fresh + 1];
                succs.extend([vec![fresh + 2], vec![fresh + 2], after]);
            }
            // switch with a case that falls into the next
            2 => {
                succs[at as usize] = vec![fresh, fresh + 1, fresh + 2];
                succs.extend([vec![fresh + 1], vec![fresh + 2], after]);
            }
            // loop with a test at its head or at its end
            3 => {
                succs[at as usize] = vec![fresh];
                succs.extend([vec![fresh + 1, fresh + 2], vec![fresh], after]);
                loops.push(fresh + 2);
            }
            _ => {
                succs[at as usize] = vec![fresh];
                succs.extend([vec![fresh + 1], vec![fresh, fresh + 2], after]);
                loops.push(fresh + 2);
            }
        }
    }
    // Early exits, continues, and the odd jump to anywhere.
    let count = succs.len() as u32;
    for _ in 0..count / 8 {
        let at = rng.below(count) as usize;
        let to = match rng.pick(&loops) {
            Some(&exit) if rng.percent(80) => exit,
            _ => rng.below(count),
        };
        succs[at].push(to);
    }
    keep_reachable(succs)
}

/// Calls `each` with every graph of exactly `nodes` nodes, all reachable, in which each has at most two successors.
///
/// Graphs that differ only in the names of the nodes come once: nodes are numbered as a breadth-first search from the entry
/// that looks at successors in order meets them. With `ordered`, graphs that differ in the order of a node's successors come
/// apart; without it they come at least once. Returns how many there were.
pub fn all_small(nodes: u32, ordered: bool, mut each: impl FnMut(&Succs)) -> u64 {
    let mut count = 0;
    // Choice per node so far, and how many nodes were met before it chose.
    let mut succs: Succs = vec![];
    let mut met = vec![1u32];
    let mut choice = vec![0u32];
    while let Some(next) = choice.last_mut() {
        let known = met[met.len() - 1];
        let picked = pick_successors(*next, known, nodes, ordered);
        *next += 1;
        let Some(Some(out)) = picked else {
            if picked.is_none() {
                choice.pop();
                met.pop();
                succs.pop();
            }
            continue;
        };
        let at = succs.len() as u32;
        let known = out.iter().map(|&t| t + 1).fold(known, u32::max);
        succs.push(out);
        if at + 1 == nodes {
            if known == nodes {
                count += 1;
                each(&succs);
            }
            succs.pop();
        } else if known > at + 1 {
            choice.push(0);
            met.push(known);
        } else {
            succs.pop();
        }
    }
    count
}

/// The `choice`th list of at most two successors when nodes `0..known` are met; `None` after the last, `Some(None)` for one that
/// is not in order.
fn pick_successors(choice: u32, known: u32, nodes: u32, ordered: bool) -> Option<Option<Vec<u32>>> {
    let one = choice.checked_sub(1);
    let two = one.and_then(|c| c.checked_sub(nodes));
    match (one, two) {
        (None, _) => Some(Some(vec![])),
        (Some(a), None) => Some((a <= known).then(|| vec![a])),
        (_, Some(pair)) => {
            let (a, b) = (pair / nodes, pair % nodes);
            if a >= nodes {
                return None;
            }
            let fresh = known + u32::from(a == known);
            Some((a <= known && b <= fresh && (ordered || a <= b)).then(|| vec![a, b]))
        }
    }
}

/// `0 → 1 → … → n-1`.
pub fn chain(n: u32) -> Succs {
    (0..n).map(|i| if i + 1 < n { vec![i + 1] } else { vec![] }).collect()
}

/// Each node to all others and itself: every node but the entry is an entry of a loop.
pub fn clique(n: u32) -> Succs {
    (0..n).map(|_| (0..n).collect()).collect()
}

/// `n` loops, each inside the one before; each can be left from its header to the latch of the one around it.
pub fn nested_loops(n: u32) -> Succs {
    // Headers 0..n, innermost body n, latches n+1 ..= 2n from the inside out, exit 2n+1.
    let latch = |level: u32| 2 * n - level;
    let mut succs: Succs =
        (0..n).map(|i| vec![i + 1, if i == 0 { 2 * n + 1 } else { latch(i - 1) }]).collect();
    succs.push(vec![latch(n - 1)]);
    succs.extend((0..n).rev().map(|i| vec![i]));
    succs.push(vec![]);
    succs
}

/// `n` loops, each inside the one before, the innermost left by a switch to the exit of every one of them.
pub fn nested_loops_with_long_exits(n: u32) -> Succs {
    // Headers 0..n, switch n, exits n+1 ..= 2n; exit of loop i goes on to the latch of loop i-1.
    let mut succs: Succs = (0..n).map(|i| vec![i + 1]).collect();
    succs.push((0..=n).map(|i| if i == n { n - 1 } else { n + 1 + i }).collect());
    succs.extend((0..n).map(|i| if i == 0 { vec![] } else { vec![i - 1, n + i] }));
    succs
}

/// `rungs` switches in a row, each over `width` cases of which each falls into the next, the last into the next switch.
pub fn switch_ladder(rungs: u32, width: u32) -> Succs {
    let step = width + 1;
    let mut succs = Succs::new();
    for rung in 0..rungs {
        let base = rung * step;
        succs.push((1..=width).map(|c| base + c).collect());
        succs.extend((1..=width).map(|c| vec![base + c + 1]));
    }
    succs.push(vec![]);
    succs
}

/// A chain of `n` tests in which each may leave to a block of its own; the leaving blocks form a chain back.
///
/// No test's leaving block is alone on its way: this is what needs a guard per link.
pub fn guard_chain(n: u32) -> Succs {
    // Entry 0 leads to test 1 and to every leaving block; tests 1..=n, leaving blocks n+1..=2n, end 2n+1.
    let mut succs: Succs = vec![std::iter::once(1).chain(n + 1..=2 * n).collect()];
    succs.extend((1..=n).map(|i| vec![if i == n { 2 * n + 1 } else { i + 1 }, n + i]));
    succs.extend((1..=n).map(|i| if i == 1 { vec![2 * n + 1] } else { vec![n + i - 1, 2 * n + 1] }));
    succs.push(vec![]);
    succs
}

/// `n` conditionals, each inside the one before, each with an else that jumps to the else of the one around it.
pub fn nested_ifs(n: u32) -> Succs {
    // Tests 0..n, innermost n, elses n+1..=2n from the inside out, end 2n+1.
    let other = |level: u32| 2 * n - level;
    let mut succs: Succs = (0..n).map(|i| vec![i + 1, other(i)]).collect();
    succs.push(vec![2 * n + 1]);
    succs.extend((0..n).rev().map(|i| vec![if i == 0 { 2 * n + 1 } else { other(i - 1) }, 2 * n + 1]));
    succs.push(vec![]);
    succs
}

/// `n` conditionals, one after the other, none inside another.
pub fn ifs_in_a_row(n: u32) -> Succs {
    let mut succs = Succs::new();
    for i in 0..n {
        succs.extend([vec![3 * i + 1, 3 * i + 2], vec![3 * i + 3], vec![3 * i + 3]]);
    }
    succs.push(vec![]);
    succs
}

/// `n` two-entry loops, one after the other.
pub fn irreducible_row(n: u32) -> Succs {
    let mut succs = Succs::new();
    for i in 0..n {
        succs.extend([vec![3 * i + 1, 3 * i + 2], vec![3 * i + 2, 3 * i + 3], vec![3 * i + 1]]);
    }
    succs.push(vec![]);
    succs
}

/// Tests in a row, each of which may return or loop forever instead.
pub fn exits_and_endless_loops(n: u32) -> Succs {
    let mut succs = Succs::new();
    for i in 0..n {
        succs.extend([vec![3 * i + 3, 3 * i + 1, 3 * i + 2], vec![], vec![3 * i + 2]]);
    }
    succs.push(vec![3 * n]);
    succs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_exist_and_everything_is_reachable() {
        let mut rng = Rng::new(7);
        let mut graphs: Vec<Succs> = (0..300).map(|_| random_of(&mut rng, Shape::Forward, 30)).collect();
        graphs.extend((0..300).map(|_| random_of(&mut rng, Shape::Program, 30)));
        for n in [1, 2, 5] {
            graphs.extend([chain(n), clique(n), nested_loops(n), nested_loops_with_long_exits(n)]);
            graphs.extend([switch_ladder(n, 4), guard_chain(n), nested_ifs(n), ifs_in_a_row(n)]);
            graphs.extend([irreducible_row(n), exits_and_endless_loops(n)]);
        }
        for g in graphs {
            assert!(g.iter().flatten().all(|&t| (t as usize) < g.len()), "{g:?}");
            assert_eq!(keep_reachable(g.clone()), g);
        }
    }

    /// Against filtering all graphs: those whose nodes breadth-first search meets in order.
    #[test]
    fn the_enumeration_is_complete() {
        let nodes = 3u32;
        let mut outs = vec![vec![]];
        outs.extend((0..nodes).map(|a| vec![a]));
        outs.extend((0..nodes * nodes).map(|p| vec![p / nodes, p % nodes]));
        let mut expected = Vec::new();
        for (a, b, c) in (0..13 * 13 * 13).map(|i| (i / 169, i / 13 % 13, i % 13)) {
            let g = vec![outs[a].clone(), outs[b].clone(), outs[c].clone()];
            let mut met = vec![0];
            let mut at = 0;
            while at < met.len() {
                for &t in &g[met[at] as usize] {
                    if !met.contains(&t) {
                        met.push(t);
                    }
                }
                at += 1;
            }
            if met == [0, 1, 2] {
                expected.push(g);
            }
        }
        let mut got = Vec::new();
        let count = all_small(nodes, true, |g| got.push(g.clone()));
        assert_eq!(count, got.len() as u64);
        expected.sort();
        got.sort();
        assert_eq!(got, expected);
    }
}
