//! The register file: 0x300 words.

/// Number of registers; writes beyond are ignored.
pub const COUNT: usize = 0x300;

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
}
