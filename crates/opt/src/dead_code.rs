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
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Inst, Value, ValueDef};

#[derive(Default)]
pub(crate) struct Buffers {
    needed: SecondaryMap<Value, bool>,
    dead: SecondaryMap<Inst, bool>,
    /// Blocks that had something dead when they were come to.
    stale: Vec<Block>,
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

/// Blocks are walked from last to first: most values are known to be needed, or not, when their definition is come to.
/// What is needed through a parameter is followed in the end.
fn mark(f: &Function, cx: &Context, b: &mut Buffers) {
    b.needed.clear();
    b.needed.resize(f.values.len());
    b.dead.clear();
    b.dead.resize(f.insts.len());
    b.stale.clear();
    let cfg = cx.analyses.cfg();
    if cfg.rpo().len() != f.layout.len() {
        for &block in f.layout.iter().filter(|&&block| !cfg.is_reachable(block)) {
            b.block(f, cx, block, Buffers::follow);
            // Its edges are no predecessors of anything: keep what they name.
            for edge in f.edges(block) {
                f.edge_args(edge).iter().chain(f.params(edge.block)).for_each(|&v| b.follow(v));
            }
        }
    }
    for &block in cfg.rpo().iter().rev() {
        b.block(f, cx, block, |b, v| b.needed[v] = true);
    }
    for &block in &f.layout {
        // The caller passes those of the entry.
        let entry = f.entry() == Some(block);
        for &param in f.params(block) {
            if entry || b.needed[param] {
                b.needed[param] = true;
                b.work.push(param);
            }
        }
    }
    while let Some(v) = b.work.pop() {
        match f.values[v].def {
            ValueDef::Inst(inst, _) => {
                if std::mem::take(&mut b.dead[inst]) {
                    f.args(inst).iter().for_each(|&v| b.follow(v));
                }
            }
            ValueDef::Param(block, n) => {
                for p in cfg.preds(block) {
                    let edge = &f.edges(p.block)[p.edge as usize];
                    if let Some(&arg) = f.edge_args(edge).get(usize::from(n)) {
                        b.follow(arg);
                    }
                }
            }
        }
    }
}

impl Buffers {
    /// Marks what a block needs and what in it is dead unless something needs it that is come to later.
    #[inline]
    fn block(&mut self, f: &Function, cx: &Context, block: Block, need: impl Fn(&mut Buffers, Value)) {
        f.term_args(block).iter().for_each(|&v| need(self, v));
        let mut any_dead = false;
        for &inst in f.blocks[block].insts.iter().rev() {
            let used = f.results(inst).iter().any(|&v| self.needed[v]);
            if used || !effects::is_removable(f, cx, inst) {
                f.args(inst).iter().for_each(|&v| need(self, v));
            } else {
                self.dead[inst] = true;
                any_dead = true;
            }
        }
        if any_dead {
            self.stale.push(block);
        }
    }

    /// Needs a value whose definition the walk over the blocks may have passed.
    fn follow(&mut self, v: Value) {
        if !std::mem::replace(&mut self.needed[v], true) {
            self.work.push(v);
        }
    }
}

fn sweep(f: &mut Function, cx: &Context, b: &Buffers) -> bool {
    let mut changed = false;
    for &block in &b.stale {
        let insts = &mut f.blocks[block].insts;
        let before = insts.len();
        insts.retain(|&inst| !b.dead[inst]);
        changed |= insts.len() != before;
    }
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        if f.params(block).iter().any(|&v| !b.needed[v]) {
            changed = true;
            let params: smallvec::SmallVec<[Value; 16]> = f.params(block).into();
            edit::remove_params(f, block, cx.analyses.cfg().preds(block), |n| !b.needed[params[n]]);
        }
    }
    changed
}
