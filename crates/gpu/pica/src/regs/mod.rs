//! The register file: 0x300 words.

mod names;

pub use names::*;

/// Number of registers; writes beyond are ignored.
pub const COUNT: usize = 0x300;

/// Registers of a data port; all do the same.
const PORT_ALIASES: u32 = 8;

/// Whether `register` is one of the data port that starts at `port`.
pub(crate) fn in_port(register: u32, port: u32) -> bool {
    register.wrapping_sub(port) < PORT_ALIASES
}

/// The internal registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    words: Box<[u32; COUNT]>,
}

impl Default for Registers {
    fn default() -> Self {
        Registers { words: Box::new([0; COUNT]) }
    }
}

impl Registers {
    /// The register `index`; 0 beyond the file.
    pub fn get(&self, index: u32) -> u32 {
        self.words.get(index as usize).copied().unwrap_or(0)
    }

    /// Bits `lo` to `lo + count - 1` of the register `index`. `count` is 1 to 32.
    pub fn bits(&self, index: u32, lo: u32, count: u32) -> u32 {
        (self.get(index) >> lo) & (u32::MAX >> (32 - count))
    }

    /// Bit `at` of the register `index`.
    pub fn bit(&self, index: u32, at: u32) -> bool {
        self.bits(index, at, 1) != 0
    }

    /// Sets the register `index`; nothing happens beyond the file.
    pub fn set(&mut self, index: u32, value: u32) {
        if let Some(word) = self.words.get_mut(index as usize) {
            *word = value;
        }
    }

    /// Adds one to the field of the `count` lowest bits of the register `index`, which wraps within itself, and gives
    /// what it was: how data ports count.
    pub(crate) fn advance(&mut self, index: u32, count: u32) -> u32 {
        let mask = u32::MAX >> (32 - count);
        let word = self.get(index);
        let old = word & mask;
        self.set(index, word & !mask | old.wrapping_add(1) & mask);
        old
    }

    /// The registers that are not zero, by index, with their names.
    pub fn named(&self) -> impl Iterator<Item = (u32, Option<Name>, u32)> {
        (0..COUNT as u32).map(|i| (i, name(i), self.get(i))).filter(|&(_, _, value)| value != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_count_within_their_field() {
        let mut regs = Registers::default();
        regs.set(PROCTEX_LUT_PORT, 0x4ff);
        assert_eq!(regs.advance(PROCTEX_LUT_PORT, 8), 0xff);
        assert_eq!(regs.get(PROCTEX_LUT_PORT), 0x400);
        assert_eq!(regs.advance(0x300, 8), 0);
    }

    #[test]
    fn families_are_named_by_member() {
        let text = |index| name(index).map(|n| n.to_string());
        assert_eq!(text(VIEWPORT_HALF_WIDTH).as_deref(), Some("VIEWPORT_HALF_WIDTH"));
        assert_eq!(text(LIGHT + 0x25).as_deref(), Some("LIGHT[2]+5"));
        assert_eq!(text(VERTEX_CODE_DATA + 3).as_deref(), Some("VERTEX_CODE_DATA[3]"));
        assert_eq!(text(0x2ff), None);
    }

    #[test]
    fn ranges_do_not_overlap() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].first + pair[0].count * pair[0].stride <= pair[1].first, "{:?}", pair);
        }
    }
}
