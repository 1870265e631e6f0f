//! Proves that a tree does what its graph does.
//!
//! From each block, control in the tree must meet the block's own terminator next; from each arm of it, the arm's edge; from
//! each edge, with selectors unknown, the edge's target. Since these are all the ways there are, the tree then visits the same
//! blocks over the same edges as the graph, whatever the branches choose. The checker shares no code with structuring.

use crate::graph::{Edge, Graph};
use crate::layout::{Event, Fault, Layout};
use crate::tree::{Stmt, Tree};
use thiserror::Error;
use xenoglot_ir::Block;

/// What is wrong with a tree.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Violation {
    /// A reachable block or edge does not occur exactly once, or an unreachable one occurs.
    #[error("{what} occurs {count} times instead of {expected}")]
    Count {
        /// The block or edge.
        what: String,
        /// How often it occurs.
        count: u32,
        /// 1 if reachable, 0 if not.
        expected: u32,
    },
    /// A statement stands in more constructs than allowed.
    #[error("statement {at} stands {depth} deep")]
    TooDeep {
        /// Index of the statement.
        at: u32,
        /// Constructs around it.
        depth: u32,
    },
    /// A statement that ends a list is not its last.
    #[error("statement {at} ends its list too early")]
    NotLast {
        /// Index of the statement.
        at: u32,
    },
    /// Two arms of a switch have one label, or a branch has not one arm per edge, in order.
    #[error("the arms of statement {at} have wrong labels")]
    Labels {
        /// Index of the statement.
        at: u32,
    },
    /// Control does not go where the graph says.
    #[error("after {from} comes {found} instead of {expected}")]
    Wrong {
        /// What was executed.
        from: String,
        /// What the graph says comes next.
        expected: String,
        /// What comes next in the tree.
        found: String,
    },
    /// The tree cannot be executed.
    #[error("after {from}: {fault}")]
    Fault {
        /// What was executed.
        from: String,
        /// Why not.
        fault: Fault,
    },
}

/// Checks `tree` against the graph it was made from; returns everything that is wrong, in the tree's order.
/// O(statements + sum over edges of statements passed on the way to the target).
///
/// # Errors
/// At least one violation.
pub fn check(graph: &Graph, tree: &Tree, depth_limit: u32) -> Result<(), Vec<Violation>> {
    let layout = Layout::new(tree);
    let mut checker = Checker { graph, layout: &layout, found: Vec::new() };
    checker.counts();
    checker.shape(tree, depth_limit);
    checker.moves(tree);
    if checker.found.is_empty() { Ok(()) } else { Err(checker.found) }
}

struct Checker<'a> {
    graph: &'a Graph,
    layout: &'a Layout<'a>,
    found: Vec<Violation>,
}

impl Checker<'_> {
    fn counts(&mut self) {
        let reachable = self.graph.reachable();
        let mut blocks = vec![0; self.graph.block_count()];
        let mut edges = vec![0; self.graph.edge_count()];
        for (_, stmt, ..) in self.layout.statements() {
            match stmt {
                Stmt::Block(block) if self.has(block) => blocks[block.as_u32() as usize] += 1,
                Stmt::Edge(edge) if self.target(edge).is_some() => {
                    edges[(self.graph.first_edge(edge.from) + edge.index) as usize] += 1;
                }
                Stmt::Block(block) => self.count(block, 1, 0),
                Stmt::Edge(edge) => self.count(edge, 1, 0),
                _ => {}
            }
        }
        let mut edges = edges.into_iter();
        for from in self.graph.blocks() {
            let expected = u32::from(reachable[from.as_u32() as usize]);
            self.count(from, blocks[from.as_u32() as usize], expected);
            for (index, count) in (0..).zip(edges.by_ref().take(self.graph.successors(from).len())) {
                self.count(Edge { from, index }, count, expected);
            }
        }
    }

    fn count(&mut self, what: impl ToString, count: u32, expected: u32) {
        if count != expected {
            self.found.push(Violation::Count { what: what.to_string(), count, expected });
        }
    }

    fn shape(&mut self, tree: &Tree, depth_limit: u32) {
        for (at, stmt, last, depth) in self.layout.statements() {
            if depth > depth_limit {
                self.found.push(Violation::TooDeep { at, depth });
            }
            if stmt.ends_list() && at != last {
                self.found.push(Violation::NotLast { at });
            }
            let good = match stmt {
                Stmt::Branch { block, arms } if self.has(block) => {
                    let edges = self.graph.successors(block).len() as u32;
                    arms.len >= 2 && tree.arms(arms).iter().map(|a| a.label).eq(0..edges)
                }
                Stmt::Switch { arms, .. } => {
                    let mut labels: Vec<u32> = tree.arms(arms).iter().map(|a| a.label).collect();
                    labels.sort_unstable();
                    labels.dedup();
                    labels.len() >= 2 && labels.len() == arms.len as usize
                }
                Stmt::Branch { .. } => false,
                _ => true,
            };
            if !good {
                self.found.push(Violation::Labels { at });
            }
        }
    }

    fn moves(&mut self, tree: &Tree) {
        self.expect("the start", self.layout.start().next(self.layout), Event::Block(self.graph.entry()));
        for (at, stmt, ..) in self.layout.statements() {
            match stmt {
                Stmt::Block(block) if self.has(block) => {
                    let found = self.layout.behind(at).next(self.layout);
                    match self.graph.successors(block).len() {
                        0 => self.expect(block, found, Event::Terminate(block)),
                        1 => self.expect(block, found, Event::Edge(Edge { from: block, index: 0 })),
                        // The order of the arms is the shape's part.
                        _ if matches!(found, Ok(Event::Branch(b, _)) if b == block) => {}
                        _ => self.wrong(block, format!("the branch of {block}"), found),
                    }
                }
                Stmt::Branch { block, arms } => {
                    for arm in tree.arms(arms) {
                        let mut cursor = self.layout.behind(at);
                        cursor.enter(self.layout, arm.body);
                        let edge = Edge { from: block, index: arm.label };
                        self.expect(edge, cursor.next(self.layout), Event::Edge(edge));
                    }
                }
                Stmt::Edge(edge) => {
                    if let Some(target) = self.target(edge) {
                        self.expect(edge, self.layout.behind(at).next(self.layout), Event::Block(target));
                    }
                }
                _ => {}
            }
        }
    }

    fn has(&self, block: Block) -> bool {
        (block.as_u32() as usize) < self.graph.block_count()
    }

    fn target(&self, edge: Edge) -> Option<Block> {
        self.has(edge.from).then(|| self.graph.successors(edge.from).get(edge.index as usize).copied())?
    }

    fn expect(&mut self, from: impl ToString, found: Result<Event, Fault>, expected: Event) {
        if found != Ok(expected) {
            self.wrong(from, format!("{expected:?}"), found);
        }
    }

    fn wrong(&mut self, from: impl ToString, expected: String, found: Result<Event, Fault>) {
        let from = from.to_string();
        self.found.push(match found {
            Ok(event) => Violation::Wrong { from, expected, found: format!("{event:?}") },
            Err(fault) => Violation::Fault { from, fault },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{run_graph, run_tree};
    use crate::tree::{List, Selector};
    use crate::{Options, structure_graph};
    use xenoglot_testgen::cfg::random;
    use xenoglot_testgen::rng::Rng;

    fn bodies(tree: &mut Tree) -> Vec<&mut List> {
        let nested = tree.stmts.iter_mut().filter_map(|s| match s {
            Stmt::Guard { body, .. } | Stmt::Loop { body, .. } => Some(body),
            _ => None,
        });
        nested.chain(tree.arms.iter_mut().map(|a| &mut a.body)).chain([&mut tree.root]).collect()
    }

    /// Damages `tree` in one place of the given kind; false if it has no such place.
    fn damage(tree: &mut Tree, kind: usize, rng: &mut Rng) -> bool {
        let value = rng.below(tree.blocks + 2);
        match kind {
            // A statement is lost.
            0 => match rng.pick_mut(&mut bodies(tree)) {
                Some(list) if list.len > 0 => list.len -= 1,
                _ => return false,
            },
            // Two statements change places.
            1 => {
                let Some(list) = rng.pick_mut(&mut bodies(tree)).map(|l| **l) else { return false };
                if list.len < 2 {
                    return false;
                }
                let at = list.start + rng.below(list.len - 1);
                tree.stmts.swap(at as usize, at as usize + 1);
            }
            // Two arms change places.
            2 => {
                let Some(Stmt::Branch { arms, .. }) = rng.pick(&tree.stmts) else { return false };
                let (a, b) = (arms.start as usize, (arms.start + 1 + rng.below(arms.len - 1)) as usize);
                (tree.arms[a].body, tree.arms[b].body) = (tree.arms[b].body, tree.arms[a].body);
            }
            // A selector takes or is compared with another value.
            3 => match rng.pick_mut(&mut tree.stmts) {
                Some(Stmt::Set { value: v, .. } | Stmt::Guard { value: v, .. }) if *v != value => *v = value,
                _ => return false,
            },
            // A switch has another label.
            4 => {
                let Some(Stmt::Switch { arms, .. }) = rng.pick(&tree.stmts) else { return false };
                tree.arms[(arms.start + rng.below(arms.len)) as usize].label = value;
            }
            // The wrong jump, selector or edge.
            _ => {
                let Some(stmt) = rng.pick_mut(&mut tree.stmts) else { return false };
                *stmt = match *stmt {
                    Stmt::Break => Stmt::Continue,
                    Stmt::Continue => Stmt::Break,
                    Stmt::Set { value, var: Selector::Exit } => Stmt::Set { value, var: Selector::Route },
                    Stmt::Edge(Edge { from, index }) => Stmt::Edge(Edge { from, index: index + 1 }),
                    Stmt::Block(_) => Stmt::Block(Block::from_u32(value)),
                    _ => return false,
                };
            }
        }
        true
    }

    /// What passes the checker in spite of the damage behaves as before, and each kind of damage is noticed.
    #[test]
    fn damage_is_noticed_or_harmless() {
        let mut rng = Rng::new(3);
        let mut noticed = [0; 6];
        let mut harmless = [0; 6];
        for round in 0..6000 {
            let kind = round % 6;
            let successors = random(&mut rng, 24);
            let blocks = successors.iter().map(|out| out.iter().map(|&t| Block::from_u32(t)));
            let graph = Graph::new(Block::from_u32(0), blocks).expect("in range");
            let mut tree = structure_graph(&graph, &Options::default());
            let before = tree.clone();
            if !(0..50).any(|_| damage(&mut tree, kind, &mut rng)) || tree == before {
                continue;
            }
            if check(&graph, &tree, Options::DEPTH_LIMIT).is_err() {
                noticed[kind] += 1;
                continue;
            }
            harmless[kind] += 1;
            for _ in 0..20 {
                let (mut a, mut b) = (rng.clone(), rng.clone());
                let want = run_graph(&graph, 200, |_| a.next_u32() as usize);
                assert_eq!(run_tree(&tree, 200, |_| b.next_u32() as usize), Ok(want), "{before}\n{tree}");
                rng.next_u64();
            }
        }
        println!("noticed {noticed:?}, harmless {harmless:?}");
        assert!(noticed.iter().all(|&n| n > 20), "{noticed:?}");
    }
}
