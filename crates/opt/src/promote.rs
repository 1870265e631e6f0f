//! Promotion: guest registers become SSA values.
//!
//! Where several values of a register meet and the register is still wanted, the block gets a parameter; nowhere
//! else (pruned SSA). A register read before it is set is zero. Values take the register they are put into as name
//! hint. Unreachable blocks go. Functions of CPU guests, whose registers have homes, are left as they are.
//!
//! ```text
//! block0(v0 : bool):                        block0(v0 : bool):
//!   v1 : f32 = const 1.0                      v1 : f32 = const 1.0
//!   slot_set r0, v1                           v5 : f32 = const 0.0
//!   branch v0, block1, block2           =>    branch v0, block1, block2(v1)
//! block1:                                   block1:
//!   v2 : f32 = slot_get r1                    v3 : f32 = fadd v1, v5
//!   v3 : f32 = fadd v1, v2                    jump block2(v3)
//!   slot_set r0, v3                         block2(v6 : f32):
//!   jump block2                               output %o, v6
//! block2:                                     return
//!   v4 : f32 = slot_get r0
//!   output %o, v4
//!   return
//! ```
//!
//! Parameters are placed on the iterated dominance frontier of a register's `slot_set`s, found without frontier
//! sets by walking the dominator tree from the deepest definition up (Sreedhar and Gao, "A Linear Time Algorithm
//! for Placing phi-Nodes", 1995), and only where the register is live.

use crate::session::{Done, Keeps, Known, Work};
use crate::{Changed, edit};
use xenoglot_ir::analysis::{Analyses, Cfg, Dominators};
use xenoglot_ir::entity::{EntityRef as _, SecondaryMap, packed_option::PackedOption};
use xenoglot_ir::{Bits, Block, Function, Imm, Inst, NO_GUEST, Op, Slot, Value};

#[derive(Default)]
pub(crate) struct Buffers {
    /// Blocks that set a slot, and blocks that get it before setting it; sorted by slot.
    sets: Vec<(Slot, Block)>,
    gets: Vec<(Slot, Block)>,
    /// For sorting them: where each slot's begin, and the list before.
    starts: Vec<u32>,
    unsorted: Vec<(Slot, Block)>,
    /// The last slot seen set in a block, live into it, given a parameter there, and visited for.
    set_in: SecondaryMap<Block, PackedOption<Slot>>,
    live: SecondaryMap<Block, PackedOption<Slot>>,
    placed: SecondaryMap<Block, PackedOption<Slot>>,
    visited: SecondaryMap<Block, PackedOption<Slot>>,
    /// How deep a block is in the dominator tree, and the least depth that an edge from its subtree leads to.
    depth: SecondaryMap<Block, u32>,
    reach: SecondaryMap<Block, u32>,
    stack: Vec<Block>,
    heap: std::collections::BinaryHeap<(u32, std::cmp::Reverse<Block>)>,
    /// Where which parameters go, sorted by block; the range of each block.
    placements: Vec<(Block, Slot)>,
    range: SecondaryMap<Block, (u32, u32)>,
    /// Renaming: the slots' values here, what they were before, and where to go back to.
    current: SecondaryMap<Slot, PackedOption<Value>>,
    undo: Vec<(Slot, PackedOption<Value>)>,
    open: Vec<(u32, u32)>,
    zero: SecondaryMap<Slot, PackedOption<Value>>,
    zeros: Vec<Inst>,
}

/// Replaces every `slot_get` and `slot_set`.
pub fn run(w: &mut Work<'_>) -> Done {
    let (f, b) = (&mut *w.f, &mut w.buffers.promote);
    let has_slot_op = |f: &Function| {
        f.layout
            .iter()
            .any(|&b| f.blocks[b].insts.iter().any(|&i| matches!(f.insts[i].op, Op::SlotGet | Op::SlotSet)))
    };
    // Those with homes are seen from outside, too.
    let has_homes = f.slots.values().any(|slot| slot.home.is_some());
    if f.slots.is_empty() || has_homes || !has_slot_op(f) {
        return w.finish();
    }
    let Known { analyses, replaced, .. } = &mut *w.known;
    let mut changed = Changed::INSTS;
    analyses.ensure_cfg(f);
    if edit::remove_unreachable(f, analyses.cfg()) {
        changed = Changed::ALL;
    }
    analyses.ensure_dominators(f);
    b.reset(f);
    b.gather(f);
    b.depths(f, analyses.dominators());
    b.place_all(f, analyses);
    b.add_params(f);
    replaced.reset(f);
    b.rename(f, analyses.dominators(), replaced);
    // The graph's analyses are of the reachable blocks only.
    w.done(changed, Keeps { graph: true, ..Keeps::STALE })
}

impl Buffers {
    fn reset(&mut self, f: &Function) {
        for list in [&mut self.sets, &mut self.gets] {
            list.clear();
        }
        for map in [&mut self.set_in, &mut self.live, &mut self.placed, &mut self.visited] {
            map.clear();
            map.resize(f.blocks.len());
        }
        self.range.clear();
        self.depth.resize(f.blocks.len());
        self.reach.resize(f.blocks.len());
        self.placements.clear();
        self.current.clear();
        self.zero.clear();
        self.current.resize(f.slots.len());
        self.zero.resize(f.slots.len());
    }

    /// Who sets and who wants what. A block is noted twice for a slot only if another slot comes between; doubles
    /// go when sorted.
    fn gather(&mut self, f: &Function) {
        // `current` marks the slots set in the block at hand.
        for &block in &f.layout {
            let first_set = self.sets.len();
            for &inst in &f.blocks[block].insts {
                let Imm::Slot(slot) = f.insts[inst].imm else { continue };
                let set = self.current[slot].is_some();
                if f.insts[inst].op == Op::SlotGet {
                    if !set {
                        self.gets.push((slot, block));
                    }
                } else if !set {
                    self.current[slot] = f.args(inst).first().copied().into();
                    self.sets.push((slot, block));
                }
            }
            for i in first_set..self.sets.len() {
                self.current[self.sets[i].0] = None.into();
            }
        }
        for list in [&mut self.sets, &mut self.gets] {
            by_slot(list, f.slots.len(), &mut self.starts, &mut self.unsorted);
        }
        self.gets.dedup();
    }

    fn depths(&mut self, f: &Function, dom: &Dominators) {
        for &b in dom.preorder() {
            self.depth[b] = dom.idom(b).map_or(0, |d| self.depth[d] + 1);
            self.reach[b] = u32::MAX;
        }
        // What a block dominates comes after it.
        for &b in dom.preorder().iter().rev() {
            let to = f.edges(b).iter().map(|edge| self.depth[edge.block]);
            let reach = to.fold(self.reach[b], u32::min);
            self.reach[b] = reach;
            if let Some(above) = dom.idom(b) {
                self.reach[above] = reach.min(self.reach[above]);
            }
        }
    }

    fn place_all(&mut self, f: &Function, analyses: &Analyses) {
        let (mut sets, mut gets) = (0, 0);
        while let Some(&(slot, _)) = self.gets.get(gets) {
            let end = gets + self.gets[gets..].partition_point(|g| g.0 == slot);
            sets += self.sets[sets..].partition_point(|s| s.0 < slot);
            let sets_end = sets + self.sets[sets..].partition_point(|s| s.0 == slot);
            for i in sets..sets_end {
                self.set_in[self.sets[i].1] = slot.into();
            }
            if self.spread(analyses.cfg(), slot, gets..end) {
                self.place(f, analyses, slot, sets..sets_end);
            }
            (sets, gets) = (sets_end, end);
        }
        self.placements.sort_unstable();
    }

    /// Marks where `slot` is live at the start; whether at a block where paths meet.
    fn spread(&mut self, cfg: &Cfg, slot: Slot, gets: std::ops::Range<usize>) -> bool {
        let mut meets = false;
        for i in gets {
            self.stack.push(self.gets[i].1);
        }
        while let Some(b) = self.stack.pop() {
            if self.live[b] == slot.into() {
                continue;
            }
            self.live[b] = slot.into();
            let preds = cfg.preds(b);
            meets |= preds.len() > 1;
            let through = preds.iter().map(|p| p.block).filter(|&p| self.set_in[p] != slot.into());
            self.stack.extend(through);
        }
        meets
    }

    /// Finds the iterated dominance frontier of the blocks that set `slot`, where it is live. The entry sets every
    /// slot to zero, but nothing is in its frontier.
    fn place(&mut self, f: &Function, analyses: &Analyses, slot: Slot, sets: std::ops::Range<usize>) {
        let dom = analyses.dominators();
        self.heap.clear();
        for i in sets {
            let b = self.sets[i].1;
            self.heap.push((self.depth[b], std::cmp::Reverse(b)));
        }
        while let Some((depth, std::cmp::Reverse(root))) = self.heap.pop() {
            // Deeper roots came first, so below a block that was visited all were.
            let Some(mut at) = dom.preorder_number(root) else { continue };
            let end = at + dom.subtree_size(root);
            while at < end {
                let b = dom.preorder()[at as usize];
                // No edge from below `b` leads out of what the root dominates, or all were looked at.
                if self.reach[b] > depth || self.visited[b] == slot.into() {
                    at += dom.subtree_size(b);
                    continue;
                }
                self.visited[b] = slot.into();
                at += 1;
                for edge in f.edges(b) {
                    let to = edge.block;
                    let live = self.live[to] == slot.into();
                    if live && self.depth[to] <= depth && self.placed[to] != slot.into() {
                        self.placed[to] = slot.into();
                        self.placements.push((to, slot));
                        if self.set_in[to] != slot.into() {
                            self.heap.push((self.depth[to], std::cmp::Reverse(to)));
                        }
                    }
                }
            }
        }
    }

    fn add_params(&mut self, f: &mut Function) {
        for i in 0..self.placements.len() {
            let (block, slot) = self.placements[i];
            let range = &mut self.range[block];
            if range.1 == 0 {
                range.0 = i as u32;
            }
            range.1 = i as u32 + 1;
            let v = f.add_param(block, f.slots[slot].ty);
            f.values[v].hint = slot.into();
        }
    }

    /// Walks the dominator tree with the value of each slot at hand.
    fn rename(&mut self, f: &mut Function, dom: &Dominators, replaced: &mut edit::Replaced) {
        self.open.clear();
        self.undo.clear();
        self.zeros.clear();
        for (at, &block) in dom.preorder().iter().enumerate() {
            while let Some(&(end, mark)) = self.open.last()
                && end <= at as u32
            {
                self.open.pop();
                for (slot, old) in self.undo.drain(mark as usize..).rev() {
                    self.current[slot] = old;
                }
            }
            self.open.push((at as u32 + dom.subtree_size(block), self.undo.len() as u32));
            let (from, to) = self.range[block];
            let first = f.params(block).len() - (to - from) as usize;
            for i in from..to {
                let v = f.params(block)[first + (i - from) as usize];
                self.set(self.placements[i as usize].1, v);
            }
            self.rename_block(f, replaced, block);
        }
        if let Some(entry) = f.entry() {
            drop(f.blocks[entry].insts.splice(0..0, self.zeros.drain(..)));
        }
    }

    fn rename_block(&mut self, f: &mut Function, replaced: &mut edit::Replaced, block: Block) {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        let mut kept = 0;
        for i in 0..insts.len() {
            let inst = insts[i];
            replaced.apply_inst(f, inst);
            match (f.insts[inst].op, f.insts[inst].imm) {
                (Op::SlotGet, Imm::Slot(slot)) => {
                    if let Some(old) = f.result(inst) {
                        let v = self.get(f, slot);
                        replaced.set(f, old, v);
                    }
                }
                (Op::SlotSet, Imm::Slot(slot)) => {
                    if let Some(&v) = f.args(inst).first() {
                        if f.values[v].hint.is_none() {
                            f.values[v].hint = slot.into();
                        }
                        self.set(slot, v);
                    }
                }
                _ => {
                    insts[kept] = inst;
                    kept += 1;
                }
            }
        }
        insts.truncate(kept);
        f.blocks[block].insts = insts;
        replaced.apply_term(f, block);
        for e in 0..f.edges(block).len() {
            let (from, to) = self.range[f.edges(block)[e].block];
            for i in from..to {
                let v = self.get(f, self.placements[i as usize].1);
                let Function { blocks, pool, .. } = f;
                blocks[block].term.edges[e].args.push(v, pool);
            }
        }
    }

    fn set(&mut self, slot: Slot, v: Value) {
        self.undo.push((slot, self.current[slot]));
        self.current[slot] = v.into();
    }

    /// The value of `slot` here; zero if it has none yet.
    fn get(&mut self, f: &mut Function, slot: Slot) -> Value {
        if let Some(v) = self.current[slot].expand().or(self.zero[slot].expand()) {
            return v;
        }
        let inst = edit::make_const(f, f.slots[slot].ty, Bits::default(), NO_GUEST);
        self.zeros.push(inst);
        // One result type gives one result.
        let v = f.results(inst)[0];
        self.zero[slot] = v.into();
        v
    }
}

/// Sorts by slot. The blocks of a slot keep their order.
fn by_slot(
    list: &mut [(Slot, Block)],
    slots: usize,
    starts: &mut Vec<u32>,
    unsorted: &mut Vec<(Slot, Block)>,
) {
    starts.clear();
    starts.resize(slots + 1, 0);
    for (slot, _) in list.iter() {
        starts[slot.index() + 1] += 1;
    }
    let mut start = 0;
    for count in starts.iter_mut() {
        start += *count;
        *count = start;
    }
    unsorted.clear();
    unsorted.extend_from_slice(list);
    for &(slot, block) in unsorted.iter() {
        let at = &mut starts[slot.index()];
        list[*at as usize] = (slot, block);
        *at += 1;
    }
}
