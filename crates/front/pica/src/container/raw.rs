//! Bare program memory: little-endian code words and operand descriptor words, as an emulator or debugger dumps them.

use super::{ContainerError, Limits};
use crate::program::Program;

/// A program from two dumps.
pub fn parse_pair(code: &[u8], descriptors: &[u8], limits: &Limits) -> Result<Program, ContainerError> {
    Ok(Program {
        code: words(code, 0, "program words", limits.code_words)?,
        descriptors: words(descriptors, 0, "operand descriptors", limits.descriptors)?,
    })
}

/// A program from one dump: `code_words` words of code, then descriptors to its end.
pub fn parse_joined(data: &[u8], code_words: usize, limits: &Limits) -> Result<Program, ContainerError> {
    let truncated = ContainerError::Truncated {
        offset: 0,
        what: "program words",
        needed: (code_words as u64).saturating_mul(4),
        end: data.len(),
    };
    let split = code_words.checked_mul(4).and_then(|at| data.split_at_checked(at)).ok_or(truncated)?;
    Ok(Program {
        code: words(split.0, 0, "program words", limits.code_words)?,
        descriptors: words(split.1, split.0.len(), "operand descriptors", limits.descriptors)?,
    })
}

/// The dump of a program's code, and that of its descriptors.
pub fn write_pair(program: &Program) -> (Vec<u8>, Vec<u8>) {
    let dump = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    (dump(&program.code), dump(&program.descriptors))
}

fn words(data: &[u8], at: usize, what: &'static str, limit: usize) -> Result<Vec<u32>, ContainerError> {
    let (whole, rest) = data.as_chunks::<4>();
    let end = at + data.len();
    if !rest.is_empty() {
        let offset = (end - rest.len()) as u64;
        return Err(ContainerError::Truncated { offset, what, needed: 4, end });
    }
    if whole.len() > limit {
        return Err(ContainerError::Limit { offset: at as u64, what, value: whole.len() as u64, limit });
    }
    Ok(whole.iter().map(|&word| u32::from_le_bytes(word)).collect())
}
