//! Liveness of registers: which of them may be read before they are set.
//!
//! In loops, only live registers are written to their homes on the way back and before an access that may fault; the guest computes
//! the same. The old values of the others show only to a handler that looks at the registers of a faulting instruction, and
//! where fuel ends a run. So when the guest has such a handler, or the embedder asks for exact registers, all registers count
//! as live ([`Live::exact`]), and outside of loops they always do: the stores cost little there.

use crate::accesses::is_access;
use crate::registers::{Set, leaves};
use rustc_hash::FxHashMap;
use xenoglot_ir::analysis::{Cfg, Loops};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::func::Edge;
use xenoglot_ir::{Block, Function, Imm, Inst, Op, TermKind};

/// The live registers, by place. `None` when all of them are live everywhere.
pub(crate) struct Live(Option<Sets>);

/// The live registers where blocks begin.
type Starts = SecondaryMap<Block, Set>;

#[derive(Default)]
struct Sets {
    start: Starts,
    /// At the ends of blocks, before their terminators.
    end: SecondaryMap<Block, Set>,
    /// Before an access, together with those where its guest instruction begins: the interpreter may execute all of that again.
    access: SecondaryMap<Inst, Set>,
    in_loop: SecondaryMap<Block, bool>,
    /// The address of the guest instruction that a block in a loop begins with.
    early: SecondaryMap<Block, Option<u32>>,
    /// The blocks that begin with a guest instruction, by its address.
    by_address: FxHashMap<u32, Block>,
}

impl Live {
    /// All registers are live everywhere.
    pub(crate) fn exact() -> Live {
        Live(None)
    }

    /// The live registers of `f`.
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
        let mut repeated: SecondaryMap<Block, bool> = SecondaryMap::new();
        for &block in cfg.rpo().iter().filter(|&&block| Some(block) != f.entry()) {
            sets.in_loop[block] = loops.depth(block) > 0;
            repeated[block] = repeats(f, cfg, block);
            // An instruction such as `nop` has no ops, so the first op may be that of a later one.
            if let Some(address) = begins_with(f, cfg, block).map(|address| first[block].unwrap_or(address)) {
                sets.by_address.insert(address, block);
                sets.early[block] = Some(address).filter(|_| sets.in_loop[block]);
            }
        }
        let by_address = &sets.by_address;
        let at_exit = |starts: &Starts, block| live_at_exit(f, by_address, starts, block);
        sets.start = starts(f, cfg, |block| repeated[block], at_exit);
        for &block in cfg.rpo() {
            sets.end[block] = end(f, &sets.start, block, at_exit);
        }
        for &block in cfg.rpo().iter().filter(|&&block| loops.depth(block) > 0) {
            sets.accesses(f, block);
        }
        Live(Some(sets))
    }

    /// Where a block begins, which is in a loop.
    pub(crate) fn start(&self, block: Block) -> Set {
        self.0.as_ref().map_or(Set::ALL, |sets| sets.start[block])
    }

    /// At the end of a block, before its terminator.
    pub(crate) fn end(&self, f: &Function, block: Block) -> Set {
        let sets = self.0.as_ref();
        // Blocks that leave a loop for want of fuel are not part of it.
        let sets = sets.filter(|sets| sets.in_loop[block] || f.term(block).kind == TermKind::Exit);
        sets.map_or(Set::ALL, |sets| sets.end[block])
    }

    /// Before an access of a block.
    pub(crate) fn access(&self, block: Block, inst: Inst) -> Set {
        let sets = self.0.as_ref().filter(|sets| sets.in_loop[block]);
        sets.map_or(Set::ALL, |sets| sets.access[inst])
    }

    /// The guest address of a block in a loop that is to write registers to their homes where it begins. Before its first access
    /// it would have to write those as well that it has set for its own use.
    pub(crate) fn early(&self, block: Block) -> Option<u32> {
        self.0.as_ref().and_then(|sets| sets.early[block])
    }
}

impl Sets {
    /// Finds the live registers before the accesses of a block.
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
        // A guest instruction that began in a block before may read any register there.
        let start = self.start[block];
        open.drain(..).for_each(|access| self.access[access] = self.access[access].and(start));
    }
}

/// The live registers where blocks begin, by those at exits. Blocks for which `is_whole` holds have all registers live.
pub(crate) fn starts(
    f: &Function,
    cfg: &Cfg,
    is_whole: impl Fn(Block) -> bool,
    at_exit: impl Fn(&Starts, Block) -> Set,
) -> Starts {
    let mut starts = Starts::new();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &block in cfg.rpo().iter().rev() {
            let start = match is_whole(block) {
                true => Set::ALL,
                false => {
                    let end = end(f, &starts, block, &at_exit);
                    f.blocks[block].insts.iter().rev().fold(end, |set, &inst| step(f, inst, set))
                }
            };
            changed |= starts[block] != start;
            starts[block] = start;
        }
    }
    starts
}

/// The live registers at the end of a block.
fn end(f: &Function, starts: &Starts, block: Block, at_exit: impl Fn(&Starts, Block) -> Set) -> Set {
    match leaves(f.term(block).kind) {
        true => at_exit(starts, block),
        false => f.edges(block).iter().fold(Set::default(), |set, edge| set.and(starts[edge.block])),
    }
}

/// The live registers where a block leaves the function: all, unless a loop is left for want of fuel, which goes on at the
/// same address later.
fn live_at_exit(f: &Function, by_address: &FxHashMap<u32, Block>, starts: &Starts, block: Block) -> Set {
    let is_exit = f.term(block).kind == TermKind::Exit;
    let pc = f.term_args(block).first().filter(|_| is_exit).and_then(|&pc| f.const_bits(pc));
    let block = pc.and_then(|pc| by_address.get(&(pc.0[0] as u32)));
    block.map_or(Set::ALL, |&block| starts[block])
}

/// The address of the guest instruction that a block begins with. `None` when that instruction began in a block before, or when
/// the instruction before may be left to the interpreter: the count of fuel does not have that one yet.
fn begins_with(f: &Function, cfg: &Cfg, block: Block) -> Option<u32> {
    let first = f.blocks[block].insts.first().map_or(f.term(block).guest, |&inst| f.insts[inst].guest);
    let is_trap = |edge: &Edge| f.term(edge.block).kind == TermKind::Trap;
    let goes_on = |pred: Block| f.edges(pred).iter().any(is_trap) || f.term(pred).guest == first;
    (!code_before(f, cfg, block).any(goes_on)).then_some(first)
}

/// Whether an access of a block belongs to a guest instruction that began in a block before, as the delay slot of a likely branch
/// does: when it fails, the interpreter executes that instruction again, with all that it reads.
fn repeats(f: &Function, cfg: &Cfg, block: Block) -> bool {
    let began = |guest| code_before(f, cfg, block).any(|pred| f.term(pred).guest == guest);
    f.blocks[block].insts.iter().any(|&inst| is_access(f, inst) && began(f.insts[inst].guest))
}

/// The predecessors of a block that are the guest's code. The others, by which the function is entered, have the block's own
/// address.
fn code_before(f: &Function, cfg: &Cfg, block: Block) -> impl Iterator<Item = Block> {
    let is_entry = |block| Some(block) == f.entry();
    let enters = move |pred| is_entry(pred) || cfg.preds(pred).iter().all(|pred| is_entry(pred.block));
    cfg.preds(block).iter().map(|pred| pred.block).filter(move |&pred| !enters(pred))
}

/// The live registers before an instruction, by those behind it.
fn step(f: &Function, inst: Inst, set: Set) -> Set {
    match (f.insts[inst].op, f.insts[inst].imm) {
        (Op::SlotGet, Imm::Slot(slot)) => set.with(slot),
        (Op::SlotSet, Imm::Slot(slot)) => set.without(Set::default().with(slot)),
        _ => set,
    }
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
