//! Command lists: register writes packed in memory.
//!
//! An entry is a parameter, a header and further parameters, padded to eight bytes (vectors/picagpu/FORMAT.md, section
//! 2). What a write does is not known here.

use crate::memory::Memory;
use thiserror::Error;

/// One register write of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Register index; may lie beyond the register file.
    pub register: u32,
    /// The parameter.
    pub value: u32,
    /// Bits of the register that change.
    pub mask: u32,
}

impl Write {
    /// A write of the bytes in the lowest four bits of `bytes`.
    pub fn new(register: u32, value: u32, bytes: u32) -> Write {
        let mask = (0..4).filter(|b| bytes >> b & 1 != 0).fold(0, |m, b| m | 0xff << (8 * b));
        Write { register, value, mask }
    }
}

/// Why a list ended early.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ListError {
    /// A word of the list is not in memory.
    #[error("command list: no memory at {address:#010x}")]
    Unmapped {
        /// Physical address of the word.
        address: u32,
    },
    /// The list ends within an entry.
    #[error("command list: the entry at {address:#010x} is cut off by the end of the list")]
    Truncated {
        /// Physical address of the entry.
        address: u32,
    },
}

/// A cursor over a command list.
#[derive(Clone, Debug)]
pub struct List {
    /// Address of the next entry, and how many bytes of the list lie from there on.
    at: u32,
    left: u32,
    /// The entry that is under way.
    entry: u32,
    header: u32,
    /// Its next parameter, from 1 on, and where it lies.
    parameter: u32,
    parameter_at: u32,
}

/// Words of an entry before the extra parameters.
const ENTRY_BYTES: u32 = 8;

impl List {
    /// The list of `bytes` bytes at a physical address.
    pub fn new(address: u32, bytes: u32) -> List {
        List { at: address, left: bytes & !7, entry: 0, header: 0, parameter: 1, parameter_at: 0 }
    }

    /// Address and bytes of what is left of it.
    pub(crate) fn span(&self) -> (u32, u32) {
        (self.at, self.left)
    }

    /// The next write; nothing at the end of the list.
    pub fn next(&mut self, memory: &dyn Memory) -> Result<Option<Write>, ListError> {
        if self.parameter <= self.extra() {
            let value = word(memory, self.parameter_at)?;
            let step = if self.header >> 31 != 0 { self.parameter } else { 0 };
            self.parameter += 1;
            self.parameter_at = self.parameter_at.wrapping_add(4);
            return Ok(Some(self.write(step, value)));
        }
        if self.left < ENTRY_BYTES {
            return Ok(None);
        }
        self.entry = self.at;
        let value = word(memory, self.at)?;
        self.header = word(memory, self.at.wrapping_add(4))?;
        let bytes = ENTRY_BYTES + self.extra().next_multiple_of(2) * 4;
        if bytes > self.left {
            return Err(ListError::Truncated { address: self.entry });
        }
        (self.parameter, self.parameter_at) = (1, self.at.wrapping_add(ENTRY_BYTES));
        self.at = self.at.wrapping_add(bytes);
        self.left -= bytes;
        Ok(Some(self.write(0, value)))
    }

    fn extra(&self) -> u32 {
        self.header >> 20 & 0xff
    }

    fn write(&self, step: u32, value: u32) -> Write {
        Write::new((self.header & 0xffff) + step, value, self.header >> 16)
    }
}

fn word(memory: &dyn Memory, address: u32) -> Result<u32, ListError> {
    let bytes = memory.bytes(address, 4).and_then(|b| b.first_chunk::<4>());
    bytes.map(|b| u32::from_le_bytes(*b)).ok_or(ListError::Unmapped { address })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};

    fn memory(words: &[u32]) -> Regions {
        let mut regions = Regions::new();
        regions.add(FCRAM, words.iter().flat_map(|w| w.to_le_bytes()).collect());
        regions
    }

    fn writes(words: &[u32]) -> (Vec<(u32, u32, u32)>, Option<ListError>) {
        let memory = memory(words);
        let mut list = List::new(FCRAM, words.len() as u32 * 4);
        let mut out = Vec::new();
        loop {
            match list.next(&memory) {
                Ok(Some(w)) => out.push((w.register, w.value, w.mask)),
                Ok(None) => return (out, None),
                Err(e) => return (out, Some(e)),
            }
        }
    }

    #[test]
    fn parameters_go_to_one_register_or_to_the_following_ones() {
        let all = u32::MAX;
        let repeated = [1, 0x002f_0100, 2, 3, 9, 0x000f_0200];
        assert_eq!(
            writes(&repeated),
            (vec![(0x100, 1, all), (0x100, 2, all), (0x100, 3, all), (0x200, 9, all)], None)
        );
        // One extra parameter is followed by a word of padding.
        let consecutive = [1, 0x801f_0100, 2, 0xdead, 9, 0x0005_0200];
        assert_eq!(
            writes(&consecutive),
            (vec![(0x100, 1, all), (0x101, 2, all), (0x200, 9, 0x00ff_00ff)], None)
        );
    }

    #[test]
    fn lists_that_end_early_are_errors() {
        assert_eq!(writes(&[1, 0x002f_0100]), (vec![], Some(ListError::Truncated { address: FCRAM })));
        let memory = memory(&[0]);
        let mut list = List::new(FCRAM, 8);
        assert_eq!(list.next(&memory), Err(ListError::Unmapped { address: FCRAM + 4 }));
    }
}
