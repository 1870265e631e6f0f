//! What may be removed, merged and moved: the op table's traits made exact by flags, immediates and resources.

use crate::Context;
use xenoglot_ir::imm::{Imm, MemInfo, Order};
use xenoglot_ir::module::OutOfBounds;
use xenoglot_ir::{DivZero, Function, Inst, Op, Space};

/// Whether `inst` does nothing but make its results, so that it can go when nobody uses them.
pub fn is_removable(f: &Function, cx: &Context, inst: Inst) -> bool {
    let data = &f.insts[inst];
    let traits = data.op.info().traits;
    if data.op.is_open() || traits.writes {
        return false;
    }
    match (data.op, data.imm) {
        (Op::Load, Imm::Mem(m)) => is_plain(m) && !may_fault(cx, m),
        (Op::Load, _) => false,
        (Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem, _) => !may_trap(f, inst),
        _ => traits.pure || traits.reads,
    }
}

/// Whether a later equal instruction that `inst` dominates has the same results.
pub fn is_mergeable(f: &Function, inst: Inst) -> bool {
    let data = &f.insts[inst];
    let traits = data.op.info().traits;
    if data.op.is_open() || traits.convergent || traits.writes {
        return false;
    }
    match (data.op, data.imm) {
        (Op::Load, Imm::Mem(m)) => is_plain(m) && is_constant(m.space),
        (Op::Input, _) => true,
        _ => traits.pure,
    }
}

/// Whether `inst` may be executed where the program did not ask for it, without anybody noticing. `always` says
/// that the program would have come to it anyway.
pub fn is_speculatable(f: &Function, cx: &Context, inst: Inst, always: bool) -> bool {
    let harmless = match (f.insts[inst].op, f.insts[inst].imm) {
        // The front end vouches for the accesses that are executed, not for others.
        (Op::Load, Imm::Mem(m)) => always || oob(cx, m) != OutOfBounds::Undefined,
        _ => true,
    };
    harmless && is_mergeable(f, inst) && is_removable(f, cx, inst)
}

/// Whether a division ends the invocation when the divisor is zero, and it may be zero.
fn may_trap(f: &Function, inst: Inst) -> bool {
    f.insts[inst].flags.div_zero() == DivZero::Trap
        && !f.args(inst).get(1).is_some_and(|&b| {
            let lanes = usize::from(f.ty(b).lanes());
            f.const_bits(b).is_some_and(|bits| bits.0[..lanes].iter().all(|&l| l != 0))
        })
}

fn is_plain(m: MemInfo) -> bool {
    !m.volatile && m.order == Order::None
}

/// Whether nothing in the program can change what is in `space`.
fn is_constant(space: Space) -> bool {
    matches!(space, Space::ConstBank | Space::Uniform | Space::Push | Space::Record)
}

fn may_fault(cx: &Context, m: MemInfo) -> bool {
    oob(cx, m) == OutOfBounds::Fault
}

fn oob(cx: &Context, m: MemInfo) -> OutOfBounds {
    match m.resource.expand() {
        Some(r) => cx.oob[r],
        None if matches!(m.space, Space::Shared | Space::Private | Space::Global | Space::GuestRegs) => {
            OutOfBounds::Undefined
        }
        None => OutOfBounds::Fault,
    }
}
