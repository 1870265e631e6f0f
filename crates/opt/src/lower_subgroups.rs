//! Subgroup ops of compute kernels for hosts whose subgroups have another width than the guest's: what lanes tell each
//! other goes through shared memory.
//!
//! ```text
//! block1:                               block1:
//!   v3 : i32 = sg.ballot v2       =>      slot_set at, ..number of the place..
//!   v4 : i32 = iadd v3, v1                slot_set operand, v2
//!                                         slot_set s1, v1
//!                                         jump meet
//!                                       place0:
//!                                         v3 : i32 = load shared ..ballot of the warp..
//!                                         v5 : i32 = slot_get s1
//!                                         v4 : i32 = iadd v3, v5
//! ```
//!
//! A kernel becomes a loop around two barriers, `meet`, which all lanes of the workgroup go round together: each lane
//! runs to its next subgroup op, barrier or end, and waits there. Of the lanes of a warp those who are behind the others
//! then do their op together and go on (the interpreter's order: by the iterations of the outermost loop, then by place),
//! the others wait. Those at a barrier go on when nobody is left before it; it is the workgroup's own barriers that make
//! them wait. So control flow may diverge as it likes, and lanes that have ended are missed by nobody.
//!
//! Values that do not reach their uses without passing `meet` live in slots. What the lanes tell is kept twice, for odd
//! and for even rounds: one is cleared while the other is in use.
//!
//! Graphics stages have no shared memory, and no API says which of their invocations share a subgroup: there the host's
//! stand in for the guest's (`graphics`). What is of a quad is so on all hosts.
//!
//! A pass over the module, whose shared memory grows. Reductions, scans, operands of other than 32 bits, and subgroup ops
//! outside the entry function are left for the back end to refuse.

mod graphics;
mod places;
mod rounds;

use crate::{Changed, Lacks, edit};
use xenoglot_ir::imm::{BarrierInfo, Scope};
use xenoglot_ir::module::{Builtin, Stage};
use xenoglot_ir::{Function, Imm, Inst, Kind, Module, Op, Slot, Type, Var};

/// Most places where lanes wait: they are numbered in a byte.
const MAX_PLACES: usize = 250;

/// Most lanes of a workgroup, and most bytes of its memory: more than hosts have.
const MAX_LANES: u32 = 1 << 12;
const MAX_SHARED: u32 = 1 << 24;

/// Lowers the subgroup ops whose width is neither 0 nor the host's: of compute kernels those of the entry function.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let Some(host_width) = lacks.subgroups else { return Changed::NONE };
    if !matches!(module.stage, Stage::Compute | Stage::Cpu) {
        return graphics::run(module, host_width, lacks.quads);
    }
    let Some((width, waits)) = plan(module, host_width) else { return Changed::NONE };
    let Some(entry) = module.entry.expand() else { return Changed::NONE };
    let lanes = module.workgroup.iter().fold(1u32, |n, &s| n.saturating_mul(s.max(1)));
    if lanes > MAX_LANES || module.shared_size > MAX_SHARED {
        return Changed::NONE;
    }
    let shared = rounds::Shared::new(module.shared_size.next_multiple_of(4), lanes, width);
    let index = edit::builtin_input(module, Builtin::LocalInvocationIndex, Type::I32);
    let f = &mut module.funcs[entry];
    rounds::lower_ids(f, index, width, host_width);
    if !waits {
        return Changed::ALL;
    }
    let insts = f.layout.iter().flat_map(|&b| &f.blocks[b].insts);
    let kernel = Kernel {
        width,
        index,
        shared,
        barrier: insts.fold(EXCHANGE, |all, &inst| joined(f, inst, all)),
        at: new_slot(f, "at", Type::I32),
        operand: new_slot(f, "operand", Type::I32),
        round: new_slot(f, "round", Type::I32),
    };
    let (meet, places) = places::split(f, &kernel, host_width);
    rounds::connect(f, &kernel, meet, &places);
    places::repair(f);
    module.shared_size = shared.end();
    Changed::ALL
}

/// What every step needs to know.
struct Kernel {
    width: u8,
    /// The lane's number in the workgroup.
    index: Var,
    shared: rounds::Shared,
    /// What the barriers of `meet` order: shared memory, and all that those of the guest do.
    barrier: BarrierInfo,
    /// Where a lane waits.
    at: Slot,
    /// What it tells.
    operand: Slot,
    /// Which of the two memories is in use: its offset.
    round: Slot,
}

const EXCHANGE: BarrierInfo =
    BarrierInfo { scope: Scope::Workgroup, shared: true, storage: false, image: false, exec: true };

fn joined(f: &Function, inst: Inst, all: BarrierInfo) -> BarrierInfo {
    match f.insts[inst].imm {
        Imm::Barrier(b) => {
            BarrierInfo { storage: all.storage | b.storage, image: all.image | b.image, ..all }
        }
        _ => all,
    }
}

/// The guest's width, and whether lanes ever wait for each other; `None` if there is nothing to do or it cannot be done.
fn plan(module: &Module, host_width: u8) -> Option<(u8, bool)> {
    let entry = module.entry.expand()?;
    if module.stage != Stage::Compute {
        return None;
    }
    let mut found = None;
    let (mut waiting, mut count) = (false, 0);
    for (func, f) in &module.funcs {
        // Few instructions concern this, in blocks or not.
        if !f.insts.values().any(|data| matches!(data.imm, Imm::Subgroup(_) | Imm::Barrier(_))) {
            continue;
        }
        for &inst in f.layout.iter().flat_map(|&b| &f.blocks[b].insts) {
            match f.insts[inst].imm {
                Imm::Subgroup(info) if info.width != 0 && info.width != host_width => {
                    let fits = info.width.is_power_of_two() && info.width <= 32;
                    if func != entry || !fits || *found.get_or_insert(info.width) != info.width {
                        return None;
                    }
                    if !matches!(f.insts[inst].op, Op::SgId | Op::SgSize) {
                        waiting = true;
                        count += 1;
                        exchanges(f, inst).then_some(())?;
                    }
                }
                Imm::Barrier(info) if waits_for_all(info) => {
                    count += 1;
                    (func == entry).then_some(())?;
                }
                _ => {}
            }
        }
    }
    (count <= MAX_PLACES).then_some(())?;
    Some((found?, waiting))
}

fn waits_for_all(info: BarrierInfo) -> bool {
    info.exec && info.scope >= Scope::Workgroup
}

/// Whether an op that lanes wait for each other to do is one that this pass knows.
fn exchanges(f: &Function, inst: Inst) -> bool {
    let types = f.args(inst).iter().chain(f.results(inst)).map(|&v| f.ty(v));
    let words =
        types.clone().all(|t| t.is_scalar() && matches!(t.kind(), Kind::I32 | Kind::F32 | Kind::Bool));
    match f.insts[inst].op {
        Op::SgBallot => f.result(inst).is_some_and(|v| matches!(f.ty(v), Type::I32 | Type::I64)),
        Op::SgElect | Op::SgAll | Op::SgAny | Op::SgReadFirst => words,
        Op::SgShuffle | Op::SgShuffleXor | Op::SgShuffleUp | Op::SgShuffleDown => words,
        _ => false,
    }
}

/// Whether lanes wait at `inst`.
fn is_place(f: &Function, inst: Inst, host_width: u8) -> bool {
    match f.insts[inst].imm {
        Imm::Subgroup(info) => {
            info.width != 0 && info.width != host_width && !matches!(f.insts[inst].op, Op::SgId | Op::SgSize)
        }
        Imm::Barrier(info) => waits_for_all(info),
        _ => false,
    }
}

/// A slot of this pass. Numbers only grow, so names stay unique.
fn new_slot(f: &mut Function, name: &str, ty: Type) -> Slot {
    f.add_slot(format!("sg_{name}{}", f.slots.len()), ty)
}
