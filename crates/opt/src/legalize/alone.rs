//! Expansion for other passes.

use super::*;

/// Makes what `wanted` names of ops that every host has, whatever the host at hand lacks.
pub(crate) fn expand_where(f: &mut Function, wanted: impl Fn(&Function, Inst) -> bool) {
    if !f.layout.iter().any(|&block| f.blocks[block].insts.iter().any(|&inst| wanted(f, inst))) {
        return;
    }
    let mut replaced = Replaced::default();
    replaced.reset(f);
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            let made = wanted(f, inst).then(|| {
                let mut b = Builder::new(f, block);
                b.set_guest(b.func.insts[inst].guest);
                expanded(&mut b, inst)
            });
            match (made.flatten(), f.result(inst)) {
                (Some(made), Some(old)) => replaced.set(f, old, made),
                _ => f.blocks[block].insts.push(inst),
            }
        }
    }
    replaced.apply(f);
}

/// Appends what an instruction becomes on hosts that have no such op; `None` if it has no expansion. The instruction itself stays
/// as it is.
pub(super) fn expanded(b: &mut Builder, inst: Inst) -> Option<Value> {
    let ty = b.func.ty(b.func.result(inst)?);
    let of = shape_type(b.func, inst)?;
    let data = &b.func.insts[inst];
    let shape = Shape { op: data.op, flags: data.flags, imm: data.imm, ty, of };
    let mut args: SmallVec<[Value; 4]> = b.func.args(inst).into();
    let mut c = Code { b, options: Options::RULES };
    if shape.flags.ftz() {
        for v in &mut args {
            if c.ty(*v).kind().is_float() {
                *v = float::flush(&mut c, *v);
            }
        }
    }
    let made = expand(&mut c, &shape, &args)?;
    // The others see to their results themselves.
    if shape.op != Op::Fldexp {
        return Some(made);
    }
    let made = if shape.flags.ftz() { float::flush(&mut c, made) } else { made };
    Some(if shape.flags.sat() { float::saturate(&mut c, made, false) } else { made })
}

/// The high half of the product of two 32-bit integers, as the host has it.
pub(crate) fn high_product(b: &mut Builder, options: Options, x: Value, y: Value) -> Value {
    if options.high_products {
        return int::high_product(&mut Code { b, options }, Op::Umulh, x, y);
    }
    b.op(Op::Umulh, &[x, y])
}
