//! Block parameters: those that get an equal constant on every edge become that constant.
//!
//! ```text
//! block1:                              block1:
//!   v1 : i32 = const 7                   v1 : i32 = const 7
//!   jump block3(v1)                      jump block3
//! block2:                        =>    block2:
//!   v2 : i32 = const 7                   v2 : i32 = const 7
//!   jump block3(v2)                      jump block3
//! block3(v3 : i32):                    block3:
//!   output %o, v3                        v4 : i32 = const 7
//!                                        output %o, v4
//! ```
//!
//! Parameters that nobody uses go too. (Those that are always some other *value* are
//! [`copy_propagate`](crate::copy_propagate)'s, those used by dead code alone [`dead_code`](crate::dead_code)'s.)

use crate::session::{Done, Keeps, Known, Work};
use crate::{Changed, edit};
use smallvec::SmallVec;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::{Bits, Block, Function, Value};

#[derive(Default)]
pub(crate) struct Buffers {
    dead: SmallVec<[bool; 16]>,
}

/// Removes parameters in one sweep.
pub fn run(w: &mut Work<'_>) -> Done {
    let f = &mut *w.f;
    let Known { analyses, replaced, all_used, .. } = &mut *w.known;
    analyses.ensure_cfg(f);
    let has_params = f.layout.iter().skip(1).any(|&b| !f.params(b).is_empty());
    if !has_params || analyses.cfg().rpo().len() != f.layout.len() {
        return w.finish(); // edges from unreachable blocks are nobody's predecessors
    }
    replaced.reset(f);
    if !*all_used {
        analyses.ensure_uses(f);
    }
    let cfg = analyses.cfg();
    let unused = |v: Value| !*all_used && analyses.uses().count(v) == 0;
    let mut changed = false;
    for &block in cfg.rpo().iter().skip(1) {
        let n = f.params(block).len();
        let dead = &mut w.buffers.block_params.dead;
        dead.clear();
        for k in 0..n {
            let param = f.params(block)[k];
            let unused = unused(param);
            let constant = if unused { None } else { constant(f, cfg, replaced, block, k) };
            if let Some(bits) = constant {
                let inst = edit::make_const(f, f.ty(param), bits, xenoglot_ir::NO_GUEST);
                f.blocks[block].insts.insert(0, inst);
                if let Some(v) = f.result(inst) {
                    replaced.set(f, param, v);
                }
            }
            dead.push(constant.is_some() || unused);
        }
        if dead.contains(&true) {
            changed = true;
            edit::remove_params(f, block, cfg.preds(block), |k| dead[k]);
        }
    }
    replaced.apply(f);
    w.done(Changed::insts_if(changed), Keeps::STALE)
}

/// The constant that parameter `k` of `block` gets on every edge that does not pass it on.
fn constant(f: &Function, cfg: &Cfg, replaced: &edit::Replaced, block: Block, k: usize) -> Option<Bits> {
    let param: Value = f.params(block)[k];
    let mut found = None;
    for p in cfg.preds(block) {
        let edge = &f.edges(p.block)[p.edge as usize];
        let arg = *f.edge_args(edge).get(k)?;
        if arg == param {
            continue;
        }
        let bits = f.const_bits(replaced.resolve(arg))?;
        if found.is_some_and(|b| b != bits) {
            return None;
        }
        found = Some(bits);
    }
    found
}
