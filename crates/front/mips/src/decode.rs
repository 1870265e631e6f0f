//! Words to instructions.

use crate::inst::Inst;
use crate::isa::{Formats, OPS, OpInfo};
use std::sync::LazyLock;
use thiserror::Error;

/// A word that is no instruction of this architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{word:#010x} is no user instruction of MIPS32 release 2")]
pub struct Unknown {
    /// The word.
    pub word: u32,
}

/// The rows by the word's highest six bits.
static BY_OPCODE: LazyLock<[Vec<&'static OpInfo>; 64]> = LazyLock::new(|| {
    std::array::from_fn(|opcode| OPS.iter().filter(|row| row.bits >> 26 == opcode as u32).collect())
});

/// Decodes a word.
///
/// # Errors
/// When the word is no instruction that user code may execute.
pub fn decode(word: u32) -> Result<Inst, Unknown> {
    let rows = &BY_OPCODE[(word >> 26) as usize];
    rows.iter().find(|row| fits(row, word)).map(|row| Inst { op: row.op, word }).ok_or(Unknown { word })
}

fn fits(row: &OpInfo, word: u32) -> bool {
    word & row.mask == row.bits
        && match row.formats {
            Formats::None => true,
            Formats::Named(fmt) => fmt.field() == word >> 21 & 31,
            Formats::Field(_) | Formats::Low(_) => Inst { op: row.op, word }.fmt().is_some(),
        }
}

#[cfg(test)]
mod tests {
    use super::{BY_OPCODE, fits};
    use crate::isa::{ALIASES, OPS};

    #[test]
    fn rows_are_well_formed_and_exclude_each_other() {
        for (n, row) in OPS.iter().enumerate() {
            assert_eq!(row.op as usize, n);
            assert_eq!(row.bits & !row.mask, 0, "{}", row.name);
        }
        // Every word has at most one row: tried on the bits of each row with random bits elsewhere.
        let mut random = 1u32;
        for row in OPS {
            for _ in 0..200 {
                random = random.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                let word = row.bits | (random ^ random >> 16) & !row.mask;
                let found = BY_OPCODE[(word >> 26) as usize].iter().filter(|row| fits(row, word)).count();
                assert!(found <= 1, "{word:08x}");
            }
        }
        assert!(ALIASES.iter().all(|alias| alias.bits & !alias.mask == 0));
    }
}
