//! Copies: a value that is always another is replaced by it.
//!
//! That is a block parameter whose argument is the same value on every edge (or the parameter itself), one that
//! gets on every edge what an earlier parameter of its block gets, and the `freeze` of what is not undefined. The
//! parameters are left unused; [`dead_code`](crate::dead_code) removes them.
//!
//! ```text
//! block0(v0 : i32):                    block0(v0 : i32):
//!   jump block1(v0)               =>     jump block1(v0)
//! block1(v1 : i32):                    block1(v1 : i32):
//!   v2 : i32 = iadd v1, v1               v2 : i32 = iadd v0, v0
//!   branch v3, block1(v1), block2        branch v3, block1(v0), block2
//! ```

use crate::{Changed, Context, edit::Replaced};
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::{Block, Function, Op, Value, ValueDef};

#[derive(Default)]
pub(crate) struct Buffers {
    /// The arguments of a block's parameters, edge by edge.
    args: Vec<Value>,
}

/// Replaces copies until there are none.
pub fn run(f: &mut Function, cx: &mut Context) -> Changed {
    cx.analyses.ensure_cfg(f);
    cx.replaced.reset(f);
    let Context { analyses, replaced, copy_propagate, .. } = cx;
    let cfg = analyses.cfg();
    for &block in cfg.rpo() {
        for i in 0..f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[i];
            if let (Op::Freeze, &[arg]) = (f.insts[inst].op, f.args(inst))
                && is_defined(f, replaced.resolve(arg))
                && let Some(old) = f.result(inst)
            {
                replaced.set(f, old, arg);
            }
        }
    }
    // A replaced parameter can make a copy of one that was looked at before: a sweep that finds nothing ends it.
    let mut again = true;
    while again {
        again = false;
        for &block in cfg.rpo().iter().skip(1) {
            again |= copy_propagate.params(f, cfg, replaced, block);
        }
    }
    let changed = !replaced.is_empty();
    replaced.apply(f);
    cx.end(Changed::insts_if(changed))
}

impl Buffers {
    fn params(&mut self, f: &mut Function, cfg: &Cfg, replaced: &mut Replaced, block: Block) -> bool {
        let n = f.params(block).len();
        if n == 0 {
            return false;
        }
        self.args.clear();
        for p in cfg.preds(block) {
            let edge = &f.edges(p.block)[p.edge as usize];
            self.args.extend(f.edge_args(edge).iter().map(|&v| replaced.resolve(v)));
        }
        if self.args.len() != n * cfg.preds(block).len() {
            return false; // an edge with too few arguments: not verified
        }
        let mut any = false;
        for k in 0..n {
            let param = f.params(block)[k];
            if replaced.resolve(param) != param {
                continue;
            }
            let others = self.args.iter().skip(k).step_by(n).copied().filter(|&v| v != param);
            if let Some(v) = only(others) {
                // Every use may see another value of an undefined one, uses of a parameter all see the same.
                if is_undef(f, v) {
                    continue;
                }
                replaced.set(f, param, v);
                any = true;
                continue;
            }
            let twin = (0..k).find(|&j| {
                let earlier = f.params(block)[j];
                replaced.resolve(earlier) == earlier
                    && f.ty(earlier) == f.ty(param)
                    && self.args.chunks(n).all(|edge| {
                        edge[j] == edge[k] && !is_undef(f, edge[k]) || edge[j] == earlier && edge[k] == param
                    })
            });
            if let Some(j) = twin {
                let earlier = f.params(block)[j];
                replaced.set(f, param, earlier);
                any = true;
            }
        }
        any
    }
}

/// The only value in `values`.
fn only(mut values: impl Iterator<Item = Value>) -> Option<Value> {
    let first = values.next()?;
    values.all(|v| v == first).then_some(first)
}

fn is_undef(f: &Function, v: Value) -> bool {
    f.def_inst(v).is_some_and(|i| f.insts[i].op == Op::Undef)
}

/// Whether `v` certainly has one value for all its uses.
fn is_defined(f: &Function, v: Value) -> bool {
    match f.values[v].def {
        ValueDef::Inst(i, _) => matches!(f.insts[i].op, Op::Const | Op::Freeze | Op::Input | Op::Load),
        ValueDef::Param(..) => false,
    }
}
