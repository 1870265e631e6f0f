//! Constants across blocks: edges lead past short blocks that compute constants of what every edge gives them.
//!
//! ```text
//! block0:                                block0:
//!   branch v0, block2(v8 (1)), block1      branch v0, block3(v9 (32)), block1
//! block1:                                block1:
//!   branch v1, block2(v7 (2)), block4      branch v1, block3(v10 (64)), block4
//! block2(v2 : i32):                =>
//!   v3 : i32 = shl v6 (16), v2
//!   jump block3(v3)
//! block3(v4 : i32):                      block3(v4 : i32):
//! ```
//!
//! Unrolled loops with a `break` end like this: what the `break` passes on is a constant in each round. Blocks that only pass on their
//! parameters are such blocks, too. Of two joins in a row, one is left.

use crate::session::{Done, Keeps, Work};
use crate::{Changed, edit};
use smallvec::SmallVec;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::{SecondaryMap, packed_option::PackedOption};
use xenoglot_ir::fold::{self, Cx, Fold, MAX_FOLD_ARGS};
use xenoglot_ir::{Bits, Block, Function, Inst, TermKind, Value, ValueDef};

/// Instructions of a short block.
const SHORT: usize = 6;
/// Edges to a block at most, for each of which it is computed.
const MOST_EDGES: usize = 64;

/// What an edge gives to the block behind the short one.
#[derive(Clone, Copy)]
enum Given {
    Value(Value),
    Const(Bits),
}

/// Leads edges past short blocks, and removes these.
pub fn run(w: &mut Work<'_>) -> Done {
    let f = &mut *w.f;
    let mut short: SmallVec<[Block; 8]> =
        f.layout.iter().skip(1).copied().filter(|&block| is_short(f, block)).collect();
    if short.is_empty() {
        return w.finish();
    }
    retain_unseen(f, &mut short);
    w.known.analyses.ensure_cfg(f);
    let cfg = w.known.analyses.cfg();
    // The edges to these blocks are other ones than the analysis knows.
    let mut targets: SmallVec<[Block; 8]> = SmallVec::new();
    let mut gone: SmallVec<[Block; 8]> = SmallVec::new();
    let mut given = Vec::new();
    for block in short {
        let to = f.edges(block)[0].block;
        if targets.contains(&block) || gone.contains(&to) || !given_by_all(f, cfg, block, &mut given) {
            continue;
        }
        lead_past(f, cfg, block, &given);
        targets.push(to);
        gone.push(block);
    }
    if gone.is_empty() {
        return w.finish();
    }
    // Blocks that nothing leads to may lead to those that went.
    edit::retain_blocks(f, |block| cfg.is_reachable(block) && !gone.contains(&block));
    w.done(Changed::ALL, Keeps::NOTHING)
}

/// Whether a block computes little from its parameters and jumps on.
fn is_short(f: &Function, block: Block) -> bool {
    let data = &f.blocks[block];
    data.term.kind == TermKind::Jump
        && !f.params(block).is_empty()
        && data.insts.len() <= SHORT
        && f.edges(block)[0].block != block
        && data.insts.iter().all(|&inst| {
            let info = f.insts[inst].op.info();
            constant(f, inst).is_some()
                || info.traits.pure && !info.traits.convergent && !matches!(info.fold, Fold::None)
        })
}

/// Keeps blocks whose values no other block uses.
fn retain_unseen(f: &Function, short: &mut SmallVec<[Block; 8]>) {
    let mut made_in: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    made_in.resize(f.values.len());
    for &block in short.iter() {
        let results = f.blocks[block].insts.iter().filter_map(|&inst| f.result(inst));
        for v in f.params(block).iter().copied().chain(results) {
            made_in[v] = block.into();
        }
    }
    let mut seen: SmallVec<[Block; 8]> = SmallVec::new();
    for &block in &f.layout {
        f.for_each_use(block, |v| {
            if let Some(home) = made_in[v].expand()
                && home != block
            {
                seen.push(home);
            }
        });
    }
    short.retain(|block| !seen.contains(block));
}

/// What each edge to `block` would give to the next block, edge by edge; whether all of it is constant or there already.
fn given_by_all(f: &Function, cfg: &Cfg, block: Block, given: &mut Vec<Given>) -> bool {
    given.clear();
    let preds = cfg.preds(block);
    // A block behind a single edge has no place where ways meet.
    if preds.len() < 2 || preds.len() > MOST_EDGES {
        return false;
    }
    let next = &f.edges(block)[0];
    preds.iter().all(|pred| {
        let args = f.edge_args(&f.edges(pred.block)[pred.edge as usize]);
        let param = |v: Value| match f.values[v].def {
            ValueDef::Param(home, n) if home == block => args.get(usize::from(n)).copied(),
            _ => None,
        };
        let mut known: SmallVec<[(Value, Bits); SHORT]> = SmallVec::new();
        let is_known = f.blocks[block].insts.iter().all(|&inst| {
            let bits = |v: Value| match known.iter().find(|known| known.0 == v) {
                Some(known) => Some(known.1),
                None => f.const_bits(param(v).unwrap_or(v)),
            };
            match (compute(f, inst, bits), f.result(inst)) {
                (Some(bits), Some(v)) => {
                    known.push((v, bits));
                    true
                }
                _ => false,
            }
        });
        if is_known {
            given.extend(f.edge_args(next).iter().map(|&v| {
                let bits = known.iter().find(|known| known.0 == v).map(|known| Given::Const(known.1));
                bits.unwrap_or_else(|| Given::Value(param(v).unwrap_or(v)))
            }));
        }
        is_known
    })
}

/// The constant that an instruction computes of constants.
fn compute(f: &Function, inst: Inst, bits: impl Fn(Value) -> Option<Bits>) -> Option<Bits> {
    if let Some(known) = constant(f, inst) {
        return Some(known);
    }
    let (operands, data) = (f.args(inst), &f.insts[inst]);
    if operands.is_empty() || operands.len() > MAX_FOLD_ARGS {
        return None;
    }
    let mut args: SmallVec<[Bits; MAX_FOLD_ARGS]> = SmallVec::new();
    let mut types: SmallVec<[_; MAX_FOLD_ARGS]> = SmallVec::new();
    for &v in operands {
        args.push(bits(v)?);
        types.push(f.ty(v));
    }
    let cx = Cx { result: f.ty(f.result(inst)?), arg: types[0], flags: data.flags, imm: data.imm };
    fold::eval(data.op, &cx, &args, &types).ok()
}

fn constant(f: &Function, inst: Inst) -> Option<Bits> {
    f.result(inst).and_then(|v| f.const_bits(v))
}

/// Leads the edges to `block` to the next one.
fn lead_past(f: &mut Function, cfg: &Cfg, block: Block, given: &[Given]) {
    let to = f.edges(block)[0].block;
    let params: SmallVec<[_; 8]> = f.params(to).iter().map(|&p| f.ty(p)).collect();
    for (n, pred) in cfg.preds(block).iter().enumerate() {
        let given = given.iter().skip(n * params.len()).zip(&params);
        let mut args: SmallVec<[Value; 8]> = SmallVec::new();
        for (&given, &ty) in given {
            match given {
                Given::Value(v) => args.push(v),
                Given::Const(bits) => {
                    let inst = edit::make_const(f, ty, bits, f.term(pred.block).guest);
                    f.blocks[pred.block].insts.push(inst);
                    args.extend(f.result(inst));
                }
            }
        }
        f.blocks[pred.block].term.edges[pred.edge as usize] = f.make_edge(to, &args);
    }
}
