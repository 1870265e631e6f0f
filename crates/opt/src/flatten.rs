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
//! compile for drivers, which do the same. Blocks are joined on the way, so that ifs inside of such arms go first. A `discard_if` in
//! an arm gets the branch's condition as well.
//!
//! Where an arm has to stay a block, the values that both arms end with are selected before the branch if they are computed there or are
//! cheap (`choose`). Two branches in a row with a common target become one if nothing else leads there but the rest of
//! the same if (`either`): structured code would need a variable that says which way was taken, or phis behind each other.
//!
//! A pass for GPUs' stages: a CPU predicts the branch.

use crate::session::{Done, Keeps, Work};
use crate::{Changed, edit};
use smallvec::SmallVec;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Edge, Flags, Function, Imm, Inst, Kind, Op, TermKind, Type, Value};

mod choose;
mod either;

/// Ops of both arms that are computed always at most.
const MOST_OPS: usize = 8;
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
        while !gone[block] {
            if let Some(arms) = arms(f, block, &ways) {
                let to = arms[0].to;
                flatten(f, block, arms, &mut gone);
                changed = true;
                ways[to] -= 1;
                if ways[to] == 1 && f.blocks[to].insts.len() <= MOST_MOVED {
                    edit::join(f, block, to, replaced);
                    gone[to] = true;
                }
            } else if let Some(either) = either::find(f, block, &ways) {
                either::join(f, block, either, (&mut ways, &mut gone), replaced);
                changed = true;
            } else {
                changed |= choose::run(f, block, &ways, replaced);
                break;
            }
        }
    }
    if !changed {
        return w.finish();
    }
    replaced.apply(f);
    // Blocks that nothing leads to may lead to those that went.
    edit::retain_blocks(f, |block| cfg.is_reachable(block) && !gone[block]);
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
    let arms = [yes, no].map(|edge| arm(f, block, edge, ways));
    let to = arms[0].to;
    let is_inside = arms.iter().all(|arm| arm.over != Some(to)) && to != block;
    (to == arms[1].to && is_inside && are_small(f, &arms, 0)).then_some(arms)
}

/// An edge of `block`, with the block on its way if that is cheap.
fn arm(f: &Function, block: Block, edge: &Edge, ways: &SecondaryMap<Block, u32>) -> Arm {
    let over = edge.block;
    let is_direct = || Arm { over: None, to: over, args: f.edge_args(edge).into(), ops: 0 };
    let (TermKind::Jump, [next]) = (f.term(over).kind, f.edges(over)) else { return is_direct() };
    match cheap_ops(f, over) {
        Some(ops) if ways[over] == 1 && over != block && f.params(over).is_empty() => {
            Arm { over: Some(over), to: next.block, args: f.edge_args(next).into(), ops }
        }
        _ => is_direct(),
    }
}

/// Whether two arms have few ops, with some `more`, and choose between few values that can be selected.
fn are_small(f: &Function, arms: &[Arm; 2], more: usize) -> bool {
    let differ = arms[0].args.iter().zip(&arms[1].args).filter(|(a, b)| a != b);
    let mut differ = differ.map(|(&a, _)| f.ty(a).kind());
    let ops = arms[0].ops + arms[1].ops + more;
    ops <= MOST_OPS && differ.clone().count() <= MOST_SELECTS && !differ.any(Kind::is_handle)
}

/// How many cheap ops a block has; none if it has others.
fn cheap_ops(f: &Function, block: Block) -> Option<usize> {
    let insts = &f.blocks[block].insts;
    let mut count = 0;
    for &inst in insts {
        count += usize::from(!matches!(f.insts[inst].op, Op::Const | Op::Undef));
        if count > MOST_OPS || !is_cheap(f, inst) && f.insts[inst].op != Op::DiscardIf {
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
            | Op::Clz
            | Op::Ctz
            | Op::Popcount
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
fn flatten(f: &mut Function, block: Block, arms: [Arm; 2], gone: &mut SecondaryMap<Block, bool>) {
    let (Some(&cond), guest) = (f.term_args(block).first(), f.term(block).guest) else { return };
    let to = arms[0].to;
    for (arm, taken) in arms.iter().zip([true, false]) {
        take(f, block, arm, (cond, taken), gone);
    }
    let args = select_all(f, block, cond, &arms[0].args, &arms[1].args);
    f.set_jump(block, to, &args, guest);
}

/// Moves the ops of an arm to the end of `block`. The arm is taken where the condition is `taken`.
fn take(
    f: &mut Function,
    block: Block,
    arm: &Arm,
    (cond, taken): (Value, bool),
    gone: &mut SecondaryMap<Block, bool>,
) {
    let Some(over) = arm.over else { return };
    gone[over] = true;
    for inst in std::mem::take(&mut f.blocks[over].insts) {
        if f.insts[inst].op == Op::DiscardIf
            && let Some(&tested) = f.args(inst).first()
        {
            let goes = if taken { cond } else { add(f, block, Op::Not, &[cond], Type::BOOL) };
            let both = match f.const_bits(tested) {
                Some(bits) if bits.lane(0) != 0 => goes,
                _ => add(f, block, Op::And, &[goes, tested], Type::BOOL),
            };
            edit::rewrite(f, inst, Op::DiscardIf, Flags::NONE, Imm::None, &[both]);
        }
        f.blocks[block].insts.push(inst);
    }
}

/// Selects arguments of two edges to one place at the end of `block`: those of `yes` where the condition is true.
fn select_all(
    f: &mut Function,
    block: Block,
    cond: Value,
    yes: &[Value],
    no: &[Value],
) -> SmallVec<[Value; 4]> {
    yes.iter().zip(no).map(|(&a, &b)| select(f, block, cond, a, b)).collect()
}

/// One of two values at the end of `block`.
fn select(f: &mut Function, block: Block, cond: Value, yes: Value, no: Value) -> Value {
    let bool_of = |v: Value| f.const_bits(v).filter(|_| f.ty(v) == Type::BOOL).map(|bits| bits.lane(0) != 0);
    match (bool_of(yes), bool_of(no)) {
        _ if yes == no => yes,
        (Some(true), Some(false)) => cond,
        (Some(false), Some(true)) => add(f, block, Op::Not, &[cond], Type::BOOL),
        _ => add(f, block, Op::Select, &[cond, yes, no], f.ty(yes)),
    }
}

/// An op at the end of `block`.
fn add(f: &mut Function, block: Block, op: Op, args: &[Value], ty: Type) -> Value {
    let (inst, v) = f.make_value(op, Flags::NONE, Imm::None, args, ty, f.term(block).guest);
    f.blocks[block].insts.push(inst);
    v
}
