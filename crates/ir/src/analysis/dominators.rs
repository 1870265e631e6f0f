//! Which blocks, instructions and values every path from the entry goes through.

use super::cfg::Cfg;
use super::positions::Positions;
use super::tree::Tree;
use crate::entities::{Block, Inst, Value};
use crate::func::{Function, ValueDef};
use cranelift_entity::SecondaryMap;

/// The dominator tree of the reachable blocks.
#[derive(Default)]
pub struct Dominators {
    tree: Tree,
    /// Blocks by reverse post-order number.
    blocks: Vec<Block>,
    /// Reverse post-order number plus one; 0 for unreachable blocks.
    number: SecondaryMap<Block, u32>,
    /// Blocks in preorder of the tree.
    preorder: Vec<Block>,
}

impl Dominators {
    /// Analyses the function `cfg` is of.
    pub fn compute(&mut self, cfg: &Cfg) {
        self.blocks.clear();
        self.blocks.extend_from_slice(cfg.rpo());
        self.number.clear();
        self.number.resize(cfg.block_count());
        for (i, &b) in self.blocks.iter().enumerate() {
            self.number[b] = i as u32 + 1;
        }
        let number = &self.number;
        let preds = |node| cfg.preds_of_number(node).iter().map(|p| number[p.block] - 1);
        self.tree.compute(self.blocks.len(), preds);
        self.preorder.clear();
        self.preorder.extend(self.tree.order().iter().map(|&n| self.blocks[n as usize]));
    }

    fn number(&self, block: Block) -> Option<u32> {
        self.number[block].checked_sub(1)
    }

    /// The immediate dominator; `None` for the entry and for unreachable blocks.
    pub fn idom(&self, block: Block) -> Option<Block> {
        Some(self.blocks[self.tree.idom(self.number(block)?)? as usize])
    }

    /// Whether every path from the entry to `b` goes through `a`; every reachable block dominates itself. False if
    /// either is unreachable. O(1).
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        match (self.number(a), self.number(b)) {
            (Some(a), Some(b)) => self.tree.dominates(a, b),
            _ => false,
        }
    }

    /// [`Dominators::dominates`] of blocks by their numbers in reverse post-order.
    #[inline]
    pub(crate) fn dominates_by_number(&self, a: u32, b: u32) -> bool {
        self.tree.dominates(a, b)
    }

    /// The reachable blocks in preorder of the dominator tree: a block, then all it dominates.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// Position of `block` in [`Dominators::preorder`]; `None` if it is unreachable.
    pub fn preorder_number(&self, block: Block) -> Option<u32> {
        Some(self.tree.pre(self.number(block)?))
    }

    /// How many blocks `block` dominates, itself too; 0 if it is unreachable. In [`Dominators::preorder`] they stand
    /// from `block` on.
    pub fn subtree_size(&self, block: Block) -> u32 {
        self.number(block).map_or(0, |n| self.tree.size(n))
    }

    /// Whether `v` is defined on every path to instruction `at`, which may not use its own result.
    pub fn value_reaches_inst(&self, f: &Function, positions: &Positions, v: Value, at: Inst) -> bool {
        let Some(block) = positions.block(at) else { return false };
        match f.values[v].def {
            ValueDef::Inst(def, _) if positions.block(def) == Some(block) => {
                self.number(block).is_some() && positions.index(def) < positions.index(at)
            }
            _ => self.value_reaches_end(f, positions, v, block),
        }
    }

    /// Whether `v` is defined on every path to the terminator of `block`.
    pub fn value_reaches_end(&self, f: &Function, positions: &Positions, v: Value, block: Block) -> bool {
        positions.def_block(f, v).is_some_and(|def| self.dominates(def, block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyses;
    use crate::analysis::random::{Rng, random_cfg, random_function};

    /// Whether the entry reaches `to` without entering `without`.
    fn reaches(f: &Function, to: Block, without: Option<Block>) -> bool {
        let mut seen = vec![false; f.blocks.len()];
        let mut stack: Vec<Block> = f.entry().into_iter().filter(|&b| Some(b) != without).collect();
        while let Some(b) = stack.pop() {
            if !std::mem::replace(&mut seen[b.as_u32() as usize], true) {
                stack.extend(f.edges(b).iter().map(|e| e.block).filter(|&b| Some(b) != without));
            }
        }
        seen[to.as_u32() as usize]
    }

    #[test]
    fn dominance_is_what_removing_a_block_cuts_off() {
        let mut rng = Rng::new(2);
        let mut an = Analyses::new();
        for _ in 0..300 {
            let f = random_cfg(&mut rng);
            an.clear();
            an.ensure_dominators(&f);
            let dom = an.dominators();
            for &b in &f.layout {
                let reachable = reaches(&f, b, None);
                let strict: Vec<Block> =
                    f.layout.iter().copied().filter(|&a| a != b && dom.dominates(a, b)).collect();
                for &a in &f.layout {
                    let want = reachable && reaches(&f, a, None) && (a == b || !reaches(&f, b, Some(a)));
                    assert_eq!(dom.dominates(a, b), want, "{a} {b}");
                }
                // The immediate dominator is the strict one that all others dominate.
                let idom = strict.iter().copied().find(|&a| strict.iter().all(|&c| dom.dominates(c, a)));
                assert_eq!(dom.idom(b), idom);
                let below = f.layout.iter().filter(|&&c| dom.dominates(b, c)).count();
                assert_eq!(dom.subtree_size(b) as usize, below);
            }
            for (i, &b) in dom.preorder().iter().enumerate() {
                let below = &dom.preorder()[i..][..dom.subtree_size(b) as usize];
                assert!(below.iter().all(|&c| dom.dominates(b, c)));
                assert_eq!(dom.preorder_number(b), Some(i as u32));
            }
        }
    }

    #[test]
    fn values_reach_what_their_definitions_dominate() {
        let mut rng = Rng::new(3);
        let mut an = Analyses::new();
        for _ in 0..200 {
            let f = random_function(&mut rng);
            an.clear();
            an.ensure_dominators(&f);
            an.ensure_positions(&f);
            let (dom, pos) = (an.dominators(), an.positions());
            for &b in &f.layout {
                let insts = &f.blocks[b].insts;
                for (i, &at) in insts.iter().enumerate() {
                    for v in f.values.keys() {
                        let want = dom.dominates(b, b)
                            && match f.values[v].def {
                                ValueDef::Param(p, _) => dom.dominates(p, b),
                                ValueDef::Inst(d, _) => match insts.iter().position(|&x| x == d) {
                                    Some(k) => k < i,
                                    None => {
                                        let home = f.layout.iter().find(|&&h| f.blocks[h].insts.contains(&d));
                                        home.is_some_and(|&h| dom.dominates(h, b))
                                    }
                                },
                            };
                        assert_eq!(dom.value_reaches_inst(&f, pos, v, at), want);
                    }
                }
            }
        }
    }
}
