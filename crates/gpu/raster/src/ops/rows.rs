//! Look-ups in a table of sixteen numbers by lane. Processors have permutations for this; the portable vectors offer those of
//! bytes only.

use super::{LANES, Lanes};
use fearless_simd::i32x16;
use fearless_simd::prelude::*;

/// The index into a row of sixteen numbers that each lane looks up.
#[derive(Clone, Copy, Debug)]
pub struct FromRow<S: Simd> {
    simd: S,
    at: i32x16<S>,
}

impl<S: Simd> Lanes<'_, S> {
    /// Look-ups in rows: each lane takes the number at the four lowest bits of its `at`.
    #[inline(always)]
    pub fn from_row(&self, at: i32x16<S>) -> FromRow<S> {
        FromRow { simd: self.simd(), at: at & (LANES as i32 - 1) }
    }
}

impl<S: Simd> FromRow<S> {
    /// Looks up each lane's number in a row.
    #[inline(always)]
    pub fn take(&self, row: &[u32; LANES]) -> i32x16<S> {
        let FromRow { simd, at } = *self;
        #[cfg(target_arch = "x86_64")]
        {
            let level = simd.level();
            if let Some(avx512) = level.as_avx512() {
                let at = i32x16::load_array(avx512, at.to_array());
                let row = i32x16::load_array(avx512, row.map(|number| number as i32));
                let taken: i32x16<_> = x86::taken_512(avx512, row.into(), at.into()).simd_into(avx512);
                return i32x16::load_array(simd, taken.to_array());
            }
            if let Some(avx2) = level.as_avx2() {
                let row = i32x16::load_array(avx2, row.map(|number| number as i32)).split();
                let at = i32x16::load_array(avx2, at.to_array()).split();
                let [low, high] = crate::each!([at.0, at.1], at => {
                    let taken: fearless_simd::i32x8<_> =
                        x86::taken_256(avx2, row.0.into(), row.1.into(), at.into()).simd_into(avx2);
                    taken
                });
                return i32x16::load_array(simd, low.combine(high).to_array());
            }
        }
        let at = at.to_array();
        i32x16::load_array(simd, portable(row, at))
    }
}

/// [`FromRow::take`] without vectors.
#[inline(always)]
fn portable(row: &[u32; LANES], at: [i32; LANES]) -> [i32; LANES] {
    at.map(|at| row[at as usize % LANES] as i32)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn taken_512(avx512: Avx512, row: __m512i, at: __m512i) -> __m512i {
            _mm512_permutexvar_epi32(at, row)
        }
    );

    fearless_simd::kernel!(
        /// `low` has the first eight numbers of the row.
        #[inline(always)]
        pub(super) fn taken_256(avx2: Avx2, low: __m256i, high: __m256i, at: __m256i) -> __m256i {
            let (low, high) = (_mm256_permutevar8x32_epi32(low, at), _mm256_permutevar8x32_epi32(high, at));
            // Bit 3 of the index chooses the half of the row; a blend looks at the sign bit.
            let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(at));
            let taken = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), upper);
            _mm256_castps_si256(taken)
        }
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::levels;
    use fearless_simd::dispatch;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(64))]

        #[test]
        fn rows_are_indexed(row in any::<[u32; 16]>(), at in any::<[i32; 16]>()) {
            for level in levels() {
                let taken = dispatch!(level, simd => {
                    let at = i32x16::load_array(simd, at);
                    Lanes::new(simd, &[]).from_row(at).take(&row).to_array()
                });
                prop_assert_eq!(taken, at.map(|at| row[(at & 15) as usize] as i32));
            }
        }
    }
}
