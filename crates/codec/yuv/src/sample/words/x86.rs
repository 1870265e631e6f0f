//! [`Words`] with AVX-512 and AVX2.

use super::Words;
use crate::sample::codes::Reader;
use crate::sample::halves::{half, halves};
use core::arch::x86_64::{__m128i, __m256i, __m512i};
use pulp::cast;
use pulp::x86::{V3, V4};

/// What a lane of 128 bits of `LANES` has at its place `i`: instructions that bring components together work within
/// lanes, and put texels of the first of four parts of each lane next to each other.
const fn source(lanes: usize, lane: usize, i: usize) -> usize {
    lanes * i + lane
}

/// Where 32-bit parts come from.
const fn dwords<const N: usize>() -> [u32; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        out[i] = source(N / 4, i / 4, i % 4) as u32;
        i += 1;
    }
    out
}

const DWORDS_512: [u32; 16] = dwords();
const DWORDS_256: [u32; 8] = dwords();

/// Where pairs of bytes come from, in the low half of each lane.
const WORDS_512: [u16; 32] = {
    let mut out = [0; 32];
    let mut i = 0;
    while i < 16 {
        out[i / 4 * 8 + i % 4] = source(4, i / 4, i % 4) as u16;
        i += 1;
    }
    out
};

/// Where words of even and of odd places come from.
const PAIRS_512: [[u16; 32]; 2] = {
    let mut out = [[0; 32]; 2];
    let mut i = 0;
    while i < 32 {
        let at = 4 * source(4, i / 8, i % 8 / 2) + i % 2 * 2;
        out[0][i] = at as u16;
        out[1][i] = at as u16 + 1;
        i += 1;
    }
    out
};

/// Quarters of a register, so that either lane has some of both halves.
const IN_TURNS: i32 = 0b11_01_10_00;

/// Loading with AVX2.
trait Permuted {
    /// Bytes by fours, as [`DWORDS_256`] has them.
    fn permuted(self, bytes: &[u8; 64]) -> [__m256i; 2];
}

impl Permuted for V3 {
    #[inline(always)]
    fn permuted(self, bytes: &[u8; 64]) -> [__m256i; 2] {
        let bytes: [__m256i; 2] = cast(*bytes);
        halves!(h => self.avx2._mm256_permutevar8x32_epi32(bytes[h], cast(DWORDS_256)))
    }
}

/// Putting texels together.
trait Texels: Words {
    type Texels;

    /// Texels of two halves of components, by fours: in each lane of 128 bits four texels.
    fn texels(self, halves: [[Self::Words; 3]; 2]) -> Self::Texels;
}

impl Texels for V4 {
    type Texels = [__m512i; 4];

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

impl Texels for V3 {
    type Texels = [[__m256i; 4]; 2];

    #[inline(always)]
    fn texels(self, [[r, g, b], [more_r, more_g, more_b]]: [[[__m256i; 2]; 3]; 2]) -> [[__m256i; 4]; 2] {
        let avx2 = self.avx2;
        let alpha = cast([255u8; 32]);
        halves!(h => {
            let red = avx2._mm256_packus_epi16(r[h], more_r[h]);
            let green = avx2._mm256_packus_epi16(g[h], more_g[h]);
            let blue = avx2._mm256_packus_epi16(b[h], more_b[h]);
            let (rg, more_rg) = (avx2._mm256_unpacklo_epi8(red, green), avx2._mm256_unpackhi_epi8(red, green));
            let (ba, more_ba) =
                (avx2._mm256_unpacklo_epi8(blue, alpha), avx2._mm256_unpackhi_epi8(blue, alpha));
            [
                avx2._mm256_unpacklo_epi16(rg, ba),
                avx2._mm256_unpackhi_epi16(rg, ba),
                avx2._mm256_unpacklo_epi16(more_rg, more_ba),
                avx2._mm256_unpackhi_epi16(more_rg, more_ba),
            ]
        })
    }
}

/// The quarters of 32 words for each lane: four of the first sixteen, and four of the others.
const QWORDS_512: [u64; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

impl Words for V4 {
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

impl Words for V3 {
    type Words = [__m256i; 2];
    type Scale = [__m256i; 2];
    /// How far to shift, and the mask of what is kept.
    type Place = (__m128i, __m256i);

    #[inline(always)]
    fn splat(self, value: i16) -> [__m256i; 2] {
        [self.avx._mm256_set1_epi16(value); 2]
    }

    #[inline(always)]
    fn load(self, numbers: &[u16; 32]) -> [__m256i; 2] {
        let numbers: [__m256i; 2] = cast(*numbers);
        halves!(h => self.avx2._mm256_permutevar8x32_epi32(numbers[h], cast(DWORDS_256)))
    }

    #[inline(always)]
    fn load_pairs(self, numbers: &[u16; 64]) -> [[__m256i; 2]; 2] {
        let avx2 = self.avx2;
        let numbers: [__m256i; 4] = cast(*numbers);
        let low = self.avx._mm256_set1_epi32(0xffff);
        let (mut even, mut odd) = (numbers, numbers);
        for (even, odd) in even.iter_mut().zip(&mut odd) {
            // Four numbers in turns to either lane; pairs of them are 32 bits, which packing makes 16 of.
            let numbers = avx2._mm256_permute4x64_epi64::<IN_TURNS>(*even);
            *even = avx2._mm256_and_si256(numbers, low);
            *odd = avx2._mm256_srli_epi32::<16>(numbers);
        }
        [
            halves!(h => avx2._mm256_packus_epi32(even[2 * h], even[2 * h + 1])),
            halves!(h => avx2._mm256_packus_epi32(odd[2 * h], odd[2 * h + 1])),
        ]
    }

    #[inline(always)]
    fn load_halves(self, numbers: &[u16; 64]) -> [[__m256i; 2]; 2] {
        let numbers: [__m256i; 4] = cast(*numbers);
        let avx2 = self.avx2;
        [
            halves!(h => avx2._mm256_permute4x64_epi64::<IN_TURNS>(numbers[2 * h])),
            halves!(h => avx2._mm256_permute4x64_epi64::<IN_TURNS>(numbers[2 * h + 1])),
        ]
    }

    #[inline(always)]
    fn place(self, reader: Reader) -> (__m128i, __m256i) {
        (cast([u64::from(reader.left), 0]), self.avx._mm256_set1_epi16(reader.mask.cast_signed()))
    }

    #[inline(always)]
    fn placed(self, numbers: [__m256i; 2], (left, mask): (__m128i, __m256i)) -> [__m256i; 2] {
        let avx2 = self.avx2;
        halves!(h => avx2._mm256_and_si256(avx2._mm256_sll_epi16(numbers[h], left), mask))
    }

    #[inline(always)]
    fn centered(self, numbers: [__m256i; 2]) -> [__m256i; 2] {
        let middle = self.avx._mm256_set1_epi16(i16::MIN);
        halves!(h => self.avx2._mm256_xor_si256(numbers[h], middle))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 32]) -> [__m256i; 2] {
        let avx2 = self.avx2;
        let words = halves!(h => {
            let words = avx2._mm256_cvtepu8_epi16(cast(half::<u8, 16>(bytes, h)));
            let words = avx2._mm256_permutevar8x32_epi32(words, cast(DWORDS_256));
            avx2._mm256_slli_epi16::<8>(words)
        });
        self.centered(words)
    }

    #[inline(always)]
    fn load_byte_pairs(self, bytes: &[u8; 64]) -> [[__m256i; 2]; 2] {
        let avx2 = self.avx2;
        let pairs = self.permuted(bytes);
        let pairs = halves!(h => avx2._mm256_xor_si256(pairs[h], cast([0x80_u8; 32])));
        let high = self.avx._mm256_set1_epi16(0xff00_u16.cast_signed());
        [
            halves!(h => avx2._mm256_slli_epi16::<8>(pairs[h])),
            halves!(h => avx2._mm256_and_si256(pairs[h], high)),
        ]
    }

    #[inline(always)]
    fn load_byte_halves(self, bytes: &[u8; 64]) -> [[__m256i; 2]; 2] {
        let (avx2, none) = (self.avx2, cast([0u8; 32]));
        let bytes = self.permuted(bytes);
        let bytes = halves!(h => avx2._mm256_xor_si256(bytes[h], cast([0x80_u8; 32])));
        [
            halves!(h => avx2._mm256_unpacklo_epi8(none, bytes[h])),
            halves!(h => avx2._mm256_unpackhi_epi8(none, bytes[h])),
        ]
    }

    #[inline(always)]
    fn scale(self, by: i8) -> [__m256i; 2] {
        [self.avx._mm256_set1_epi16(by.into()), self.avx._mm256_set1_epi16(i16::from(by) << 8)]
    }

    #[inline(always)]
    fn scaled(self, numbers: [__m256i; 2], [_, by]: [__m256i; 2]) -> [__m256i; 2] {
        self.product(halves!(h => self.avx2._mm256_srli_epi16::<1>(numbers[h])), [by; 2])
    }

    #[inline(always)]
    fn scaled_byte_pairs(self, bytes: &[u8; 64], [even, odd]: [__m256i; 2]) -> [[__m256i; 2]; 2] {
        let (avx2, bytes) = (self.avx2, self.permuted(bytes));
        [
            halves!(h => avx2._mm256_maddubs_epi16(bytes[h], even)),
            halves!(h => avx2._mm256_maddubs_epi16(bytes[h], odd)),
        ]
    }

    #[inline(always)]
    fn scaled_byte_halves(self, bytes: &[u8; 64], [by, _]: [__m256i; 2]) -> [[__m256i; 2]; 2] {
        let (avx2, bytes, none) = (self.avx2, self.permuted(bytes), cast([0u8; 32]));
        [
            halves!(h => avx2._mm256_maddubs_epi16(avx2._mm256_unpacklo_epi8(bytes[h], none), by)),
            halves!(h => avx2._mm256_maddubs_epi16(avx2._mm256_unpackhi_epi8(bytes[h], none), by)),
        ]
    }

    #[inline(always)]
    fn product(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        halves!(h => self.avx2._mm256_mulhrs_epi16(a[h], b[h]))
    }

    #[inline(always)]
    fn add(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        halves!(h => self.avx2._mm256_add_epi16(a[h], b[h]))
    }

    #[inline(always)]
    fn to_rgba8(self, pairs: [[[__m256i; 2]; 3]; 2]) -> [[u8; 4]; 64] {
        let avx2 = self.avx2;
        let parts = self.texels(pairs);
        cast(halves!(h => {
            let [even, more_even, odd, more_odd] = parts[h];
            [
                avx2._mm256_unpacklo_epi32(even, odd),
                avx2._mm256_unpackhi_epi32(even, odd),
                avx2._mm256_unpacklo_epi32(more_even, more_odd),
                avx2._mm256_unpackhi_epi32(more_even, more_odd),
            ]
        }))
    }

    #[inline(always)]
    fn halves_to_rgba8(self, halves: [[[__m256i; 2]; 3]; 2]) -> [[u8; 4]; 64] {
        cast(self.texels(halves))
    }

    #[cfg(test)]
    fn to_array(self, words: [__m256i; 2]) -> [i16; 32] {
        let mut out = [0i16; 32];
        let halves: [[[i16; 2]; 8]; 2] = cast(words);
        for (out, words) in out.as_chunks_mut::<16>().0.iter_mut().zip(halves) {
            let (out_pairs, _) = out.as_chunks_mut();
            for (pair, from) in words.into_iter().zip(DWORDS_256) {
                out_pairs[from as usize] = pair;
            }
        }
        out
    }

    #[cfg(test)]
    fn halves_to_array(self, halves: [[__m256i; 2]; 2]) -> [i16; 64] {
        let mut out = [[[0i16; 4]; 4]; 4];
        let halves: [[[[i16; 4]; 4]; 2]; 2] = cast(halves);
        for (half, parts) in halves.into_iter().enumerate() {
            for (part, words) in parts.into_iter().enumerate() {
                for (i, words) in words.into_iter().enumerate() {
                    out[2 * part + half][IN_TURNS as usize >> (2 * i) & 3] = words;
                }
            }
        }
        cast(out)
    }
}
