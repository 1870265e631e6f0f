//! Which part of a storage buffer a shader sees.

use super::Slot;
use serde::{Deserialize, Serialize};

/// A storage buffer that says for each place of a heap which part of its storage buffer a shader sees: the first byte, and the bytes
/// from there on, a word each. Where they lie is the host's choice: its table may have more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// Where it is bound.
    pub slot: Slot,
    /// Bytes from a place's words to those of the next place, a multiple of 4.
    pub stride: u32,
    /// The byte where the first byte of place 0 is told, a multiple of 4.
    pub start: u32,
    /// The byte where the bytes of place 0 are told, a multiple of 4.
    pub size: u32,
}

impl Windows {
    /// Pairs of words without anything between them.
    pub fn pairs(slot: Slot) -> Windows {
        Windows { slot, stride: 8, start: 0, size: 4 }
    }
}
