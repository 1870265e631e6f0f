//! BC6H.

use super::by_row;
use super::partition::{ANCHOR_OF_TWO, TWO, WEIGHTS, widen};
use crate::simd::Simd;
use crate::{half, rows};

/// Endpoint components: red, green and blue of the first endpoint, then of the second, third and fourth.
const R0: u8 = 0;
const G0: u8 = 1;
const B0: u8 = 2;
const R1: u8 = 3;
const G1: u8 = 4;
const B1: u8 = 5;
const R2: u8 = 6;
const G2: u8 = 7;
const B2: u8 = 8;
const R3: u8 = 9;
const G3: u8 = 10;
const B3: u8 = 11;

/// Bits of a block in their order: the component, and its bits from the first to the last, which may fall.
pub type Run = (u8, u8, u8);

pub struct Mode {
    pub regions: u32,
    /// Endpoints after the first are differences from it.
    pub transformed: bool,
    /// Bits of an endpoint.
    pub precision: u32,
    /// Bits of the differences of red, green, blue.
    pub deltas: [u32; 3],
    /// Bits before the runs, and what they are.
    pub header: u32,
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "encoders write it"))]
    pub code: u32,
    pub runs: &'static [Run],
}

#[rustfmt::skip]
pub const MODES: [Mode; 14] = [
    Mode { regions: 2, transformed: true, precision: 10, deltas: [5, 5, 5], header: 2, code: 0x00, runs: &[
        (G2, 4, 4), (B2, 4, 4), (B3, 4, 4), (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 4), (G3, 4, 4), (G2, 0, 3),
        (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4), (B3, 2, 2), (R3, 0, 4),
        (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 7, deltas: [6, 6, 6], header: 2, code: 0x01, runs: &[
        (G2, 5, 5), (G3, 4, 5), (R0, 0, 6), (B3, 0, 1), (B2, 4, 4), (G0, 0, 6), (B2, 5, 5), (B3, 2, 2), (G2, 4, 4),
        (B0, 0, 6), (B3, 3, 3), (B3, 5, 5), (B3, 4, 4), (R1, 0, 5), (G2, 0, 3), (G1, 0, 5), (G3, 0, 3), (B1, 0, 5),
        (B2, 0, 3), (R2, 0, 5), (R3, 0, 5)] },
    Mode { regions: 2, transformed: true, precision: 11, deltas: [5, 4, 4], header: 5, code: 0x02, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 4), (R0, 10, 10), (G2, 0, 3), (G1, 0, 3), (G0, 10, 10),
        (B3, 0, 0), (G3, 0, 3), (B1, 0, 3), (B0, 10, 10), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4), (B3, 2, 2),
        (R3, 0, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 11, deltas: [4, 5, 4], header: 5, code: 0x06, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 3), (R0, 10, 10), (G3, 4, 4), (G2, 0, 3), (G1, 0, 4),
        (G0, 10, 10), (G3, 0, 3), (B1, 0, 3), (B0, 10, 10), (B3, 1, 1), (B2, 0, 3), (R2, 0, 3), (B3, 0, 0),
        (B3, 2, 2), (R3, 0, 3), (G2, 4, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 11, deltas: [4, 4, 5], header: 5, code: 0x0a, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 3), (R0, 10, 10), (B2, 4, 4), (G2, 0, 3), (G1, 0, 3),
        (G0, 10, 10), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B0, 10, 10), (B2, 0, 3), (R2, 0, 3), (B3, 1, 1),
        (B3, 2, 2), (R3, 0, 3), (B3, 4, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 9, deltas: [5, 5, 5], header: 5, code: 0x0e, runs: &[
        (R0, 0, 8), (B2, 4, 4), (G0, 0, 8), (G2, 4, 4), (B0, 0, 8), (B3, 4, 4), (R1, 0, 4), (G3, 4, 4), (G2, 0, 3),
        (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4), (B3, 2, 2), (R3, 0, 4),
        (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 8, deltas: [6, 5, 5], header: 5, code: 0x12, runs: &[
        (R0, 0, 7), (G3, 4, 4), (B2, 4, 4), (G0, 0, 7), (B3, 2, 2), (G2, 4, 4), (B0, 0, 7), (B3, 3, 4), (R1, 0, 5),
        (G2, 0, 3), (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 5),
        (R3, 0, 5)] },
    Mode { regions: 2, transformed: true, precision: 8, deltas: [5, 6, 5], header: 5, code: 0x16, runs: &[
        (R0, 0, 7), (B3, 0, 0), (B2, 4, 4), (G0, 0, 7), (G2, 5, 5), (G2, 4, 4), (B0, 0, 7), (G3, 5, 5), (B3, 4, 4),
        (R1, 0, 4), (G3, 4, 4), (G2, 0, 3), (G1, 0, 5), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4),
        (B3, 2, 2), (R3, 0, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 8, deltas: [5, 5, 6], header: 5, code: 0x1a, runs: &[
        (R0, 0, 7), (B3, 1, 1), (B2, 4, 4), (G0, 0, 7), (B2, 5, 5), (G2, 4, 4), (B0, 0, 7), (B3, 5, 5), (B3, 4, 4),
        (R1, 0, 4), (G3, 4, 4), (G2, 0, 3), (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 5), (B2, 0, 3), (R2, 0, 4),
        (B3, 2, 2), (R3, 0, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: false, precision: 6, deltas: [6, 6, 6], header: 5, code: 0x1e, runs: &[
        (R0, 0, 5), (G3, 4, 4), (B3, 0, 1), (B2, 4, 4), (G0, 0, 5), (G2, 5, 5), (B2, 5, 5), (B3, 2, 2), (G2, 4, 4),
        (B0, 0, 5), (G3, 5, 5), (B3, 3, 3), (B3, 5, 5), (B3, 4, 4), (R1, 0, 5), (G2, 0, 3), (G1, 0, 5), (G3, 0, 3),
        (B1, 0, 5), (B2, 0, 3), (R2, 0, 5), (R3, 0, 5)] },
    Mode { regions: 1, transformed: false, precision: 10, deltas: [10, 10, 10], header: 5, code: 0x03, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 9), (G1, 0, 9), (B1, 0, 9)] },
    Mode { regions: 1, transformed: true, precision: 11, deltas: [9, 9, 9], header: 5, code: 0x07, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 8), (R0, 10, 10), (G1, 0, 8), (G0, 10, 10), (B1, 0, 8),
        (B0, 10, 10)] },
    Mode { regions: 1, transformed: true, precision: 12, deltas: [8, 8, 8], header: 5, code: 0x0b, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 7), (R0, 11, 10), (G1, 0, 7), (G0, 11, 10), (B1, 0, 7),
        (B0, 11, 10)] },
    Mode { regions: 1, transformed: true, precision: 16, deltas: [4, 4, 4], header: 5, code: 0x0f, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 3), (R0, 15, 10), (G1, 0, 3), (G0, 15, 10), (B1, 0, 3),
        (B0, 15, 10)] },
];

/// A run of bits that rise: where it begins, how many there are, and the lowest bit of the component they are.
#[derive(Clone, Copy)]
struct Piece {
    at: u32,
    bits: u32,
    to: u32,
}

/// Most pieces of a component.
const MAX_PIECES: usize = 7;

/// The pieces of component `component`; runs that fall are pieces of one bit.
const fn pieces(mode: &Mode, component: u8) -> [Piece; MAX_PIECES] {
    let mut out = [Piece { at: 0, bits: 0, to: 0 }; MAX_PIECES];
    let (mut count, mut at, mut r) = (0, mode.header, 0);
    while r < mode.runs.len() {
        let (of, first, last) = mode.runs[r];
        let (first, last) = (first as u32, last as u32);
        let bits = first.abs_diff(last) + 1;
        let mut i = 0;
        while of == component && i < bits {
            let (to, bits) = if first <= last { (first, bits) } else { (first - i, 1) };
            out[count] = Piece { at: at + i, bits, to };
            count += 1;
            i += bits;
        }
        at += bits;
        r += 1;
    }
    out
}

/// Component `C` of a block of mode `M`.
#[inline(always)]
fn component<const M: usize, const C: u8>(block: u128) -> u32 {
    let mut value = 0;
    for Piece { at, bits, to } in const { pieces(&MODES[M], C) } {
        value |= ((block >> at) as u32 & ((1 << bits) - 1)) << to;
    }
    value
}

/// RGBA of halves, alpha 1; the colour of blocks of reserved modes is all zero.
#[inline(always)]
pub fn bc6h<S: Simd, const SIGNED: bool>(simd: S, width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let block = u128::from_le_bytes(*block);
            let (mode, ends) = match block as u32 & 0x1f {
                low if low & 3 == 0 => (&MODES[0], endpoints::<0, SIGNED>(block)),
                low if low & 3 == 1 => (&MODES[1], endpoints::<1, SIGNED>(block)),
                0x02 => (&MODES[2], endpoints::<2, SIGNED>(block)),
                0x06 => (&MODES[3], endpoints::<3, SIGNED>(block)),
                0x0a => (&MODES[4], endpoints::<4, SIGNED>(block)),
                0x0e => (&MODES[5], endpoints::<5, SIGNED>(block)),
                0x12 => (&MODES[6], endpoints::<6, SIGNED>(block)),
                0x16 => (&MODES[7], endpoints::<7, SIGNED>(block)),
                0x1a => (&MODES[8], endpoints::<8, SIGNED>(block)),
                0x1e => (&MODES[9], endpoints::<9, SIGNED>(block)),
                0x03 => (&MODES[10], endpoints::<10, SIGNED>(block)),
                0x07 => (&MODES[11], endpoints::<11, SIGNED>(block)),
                0x0b => (&MODES[12], endpoints::<12, SIGNED>(block)),
                0x0f => (&MODES[13], endpoints::<13, SIGNED>(block)),
                _ => return by_row([(u64::from(half::ONE) << 48).to_le_bytes(); 16]),
            };
            by_row(texels::<S, SIGNED>(simd, block, mode.regions, &ends).map(u64::to_le_bytes))
        },
    );
}

#[inline(always)]
fn texels<S: Simd, const SIGNED: bool>(
    simd: S,
    block: u128,
    regions: u32,
    ends: &[[i32; 3]; 4],
) -> [u64; 16] {
    let (regions, indices, weights) = if regions == 1 {
        ([0; 16], simd.fields(widen((block >> 65) as u64, 4, 0), 4), &WEIGHTS[4])
    } else {
        let partition = (block >> 77) as usize & 31;
        let indices = widen((block >> 82) as u64, 3, 0);
        let indices = widen(indices, 3, ANCHOR_OF_TWO[partition].into());
        (simd.fields(TWO[partition].into(), 2), simd.fields(indices, 3), &WEIGHTS[3])
    };
    let weights = simd.pick16(weights, &indices);
    let mut halves = [[0; 16]; 3];
    for (c, halves) in halves.iter_mut().enumerate() {
        let (mut from, mut to) = ([0; 16], [0; 16]);
        (from[0], from[1]) = (ends[0][c] as u32, ends[2][c] as u32);
        (to[0], to[1]) = (ends[1][c] as u32, ends[3][c] as u32);
        *halves = simd.mix(&simd.pick16(&from, &regions), &simd.pick16(&to, &regions), &weights);
        for half in halves {
            *half = finished::<SIGNED>(*half as i32);
        }
    }
    let [red, green, blue] = halves;
    let mut texels = [0; 16];
    for (i, texel) in texels.iter_mut().enumerate() {
        let (low, high) = (red[i] | green[i] << 16, blue[i] | u32::from(half::ONE) << 16);
        *texel = u64::from(low) | u64::from(high) << 32;
    }
    texels
}

/// The endpoints, of 16 bits, or of 15 with a sign. Nothing in lanes: compiled once for all instruction sets.
#[inline(never)]
fn endpoints<const M: usize, const SIGNED: bool>(block: u128) -> [[i32; 3]; 4] {
    let mode = const { &MODES[M] };
    let raw = [
        [component::<M, R0>(block), component::<M, G0>(block), component::<M, B0>(block)],
        [component::<M, R1>(block), component::<M, G1>(block), component::<M, B1>(block)],
        [component::<M, R2>(block), component::<M, G2>(block), component::<M, B2>(block)],
        [component::<M, R3>(block), component::<M, G3>(block), component::<M, B3>(block)],
    ];
    let mut out = [[0; 3]; 4];
    for (e, (out, raw_end)) in out.iter_mut().zip(&raw).enumerate().take(2 * mode.regions as usize) {
        for c in 0..3 {
            let mut value = raw_end[c];
            if e > 0 && mode.transformed {
                let delta = extended(value, mode.deltas[c]) as u32;
                value = raw[0][c].wrapping_add(delta) & ((1 << mode.precision) - 1);
            }
            out[c] = if SIGNED {
                unquantized_signed(extended(value, mode.precision), mode.precision)
            } else {
                unquantized(value, mode.precision)
            };
        }
    }
    out
}

/// `value` of `bits` bits as a number with a sign.
#[inline(always)]
fn extended(value: u32, bits: u32) -> i32 {
    (value << (32 - bits)) as i32 >> (32 - bits)
}

#[inline(always)]
fn unquantized(value: u32, precision: u32) -> i32 {
    let spread = ((value << 16) + 0x8000) >> (precision & 15);
    if precision >= 15 || value == 0 {
        value as i32
    } else if value == (1 << precision) - 1 {
        0xffff
    } else {
        spread as i32
    }
}

#[inline(always)]
fn unquantized_signed(value: i32, precision: u32) -> i32 {
    if precision >= 16 || value == 0 {
        return value;
    }
    let magnitude = value.abs();
    let spread = if magnitude >= (1 << (precision - 1)) - 1 {
        0x7fff
    } else {
        ((magnitude << 15) + 0x4000) >> (precision - 1)
    };
    if value < 0 { -spread } else { spread }
}

/// To the bits of a half. The result is never an infinity or a negative zero.
#[inline(always)]
fn finished<const SIGNED: bool>(value: i32) -> u32 {
    if !SIGNED {
        return ((value * 31) >> 6) as u32;
    }
    let magnitude = (value.abs() * 31) >> 5;
    let sign = if value < 0 && magnitude != 0 { 0x8000 } else { 0 };
    magnitude as u32 | sign
}
