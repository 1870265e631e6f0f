//! A program memory.

use crate::inst::{Inst, Undefined};
use serde::{Deserialize, Serialize};

/// Words of a program memory: what a program load copies.
pub const MAX_PROGRAM_WORDS: usize = 256;

/// A program, decoded. Running past its end is as EXIT. Serialised as its words.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct Program {
    insts: Vec<Result<Inst, Undefined>>,
}

impl Program {
    /// Decodes words; those after the first [`MAX_PROGRAM_WORDS`] are dropped.
    pub fn from_words(words: &[u32]) -> Program {
        Program { insts: words.iter().take(MAX_PROGRAM_WORDS).map(|&w| Inst::decode(w)).collect() }
    }

    /// The words.
    pub fn words(&self) -> Vec<u32> {
        self.insts.iter().map(|i| i.map_or_else(|u| u.word, |i| i.encode())).collect()
    }

    /// The instruction at a word; `None` after the end.
    #[inline]
    pub fn get(&self, pc: u16) -> Option<Result<Inst, Undefined>> {
        self.insts.get(usize::from(pc)).copied()
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }
}

impl From<Vec<u32>> for Program {
    fn from(words: Vec<u32>) -> Program {
        Program::from_words(&words)
    }
}

impl From<Program> for Vec<u32> {
    fn from(program: Program) -> Vec<u32> {
        program.words()
    }
}
