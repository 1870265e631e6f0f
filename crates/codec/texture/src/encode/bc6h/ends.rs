//! End points as the modes store them.

use super::super::lanes::{F, level, splat};
use super::super::line::Ends;
use crate::bc::bc6h::Mode;
use fearless_simd::prelude::*;

/// End points of both regions as a mode stores them, with differences where it has these, and what decoders make of them.
pub(super) struct Stored<S: Simd> {
    /// By end: the first and the second of the first region, then those of the second.
    pub(super) codes: [[F<S>; 3]; 4],
    pub(super) exact: [Ends<S>; 2],
}

/// The end points nearest to `ends` that a mode has.
#[inline(always)]
pub(super) fn stored<S: Simd, const SIGNED: bool>(simd: S, mode: &Mode, ends: &[Ends<S>; 2]) -> Stored<S> {
    let mut out = Stored { codes: [[splat(simd, 0.0); 3]; 4], exact: *ends };
    for c in 0..3 {
        let base = code::<S, SIGNED>(ends[0].from[c], mode.precision);
        for end in 0..2 * mode.regions as usize {
            let Ends { from, to } = ends[end / 2];
            let wanted = if end % 2 == 0 { from[c] } else { to[c] };
            let (mut own, mut put) = (base, base);
            if end > 0 {
                own = code::<S, SIGNED>(wanted, mode.precision);
                put = own;
                if mode.transformed {
                    let half = (1u32 << (mode.deltas[c] - 1)) as f32;
                    put = (own - base).max(splat(simd, -half)).min(splat(simd, half - 1.0));
                    own = base + put;
                }
            }
            out.codes[end][c] = put;
            let exact = &mut out.exact[end / 2];
            let exact = if end % 2 == 0 { &mut exact.from } else { &mut exact.to };
            exact[c] = value::<S, SIGNED>(own, mode.precision);
        }
    }
    out
}

/// The highest code of so many bits, one of which is the sign if there is one.
fn highest<const SIGNED: bool>(bits: u32) -> f32 {
    ((1u32 << (bits - u32::from(SIGNED))) - 1) as f32
}

/// The code of a value of 16 bits.
#[inline(always)]
fn code<S: Simd, const SIGNED: bool>(value: F<S>, bits: u32) -> F<S> {
    let simd = value.simd;
    let top = splat(simd, highest::<SIGNED>(bits));
    let zero = splat(simd, 0.0);
    let is_negative = if SIGNED { value.simd_lt(zero) } else { zero.simd_lt(zero) };
    let magnitude = if SIGNED { value.abs() } else { value };
    let found = if bits == 16 {
        level(magnitude, top)
    } else {
        // Codes stand for the middles of equal parts, but 0 for 0: the first part ends nearer to it.
        let part = magnitude * (1.0 / (1u32 << (16 - bits)) as f32);
        let floor = part.floor().max(splat(simd, 1.0)).min(top);
        part.simd_lt(0.75).select(zero, floor)
    };
    is_negative.select(-found, found)
}

/// The value of 16 bits that decoders make of a code.
#[inline(always)]
fn value<S: Simd, const SIGNED: bool>(code: F<S>, bits: u32) -> F<S> {
    if bits == 16 {
        return code;
    }
    let simd = code.simd;
    let zero = splat(simd, 0.0);
    let magnitude = if SIGNED { code.abs() } else { code };
    let step = (1u32 << (16 - bits)) as f32;
    let middle = magnitude * step + step * 0.5;
    let most = splat(simd, highest::<SIGNED>(16));
    let is_top = magnitude.simd_ge(highest::<SIGNED>(bits));
    let found = magnitude.simd_lt(0.5).select(zero, is_top.select(most, middle));
    if SIGNED { code.simd_lt(zero).select(-found, found) } else { found }
}
