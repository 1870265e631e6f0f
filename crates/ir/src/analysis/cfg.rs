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

/// A block's facts.
#[derive(Clone, Copy)]
struct Node {
    /// Place in the order. Until the search ends, a block that was seen has any number but [`UNREACHABLE`].
    number: u32,
    /// Edges to the block.
    edges: u32,
    /// Place in preorder of the search and that of the last descendant in the search's tree.
    interval: (u32, u32),
}

/// Predecessors and reverse post-order.
///
/// In the order, a block comes after all its predecessors but those over retreating edges; of the blocks a branch
/// leads to, the first edge's comes first where that is possible.
pub struct Cfg {
    rpo: Vec<Block>,
    nodes: SecondaryMap<Block, Node>,
    /// Blocks in preorder of the search that made the order.
    preorder: Vec<Block>,
    /// Predecessors of `rpo[i]` are `preds[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    preds: Vec<Pred>,
    stack: Vec<(Block, usize)>,
}

impl Default for Cfg {
    fn default() -> Cfg {
        Cfg {
            rpo: Vec::new(),
            nodes: SecondaryMap::with_default(Node { number: UNREACHABLE, edges: 0, interval: (0, 0) }),
            preorder: Vec::new(),
            start: Vec::new(),
            preds: Vec::new(),
            stack: Vec::new(),
        }
    }
}

impl Cfg {
    /// Analyses `f`. O(blocks + edges).
    pub fn compute(&mut self, f: &Function) {
        self.nodes.clear();
        self.nodes.resize(f.blocks.len());
        self.order(f);
        self.gather(f);
    }

    /// Orders the blocks and counts the edges to each.
    fn order(&mut self, f: &Function) {
        self.rpo.clear();
        self.rpo.reserve(f.layout.len());
        self.preorder.clear();
        self.preorder.reserve(f.layout.len());
        let Some(entry) = f.entry() else { return };
        self.enter(f, entry);
        while let Some((block, left)) = self.stack.last_mut() {
            if *left == 0 {
                self.nodes[*block].interval.1 = self.preorder.len() as u32 - 1;
                self.rpo.push(*block);
                self.stack.pop();
                continue;
            }
            *left -= 1;
            // Last edge first: the order is reversed in the end.
            let to = f.edges(*block)[*left].block;
            let node = &mut self.nodes[to];
            node.edges += 1;
            if node.number == UNREACHABLE {
                self.enter(f, to);
            }
        }
        self.rpo.reverse();
    }

    /// The search comes to `block`.
    #[inline]
    fn enter(&mut self, f: &Function, block: Block) {
        let node = &mut self.nodes[block];
        node.number = 0;
        node.interval.0 = self.preorder.len() as u32;
        self.preorder.push(block);
        self.stack.push((block, f.edges(block).len()));
    }

    /// Numbers the blocks and sorts edges by target, counted before.
    fn gather(&mut self, f: &Function) {
        self.start.clear();
        self.start.reserve(self.rpo.len() + 1);
        self.start.push(0);
        let mut total = 0;
        for (i, &b) in self.rpo.iter().enumerate() {
            let node = &mut self.nodes[b];
            node.number = i as u32;
            self.start.push(total);
            total += node.edges;
        }
        self.preds.clear();
        self.preds.resize(total as usize, Pred { block: Block::from_u32(0), edge: 0 });
        // Until the end, each range's end is where the next one of its edges goes.
        for &b in &self.rpo {
            for (i, edge) in f.edges(b).iter().enumerate() {
                let end = &mut self.start[self.nodes[edge.block].number as usize + 1];
                self.preds[*end as usize] = Pred { block: b, edge: i as u32 };
                *end += 1;
            }
        }
    }

    /// The reachable blocks in reverse post-order, the entry first.
    #[inline]
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// Position of `block` in [`Cfg::rpo`]; `None` if it is unreachable.
    #[inline]
    pub fn rpo_number(&self, block: Block) -> Option<u32> {
        Some(self.nodes[block].number).filter(|&n| n != UNREACHABLE)
    }

    /// Whether the entry reaches `block`.
    #[inline]
    pub fn is_reachable(&self, block: Block) -> bool {
        self.nodes[block].number != UNREACHABLE
    }

    /// The edges to `block` from reachable blocks, by the source's place in the order, then by edge.
    #[inline]
    pub fn preds(&self, block: Block) -> &[Pred] {
        match self.rpo_number(block) {
            Some(n) => self.preds_of_number(n),
            None => &[],
        }
    }

    /// Whether the edge from `from` to `to` goes back to a block the order had to put before it: to an ancestor in
    /// the search, `from` itself too. In a reducible graph these are the edges that close loops.
    pub fn is_retreating(&self, from: Block, to: Block) -> bool {
        let ((first, last), at) = (self.nodes[to].interval, self.nodes[from].interval.0);
        self.is_reachable(from) && self.is_reachable(to) && (first..=last).contains(&at)
    }

    /// How many blocks the function had, unreachable ones too.
    pub(super) fn block_count(&self) -> usize {
        self.nodes.as_values_slice().len()
    }

    /// Blocks in preorder of the search.
    pub(super) fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// The first and last place in [`Cfg::preorder`] of a block and its descendants in the search.
    #[inline]
    pub(super) fn interval(&self, block: Block) -> (u32, u32) {
        self.nodes[block].interval
    }

    /// [`Cfg::preds`] of the block at position `n` of the order.
    #[inline]
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
