//! What descriptors of a heap are, and a ring of the faults of shaders that used them for something else.
//!
//! A storage buffer for each heap that is checked ([`Remapper::descriptor_checks`](super::Remapper::descriptor_checks)). All of it
//! is 32-bit little-endian words:
//!
//! | byte | what | who writes it |
//! |---|---|---|
//! | [`TOLD`] | faults so far; wraps around | shaders; the host 0 before them |
//! | [`CAPACITY`] | entries of the ring; 0 tells of no fault but counts them | the host |
//! | [`COUNT`] | descriptors of the heap | the host |
//! | [`WORDS`] | a word for each descriptor ([`word`]) | the host |
//! | `WORDS + 4 * count` | the ring: [`ENTRY`] bytes for each entry | shaders; the host 0 before them |
//!
//! An access to a descriptor behind the last, to one that is not for what it is used, or to one whose resource is gone is a
//! fault. Fault *n*, counted from 0, is told in entry *n* modulo the capacity, and its access goes to the place behind the last
//! descriptor instead, where the host puts null descriptors. [`Faults::read`] reads the ring. Where a ring has fewer entries than the
//! faults of shaders that run at the same time, an entry may have words of two of them.

use super::{DescriptorKind, Slot};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The byte where faults are counted.
pub const TOLD: u32 = 0;
/// The byte where the host says how many entries the ring has.
pub const CAPACITY: u32 = 4;
/// The byte where the host says how many descriptors there are.
pub const COUNT: u32 = 8;
/// The byte where the descriptors' words begin.
pub const WORDS: u32 = 32;

/// Bytes of an entry of the ring.
pub const ENTRY: u32 = 24;
/// The byte of an entry where the number of the fault is told, counted from 1.
pub const NUMBER: u32 = 0;
/// The byte of an entry where the place in the heap is told.
pub const PLACE: u32 = 4;
/// The byte of an entry where it is told what the descriptor was used as: the number of a [`DescriptorKind`].
pub const USED_AS: u32 = 8;
/// The byte of an entry where the descriptor's word is told; 0 behind the last descriptor.
pub const WORD: u32 = 12;
/// The byte of an entry where the shader is told: [`Checks::program`].
pub const PROGRAM: u32 = 16;
/// The byte of an entry where the number of the instruction in its function is told.
pub const INSTRUCTION: u32 = 20;

/// The bit of a descriptor whose resource is alive.
pub const ALIVE: u32 = 1 << 31;

/// How a shader's accesses to descriptors of a heap are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// Where the buffer is bound.
    pub slot: Slot,
    /// The number that faults tell the shader by.
    pub program: u32,
}

/// The word of a descriptor whose resource is alive, by what it may be used as.
pub fn word(kinds: &[DescriptorKind]) -> u32 {
    kinds.iter().fold(ALIVE, |word, &kind| word | 1 << kind as u32)
}

/// What a descriptor's word says that it may be used as.
pub fn kinds(word: u32) -> impl Iterator<Item = DescriptorKind> {
    DescriptorKind::ALL.into_iter().filter(move |&kind| word >> kind as u32 & 1 != 0)
}

/// A buffer for a heap: its descriptors by their words, and a ring of some entries.
pub fn buffer(descriptors: &[u32], capacity: u32) -> Vec<u8> {
    let mut words = vec![0; WORDS as usize / 4];
    words[CAPACITY as usize / 4] = capacity;
    words[COUNT as usize / 4] = descriptors.len() as u32;
    words.extend_from_slice(descriptors);
    words.resize(words.len() + capacity as usize * (ENTRY as usize / 4), 0);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// An access to a descriptor that is not for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Its number, counted from 1.
    pub number: u32,
    /// The place in the heap.
    pub place: u32,
    /// What the descriptor was used as: the number of a [`DescriptorKind`].
    pub used_as: u32,
    /// The descriptor's word; 0 behind the last descriptor.
    pub word: u32,
    /// The shader, [`Checks::program`].
    pub program: u32,
    /// The number of the instruction in its function.
    pub instruction: u32,
}

/// Why a buffer cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// It ends too early.
    #[error("the buffer ends at byte {length:#x}: {what} would end at {end:#x}")]
    Short {
        /// What is missing.
        what: &'static str,
        /// Its end, bytes.
        end: u64,
        /// Bytes of the buffer.
        length: usize,
    },
}

/// The faults that a buffer tells of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// How many there were.
    pub told: u32,
    /// Descriptors of the heap.
    pub descriptors: u32,
    /// Those that the ring has, in their order: others have taken the places of the rest.
    pub faults: Vec<Fault>,
}

impl Faults {
    /// Reads a buffer. Entries that tell of nothing are left out.
    ///
    /// # Errors
    /// The buffer is shorter than what its header says.
    pub fn read(buffer: &[u8]) -> Result<Faults, ReadError> {
        let short = |what, end| ReadError::Short { what, end, length: buffer.len() };
        let header = buffer.get(..WORDS as usize).ok_or(short("the header", WORDS.into()))?;
        let word = |bytes: &[u8], at: u32| {
            bytes
                .get(at as usize..)
                .and_then(|bytes| bytes.first_chunk())
                .map_or(0, |b| u32::from_le_bytes(*b))
        };
        let [told, capacity, descriptors] = [TOLD, CAPACITY, COUNT].map(|at| word(header, at));
        let start = u64::from(WORDS) + 4 * u64::from(descriptors);
        let end = start + u64::from(capacity) * u64::from(ENTRY);
        let ring = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let ring = ring.and_then(|(start, end)| buffer.get(start..end)).ok_or(short("the ring", end))?;
        let fault = |entry: &[u8]| Fault {
            number: word(entry, NUMBER),
            place: word(entry, PLACE),
            used_as: word(entry, USED_AS),
            word: word(entry, WORD),
            program: word(entry, PROGRAM),
            instruction: word(entry, INSTRUCTION),
        };
        let faults = ring.chunks_exact(ENTRY as usize).map(fault);
        let mut faults: Vec<Fault> = faults.filter(|fault| fault.number != 0).collect();
        // By how long ago they were: their numbers wrap around.
        faults.sort_unstable_by_key(|fault| std::cmp::Reverse(told.wrapping_sub(fault.number)));
        Ok(Faults { told, descriptors, faults })
    }
}
