//! Which partitions fit a block.

use super::lanes::{Blocks, LANES, Lane, splat, words};
use super::line::{Moments, Whole};
use crate::bc::partition::{THREE, TWO};
use fearless_simd::prelude::*;

/// The most partitions that are tried for a block.
pub const TRIED: usize = 4;

/// The partitions, of the first `count`, that lines fit best; the best comes first.
#[inline(never)]
pub fn partitions<S: Simd, const C: usize, const N: usize>(
    simd: S,
    blocks: &Blocks<S>,
    count: usize,
) -> [Lane; TRIED] {
    simd.vectorize(
        #[inline(always)]
        || {
            let far = splat(simd, f32::MAX);
            let (mut errors, mut found) = ([far; TRIED], [words(simd, 0); TRIED]);
            let whole = Moments::of::<C>(simd, blocks, Whole);
            let patterns = if N == 2 { &TWO } else { &THREE };
            for (partition, &pattern) in patterns.iter().enumerate().take(count) {
                let mut error = splat(simd, 0.0);
                let mut rest = Moments { count: whole.count, sums: whole.sums, products: whole.products };
                let mut left = 16;
                for subset in 1..N {
                    let mut moments = Moments {
                        count: [splat(simd, 0.0); 2],
                        sums: [splat(simd, 0.0); 4],
                        products: [[splat(simd, 0.0); 4]; 4],
                    };
                    let mut members = 0;
                    for i in 0..16 {
                        if (pattern >> (2 * i) & 3) as usize != subset {
                            continue;
                        }
                        members += 1;
                        for a in 0..C {
                            moments.sums[a] += blocks.texels[a][i];
                            for b in a..C {
                                moments.products[a][b] =
                                    blocks.texels[a][i].mul_add(blocks.texels[b][i], moments.products[a][b]);
                            }
                        }
                    }
                    left -= members;
                    moments.count = [splat(simd, members as f32), splat(simd, 1.0 / members as f32)];
                    for a in 0..C {
                        rest.sums[a] -= moments.sums[a];
                        for b in a..C {
                            rest.products[a][b] -= moments.products[a][b];
                        }
                    }
                    error += moments.beside::<C, 1>(simd);
                }
                rest.count = [splat(simd, left as f32), splat(simd, 1.0 / left as f32)];
                error += rest.beside::<C, 1>(simd);
                let mut candidate = words(simd, partition as u32);
                for (old, at) in errors.iter_mut().zip(&mut found) {
                    let better = error.simd_lt(*old);
                    let (worse, displaced) = (better.select(*old, error), better.select(*at, candidate));
                    *old = old.min(error);
                    *at = better.select(candidate, *at);
                    (error, candidate) = (worse, displaced);
                }
            }
            let mut out = [[0; LANES]; TRIED];
            for (out, found) in out.iter_mut().zip(found) {
                *out = found.to_array();
            }
            out
        },
    )
}
