//! [`Words`] with AVX-512 and AVX2.

use super::Words;
use crate::sample::codes::Reader;
use crate::sample::halves::halves;
use core::arch::x86_64::{__m128i, __m256i, __m512i};
use pulp::cast;
use pulp::x86::{V3, V4};

/// What a lane of 128 bits of AVX-512's four has at its place `i`: instructions that bring components together work within
/// lanes, and put texels of the first of four parts of each lane next to each other. With AVX2, texels are put in order when they are
/// made, as its permutations of parts of 32 bits take longer than those of lanes.
const fn source(lane: usize, i: usize) -> usize {
    4 * i + lane
}

/// Where 32-bit parts come from.
const DWORDS_512: [u32; 16] = {
    let mut out = [0; 16];
    let mut i = 0;
    while i < 16 {
        out[i] = source(i / 4, i % 4) as u32;
        i += 1;
    }
    out
};

/// Where pairs of bytes come from, in the low half of each lane.
const WORDS_512: [u16; 32] = {
    let mut out = [0; 32];
    let mut i = 0;
    while i < 16 {
        out[i / 4 * 8 + i % 4] = source(i / 4, i % 4) as u16;
        i += 1;
    }
    out
};

/// Where words of even and of odd places come from.
const PAIRS_512: [[u16; 32]; 2] = {
    let mut out = [[0; 32]; 2];
    let mut i = 0;
    while i < 32 {
        let at = 4 * source(i / 8, i % 8 / 2) + i % 2 * 2;
        out[0][i] = at as u16;
        out[1][i] = at as u16 + 1;
        i += 1;
    }
    out
};

/// Putting texels together.
trait Texels<const HALF: usize, const GROUP: usize>: Words<HALF, GROUP> {
    /// Texels of two halves of components, by fours: in each lane of 128 bits four texels.
    fn texels(self, halves: [[Self::Words; 3]; 2]) -> [Self::Words; 4];
}

impl Texels<32, 64> for V4 {
    #[inline(always)]
    fn texels(self, [[r, g, b], [more_r, more_g, more_b]]: [[__m512i; 3]; 2]) -> [__m512i; 4] {
        let bw = self.avx512bw;
        let red = bw._mm512_packus_epi16(r, more_r);
        let green = bw._mm512_packus_epi16(g, more_g);
        let blue = bw._mm512_packus_epi16(b, more_b);
        let alpha = cast([255u8; 64]);
        let (rg, more_rg) = (bw._mm512_unpacklo_epi8(red, green), bw._mm512_unpackhi_epi8(red, green));
        let (ba, more_ba) = (bw._mm512_unpacklo_epi8(blue, alpha), bw._mm512_unpackhi_epi8(blue, alpha));
        [
            bw._mm512_unpacklo_epi16(rg, ba),
            bw._mm512_unpackhi_epi16(rg, ba),
            bw._mm512_unpacklo_epi16(more_rg, more_ba),
            bw._mm512_unpackhi_epi16(more_rg, more_ba),
        ]
    }
}

impl Texels<16, 32> for V3 {
    #[inline(always)]
    fn texels(self, [[r, g, b], [more_r, more_g, more_b]]: [[__m256i; 3]; 2]) -> [__m256i; 4] {
        let avx2 = self.avx2;
        let red = avx2._mm256_packus_epi16(r, more_r);
        let green = avx2._mm256_packus_epi16(g, more_g);
        let blue = avx2._mm256_packus_epi16(b, more_b);
        let alpha = cast([255u8; 32]);
        let (rg, more_rg) = (avx2._mm256_unpacklo_epi8(red, green), avx2._mm256_unpackhi_epi8(red, green));
        let (ba, more_ba) = (avx2._mm256_unpacklo_epi8(blue, alpha), avx2._mm256_unpackhi_epi8(blue, alpha));
        [
            avx2._mm256_unpacklo_epi16(rg, ba),
            avx2._mm256_unpackhi_epi16(rg, ba),
            avx2._mm256_unpacklo_epi16(more_rg, more_ba),
            avx2._mm256_unpackhi_epi16(more_rg, more_ba),
        ]
    }
}

/// The quarters of 32 words for each lane: four of the first sixteen, and four of the others.
const QWORDS_512: [u64; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

impl Words<32, 64> for V4 {
    type Words = __m512i;
    type Scale = [__m512i; 2];
    /// How far to shift, and the mask of what is kept.
    type Place = (__m128i, __m512i);

    #[inline(always)]
    fn splat(self, value: i16) -> __m512i {
        self.avx512f._mm512_set1_epi16(value)
    }

    #[inline(always)]
    fn load(self, numbers: &[u16; 32]) -> __m512i {
        self.avx512f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*numbers))
    }

    #[inline(always)]
    fn load_pairs(self, numbers: &[u16; 64]) -> [__m512i; 2] {
        let [first, second]: [__m512i; 2] = cast(*numbers);
        let bw = self.avx512bw;
        let [even, odd] = PAIRS_512;
        [
            bw._mm512_permutex2var_epi16(first, cast(even), second),
            bw._mm512_permutex2var_epi16(first, cast(odd), second),
        ]
    }

    #[inline(always)]
    fn load_halves(self, numbers: &[u16; 64]) -> [__m512i; 2] {
        let numbers: [__m512i; 2] = cast(*numbers);
        halves!(h => self.avx512f._mm512_permutexvar_epi64(cast(QWORDS_512), numbers[h]))
    }

    #[inline(always)]
    fn place(self, reader: Reader) -> (__m128i, __m512i) {
        (cast([u64::from(reader.left), 0]), self.splat(reader.mask.cast_signed()))
    }

    #[inline(always)]
    fn placed(self, numbers: __m512i, (left, mask): (__m128i, __m512i)) -> __m512i {
        self.avx512f._mm512_and_si512(self.avx512bw._mm512_sll_epi16(numbers, left), mask)
    }

    #[inline(always)]
    fn centered(self, numbers: __m512i) -> __m512i {
        self.avx512f._mm512_xor_si512(numbers, self.avx512f._mm512_set1_epi16(i16::MIN))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 32]) -> __m512i {
        let bw = self.avx512bw;
        let pairs = bw._mm512_permutexvar_epi16(cast(WORDS_512), cast([*bytes, [0; 32]]));
        self.centered(bw._mm512_unpacklo_epi8(cast([0u8; 64]), pairs))
    }

    #[inline(always)]
    fn load_byte_pairs(self, bytes: &[u8; 64]) -> [__m512i; 2] {
        let pairs = self.avx512f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*bytes));
        let pairs = self.avx512f._mm512_xor_si512(pairs, cast([0x80_u8; 64]));
        let high = self.avx512f._mm512_set1_epi16(0xff00_u16.cast_signed());
        [self.avx512bw._mm512_slli_epi16::<8>(pairs), self.avx512f._mm512_and_si512(pairs, high)]
    }

    #[inline(always)]
    fn load_byte_halves(self, bytes: &[u8; 64]) -> [__m512i; 2] {
        let (f, bw, none) = (self.avx512f, self.avx512bw, cast([0u8; 64]));
        let bytes = f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*bytes));
        let bytes = f._mm512_xor_si512(bytes, cast([0x80_u8; 64]));
        [bw._mm512_unpacklo_epi8(none, bytes), bw._mm512_unpackhi_epi8(none, bytes)]
    }

    #[inline(always)]
    fn scale(self, by: i8) -> [__m512i; 2] {
        [self.splat(by.into()), self.splat(i16::from(by) << 8)]
    }

    #[inline(always)]
    fn scaled(self, numbers: __m512i, [_, by]: [__m512i; 2]) -> __m512i {
        self.product(self.avx512bw._mm512_srli_epi16::<1>(numbers), by)
    }

    #[inline(always)]
    fn scaled_byte_pairs(self, bytes: &[u8; 64], [even, odd]: [__m512i; 2]) -> [__m512i; 2] {
        let bw = self.avx512bw;
        let bytes = self.avx512f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*bytes));
        [bw._mm512_maddubs_epi16(bytes, even), bw._mm512_maddubs_epi16(bytes, odd)]
    }

    #[inline(always)]
    fn scaled_byte_halves(self, bytes: &[u8; 64], [by, _]: [__m512i; 2]) -> [__m512i; 2] {
        let (bw, none) = (self.avx512bw, cast([0u8; 64]));
        let bytes = self.avx512f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*bytes));
        [
            bw._mm512_maddubs_epi16(bw._mm512_unpacklo_epi8(bytes, none), by),
            bw._mm512_maddubs_epi16(bw._mm512_unpackhi_epi8(bytes, none), by),
        ]
    }

    #[inline(always)]
    fn product(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_mulhrs_epi16(a, b)
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_add_epi16(a, b)
    }

    #[inline(always)]
    fn to_rgba8(self, pairs: [[__m512i; 3]; 2]) -> [[u8; 4]; 64] {
        let f = self.avx512f;
        let [even, more_even, odd, more_odd] = self.texels(pairs);
        cast([
            f._mm512_unpacklo_epi32(even, odd),
            f._mm512_unpackhi_epi32(even, odd),
            f._mm512_unpacklo_epi32(more_even, more_odd),
            f._mm512_unpackhi_epi32(more_even, more_odd),
        ])
    }

    #[inline(always)]
    fn halves_to_rgba8(self, halves: [[__m512i; 3]; 2]) -> [[u8; 4]; 64] {
        cast(self.texels(halves))
    }

    #[cfg(test)]
    fn to_array(self, words: __m512i) -> [i16; 32] {
        let mut out = [0i16; 32];
        let words: [[i16; 2]; 16] = cast(words);
        let (out_pairs, _) = out.as_chunks_mut();
        for (pair, from) in words.into_iter().zip(DWORDS_512) {
            out_pairs[from as usize] = pair;
        }
        out
    }

    #[cfg(test)]
    fn halves_to_array(self, halves: [__m512i; 2]) -> [i16; 64] {
        let mut out = [[[0i16; 4]; 8]; 2];
        let halves: [[[i16; 4]; 8]; 2] = cast(halves);
        for (out, words) in out.iter_mut().zip(halves) {
            for (words, from) in words.into_iter().zip(QWORDS_512) {
                out[from as usize] = words;
            }
        }
        cast(out)
    }
}

/// Puts vectors of texels in order: the lower lanes of the first two, those of the others, and then the upper lanes in the same way.
#[inline(always)]
fn in_order(simd: V3, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    const LOW: i32 = 0x20;
    const HIGH: i32 = 0x31;
    let avx2 = simd.avx2;
    [
        avx2._mm256_permute2x128_si256::<LOW>(a, b),
        avx2._mm256_permute2x128_si256::<LOW>(c, d),
        avx2._mm256_permute2x128_si256::<HIGH>(a, b),
        avx2._mm256_permute2x128_si256::<HIGH>(c, d),
    ]
}

/// The bytes that the high bytes of words are taken from. Low bytes are 0, as the highest bit of their index is set.
const HIGH_BYTES: [u8; 32] = {
    let mut out = [0x80; 32];
    let mut i = 0;
    while i < 16 {
        out[2 * i + 1] = i as u8;
        i += 1;
    }
    out
};

/// Words of pairs are in order. The first half has the words of the lower eight bytes of either lane, the second half the others.
impl Words<16, 32> for V3 {
    type Words = __m256i;
    type Scale = [__m256i; 2];
    /// How far to shift, and the mask of what is kept.
    type Place = (__m128i, __m256i);

    #[inline(always)]
    fn splat(self, value: i16) -> __m256i {
        self.avx._mm256_set1_epi16(value)
    }

    #[inline(always)]
    fn load(self, numbers: &[u16; 16]) -> __m256i {
        cast(*numbers)
    }

    #[inline(always)]
    fn load_pairs(self, numbers: &[u16; 32]) -> [__m256i; 2] {
        let avx2 = self.avx2;
        let low = self.avx._mm256_set1_epi32(0xffff);
        // Pairs of numbers are 32 bits, which packing makes 16 of.
        let pairs = self.load_halves(numbers);
        let even = halves!(h => avx2._mm256_and_si256(pairs[h], low));
        let odd = halves!(h => avx2._mm256_srli_epi32::<16>(pairs[h]));
        [avx2._mm256_packus_epi32(even[0], even[1]), avx2._mm256_packus_epi32(odd[0], odd[1])]
    }

    #[inline(always)]
    fn load_halves(self, numbers: &[u16; 32]) -> [__m256i; 2] {
        let [a, b]: [__m256i; 2] = cast(*numbers);
        let [low, .., high, _] = in_order(self, [a, b, a, b]);
        [low, high]
    }

    #[inline(always)]
    fn place(self, reader: Reader) -> (__m128i, __m256i) {
        (cast([u64::from(reader.left), 0]), self.splat(reader.mask.cast_signed()))
    }

    #[inline(always)]
    fn placed(self, numbers: __m256i, (left, mask): (__m128i, __m256i)) -> __m256i {
        self.avx2._mm256_and_si256(self.avx2._mm256_sll_epi16(numbers, left), mask)
    }

    #[inline(always)]
    fn centered(self, numbers: __m256i) -> __m256i {
        self.avx2._mm256_xor_si256(numbers, self.splat(i16::MIN))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 16]) -> __m256i {
        let both = self.avx2._mm256_broadcastsi128_si256(cast(*bytes));
        self.centered(self.avx2._mm256_shuffle_epi8(both, cast(HIGH_BYTES)))
    }

    #[inline(always)]
    fn load_byte_pairs(self, bytes: &[u8; 32]) -> [__m256i; 2] {
        let avx2 = self.avx2;
        let pairs = avx2._mm256_xor_si256(cast(*bytes), cast([0x80_u8; 32]));
        let high = self.splat(0xff00_u16.cast_signed());
        [avx2._mm256_slli_epi16::<8>(pairs), avx2._mm256_and_si256(pairs, high)]
    }

    #[inline(always)]
    fn load_byte_halves(self, bytes: &[u8; 32]) -> [__m256i; 2] {
        let (avx2, none) = (self.avx2, cast([0u8; 32]));
        let bytes = avx2._mm256_xor_si256(cast(*bytes), cast([0x80_u8; 32]));
        [avx2._mm256_unpacklo_epi8(none, bytes), avx2._mm256_unpackhi_epi8(none, bytes)]
    }

    #[inline(always)]
    fn scale(self, by: i8) -> [__m256i; 2] {
        [self.splat(by.into()), self.splat(i16::from(by) << 8)]
    }

    #[inline(always)]
    fn scaled(self, numbers: __m256i, [_, by]: [__m256i; 2]) -> __m256i {
        self.product(self.avx2._mm256_srli_epi16::<1>(numbers), by)
    }

    #[inline(always)]
    fn scaled_byte_pairs(self, bytes: &[u8; 32], [even, odd]: [__m256i; 2]) -> [__m256i; 2] {
        let (avx2, bytes) = (self.avx2, cast(*bytes));
        [avx2._mm256_maddubs_epi16(bytes, even), avx2._mm256_maddubs_epi16(bytes, odd)]
    }

    #[inline(always)]
    fn scaled_byte_halves(self, bytes: &[u8; 32], [by, _]: [__m256i; 2]) -> [__m256i; 2] {
        let (avx2, bytes, none) = (self.avx2, cast(*bytes), cast([0u8; 32]));
        [
            avx2._mm256_maddubs_epi16(avx2._mm256_unpacklo_epi8(bytes, none), by),
            avx2._mm256_maddubs_epi16(avx2._mm256_unpackhi_epi8(bytes, none), by),
        ]
    }

    #[inline(always)]
    fn product(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_mulhrs_epi16(a, b)
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_add_epi16(a, b)
    }

    #[inline(always)]
    fn to_rgba8(self, pairs: [[__m256i; 3]; 2]) -> [[u8; 4]; 32] {
        let avx2 = self.avx2;
        let [even, more_even, odd, more_odd] = self.texels(pairs);
        let texels = [
            avx2._mm256_unpacklo_epi32(even, odd),
            avx2._mm256_unpackhi_epi32(even, odd),
            avx2._mm256_unpacklo_epi32(more_even, more_odd),
            avx2._mm256_unpackhi_epi32(more_even, more_odd),
        ];
        cast(in_order(self, texels))
    }

    #[inline(always)]
    fn halves_to_rgba8(self, halves: [[__m256i; 3]; 2]) -> [[u8; 4]; 32] {
        cast(in_order(self, self.texels(halves)))
    }

    #[cfg(test)]
    fn to_array(self, words: __m256i) -> [i16; 16] {
        cast(words)
    }

    #[cfg(test)]
    fn halves_to_array(self, halves: [__m256i; 2]) -> [i16; 32] {
        let [[a, c], [b, d]]: [[[i16; 8]; 2]; 2] = cast(halves);
        cast([a, b, c, d])
    }
}
