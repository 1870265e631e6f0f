//! Thirty-two words at a time, with each processor's instructions. Every implementation gives the same results.
//!
//! What is not inlined is not compiled for the instruction set: in code that takes [`Words`], functions are `inline(always)`.

use super::lanes::Portable;

/// Instructions for 32 words, as many components of texels.
pub trait Words: Copy {
    /// Words in an order that is the implementation's own, the same for all operations.
    type Words: Copy;

    /// What multiplies by a number of 7 bits.
    type Scale: Copy;

    fn splat(self, value: i16) -> Self::Words;

    /// Numbers of 16 bits, less 0x8000: signed ones around their middle.
    fn load(self, numbers: &[u16; 32]) -> Self::Words;

    /// Bytes as the high ones of such numbers.
    fn load_bytes(self, bytes: &[u8; 32]) -> Self::Words;

    /// Those at even places, and those at odd ones.
    fn load_pairs(self, numbers: &[u16; 64]) -> [Self::Words; 2];

    /// Those at even places, and those at odd ones.
    fn load_byte_pairs(self, bytes: &[u8; 64]) -> [Self::Words; 2];

    fn scale(self, by: i8) -> Self::Scale;

    /// Products of numbers of 16 bits, of which the highest 8 count ones, at even places, and those at odd ones; rounded.
    fn scaled_pairs(self, numbers: &[u16; 64], by: Self::Scale) -> [Self::Words; 2];

    /// Products of bytes at even places, and those at odd ones.
    fn scaled_byte_pairs(self, bytes: &[u8; 64], by: Self::Scale) -> [Self::Words; 2];

    /// Products of fractions of 15 bits, rounded.
    fn product(self, a: Self::Words, b: Self::Words) -> Self::Words;

    fn add(self, a: Self::Words, b: Self::Words) -> Self::Words;

    /// Red, green and blue of texels at even places and of those at odd ones as bytes, clamped, alpha 255.
    fn to_rgba8(self, pairs: [[Self::Words; 3]; 2]) -> [[u8; 4]; 64];

    /// Words in order, for tests.
    #[cfg(test)]
    fn to_array(self, words: Self::Words) -> [i16; 32];
}

/// Thirty-two times the same.
macro_rules! each {
    ($i:ident => $value:expr) => {{
        let mut out = [0; 32];
        for $i in 0..32 {
            out[$i] = $value;
        }
        out
    }};
}

/// A number less its middle.
#[inline(always)]
fn centered(number: u16) -> i16 {
    (number ^ 0x8000).cast_signed()
}

impl Words for Portable {
    type Words = [i16; 32];
    type Scale = i8;

    #[inline(always)]
    fn splat(self, value: i16) -> [i16; 32] {
        [value; 32]
    }

    #[inline(always)]
    fn load(self, numbers: &[u16; 32]) -> [i16; 32] {
        each!(i => centered(numbers[i]))
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 32]) -> [i16; 32] {
        each!(i => centered(u16::from(bytes[i]) << 8))
    }

    #[inline(always)]
    fn load_pairs(self, numbers: &[u16; 64]) -> [[i16; 32]; 2] {
        [each!(i => centered(numbers[2 * i])), each!(i => centered(numbers[2 * i + 1]))]
    }

    #[inline(always)]
    fn load_byte_pairs(self, bytes: &[u8; 64]) -> [[i16; 32]; 2] {
        let word = |byte: u8| centered(u16::from(byte) << 8);
        [each!(i => word(bytes[2 * i])), each!(i => word(bytes[2 * i + 1]))]
    }

    #[inline(always)]
    fn scale(self, by: i8) -> i8 {
        by
    }

    #[inline(always)]
    fn scaled_pairs(self, numbers: &[u16; 64], by: i8) -> [[i16; 32]; 2] {
        let by = [i16::from(by) << 8; 32];
        let pairs = [each!(i => numbers[2 * i] >> 1), each!(i => numbers[2 * i + 1] >> 1)];
        pairs.map(|numbers: [u16; 32]| self.product(numbers.map(u16::cast_signed), by))
    }

    #[inline(always)]
    fn scaled_byte_pairs(self, bytes: &[u8; 64], by: i8) -> [[i16; 32]; 2] {
        let product = |byte: u8| i16::from(byte).wrapping_mul(by.into());
        [each!(i => product(bytes[2 * i])), each!(i => product(bytes[2 * i + 1]))]
    }

    #[inline(always)]
    fn product(self, a: [i16; 32], b: [i16; 32]) -> [i16; 32] {
        each!(i => (i32::from(a[i]).wrapping_mul(i32::from(b[i])).wrapping_add(1 << 14) >> 15) as i16)
    }

    #[inline(always)]
    fn add(self, a: [i16; 32], b: [i16; 32]) -> [i16; 32] {
        each!(i => a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn to_rgba8(self, pairs: [[[i16; 32]; 3]; 2]) -> [[u8; 4]; 64] {
        let byte = |c: i16| u32::from(c.clamp(0, 255).cast_unsigned());
        let mut out = [[0; 4]; 64];
        for (place, [r, g, b]) in pairs.into_iter().enumerate() {
            for i in 0..32 {
                // Compilers make vectors of words put together, but not of bytes put next to each other.
                let texel = byte(r[i]) | byte(g[i]) << 8 | byte(b[i]) << 16 | 255 << 24;
                out[2 * i + place] = texel.to_le_bytes();
            }
        }
        out
    }

    #[cfg(test)]
    fn to_array(self, words: [i16; 32]) -> [i16; 32] {
        words
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::halves::{half, halves};
    use super::Words;
    use core::arch::x86_64::{__m256i, __m512i};
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

    /// Parts of loading.
    trait Load<T> {
        /// What a register holds at even places and at odd ones.
        type Pairs;

        /// Numbers less their middle.
        fn centered(self, numbers: T) -> T;

        /// Numbers at even places, and those at odd ones.
        fn pairs(self, numbers: &[u16; 64]) -> Self::Pairs;
    }

    impl Load<__m512i> for V4 {
        type Pairs = [__m512i; 2];

        #[inline(always)]
        fn pairs(self, numbers: &[u16; 64]) -> [__m512i; 2] {
            let [first, second]: [__m512i; 2] = cast(*numbers);
            let bw = self.avx512bw;
            let [even, odd] = PAIRS_512;
            [
                bw._mm512_permutex2var_epi16(first, cast(even), second),
                bw._mm512_permutex2var_epi16(first, cast(odd), second),
            ]
        }

        #[inline(always)]
        fn centered(self, numbers: __m512i) -> __m512i {
            self.avx512f._mm512_xor_si512(numbers, self.avx512f._mm512_set1_epi16(i16::MIN))
        }
    }

    impl Load<__m256i> for V3 {
        type Pairs = [[__m256i; 2]; 2];

        #[inline(always)]
        fn pairs(self, numbers: &[u16; 64]) -> [[__m256i; 2]; 2] {
            let avx2 = self.avx2;
            let numbers: [__m256i; 4] = cast(*numbers);
            let low = self.avx._mm256_set1_epi32(0xffff);
            let (mut even, mut odd) = (numbers, numbers);
            for (even, odd) in even.iter_mut().zip(&mut odd) {
                // Four numbers in turns to either lane; pairs of them are 32 bits, which packing makes 16 of.
                let numbers = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(*even);
                *even = avx2._mm256_and_si256(numbers, low);
                *odd = avx2._mm256_srli_epi32::<16>(numbers);
            }
            [
                halves!(h => avx2._mm256_packus_epi32(even[2 * h], even[2 * h + 1])),
                halves!(h => avx2._mm256_packus_epi32(odd[2 * h], odd[2 * h + 1])),
            ]
        }

        #[inline(always)]
        fn centered(self, numbers: __m256i) -> __m256i {
            self.avx2._mm256_xor_si256(numbers, self.avx._mm256_set1_epi16(i16::MIN))
        }
    }

    impl Words for V4 {
        type Words = __m512i;
        type Scale = [__m512i; 2];

        #[inline(always)]
        fn splat(self, value: i16) -> __m512i {
            self.avx512f._mm512_set1_epi16(value)
        }

        #[inline(always)]
        fn load(self, numbers: &[u16; 32]) -> __m512i {
            self.centered(self.avx512f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*numbers)))
        }

        #[inline(always)]
        fn load_bytes(self, bytes: &[u8; 32]) -> __m512i {
            let bw = self.avx512bw;
            let pairs = bw._mm512_permutexvar_epi16(cast(WORDS_512), cast([*bytes, [0; 32]]));
            self.centered(bw._mm512_unpacklo_epi8(cast([0u8; 64]), pairs))
        }

        #[inline(always)]
        fn load_pairs(self, numbers: &[u16; 64]) -> [__m512i; 2] {
            let [even, odd] = self.pairs(numbers);
            [self.centered(even), self.centered(odd)]
        }

        #[inline(always)]
        fn load_byte_pairs(self, bytes: &[u8; 64]) -> [__m512i; 2] {
            let pairs = self.avx512f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*bytes));
            let pairs = self.avx512f._mm512_xor_si512(pairs, cast([0x80_u8; 64]));
            let high = self.avx512f._mm512_set1_epi16(0xff00_u16.cast_signed());
            [self.avx512bw._mm512_slli_epi16::<8>(pairs), self.avx512f._mm512_and_si512(pairs, high)]
        }

        #[inline(always)]
        fn scale(self, by: i8) -> [__m512i; 2] {
            [self.splat(by.into()), self.splat(i16::from(by) << 8)]
        }

        #[inline(always)]
        fn scaled_pairs(self, numbers: &[u16; 64], [_, by]: [__m512i; 2]) -> [__m512i; 2] {
            let [even, odd] = self.pairs(numbers);
            let half = |numbers| self.avx512bw._mm512_srli_epi16::<1>(numbers);
            [self.product(half(even), by), self.product(half(odd), by)]
        }

        #[inline(always)]
        fn scaled_byte_pairs(self, bytes: &[u8; 64], [even, odd]: [__m512i; 2]) -> [__m512i; 2] {
            let bw = self.avx512bw;
            let bytes = self.avx512f._mm512_permutexvar_epi32(cast(DWORDS_512), cast(*bytes));
            [bw._mm512_maddubs_epi16(bytes, even), bw._mm512_maddubs_epi16(bytes, odd)]
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
            let (f, bw) = (self.avx512f, self.avx512bw);
            let [[er, eg, eb], [or, og, ob]] = pairs;
            let red = bw._mm512_packus_epi16(er, or);
            let green = bw._mm512_packus_epi16(eg, og);
            let blue = bw._mm512_packus_epi16(eb, ob);
            let alpha = cast([255u8; 64]);
            let (even, odd) = (bw._mm512_unpacklo_epi8(red, green), bw._mm512_unpackhi_epi8(red, green));
            let (even_ba, odd_ba) =
                (bw._mm512_unpacklo_epi8(blue, alpha), bw._mm512_unpackhi_epi8(blue, alpha));
            let (even, more_even) =
                (bw._mm512_unpacklo_epi16(even, even_ba), bw._mm512_unpackhi_epi16(even, even_ba));
            let (odd, more_odd) =
                (bw._mm512_unpacklo_epi16(odd, odd_ba), bw._mm512_unpackhi_epi16(odd, odd_ba));
            cast([
                f._mm512_unpacklo_epi32(even, odd),
                f._mm512_unpackhi_epi32(even, odd),
                f._mm512_unpacklo_epi32(more_even, more_odd),
                f._mm512_unpackhi_epi32(more_even, more_odd),
            ])
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
    }

    impl Words for V3 {
        type Words = [__m256i; 2];
        type Scale = [__m256i; 2];

        #[inline(always)]
        fn splat(self, value: i16) -> [__m256i; 2] {
            [self.avx._mm256_set1_epi16(value); 2]
        }

        #[inline(always)]
        fn load(self, numbers: &[u16; 32]) -> [__m256i; 2] {
            let numbers: [__m256i; 2] = cast(*numbers);
            halves!(h => self.centered(self.avx2._mm256_permutevar8x32_epi32(numbers[h], cast(DWORDS_256))))
        }

        #[inline(always)]
        fn load_bytes(self, bytes: &[u8; 32]) -> [__m256i; 2] {
            let avx2 = self.avx2;
            halves!(h => {
                let words = avx2._mm256_cvtepu8_epi16(cast(half::<u8, 16>(bytes, h)));
                let words = avx2._mm256_permutevar8x32_epi32(words, cast(DWORDS_256));
                self.centered(avx2._mm256_slli_epi16::<8>(words))
            })
        }

        #[inline(always)]
        fn load_pairs(self, numbers: &[u16; 64]) -> [[__m256i; 2]; 2] {
            let [even, odd] = self.pairs(numbers);
            [halves!(h => self.centered(even[h])), halves!(h => self.centered(odd[h]))]
        }

        #[inline(always)]
        fn load_byte_pairs(self, bytes: &[u8; 64]) -> [[__m256i; 2]; 2] {
            let avx2 = self.avx2;
            let pairs: [__m256i; 2] = cast(*bytes);
            let pairs = halves!(h => {
                let pairs = avx2._mm256_permutevar8x32_epi32(pairs[h], cast(DWORDS_256));
                avx2._mm256_xor_si256(pairs, cast([0x80_u8; 32]))
            });
            let high = self.avx._mm256_set1_epi16(0xff00_u16.cast_signed());
            [
                halves!(h => avx2._mm256_slli_epi16::<8>(pairs[h])),
                halves!(h => avx2._mm256_and_si256(pairs[h], high)),
            ]
        }

        #[inline(always)]
        fn scale(self, by: i8) -> [__m256i; 2] {
            [self.avx._mm256_set1_epi16(by.into()), self.avx._mm256_set1_epi16(i16::from(by) << 8)]
        }

        #[inline(always)]
        fn scaled_pairs(self, numbers: &[u16; 64], [_, by]: [__m256i; 2]) -> [[__m256i; 2]; 2] {
            let [even, odd] = self.pairs(numbers);
            let half = |numbers| self.avx2._mm256_srli_epi16::<1>(numbers);
            [
                self.product(halves!(h => half(even[h])), [by; 2]),
                self.product(halves!(h => half(odd[h])), [by; 2]),
            ]
        }

        #[inline(always)]
        fn scaled_byte_pairs(self, bytes: &[u8; 64], [even, odd]: [__m256i; 2]) -> [[__m256i; 2]; 2] {
            let avx2 = self.avx2;
            let bytes: [__m256i; 2] = cast(*bytes);
            let bytes = halves!(h => avx2._mm256_permutevar8x32_epi32(bytes[h], cast(DWORDS_256)));
            [
                halves!(h => avx2._mm256_maddubs_epi16(bytes[h], even)),
                halves!(h => avx2._mm256_maddubs_epi16(bytes[h], odd)),
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
            let [[er, eg, eb], [or, og, ob]] = pairs;
            let alpha = cast([255u8; 32]);
            cast(halves!(h => {
                let red = avx2._mm256_packus_epi16(er[h], or[h]);
                let green = avx2._mm256_packus_epi16(eg[h], og[h]);
                let blue = avx2._mm256_packus_epi16(eb[h], ob[h]);
                let (even, odd) = (avx2._mm256_unpacklo_epi8(red, green), avx2._mm256_unpackhi_epi8(red, green));
                let (even_ba, odd_ba) =
                    (avx2._mm256_unpacklo_epi8(blue, alpha), avx2._mm256_unpackhi_epi8(blue, alpha));
                let (even, more_even) =
                    (avx2._mm256_unpacklo_epi16(even, even_ba), avx2._mm256_unpackhi_epi16(even, even_ba));
                let (odd, more_odd) =
                    (avx2._mm256_unpacklo_epi16(odd, odd_ba), avx2._mm256_unpackhi_epi16(odd, odd_ba));
                [
                    avx2._mm256_unpacklo_epi32(even, odd),
                    avx2._mm256_unpackhi_epi32(even, odd),
                    avx2._mm256_unpacklo_epi32(more_even, more_odd),
                    avx2._mm256_unpackhi_epi32(more_even, more_odd),
                ]
            }))
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<W: Words>(words: W) {
        let mut rng = xenoglot_testgen::rng::Rng::new(11);
        for _ in 0..200 {
            let numbers: [u16; 64] = core::array::from_fn(|_| rng.next_u32() as u16);
            let bytes: [u8; 64] = core::array::from_fn(|_| rng.next_u32() as u8);
            let by = rng.next_u32() as i16;
            let scale = (rng.next_u32() % 128) as i8;
            let (half, half_bytes) = (numbers.first_chunk().unwrap(), bytes.first_chunk().unwrap());
            let mut loaded = vec![words.load(half), words.load_bytes(half_bytes)];
            loaded.extend(words.load_pairs(&numbers));
            loaded.extend(words.load_byte_pairs(&bytes));
            loaded.extend(words.scaled_pairs(&numbers, words.scale(scale)));
            loaded.extend(words.scaled_byte_pairs(&bytes, words.scale(scale)));
            let wide = |byte: u8| u16::from(byte) << 8;
            let part = |place: usize| move |i: usize| 2 * i + place;
            let signed = |number: u16| (i32::from(number) - 0x8000) as i16;
            let rounded = |number: u16| (((i32::from(number) >> 1) * i32::from(scale) + 64) >> 7) as i16;
            let mut meant = vec![half.map(signed), half_bytes.map(|b| signed(wide(b)))];
            let at = |place, of: &dyn Fn(usize) -> i16| core::array::from_fn(|i| of(part(place)(i)));
            meant.extend([0, 1].map(|place| at(place, &|i| signed(numbers[i]))));
            meant.extend([0, 1].map(|place| at(place, &|i| signed(wide(bytes[i])))));
            meant.extend([0, 1].map(|place| at(place, &|i| rounded(numbers[i]))));
            meant.extend([0, 1].map(|place| at(place, &|i| i16::from(bytes[i]) * i16::from(scale))));
            let shown: Vec<[i16; 32]> = loaded.iter().map(|&w| words.to_array(w)).collect();
            assert_eq!(shown, meant);
            // -1 times -1 is 1, which such fractions do not have; no factor is -1.
            let by = by.max(-i16::MAX);
            let product = words.to_array(words.product(loaded[0], words.splat(by)));
            assert_eq!(product, meant[0].map(|a| ((i32::from(a) * i32::from(by) + (1 << 14)) >> 15) as i16));
            let sum = words.to_array(words.add(loaded[0], loaded[1]));
            assert_eq!(sum, core::array::from_fn(|i| meant[0][i].wrapping_add(meant[1][i])));
            // Components on either side of a byte's bounds.
            let small = |w| words.product(w, words.splat(600));
            let rgb = |from: usize| [small(loaded[from]), small(loaded[from + 1]), loaded[from]];
            let texels = words.to_rgba8([rgb(0), rgb(2)]);
            let shown = [rgb(0), rgb(2)].map(|rgb| rgb.map(|c| words.to_array(c)));
            for (i, texel) in texels.iter().enumerate() {
                let [r, g, b] = shown[i % 2].map(|c| c[i / 2].clamp(0, 255) as u8);
                assert_eq!(*texel, [r, g, b, 255], "{i}");
            }
        }
    }

    #[test]
    fn all_instruction_sets_do_the_same() {
        check(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            use pulp::x86::{V3, V4};
            V3::try_new().into_iter().for_each(check);
            V4::try_new().into_iter().for_each(check);
        }
    }
}
