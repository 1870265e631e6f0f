//! Short arms: what an if computes by a few cheap ops is computed always, and selected.
//!
//! ```text
//! block0:                                block0:
//!   branch v0, block1, block2              v3 : f32 = fmul v1, v2
//! block1:                          =>      v5 : f32 = select v0, v3, v1
//!   v3 : f32 = fmul v1, v2                 output %o, v5
//!   jump block2(v3)                        return
//! block2(v4 : f32):
//!   output %o, v4
//!   return
//! ```
//!
//! Branches that end in one place, over blocks of pure ops that GPUs do in a few cycles: less to write than a branch, and less to
//! compile for drivers, which do the same. Blocks are joined on the way, so that ifs inside of such arms go first.
//!
//! A pass for GPUs' stages: a CPU predicts the branch.

use crate::session::{Done, Keeps, Work};
use crate::{Changed, edit};
use smallvec::SmallVec;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Flags, Function, Imm, Inst, Kind, Op, TermKind, Value};

/// Ops of both arms that are computed always at most.
const MOST_OPS: usize = 6;
/// Instructions that are moved to join a block to another at most: so many are no arm, and a long row of ifs would move them once for
/// each.
const MOST_MOVED: usize = 64;
/// Values that are selected at most.
const MOST_SELECTS: usize = 4;

/// An edge of a branch to where both edges end.
struct Arm {
    /// The block on its way, if there is one.
    over: Option<Block>,
    to: Block,
    args: SmallVec<[Value; 4]>,
    /// Cheap ops of the block.
    ops: usize,
}

/// Flattens what can be, from the inside out.
pub fn run(w: &mut Work<'_>) -> Done {
    if !w.f.layout.iter().any(|&block| w.f.term(block).kind == TermKind::Branch) {
        return w.finish();
    }
    let f = &mut *w.f;
    w.known.analyses.ensure_cfg(f);
    let cfg = w.known.analyses.cfg();
    // By block: ways to it, and whether it is part of another now.
    let mut ways: SecondaryMap<Block, u32> = SecondaryMap::new();
    for &block in cfg.rpo() {
        ways[block] = cfg.preds(block).len() as u32 + u32::from(f.entry() == Some(block));
    }
    let mut gone: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut changed = false;
    let replaced = &mut w.known.replaced;
    replaced.reset(f);
    for block in order(cfg) {
        let Some(arms) = arms(f, block, &ways) else { continue };
        let to = arms[0].to;
        flatten(f, block, arms, &mut gone);
        changed = true;
        ways[to] -= 1;
        if ways[to] == 1 && f.blocks[to].insts.len() <= MOST_MOVED {
            edit::join(f, block, to, replaced);
            gone[to] = true;
        }
    }
    if !changed {
        return w.finish();
    }
    replaced.apply(f);
    // Blocks that nothing leads to may lead to those that went.
    f.layout.retain(|&block| cfg.is_reachable(block) && !gone[block]);
    w.done(Changed::ALL, Keeps::STALE)
}

/// The blocks, those further in before those around them.
fn order(cfg: &Cfg) -> Vec<Block> {
    cfg.rpo().iter().rev().copied().collect()
}

/// The two arms of a block's branch, if flattening it is worth it.
fn arms(f: &Function, block: Block, ways: &SecondaryMap<Block, u32>) -> Option<[Arm; 2]> {
    let term = f.term(block);
    let ([yes, no], TermKind::Branch) = (&term.edges[..], term.kind) else { return None };
    let arm = |edge: &xenoglot_ir::Edge| {
        let over = edge.block;
        let is_direct = || Arm { over: None, to: over, args: f.edge_args(edge).into(), ops: 0 };
        let (TermKind::Jump, [next]) = (f.term(over).kind, f.edges(over)) else { return is_direct() };
        match cheap_ops(f, over) {
            Some(ops) if ways[over] == 1 && over != block && f.params(over).is_empty() => {
                Arm { over: Some(over), to: next.block, args: f.edge_args(next).into(), ops }
            }
            _ => is_direct(),
        }
    };
    let arms = [arm(yes), arm(no)];
    if arms[0].to != arms[1].to {
        return None;
    }
    let to = arms[0].to;
    let differ = arms[0].args.iter().zip(&arms[1].args).filter(|(a, b)| a != b);
    let mut differ = differ.map(|(&a, _)| f.ty(a).kind());
    let is_small = arms[0].ops + arms[1].ops <= MOST_OPS && differ.clone().count() <= MOST_SELECTS;
    let is_inside = arms.iter().all(|arm| arm.over != Some(to)) && to != block;
    (is_small && is_inside && !differ.any(Kind::is_handle)).then_some(arms)
}

/// How many cheap ops a block has; none if it has others.
fn cheap_ops(f: &Function, block: Block) -> Option<usize> {
    let insts = &f.blocks[block].insts;
    let mut count = 0;
    for &inst in insts {
        count += usize::from(!matches!(f.insts[inst].op, Op::Const | Op::Undef));
        if count > MOST_OPS || !is_cheap(f, inst) {
            return None;
        }
    }
    Some(count)
}

/// Whether an op is pure, takes a GPU a few cycles, and has no flags: those of guests' floats become code on many hosts.
fn is_cheap(f: &Function, inst: Inst) -> bool {
    let data = &f.insts[inst];
    if data.flags != Flags::NONE && data.flags != Flags::NONE.with_contract() {
        return false;
    }
    if f.result(inst).is_none_or(|v| f.ty(v).kind().bits() > 32) {
        return false;
    }
    matches!(
        data.op,
        Op::Const
            | Op::Undef
            | Op::Freeze
            | Op::Select
            | Op::Extract
            | Op::Insert
            | Op::Build
            | Op::Iadd
            | Op::Isub
            | Op::Imul
            | Op::Ineg
            | Op::Imin
            | Op::Imax
            | Op::Umin
            | Op::Umax
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Not
            | Op::Shl
            | Op::Ushr
            | Op::Sshr
            | Op::IcmpEq
            | Op::IcmpNe
            | Op::IcmpUlt
            | Op::IcmpUle
            | Op::IcmpSlt
            | Op::IcmpSle
            | Op::Fadd
            | Op::Fsub
            | Op::Fmul
            | Op::Fneg
            | Op::Fabs
            | Op::FcmpOeq
            | Op::FcmpOlt
            | Op::FcmpOle
            | Op::FcmpUne
            | Op::S2f
            | Op::U2f
            | Op::Bitcast
    )
}

/// Moves the ops of both arms to the end of `block`, which then jumps to where they end.
fn flatten(f: &mut Function, block: Block, [yes, no]: [Arm; 2], gone: &mut SecondaryMap<Block, bool>) {
    let (cond, guest) = (f.term_args(block).first().copied(), f.term(block).guest);
    for over in [yes.over, no.over].into_iter().flatten() {
        let mut insts = std::mem::take(&mut f.blocks[over].insts);
        f.blocks[block].insts.append(&mut insts);
        gone[over] = true;
    }
    let mut args: SmallVec<[Value; 4]> = SmallVec::new();
    for (a, b) in yes.args.into_iter().zip(no.args) {
        match cond {
            Some(cond) if a != b => {
                let ty = f.ty(a);
                let inst = f.make_inst(Op::Select, Flags::NONE, Imm::None, &[cond, a, b], &[ty], guest);
                f.blocks[block].insts.push(inst);
                args.extend(f.result(inst));
            }
            _ => args.push(a),
        }
    }
    f.set_jump(block, yes.to, &args, guest);
}
