//! Bit fields of blocks.

use super::lanes::{LANES, Mask, U, Words, words};
use fearless_simd::prelude::*;

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

/// Sixteen blocks, one in each lane, that are filled from their lowest bits on.
pub struct LaneFields<S: Simd> {
    words: [U<S>; 4],
    at: u32,
}

impl<S: Simd> LaneFields<S> {
    /// As [`Fields::of_mode`].
    #[inline(always)]
    pub fn of_mode(simd: S, mode: usize) -> LaneFields<S> {
        let zero = words(simd, 0);
        LaneFields { words: [words(simd, 1 << mode), zero, zero, zero], at: mode as u32 + 1 }
    }

    /// Puts numbers of up to `bits` bits, 32 at most.
    #[inline(always)]
    pub fn put(&mut self, value: U<S>, bits: u32) {
        let (word, shift) = (self.at as usize / 32 % 4, self.at % 32);
        if bits > 0 {
            self.words[word] |= value << shift;
        }
        if shift + bits > 32 {
            self.words[(word + 1) % 4] |= value >> (32 - shift);
        }
        self.at += bits;
    }

    /// Sixteen indices of `bits` bits, up to four, as two halves of eight. The first has no highest bit.
    #[inline(always)]
    pub fn put_indices(&mut self, [low, high]: [U<S>; 2], bits: u32) {
        let below = (1 << (bits - 1)) - 1;
        self.put(low & below | low >> 1 & !below, 8 * bits - 1);
        self.put(high, 8 * bits);
    }

    #[inline(always)]
    pub fn words(&self) -> Words {
        let mut out = [[0; LANES]; 4];
        for (word, out) in self.words.iter().zip(&mut out) {
            *out = word.to_array();
        }
        out
    }

    /// Replaces blocks where the mask is set.
    #[inline(always)]
    pub fn store(&self, mask: Mask<S>, out: &mut Words) {
        for (word, out) in self.words.iter().zip(out) {
            *out = mask.select(*word, U::load_array_ref(word.simd, out)).to_array();
        }
    }
}
