//! Which part of a buffer a shader sees.

use super::Slot;
use serde::{Deserialize, Serialize};

/// A storage buffer that says for each place of a heap which part of its buffer a shader sees: where that begins and how large it
/// is, a word each, of a storage buffer in bytes and of a typed one in texels. Where the words lie is the host's choice: its table may
/// have more than them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// Where it is bound.
    pub slot: Slot,
    /// Bytes from a place's words to those of the next place, a multiple of 4.
    pub stride: u32,
    /// The byte where the beginning of place 0 is told, a multiple of 4.
    pub start: u32,
    /// The byte where the size of place 0 is told, a multiple of 4.
    pub size: u32,
}

impl Windows {
    /// Pairs of words without anything between them.
    pub fn pairs(slot: Slot) -> Windows {
        Windows { slot, stride: 8, start: 0, size: 4 }
    }
}
