//! What decoders want of a processor beyond loops that vectorise. Every implementation gives the same results.
//!
//! What is not inlined is not compiled for the instruction set: in code that takes a [`Simd`], functions and closures are
//! `inline(always)`, and arrays are filled by loops, as the closures of `map` and `from_fn` may stay calls.

/// Instructions that decoders are compiled for.
pub trait Simd: Copy {
    /// Whether bits are gathered and scattered in an instruction.
    const BIT_LANES: bool;

    /// Bytes of a table: those that the lowest six bits of `at` say, whose highest bits are zero.
    fn pick(self, table: &[u8; 64], at: &[u8; 32]) -> [u8; 32];

    /// Words of a table: those that the lowest four bits of `at` say.
    fn pick16(self, table: &[u32; 16], at: &[u32; 16]) -> [u32; 16];

    /// Sixteen fields of `width` bits, up to four.
    fn fields(self, bits: u64, width: u32) -> [u32; 16];

    /// Numbers with a sign between `from` and `to`: 64ths of their sums by weight, rounded.
    fn mix(self, from: &[u32; 16], to: &[u32; 16], weights: &[u32; 16]) -> [u32; 16];

    /// The bits of `value` where `mask` has ones, next to each other from the lowest on.
    fn gather(self, value: u64, mask: u64) -> u64;

    /// The lowest bits of `value` put where `mask` has ones.
    fn scatter(self, value: u64, mask: u64) -> u64;
}

/// Those that every processor has.
#[derive(Clone, Copy)]
pub struct Portable;

impl Portable {
    /// As the token of an instruction set does it.
    #[inline(never)]
    pub fn vectorize<F: pulp::NullaryFnOnce>(self, work: F) -> F::Output {
        work.call()
    }
}

impl Simd for Portable {
    const BIT_LANES: bool = false;

    #[inline(always)]
    fn pick(self, table: &[u8; 64], at: &[u8; 32]) -> [u8; 32] {
        let mut out = [0; 32];
        for (out, at) in out.iter_mut().zip(at) {
            *out = table[usize::from(at % 64)];
        }
        out
    }

    #[inline(always)]
    fn pick16(self, table: &[u32; 16], at: &[u32; 16]) -> [u32; 16] {
        let mut out = [0; 16];
        for (out, at) in out.iter_mut().zip(at) {
            *out = table[*at as usize % 16];
        }
        out
    }

    #[inline(always)]
    fn fields(self, bits: u64, width: u32) -> [u32; 16] {
        let mut out = [0; 16];
        for (i, out) in out.iter_mut().enumerate() {
            *out = (bits >> (i as u32 * width)) as u32 & ((1 << width) - 1);
        }
        out
    }

    #[inline(always)]
    fn mix(self, from: &[u32; 16], to: &[u32; 16], weights: &[u32; 16]) -> [u32; 16] {
        let mut out = [0; 16];
        for (i, out) in out.iter_mut().enumerate() {
            let way = to[i].wrapping_sub(from[i]).wrapping_mul(weights[i]);
            *out = ((from[i] << 6).wrapping_add(way).wrapping_add(32) as i32 >> 6) as u32;
        }
        out
    }

    #[inline(always)]
    fn gather(self, value: u64, mut mask: u64) -> u64 {
        let (mut out, mut to) = (0, 0);
        while mask != 0 {
            out |= (value >> mask.trailing_zeros() & 1) << to;
            to += 1;
            mask &= mask - 1;
        }
        out
    }

    #[inline(always)]
    fn scatter(self, mut value: u64, mut mask: u64) -> u64 {
        let mut out = 0;
        while mask != 0 {
            out |= (value & 1) << mask.trailing_zeros();
            value >>= 1;
            mask &= mask - 1;
        }
        out
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Portable, Simd};
    use core::arch::x86_64::{__m128i, __m256i, __m512i, _pdep_u64, _pext_u64};
    use pulp::cast;
    use pulp::x86::{V3, V4};

    const EIGHT: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    /// Words of the table `low` and `high`.
    #[inline(always)]
    fn pick_words(simd: V3, low: __m256i, high: __m256i, at: __m256i) -> __m256i {
        let low = simd.avx2._mm256_permutevar8x32_epi32(low, at);
        let high = simd.avx2._mm256_permutevar8x32_epi32(high, at);
        // Bytes are chosen by their highest bits: bit 3 of a word as each of its bits.
        let upper = simd.avx2._mm256_srai_epi32::<31>(simd.avx2._mm256_slli_epi32::<28>(at));
        simd.avx2._mm256_blendv_epi8(low, high, upper)
    }

    #[inline(always)]
    fn mix_words(simd: V3, from: __m256i, to: __m256i, weights: __m256i) -> __m256i {
        let way = simd.avx2._mm256_mullo_epi32(simd.avx2._mm256_sub_epi32(to, from), weights);
        let sum = simd.avx2._mm256_add_epi32(simd.avx2._mm256_slli_epi32::<6>(from), way);
        let sum = simd.avx2._mm256_add_epi32(sum, simd.avx._mm256_set1_epi32(32));
        simd.avx2._mm256_srai_epi32::<6>(sum)
    }

    /// The first processors of AMD with AVX2 gather and scatter bits slowly.
    impl Simd for V3 {
        const BIT_LANES: bool = false;

        #[inline(always)]
        fn pick(self, table: &[u8; 64], at: &[u8; 32]) -> [u8; 32] {
            let [a, b, c, d]: [__m128i; 4] = cast(*table);
            let at: __m256i = cast(*at);
            let a = self.avx2._mm256_shuffle_epi8(self.avx2._mm256_broadcastsi128_si256(a), at);
            let b = self.avx2._mm256_shuffle_epi8(self.avx2._mm256_broadcastsi128_si256(b), at);
            let c = self.avx2._mm256_shuffle_epi8(self.avx2._mm256_broadcastsi128_si256(c), at);
            let d = self.avx2._mm256_shuffle_epi8(self.avx2._mm256_broadcastsi128_si256(d), at);
            // Bits 4 and 5 as the highest of their bytes.
            let odd = self.avx2._mm256_slli_epi16::<3>(at);
            let upper = self.avx2._mm256_slli_epi16::<2>(at);
            let low = self.avx2._mm256_blendv_epi8(a, b, odd);
            let high = self.avx2._mm256_blendv_epi8(c, d, odd);
            cast(self.avx2._mm256_blendv_epi8(low, high, upper))
        }

        #[inline(always)]
        fn pick16(self, table: &[u32; 16], at: &[u32; 16]) -> [u32; 16] {
            let [low, high]: [__m256i; 2] = cast(*table);
            let [first, second]: [__m256i; 2] = cast(*at);
            let first = pick_words(self, low, high, first);
            cast([first, pick_words(self, low, high, second)])
        }

        #[inline(always)]
        fn fields(self, bits: u64, width: u32) -> [u32; 16] {
            let shifts = self.avx2._mm256_mullo_epi32(cast(EIGHT), self.avx._mm256_set1_epi32(width as i32));
            let mask = self.avx._mm256_set1_epi32((1 << width) - 1);
            let first = self.avx._mm256_set1_epi32(bits as i32);
            let second = self.avx._mm256_set1_epi32((bits >> (8 * width)) as i32);
            let first = self.avx2._mm256_and_si256(self.avx2._mm256_srlv_epi32(first, shifts), mask);
            let second = self.avx2._mm256_and_si256(self.avx2._mm256_srlv_epi32(second, shifts), mask);
            cast([first, second])
        }

        #[inline(always)]
        fn mix(self, from: &[u32; 16], to: &[u32; 16], weights: &[u32; 16]) -> [u32; 16] {
            let [from_low, from_high]: [__m256i; 2] = cast(*from);
            let [to_low, to_high]: [__m256i; 2] = cast(*to);
            let [low, high]: [__m256i; 2] = cast(*weights);
            cast([mix_words(self, from_low, to_low, low), mix_words(self, from_high, to_high, high)])
        }

        #[inline(always)]
        fn gather(self, value: u64, mask: u64) -> u64 {
            Portable.gather(value, mask)
        }

        #[inline(always)]
        fn scatter(self, value: u64, mask: u64) -> u64 {
            Portable.scatter(value, mask)
        }
    }

    impl Simd for V4 {
        const BIT_LANES: bool = true;

        #[inline(always)]
        fn pick(self, table: &[u8; 64], at: &[u8; 32]) -> [u8; 32] {
            let [low, high]: [__m256i; 2] = cast(*table);
            let low = self.avx512bw._mm512_cvtepu8_epi16(low);
            let high = self.avx512bw._mm512_cvtepu8_epi16(high);
            let at = self.avx512bw._mm512_cvtepu8_epi16(cast(*at));
            let picked = self.avx512bw._mm512_permutex2var_epi16(low, at, high);
            cast(self.avx512bw._mm512_cvtepi16_epi8(picked))
        }

        #[inline(always)]
        fn pick16(self, table: &[u32; 16], at: &[u32; 16]) -> [u32; 16] {
            cast(self.avx512f._mm512_permutexvar_epi32(cast(*at), cast(*table)))
        }

        #[inline(always)]
        fn fields(self, bits: u64, width: u32) -> [u32; 16] {
            (*self).fields(bits, width)
        }

        #[inline(always)]
        fn mix(self, from: &[u32; 16], to: &[u32; 16], weights: &[u32; 16]) -> [u32; 16] {
            let (from, to, weights): (__m512i, __m512i, __m512i) = (cast(*from), cast(*to), cast(*weights));
            let way = self.avx512f._mm512_mullo_epi32(self.avx512f._mm512_sub_epi32(to, from), weights);
            let sum = self.avx512f._mm512_add_epi32(self.avx512f._mm512_slli_epi32::<6>(from), way);
            let sum = self.avx512f._mm512_add_epi32(sum, self.avx512f._mm512_set1_epi32(32));
            cast(self.avx512f._mm512_srai_epi32::<6>(sum))
        }

        #[inline(always)]
        fn gather(self, value: u64, mask: u64) -> u64 {
            // SAFETY: `self` exists where BMI2 does.
            unsafe { _pext_u64(value, mask) }
        }

        #[inline(always)]
        fn scatter(self, value: u64, mask: u64) -> u64 {
            // SAFETY: `self` exists where BMI2 does.
            unsafe { _pdep_u64(value, mask) }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use pulp::x86::{V3, V4};
    use xenoglot_testgen::rng::Rng;

    fn same_as_portable(simd: impl Simd) {
        let mut rng = Rng::new(11);
        for _ in 0..1000 {
            let table = core::array::from_fn(|_| rng.next_u32() as u8);
            let at = core::array::from_fn(|_| rng.next_u32() as u8 & 0x7f);
            assert_eq!(simd.pick(&table, &at), Portable.pick(&table, &at));
            let (words, at) = (core::array::from_fn(|_| rng.next_u32()), at.as_chunks().0);
            let at = core::array::from_fn(|i| u32::from_le_bytes(at[i % 8]));
            assert_eq!(simd.pick16(&words, &at), Portable.pick16(&words, &at));
            let (value, mask) = (rng.next_u64(), rng.next_u64() & rng.next_u64());
            let (from, to) =
                (core::array::from_fn(|_| rng.next_u32() >> 12), words.map(|w| (w as i32 >> 12) as u32));
            let weights = at.map(|at| at % 65);
            assert_eq!(simd.mix(&from, &to, &weights), Portable.mix(&from, &to, &weights));
            for width in 1..=4 {
                assert_eq!(simd.fields(value, width), Portable.fields(value, width));
            }
            assert_eq!(simd.gather(value, mask), Portable.gather(value, mask));
            assert_eq!(simd.scatter(value, mask), Portable.scatter(value, mask));
        }
    }

    #[test]
    fn all_processors_do_the_same() {
        V3::try_new().into_iter().for_each(same_as_portable);
        V4::try_new().into_iter().for_each(same_as_portable);
    }
}
