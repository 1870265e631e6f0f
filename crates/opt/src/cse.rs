//! Common subexpressions: of two equal instructions, one dominating the other, the second goes.
//!
//! ```text
//! v2 : f32 = fmul v0, v1
//! v3 : f32 = fmul v1, v0
//! v4 : f32 = fadd v2, v3      =>   v2 : f32 = fmul v0, v1
//!                                  v4 : f32 = fadd v2, v2
//! ```
//!
//! Inputs and plain loads from memory that nothing can change count as pure. Constants are equal by bits and type.

use crate::{Changed, Context, effects};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use xenoglot_ir::analysis::Dominators;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Imm, Inst};

/// Longest search in the table: a program made to collide is merged less, not slower.
const MAX_PROBES: usize = 64;

#[derive(Default)]
pub(crate) struct Buffers {
    /// Open addressing, linear probing, a power of two in size: hash and instruction plus one, 0 for none.
    table: Vec<(u32, u32)>,
    block: SecondaryMap<Inst, Option<Block>>,
}

/// Merges in one walk of the dominator tree. The table has no scopes: an entry whose block does not dominate the
/// block at hand belongs to a finished subtree, so nothing after it needs it and its place is taken.
pub fn run(f: &mut Function, cx: &mut Context) -> Changed {
    cx.analyses.ensure_dominators(f);
    cx.replaced.reset(f);
    let Context { analyses, replaced, cse, .. } = cx;
    let dom = analyses.dominators();
    let size = (2 * f.inst_count()).next_power_of_two().max(16);
    cse.table.clear();
    cse.table.resize(size, (0, 0));
    cse.block.clear();
    cse.block.resize(f.insts.len());
    for &block in dom.preorder() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        insts.retain(|&inst| {
            replaced.apply_inst(f, inst);
            if !effects::is_mergeable(f, inst) {
                return true;
            }
            let Some(result) = f.result(inst) else { return true };
            match cse.find(f, dom, block, inst) {
                Some(earlier) => {
                    replaced.set(f, result, earlier);
                    false
                }
                None => true,
            }
        });
        f.blocks[block].insts = insts;
        replaced.apply_term(f, block);
    }
    let changed = !replaced.is_empty();
    if changed && dom.preorder().len() != f.layout.len() {
        replaced.apply(f); // unreachable blocks
    }
    cx.end(Changed::insts_if(changed))
}

impl Buffers {
    /// The result of an equal instruction that dominates `inst`; otherwise `inst` is entered.
    fn find(
        &mut self,
        f: &Function,
        dom: &Dominators,
        block: Block,
        inst: Inst,
    ) -> Option<xenoglot_ir::Value> {
        let hash = hash(f, inst);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        for probe in 0.. {
            let (h, entry) = self.table[at];
            let Some(index) = entry.checked_sub(1) else { break };
            if probe == MAX_PROBES {
                return None;
            }
            let earlier = Inst::from_u32(index);
            if h == hash && equal(f, earlier, inst) {
                if self.block[earlier].is_some_and(|b| dom.dominates(b, block)) {
                    return f.result(earlier);
                }
                break;
            }
            at = (at + 1) & mask;
        }
        self.table[at] = (hash, inst.as_u32() + 1);
        self.block[inst] = Some(block);
        None
    }
}

fn hash(f: &Function, inst: Inst) -> u32 {
    let data = &f.insts[inst];
    let mut h = FxHasher::default();
    data.op.hash(&mut h);
    data.flags.hash(&mut h);
    match data.imm {
        Imm::Const(c) => f.consts[c].hash(&mut h),
        imm => imm.hash(&mut h),
    }
    match (f.args(inst), data.op.info().traits.commutes) {
        (&[a, b, ref rest @ ..], true) => (a.min(b), a.max(b), rest).hash(&mut h),
        (args, _) => args.hash(&mut h),
    }
    h.finish() as u32
}

fn equal(f: &Function, a: Inst, b: Inst) -> bool {
    let (x, y) = (&f.insts[a], &f.insts[b]);
    let same_imm = match (x.imm, y.imm) {
        (Imm::Const(c), Imm::Const(d)) => f.consts[c] == f.consts[d],
        (i, j) => i == j,
    };
    let same_type = f.result(a).map(|v| f.ty(v)) == f.result(b).map(|v| f.ty(v));
    if x.op != y.op || x.flags != y.flags || !same_imm || !same_type {
        return false;
    }
    let (p, q) = (f.args(a), f.args(b));
    p == q
        || match (p, q) {
            (&[p0, p1, ref pr @ ..], &[q0, q1, ref qr @ ..]) => {
                x.op.info().traits.commutes && p0 == q1 && p1 == q0 && pr == qr
            }
            _ => false,
        }
}
