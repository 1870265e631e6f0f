//! The blocks that a block leads to, as far as addresses say.

use super::float;
use rustc_hash::FxHashSet;
use std::ops::Range;
use xenoglot_guest::SINK;
use xenoglot_guest::ops::{Code, Op, lower};
use xenoglot_mips::decode;

/// Most instructions of a block.
const MAX_BLOCK: usize = 96;

/// Where a block without a branch ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// At an instruction that is the interpreter's.
    Leave,
    /// Where another block begins.
    Next,
}

/// A block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) pc: u32,
    ops: Range<u32>,
    /// Index of its branch, which the delay slot follows.
    pub(super) branch: Option<u16>,
    pub(super) end: End,
}

impl Block {
    /// The address behind so many of its instructions.
    pub(super) fn behind(&self, count: usize) -> u32 {
        self.pc.wrapping_add(4 * count as u32)
    }
}

/// Blocks to compile together.
#[derive(Debug, Default)]
pub(crate) struct Region {
    pub(super) blocks: Vec<Block>,
    ops: Vec<Op>,
}

impl Region {
    pub(super) fn ops(&self, block: &Block) -> &[Op] {
        self.ops.get(block.ops.start as usize..block.ops.end as usize).unwrap_or_default()
    }

    /// The addresses of its instructions, in order.
    pub(crate) fn words(&self) -> Vec<u32> {
        let words = |block: &Block| {
            let pc = block.pc;
            (0..block.ops.len() as u32).map(move |n| pc.wrapping_add(4 * n))
        };
        let mut words: Vec<u32> = self.blocks.iter().flat_map(words).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// The blocks from `pc` on, of about `max` instructions at most. `fetch` gives the word of an instruction; `is_other` is asked about
    /// addresses whose blocks are left out, `is_left` about instructions that are left to the interpreter.
    pub(crate) fn discover(
        pc: u32,
        max: usize,
        fetch: impl Fn(u32) -> Option<u32>,
        is_other: impl Fn(u32) -> bool,
        is_left: impl Fn(u32) -> bool,
    ) -> Region {
        let mut region = Region::default();
        let mut seen = FxHashSet::default();
        let mut open = vec![pc];
        let mut leads = Vec::new();
        // Instructions, whether they have a slot, and whether there is code for them.
        let any = |at: u32| {
            let inst = fetch(at).and_then(|word| decode(word).ok())?;
            let op = lower(inst, at);
            Some((op, inst.op.has_slot(), is_known(&op) && !is_left(at)))
        };
        while let Some(pc) = open.pop() {
            // Blocks may be empty.
            if region.ops.len().max(seen.len()) >= max {
                break;
            }
            if pc & 3 != 0 || seen.contains(&pc) || is_other(pc) {
                continue;
            }
            seen.insert(pc);
            leads.clear();
            let start = region.ops.len();
            let mut at = pc;
            let (mut branch, mut end) = (None, End::Next);
            loop {
                let count = region.ops.len() - start;
                if count >= MAX_BLOCK || count > 0 && seen.contains(&at) {
                    leads.push(at);
                    break;
                }
                let Some((this, has_slot, is_known)) = any(at) else {
                    end = End::Leave;
                    break;
                };
                if !has_slot && is_known {
                    region.ops.push(this);
                    at = at.wrapping_add(4);
                    continue;
                }
                if !has_slot {
                    end = End::Leave;
                    if !matches!(this.code, Code::Break | Code::Reserved) {
                        leads.push(at.wrapping_add(4));
                    }
                    break;
                }
                let behind = at.wrapping_add(8);
                let slot = any(at.wrapping_add(4)).filter(|&(_, has_slot, is_known)| !has_slot && is_known);
                let Some((slot, ..)) = slot.filter(|_| can_repeat(&this)) else {
                    end = End::Leave;
                    leads.push(behind);
                    break;
                };
                branch = Some(count as u16);
                region.ops.extend([this, slot]);
                match this.code {
                    Code::Jump => leads.push(this.imm),
                    Code::Jr => {}
                    // The guest comes back here.
                    Code::Call | Code::Jalr => leads.push(behind),
                    _ => leads.extend([this.imm, behind]),
                }
                break;
            }
            // The last one is next, so that it follows in memory.
            open.extend_from_slice(&leads);
            let ops = start as u32..region.ops.len() as u32;
            if !ops.is_empty() {
                region.blocks.push(Block { pc, ops, branch, end });
            }
        }
        region
    }
}

/// Whether a branch does the same when it is executed again after its delay slot failed.
fn can_repeat(branch: &Op) -> bool {
    match branch.code {
        Code::Jalr => branch.a != branch.b,
        Code::Bltzal | Code::Bgezal | Code::Bltzall | Code::Bgezall => branch.b != 31,
        _ => true,
    }
}

/// Whether there is baseline code for an operation.
fn is_known(op: &Op) -> bool {
    match op.code {
        Code::Syscall | Code::Break | Code::Reserved | Code::FetchFault => false,
        // The count of cycles.
        Code::Rdhwr => op.b != 2,
        Code::Float => float::is_known(op.imm),
        _ => true,
    }
}

/// The general register that an operation writes, [`SINK`] for none.
pub(super) fn written(op: &Op) -> u8 {
    match op.code {
        Code::Nop | Code::Sb | Code::Sh | Code::Sw | Code::Swl | Code::Swr => SINK as u8,
        Code::Lwc1 | Code::Ldc1 | Code::Swc1 | Code::Sdc1 => SINK as u8,
        Code::Lwxc1 | Code::Ldxc1 | Code::Swxc1 | Code::Sdxc1 | Code::Trap | Code::TrapImm => SINK as u8,
        Code::Float => float::written(op.imm),
        _ => op.a,
    }
}
