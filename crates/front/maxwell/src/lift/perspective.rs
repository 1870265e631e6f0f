//! Removes the multiplication by w that fragment programs make for perspective, where the host has divided already.
//!
//! ```text
//! v3 = fmul v_in, v_w            v3 = fmul v_in, v_w
//! v4 = rcp v_w                   v4 = rcp v_w
//! v5 = fmul v3, v4        →      (v5 is v_in)
//! ```
//!
//! `v_w` is the window's 1/w, lane 3 of the fragment's coordinates. Run it after `promote`; what stays unused goes with
//! dead code.

use rustc_hash::FxHashMap;
use xenoglot_ir::module::{Builtin, Semantic};
use xenoglot_ir::op::Sig;
use xenoglot_ir::{Flags, Function, Imm, Module, Op, Stage, Value};

/// Cancels pairs in a fragment shader's functions.
pub fn cancel_perspective(module: &mut Module) {
    if module.stage != Stage::Fragment {
        return;
    }
    let is_coordinate = |imm: Imm| match imm {
        Imm::Var(var) => {
            module.vars.get(var).is_some_and(|v| v.semantic == Semantic::Builtin(Builtin::FragCoord))
        }
        _ => false,
    };
    for func in module.funcs.values_mut() {
        let mut factors: FxHashMap<Value, Value> = FxHashMap::default();
        for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
            if func.insts[inst].op != Op::Fmul || func.insts[inst].flags != Flags::NONE {
                continue;
            }
            let (&[a, b], Some(product)) = (func.args(inst), func.result(inst)) else { continue };
            let factor = factor(func, a, b, &is_coordinate).or_else(|| factor(func, b, a, &is_coordinate));
            if let Some(factor) = factor {
                factors.insert(product, factor);
            }
        }
        if factors.is_empty() {
            continue;
        }
        for i in 0..func.layout.len() {
            let block = func.layout[i];
            // A factor is an input, never itself a product that goes.
            func.map_uses(block, |v| factors.get(&v).copied().unwrap_or(v));
        }
    }
}

/// The factor of `product` beside 1/w, if `w` is its reciprocal.
fn factor(f: &Function, product: Value, w: Value, is_coordinate: &impl Fn(Imm) -> bool) -> Option<Value> {
    let rcp = f.def_inst(w).filter(|&i| f.insts[i].op == Op::Rcp)?;
    let divisor = *f.args(rcp).first()?;
    let inst = f.def_inst(product).filter(|&i| f.insts[i].op == Op::Fmul)?;
    let &[x, y] = f.args(inst) else { return None };
    let is_w = |v: Value| {
        let extract = f.def_inst(v).filter(|&i| f.insts[i].op == Op::Extract)?;
        let input = f.def_inst(*f.args(extract).first()?)?;
        let lane = f.insts[extract].imm == Imm::Lane(3);
        Some(lane && is_coordinate(f.insts[input].imm))
    };
    if is_w(divisor) != Some(true) {
        return None;
    }
    let (v, _) = [(x, y), (y, x)].into_iter().find(|&(_, w)| is_w(w) == Some(true))?;
    let interpolated = f.def_inst(v).map(|i| f.insts[i].op);
    interpolated
        .is_some_and(|op| op == Op::Input || matches!(op.info().sig, Sig::Interpolate(_)))
        .then_some(v)
}
