//! Which blocks every path to the end goes through.

use super::cfg::Cfg;
use super::tree::Tree;
use crate::entities::Block;
use crate::func::Function;

/// The post-dominator tree of the reachable blocks.
///
/// Its root is a virtual exit behind every block without edges. A block that cannot reach one (an endless loop) is
/// given an edge to the virtual exit: in each such region the block that is last in reverse post-order.
#[derive(Default)]
pub struct PostDominators {
    tree: Tree,
    /// Block by node; node 0 is the virtual exit.
    blocks: Vec<Block>,
    /// Node by reverse post-order number.
    node: Vec<u32>,
    /// Blocks with an edge to the virtual exit, by reverse post-order number.
    ends: Vec<bool>,
    /// Reverse post-order number by block, for queries.
    number: cranelift_entity::SecondaryMap<Block, u32>,
    stack: Vec<(u32, u32)>,
    finished: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

impl PostDominators {
    /// Analyses `f`, whose graph is `cfg`.
    pub fn compute(&mut self, f: &Function, cfg: &Cfg) {
        let n = cfg.rpo().len();
        self.number.clear();
        for (i, &b) in cfg.rpo().iter().enumerate() {
            self.number[b] = i as u32 + 1;
        }
        self.node.clear();
        self.node.resize(n, UNSEEN);
        self.ends.clear();
        self.ends.resize(n, false);
        self.finished.clear();
        for i in (0..n).rev() {
            if f.edges(cfg.rpo()[i]).is_empty() {
                self.search(cfg, i as u32);
            }
        }
        for i in (0..n).rev() {
            if self.node[i] == UNSEEN {
                self.search(cfg, i as u32);
            }
        }
        // Reverse post-order of the reversed graph from the virtual exit.
        self.blocks.clear();
        // Node 0 is the virtual exit: it needs an entry, but has no block.
        self.blocks.extend(cfg.rpo().first());
        for (i, &number) in self.finished.iter().rev().enumerate() {
            self.node[number as usize] = i as u32 + 1;
            self.blocks.push(cfg.rpo()[number as usize]);
        }
        let PostDominators { tree, blocks, node, ends, number, .. } = self;
        tree.compute(blocks.len(), |at| {
            let block = blocks[at as usize];
            let exit = ends[number[block] as usize - 1].then_some(0);
            let next = f.edges(block).iter().map(|edge| node[number[edge.block] as usize - 1]);
            exit.into_iter().chain(next)
        });
    }

    /// Depth-first search against the edges from block number `root`, which gets an edge to the virtual exit.
    fn search(&mut self, cfg: &Cfg, root: u32) {
        self.ends[root as usize] = true;
        self.node[root as usize] = 0;
        self.stack.push((root, 0));
        while let Some((at, next)) = self.stack.last_mut() {
            match cfg.preds_of_number(*at).get(*next as usize) {
                Some(p) => {
                    *next += 1;
                    let p = self.number[p.block] - 1;
                    if self.node[p as usize] == UNSEEN {
                        self.node[p as usize] = 0;
                        self.stack.push((p, 0));
                    }
                }
                None => {
                    self.finished.push(*at);
                    self.stack.pop();
                }
            }
        }
    }

    fn node(&self, block: Block) -> Option<u32> {
        Some(self.node[self.number[block].checked_sub(1)? as usize])
    }

    /// The immediate post-dominator; `None` if only the virtual exit is, and for unreachable blocks.
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        let parent = self.tree.idom(self.node(block)?)?;
        (parent != 0).then(|| self.blocks[parent as usize])
    }

    /// Whether every path from `b` to the end goes through `a`; every reachable block post-dominates itself. False
    /// if either is unreachable. O(1).
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        match (self.node(a), self.node(b)) {
            (Some(a), Some(b)) => self.tree.dominates(a, b),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyses;
    use crate::analysis::random::{Rng, random_cfg};

    #[test]
    fn post_dominance_is_what_removing_a_block_cuts_off_from_the_end() {
        let mut rng = Rng::new(4);
        let mut an = Analyses::new();
        let mut compared = 0;
        for _ in 0..400 {
            let f = random_cfg(&mut rng);
            an.clear();
            an.ensure_post_dominators(&f);
            let (cfg, post) = (an.cfg(), an.post_dominators());
            let ends = |from: Block, without: Option<Block>| {
                let mut seen = vec![false; f.blocks.len()];
                let mut stack = vec![from];
                let mut end = false;
                while let Some(b) = stack.pop() {
                    if Some(b) != without && !std::mem::replace(&mut seen[b.as_u32() as usize], true) {
                        end |= f.edges(b).is_empty();
                        stack.extend(f.edges(b).iter().map(|e| e.block));
                    }
                }
                end
            };
            for &b in cfg.rpo() {
                assert!(post.post_dominates(b, b));
                if post.ipdom(b).is_some_and(|p| p == b || !post.post_dominates(p, b)) {
                    panic!("{b} has a wrong immediate post-dominator");
                }
            }
            if !cfg.rpo().iter().all(|&b| ends(b, None)) {
                continue; // where the artificial ends are is our choice
            }
            compared += 1;
            for &a in cfg.rpo() {
                for &b in cfg.rpo() {
                    assert_eq!(post.post_dominates(a, b), a == b || !ends(b, Some(a)), "{a} {b}");
                }
            }
        }
        assert!(compared > 100, "only {compared} graphs without endless loops");
    }
}
