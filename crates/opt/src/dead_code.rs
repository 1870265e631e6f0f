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

use crate::effects::{self, Resources};
use crate::session::{Done, Keeps, Work};
use crate::{Changed, edit};
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::EntityRef as _;
use xenoglot_ir::{Block, Function, Value, ValueDef};

#[derive(Default)]
pub(crate) struct Buffers {
    /// By value.
    needed: Vec<bool>,
    /// By instruction.
    dead: Vec<bool>,
    /// Blocks in which the walk found dead instructions.
    stale: Vec<Block>,
    /// Blocks with an edge back.
    latches: Vec<Block>,
    work: Vec<Value>,
}

/// Removes dead instructions and block parameters; what unreachable blocks use is needed.
pub fn run(w: &mut Work<'_>) -> Done {
    if std::mem::replace(&mut w.known.all_used, true) {
        return w.finish();
    }
    let (f, b) = (&mut *w.f, &mut w.buffers.dead_code);
    w.known.analyses.ensure_cfg(f);
    let cfg = w.known.analyses.cfg();
    b.mark(f, w.resources, cfg);
    let changed = b.sweep(f, cfg);
    w.done(Changed::insts_if(changed), Keeps::USES)
}

impl Buffers {
    /// Blocks are walked from last to first: most values are known to be needed, or not, when their definition is come
    /// to. What is needed over edges back is followed in the end.
    fn mark(&mut self, f: &Function, resources: &Resources, cfg: &Cfg) {
        for (list, count) in [(&mut self.needed, f.values.len()), (&mut self.dead, f.insts.len())] {
            list.clear();
            list.resize(count, false);
        }
        self.stale.clear();
        if cfg.rpo().len() != f.layout.len() {
            for &block in f.layout.iter().filter(|&&block| !cfg.is_reachable(block)) {
                // Its edges are no predecessors of anything: keep what they name.
                f.for_each_use(block, |v| self.follow(v));
                f.edges(block).iter().flat_map(|edge| f.params(edge.block)).for_each(|&v| self.follow(v));
            }
        }
        // The caller passes these.
        let entry = f.entry().map_or(&[][..], |entry| f.params(entry));
        entry.iter().for_each(|v| self.needed[v.index()] = true);
        self.latches.clear();
        for (number, &block) in cfg.rpo().iter().enumerate().rev() {
            let mut back = false;
            for edge in f.edges(block) {
                back |= cfg.rpo_number(edge.block).is_some_and(|to| to as usize <= number);
                for (param, arg) in f.params(edge.block).iter().zip(f.edge_args(edge)) {
                    self.needed[arg.index()] |= self.needed[param.index()];
                }
            }
            if back {
                self.latches.push(block);
            }
            if mark_block(f, resources, block, &mut self.needed, &mut self.dead) {
                self.stale.push(block);
            }
        }
        while let Some(block) = self.latches.pop() {
            for edge in f.edges(block) {
                for (param, &arg) in f.params(edge.block).iter().zip(f.edge_args(edge)) {
                    if self.needed[param.index()] {
                        self.follow(arg);
                    }
                }
            }
        }
        while let Some(v) = self.work.pop() {
            match f.values[v].def {
                ValueDef::Inst(inst, _) => {
                    if std::mem::take(&mut self.dead[inst.index()]) {
                        f.args(inst).iter().for_each(|&v| self.follow(v));
                    }
                }
                ValueDef::Param(block, n) => {
                    for p in cfg.preds(block) {
                        let edge = &f.edges(p.block)[p.edge as usize];
                        if let Some(&arg) = f.edge_args(edge).get(usize::from(n)) {
                            self.follow(arg);
                        }
                    }
                }
            }
        }
    }

    /// Needs a value whose definition the walk over the blocks may have passed.
    #[inline]
    fn follow(&mut self, v: Value) {
        if !std::mem::replace(&mut self.needed[v.index()], true) {
            self.work.push(v);
        }
    }

    fn sweep(&self, f: &mut Function, cfg: &Cfg) -> bool {
        let mut changed = false;
        for &block in &self.stale {
            let insts = &mut f.blocks[block].insts;
            let before = insts.len();
            insts.retain(|&inst| !self.dead[inst.index()]);
            changed |= insts.len() != before;
        }
        for &block in cfg.rpo() {
            if f.params(block).iter().any(|&v| !self.needed[v.index()]) {
                changed = true;
                let params: smallvec::SmallVec<[Value; 16]> = f.params(block).into();
                edit::remove_params(f, block, cfg.preds(block), |n| !self.needed[params[n].index()]);
            }
        }
        changed
    }
}

/// Marks what a block needs, and what in it is dead unless something comes to need it; whether anything is.
fn mark_block(
    f: &Function,
    resources: &Resources,
    block: Block,
    needed: &mut [bool],
    dead: &mut [bool],
) -> bool {
    f.term_args(block).iter().for_each(|&v| needed[v.index()] = true);
    let mut any_dead = false;
    for &inst in f.blocks[block].insts.iter().rev() {
        let data = &f.insts[inst];
        let used = match *data.results.as_slice(&f.pool) {
            [v] => needed[v.index()],
            ref results => results.iter().any(|v| needed[v.index()]),
        };
        if used || !effects::is_removable(f, resources, inst) {
            data.args.as_slice(&f.pool).iter().for_each(|v| needed[v.index()] = true);
        } else {
            dead[inst.index()] = true;
            any_dead = true;
        }
    }
    any_dead
}
