//! Dead code: instructions and block parameters that nothing needs go.
//!
//! Needed is what an effect or a terminator uses, and what something needed uses. A parameter needs its arguments
//! only if it is needed itself, so a loop counter that only feeds itself goes as a whole.
//!
//! ```text
//! block0:                              block0:
//!   v0 : i32 = const 0            =>     jump block1
//!   jump block1(v0)                    block1:
//! block1(v1 : i32):                      jump block1
//!   v2 : i32 = iadd v1, v1
//!   jump block1(v2)
//! ```

use crate::{Changed, Context, edit, effects};
use xenoglot_ir::entity::EntitySet;
use xenoglot_ir::{Function, Inst, Value, ValueDef};

#[derive(Default)]
pub(crate) struct Buffers {
    needed: EntitySet<Value>,
    kept: EntitySet<Inst>,
    work: Vec<Value>,
}

/// Removes dead instructions and block parameters; unreachable blocks count as if they were reached.
pub fn run(f: &mut Function, cx: &mut Context) -> Changed {
    cx.analyses.ensure_cfg(f);
    let mut b = std::mem::take(&mut cx.dead_code);
    mark(f, cx, &mut b);
    let changed = sweep(f, cx, &b);
    cx.dead_code = b;
    cx.end(Changed::insts_if(changed))
}

fn mark(f: &Function, cx: &Context, b: &mut Buffers) {
    b.needed.clear();
    b.needed.ensure_capacity(f.values.len());
    b.kept.clear();
    b.kept.ensure_capacity(f.insts.len());
    for &block in &f.layout {
        for &inst in &f.blocks[block].insts {
            if !effects::is_removable(f, cx, inst) {
                b.kept.insert(inst);
                f.args(inst).iter().for_each(|&v| need(&mut b.needed, &mut b.work, v));
            }
        }
        f.term_args(block).iter().for_each(|&v| need(&mut b.needed, &mut b.work, v));
        if !cx.analyses.cfg().is_reachable(block) {
            // Its edges are no predecessors of anything: keep what they name.
            for edge in f.edges(block) {
                f.edge_args(edge).iter().for_each(|&v| need(&mut b.needed, &mut b.work, v));
                f.params(edge.block).iter().for_each(|&v| need(&mut b.needed, &mut b.work, v));
            }
        }
    }
    if let Some(entry) = f.entry() {
        // The caller passes these.
        f.params(entry).iter().for_each(|&v| need(&mut b.needed, &mut b.work, v));
    }
    while let Some(v) = b.work.pop() {
        match f.values[v].def {
            ValueDef::Inst(inst, _) => {
                if b.kept.insert(inst) {
                    f.args(inst).iter().for_each(|&v| need(&mut b.needed, &mut b.work, v));
                }
            }
            ValueDef::Param(block, n) => {
                for p in cx.analyses.cfg().preds(block) {
                    let edge = &f.edges(p.block)[p.edge as usize];
                    if let Some(&arg) = f.edge_args(edge).get(usize::from(n)) {
                        need(&mut b.needed, &mut b.work, arg);
                    }
                }
            }
        }
    }
}

fn need(needed: &mut EntitySet<Value>, work: &mut Vec<Value>, v: Value) {
    if needed.insert(v) {
        work.push(v);
    }
}

fn sweep(f: &mut Function, cx: &Context, b: &Buffers) -> bool {
    let mut changed = false;
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        let insts = &mut f.blocks[block].insts;
        let before = insts.len();
        insts.retain(|&inst| b.kept.contains(inst));
        changed |= insts.len() != before;
        if f.params(block).iter().any(|&v| !b.needed.contains(v)) {
            changed = true;
            let params: smallvec::SmallVec<[Value; 16]> = f.params(block).into();
            edit::remove_params(f, block, cx.analyses.cfg().preds(block), |n| !b.needed.contains(params[n]));
        }
    }
    changed
}
