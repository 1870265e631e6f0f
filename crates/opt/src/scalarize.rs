//! Scalar ops for back ends without vectors: lane-wise ops and dot products go lane by lane.
//!
//! ```text
//! v2 : f32x2 = fadd v0, v1      =>   v3 : f32 = extract v0, 0
//! output %o, v2                      v4 : f32 = extract v1, 0
//!                                    v5 : f32 = fadd v3, v4
//!                                    v6 : f32 = extract v0, 1
//!                                    v7 : f32 = extract v1, 1
//!                                    v8 : f32 = fadd v6, v7
//!                                    v2 : f32x2 = build v5, v8
//!                                    output %o, v2
//! ```
//!
//! Vectors remain where a whole one is wanted: loads and stores, inputs and outputs, calls, parameters. `simplify`
//! then takes each `extract` to its scalar and `dead_code` removes the vectors nobody reads.

use crate::session::{Done, Keeps, Work};
use crate::{Changed, edit};
use smallvec::SmallVec;
use xenoglot_ir::{Bits, Flags, Function, Imm, Inst, Op, Type, Value};

#[derive(Default)]
pub(crate) struct Buffers {
    insts: Vec<Inst>,
}

/// Takes vector ops apart.
pub fn run(w: &mut Work<'_>) -> Done {
    let (f, out) = (&mut *w.f, &mut w.buffers.scalarize.insts);
    let mut changed = false;
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        out.clear();
        for &inst in &insts {
            changed |= split(f, out, inst);
            out.push(inst);
        }
        insts.clear();
        insts.extend_from_slice(out);
        f.blocks[block].insts = insts;
    }
    w.done(Changed::insts_if(changed), Keeps::NOTHING)
}

/// Puts scalar ops for `inst` into `out` and makes `inst` what joins them, if it is an op on vectors.
fn split(f: &mut Function, out: &mut Vec<Inst>, inst: Inst) -> bool {
    let data = &f.insts[inst];
    let (op, flags) = (data.op, data.flags);
    let Some(result) = f.result(inst) else { return false };
    let ty = f.ty(result);
    let args: SmallVec<[Value; 4]> = f.args(inst).into();
    match op {
        Op::Fdot2 | Op::Fdot3 | Op::Fdot4 => dot(f, out, inst, &args),
        _ if op.is_lanewise() && !ty.is_scalar() => {
            let (imm, guest) = (data.imm, data.guest);
            let lanes: SmallVec<[Value; 4]> = (0..ty.lanes())
                .filter_map(|i| {
                    let args: SmallVec<[Value; 4]> =
                        args.iter().map(|&a| lane(f, out, a, i, guest)).collect();
                    append(f, out, op, flags, imm, &args, ty.lane(), guest)
                })
                .collect();
            edit::rewrite(f, inst, Op::Build, Flags::NONE, Imm::None, &lanes);
            true
        }
        _ => false,
    }
}

/// `fdot` as the sum from +0 it is. The first sum, of +0 and a product, is kept: it makes +0 of -0.
fn dot(f: &mut Function, out: &mut Vec<Inst>, inst: Inst, args: &[Value]) -> bool {
    let (flags, guest) = (f.insts[inst].flags, f.insts[inst].guest);
    let &[a, b] = args else { return false };
    if flags.sat() {
        return false; // where it clamps within the sum is the op's own business
    }
    let (vector, scalar) = (f.ty(a), f.ty(a).lane());
    let sum_flags = {
        let f = Flags::NONE.with_round(flags.round());
        let f = if flags.contract() { f.with_contract() } else { f };
        if flags.ftz() { f.with_ftz() } else { f }
    };
    let zero = edit::make_const(f, scalar, Bits::default(), guest);
    out.push(zero);
    let Some(mut sum) = f.result(zero) else { return false };
    for i in 0..vector.lanes() {
        let (x, y) = (lane(f, out, a, i, guest), lane(f, out, b, i, guest));
        let Some(p) = append(f, out, Op::Fmul, flags, Imm::None, &[x, y], scalar, guest) else {
            return false;
        };
        if i + 1 == vector.lanes() {
            edit::rewrite(f, inst, Op::Fadd, sum_flags, Imm::None, &[sum, p]);
            return true;
        }
        let Some(next) = append(f, out, Op::Fadd, sum_flags, Imm::None, &[sum, p], scalar, guest) else {
            return false;
        };
        sum = next;
    }
    false
}

/// Lane `i` of `v`, or `v` if it has but one.
fn lane(f: &mut Function, out: &mut Vec<Inst>, v: Value, i: u8, guest: u32) -> Value {
    let ty = f.ty(v);
    if ty.is_scalar() {
        return v;
    }
    append(f, out, Op::Extract, Flags::NONE, Imm::Lane(i), &[v], ty.lane(), guest).unwrap_or(v)
}

#[allow(clippy::too_many_arguments)]
fn append(
    f: &mut Function,
    out: &mut Vec<Inst>,
    op: Op,
    flags: Flags,
    imm: Imm,
    args: &[Value],
    ty: Type,
    guest: u32,
) -> Option<Value> {
    let inst = f.make_inst(op, flags, imm, args, &[ty], guest);
    out.push(inst);
    f.result(inst)
}
