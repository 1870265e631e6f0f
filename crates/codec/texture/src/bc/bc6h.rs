//! BC6H.

use super::by_row;
use super::partition::{ANCHOR_OF_TWO, TWO, WEIGHTS, widen};
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
    /// Bits before the runs.
    pub header: u32,
    pub runs: &'static [Run],
}

#[rustfmt::skip]
pub const MODES: [Mode; 14] = [
    Mode { regions: 2, transformed: true, precision: 10, deltas: [5, 5, 5], header: 2, runs: &[
        (G2, 4, 4), (B2, 4, 4), (B3, 4, 4), (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 4), (G3, 4, 4), (G2, 0, 3),
        (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4), (B3, 2, 2), (R3, 0, 4),
        (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 7, deltas: [6, 6, 6], header: 2, runs: &[
        (G2, 5, 5), (G3, 4, 5), (R0, 0, 6), (B3, 0, 1), (B2, 4, 4), (G0, 0, 6), (B2, 5, 5), (B3, 2, 2), (G2, 4, 4),
        (B0, 0, 6), (B3, 3, 3), (B3, 5, 5), (B3, 4, 4), (R1, 0, 5), (G2, 0, 3), (G1, 0, 5), (G3, 0, 3), (B1, 0, 5),
        (B2, 0, 3), (R2, 0, 5), (R3, 0, 5)] },
    Mode { regions: 2, transformed: true, precision: 11, deltas: [5, 4, 4], header: 5, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 4), (R0, 10, 10), (G2, 0, 3), (G1, 0, 3), (G0, 10, 10),
        (B3, 0, 0), (G3, 0, 3), (B1, 0, 3), (B0, 10, 10), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4), (B3, 2, 2),
        (R3, 0, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 11, deltas: [4, 5, 4], header: 5, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 3), (R0, 10, 10), (G3, 4, 4), (G2, 0, 3), (G1, 0, 4),
        (G0, 10, 10), (G3, 0, 3), (B1, 0, 3), (B0, 10, 10), (B3, 1, 1), (B2, 0, 3), (R2, 0, 3), (B3, 0, 0),
        (B3, 2, 2), (R3, 0, 3), (G2, 4, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 11, deltas: [4, 4, 5], header: 5, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 3), (R0, 10, 10), (B2, 4, 4), (G2, 0, 3), (G1, 0, 3),
        (G0, 10, 10), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B0, 10, 10), (B2, 0, 3), (R2, 0, 3), (B3, 1, 1),
        (B3, 2, 2), (R3, 0, 3), (B3, 4, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 9, deltas: [5, 5, 5], header: 5, runs: &[
        (R0, 0, 8), (B2, 4, 4), (G0, 0, 8), (G2, 4, 4), (B0, 0, 8), (B3, 4, 4), (R1, 0, 4), (G3, 4, 4), (G2, 0, 3),
        (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4), (B3, 2, 2), (R3, 0, 4),
        (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 8, deltas: [6, 5, 5], header: 5, runs: &[
        (R0, 0, 7), (G3, 4, 4), (B2, 4, 4), (G0, 0, 7), (B3, 2, 2), (G2, 4, 4), (B0, 0, 7), (B3, 3, 4), (R1, 0, 5),
        (G2, 0, 3), (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 5),
        (R3, 0, 5)] },
    Mode { regions: 2, transformed: true, precision: 8, deltas: [5, 6, 5], header: 5, runs: &[
        (R0, 0, 7), (B3, 0, 0), (B2, 4, 4), (G0, 0, 7), (G2, 5, 5), (G2, 4, 4), (B0, 0, 7), (G3, 5, 5), (B3, 4, 4),
        (R1, 0, 4), (G3, 4, 4), (G2, 0, 3), (G1, 0, 5), (G3, 0, 3), (B1, 0, 4), (B3, 1, 1), (B2, 0, 3), (R2, 0, 4),
        (B3, 2, 2), (R3, 0, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: true, precision: 8, deltas: [5, 5, 6], header: 5, runs: &[
        (R0, 0, 7), (B3, 1, 1), (B2, 4, 4), (G0, 0, 7), (B2, 5, 5), (G2, 4, 4), (B0, 0, 7), (B3, 5, 5), (B3, 4, 4),
        (R1, 0, 4), (G3, 4, 4), (G2, 0, 3), (G1, 0, 4), (B3, 0, 0), (G3, 0, 3), (B1, 0, 5), (B2, 0, 3), (R2, 0, 4),
        (B3, 2, 2), (R3, 0, 4), (B3, 3, 3)] },
    Mode { regions: 2, transformed: false, precision: 6, deltas: [6, 6, 6], header: 5, runs: &[
        (R0, 0, 5), (G3, 4, 4), (B3, 0, 1), (B2, 4, 4), (G0, 0, 5), (G2, 5, 5), (B2, 5, 5), (B3, 2, 2), (G2, 4, 4),
        (B0, 0, 5), (G3, 5, 5), (B3, 3, 3), (B3, 5, 5), (B3, 4, 4), (R1, 0, 5), (G2, 0, 3), (G1, 0, 5), (G3, 0, 3),
        (B1, 0, 5), (B2, 0, 3), (R2, 0, 5), (R3, 0, 5)] },
    Mode { regions: 1, transformed: false, precision: 10, deltas: [10, 10, 10], header: 5, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 9), (G1, 0, 9), (B1, 0, 9)] },
    Mode { regions: 1, transformed: true, precision: 11, deltas: [9, 9, 9], header: 5, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 8), (R0, 10, 10), (G1, 0, 8), (G0, 10, 10), (B1, 0, 8),
        (B0, 10, 10)] },
    Mode { regions: 1, transformed: true, precision: 12, deltas: [8, 8, 8], header: 5, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 7), (R0, 11, 10), (G1, 0, 7), (G0, 11, 10), (B1, 0, 7),
        (B0, 11, 10)] },
    Mode { regions: 1, transformed: true, precision: 16, deltas: [4, 4, 4], header: 5, runs: &[
        (R0, 0, 9), (G0, 0, 9), (B0, 0, 9), (R1, 0, 3), (R0, 15, 10), (G1, 0, 3), (G0, 15, 10), (B1, 0, 3),
        (B0, 15, 10)] },
];

/// RGBA of halves, alpha 1; the colour of blocks of reserved modes is all zero.
#[inline(always)]
pub fn bc6h<const SIGNED: bool>(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let block = u128::from_le_bytes(*block);
            let texels = match block as u32 & 0x1f {
                low if low & 3 == 0 => decode::<0, SIGNED>(block),
                low if low & 3 == 1 => decode::<1, SIGNED>(block),
                0x02 => decode::<2, SIGNED>(block),
                0x06 => decode::<3, SIGNED>(block),
                0x0a => decode::<4, SIGNED>(block),
                0x0e => decode::<5, SIGNED>(block),
                0x12 => decode::<6, SIGNED>(block),
                0x16 => decode::<7, SIGNED>(block),
                0x1a => decode::<8, SIGNED>(block),
                0x1e => decode::<9, SIGNED>(block),
                0x03 => decode::<10, SIGNED>(block),
                0x07 => decode::<11, SIGNED>(block),
                0x0b => decode::<12, SIGNED>(block),
                0x0f => decode::<13, SIGNED>(block),
                _ => [u64::from(half::ONE) << 48; 16],
            };
            by_row(texels.map(u64::to_le_bytes))
        },
    );
}

#[inline(always)]
fn decode<const M: usize, const SIGNED: bool>(block: u128) -> [u64; 16] {
    let mode = const { &MODES[M] };
    let ends = endpoints::<SIGNED>(mode, block);
    if mode.regions == 1 {
        let indices = widen((block >> 65) as u64, 4, 0);
        let mut palette = [0; 16];
        ramp::<SIGNED>(&ends[0], &ends[1], 4, &mut palette);
        return std::array::from_fn(|i| palette[(indices >> (4 * i)) as usize & 15]);
    }
    let partition = (block >> 77) as usize & 31;
    let indices = widen((block >> 82) as u64, 3, 0);
    let indices = widen(indices, 3, ANCHOR_OF_TWO[partition].into());
    let mut palette = [0; 16];
    let (first, second) = palette.split_at_mut(8);
    ramp::<SIGNED>(&ends[0], &ends[1], 3, first);
    ramp::<SIGNED>(&ends[2], &ends[3], 3, second);
    let pattern = TWO[partition];
    std::array::from_fn(|i| {
        let region = (pattern >> (2 * i)) as usize & 1;
        palette[region << 3 | (indices >> (3 * i)) as usize & 7]
    })
}

/// The endpoints, of 16 bits, or of 15 with a sign.
#[inline(always)]
fn endpoints<const SIGNED: bool>(mode: &Mode, block: u128) -> [[i32; 3]; 4] {
    let mut raw = [0u32; 12];
    let mut at = mode.header;
    for &(component, first, last) in mode.runs {
        let bits = u32::from(first.abs_diff(last)) + 1;
        let field = (block >> at) as u32 & ((1 << bits) - 1);
        at += bits;
        raw[usize::from(component)] |=
            if first <= last { field << first } else { field.reverse_bits() >> (32 - bits) << last };
    }
    let count = 2 * mode.regions as usize;
    let mut out = [[0; 3]; 4];
    for c in 0..3 {
        let base = raw[c];
        for e in 0..count {
            let mut value = raw[3 * e + c];
            if e > 0 && mode.transformed {
                let delta = extended(value, mode.deltas[c]) as u32;
                value = base.wrapping_add(delta) & ((1 << mode.precision) - 1);
            }
            out[e][c] = if SIGNED {
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

/// What lies between two endpoints, by index, as RGBA of halves.
#[inline(always)]
fn ramp<const SIGNED: bool>(a: &[i32; 3], b: &[i32; 3], bits: u32, out: &mut [u64]) {
    for (texel, &weight) in out.iter_mut().zip(WEIGHTS[bits as usize]) {
        let weight = i32::from(weight);
        *texel = (0..3).fold(u64::from(half::ONE) << 48, |texel, c| {
            let value = (a[c] * (64 - weight) + b[c] * weight + 32) >> 6;
            texel | u64::from(finished::<SIGNED>(value)) << (16 * c)
        });
    }
}

/// To the bits of a half, of which no result is an infinity or a negative zero.
#[inline(always)]
fn finished<const SIGNED: bool>(value: i32) -> u16 {
    if !SIGNED {
        return ((value * 31) >> 6) as u16;
    }
    let magnitude = ((value.abs() * 31) >> 5) as u16;
    if value < 0 && magnitude != 0 { magnitude | 0x8000 } else { magnitude }
}
