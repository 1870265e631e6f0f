//! What the passes over lifted shaders share.

use xenoglot_ir::list::ValueList;
use xenoglot_ir::{Builder, Flags, Imm, Inst, Module, Op, Resource, Value};

/// Calls `each` for every instruction of a module, with a builder for what is to stand before it; it says whether the
/// instruction stays.
pub(super) fn each_inst(module: &mut Module, mut each: impl FnMut(&mut Module, &mut Builder, Inst) -> bool) {
    for key in module.funcs.keys().collect::<Vec<_>>() {
        let mut func = std::mem::take(&mut module.funcs[key]);
        for i in 0..func.layout.len() {
            let block = func.layout[i];
            for inst in std::mem::take(&mut func.blocks[block].insts) {
                let mut b = Builder::new(&mut func, block);
                b.set_guest(b.func.insts[inst].guest);
                if each(module, &mut b, inst) {
                    func.blocks[block].insts.push(inst);
                }
            }
        }
        module.funcs[key] = func;
    }
}

/// The resource of the handle that a texture op starts with.
pub(super) fn resource_of(b: &Builder, inst: Inst) -> Option<Resource> {
    let handle = b.func.def_inst(*b.func.args(inst).first()?)?;
    match b.func.insts[handle].imm {
        Imm::Resource(resource) => Some(resource),
        _ => None,
    }
}

/// Gives an instruction other operands.
pub(super) fn set_args(b: &mut Builder, inst: Inst, args: &[Value]) {
    b.func.insts[inst].args = ValueList::from_slice(args, &mut b.func.pool);
}

/// Makes an instruction another op; its result stays.
pub(super) fn rewrite(b: &mut Builder, inst: Inst, op: Op, args: &[Value]) {
    (b.func.insts[inst].op, b.func.insts[inst].flags, b.func.insts[inst].imm) = (op, Flags::NONE, Imm::None);
    set_args(b, inst, args);
}

/// The lanes of a value.
pub(super) fn lanes(b: &mut Builder, v: Value) -> Vec<Value> {
    match b.func.ty(v).lanes() {
        1 => vec![v],
        n => (0..n).map(|lane| b.extract(v, lane)).collect(),
    }
}

/// A value of these lanes.
pub(super) fn vector(b: &mut Builder, lanes: &[Value]) -> Value {
    match lanes {
        &[v] => v,
        _ => b.op(Op::Build, lanes),
    }
}
