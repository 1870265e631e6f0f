//! Whether a fragment shader's invocation is a helper, for languages that do not say it: the invocation remembers.
//!
//! ```text
//!                              slot helper : bool
//!                              v1 : i32 = input %sample_mask
//!                              v2 : bool = icmp.eq v1, 0
//!                              slot_set helper, v2
//! discard_if v0          =>    v3 : bool = slot_get helper
//!                              v4 : bool = or v3, v0
//!                              slot_set helper, v4
//!                              discard_if v0
//! v5 : bool = helper           v5 : bool = slot_get helper
//! ```
//!
//! A helper covers no sample, so its mask is 0: by this DXC makes `IsHelperLane` of shader models before 6.6, too. llvmpipe gives
//! helpers a mask of all samples; there only those are known that a discard makes. Shaders that do either outside
//! their entry function are left as they are.

use crate::edit::{self, Replaced};
use crate::{Changed, Lacks};
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Builder, Flags, Func, Imm, Inst, Module, Op, Slot, Stage, Type, Value};

/// Remembers who is a helper, where something asks.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.helpers || module.stage != Stage::Fragment {
        return Changed::NONE;
    }
    let Some(entry) = module.entry.expand() else { return Changed::NONE };
    let is_op = |func: Func, wanted: fn(Op) -> bool| {
        let f = &module.funcs[func];
        f.layout.iter().flat_map(|&block| &f.blocks[block].insts).any(|&inst| wanted(f.insts[inst].op))
    };
    let is_about_helpers = |op: Op| matches!(op, Op::Helper | Op::Demote | Op::DiscardIf);
    if !is_op(entry, |op| op == Op::Helper)
        || module.funcs.keys().any(|func| func != entry && is_op(func, is_about_helpers))
    {
        return Changed::NONE;
    }
    let mask = edit::builtin_input(module, Builtin::SampleMask, Type::I32);
    let f = &mut module.funcs[entry];
    let Some(first) = f.entry() else { return Changed::NONE };
    let slot = f.add_slot(format!("helper{}", f.slots.len()), Type::BOOL);
    let mut replaced = Replaced::default();
    replaced.reset(f);
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        let insts = std::mem::take(&mut f.blocks[block].insts);
        let b = &mut Builder::new(f, block);
        if block == first {
            let covered = b.input(mask, Type::I32);
            let none = b.i32(0);
            let is_helper = b.op(Op::IcmpEq, &[covered, none]);
            set(b, slot, is_helper);
        }
        for inst in insts {
            if is_about_helpers(b.func.insts[inst].op) {
                rewrite(b, inst, slot, &mut replaced);
            } else {
                b.func.blocks[block].insts.push(inst);
            }
        }
    }
    replaced.apply(f);
    Changed::INSTS
}

/// Notes a demotion, or answers whether the invocation is a helper.
fn rewrite(b: &mut Builder, inst: Inst, slot: Slot, replaced: &mut Replaced) {
    b.set_guest(b.func.insts[inst].guest);
    let demoted = match b.func.insts[inst].op {
        Op::Helper => {
            let is_helper = get(b, slot);
            if let Some(asked) = b.func.result(inst) {
                replaced.set(b.func, asked, is_helper);
            }
            return;
        }
        Op::DiscardIf => {
            let was = get(b, slot);
            let args: Vec<Value> = [was].into_iter().chain(b.func.args(inst).iter().copied()).collect();
            b.op(Op::Or, &args)
        }
        _ => b.bool(true),
    };
    set(b, slot, demoted);
    let block = b.block();
    b.func.blocks[block].insts.push(inst);
}

fn get(b: &mut Builder, slot: Slot) -> Value {
    let inst = b.inst(Op::SlotGet, Flags::NONE, Imm::Slot(slot), &[], &[Type::BOOL]);
    match b.func.result(inst) {
        Some(v) => v,
        None => b.bool(false),
    }
}

fn set(b: &mut Builder, slot: Slot, v: Value) {
    b.inst(Op::SlotSet, Flags::NONE, Imm::Slot(slot), &[v], &[]);
}
