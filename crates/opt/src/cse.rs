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

use crate::session::{Done, Keeps, Known, Work};
use crate::{Changed, effects};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use xenoglot_ir::analysis::Dominators;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::entity::packed_option::PackedOption;
use xenoglot_ir::{Block, Flags, Function, Imm, Inst, Value};

/// Longest search in the table: a program made to collide is merged less, not slower.
const MAX_PROBES: usize = 64;

#[derive(Default)]
pub(crate) struct Buffers {
    /// Open addressing, linear probing, a power of two in size.
    table: Vec<PackedOption<Inst>>,
    /// Of what is in the table: its hash, and the block it stands in.
    entries: SecondaryMap<Inst, (u32, PackedOption<Block>)>,
}

/// Merges in one walk of the dominator tree. The table has no scopes: an entry whose block does not dominate the
/// block at hand belongs to a finished subtree, so nothing after it needs it and its place is taken.
pub fn run(w: &mut Work<'_>) -> Done {
    let (f, cse) = (&mut *w.f, &mut w.buffers.cse);
    let Known { analyses, replaced, .. } = &mut *w.known;
    analyses.ensure_dominators(f);
    replaced.reset(f);
    let dom = analyses.dominators();
    let size = (2 * f.inst_count()).next_power_of_two().max(16);
    cse.table.clear();
    cse.table.resize(size, None.into());
    // Those of other functions are not in the table.
    cse.entries.resize(f.insts.len());
    for &block in dom.preorder() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        let mut kept = 0;
        for i in 0..insts.len() {
            let inst = insts[i];
            replaced.apply_inst(f, inst);
            if effects::is_mergeable(f, inst)
                && let Some(earlier) = cse.find(f, dom, block, inst)
                && let (Some(old), Some(by)) = (f.result(inst), f.result(earlier))
            {
                replaced.set(f, old, by);
                continue;
            }
            insts[kept] = inst;
            kept += 1;
        }
        insts.truncate(kept);
        f.blocks[block].insts = insts;
        replaced.apply_term(f, block);
    }
    let changed = !replaced.is_empty();
    if changed && dom.preorder().len() != f.layout.len() {
        replaced.apply(f); // unreachable blocks
    }
    // What the second one used the first one uses.
    w.done(Changed::insts_if(changed), Keeps::USES)
}

impl Buffers {
    /// An equal instruction that dominates `inst`; otherwise `inst` is entered.
    #[inline]
    fn find(&mut self, f: &Function, dom: &Dominators, block: Block, inst: Inst) -> Option<Inst> {
        let hash = hash(f, inst);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        let mut probes = 0;
        while let Some(earlier) = self.table[at].expand() {
            if probes == MAX_PROBES {
                return None;
            }
            let (h, home) = self.entries[earlier];
            if h == hash && equal(f, earlier, inst) {
                if home.expand().is_some_and(|b| b == block || dom.dominates(b, block)) {
                    return Some(earlier);
                }
                break;
            }
            probes += 1;
            at = (at + 1) & mask;
        }
        self.table[at] = inst.into();
        self.entries[inst] = (hash, block.into());
        None
    }
}

fn hash(f: &Function, inst: Inst) -> u32 {
    let data = &f.insts[inst];
    let args = data.args.as_slice(&f.pool);
    let mut h = FxHasher::default();
    data.op.hash(&mut h);
    if data.flags != Flags::NONE {
        data.flags.hash(&mut h);
    }
    match data.imm {
        Imm::None => {}
        Imm::Const(c) => f.consts[c].0.iter().for_each(|&lane| h.write_u64(lane)),
        imm => imm.hash(&mut h),
    }
    match *args {
        [] => {}
        [a] => h.write_u32(a.as_u32()),
        [a, b] if data.op.info().traits.commutes => h.write_u64(pair(a.min(b), a.max(b))),
        [a, b] => h.write_u64(pair(a, b)),
        [a, b, ref rest @ ..] => {
            // In some order.
            h.write_u64(pair(a.min(b), a.max(b)));
            rest.iter().for_each(|v| h.write_u32(v.as_u32()));
        }
    }
    h.finish() as u32
}

fn pair(a: Value, b: Value) -> u64 {
    u64::from(a.as_u32()) << 32 | u64::from(b.as_u32())
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
