//! Two branches in a row with a common target.
//!
//! ```text
//! block0:                                  block0:
//!   branch v0, block3(v1), block1            v4 : bool = or v0, v2
//! block1:                                    v5 : i32 = select v0, v1, v3
//!   branch v2, block3(v3), block2    =>      branch v4, block3, block2
//! block3(v6 : i32):                        block3:
//!   …                                        …
//! ```

use super::{Arm, add, are_small, arm, cheap_ops, select_all, take};
use crate::edit::{self, Replaced};
use xenoglot_ir::analysis::Pred;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Edge, Function, Op, TermKind, Type};

/// The second branch, and the arms of both to the place that they share.
pub(super) struct Either {
    second: Block,
    arms: [Arm; 2],
    /// Where the second branch goes otherwise.
    other: Edge,
    /// Whether each leads there if its condition is true.
    if_true: [bool; 2],
}

/// The branch that follows that of `block`, if joining both is worth it.
pub(super) fn find(f: &Function, block: Block, ways: &SecondaryMap<Block, u32>) -> Option<Either> {
    let first = branch(f, block)?;
    (0..2).find_map(|n| {
        let second = first[1 - n].block;
        let is_alone = ways[second] == 1 && second != block && f.params(second).is_empty();
        let edges = branch(f, second).filter(|_| is_alone)?;
        let ops = cheap_ops(f, second).filter(|_| !has_discard(f, second))?;
        let one = || arm(f, block, &first[n], ways);
        let to = one().to;
        let m = (0..2).find(|&m| arm(f, second, &edges[m], ways).to == to)?;
        let arms = [one(), arm(f, second, &edges[m], ways)];
        let other = edges[1 - m].clone();
        let is_other = |place: Block| place != to && arms.iter().all(|arm| arm.over != Some(place));
        let is_apart = [block, second].into_iter().chain([other.block]).all(is_other)
            && arms.iter().all(|arm| arm.over.is_none_or(|over| over != to && !has_discard(f, over)));
        let is_worth = ways[to] == 2 || ways[to] == 3 && is_rest(f, other.block, to, ways);
        (is_worth && is_apart && are_small(f, &arms, ops)).then_some(Either {
            second,
            arms,
            other,
            if_true: [n == 0, m == 0],
        })
    })
}

/// Whether a block is what is left of an if of several arms, all of which end at `to`.
fn is_rest(f: &Function, block: Block, to: Block, ways: &SecondaryMap<Block, u32>) -> bool {
    let is_jump = f.term(block).kind == TermKind::Jump && f.edges(block).iter().all(|edge| edge.block == to);
    is_jump && ways[block] == 1 && f.params(block).is_empty()
}

fn branch(f: &Function, block: Block) -> Option<&[Edge; 2]> {
    let term = f.term(block);
    (term.kind == TermKind::Branch).then(|| term.edges[..].try_into().ok()).flatten()
}

fn has_discard(f: &Function, block: Block) -> bool {
    f.blocks[block].insts.iter().any(|&inst| f.insts[inst].op == Op::DiscardIf)
}

/// Makes one branch of both.
pub(super) fn join(
    f: &mut Function,
    block: Block,
    either: Either,
    (ways, gone): (&mut SecondaryMap<Block, u32>, &mut SecondaryMap<Block, bool>),
    replaced: &mut Replaced,
) {
    let Either { second, arms, other, if_true } = either;
    let (&[first], &[then]) = (f.term_args(block), f.term_args(second)) else { return };
    let guest = f.term(block).guest;
    let to = arms[0].to;
    take(f, block, &arms[0], (first, if_true[0]), gone);
    let mut insts = std::mem::take(&mut f.blocks[second].insts);
    f.blocks[block].insts.append(&mut insts);
    gone[second] = true;
    take(f, block, &arms[1], (then, if_true[1]), gone);
    // Where the first branch leads there, its values are passed.
    let args = match if_true[0] {
        true => select_all(f, block, first, &arms[0].args, &arms[1].args),
        false => select_all(f, block, first, &arms[1].args, &arms[0].args),
    };
    let (goes, is_true) = match if_true {
        [true, true] => (add(f, block, Op::Or, &[first, then], Type::BOOL), true),
        [false, false] => (add(f, block, Op::And, &[first, then], Type::BOOL), false),
        [true, false] => {
            let not = add(f, block, Op::Not, &[then], Type::BOOL);
            (add(f, block, Op::Or, &[first, not], Type::BOOL), true)
        }
        [false, true] => {
            let not = add(f, block, Op::Not, &[then], Type::BOOL);
            (add(f, block, Op::And, &[first, not], Type::BOOL), false)
        }
    };
    let there = f.make_edge(to, &args);
    let edges = if is_true { [there, other] } else { [other, there] };
    f.set_term(block, TermKind::Branch, &[goes], edges.into_iter().collect(), Vec::new(), guest);
    ways[to] -= 1;
    if ways[to] > 1 {
        return;
    }
    // Nothing else leads there: what it gets is known.
    for (n, v) in args.into_iter().enumerate() {
        replaced.set(f, f.params(to)[n], v);
    }
    let pred = Pred { block, edge: u32::from(!is_true) };
    edit::remove_params(f, to, &[pred], |_| true);
}
