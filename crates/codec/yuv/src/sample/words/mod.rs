//! Vectors of words, with each processor's instructions. Every implementation gives the same results.
//!
//! Texels are made in groups of two vectors of each component: 64 with AVX-512, whose vectors have 32 words, and 32 with AVX2, as
//! twice as many would not fit its registers.
//!
//! What is not inlined is not compiled for the instruction set: in code that takes [`Words`], functions are `inline(always)`.

use super::codes::Reader;
use super::lanes::{Portable, each};

/// Instructions on `HALF` words, each a component of a texel; a `GROUP` of texels is twice as many.
pub trait Words<const HALF: usize, const GROUP: usize>: Copy {
    /// A vector of words. Their order is the implementation's choice, the same for all operations.
    type Words: Copy;

    /// What multiplies by a number of 7 bits.
    type Scale: Copy;

    /// Which bits of a 16-bit word the code is.
    type Place: Copy;

    fn splat(self, value: i16) -> Self::Words;

    /// Numbers of 16 bits.
    fn load(self, numbers: &[u16; HALF]) -> Self::Words;

    /// Those at even places, and those at odd ones.
    fn load_pairs(self, numbers: &[u16; GROUP]) -> [Self::Words; 2];

    /// The first half and the second, in the order that [`Words::halves_to_rgba8`] takes.
    fn load_halves(self, numbers: &[u16; GROUP]) -> [Self::Words; 2];

    fn place(self, reader: Reader) -> Self::Place;

    /// Codes moved to the highest bits of words; all other bits become 0.
    fn placed(self, numbers: Self::Words, place: Self::Place) -> Self::Words;

    /// Numbers less 0x8000: signed ones around their middle.
    fn centered(self, numbers: Self::Words) -> Self::Words;

    /// Bytes as the high bytes of such signed words.
    fn load_bytes(self, bytes: &[u8; HALF]) -> Self::Words;

    /// Those at even places, and those at odd ones.
    fn load_byte_pairs(self, bytes: &[u8; GROUP]) -> [Self::Words; 2];

    /// The first half and the second, in the order that [`Words::halves_to_rgba8`] takes.
    fn load_byte_halves(self, bytes: &[u8; GROUP]) -> [Self::Words; 2];

    fn scale(self, by: i8) -> Self::Scale;

    /// Rounded products of words in fixed point with 8 bits before the point.
    fn scaled(self, numbers: Self::Words, by: Self::Scale) -> Self::Words;

    /// Products of the bytes at even places, and of the bytes at odd places.
    fn scaled_byte_pairs(self, bytes: &[u8; GROUP], by: Self::Scale) -> [Self::Words; 2];

    /// Products of the first half of bytes and of the second, in the order that [`Words::halves_to_rgba8`] takes.
    fn scaled_byte_halves(self, bytes: &[u8; GROUP], by: Self::Scale) -> [Self::Words; 2];

    /// Products of fractions of 15 bits, rounded.
    fn product(self, a: Self::Words, b: Self::Words) -> Self::Words;

    fn add(self, a: Self::Words, b: Self::Words) -> Self::Words;

    /// Red, green and blue of the texels at even and at odd places, clamped to bytes, with alpha 255.
    fn to_rgba8(self, pairs: [[Self::Words; 3]; 2]) -> [[u8; 4]; GROUP];

    /// The same of texels in halves.
    fn halves_to_rgba8(self, halves: [[Self::Words; 3]; 2]) -> [[u8; 4]; GROUP];

    /// Words in order, for tests.
    #[cfg(test)]
    fn to_array(self, words: Self::Words) -> [i16; HALF];

    /// Words of both halves in order, for tests.
    #[cfg(test)]
    fn halves_to_array(self, halves: [Self::Words; 2]) -> [i16; GROUP];
}

/// A byte as the high byte of a word, around 0x80.
#[inline(always)]
fn high(byte: u8) -> i16 {
    (u16::from(byte ^ 0x80) << 8).cast_signed()
}

/// Bytes of texels, whose components are clamped.
#[inline(always)]
fn texel([r, g, b]: [i16; 3]) -> [u8; 4] {
    let byte = |c: i16| u32::from(c.clamp(0, 255).cast_unsigned());
    // Compilers vectorise shifts and ors of words, but not stores of single bytes.
    (byte(r) | byte(g) << 8 | byte(b) << 16 | 255 << 24).to_le_bytes()
}

/// Puts 32 texels at every `step`th place. It is inlined where [`each`] is.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
fn put(out: &mut [[u8; 4]; 64], first: usize, step: usize, [r, g, b]: &[[i16; 32]; 3]) {
    for i in 0..32 {
        out[first + step * i] = texel([r[i], g[i], b[i]]);
    }
}

impl Words<32, 64> for Portable {
    type Words = [i16; 32];
    type Scale = i8;
    type Place = Reader;

    #[inline(always)]
    fn splat(self, value: i16) -> [i16; 32] {
        [value; 32]
    }

    #[inline(always)]
    fn load(self, numbers: &[u16; 32]) -> [i16; 32] {
        each(|i| numbers[i].cast_signed())
    }

    #[inline(always)]
    fn load_pairs(self, numbers: &[u16; 64]) -> [[i16; 32]; 2] {
        [each(|i| numbers[2 * i].cast_signed()), each(|i| numbers[2 * i + 1].cast_signed())]
    }

    #[inline(always)]
    fn load_halves(self, numbers: &[u16; 64]) -> [[i16; 32]; 2] {
        [each(|i| numbers[i].cast_signed()), each(|i| numbers[32 + i].cast_signed())]
    }

    #[inline(always)]
    fn place(self, reader: Reader) -> Reader {
        reader
    }

    #[inline(always)]
    fn placed(self, numbers: [i16; 32], place: Reader) -> [i16; 32] {
        each(|i| place.code(numbers[i].cast_unsigned()).cast_signed())
    }

    #[inline(always)]
    fn centered(self, numbers: [i16; 32]) -> [i16; 32] {
        each(|i| numbers[i] ^ i16::MIN)
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 32]) -> [i16; 32] {
        each(|i| high(bytes[i]))
    }

    #[inline(always)]
    fn load_byte_pairs(self, bytes: &[u8; 64]) -> [[i16; 32]; 2] {
        [each(|i| high(bytes[2 * i])), each(|i| high(bytes[2 * i + 1]))]
    }

    #[inline(always)]
    fn load_byte_halves(self, bytes: &[u8; 64]) -> [[i16; 32]; 2] {
        [each(|i| high(bytes[i])), each(|i| high(bytes[32 + i]))]
    }

    #[inline(always)]
    fn scale(self, by: i8) -> i8 {
        by
    }

    #[inline(always)]
    fn scaled(self, numbers: [i16; 32], by: i8) -> [i16; 32] {
        self.product(each(|i| (numbers[i].cast_unsigned() >> 1).cast_signed()), [i16::from(by) << 8; 32])
    }

    #[inline(always)]
    fn scaled_byte_pairs(self, bytes: &[u8; 64], by: i8) -> [[i16; 32]; 2] {
        let product = |byte: u8| i16::from(byte).wrapping_mul(by.into());
        [each(|i| product(bytes[2 * i])), each(|i| product(bytes[2 * i + 1]))]
    }

    #[inline(always)]
    fn scaled_byte_halves(self, bytes: &[u8; 64], by: i8) -> [[i16; 32]; 2] {
        let product = |byte: u8| i16::from(byte).wrapping_mul(by.into());
        [each(|i| product(bytes[i])), each(|i| product(bytes[32 + i]))]
    }

    #[inline(always)]
    fn product(self, a: [i16; 32], b: [i16; 32]) -> [i16; 32] {
        each(|i| (i32::from(a[i]).wrapping_mul(i32::from(b[i])).wrapping_add(1 << 14) >> 15) as i16)
    }

    #[inline(always)]
    fn add(self, a: [i16; 32], b: [i16; 32]) -> [i16; 32] {
        each(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn to_rgba8(self, [even, odd]: [[[i16; 32]; 3]; 2]) -> [[u8; 4]; 64] {
        let mut out = [[0; 4]; 64];
        put(&mut out, 0, 2, &even);
        put(&mut out, 1, 2, &odd);
        out
    }

    #[inline(always)]
    fn halves_to_rgba8(self, [low, high]: [[[i16; 32]; 3]; 2]) -> [[u8; 4]; 64] {
        let mut out = [[0; 4]; 64];
        put(&mut out, 0, 1, &low);
        put(&mut out, 32, 1, &high);
        out
    }

    #[cfg(test)]
    fn to_array(self, words: [i16; 32]) -> [i16; 32] {
        words
    }

    #[cfg(test)]
    fn halves_to_array(self, halves: [[i16; 32]; 2]) -> [i16; 64] {
        pulp::cast(halves)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;
