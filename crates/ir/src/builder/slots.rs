//! Slots, whole or by lanes, and what is known of them in the block under the cursor.

use super::Builder;
use super::lanes::{MAX_LANES, Part, Parts};
use crate::entities::{Slot, Value};
use crate::flags::Flags;
use crate::imm::Imm;
use crate::op::Op;
use crate::ty::Type;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// What a forwarding cursor knows of the block.
#[derive(Default)]
pub(super) struct Forward {
    slots: SecondaryMap<Slot, Known>,
    /// The slots that something is known of.
    known: Vec<Slot>,
}

/// What is known of a slot.
#[derive(Clone, Copy)]
struct Known {
    /// Its lanes; none: as the block found them.
    parts: [Option<Part>; MAX_LANES],
    /// The value that has them all in order, once there is one.
    whole: PackedOption<Value>,
    /// What the block found in the slot, once that was read.
    found: PackedOption<Value>,
    /// Whether it was set, and the guest address of the last set.
    set: bool,
    guest: u32,
    /// The lanes that anything wants after the block.
    live: u8,
    /// Whether the slot is among the known ones.
    listed: bool,
}

impl Default for Known {
    fn default() -> Known {
        Known {
            parts: [None; MAX_LANES],
            whole: None.into(),
            found: None.into(),
            set: false,
            guest: 0,
            live: u8::MAX,
            listed: false,
        }
    }
}

impl Builder<'_> {
    /// Reads a slot.
    pub fn slot_get(&mut self, slot: Slot) -> Value {
        self.slot_get_as(slot, self.func.slots[slot].ty)
    }

    /// Reads a slot as a type of as many bits: the slot's own, or of a scalar slot any other scalar.
    pub fn slot_get_as(&mut self, slot: Slot, ty: Type) -> Value {
        let v = match &self.forward {
            None => self.found(slot),
            Some(forward) => match forward.slots[slot].whole.expand() {
                Some(v) => v,
                None => self.known_lanes(slot, &Parts::IN_ORDER[..self.lanes_of(slot)]),
            },
        };
        self.bitcast(v, ty)
    }

    /// The bits of `v` as a type of as many.
    pub fn bitcast(&mut self, v: Value, ty: Type) -> Value {
        if self.func.ty(v) == ty {
            return v;
        }
        let source = self.func.def_inst(v).filter(|&i| self.func.insts[i].op == Op::Bitcast);
        match source.and_then(|i| self.func.args(i).first().copied()) {
            Some(source) if self.func.ty(source) == ty => source,
            _ => self.convert(Op::Bitcast, Flags::NONE, v, ty),
        }
    }

    /// Reads lanes of a vector slot, one to four in any order: a scalar for one, a vector for more. Lanes that the slot
    /// does not have read as its last; [`ANY_LANE`](super::ANY_LANE) may be anything.
    pub fn slot_get_lanes(&mut self, slot: Slot, lanes: &[u8]) -> Value {
        let Some(forward) = &self.forward else {
            let v = self.found(slot);
            return self.lanes(v, lanes);
        };
        match forward.slots[slot] {
            // All of it is in one vector.
            Known { whole, parts: [Some(first), ..], .. } if whole == first.value.into() => {
                self.lanes(first.value, lanes)
            }
            _ => self.known_lanes(slot, lanes),
        }
    }

    /// Writes a slot. `v` is of its type, or of a scalar slot any other scalar of as many bits.
    pub fn slot_set(&mut self, slot: Slot, v: Value) {
        if self.forward.is_none() {
            let v = self.bitcast(v, self.func.slots[slot].ty);
            self.inst(Op::SlotSet, Flags::NONE, Imm::Slot(slot), &[v], &[]);
            return;
        }
        self.name(v, slot);
        let guest = self.guest;
        let known = self.know(slot);
        known.parts = Parts::IN_ORDER.map(|lane| Some(Part { value: v, lane }));
        known.whole = v.into();
        (known.set, known.guest) = (true, guest);
    }

    /// Writes the lanes of a vector slot whose bits are set in `mask`: each from the same lane of `v`, a vector of the
    /// slot's type, or all from `v`, a scalar.
    pub fn slot_set_lanes(&mut self, slot: Slot, mask: u8, v: Value) {
        let n = self.lanes_of(slot);
        let all = (1 << n) - 1;
        let scalar = self.func.ty(v).is_scalar();
        if mask & all == all && (n == 1 || !scalar) {
            return self.slot_set(slot, v);
        }
        let written = Parts::IN_ORDER.into_iter().filter(|lane| mask & all & 1 << lane != 0);
        let part = |lane: u8| Part { value: v, lane: if scalar { 0 } else { lane } };
        if self.forward.is_some() {
            let guest = self.guest;
            let known = self.know(slot);
            for lane in written {
                known.parts[usize::from(lane)] = Some(part(lane));
                known.whole = None.into();
                (known.set, known.guest) = (true, guest);
            }
        } else if mask & all != 0 {
            let mut parts = Parts::of(self.found(slot), n);
            for lane in written {
                parts.set(lane, part(lane));
            }
            let merged = self.gather(&parts);
            self.slot_set(slot, merged);
        }
    }

    /// Says which lanes of a slot anything wants after the block, where a forwarding cursor would take it that all are. Of
    /// the others nothing is known then, and they need not be set.
    pub fn slot_live_lanes(&mut self, slot: Slot, mask: u8) {
        if let Some(forward) = &mut self.forward {
            let known = &mut forward.slots[slot];
            if known.listed {
                known.live = mask;
            }
        }
    }

    /// Appends the sets that are still to come, each at its own guest address.
    pub(super) fn append_sets(&mut self) {
        let Some(forward) = &mut self.forward else { return };
        let mut slots = std::mem::take(&mut forward.known);
        let here = self.guest;
        for slot in slots.drain(..) {
            let Known { set, guest, live, whole, .. } = self.known(slot);
            let all = (1 << self.lanes_of(slot)) - 1;
            if set && live & all != 0 {
                self.guest = guest;
                let mut lanes = Parts::IN_ORDER;
                for lane in &mut lanes {
                    if live & 1 << *lane == 0 {
                        *lane = super::ANY_LANE;
                    }
                }
                let v = match whole.expand() {
                    Some(v) => v,
                    None => self.known_lanes(slot, &lanes[..self.lanes_of(slot)]),
                };
                let v = self.bitcast(v, self.func.slots[slot].ty);
                if self.known(slot).found != v.into() {
                    self.inst(Op::SlotSet, Flags::NONE, Imm::Slot(slot), &[v], &[]);
                }
            }
            if let Some(forward) = &mut self.forward {
                forward.slots[slot] = Known::default();
            }
        }
        self.guest = here;
        if let Some(forward) = &mut self.forward {
            forward.known = slots;
        }
    }

    fn lanes_of(&self, slot: Slot) -> usize {
        usize::from(self.func.slots[slot].ty.lanes()).clamp(1, MAX_LANES)
    }

    /// What the block found in a slot.
    fn found(&mut self, slot: Slot) -> Value {
        let ty = self.func.slots[slot].ty;
        self.value(Op::SlotGet, Flags::NONE, Imm::Slot(slot), &[], ty)
    }

    fn known(&self, slot: Slot) -> Known {
        self.forward.as_ref().map_or_else(Known::default, |f| f.slots[slot])
    }

    /// What is known of a slot, to be added to.
    fn know(&mut self, slot: Slot) -> &mut Known {
        let forward = self.forward.get_or_insert_default();
        let known = &mut forward.slots[slot];
        if !known.listed {
            known.listed = true;
            forward.known.push(slot);
        }
        known
    }

    /// Names a value as `promote` names what it finds set.
    fn name(&mut self, v: Value, slot: Slot) {
        let hint = &mut self.func.values[v].hint;
        if hint.is_none() {
            *hint = slot.into();
        }
    }

    /// Lanes of a slot, which is read for those that are not known.
    fn known_lanes(&mut self, slot: Slot, lanes: &[u8]) -> Value {
        let last = self.lanes_of(slot) - 1;
        let wanted = |lane: u8| (lane != super::ANY_LANE).then_some(usize::from(lane).min(last));
        let known = self.known(slot);
        if lanes.iter().filter_map(|&l| wanted(l)).any(|l| known.parts[l].is_none()) {
            let found = self.found(slot);
            let known = self.know(slot);
            if known.parts.iter().all(Option::is_none) {
                known.whole = found.into();
            }
            known.found = found.into();
            for (lane, part) in Parts::IN_ORDER.into_iter().zip(&mut known.parts) {
                part.get_or_insert(Part { value: found, lane });
            }
        }
        let known = self.known(slot);
        let mut parts = Parts::new(lanes.len());
        for (i, &lane) in (0..).zip(lanes) {
            if let Some(part) = wanted(lane).and_then(|l| known.parts[l]) {
                parts.set(i, part);
            }
        }
        let whole = *lanes == Parts::IN_ORDER[..=last];
        if !whole && let Some(v) = known.whole.expand() {
            // One vector has them already, if not as near.
            return self.gather_or(&parts, v, lanes);
        }
        let made = self.func.values.len();
        let v = self.gather(&parts);
        if self.func.values.len() > made {
            self.name(v, slot);
        }
        if whole {
            self.know(slot).whole = v.into();
        }
        v
    }
}
