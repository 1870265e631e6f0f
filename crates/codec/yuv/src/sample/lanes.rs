//! Sixteen singles at a time, with each processor's instructions. Every implementation gives the same results.
//!
//! What is not inlined is not compiled for the instruction set: in code that takes [`Lanes`], functions are `inline(always)`.

/// Instructions for sixteen texels.
pub trait Lanes: Copy {
    /// Sixteen singles.
    type Singles: Copy;

    fn splat(self, value: f32) -> Self::Singles;

    fn of_bytes(self, codes: &[u8; 16]) -> Self::Singles;

    /// Each twice.
    fn of_byte_pairs(self, codes: &[u8; 8]) -> Self::Singles;

    fn of_words(self, codes: &[u16; 16]) -> Self::Singles;

    /// Each twice.
    fn of_word_pairs(self, codes: &[u16; 8]) -> Self::Singles;

    /// Of numbers below 2³¹.
    fn of_longs(self, codes: &[u32; 16]) -> Self::Singles;

    fn add(self, a: Self::Singles, b: Self::Singles) -> Self::Singles;

    fn mul(self, a: Self::Singles, b: Self::Singles) -> Self::Singles;

    fn to_array(self, singles: Self::Singles) -> [f32; 16];

    /// Red, green and blue as bytes, rounded to the nearest and clamped, alpha 255. They are below 2²² in size.
    fn to_rgba8(self, rgb: [Self::Singles; 3]) -> [[u8; 4]; 16];
}

/// What every processor has.
#[derive(Clone, Copy)]
pub struct Portable;

/// Sixteen times the same.
macro_rules! each {
    ($i:ident => $value:expr) => {{
        let mut out = [0.0; 16];
        for $i in 0..16 {
            out[$i] = $value;
        }
        out
    }};
}

impl Lanes for Portable {
    type Singles = [f32; 16];

    #[inline(always)]
    fn splat(self, value: f32) -> [f32; 16] {
        [value; 16]
    }

    #[inline(always)]
    fn of_bytes(self, codes: &[u8; 16]) -> [f32; 16] {
        each!(i => f32::from(codes[i]))
    }

    #[inline(always)]
    fn of_byte_pairs(self, codes: &[u8; 8]) -> [f32; 16] {
        each!(i => f32::from(codes[i / 2]))
    }

    #[inline(always)]
    fn of_words(self, codes: &[u16; 16]) -> [f32; 16] {
        each!(i => f32::from(codes[i]))
    }

    #[inline(always)]
    fn of_word_pairs(self, codes: &[u16; 8]) -> [f32; 16] {
        each!(i => f32::from(codes[i / 2]))
    }

    #[inline(always)]
    fn of_longs(self, codes: &[u32; 16]) -> [f32; 16] {
        each!(i => codes[i] as i32 as f32)
    }

    #[inline(always)]
    fn add(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        each!(i => a[i] + b[i])
    }

    #[inline(always)]
    fn mul(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        each!(i => a[i] * b[i])
    }

    #[inline(always)]
    fn to_array(self, singles: [f32; 16]) -> [f32; 16] {
        singles
    }

    #[inline(always)]
    fn to_rgba8(self, [r, g, b]: [[f32; 16]; 3]) -> [[u8; 4]; 16] {
        /// A single this large counts ones with its lowest bits: adding rounds to the nearest.
        const LARGE: f32 = 8_388_608.0;
        const LOWEST: i32 = LARGE.to_bits() as i32;
        let byte = |c: f32| ((c + LARGE).to_bits() as i32).clamp(LOWEST, LOWEST + 255) as u8;
        let mut out = [[255; 4]; 16];
        for i in 0..16 {
            out[i] = [byte(r[i]), byte(g[i]), byte(b[i]), 255];
        }
        out
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Lanes;
    use core::arch::x86_64::{__m256, __m256i, __m512, __m512i};
    use pulp::cast;
    use pulp::x86::{V3, V4};

    /// Red is packed with blue and green with alpha to words, and these to bytes: the order that puts texels together again.
    const ORDER: [u8; 16] = [0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15];

    impl Lanes for V4 {
        type Singles = __m512;

        #[inline(always)]
        fn splat(self, value: f32) -> __m512 {
            self.avx512f._mm512_set1_ps(value)
        }

        #[inline(always)]
        fn of_bytes(self, codes: &[u8; 16]) -> __m512 {
            self.avx512f._mm512_cvtepi32_ps(self.avx512f._mm512_cvtepu8_epi32(cast(*codes)))
        }

        #[inline(always)]
        fn of_byte_pairs(self, codes: &[u8; 8]) -> __m512 {
            let bytes = cast([*codes, [0; 8]]);
            self.of_bytes(&cast(self.sse2._mm_unpacklo_epi8(bytes, bytes)))
        }

        #[inline(always)]
        fn of_words(self, codes: &[u16; 16]) -> __m512 {
            self.avx512f._mm512_cvtepi32_ps(self.avx512f._mm512_cvtepu16_epi32(cast(*codes)))
        }

        #[inline(always)]
        fn of_word_pairs(self, codes: &[u16; 8]) -> __m512 {
            let words =
                self.avx512f._mm512_cvtepi32_ps(self.avx512f._mm512_cvtepu16_epi32(cast([*codes; 2])));
            let order: __m512i = cast([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
            self.avx512f._mm512_permutexvar_ps(order, words)
        }

        #[inline(always)]
        fn of_longs(self, codes: &[u32; 16]) -> __m512 {
            self.avx512f._mm512_cvtepi32_ps(cast(*codes))
        }

        #[inline(always)]
        fn add(self, a: __m512, b: __m512) -> __m512 {
            self.avx512f._mm512_add_ps(a, b)
        }

        #[inline(always)]
        fn mul(self, a: __m512, b: __m512) -> __m512 {
            self.avx512f._mm512_mul_ps(a, b)
        }

        #[inline(always)]
        fn to_array(self, singles: __m512) -> [f32; 16] {
            cast(singles)
        }

        #[inline(always)]
        fn to_rgba8(self, [r, g, b]: [__m512; 3]) -> [[u8; 4]; 16] {
            let (f, bw) = (self.avx512f, self.avx512bw);
            let [r, g, b] = [f._mm512_cvtps_epi32(r), f._mm512_cvtps_epi32(g), f._mm512_cvtps_epi32(b)];
            let alpha = f._mm512_set1_epi32(255);
            let red_blue = bw._mm512_packs_epi32(r, b);
            let green_alpha = bw._mm512_packs_epi32(g, alpha);
            let order: __m512i = cast([ORDER; 4]);
            cast(bw._mm512_shuffle_epi8(bw._mm512_packus_epi16(red_blue, green_alpha), order))
        }
    }

    /// Each half with an expression of it.
    macro_rules! halves {
        ($half:ident => $value:expr) => {{
            let (low, high);
            {
                let $half = 0;
                low = $value;
            }
            {
                let $half = 1;
                high = $value;
            }
            [low, high]
        }};
    }

    /// The eight numbers of a half.
    #[inline(always)]
    fn half<T: Copy + Default>(codes: &[T; 16], half: usize) -> [T; 8] {
        codes.as_chunks().0.get(half).copied().unwrap_or_default()
    }

    impl Lanes for V3 {
        type Singles = [__m256; 2];

        #[inline(always)]
        fn splat(self, value: f32) -> [__m256; 2] {
            [self.avx._mm256_set1_ps(value); 2]
        }

        #[inline(always)]
        fn of_bytes(self, codes: &[u8; 16]) -> [__m256; 2] {
            halves!(h => {
                let bytes = cast([half(codes, h), [0; 8]]);
                self.avx._mm256_cvtepi32_ps(self.avx2._mm256_cvtepu8_epi32(bytes))
            })
        }

        #[inline(always)]
        fn of_byte_pairs(self, codes: &[u8; 8]) -> [__m256; 2] {
            let bytes = cast([*codes, [0; 8]]);
            self.of_bytes(&cast(self.sse2._mm_unpacklo_epi8(bytes, bytes)))
        }

        #[inline(always)]
        fn of_words(self, codes: &[u16; 16]) -> [__m256; 2] {
            halves!(h => self.avx._mm256_cvtepi32_ps(self.avx2._mm256_cvtepu16_epi32(cast(half(codes, h)))))
        }

        #[inline(always)]
        fn of_word_pairs(self, codes: &[u16; 8]) -> [__m256; 2] {
            let words = cast(*codes);
            let (low, high) =
                (self.sse2._mm_unpacklo_epi16(words, words), self.sse2._mm_unpackhi_epi16(words, words));
            self.of_words(&cast([low, high]))
        }

        #[inline(always)]
        fn of_longs(self, codes: &[u32; 16]) -> [__m256; 2] {
            halves!(h => self.avx._mm256_cvtepi32_ps(cast(half(codes, h))))
        }

        #[inline(always)]
        fn add(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
            halves!(h => self.avx._mm256_add_ps(a[h], b[h]))
        }

        #[inline(always)]
        fn mul(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
            halves!(h => self.avx._mm256_mul_ps(a[h], b[h]))
        }

        #[inline(always)]
        fn to_array(self, singles: [__m256; 2]) -> [f32; 16] {
            cast(singles)
        }

        #[inline(always)]
        fn to_rgba8(self, [r, g, b]: [[__m256; 2]; 3]) -> [[u8; 4]; 16] {
            let (avx, avx2) = (self.avx, self.avx2);
            let alpha = avx._mm256_set1_epi32(255);
            let order: __m256i = cast([ORDER; 2]);
            cast(halves!(h => {
                let red_blue = avx2._mm256_packs_epi32(avx._mm256_cvtps_epi32(r[h]), avx._mm256_cvtps_epi32(b[h]));
                let green_alpha = avx2._mm256_packs_epi32(avx._mm256_cvtps_epi32(g[h]), alpha);
                avx2._mm256_shuffle_epi8(avx2._mm256_packus_epi16(red_blue, green_alpha), order)
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<L: Lanes>(lanes: L) {
        let codes = core::array::from_fn(|i| (i as u32).wrapping_mul(0x1234_5678) >> 3);
        let words = codes.map(|c| c as u16);
        let bytes = codes.map(|c| c as u8);
        let singles = |of: [f32; 16], shown: L::Singles| assert_eq!(lanes.to_array(shown), of);
        singles(bytes.map(f32::from), lanes.of_bytes(&bytes));
        singles(words.map(f32::from), lanes.of_words(&words));
        let twice = |of: [f32; 16]| core::array::from_fn(|i| of[i / 2]);
        singles(twice(bytes.map(f32::from)), lanes.of_byte_pairs(bytes.first_chunk().unwrap()));
        singles(twice(words.map(f32::from)), lanes.of_word_pairs(words.first_chunk().unwrap()));
        let longs = codes.map(|c| c & 0x7fff_ffff);
        singles(longs.map(|c| c as f32), lanes.of_longs(&longs));
        let (a, b) = (lanes.of_words(&words), lanes.of_bytes(&bytes));
        let pair = |f: fn(f32, f32) -> f32| core::array::from_fn(|i| f(words[i].into(), bytes[i].into()));
        singles(pair(|a, b| a + b), lanes.add(a, b));
        singles(pair(|a, b| a * b), lanes.mul(a, b));
        // Halves go to the even neighbour; what lies beyond is clamped.
        let scale = |by: f32, from: f32| {
            let at: [f32; 16] = core::array::from_fn(|i| i as f32 * by + from);
            at
        };
        for (by, from) in [(0.5, -2.0), (0.5, 250.25), (-9000.5, 300.0), (70_000.0, -400_000.0), (17.3, 0.0)]
        {
            let [r, g, b] = [scale(by, from), scale(-by, from), scale(by * 0.25, from + 1.0)];
            // Only codes can be loaded, so each number is a code of 1 times it.
            let load = |numbers: [f32; 16]| {
                let mut sum = lanes.splat(0.0);
                for (i, number) in numbers.into_iter().enumerate() {
                    let at: [u8; 16] = core::array::from_fn(|n| (n == i).into());
                    sum = lanes.add(sum, lanes.mul(lanes.of_bytes(&at), lanes.splat(number)));
                }
                sum
            };
            let byte = |c: f32| c.round_ties_even().clamp(0.0, 255.0) as u8;
            let meant: [[u8; 4]; 16] = core::array::from_fn(|i| [byte(r[i]), byte(g[i]), byte(b[i]), 255]);
            assert_eq!(lanes.to_rgba8([load(r), load(g), load(b)]), meant, "{by} {from}");
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
