//! Words to instructions.

use crate::inst::{Guard, Inst, PT};
use crate::isa;
use crate::modifier::Mod;
use thiserror::Error;

/// Why a word is not an instruction.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{address:#06x}: {word:#018x} is not an instruction: {reason}")]
pub struct DecodeError {
    /// Byte address.
    pub address: u32,
    /// The word found there.
    pub word: u64,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a word.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Reason {
    /// No form matches.
    #[error("unknown operation")]
    Opcode,
    /// A modifier has a value that neither the ISA nor the vendor's disassembler defines.
    #[error("undefined value of {0:?}")]
    Modifier(Mod),
}

/// The instruction of a word at a byte address of the code.
///
/// # Errors
/// [`DecodeError`] where no form of the table matches.
pub fn decode(address: u32, word: u64) -> Result<Inst, DecodeError> {
    let error = |reason| DecodeError { address, word, reason };
    let id = isa::find(word).ok_or(error(Reason::Opcode))?;
    let form = &isa::FORMS[id];
    if form.partial
        && let Some(bad) = form.modifiers.iter().find(|m| m.choice(word).is_none())
    {
        return Err(error(Reason::Modifier(bad.which)));
    }
    let guard = match form.guarded {
        true => Guard { pred: ((word >> 16) & 7) as u8, not: (word >> 19) & 1 != 0 },
        false => Guard { pred: PT, not: false },
    };
    Ok(Inst { address, word, op: form.op, form: id, guard })
}
