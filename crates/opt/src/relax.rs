//! Floats as the host has them, in place of the guest's.
//!
//! ```text
//! v2 : f32 = fmul.ftz.zw v0, v1       =>   v2 : f32 = fmul v0, v1
//! v3 : f32 = fadd.ftz.sat.zero v2, v0 =>   v3 : f32 = fadd.sat v2, v0
//! v4 : f32 = fmin.second v2, v3       =>   v4 : f32 = fmin v2, v3
//! ```
//!
//! Dropped are flushed denormals, the rules for zeros in products and NaNs in minima, and the rounding of results that are
//! floats: what most translators leave to the host. Results differ from the guest's in these cases. Kept is what programs
//! compute with on purpose: clamping to 0..=1, conversions to integers, and whether sums of products may be fused.
//!
//! The pass list runs it where [`Options::relaxed_floats`](crate::Options::relaxed_floats) asks for it, and notes that in the
//! module, so that everything made of it can say so.

use crate::Changed;
use crate::session::{Done, Keeps, Work};
use xenoglot_ir::{Flags, Function, Inst};

/// Drops the flags of every instruction that computes floats.
pub fn run(w: &mut Work<'_>) -> Done {
    let mut changed = false;
    for inst in w.f.insts.keys() {
        let flags = relaxed(w.f, inst);
        if flags != w.f.insts[inst].flags {
            w.f.insts[inst].flags = flags;
            changed = true;
        }
    }
    w.done(Changed::insts_if(changed), Keeps::NOTHING)
}

fn relaxed(f: &Function, inst: Inst) -> Flags {
    let flags = f.insts[inst].flags.without_float_rules();
    // Of conversions to integers the rounding is the point.
    let to_float = f.result(inst).is_some_and(|v| f.ty(v).kind().is_float());
    if to_float { flags.with_round(xenoglot_ir::Round::Natural) } else { flags }
}
