//! What descriptors of a heap are, and the first that a shader used for something else.
//!
//! A storage buffer for each heap that is checked ([`Remapper::descriptor_checks`](super::Remapper::descriptor_checks)).
//! The host writes how many descriptors the heap has and a word for each ([`word`]). An access to a descriptor behind the
//! last, to one that is not for what it is used, or to one whose resource is gone is a fault: the first is told
//! ([`Fault::read`]), and all of them go to the place behind the last descriptor instead, where the host puts null
//! descriptors.

use super::DescriptorKind;
use serde::Serialize;

/// The byte that is 0 until a fault claims it.
pub const CLAIMED: u32 = 0;
/// The byte where the place in the heap is told.
pub const PLACE: u32 = 4;
/// The byte where it is told what the descriptor was used as: the number of a [`DescriptorKind`].
pub const USED_AS: u32 = 8;
/// The byte where the descriptor's word is told; 0 behind the last descriptor.
pub const WORD: u32 = 12;
/// The byte where the number of the instruction in its function is told.
pub const INSTRUCTION: u32 = 16;
/// The byte where the host says how many descriptors there are.
pub const COUNT: u32 = 20;
/// The byte where the descriptors' words begin.
pub const WORDS: u32 = 32;

/// The bit of a descriptor whose resource is alive.
pub const ALIVE: u32 = 1 << 31;

/// The word of a descriptor whose resource is alive, by what it may be used as.
pub fn word(kinds: &[DescriptorKind]) -> u32 {
    kinds.iter().fold(ALIVE, |word, &kind| word | 1 << kind as u32)
}

/// The first fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The place in the heap.
    pub place: u32,
    /// What the descriptor was used as: the number of a [`DescriptorKind`].
    pub used_as: u32,
    /// The descriptor's word; 0 behind the last descriptor.
    pub word: u32,
    /// The number of the instruction in its function.
    pub instruction: u32,
}

impl Fault {
    /// The fault that a buffer tells of, if there was one.
    pub fn read(buffer: &[u8]) -> Option<Fault> {
        let word = |at: u32| {
            let bytes = buffer.get(at as usize..)?.first_chunk()?;
            Some(u32::from_le_bytes(*bytes))
        };
        (word(CLAIMED)? != 0).then_some(())?;
        Some(Fault {
            place: word(PLACE)?,
            used_as: word(USED_AS)?,
            word: word(WORD)?,
            instruction: word(INSTRUCTION)?,
        })
    }
}
