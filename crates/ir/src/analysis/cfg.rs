//! Predecessors and reverse post-order of the reachable blocks.

use crate::entities::Block;
use crate::func::Function;
use cranelift_entity::SecondaryMap;

/// An edge seen from its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pred {
    /// The source.
    pub block: Block,
    /// Which of the source's edges it is.
    pub edge: u32,
}

/// Number of a block that the entry does not reach.
const UNREACHABLE: u32 = u32::MAX;

/// Predecessors and reverse post-order.
///
/// In the order, a block comes after all its predecessors but those over retreating edges; of the blocks a branch
/// leads to, the first edge's comes first where that is possible.
pub struct Cfg {
    rpo: Vec<Block>,
    number: SecondaryMap<Block, u32>,
    /// Blocks in preorder of the search that made the order.
    preorder: Vec<Block>,
    /// Place in `preorder` and that of the last descendant in the search's tree.
    interval: SecondaryMap<Block, (u32, u32)>,
    /// Predecessors of `rpo[i]` are `preds[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    preds: Vec<Pred>,
    stack: Vec<(Block, usize)>,
}

impl Default for Cfg {
    fn default() -> Cfg {
        Cfg {
            rpo: Vec::new(),
            number: SecondaryMap::with_default(UNREACHABLE),
            preorder: Vec::new(),
            interval: SecondaryMap::new(),
            start: Vec::new(),
            preds: Vec::new(),
            stack: Vec::new(),
        }
    }
}

impl Cfg {
    /// Analyses `f`. O(blocks + edges).
    pub fn compute(&mut self, f: &Function) {
        self.number.clear();
        self.number.resize(f.blocks.len());
        self.order(f);
        self.gather(f);
    }

    fn order(&mut self, f: &Function) {
        self.rpo.clear();
        self.preorder.clear();
        self.interval.resize(f.blocks.len());
        let Some(entry) = f.entry() else { return };
        self.enter(f, entry);
        while let Some((block, left)) = self.stack.last_mut() {
            if *left == 0 {
                self.interval[*block].1 = self.preorder.len() as u32 - 1;
                self.rpo.push(*block);
                self.stack.pop();
                continue;
            }
            *left -= 1;
            // Last edge first: the order is reversed in the end.
            let to = f.edges(*block)[*left].block;
            if self.number[to] == UNREACHABLE {
                self.enter(f, to);
            }
        }
        self.rpo.reverse();
        for (i, &b) in self.rpo.iter().enumerate() {
            self.number[b] = i as u32;
        }
    }

    /// The search comes to `block`. Until it ends, a block that was seen has any number but `UNREACHABLE`.
    fn enter(&mut self, f: &Function, block: Block) {
        self.number[block] = 0;
        self.interval[block].0 = self.preorder.len() as u32;
        self.preorder.push(block);
        self.stack.push((block, f.edges(block).len()));
    }

    /// Sorts edges by target, counting first.
    fn gather(&mut self, f: &Function) {
        let n = self.rpo.len();
        self.start.clear();
        self.start.resize(n + 1, 0);
        for &b in &self.rpo {
            for edge in f.edges(b) {
                self.start[self.number[edge.block] as usize + 1] += 1;
            }
        }
        for i in 0..n {
            self.start[i + 1] += self.start[i];
        }
        let total = self.start[n] as usize;
        self.preds.clear();
        self.preds.resize(total, Pred { block: Block::from_u32(0), edge: 0 });
        // Filling from the last edge backwards leaves `start` where it was and the edges in order.
        for &b in self.rpo.iter().rev() {
            for (i, edge) in f.edges(b).iter().enumerate().rev() {
                let end = &mut self.start[self.number[edge.block] as usize + 1];
                *end -= 1;
                self.preds[*end as usize] = Pred { block: b, edge: i as u32 };
            }
        }
        // Each count was moved to its range's start: shift back by one range.
        self.start.remove(0);
        self.start.push(total as u32);
    }

    /// The reachable blocks in reverse post-order, the entry first.
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// Position of `block` in [`Cfg::rpo`]; `None` if it is unreachable.
    pub fn rpo_number(&self, block: Block) -> Option<u32> {
        Some(self.number[block]).filter(|&n| n != UNREACHABLE)
    }

    /// Whether the entry reaches `block`.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.number[block] != UNREACHABLE
    }

    /// The edges to `block` from reachable blocks, by the source's place in the order, then by edge.
    pub fn preds(&self, block: Block) -> &[Pred] {
        match self.rpo_number(block) {
            Some(n) => self.preds_of_number(n),
            None => &[],
        }
    }

    /// Whether the edge from `from` to `to` goes back to a block the order had to put before it: to an ancestor in
    /// the search, `from` itself too. In a reducible graph these are the edges that close loops.
    pub fn is_retreating(&self, from: Block, to: Block) -> bool {
        let ((first, last), at) = (self.interval[to], self.interval[from].0);
        self.is_reachable(from) && self.is_reachable(to) && (first..=last).contains(&at)
    }

    /// Blocks in preorder of the search, and by block its interval there.
    pub(super) fn search(&self) -> (&[Block], &SecondaryMap<Block, (u32, u32)>) {
        (&self.preorder, &self.interval)
    }

    /// [`Cfg::preds`] of the block at position `n` of the order.
    pub(super) fn preds_of_number(&self, n: u32) -> &[Pred] {
        let n = n as usize;
        &self.preds[self.start[n] as usize..self.start[n + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::random::{Rng, random_cfg};

    #[test]
    fn the_order_follows_the_edges_and_predecessors_are_exact() {
        let mut rng = Rng::new(1);
        let mut cfg = Cfg::default();
        for _ in 0..300 {
            let f = random_cfg(&mut rng);
            cfg.compute(&f);
            // Reachability by closure, without any order.
            let mut seen = vec![false; f.blocks.len()];
            seen[0] = true;
            for _ in 0..f.blocks.len() {
                for &b in &f.layout {
                    if seen[b.as_u32() as usize] {
                        f.edges(b).iter().for_each(|e| seen[e.block.as_u32() as usize] = true);
                    }
                }
            }
            assert_eq!(cfg.rpo().len(), seen.iter().filter(|&&s| s).count());
            for &b in &f.layout {
                assert_eq!(cfg.is_reachable(b), seen[b.as_u32() as usize]);
                let want: Vec<Pred> = cfg
                    .rpo()
                    .iter()
                    .flat_map(|&p| {
                        f.edges(p)
                            .iter()
                            .enumerate()
                            .filter(|(_, e)| e.block == b)
                            .map(move |(i, _)| Pred { block: p, edge: i as u32 })
                    })
                    .collect();
                let want = if cfg.is_reachable(b) { want } else { Vec::new() };
                assert_eq!(cfg.preds(b), want);
            }
            for (i, &b) in cfg.rpo().iter().enumerate() {
                assert_eq!(cfg.rpo_number(b), Some(i as u32));
                let earlier = |p: &Pred| cfg.rpo_number(p.block) < Some(i as u32);
                assert!(i == 0 || cfg.preds(b).iter().any(earlier), "{b} comes before all its predecessors");
            }
        }
    }

    #[test]
    fn first_edges_come_first() {
        let mut f = Function::new("f");
        let [a, b, c, d] = std::array::from_fn(|_| f.add_block());
        let v = f.add_param(a, crate::ty::Type::BOOL);
        let mut build = crate::builder::Builder::new(&mut f, a);
        build.branch(v, (c, &[]), (b, &[]));
        for x in [b, c] {
            build.switch_to(x);
            build.jump(d, &[]);
        }
        let mut cfg = Cfg::default();
        cfg.compute(&f);
        assert_eq!(cfg.rpo(), [a, c, b, d]);
    }
}
