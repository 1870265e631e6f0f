//! Loads from sixteen places at once, for which AVX-512 has an instruction and the portable vectors no name.

use fearless_simd::i32x16;
use fearless_simd::prelude::*;

/// The units of memory at places that are below its length, if there is an instruction for it.
#[inline(always)]
pub(super) fn units<S: Simd>(simd: S, memory: &[u16], at: i32x16<S>) -> Option<i32x16<S>> {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = simd.level().as_avx512()
        && memory.len() > 1
    {
        let at = i32x16::load_array(avx512, at.to_array());
        let units: i32x16<_> = x86::units(avx512, memory, at.into()).simd_into(avx512);
        return Some(i32x16::load_array(simd, units.to_array()));
    }
    let _ = (simd, memory, at);
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m512i, _mm512_and_si512, _mm512_i32gather_epi32, _mm512_min_epu32, _mm512_set1_epi32,
        _mm512_slli_epi32, _mm512_srli_epi32, _mm512_srlv_epi32,
    };

    fearless_simd::kernel!(
        /// `memory` has two units at least. A place too large is taken for the last one.
        #[inline(always)]
        pub(super) fn units(avx512: Avx512, memory: &[u16], at: __m512i) -> __m512i {
            // Pairs of units that begin at even places, so that none ends behind memory.
            let pairs = u32::try_from(memory.len() / 2).unwrap_or(u32::MAX).min(1 << 30);
            let last = _mm512_set1_epi32(pairs.saturating_sub(1) as i32);
            let pair = _mm512_min_epu32(_mm512_srli_epi32::<1>(at), last);
            // SAFETY: a pair is below half the length, so its two units, 4 bytes, are in memory, which has two at least.
            let words = unsafe { _mm512_i32gather_epi32::<4>(pair, memory.as_ptr().cast()) };
            let odd = _mm512_and_si512(at, _mm512_set1_epi32(1));
            let unit = _mm512_srlv_epi32(words, _mm512_slli_epi32::<4>(odd));
            _mm512_and_si512(unit, _mm512_set1_epi32(0xffff))
        }
    );
}
