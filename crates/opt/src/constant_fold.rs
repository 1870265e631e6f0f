//! Constant folding: an op on constants becomes the constant the interpreter would compute.
//!
//! ```text
//! v0 : f32 = const 2.0
//! v1 : f32 = const 3.0
//! v2 : f32 = fadd v0, v1      =>   v2 : f32 = const 5.0
//! ```
//!
//! What would fault and what the reference does not evaluate stays. Branches on constants are
//! [`branch_fold`](crate::branch_fold)'s.

use crate::session::{Done, Keeps, Work};
use crate::{Changed, edit};
use smallvec::SmallVec;
use xenoglot_ir::fold::{self, Cx, Fold, MAX_FOLD_ARGS};
use xenoglot_ir::{Bits, Function, Inst, Op, Value};

/// Folds in one sweep; chains fold because operands come before their users.
pub fn run(w: &mut Work<'_>) -> Done {
    let f = &mut *w.f;
    w.known.analyses.ensure_cfg(f);
    let mut changed = false;
    for &block in w.known.analyses.cfg().rpo() {
        for i in 0..f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[i];
            if let Some(bits) = fold_inst(f, inst) {
                edit::rewrite_const(f, inst, bits);
                changed = true;
            }
        }
    }
    w.done(Changed::insts_if(changed), Keeps::NOTHING)
}

/// The constant `inst` computes, if its operands are constants.
#[inline]
pub(crate) fn fold_inst(f: &Function, inst: Inst) -> Option<Bits> {
    // Most instructions end here.
    let operands = f.args(inst);
    if !operands.first().is_some_and(|&v| is_const(f, v)) || operands.len() > MAX_FOLD_ARGS {
        return None;
    }
    fold_constants(f, inst)
}

fn fold_constants(f: &Function, inst: Inst) -> Option<Bits> {
    let operands = f.args(inst);
    let data = &f.insts[inst];
    let info = data.op.info();
    if !info.traits.pure || info.traits.convergent || matches!(info.fold, Fold::None) {
        return None;
    }
    let mut args: SmallVec<[Bits; MAX_FOLD_ARGS]> = SmallVec::new();
    let mut types: SmallVec<[_; MAX_FOLD_ARGS]> = SmallVec::new();
    for &v in operands {
        args.push(f.const_bits(v)?);
        types.push(f.ty(v));
    }
    let result = f.ty(f.result(inst)?);
    let cx = Cx { result, arg: types[0], flags: data.flags, imm: data.imm };
    fold::eval(data.op, &cx, &args, &types).ok()
}

fn is_const(f: &Function, v: Value) -> bool {
    f.def_inst(v).is_some_and(|i| f.insts[i].op == Op::Const)
}
