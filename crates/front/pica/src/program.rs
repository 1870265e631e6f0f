//! What the shader unit's program memory holds.

use crate::decode::{self, DecodeError};
use crate::desc::Descriptor;
use crate::inst::Inst;

/// Words of program memory a program counter can reach (12-bit flow targets).
pub const MAX_CODE_WORDS: usize = 4096;

/// Operand descriptors an instruction can reach (7-bit index).
pub const MAX_DESCRIPTORS: usize = 128;

/// Program words and operand descriptors, as uploaded to the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Instruction words by word address.
    pub code: Vec<u32>,
    /// Operand descriptor words by index.
    pub descriptors: Vec<u32>,
}

impl Program {
    /// The word at `address`; 0 beyond the end, as memory that was never written.
    pub fn word(&self, address: u32) -> u32 {
        self.code.get(address as usize).copied().unwrap_or(0)
    }

    /// The instruction at word `address`; beyond the end, that of a zero word.
    pub fn inst(&self, address: u32) -> Result<Inst, DecodeError> {
        decode::decode(address as usize * 4, self.word(address))
    }

    /// Descriptor `index`; 0 beyond the end.
    pub fn descriptor(&self, index: u8) -> Descriptor {
        Descriptor(self.descriptors.get(usize::from(index)).copied().unwrap_or(0))
    }
}
