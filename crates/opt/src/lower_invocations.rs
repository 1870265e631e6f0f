//! Computes the workgroup, and the invocation in it, of the invocation in the dispatch: for hosts that number only those, and
//! run them along x.
//!
//! ```text
//! workgroup 64 1 1                                 workgroup 64 1 1
//!                                            =>    v1 : i32x3 = input %global_invocation_id
//!                                                  v2 : i32 = extract 0, v1
//!                                                  v3 : i32 = const 64
//!   v0 : i32 = input %local_invocation_index       v0 : i32 = urem v2, v3
//! ```
//!
//! Workgroups of more dimensions keep their inputs.

use crate::{Changed, Lacks, edit};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::module::{Builtin, Direction, Semantic};
use xenoglot_ir::{Builder, Imm, Inst, Module, Op, Stage, Type, Value, Var};

/// Computes a kernel's inputs of those that the host has.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let [size, 1, 1] = module.workgroup else { return Changed::NONE };
    if !lacks.invocations || module.stage != Stage::Compute || size == 0 {
        return Changed::NONE;
    }
    let mut computed: SecondaryMap<Var, Option<Builtin>> = SecondaryMap::new();
    let mut any = false;
    for (var, data) in &module.vars {
        computed[var] = match data.semantic {
            Semantic::Builtin(builtin) if data.direction == Direction::Input => is_computed(builtin),
            _ => None,
        };
        any |= computed[var].is_some();
    }
    if !any {
        return Changed::NONE;
    }
    let global = edit::builtin_input(module, Builtin::GlobalInvocationId, Type::I32X3);
    computed.resize(module.vars.len());
    for f in module.funcs.values_mut() {
        let wanted = |inst: Inst, imm: Imm| match imm {
            Imm::Var(var) => computed[var].map(|builtin| (inst, builtin)),
            _ => None,
        };
        edit::replace_insts(
            f,
            |f, inst| wanted(inst, f.insts[inst].imm).is_some(),
            |b, inst, replaced| {
                let Some((_, builtin)) = wanted(inst, b.func.insts[inst].imm) else { return };
                let made = compute(b, builtin, global, size);
                if let Some(old) = b.func.result(inst) {
                    replaced.set(b.func, old, made);
                }
            },
        );
    }
    edit::drop_vars(module, |var| computed[var].is_some());
    Changed::INSTS
}

fn is_computed(builtin: Builtin) -> Option<Builtin> {
    matches!(builtin, Builtin::LocalInvocationId | Builtin::LocalInvocationIndex | Builtin::WorkgroupId)
        .then_some(builtin)
}

fn compute(b: &mut Builder, builtin: Builtin, global: Var, size: u32) -> Value {
    let id = b.input(global, Type::I32X3);
    let id = b.extract(id, 0);
    let is_group = builtin == Builtin::WorkgroupId;
    let x = match (size.is_power_of_two(), is_group) {
        (true, true) => {
            let by = b.i32(size.trailing_zeros());
            b.op(Op::Ushr, &[id, by])
        }
        (true, false) => {
            let mask = b.i32(size - 1);
            b.op(Op::And, &[id, mask])
        }
        (false, _) => {
            let by = b.i32(size);
            b.op(if is_group { Op::Udiv } else { Op::Urem }, &[id, by])
        }
    };
    if builtin == Builtin::LocalInvocationIndex {
        return x;
    }
    let zero = b.i32(0);
    b.op(Op::Build, &[x, zero, zero])
}
