//! Bit fields of blocks.

use super::lanes::Words;

/// A block that is filled from its lowest bit on.
#[derive(Default)]
pub struct Fields {
    bits: u128,
    at: u32,
}

impl Fields {
    /// Begins as blocks of BC7 do: the bit of the mode is set, and those below are not.
    #[inline(always)]
    pub fn of_mode(mode: usize) -> Fields {
        Fields { bits: 1 << mode, at: mode as u32 + 1 }
    }

    #[inline(always)]
    pub fn put(&mut self, value: u32, bits: u32) {
        self.bits |= u128::from(value) << self.at;
        self.at += bits;
    }

    /// Sixteen indices of `bits` bits. The texels of `anchors`, in rising order, have no highest bit.
    #[inline(always)]
    pub fn put_indices(&mut self, mut indices: u64, bits: u32, anchors: &[u8]) {
        for &anchor in anchors.iter().rev() {
            let below = (1u64 << (u32::from(anchor) * bits + bits - 1)) - 1;
            indices = indices & below | indices >> 1 & !below;
        }
        self.bits |= u128::from(indices) << self.at;
        self.at += 16 * bits - anchors.len() as u32;
    }

    #[inline(always)]
    pub fn bits(&self) -> u128 {
        self.bits
    }

    #[inline(always)]
    pub fn store(&self, words: &mut Words, lane: usize) {
        for (i, word) in words.iter_mut().enumerate() {
            word[lane] = (self.bits >> (32 * i)) as u32;
        }
    }
}
