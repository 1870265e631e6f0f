//! Derivatives of compute shaders, for hosts that have them in fragment shaders only: differences between the lanes of a quad.
//!
//! ```text
//! v1 : f32 = ddx.fine v0        =>      v2 : i32 = const 1
//!                                       v3 : f32 = sg.shuffle_xor width 4, v0, v2
//!                                       v4 : i32 = sg.id width 4
//!                                       ..the right one less the left one..
//! ```
//!
//! Four invocations in a row are a quad, the first two of them its upper row, as in SPIR-V's `DerivativeGroupLinearKHR`; front
//! ends number invocations so. The exchange goes through shared memory (`lower_subgroups`), as languages do not say which
//! invocations share a subgroup. Coarse derivatives are fine ones, which they may be.

use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Builder, Flags, Function, Imm, Inst, Module, Op, Stage, Type, Value};

/// Lanes of a quad.
const QUAD: u8 = 4;

/// Replaces the derivatives of a compute shader.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.compute_derivatives || module.stage != Stage::Compute {
        return Changed::NONE;
    }
    let insts = module.funcs.values().flat_map(|f| f.insts.values());
    let mut subgroups = insts.filter_map(|data| match data.imm {
        Imm::Subgroup(info) if info.width != 0 => Some(info.width),
        _ => None,
    });
    // A shader's subgroups are of one width, and hold whole quads.
    let width = subgroups.next().filter(|&width| width >= QUAD).unwrap_or(QUAD);
    let mut changed = false;
    for f in module.funcs.values_mut() {
        changed |= function(f, width);
    }
    Changed::insts_if(changed)
}

/// The bit of a lane's number that tells the two operands of a difference apart.
fn along(f: &Function, inst: Inst) -> Option<u32> {
    match f.insts[inst].op {
        Op::DdxFine | Op::DdxCoarse => Some(1),
        Op::DdyFine | Op::DdyCoarse => Some(2),
        _ => None,
    }
}

fn function(f: &mut Function, width: u8) -> bool {
    edit::replace_insts(
        f,
        |f, inst| along(f, inst).is_some(),
        |b, inst, replaced| {
            let (Some(bit), &[v], Some(result)) =
                (along(b.func, inst), b.func.args(inst), b.func.result(inst))
            else {
                return;
            };
            let difference = difference(b, v, bit, width);
            replaced.set(b.func, result, difference);
        },
    )
}

/// The value of the lane with the bit less that of the lane without.
fn difference(b: &mut Builder, v: Value, bit: u32, width: u8) -> Value {
    let subgroup = Imm::Subgroup(SubgroupInfo { width, reduce: Reduce::Iadd, exclusive: false });
    let id = b.inst(Op::SgId, Flags::NONE, subgroup, &[], &[Type::I32]);
    let Some(id) = b.func.result(id) else { return v };
    let (bit, zero) = (b.i32(bit), b.i32(0));
    let own = b.op(Op::And, &[id, bit]);
    let is_second = b.op(Op::IcmpNe, &[own, zero]);
    let ty = b.func.ty(v);
    let lanes: SmallVec<[Value; 4]> = (0..ty.lanes())
        .map(|lane| {
            let v = if ty.is_scalar() { v } else { b.extract(v, lane) };
            let kind = b.func.ty(v);
            // Lanes exchange words: of what is narrower or wider, as words.
            let word = if kind == Type::F32 { v } else { b.convert(Op::F2f, Flags::NONE, v, Type::F32) };
            let other = b.op_imm(Op::SgShuffleXor, Flags::NONE, subgroup, &[word, bit]);
            let (second, first) = (b.select(is_second, word, other), b.select(is_second, other, word));
            let difference = b.op(Op::Fsub, &[second, first]);
            if kind == Type::F32 { difference } else { b.convert(Op::F2f, Flags::NONE, difference, kind) }
        })
        .collect();
    match lanes[..] {
        [lane] => lane,
        _ => b.op(Op::Build, &lanes),
    }
}
