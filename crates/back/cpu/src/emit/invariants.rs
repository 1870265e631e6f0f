//! Float registers that a loop does not change.
//!
//! The code generator moves ops out of loops, also those that not every round comes to. Of a float op that shows: it leaves its
//! exceptions. Registers that a loop reads but does not change are therefore hidden at its header.

use xenoglot_ir::analysis::{Cfg, Loop, Loops};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Imm, Op, Slot};

/// By the header of a loop: the registers.
pub(super) struct Invariants(SecondaryMap<Block, Vec<Slot>>);

impl Invariants {
    pub(super) fn new(f: &Function, cfg: &Cfg) -> Invariants {
        let mut loops = Loops::default();
        loops.compute(f, cfg);
        let mut out: SecondaryMap<Block, Vec<Slot>> = SecondaryMap::new();
        for (l, data) in loops.loops().iter() {
            out[data.header] = invariants(f, cfg, &loops, l);
        }
        Invariants(out)
    }

    pub(super) fn of(&self, block: Block) -> Vec<Slot> {
        self.0[block].clone()
    }
}

/// The float registers that a loop reads, and sets to nothing but copies.
fn invariants(f: &Function, cfg: &Cfg, loops: &Loops, l: Loop) -> Vec<Slot> {
    let mut read = Vec::new();
    let mut set = Vec::new();
    for &block in cfg.rpo().iter().filter(|&&block| loops.contains(l, block)) {
        for &inst in &f.blocks[block].insts {
            let Imm::Slot(slot) = f.insts[inst].imm else { continue };
            if !f.slots[slot].ty.kind().is_float() {
                continue;
            }
            if f.insts[inst].op == Op::SlotGet {
                read.push(slot);
                continue;
            }
            let made = f.args(inst).first().and_then(|&v| f.def_inst(v)).map(|inst| f.insts[inst].op);
            if !matches!(made, Some(Op::SlotGet | Op::Select | Op::Bitcast | Op::Const) | None) {
                set.push(slot);
            }
        }
    }
    read.sort_unstable();
    read.dedup();
    read.retain(|slot| !set.contains(slot));
    read
}
