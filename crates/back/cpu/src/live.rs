//! Which registers somebody may still read: only those have to be in their homes where a loop goes round or an access may fail.
//!
//! A register that is set again on every way before it is read need not be in its home for the guest to compute the same. Its
//! value shows only to somebody who looks at the registers of an instruction that faults, so all of this is off
//! ([`Live::exact`]) when the guest has a handler for that, or somebody asks for exact registers. Outside of loops registers are
//! exact anyway: writing them costs little there.

use crate::accesses::is_access;
use crate::registers::{Set, leaves};
use rustc_hash::FxHashMap;
use xenoglot_ir::analysis::{Cfg, Loops};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Imm, Inst, Op, TermKind};

/// The registers that may be read, by place. `None` for all of them everywhere.
pub(crate) struct Live(Option<Sets>);

#[derive(Default)]
struct Sets {
    /// Where a block begins.
    start: SecondaryMap<Block, Set>,
    /// Behind its instructions.
    end: SecondaryMap<Block, Set>,
    /// Before an access, and where its guest instruction begins, which the interpreter may execute again.
    access: SecondaryMap<Inst, Set>,
    in_loop: SecondaryMap<Block, bool>,
    /// The address of the guest instruction that a block in a loop begins with.
    early: SecondaryMap<Block, Option<u32>>,
    /// The blocks that begin with a guest instruction, by its address.
    by_address: FxHashMap<u32, Block>,
}

impl Live {
    /// All registers may be read everywhere.
    pub(crate) fn exact() -> Live {
        Live(None)
    }

    /// What may be read in `f`.
    pub(crate) fn new(f: &Function, cfg: &Cfg) -> Live {
        let mut loops = Loops::default();
        loops.compute(f, cfg);
        if loops.loops().is_empty() {
            return Live::exact();
        }
        let mut sets = Sets::default();
        let mut first: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
        for &(block, address) in f.guest_code.iter().rev() {
            first[block] = Some(address);
        }
        for &block in cfg.rpo().iter().filter(|&&block| Some(block) != f.entry()) {
            sets.in_loop[block] = loops.depth(block) > 0;
            // The first instruction may be nothing in the IR, such as `nop`.
            if let Some(address) = begins_with(f, cfg, block).map(|address| first[block].unwrap_or(address)) {
                sets.by_address.insert(address, block);
                sets.early[block] = Some(address).filter(|_| sets.in_loop[block]);
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in cfg.rpo().iter().rev() {
                let end = sets.after(f, block);
                let start = if repeats(f, cfg, block) { Set::ALL } else { before(f, block, end) };
                changed |= sets.start[block] != start;
                sets.start[block] = start;
                sets.end[block] = end;
            }
        }
        for &block in cfg.rpo().iter().filter(|&&block| loops.depth(block) > 0) {
            sets.accesses(f, block);
        }
        Live(Some(sets))
    }

    /// Where a block begins.
    pub(crate) fn start(&self, block: Block) -> Set {
        self.0.as_ref().map_or(Set::ALL, |sets| sets.start[block])
    }

    /// Behind the instructions of a block.
    pub(crate) fn end(&self, f: &Function, block: Block) -> Set {
        let sets = self.0.as_ref();
        // Ends by fuel lie outside of the loops that they end.
        let sets = sets.filter(|sets| sets.in_loop[block] || f.term(block).kind == TermKind::Exit);
        sets.map_or(Set::ALL, |sets| sets.end[block])
    }

    /// Before an access of a block.
    pub(crate) fn access(&self, block: Block, inst: Inst) -> Set {
        let sets = self.0.as_ref().filter(|sets| sets.in_loop[block]);
        sets.map_or(Set::ALL, |sets| sets.access[inst])
    }

    /// The address of a block, if registers are to be written to their homes where it begins, and not before its first access:
    /// what it sets and reads only itself is not yet set there.
    pub(crate) fn early(&self, block: Block) -> Option<u32> {
        self.0.as_ref().and_then(|sets| sets.early[block])
    }
}

impl Sets {
    /// Behind the instructions of a block, as far as it is known of the blocks behind it.
    fn after(&self, f: &Function, block: Block) -> Set {
        let term = f.term(block);
        if !leaves(term.kind) {
            return term.edges.iter().fold(Set::default(), |set, edge| set.and(self.start[edge.block]));
        }
        // A loop that fuel ends goes on where it stopped.
        let is_exit = term.kind == TermKind::Exit;
        let pc = f.term_args(block).first().filter(|_| is_exit).and_then(|&pc| f.const_bits(pc));
        let block = pc.and_then(|pc| self.by_address.get(&(pc.0[0] as u32)));
        block.map_or(Set::ALL, |&block| self.start[block])
    }

    fn accesses(&mut self, f: &Function, block: Block) {
        let mut set = self.end[block];
        // Accesses of the guest instruction at hand.
        let mut open: Vec<Inst> = Vec::new();
        let mut guest = f.term(block).guest;
        for &inst in f.blocks[block].insts.iter().rev() {
            if f.insts[inst].guest != guest {
                guest = f.insts[inst].guest;
                open.drain(..).for_each(|access| self.access[access] = self.access[access].and(set));
            }
            if is_access(f, inst) {
                self.access[inst] = set;
                open.push(inst);
            }
            set = step(f, inst, set);
        }
        // What began in a block before reads registers there: all, as far as is known here.
        let start = self.start[block];
        open.drain(..).for_each(|access| self.access[access] = self.access[access].and(start));
    }
}

/// The address of the guest instruction that a block begins with; `None` when it goes on with one of the block before, or behind
/// one that may be left to the interpreter, which the count of fuel does not have yet.
fn begins_with(f: &Function, cfg: &Cfg, block: Block) -> Option<u32> {
    let first = f.blocks[block].insts.first().map_or(f.term(block).guest, |&inst| f.insts[inst].guest);
    let goes_on = |pred: Block| {
        let traps = f.edges(pred).iter().any(|edge| f.term(edge.block).kind == TermKind::Trap);
        traps || f.term(pred).guest == first
    };
    (!code_before(f, cfg, block).any(goes_on)).then_some(first)
}

/// The blocks that lead to a block, without those by which the function is entered: these have its address.
fn code_before(f: &Function, cfg: &Cfg, block: Block) -> impl Iterator<Item = Block> {
    let is_entry = |block| Some(block) == f.entry();
    let enters = move |pred| is_entry(pred) || cfg.preds(pred).iter().all(|pred| is_entry(pred.block));
    cfg.preds(block).iter().map(|pred| pred.block).filter(move |&pred| !enters(pred))
}

/// Before an instruction, by what is behind it.
fn step(f: &Function, inst: Inst, set: Set) -> Set {
    match (f.insts[inst].op, f.insts[inst].imm) {
        (Op::SlotGet, Imm::Slot(slot)) => set.with(slot),
        (Op::SlotSet, Imm::Slot(slot)) => set.without(Set::default().with(slot)),
        _ => set,
    }
}

fn before(f: &Function, block: Block, end: Set) -> Set {
    f.blocks[block].insts.iter().rev().fold(end, |set, &inst| step(f, inst, set))
}

/// Whether accesses of a block belong to a guest instruction that begins in the block before, such as the branch that it is the
/// delay slot of: that is executed again when they fail, with all that it reads.
fn repeats(f: &Function, cfg: &Cfg, block: Block) -> bool {
    let began = |guest| code_before(f, cfg, block).any(|pred| f.term(pred).guest == guest);
    f.blocks[block].insts.iter().any(|&inst| is_access(f, inst) && began(f.insts[inst].guest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_ir::{Module, Slot};

    /// A loop that sets `r2` before it reads it, and carries `r3`.
    const LOOP: &str = r#"
module cpu "loop" {
  entry func @code() {
    slot r2 : i32 home 8
    slot r3 : i32 home 12
  block0:
    @0x100 jump block1
  block1:
    @0x100 v0 : i32 = slot_get r3
    @0x100 v1 : i32 = load guest align 4 big, v0
    @0x100 slot_set r2, v1
    @0x104 v2 : i32 = slot_get r2
    @0x104 v3 : i32 = iadd v0, v2
    @0x104 slot_set r3, v3
    @0x108 v4 : i32 = const 0
    @0x108 v5 : bool = icmp.ne v3, v4
    @0x108 branch v5, block1, block2
  block2:
    @0x10c v6 : i32 = const 0x200
    @0x10c exit v6
  }
}
"#;

    #[test]
    fn what_a_loop_sets_before_it_reads_it_is_not_live_where_it_begins() {
        let module: Module = xenoglot_ir::text::parse(LOOP, &Default::default()).expect("parses");
        let f = module.entry_func().expect("a function");
        let mut cfg = Cfg::default();
        cfg.compute(f);
        let live = Live::new(f, &cfg);
        let slot = |name: &str| f.slots.iter().find(|slot| slot.1.name == name).map(|slot| slot.0);
        let (r2, r3): (Slot, Slot) = (slot("r2").expect("a slot"), slot("r3").expect("a slot"));
        let body = f.edges(f.entry().expect("an entry"))[0].block;
        assert_eq!(live.early(body), Some(0x100));
        assert!(!live.start(body).has(r2) && live.start(body).has(r3));
        // Behind the loop, everything may be read.
        assert!(live.end(f, body).has(r2));
        assert!(Live::exact().start(body).has(r2));
    }
}
