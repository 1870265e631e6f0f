//! Samples of ten bits, three to a word of 32.

use super::codes::Code;
use crate::frame::ten;
use pulp::Arch;

/// Samples in four words: the pattern of places in words repeats after them.
const PERIOD: usize = 12;
/// Bytes of four words.
const BLOCK: usize = 16;

/// Takes samples of a row, those `step` apart (2, 3 or 4) from the `first` on.
pub(super) fn tens<C: Code>(row: &[u8], first: usize, step: usize, codes: &mut [C]) {
    // Up to the first of four words, one by one.
    let is_begun = |i: &usize| (first + i * step) % PERIOD < step;
    let head = (0..codes.len()).find(is_begun).unwrap_or(codes.len());
    let (begun, whole) = codes.split_at_mut(head);
    one_by_one(row, first, step, begun);
    let first = first + head * step;
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "no instructions for them"))]
    let blocks = row.get(first / PERIOD * BLOCK..).unwrap_or_default();
    let taken = match Arch::new() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(simd) => {
            simd.vectorize(x86::Blocks { simd: *simd, blocks, first, step, codes: &mut *whole })
        }
        #[cfg(target_arch = "x86_64")]
        Arch::V3(simd) => simd.vectorize(x86::Blocks { simd, blocks, first, step, codes: &mut *whole }),
        _ => 0,
    };
    one_by_one(row, first + taken * step, step, &mut whole[taken..]);
}

fn one_by_one<C: Code>(row: &[u8], first: usize, step: usize, codes: &mut [C]) {
    for (i, out) in codes.iter_mut().enumerate() {
        *out = C::of_low(ten(row, first + i * step));
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, Code, PERIOD};
    use core::arch::x86_64::__m128i;
    use pulp::x86::V3;
    use pulp::{NullaryFnOnce, cast};

    /// Unpacks samples of whole blocks while there is room; returns how many.
    pub(super) struct Blocks<'a, C> {
        pub simd: V3,
        pub blocks: &'a [u8],
        pub first: usize,
        pub step: usize,
        pub codes: &'a mut [C],
    }

    impl<C: Code> NullaryFnOnce for Blocks<'_, C> {
        type Output = usize;

        #[inline(always)]
        fn call(self) -> usize {
            let Blocks { simd, blocks, first, step, codes } = self;
            let of_block = PERIOD / step.max(1);
            // For each sample the two bytes that contain it, and the factor that moves it to their highest bits.
            let (mut bytes, mut factors) = ([0x80_u8; BLOCK], [0_u16; BLOCK / 2]);
            for (i, (bytes, factor)) in
                bytes.as_chunks_mut().0.iter_mut().zip(&mut factors).take(of_block).enumerate()
            {
                let sample = first % PERIOD + i * step;
                let (word, part) = (sample / 3, sample % 3);
                let at = (4 * word + part) as u8;
                *bytes = [at, at + 1];
                *factor = 1 << (6 - 2 * part);
            }
            let (order, factors): (__m128i, __m128i) = (cast(bytes), cast(factors));
            let mut taken = 0;
            for block in blocks.as_chunks::<BLOCK>().0 {
                let Some(out) = codes.get_mut(taken..).and_then(|codes| codes.first_chunk_mut::<8>()) else {
                    break;
                };
                let words = simd.ssse3._mm_shuffle_epi8(cast(*block), order);
                let words = simd.sse2._mm_srli_epi16::<6>(simd.sse2._mm_mullo_epi16(words, factors));
                let words: [u16; 8] = cast(words);
                for (out, word) in out.iter_mut().zip(words) {
                    *out = C::of_low(word);
                }
                taken += of_block;
            }
            taken
        }
    }
}
