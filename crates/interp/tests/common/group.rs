//! Kernels of one workgroup.

use super::{buffer, builtin, entry, module, storage, value};
use xenoglot_interp::{Bindings, Interpreter, Limits, Trap};
use xenoglot_ir::imm::{BarrierInfo, Reduce, Scope, SubgroupInfo};
use xenoglot_ir::module::{Builtin, OutOfBounds};
use xenoglot_ir::{Builder, Flags, Imm, Module, Op, Resource, Type, Value};

pub const LIMITS: Limits =
    Limits { fuel: 1_000_000, call_depth: 8, memory: 1 << 24, events: 0, trace: 1 << 16 };
pub const HOST: SubgroupInfo = SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false };

pub fn barrier(b: &mut Builder) {
    let info =
        BarrierInfo { scope: Scope::Workgroup, shared: true, storage: false, image: false, exec: true };
    b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
}

pub fn subgroup(b: &mut Builder, op: Op, info: SubgroupInfo, args: &[Value], ty: Type) -> Value {
    value(b, op, Imm::Subgroup(info), args, ty)
}

/// Ballot of `true`: who is here.
pub fn here(b: &mut Builder) -> Value {
    let yes = b.bool(true);
    subgroup(b, Op::SgBallot, HOST, &[yes], Type::I32)
}

/// Stores `v` at word `index` of `r`.
pub fn put(b: &mut Builder, r: Resource, index: Value, v: Value) {
    let four = b.i32(4);
    let at = b.op(Op::Imul, &[index, four]);
    b.store(storage(r), at, v);
}

/// Runs one workgroup with `words` zeroed words in `r`.
pub fn run(m: &Module, r: Resource, words: usize, width: u8) -> Result<Vec<u32>, Trap> {
    let mut interp = Interpreter::new(m).unwrap();
    interp.set_subgroup_width(width);
    let mut bind = Bindings::new(m);
    bind.set_words(r, &vec![0; words]);
    interp.dispatch([1; 3], &mut bind, &LIMITS)?;
    Ok(bind.words(r))
}

/// A kernel of `lanes` invocations that stores the value made by `body` from its number there.
pub fn kernel(lanes: u32, body: impl FnOnce(&mut Builder, Value) -> Value) -> (Module, Resource) {
    let mut m = module();
    m.workgroup = [lanes, 1, 1];
    m.shared_size = 4 * lanes;
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    entry(&mut m, &[], |b| {
        let i = b.input(index, Type::I32);
        let v = body(b, i);
        put(b, r, i, v);
        b.ret(&[]);
    });
    (m, r)
}
