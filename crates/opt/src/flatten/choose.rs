//! Values of arms that stay blocks.
//!
//! ```text
//! block0:                              block0:
//!   branch v0, block1, block2            v4 : i32 = iadd v2, v1
//! block1:                                v5 : i32 = select v0, v4, v1
//!   store … , v1                         branch v0, block1, block2
//!   v4 : i32 = iadd v2, v1      =>     block1:
//!   jump block2(v4)                      store … , v1
//! block2(v6 : i32):                      jump block2
//!   …                                  block2:
//! ```

use super::{MOST_OPS, is_cheap, select};
use crate::edit::{self, Replaced};
use smallvec::SmallVec;
use xenoglot_ir::analysis::Pred;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Inst, Op, TermKind, Value};

/// Instructions of an arm that are looked at.
const LOOKED_AT: usize = 32;

/// A way from a branch to where its arms meet.
struct Way {
    pred: Pred,
    over: Option<Block>,
}

/// Selects values before the branch at the end of `block` where that is possible; true if any.
pub(super) fn run(
    f: &mut Function,
    block: Block,
    ways: &SecondaryMap<Block, u32>,
    replaced: &mut Replaced,
) -> bool {
    let ([yes, no], TermKind::Branch, &[cond]) = (f.edges(block), f.term(block).kind, f.term_args(block))
    else {
        return false;
    };
    let tos = [yes.block, no.block];
    let meets = |n: usize| {
        let to = f.edges(tos[n]).first().map(|edge| edge.block);
        let is_over =
            ways[tos[n]] == 1 && f.term(tos[n]).kind == TermKind::Jump && f.params(tos[n]).is_empty();
        to.filter(|_| is_over && f.blocks[tos[n]].insts.len() <= LOOKED_AT)
    };
    let direct = |n: usize| Way { pred: Pred { block, edge: n as u32 }, over: None };
    let over = |n: usize| Way { pred: Pred { block: tos[n], edge: 0 }, over: Some(tos[n]) };
    let (to, meeting) = match [meets(0), meets(1)] {
        [Some(a), Some(b)] if a == b => (a, [over(0), over(1)]),
        [Some(a), _] if a == tos[1] => (a, [over(0), direct(1)]),
        [_, Some(b)] if b == tos[0] => (b, [direct(0), over(1)]),
        _ => return false,
    };
    if ways[to] != 2 || to == block || f.params(to).is_empty() {
        return false;
    }
    let mut chosen: SmallVec<[bool; 8]> = SmallVec::new();
    let mut moved = 0;
    for n in 0..f.params(to).len() {
        let given = [0, 1].map(|way: usize| {
            let Pred { block, edge } = meeting[way].pred;
            f.edge_args(&f.edges(block)[edge as usize]).get(n).copied()
        });
        let [Some(a), Some(b)] = given else { return false };
        let param = f.params(to)[n];
        let needed = [0, 1].map(|way: usize| to_move(f, [a, b][way], meeting[way].over, replaced));
        let can = match &needed {
            [Some(a), Some(b)] => moved + a.len() + b.len() <= MOST_OPS && !f.ty(param).kind().is_handle(),
            _ => false,
        };
        chosen.push(can);
        if !can {
            continue;
        }
        for (way, insts) in meeting.iter().zip(needed.into_iter().flatten()) {
            moved += insts.len();
            let Some(over) = way.over else { continue };
            f.blocks[over].insts.retain(|inst| !insts.contains(inst));
            f.blocks[block].insts.extend(insts);
        }
        let v = select(f, block, cond, a, b);
        replaced.set(f, param, v);
    }
    if !chosen.contains(&true) {
        return false;
    }
    let preds = meeting.map(|way| way.pred);
    edit::remove_params(f, to, &preds, |n| chosen[n]);
    true
}

/// The instructions of an arm that compute a value and have to be moved before the branch; `None` if they cannot be.
fn to_move(f: &Function, v: Value, over: Option<Block>, replaced: &Replaced) -> Option<SmallVec<[Inst; 4]>> {
    let mut insts: SmallVec<[Inst; 4]> = SmallVec::new();
    let Some(over) = over else { return Some(insts) };
    let inside =
        |v: Value| f.def_inst(replaced.resolve(v)).filter(|inst| f.blocks[over].insts.contains(inst));
    if let Some(inst) = inside(v) {
        let is_constant = |inst: Inst| matches!(f.insts[inst].op, Op::Const | Op::Undef);
        for inst in f.args(inst).iter().filter_map(|&arg| inside(arg)) {
            if !is_constant(inst) {
                return None;
            }
            if !insts.contains(&inst) {
                insts.push(inst);
            }
        }
        if !is_cheap(f, inst) {
            return None;
        }
        insts.push(inst);
    }
    Some(insts)
}
