//! Signed least and greatest in memory, which WGSL has for atomics that are declared signed only: loops of compare-exchange,
//! as [`lower_memory`](crate::lower_memory) makes them.

use crate::lower_memory::{Lowering, lower};
use crate::{Changed, Lacks};
use xenoglot_ir::imm::{Imm, MemInfo};
use xenoglot_ir::{Function, Inst, Module, Op, Type};

/// Lowers the atomics of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.signed_atomics {
        return Changed::NONE;
    }
    module.funcs.values_mut().fold(Changed::NONE, |changed, f| changed.or(lower(f, lowering)))
}

fn lowering(f: &Function, inst: Inst) -> Option<(Lowering, MemInfo)> {
    let data = &f.insts[inst];
    let Imm::Mem(mem) = data.imm else { return None };
    let is_word = f.result(inst).is_some_and(|v| f.ty(v) == Type::I32);
    let is_signed = matches!(data.op, Op::AtomicSmin | Op::AtomicSmax);
    (is_signed && is_word).then_some((Lowering::Loop(Type::I32), mem))
}
