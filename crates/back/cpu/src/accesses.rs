//! What accesses to memory need before they are made: a look at their alignment, and registers in their homes.
//!
//! Where code works on a window, an access that fails is executed again by the interpreter, from a point at which all registers
//! were in their homes. That need not be the access itself: what lies between is executed again, too, and comes to the same as
//! long as no store changed what a load before it had read. So registers are written to their homes before the first access
//! of a block, and from then on before stores that may be to where something was loaded since.

use crate::live::Live;
use rustc_hash::FxHashMap;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Imm, Inst, Kind, MemInfo, Op, Slot, Space, Type, Value};

/// Steps from an address to what it is computed from.
const MOST_STEPS: usize = 8;
/// Offsets of accesses that the window has room for beside it.
const MOST_OFFSET: u32 = 1 << 15;

/// What an access needs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Needs {
    /// All registers in their homes.
    pub(crate) save: bool,
    /// A look at its alignment.
    pub(crate) check: bool,
}

/// The needs of a function's accesses; none where code does not work on a window.
#[derive(Default)]
pub(crate) struct Accesses {
    needs: SecondaryMap<Inst, Needs>,
    /// The guest addresses of blocks that write registers to their homes where they begin, not before their first access.
    early: SecondaryMap<Block, Option<u32>>,
}

/// A value and what is added to it.
#[derive(Clone, Copy)]
struct Place {
    base: Value,
    offset: u32,
    bytes: u32,
}

/// What is known between accesses of a block, and of those that it alone leads to.
#[derive(Clone, Default)]
struct Known {
    /// Whether registers were in their homes at an access before.
    saved: bool,
    /// What was loaded since.
    loads: Vec<Place>,
    /// What slots hold.
    slots: FxHashMap<Slot, Value>,
    /// Values that equal an earlier one.
    same: FxHashMap<Value, Value>,
    /// Values that are multiples of a power of two.
    aligned: FxHashMap<Value, u32>,
}

/// The address of an access as an operand of 32 bits and an offset that a host's instruction adds.
pub(crate) fn split(f: &Function, address: Value) -> (Value, i32) {
    let sum = f.def_inst(address).filter(|&sum| f.insts[sum].op == Op::Iadd);
    let sum = sum.and_then(|sum| match f.args(sum) {
        &[base, offset] => Some((base, f.const_bits(offset)?.0[0] as u32 as i32)),
        _ => None,
    });
    sum.filter(|(_, offset)| offset.unsigned_abs() <= MOST_OFFSET).unwrap_or((address, 0))
}

/// The extension to 32 bits of what was `loaded`, where `next`, the instruction behind the load, is one: an instruction of the
/// host does both. Half-words in the other byte order are swapped first.
pub(crate) fn extension(f: &Function, loaded: Value, mem: MemInfo, next: Option<Inst>) -> Option<Op> {
    let next = next?;
    let fits = match f.ty(loaded).kind() {
        Kind::I8 => true,
        Kind::I16 => !mem.big,
        _ => false,
    };
    let is_of_it = f.args(next) == [loaded];
    let is_word = f.result(next).is_some_and(|v| f.ty(v) == Type::I32);
    Some(f.insts[next].op).filter(|op| fits && is_of_it && is_word && matches!(op, Op::Zext | Op::Sext))
}

/// Whether an instruction accesses the guest's memory.
pub(crate) fn is_access(f: &Function, inst: Inst) -> bool {
    matches!(f.insts[inst].imm, Imm::Mem(mem) if mem.space == Space::Guest)
}

impl Accesses {
    pub(crate) fn new(f: &Function, cfg: &Cfg, live: &Live) -> Accesses {
        let mut needs: SecondaryMap<Inst, Needs> = SecondaryMap::new();
        let mut early: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
        let mut handed: FxHashMap<Block, Known> = FxHashMap::default();
        for &block in cfg.rpo() {
            let mut known = handed.remove(&block).unwrap_or_default();
            let has_access = f.blocks[block].insts.iter().any(|&inst| is_access(f, inst));
            early[block] = live.early(block).filter(|_| has_access && !known.saved);
            known.saved |= early[block].is_some();
            for &inst in &f.blocks[block].insts {
                match (f.insts[inst].op, f.insts[inst].imm, f.args(inst)) {
                    (Op::SlotSet, Imm::Slot(slot), &[v]) => {
                        let v = known.first(v);
                        known.slots.insert(slot, v);
                    }
                    (Op::SlotGet, Imm::Slot(slot), _) => {
                        let Some(v) = f.result(inst) else { continue };
                        let first = *known.slots.entry(slot).or_insert(v);
                        known.same.insert(v, first);
                    }
                    (op, Imm::Mem(_), &[address, ..]) if is_access(f, inst) => {
                        let stored = f.args(inst).get(1).filter(|_| op == Op::Store);
                        let ty = stored.copied().or_else(|| f.result(inst)).map(|v| f.ty(v));
                        let bytes = ty.and_then(|ty| ty.bytes()).unwrap_or(1);
                        let place = known.place(f, address, bytes);
                        needs[inst] = known.access(place, op == Op::Store);
                    }
                    _ => {}
                }
            }
            for next in handed_on(f, cfg, block) {
                handed.insert(next, known.clone());
            }
        }
        Accesses { needs, early }
    }

    pub(crate) fn needs(&self, inst: Inst) -> Needs {
        self.needs[inst]
    }

    /// The guest address of a block, if it writes registers to their homes where it begins.
    pub(crate) fn early(&self, block: Block) -> Option<u32> {
        self.early[block]
    }
}

/// The blocks that know what this one does: those it leads to, where it alone leads to all of them.
pub(crate) fn handed_on<'a>(
    f: &'a Function,
    cfg: &'a Cfg,
    block: Block,
) -> impl Iterator<Item = Block> + use<'a> {
    let edges = f.edges(block);
    let all = edges.iter().all(|edge| cfg.preds(edge.block).len() == 1);
    edges.iter().filter(move |_| all).map(|edge| edge.block)
}

impl Known {
    fn first(&self, v: Value) -> Value {
        self.same.get(&v).copied().unwrap_or(v)
    }

    fn place(&self, f: &Function, address: Value, bytes: u32) -> Place {
        let mut place = Place { base: self.first(address), offset: 0, bytes };
        for _ in 0..MOST_STEPS {
            let sum = f.def_inst(place.base).filter(|&sum| f.insts[sum].op == Op::Iadd);
            let Some(&[base, offset]) = sum.map(|sum| f.args(sum)) else { break };
            let Some(offset) = f.const_bits(offset) else { break };
            place.base = self.first(base);
            place.offset = place.offset.wrapping_add(offset.0[0] as u32);
        }
        place
    }

    fn access(&mut self, place: Place, stores: bool) -> Needs {
        // The usual trick: apart, where neither begins within the other, modulo 2^32.
        let apart = |other: &Place| {
            let distance = other.offset.wrapping_sub(place.offset);
            other.base == place.base && distance >= place.bytes && distance.wrapping_neg() >= other.bytes
        };
        let save = !self.saved || stores && !self.loads.iter().all(apart);
        if save {
            self.saved = true;
            self.loads.clear();
        }
        if !stores {
            self.loads.push(place);
        }
        let mut check = place.bytes > 1;
        if place.offset.is_multiple_of(place.bytes) {
            let aligned = self.aligned.entry(place.base).or_insert(1);
            check &= *aligned < place.bytes;
            *aligned = place.bytes.max(*aligned);
        }
        Needs { save, check }
    }
}
