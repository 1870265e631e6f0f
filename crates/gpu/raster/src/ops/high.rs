//! Upper halves of products of 16 bits, for which processors have an instruction and the portable vectors no name.

use fearless_simd::prelude::*;
use fearless_simd::{i16x32, i32x16};

/// Upper 16 bits of the signed products of the halves of words.
#[inline(always)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_variables, reason = "its level chooses among this processor's instructions")
)]
pub(super) fn products<S: Simd>(simd: S, a: i32x16<S>, b: i32x16<S>) -> i32x16<S> {
    #[cfg(target_arch = "x86_64")]
    {
        let level = simd.level();
        let (a, b) = (a.to_array(), b.to_array());
        if let Some(avx512) = level.as_avx512() {
            let (a, b) = (i32x16::load_array(avx512, a), i32x16::load_array(avx512, b));
            let high: i32x16<_> = x86::high_512(avx512, a.into(), b.into()).simd_into(avx512);
            return i32x16::load_array(simd, high.to_array());
        }
        if let Some(avx2) = level.as_avx2() {
            let (a, b) = (i32x16::load_array(avx2, a).split(), i32x16::load_array(avx2, b).split());
            let low: i32x8<_> = x86::high_256(avx2, a.0.into(), b.0.into()).simd_into(avx2);
            let high: i32x8<_> = x86::high_256(avx2, a.1.into(), b.1.into()).simd_into(avx2);
            return i32x16::load_array(simd, low.combine(high).to_array());
        }
    }
    portable(a, b)
}

/// The same by products of 32 bits.
#[inline(always)]
fn portable<S: Simd>(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> {
    let (a, b): (i16x32<S>, i16x32<S>) = (a.bitcast(), b.bitcast());
    let (low, high) = a.widening_mul(b);
    let products = (low >> 16).narrow(high >> 16);
    products.bitcast()
}

#[cfg(target_arch = "x86_64")]
use fearless_simd::i32x8;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::{__m256i, __m512i};

    // As assembly: LLVM rewrites the intrinsics as shifted 32-bit products, and where it knows an operand's sign it does not
    // find the instruction again, but emits some ten others.
    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn high_512(avx512: Avx512, a: __m512i, b: __m512i) -> __m512i {
            let high;
            // SAFETY: the token proves that the processor has AVX-512 BW; the instruction reads and writes these
            // registers only.
            unsafe {
                asm!("vpmulhw {}, {}, {}", lateout(zmm_reg) high, in(zmm_reg) a, in(zmm_reg) b,
                    options(pure, nomem, nostack, preserves_flags));
            }
            high
        }
    );

    fearless_simd::kernel!(
        #[inline(always)]
        pub(super) fn high_256(avx2: Avx2, a: __m256i, b: __m256i) -> __m256i {
            let high;
            // SAFETY: the same with AVX2.
            unsafe {
                asm!("vpmulhw {}, {}, {}", lateout(ymm_reg) high, in(ymm_reg) a, in(ymm_reg) b,
                    options(pure, nomem, nostack, preserves_flags));
            }
            high
        }
    );
}
