//! What may be removed, merged and moved: the op table's traits made exact by flags, immediates and resources.

use xenoglot_ir::entity::PrimaryMap;
use xenoglot_ir::imm::{Imm, ImmKind, MemInfo, Order};
use xenoglot_ir::module::{OutOfBounds, ResourceData};
use xenoglot_ir::op::{OPS, Sig};
use xenoglot_ir::{DivZero, Function, Inst, Op, Resource, Space};

/// A module's resources: they say what accesses outside of them do.
pub type Resources = PrimaryMap<Resource, ResourceData>;

/// What holds for an op whatever the instruction says, packed: passes ask this of everything they come to.
#[derive(Clone, Copy)]
struct Effects(u8);

const REMOVABLE: u8 = 1 << 0;
/// Whether it is removable, the instruction says.
const MAYBE_REMOVABLE: u8 = 1 << 1;
const MERGEABLE: u8 = 1 << 2;
/// Whether it is mergeable, the instruction says.
const MAYBE_MERGEABLE: u8 = 1 << 3;

static EFFECTS: [Effects; OPS.len()] = {
    let mut table = [Effects(0); OPS.len()];
    let mut i = 0;
    while i < OPS.len() {
        let traits = OPS[i].traits;
        let settled = !matches!(OPS[i].sig, Sig::Open) && !traits.writes;
        let remove = match OPS[i].op {
            Op::Load | Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => MAYBE_REMOVABLE,
            _ if traits.pure || traits.reads => REMOVABLE,
            _ => 0,
        };
        let merge = match OPS[i].op {
            Op::Load => MAYBE_MERGEABLE,
            Op::Input => MERGEABLE,
            _ if traits.pure => MERGEABLE,
            _ => 0,
        };
        table[i] = Effects(match (settled, traits.convergent) {
            (true, false) => remove | merge,
            (true, true) => remove,
            (false, _) => 0,
        });
        i += 1;
    }
    table
};

/// Whether `inst` does nothing but make its results, so that it can go when nobody uses them.
#[inline]
pub fn is_removable(f: &Function, resources: &Resources, inst: Inst) -> bool {
    let effects = EFFECTS[f.insts[inst].op as usize].0;
    effects & REMOVABLE != 0 || effects & MAYBE_REMOVABLE != 0 && may_be_removed(f, resources, inst)
}

fn may_be_removed(f: &Function, resources: &Resources, inst: Inst) -> bool {
    match (f.insts[inst].op, f.insts[inst].imm) {
        (Op::Load, Imm::Mem(m)) => is_plain(m) && !may_fault(resources, m),
        (Op::Load, _) => false,
        _ => !may_trap(f, inst),
    }
}

/// Whether a later equal instruction that `inst` dominates has the same results.
#[inline]
pub fn is_mergeable(f: &Function, inst: Inst) -> bool {
    let data = &f.insts[inst];
    let effects = EFFECTS[data.op as usize].0;
    effects & MERGEABLE != 0
        || effects & MAYBE_MERGEABLE != 0
            && matches!(data.imm, Imm::Mem(m) if is_plain(m) && is_constant(m.space))
}

/// Whether `inst` may be executed where the program did not ask for it, without anybody noticing. `always` says
/// that the program would have come to it anyway.
pub fn is_speculatable(f: &Function, resources: &Resources, inst: Inst, always: bool) -> bool {
    let harmless = match (f.insts[inst].op, f.insts[inst].imm) {
        // The front end vouches for the accesses that are executed, not for others.
        (Op::Load, Imm::Mem(m)) => always || oob(resources, m) != OutOfBounds::Undefined,
        _ => true,
    };
    harmless && is_mergeable(f, inst) && is_removable(f, resources, inst)
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

fn may_fault(resources: &Resources, m: MemInfo) -> bool {
    oob(resources, m) == OutOfBounds::Fault
}

fn oob(resources: &Resources, m: MemInfo) -> OutOfBounds {
    match m.resource.expand() {
        Some(r) => resources.get(r).map_or(OutOfBounds::Fault, |data| data.oob),
        None if matches!(m.space, Space::Shared | Space::Private | Space::Global | Space::GuestRegs) => {
            OutOfBounds::Undefined
        }
        None => OutOfBounds::Fault,
    }
}

/// Which ops that few functions have a function may have, so that passes need not look for what concerns them. No pass
/// makes such ops.
#[derive(Clone, Copy)]
pub(crate) struct Rare(u8);

const FREEZE: u8 = 1 << 0;
const SUBGROUP: u8 = 1 << 1;

static RARE: [u8; OPS.len()] = {
    let mut table = [0; OPS.len()];
    let mut i = 0;
    while i < OPS.len() {
        table[i] = match (OPS[i].op, OPS[i].imm) {
            (Op::Freeze, _) => FREEZE,
            (_, ImmKind::Subgroup) => SUBGROUP,
            _ => 0,
        };
        i += 1;
    }
    table
};

impl Default for Rare {
    /// What is not known has all of them.
    fn default() -> Rare {
        Rare(u8::MAX)
    }
}

impl Rare {
    pub(crate) fn of(f: &Function) -> Rare {
        let mut rare = 0;
        for &block in &f.layout {
            for &inst in &f.blocks[block].insts {
                rare |= RARE[f.insts[inst].op as usize];
            }
        }
        Rare(rare)
    }

    /// Whether `f` has no others.
    pub(crate) fn covers(self, f: &Function) -> bool {
        Rare::of(f).0 & !self.0 == 0
    }

    pub(crate) fn has_freeze(self) -> bool {
        self.0 & FREEZE != 0
    }

    pub(crate) fn has_subgroup(self) -> bool {
        self.0 & SUBGROUP != 0
    }
}
