//! Squares of four entries of a table for sixteen pixels, mixed along their rows.

use fearless_simd::i32x16;
use fearless_simd::prelude::*;

/// [`super::Ops::mixed_rows`], if there are instructions that are better at it than loads of single entries.
#[inline(always)]
pub(super) fn mixed<S: Simd>(
    simd: S,
    table: &[u32],
    at: [i32x16<S>; 2],
    share: i32x16<S>,
) -> Option<[[i32x16<S>; 2]; 2]> {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = simd.level().as_avx512()
        && table.len() > 1
    {
        // Weights in bytes, the first entry's below that of the second.
        let weights = (i32x16::splat(simd, 0x40_0040) - share) | share << 8;
        let [top, bottom, weights] = crate::each!([at[0], at[1], weights], value => i32x16::load_array(avx512, value.to_array()).into());
        let [top, bottom] = x86::mixed(avx512, table, top, bottom, weights);
        return Some(crate::each!([top, bottom], row => crate::each!([row[0], row[1]], word => {
            let word: i32x16<_> = word.simd_into(avx512);
            i32x16::load_array(simd, word.to_array())
        })));
    }
    let _ = (simd, table, at, share);
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use fearless_simd::Avx512;
    use std::arch::x86_64::*;

    /// `table` has two entries at least. Pairs behind the last one are taken for it. Weights are bytes: of the first and the
    /// second entry, and the same again.
    ///
    /// Not a kernel of its own: it would be called, and all that is in registers saved around it.
    #[inline(always)]
    pub(super) fn mixed(
        _: Avx512,
        table: &[u32],
        top: __m512i,
        bottom: __m512i,
        weights: __m512i,
    ) -> [[__m512i; 2]; 2] {
        let last = u32::try_from(table.len().saturating_sub(2)).unwrap_or(u32::MAX).min(i32::MAX as u32);
        assert!(table.len() > 1);
        // SAFETY: the processor has AVX-512, of which there is a token. Places are made to be at most the length less two, so
        // both entries of a pair are in the table; an array of 64 bytes takes sixteen places.
        unsafe {
            let last = _mm512_set1_epi32(last as i32);
            let mut places = [[0u32; 16]; 2];
            for (places, at) in places.iter_mut().zip([top, bottom]) {
                _mm512_storeu_si512(places.as_mut_ptr().cast(), _mm512_min_epu32(at, last));
            }
            // From memory: a load is one step for the processor, an element of a vector two.
            let places = std::hint::black_box(&places);
            // Bytes of both entries of a row side by side: 0 and 2 of both, 1 and 3 of both; then those of the other row.
            let order = _mm_setr_epi8(0, 4, 2, 6, 1, 5, 3, 7, 8, 12, 10, 14, 9, 13, 11, 15);
            let order = _mm512_broadcast_i32x4(order);
            // Pixels 0, 4, 8, 12 are a vector, 1, 5, 9, 13 another, so that transposing within blocks puts them in order.
            let mut sums = [_mm512_setzero_si512(); 4];
            for (first, sums) in sums.iter_mut().enumerate() {
                let mut squares = [_mm_setzero_si128(); 4];
                for (block, square) in squares.iter_mut().enumerate() {
                    let [top, bottom] = [places[0][4 * block + first], places[1][4 * block + first]];
                    let top = _mm_loadl_epi64(table.as_ptr().add(top as usize).cast());
                    let bottom = table.as_ptr().add(bottom as usize).cast();
                    *square = _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(top), bottom));
                }
                let [a, b, c, d] = squares;
                let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
                let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
                let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
                let weights = match first {
                    0 => _mm512_shuffle_epi32::<0x00>(weights),
                    1 => _mm512_shuffle_epi32::<0x55>(weights),
                    2 => _mm512_shuffle_epi32::<0xaa>(weights),
                    _ => _mm512_shuffle_epi32::<0xff>(weights),
                };
                *sums = _mm512_maddubs_epi16(_mm512_shuffle_epi8(bytes, order), weights);
            }
            let [a, b, c, d] = sums;
            let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
            let top = [_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)];
            let (ab, cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
            [top, [_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)]]
        }
    }
}
