//! Sixteen singles at a time, with each processor's instructions. Every implementation gives the same results.
//!
//! What is not inlined is not compiled for the instruction set: in code that takes [`Lanes`], functions are `inline(always)`.

use pulp::NullaryFnOnce;

/// Instructions for sixteen texels.
///
/// Products are codes times factors, each rounded once. Zeros may have either sign.
pub trait Lanes: Copy {
    /// Sixteen singles.
    type Singles: Copy;

    /// Does work in a function of its own, compiled for these instructions once for all callers.
    fn apart<W: NullaryFnOnce>(self, work: W) -> W::Output;

    fn splat(self, value: f32) -> Self::Singles;

    fn bytes_by<const N: usize>(self, codes: &[u8; 16], by: [Self::Singles; N]) -> [Self::Singles; N];

    /// Products of codes at even places, and of those at odd ones.
    fn byte_pairs_by<const N: usize>(
        self,
        codes: &[u8; 32],
        by: [Self::Singles; N],
    ) -> [[Self::Singles; N]; 2];

    fn words_by<const N: usize>(self, codes: &[u16; 16], by: [Self::Singles; N]) -> [Self::Singles; N];

    /// Products of codes at even places, and of those at odd ones.
    fn word_pairs_by<const N: usize>(
        self,
        codes: &[u16; 32],
        by: [Self::Singles; N],
    ) -> [[Self::Singles; N]; 2];

    /// Of numbers below 2²³.
    fn longs_by<const N: usize>(self, codes: &[u32; 16], by: [Self::Singles; N]) -> [Self::Singles; N];

    /// Of singles.
    fn singles_by<const N: usize>(self, singles: &[f32; 16], by: [Self::Singles; N]) -> [Self::Singles; N];

    fn add(self, a: Self::Singles, b: Self::Singles) -> Self::Singles;

    /// `a` and `b` interleaved: the first half, and the second.
    fn in_turns(self, a: Self::Singles, b: Self::Singles) -> [Self::Singles; 2];

    fn to_array(self, singles: Self::Singles) -> [f32; 16];

    /// Red, green and blue as bytes, rounded to the nearest and clamped, alpha 255. They are below 2¹⁵ in size.
    fn to_rgba8(self, rgb: [Self::Singles; 3]) -> [[u8; 4]; 16];

    /// The same of texels at even places, and of those at odd ones, brought together.
    fn pairs_to_rgba8(self, pairs: [[Self::Singles; 3]; 2]) -> [[u8; 4]; 32];
}

/// A single this large counts ones with its lowest bits: adding rounds to the nearest. A code in these bits is added, exactly.
pub const LARGE: f32 = 8_388_608.0;

/// What every processor has.
#[derive(Clone, Copy)]
pub struct Portable;

/// An array made number by number, for [`Portable`].
///
/// Debug builds do not inline it: loops of single numbers, inlined into every kind of row, would be most of the crate's compile time.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn each<T: Copy + Default, const N: usize>(number: impl Fn(usize) -> T) -> [T; N] {
    let mut out = [T::default(); N];
    for (i, out) in out.iter_mut().enumerate() {
        *out = number(i);
    }
    out
}

/// Products of sixteen codes by each of some factors.
#[inline(always)]
fn by_each<const N: usize>(by: [[f32; 16]; N], code: impl Fn(usize) -> f32) -> [[f32; 16]; N] {
    let mut out = by;
    for by in &mut out {
        *by = each(|i| code(i) * by[i]);
    }
    out
}

impl Lanes for Portable {
    type Singles = [f32; 16];

    #[inline(never)]
    fn apart<W: NullaryFnOnce>(self, work: W) -> W::Output {
        work.call()
    }

    #[inline(always)]
    fn splat(self, value: f32) -> [f32; 16] {
        [value; 16]
    }

    #[inline(always)]
    fn bytes_by<const N: usize>(self, codes: &[u8; 16], by: [[f32; 16]; N]) -> [[f32; 16]; N] {
        by_each(by, |i| f32::from(codes[i]))
    }

    #[inline(always)]
    fn byte_pairs_by<const N: usize>(self, codes: &[u8; 32], by: [[f32; 16]; N]) -> [[[f32; 16]; N]; 2] {
        [by_each(by, |i| f32::from(codes[2 * i])), by_each(by, |i| f32::from(codes[2 * i + 1]))]
    }

    #[inline(always)]
    fn words_by<const N: usize>(self, codes: &[u16; 16], by: [[f32; 16]; N]) -> [[f32; 16]; N] {
        by_each(by, |i| f32::from(codes[i]))
    }

    #[inline(always)]
    fn word_pairs_by<const N: usize>(self, codes: &[u16; 32], by: [[f32; 16]; N]) -> [[[f32; 16]; N]; 2] {
        [by_each(by, |i| f32::from(codes[2 * i])), by_each(by, |i| f32::from(codes[2 * i + 1]))]
    }

    #[inline(always)]
    fn longs_by<const N: usize>(self, codes: &[u32; 16], by: [[f32; 16]; N]) -> [[f32; 16]; N] {
        by_each(by, |i| codes[i] as i32 as f32)
    }

    #[inline(always)]
    fn singles_by<const N: usize>(self, singles: &[f32; 16], by: [[f32; 16]; N]) -> [[f32; 16]; N] {
        by_each(by, |i| singles[i])
    }

    #[inline(always)]
    fn add(self, a: [f32; 16], b: [f32; 16]) -> [f32; 16] {
        each(|i| a[i] + b[i])
    }

    #[inline(always)]
    fn in_turns(self, a: [f32; 16], b: [f32; 16]) -> [[f32; 16]; 2] {
        let of = |i: usize| if i.is_multiple_of(2) { a[i / 2] } else { b[i / 2] };
        [each(of), each(|i| of(i + 16))]
    }

    #[inline(always)]
    fn to_array(self, singles: [f32; 16]) -> [f32; 16] {
        singles
    }

    #[inline(always)]
    fn to_rgba8(self, [r, g, b]: [[f32; 16]; 3]) -> [[u8; 4]; 16] {
        const LOWEST: i32 = LARGE.to_bits() as i32;
        let byte = |c: f32| ((c + LARGE).to_bits() as i32).clamp(LOWEST, LOWEST + 255) as u32 & 255;
        // Compilers vectorise shifts and ors of words, but not stores of single bytes.
        each(|i| (byte(r[i]) | byte(g[i]) << 8 | byte(b[i]) << 16 | 255 << 24).to_le_bytes())
    }

    #[inline(always)]
    fn pairs_to_rgba8(self, [even, odd]: [[[f32; 16]; 3]; 2]) -> [[u8; 4]; 32] {
        let texels = [self.to_rgba8(even), self.to_rgba8(odd)];
        each(|i| texels[i % 2][i / 2])
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::halves::{half, halves};
    use super::{LARGE, Lanes};
    use core::arch::x86_64::{__m256, __m256i, __m512, __m512i};
    use pulp::x86::{V3, V4};
    use pulp::{NullaryFnOnce, cast};

    /// Bytes come out of packing as four of red, four of green, and four of blue with alpha behind each: the order that puts
    /// texels together again.
    const ORDER: [u8; 16] = [0, 4, 8, 9, 1, 5, 10, 11, 2, 6, 12, 13, 3, 7, 14, 15];

    /// [`LARGE`] and half as much: negative numbers may be added, too. As two words the sum is the number rounded and,
    /// whatever that is, 19,263 or more, which is packed to a byte of 255: alpha.
    const MIDDLE: f32 = LARGE * 1.5;

    /// A single whose second byte counts ones.
    const LESS: f32 = LARGE / 256.0;

    /// What selects the bits of `a` and `b` or else those of `c`.
    const AND_OR: i32 = 0xea;

    /// Texels of even and of odd places in turns, the first half and the second.
    const IN_TURNS: [[i32; 16]; 2] = [
        [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23],
        [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31],
    ];

    /// Products of AVX-512.
    trait Products {
        fn or(self, codes: __m512i, large: f32) -> __m512i;

        fn select(self, codes: __m512i, mask: i32, large: f32) -> __m512i;

        fn by<const N: usize>(self, sums: __m512i, large: f32, by: [__m512; N]) -> [__m512; N];
    }

    impl Products for V4 {
        /// Codes as the lowest bits of `large`.
        #[inline(always)]
        fn or(self, codes: __m512i, large: f32) -> __m512i {
            self.avx512f._mm512_or_si512(codes, self.avx512f._mm512_set1_epi32(large.to_bits() as i32))
        }

        /// Those bits of codes as bits of `large`.
        #[inline(always)]
        fn select(self, codes: __m512i, mask: i32, large: f32) -> __m512i {
            let (mask, large) = (
                self.avx512f._mm512_set1_epi32(mask),
                self.avx512f._mm512_set1_epi32(large.to_bits() as i32),
            );
            self.avx512f._mm512_ternarylogic_epi32::<AND_OR>(codes, mask, large)
        }

        /// Products of codes that `large` was added to. Both products of a fused operation are exact, and so their difference
        /// is what is rounded.
        #[inline(always)]
        fn by<const N: usize>(self, sums: __m512i, large: f32, by: [__m512; N]) -> [__m512; N] {
            let f = self.avx512f;
            let (sums, large, mut out) = (cast(sums), f._mm512_set1_ps(-large), by);
            for by in &mut out {
                *by = f._mm512_fmadd_ps(sums, *by, f._mm512_mul_ps(*by, large));
            }
            out
        }
    }

    impl Lanes for V4 {
        type Singles = __m512;

        #[inline(never)]
        fn apart<W: NullaryFnOnce>(self, work: W) -> W::Output {
            self.vectorize(work)
        }

        #[inline(always)]
        fn splat(self, value: f32) -> __m512 {
            self.avx512f._mm512_set1_ps(value)
        }

        #[inline(always)]
        fn bytes_by<const N: usize>(self, codes: &[u8; 16], by: [__m512; N]) -> [__m512; N] {
            self.by(self.or(self.avx512f._mm512_cvtepu8_epi32(cast(*codes)), LARGE), LARGE, by)
        }

        #[inline(always)]
        fn byte_pairs_by<const N: usize>(self, codes: &[u8; 32], by: [__m512; N]) -> [[__m512; N]; 2] {
            let pairs = self.avx512f._mm512_cvtepu16_epi32(cast(*codes));
            [
                self.by(self.select(pairs, 0xff, LARGE), LARGE, by),
                self.by(self.select(pairs, 0xff00, LESS), LESS, by),
            ]
        }

        #[inline(always)]
        fn words_by<const N: usize>(self, codes: &[u16; 16], by: [__m512; N]) -> [__m512; N] {
            self.by(self.or(self.avx512f._mm512_cvtepu16_epi32(cast(*codes)), LARGE), LARGE, by)
        }

        #[inline(always)]
        fn word_pairs_by<const N: usize>(self, codes: &[u16; 32], by: [__m512; N]) -> [[__m512; N]; 2] {
            let pairs = cast(*codes);
            [
                self.by(self.select(pairs, 0xffff, LARGE), LARGE, by),
                self.by(self.or(self.avx512f._mm512_srli_epi32::<16>(pairs), LARGE), LARGE, by),
            ]
        }

        #[inline(always)]
        fn longs_by<const N: usize>(self, codes: &[u32; 16], by: [__m512; N]) -> [__m512; N] {
            self.by(self.or(cast(*codes), LARGE), LARGE, by)
        }

        #[inline(always)]
        fn singles_by<const N: usize>(self, singles: &[f32; 16], by: [__m512; N]) -> [__m512; N] {
            let mut out = by;
            for by in &mut out {
                *by = self.avx512f._mm512_mul_ps(cast(*singles), *by);
            }
            out
        }

        #[inline(always)]
        fn add(self, a: __m512, b: __m512) -> __m512 {
            self.avx512f._mm512_add_ps(a, b)
        }

        #[inline(always)]
        fn in_turns(self, a: __m512, b: __m512) -> [__m512; 2] {
            let [first, others] = IN_TURNS;
            [
                self.avx512f._mm512_permutex2var_ps(a, cast(first), b),
                self.avx512f._mm512_permutex2var_ps(a, cast(others), b),
            ]
        }

        #[inline(always)]
        fn to_array(self, singles: __m512) -> [f32; 16] {
            cast(singles)
        }

        #[inline(always)]
        fn to_rgba8(self, [r, g, b]: [__m512; 3]) -> [[u8; 4]; 16] {
            let (f, bw) = (self.avx512f, self.avx512bw);
            let red_green = bw._mm512_packs_epi32(f._mm512_cvtps_epi32(r), f._mm512_cvtps_epi32(g));
            let blue_alpha = cast(f._mm512_add_ps(b, f._mm512_set1_ps(MIDDLE)));
            let order: __m512i = cast([ORDER; 4]);
            cast(bw._mm512_shuffle_epi8(bw._mm512_packus_epi16(red_green, blue_alpha), order))
        }

        #[inline(always)]
        fn pairs_to_rgba8(self, [even, odd]: [[__m512; 3]; 2]) -> [[u8; 4]; 32] {
            let (even, odd) = (cast(self.to_rgba8(even)), cast(self.to_rgba8(odd)));
            let [first, others] = IN_TURNS;
            cast([
                self.avx512f._mm512_permutex2var_epi32(even, cast(first), odd),
                self.avx512f._mm512_permutex2var_epi32(even, cast(others), odd),
            ])
        }
    }

    /// Products of AVX2.
    trait HalfProducts {
        fn by<const N: usize>(self, codes: [__m256i; 2], by: [[__m256; 2]; N]) -> [[__m256; 2]; N];
    }

    impl HalfProducts for V3 {
        /// Products of codes, which are converted: there are too few registers for what the fused operation subtracts.
        #[inline(always)]
        fn by<const N: usize>(self, codes: [__m256i; 2], by: [[__m256; 2]; N]) -> [[__m256; 2]; N] {
            let (codes, mut out) = (halves!(h => self.avx._mm256_cvtepi32_ps(codes[h])), by);
            for by in &mut out {
                *by = halves!(h => self.avx._mm256_mul_ps(codes[h], by[h]));
            }
            out
        }
    }

    impl Lanes for V3 {
        type Singles = [__m256; 2];

        #[inline(never)]
        fn apart<W: NullaryFnOnce>(self, work: W) -> W::Output {
            self.vectorize(work)
        }

        #[inline(always)]
        fn splat(self, value: f32) -> [__m256; 2] {
            [self.avx._mm256_set1_ps(value); 2]
        }

        #[inline(always)]
        fn bytes_by<const N: usize>(self, codes: &[u8; 16], by: [[__m256; 2]; N]) -> [[__m256; 2]; N] {
            let codes = halves!(h => {
                let bytes: [u8; 8] = half(codes, h);
                self.avx2._mm256_cvtepu8_epi32(cast([bytes, [0; 8]]))
            });
            self.by(codes, by)
        }

        #[inline(always)]
        fn byte_pairs_by<const N: usize>(
            self,
            codes: &[u8; 32],
            by: [[__m256; 2]; N],
        ) -> [[[__m256; 2]; N]; 2] {
            let avx2 = self.avx2;
            let pairs = halves!(h => avx2._mm256_cvtepu16_epi32(cast(half::<u8, 16>(codes, h))));
            let mask = self.avx._mm256_set1_epi32(0xff);
            let even = halves!(h => avx2._mm256_and_si256(pairs[h], mask));
            let odd = halves!(h => avx2._mm256_srli_epi32::<8>(pairs[h]));
            [self.by(even, by), self.by(odd, by)]
        }

        #[inline(always)]
        fn words_by<const N: usize>(self, codes: &[u16; 16], by: [[__m256; 2]; N]) -> [[__m256; 2]; N] {
            let codes = halves!(h => self.avx2._mm256_cvtepu16_epi32(cast(half::<u16, 8>(codes, h))));
            self.by(codes, by)
        }

        #[inline(always)]
        fn word_pairs_by<const N: usize>(
            self,
            codes: &[u16; 32],
            by: [[__m256; 2]; N],
        ) -> [[[__m256; 2]; N]; 2] {
            let avx2 = self.avx2;
            let pairs: [__m256i; 2] = halves!(h => cast(half::<u16, 16>(codes, h)));
            let mask = self.avx._mm256_set1_epi32(0xffff);
            let even = halves!(h => avx2._mm256_and_si256(pairs[h], mask));
            let odd = halves!(h => avx2._mm256_srli_epi32::<16>(pairs[h]));
            [self.by(even, by), self.by(odd, by)]
        }

        #[inline(always)]
        fn longs_by<const N: usize>(self, codes: &[u32; 16], by: [[__m256; 2]; N]) -> [[__m256; 2]; N] {
            self.by(halves!(h => cast(half::<u32, 8>(codes, h))), by)
        }

        #[inline(always)]
        fn singles_by<const N: usize>(self, singles: &[f32; 16], by: [[__m256; 2]; N]) -> [[__m256; 2]; N] {
            let (singles, mut out): ([__m256; 2], _) = (cast(*singles), by);
            for by in &mut out {
                *by = halves!(h => self.avx._mm256_mul_ps(singles[h], by[h]));
            }
            out
        }

        #[inline(always)]
        fn add(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
            halves!(h => self.avx._mm256_add_ps(a[h], b[h]))
        }

        #[inline(always)]
        fn in_turns(self, a: [__m256; 2], b: [__m256; 2]) -> [[__m256; 2]; 2] {
            let avx = self.avx;
            halves!(h => {
                let (first, others) = (avx._mm256_unpacklo_ps(a[h], b[h]), avx._mm256_unpackhi_ps(a[h], b[h]));
                [
                    avx._mm256_permute2f128_ps::<0x20>(first, others),
                    avx._mm256_permute2f128_ps::<0x31>(first, others),
                ]
            })
        }

        #[inline(always)]
        fn to_array(self, singles: [__m256; 2]) -> [f32; 16] {
            cast(singles)
        }

        #[inline(always)]
        fn to_rgba8(self, [r, g, b]: [[__m256; 2]; 3]) -> [[u8; 4]; 16] {
            let (avx, avx2) = (self.avx, self.avx2);
            let middle = avx._mm256_set1_ps(MIDDLE);
            let order: __m256i = cast([ORDER; 2]);
            cast(halves!(h => {
                let red_green = avx2._mm256_packs_epi32(avx._mm256_cvtps_epi32(r[h]), avx._mm256_cvtps_epi32(g[h]));
                let blue_alpha = cast(avx._mm256_add_ps(b[h], middle));
                avx2._mm256_shuffle_epi8(avx2._mm256_packus_epi16(red_green, blue_alpha), order)
            }))
        }

        #[inline(always)]
        fn pairs_to_rgba8(self, [even, odd]: [[[__m256; 2]; 3]; 2]) -> [[u8; 4]; 32] {
            let avx2 = self.avx2;
            let even: [__m256i; 2] = cast(self.to_rgba8(even));
            let odd: [__m256i; 2] = cast(self.to_rgba8(odd));
            cast(halves!(h => {
                // Of each half of a vector the first four texels, and the others.
                let first = avx2._mm256_unpacklo_epi32(even[h], odd[h]);
                let others = avx2._mm256_unpackhi_epi32(even[h], odd[h]);
                [
                    avx2._mm256_permute2x128_si256::<0x20>(first, others),
                    avx2._mm256_permute2x128_si256::<0x31>(first, others),
                ]
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<L: Lanes>(lanes: L) {
        let codes: [u32; 32] = core::array::from_fn(|i| (i as u32).wrapping_mul(0x1234_5678) >> 3);
        let words = codes.map(|c| c as u16);
        let bytes = codes.map(|c| c as u8);
        let factors = [1.0, -0.37 * 255.0, 1.0 / 3.0, 1.164_383_6];
        let by = factors.map(|factor| lanes.splat(factor));
        let products = |codes: [f32; 16], shown: [L::Singles; 4]| {
            for (factor, shown) in factors.into_iter().zip(shown) {
                assert_eq!(lanes.to_array(shown), codes.map(|c| c * factor), "{factor}");
            }
        };
        let places = |numbers: [f32; 32], step: usize, from: usize| {
            let at: [f32; 16] = core::array::from_fn(|i| numbers[i * step + from]);
            at
        };
        let (all_words, all_bytes) = (words.map(f32::from), bytes.map(f32::from));
        products(places(all_bytes, 1, 0), lanes.bytes_by(bytes.first_chunk().unwrap(), by));
        products(places(all_words, 1, 0), lanes.words_by(words.first_chunk().unwrap(), by));
        for (place, shown) in lanes.byte_pairs_by(&bytes, by).into_iter().enumerate() {
            products(places(all_bytes, 2, place), shown);
        }
        for (place, shown) in lanes.word_pairs_by(&words, by).into_iter().enumerate() {
            products(places(all_words, 2, place), shown);
        }
        let longs = codes.first_chunk().unwrap().map(|c| c & 0x7f_ffff);
        products(longs.map(|c| c as f32), lanes.longs_by(&longs, by));
        let [of_bytes] = lanes.bytes_by(bytes.first_chunk().unwrap(), [by[0]]);
        let [of_words] = lanes.words_by(words.first_chunk().unwrap(), [by[0]]);
        for (half, shown) in lanes.in_turns(of_bytes, of_words).into_iter().enumerate() {
            let meant = |i: usize| if i.is_multiple_of(2) { all_bytes[i / 2] } else { all_words[i / 2] };
            assert_eq!(lanes.to_array(shown), core::array::from_fn(|i| meant(i + 16 * half)));
        }
        let singles = longs.map(|c| c as f32 / 3.0);
        products(singles, lanes.singles_by(&singles, by));
        // Halves go to the even neighbour; what lies beyond is clamped.
        let scale = |by: f32, from: f32| {
            let at: [f32; 16] = core::array::from_fn(|i| i as f32 * by + from);
            at
        };
        let byte = |c: f32| c.round_ties_even().clamp(0.0, 255.0) as u8;
        let meant = |rgb: [[f32; 16]; 3], i: usize| [byte(rgb[0][i]), byte(rgb[1][i]), byte(rgb[2][i]), 255];
        for (by, from) in [(0.5, -2.0), (0.5, 250.25), (-900.5, 300.0), (2000.0, -32_000.0), (17.3, 0.0)] {
            let rgb = [scale(by, from), scale(-by, from), scale(by * 0.25, from + 1.0)];
            // Only codes can be loaded, so each number is a code of 1 times it.
            let load = |numbers: [f32; 16]| {
                let mut sum = lanes.splat(0.0);
                for (i, number) in numbers.into_iter().enumerate() {
                    let at: [u8; 16] = core::array::from_fn(|n| (n == i).into());
                    let [number] = lanes.bytes_by(&at, [lanes.splat(number)]);
                    sum = lanes.add(sum, number);
                }
                sum
            };
            let (even, odd) = (rgb, [rgb[1], rgb[2], rgb[0]]);
            assert_eq!(
                lanes.to_rgba8(even.map(load)),
                core::array::from_fn(|i| meant(even, i)),
                "{by} {from}"
            );
            let pairs = lanes.pairs_to_rgba8([even.map(load), odd.map(load)]);
            assert_eq!(pairs, core::array::from_fn(|i| meant([even, odd][i % 2], i / 2)), "{by} {from}");
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
