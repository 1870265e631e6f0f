//! Which host register holds which guest register.

use super::asm::{RBX, RSI, Reg};

/// The registers that are given out, in turn.
const POOL: [Reg; 8] = [RBX, RSI, Reg(8), Reg(9), Reg(10), Reg(11), Reg(12), Reg(13)];
const NONE: u8 = u8::MAX;

/// Registers of the guest are in their homes as well, so that any may be forgotten.
#[derive(Debug)]
pub(super) struct Cache {
    /// By place in the pool: the register of the guest.
    has: [u8; POOL.len()],
    /// A bit for each place that the instruction at hand uses.
    locked: u8,
    turn: usize,
    /// By register of the guest: its lowest bits that are known to be zero, where an access was checked.
    aligned: [u8; 64],
}

impl Default for Cache {
    fn default() -> Cache {
        Cache { has: [NONE; POOL.len()], locked: 0, turn: 0, aligned: [0; 64] }
    }
}

impl Cache {
    /// Nothing is known.
    pub(super) fn clear(&mut self) {
        *self = Cache { turn: self.turn, ..Cache::default() };
    }

    /// Another instruction is at hand.
    pub(super) fn unlock(&mut self) {
        self.locked = 0;
    }

    /// The host register that holds a guest register; it is not given out again during this instruction.
    pub(super) fn find(&mut self, register: u8) -> Option<Reg> {
        let place = self.has.iter().position(|&has| has == register)?;
        self.locked |= 1 << place;
        POOL.get(place).copied()
    }

    /// A register that the instruction at hand does not use.
    pub(super) fn take(&mut self) -> Reg {
        let is_free = |place: &usize| self.locked >> place & 1 == 0;
        let empty = |place: &usize| self.has.get(*place) == Some(&NONE);
        let places = || (0..POOL.len()).map(|n| (self.turn + n) % POOL.len()).filter(is_free);
        // No instruction uses as many as there are.
        let place = places().find(empty).or_else(|| places().next()).unwrap_or(0);
        self.turn = place + 1;
        self.locked |= 1 << place;
        if let Some(has) = self.has.get_mut(place) {
            *has = NONE;
        }
        POOL.get(place).copied().unwrap_or(RBX)
    }

    /// Notes that a host register holds a guest register.
    pub(super) fn put(&mut self, register: u8, host: Reg) {
        if let Some(place) = POOL.iter().position(|&reg| reg == host)
            && let Some(has) = self.has.get_mut(place)
        {
            *has = register;
        }
    }

    /// Notes that a guest register changed: no host register holds it any more.
    pub(super) fn forget(&mut self, register: u8) {
        self.has.iter_mut().filter(|has| **has == register).for_each(|has| *has = NONE);
        if let Some(aligned) = self.aligned.get_mut(usize::from(register)) {
            *aligned = 0;
        }
    }

    /// Whether the bits of `mask` are known to be zeros in a register.
    pub(super) fn is_aligned(&self, register: u8, mask: u8) -> bool {
        self.aligned.get(usize::from(register)).is_some_and(|known| known & mask == mask)
    }

    /// Notes that the bits of `mask` are zeros in a register, as an access checked.
    pub(super) fn set_aligned(&mut self, register: u8, mask: u8) {
        if let Some(known) = self.aligned.get_mut(usize::from(register)) {
            *known |= mask;
        }
    }
}
