//! Code: groups of one scheduling word and three instructions.

use crate::decode::{DecodeError, decode};
use crate::inst::Inst;

/// What a scheduling word says of one instruction. It matters to the hardware's speed, not to what a program means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Cycles before the next instruction, 0 to 15.
    pub stall: u8,
    /// The scheduler may not go on with another warp (the bit is stored inverted as a yield hint).
    pub yield_flag: bool,
    /// Barrier set when the result is written; 7 for none.
    pub write_barrier: u8,
    /// Barrier set when the sources are read; 7 for none.
    pub read_barrier: u8,
    /// Barriers 0 to 5 waited for, as bits.
    pub wait_mask: u8,
    /// Operand slots whose value the next instruction uses again: A, B, C from bit 0.
    pub reuse: u8,
}

/// Bits of a scheduling word that belong to one instruction.
const BITS: u32 = 21;

impl Control {
    /// That of instruction `slot`, 0 to 2, of a group.
    pub const fn of(word: u64, slot: u32) -> Control {
        let bits = word >> (BITS * (slot % 3));
        Control {
            stall: (bits & 15) as u8,
            yield_flag: (bits >> 4) & 1 != 0,
            write_barrier: ((bits >> 5) & 7) as u8,
            read_barrier: ((bits >> 8) & 7) as u8,
            wait_mask: ((bits >> 11) & 63) as u8,
            reuse: ((bits >> 17) & 15) as u8,
        }
    }
}

/// Bytes of a word.
pub const WORD: u32 = 8;

/// Words of a group.
const GROUP: usize = 4;

/// Whether a byte address, counted from the start of the code, is that of a scheduling word.
pub const fn is_control(address: u32) -> bool {
    address.is_multiple_of(GROUP as u32 * WORD)
}

/// The instructions of code, with their scheduling; scheduling words are passed over.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    words: &'a [u64],
    at: usize,
}

impl<'a> Instructions<'a> {
    /// Those of code whose first word is a scheduling word.
    pub const fn new(words: &'a [u64]) -> Instructions<'a> {
        Instructions { words, at: 0 }
    }
}

/// An instruction's address, its scheduling, and what its word decodes to.
pub type Entry = (u32, Control, Result<Inst, DecodeError>);

impl Iterator for Instructions<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.at.is_multiple_of(GROUP) {
            self.at += 1;
        }
        let word = *self.words.get(self.at)?;
        let control = self.words.get(self.at - self.at % GROUP).copied().unwrap_or(0);
        let address = u32::try_from(self.at).ok()?.checked_mul(WORD)?;
        let slot = (self.at % GROUP) as u32 - 1;
        self.at += 1;
        Some((address, Control::of(control, slot), decode(address, word)))
    }
}
