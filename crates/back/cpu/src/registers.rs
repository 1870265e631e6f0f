//! Which registers are read where a function is entered, and which are written where it is left.

use crate::accesses::{Accesses, is_access};
use crate::error::CompileError;
use crate::live::{self, Live};
use xenoglot_ir::analysis::{Cfg, Loops};
use xenoglot_ir::entity::{EntityRef, SecondaryMap};
use xenoglot_ir::{Block, Function, Imm, Inst, Op, Slot, TermKind};

/// A set of slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Set(u128);

impl Set {
    /// Most slots of a function.
    const MOST: usize = 128;

    /// Every slot.
    pub(crate) const ALL: Set = Set(u128::MAX);

    pub(crate) fn with(self, slot: Slot) -> Set {
        Set(self.0 | 1 << slot.index())
    }

    pub(crate) fn has(self, slot: Slot) -> bool {
        self.0.checked_shr(slot.index() as u32).unwrap_or(0) & 1 != 0
    }

    pub(crate) fn and(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }

    pub(crate) fn in_both(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }

    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Slot> {
        (0..Set::MOST).filter(move |n| self.0 >> n & 1 != 0).map(Slot::new)
    }
}

/// What is known of a function's slots with homes.
pub(crate) struct Registers {
    /// By block: those that may differ from their homes at its beginning.
    pub(crate) dirty: SecondaryMap<Block, Set>,
    /// By block: those that have to be read from their homes at its beginning.
    pub(crate) fill: SecondaryMap<Block, Set>,
    /// Those with homes that have a place of their own all over the function: what above is said of.
    pub(crate) globals: Set,
    /// The others with homes. They are in their homes wherever several ways meet.
    pub(crate) locals: Set,
}

/// Which registers get a place of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Places {
    /// Those that loops use most.
    Loops,
    /// All: whoever compiles what is emitted chooses better.
    All,
}

/// Most integer and float registers with places of their own: the host has a few more.
const GLOBAL_INTS: usize = 6;
/// What setting a carried register weighs: to what another one has, and to something computed.
const COPY: u64 = 2;
const COMPUTED: u64 = 5;
const GLOBAL_FLOATS: usize = 10;

/// Whether a terminator leaves the function.
pub(crate) fn leaves(kind: TermKind) -> bool {
    matches!(kind, TermKind::Exit | TermKind::TailCallGuest | TermKind::Trap | TermKind::Return)
}

impl Registers {
    /// What is known of `f`, whose register `counter` is kept elsewhere, and some of whose accesses write registers to their
    /// homes before.
    pub(crate) fn new(
        f: &Function,
        cfg: &Cfg,
        counter: Option<Slot>,
        accesses: &Accesses,
        live: &Live,
        places: Places,
    ) -> Result<Registers, CompileError> {
        if f.slots.len() > Set::MOST {
            return Err(CompileError::unsupported("a function of more than 128 slots"));
        }
        let homes = f.slots.iter().filter(|&(slot, data)| data.home.is_some() && Some(slot) != counter);
        let all = homes.fold(Set::default(), |set, (slot, _)| set.with(slot));
        let homes = match places {
            Places::Loops => globals(f, cfg, all),
            Places::All => all,
        };
        let dirty = dirty(f, cfg, homes, accesses);
        let fill = fill(f, cfg, homes, &dirty, (accesses, live));
        Ok(Registers { dirty, fill, globals: homes, locals: all.without(homes) })
    }
}

/// The registers that loops carry along and use most. A register that many ways carry along costs moves on each of them, and as
/// there are more registers than the host has, moves from memory to memory in the end; for the others it is cheaper to stay in
/// memory. One that every round sets before it reads it is not carried, and values within a block need no place.
fn globals(f: &Function, cfg: &Cfg, homes: Set) -> Set {
    let mut loops = Loops::default();
    loops.compute(f, cfg);
    // What is read behind the function does not make a register worth carrying.
    let live = live::starts(f, cfg, |_| false, |_, _| Set::default());
    let mut uses = vec![0u64; f.slots.len()];
    for &block in cfg.rpo() {
        let Some(header) = loops.innermost(block).map(|l| loops.loops()[l].header) else { continue };
        let carried = live[header];
        // What is read once in a round is an operand in memory, which costs next to nothing.
        let mut seen = Set::default();
        for &inst in &f.blocks[block].insts {
            let (op, Imm::Slot(slot)) = (f.insts[inst].op, f.insts[inst].imm) else { continue };
            if let Some(uses) = uses.get_mut(slot.index()).filter(|_| carried.has(slot)) {
                let weight = match op {
                    Op::SlotSet if is_copy(f, inst) => COPY,
                    // The next round waits for it.
                    Op::SlotSet => COMPUTED,
                    _ if seen.has(slot) => 0,
                    _ => 2,
                };
                seen = seen.with(slot);
                *uses = uses.saturating_add(weight << (3 * loops.depth(block).min(8)));
            }
        }
    }
    let mut chosen = Set::default();
    for (floats, most) in [(false, GLOBAL_INTS), (true, GLOBAL_FLOATS)] {
        let of_kind = |slot: &Slot| f.slots[*slot].ty.kind().is_float() == floats && uses[slot.index()] > 0;
        let mut slots: Vec<Slot> = homes.iter().filter(of_kind).collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(uses[slot.index()]));
        chosen = slots.into_iter().take(most).fold(chosen, Set::with);
    }
    chosen
}

/// Whether a slot is set to what another one has.
fn is_copy(f: &Function, inst: Inst) -> bool {
    let made = f.args(inst).first().and_then(|&v| f.def_inst(v));
    made.is_some_and(|made| f.insts[made].op == Op::SlotGet)
}

/// Forwards, over all paths: slots that were set, and not saved since.
fn dirty(f: &Function, cfg: &Cfg, homes: Set, accesses: &Accesses) -> SecondaryMap<Block, Set> {
    let mut sets: SecondaryMap<Block, Set> = SecondaryMap::new();
    let mut saved: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &block in cfg.rpo() {
        saved[block] = accesses.early(block).is_some();
        for &inst in &f.blocks[block].insts {
            match (f.insts[inst].op, f.insts[inst].imm) {
                (Op::SlotSet, Imm::Slot(slot)) if homes.has(slot) => sets[block] = sets[block].with(slot),
                _ if accesses.needs(inst).save => (sets[block], saved[block]) = (Set::default(), true),
                _ => {}
            }
        }
    }
    let mut dirty: SecondaryMap<Block, Set> = SecondaryMap::new();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &block in cfg.rpo() {
            let out = if saved[block] { sets[block] } else { dirty[block].and(sets[block]) };
            for edge in f.edges(block) {
                let joined = dirty[edge.block].and(out);
                changed |= joined != dirty[edge.block];
                dirty[edge.block] = joined;
            }
        }
    }
    dirty
}

/// Backwards: slots that are read, or seen from outside, before they are set. They are filled at the beginning of the entry,
/// and of blocks that only the entry leads to, so that an entry that chooses between several ways reads for none of them.
fn fill(
    f: &Function,
    cfg: &Cfg,
    homes: Set,
    dirty: &SecondaryMap<Block, Set>,
    (accesses, live): (&Accesses, &Live),
) -> SecondaryMap<Block, Set> {
    let mut reads: SecondaryMap<Block, Set> = SecondaryMap::new();
    let mut kills: SecondaryMap<Block, Set> = SecondaryMap::new();
    for &block in cfg.rpo() {
        let (mut read, mut killed) = (Set::default(), Set::default());
        // Those that differ from their homes and were not set here.
        let mut differs = dirty[block];
        if accesses.early(block).is_some() {
            read = read.and(differs.in_both(live.start(block)));
            differs = Set::default();
        }
        for &inst in &f.blocks[block].insts {
            match (f.insts[inst].op, f.insts[inst].imm) {
                (Op::SlotGet, Imm::Slot(slot)) if homes.has(slot) && !killed.has(slot) => {
                    read = read.with(slot);
                }
                (Op::SlotSet, Imm::Slot(slot)) if homes.has(slot) => killed = killed.with(slot),
                _ if is_access(f, inst) => {
                    read = read.and(differs.without(killed).in_both(live.access(block, inst)));
                    if accesses.needs(inst).save {
                        differs = Set::default();
                    }
                }
                _ => {}
            }
        }
        if leaves(f.term(block).kind) {
            read = read.and(differs.without(killed).in_both(live.end(f, block)));
        }
        (reads[block], kills[block]) = (read, killed);
    }
    let roots: Vec<Block> = cfg
        .rpo()
        .iter()
        .copied()
        .filter(|&block| match (f.entry(), cfg.preds(block)) {
            (Some(entry), [pred]) => pred.block == entry,
            (entry, _) => entry == Some(block),
        })
        .collect();
    let is_root = |block: Block| roots.contains(&block);
    let mut wanted: SecondaryMap<Block, Set> = SecondaryMap::new();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &block in cfg.rpo().iter().rev() {
            let mut out = Set::default();
            for edge in f.edges(block) {
                // A root reads for itself what is not dirty before it.
                let wants = wanted[edge.block];
                let wants = match is_root(edge.block) {
                    true => wants.without(wants.without(dirty[edge.block])),
                    false => wants,
                };
                out = out.and(wants);
            }
            let wants = reads[block].and(out.without(kills[block]));
            changed |= wants != wanted[block];
            wanted[block] = wants;
        }
    }
    let mut fill: SecondaryMap<Block, Set> = SecondaryMap::new();
    for root in roots {
        fill[root] = wanted[root].without(dirty[root]);
    }
    fill
}
