//! Which values each block needs from before it.
//!
//! An argument of an edge is used at the end of the edge's source; a parameter is defined at the start of its
//! block. So neither is live over the edge that connects them unless something else needs the argument.

use super::cfg::Cfg;
use super::positions::Positions;
use crate::entities::{Block, Value};
use crate::func::Function;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Values live into and out of each reachable block, as sorted lists.
///
/// The lists are as long as the answer: a value local to a block costs nothing. In loops inside each other, whose blocks
/// need what all loops around have, the answer is the square of the function: [`Liveness::compute_within`] gives up then.
#[derive(Default)]
pub struct Liveness {
    live_in: Lists,
    live_out: Lists,
    /// Uses outside the defining block, by value: block, next.
    uses: Vec<(Block, u32)>,
    first: SecondaryMap<Value, u32>,
    /// The last value found live into, out of a block.
    seen_in: SecondaryMap<Block, PackedOption<Value>>,
    seen_out: SecondaryMap<Block, PackedOption<Value>>,
    stack: Vec<Block>,
}

/// Lists of values by block.
#[derive(Default)]
struct Lists {
    /// In the order of values; sorted by block in the end.
    found: Vec<(Block, Value)>,
    start: Vec<u32>,
    values: Vec<Value>,
}

impl Lists {
    /// Counts, then places: stable, so that each list stays in the order of values.
    fn sort(&mut self, blocks: usize) {
        self.start.clear();
        self.start.resize(blocks + 1, 0);
        for &(b, _) in &self.found {
            self.start[b.as_u32() as usize + 1] += 1;
        }
        for i in 0..blocks {
            self.start[i + 1] += self.start[i];
        }
        self.values.clear();
        self.values.extend(self.found.iter().map(|f| f.1));
        for &(b, v) in self.found.iter().rev() {
            let end = &mut self.start[b.as_u32() as usize + 1];
            *end -= 1;
            self.values[*end as usize] = v;
        }
        let total = self.found.len() as u32;
        self.start.remove(0);
        self.start.push(total);
    }

    fn get(&self, block: Block) -> &[Value] {
        let i = block.as_u32() as usize;
        match self.start.get(i..i + 2) {
            Some(&[from, to]) => &self.values[from as usize..to as usize],
            _ => &[],
        }
    }
}

impl Liveness {
    /// Analyses `f`. A value is live from its definition to its uses, whether or not the definition dominates them.
    pub fn compute(&mut self, f: &Function, cfg: &Cfg, positions: &Positions) {
        self.compute_within(usize::MAX, f, cfg, positions, |block, found| f.for_each_use(block, found));
    }

    /// [`Liveness::compute`] with another idea of what a block uses, `uses` calls back with each value, and a limit of the
    /// lists' lengths together. Whether they are within it; if not, they are not of use.
    pub fn compute_within(
        &mut self,
        limit: usize,
        f: &Function,
        cfg: &Cfg,
        positions: &Positions,
        uses: impl FnMut(Block, &mut dyn FnMut(Value)),
    ) -> bool {
        self.live_in.found.clear();
        self.live_out.found.clear();
        self.gather(f, cfg, positions, uses);
        self.seen_in.clear();
        self.seen_out.clear();
        for v in f.values.keys() {
            self.walk(f, cfg, positions, v);
            if self.live_in.found.len() + self.live_out.found.len() > limit {
                return false;
            }
        }
        self.live_in.sort(f.blocks.len());
        self.live_out.sort(f.blocks.len());
        true
    }

    /// Chains the blocks that use a value they do not define.
    fn gather(
        &mut self,
        f: &Function,
        cfg: &Cfg,
        positions: &Positions,
        mut uses_of: impl FnMut(Block, &mut dyn FnMut(Value)),
    ) {
        self.uses.clear();
        self.uses.push((Block::from_u32(0), 0)); // 0 ends a chain
        self.first.clear();
        self.first.resize(f.values.len());
        let Liveness { uses, first, .. } = self;
        for &b in cfg.rpo() {
            uses_of(b, &mut |v| {
                let head = first[v];
                let again = head != 0 && uses[head as usize].0 == b;
                if !again && positions.def_block(f, v) != Some(b) {
                    first[v] = uses.len() as u32;
                    uses.push((b, head));
                }
            });
        }
    }

    /// Goes back from each use of `v` to its definition.
    fn walk(&mut self, f: &Function, cfg: &Cfg, positions: &Positions, v: Value) {
        let mut at = self.first[v];
        if at == 0 {
            return;
        }
        let def = positions.def_block(f, v);
        while at != 0 {
            let (block, next) = self.uses[at as usize];
            at = next;
            self.enter(block, v);
            while let Some(b) = self.stack.pop() {
                for p in cfg.preds(b) {
                    if self.seen_out[p.block] != v.into() {
                        self.seen_out[p.block] = v.into();
                        self.live_out.found.push((p.block, v));
                    }
                    if def != Some(p.block) {
                        self.enter(p.block, v);
                    }
                }
            }
        }
    }

    fn enter(&mut self, block: Block, v: Value) {
        if self.seen_in[block] != v.into() {
            self.seen_in[block] = v.into();
            self.live_in.found.push((block, v));
            self.stack.push(block);
        }
    }

    /// The values `block` or what follows it needs from before it, sorted; its own parameters are not among them.
    pub fn live_in(&self, block: Block) -> &[Value] {
        self.live_in.get(block)
    }

    /// The values some successor of `block` has in [`Liveness::live_in`], sorted.
    pub fn live_out(&self, block: Block) -> &[Value] {
        self.live_out.get(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyses;
    use crate::analysis::random::{Rng, random_function};
    use std::collections::BTreeSet;

    #[test]
    fn lists_are_the_fixed_point_of_the_flow_equations() {
        let mut rng = Rng::new(6);
        let mut an = Analyses::new();
        let mut live = 0;
        for _ in 0..300 {
            let f = random_function(&mut rng);
            an.clear();
            an.ensure_liveness(&f);
            let (cfg, pos, lists) = (an.cfg(), an.positions(), an.liveness());
            let mut sets: SecondaryMap<Block, BTreeSet<Value>> = SecondaryMap::new();
            for _ in 0..=f.blocks.len() {
                for &b in cfg.rpo() {
                    let mut set: BTreeSet<Value> =
                        f.edges(b).iter().flat_map(|e| sets[e.block].iter().copied()).collect();
                    f.for_each_use(b, |v| {
                        set.insert(v);
                    });
                    set.retain(|&v| pos.def_block(&f, v) != Some(b));
                    sets[b] = set;
                }
            }
            for &b in &f.layout {
                let want: Vec<Value> = sets[b].iter().copied().collect();
                assert_eq!(lists.live_in(b), want, "{b}");
                live += want.len();
                let out: BTreeSet<Value> = if cfg.is_reachable(b) {
                    f.edges(b).iter().flat_map(|e| sets[e.block].iter().copied()).collect()
                } else {
                    BTreeSet::new()
                };
                assert_eq!(lists.live_out(b), out.into_iter().collect::<Vec<_>>(), "{b}");
            }
        }
        assert!(live > 1000);
    }
}
