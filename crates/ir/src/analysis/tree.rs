//! Dominator trees of any numbered graph: the part that dominators and post-dominators share.
//!
//! Nodes are numbered in reverse post-order from the root, which is 0. Without its retreating edges a graph has no cycles,
//! and each node's immediate dominator is the nearest common ancestor of its predecessors in the tree so far. In a
//! reducible graph retreating edges change nothing. Otherwise the sweeps of Cooper, Harvey and Kennedy ("A Simple, Fast
//! Dominance Algorithm", 2001) go on from there. Depth-first intervals of the tree then answer `dominates` in constant
//! time.

use super::domtree::DomTree;

/// A dominator tree.
#[derive(Default)]
pub(super) struct Tree {
    /// Immediate dominator by node; the root's is itself.
    idom: Vec<u32>,
    /// Preorder number in the tree.
    pre: Vec<u32>,
    /// Nodes in the subtree.
    size: Vec<u32>,
    /// Nodes by preorder number.
    order: Vec<u32>,
    /// The tree while it is made.
    grown: DomTree,
    /// Edges that do not go forward: target and source.
    back: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

impl Tree {
    /// Computes the tree of `n` nodes. `preds` gives the predecessors of a node; each node but the root needs one with a
    /// lower number.
    pub(super) fn compute<I: Iterator<Item = u32>>(&mut self, n: usize, preds: impl Fn(u32) -> I) {
        self.sweep(n, &preds);
        self.number();
        let retreats = self.back.iter().any(|&(node, p)| !self.dominates(node, p));
        if retreats {
            self.iterate(&preds);
            self.number();
        }
    }

    /// Dominators in the graph of the edges that go forward.
    fn sweep<I: Iterator<Item = u32>>(&mut self, n: usize, preds: &impl Fn(u32) -> I) {
        self.grown.reset(n);
        self.back.clear();
        self.back.extend(preds(0).map(|p| (0, p)));
        for node in 1..n as u32 {
            let mut above = NONE;
            for p in preds(node) {
                if p >= node {
                    self.back.push((node, p));
                } else {
                    above = if above == NONE { p } else { self.grown.common(p, above, &mut 0) };
                }
            }
            self.grown.attach(node, above);
        }
        self.idom.clear();
        self.idom.extend((0..n as u32).map(|node| self.grown.parent(node)));
    }

    /// Sweeps over all edges until nothing changes.
    fn iterate<I: Iterator<Item = u32>>(&mut self, preds: &impl Fn(u32) -> I) {
        let idom = &mut self.idom;
        let mut changed = true;
        while changed {
            changed = false;
            for node in 1..idom.len() as u32 {
                let new = preds(node).reduce(|a, b| intersect(idom, b, a)).unwrap_or(NONE);
                if idom[node as usize] != new {
                    idom[node as usize] = new;
                    changed = true;
                }
            }
        }
    }

    /// Intervals without a walk: a dominator has a lower number than what it dominates.
    fn number(&mut self) {
        let n = self.idom.len();
        self.size.clear();
        self.size.resize(n, 1);
        for node in (1..n).rev() {
            self.size[self.idom[node] as usize] += self.size[node];
        }
        self.pre.clear();
        self.pre.resize(n, 0);
        // `order` first holds the next free preorder number below each node.
        self.order.clear();
        self.order.resize(n, 1);
        for node in 1..n {
            let parent = self.idom[node] as usize;
            self.pre[node] = self.order[parent];
            self.order[parent] += self.size[node];
            self.order[node] = self.pre[node] + 1;
        }
        for node in 0..n {
            self.order[self.pre[node] as usize] = node as u32;
        }
    }

    /// Immediate dominator; `None` for the root.
    pub(super) fn idom(&self, node: u32) -> Option<u32> {
        (node != 0).then(|| self.idom[node as usize])
    }

    /// Whether `a` dominates `b`; every node dominates itself.
    #[inline]
    pub(super) fn dominates(&self, a: u32, b: u32) -> bool {
        self.pre[b as usize].wrapping_sub(self.pre[a as usize]) < self.size[a as usize]
    }

    /// Nodes in preorder of the tree, children in the order of their numbers.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Place of a node in [`Tree::order`].
    pub(super) fn pre(&self, node: u32) -> u32 {
        self.pre[node as usize]
    }

    /// Number of nodes a node dominates, itself too.
    pub(super) fn size(&self, node: u32) -> u32 {
        self.size[node as usize]
    }
}

/// The deepest common dominator of two nodes.
fn intersect(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}
