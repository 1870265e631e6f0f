//! UASTC unpacked to end points, weights and texels: all that depends on a mode is constant.

use super::uastc::{self, Components, Endpoints, Layout, MODES};
use crate::astc::ise;
use crate::bc::partition::widen;
use crate::rows;
use crate::simd::Simd;

/// An expression of which `$m` is the number of a mode of interpolated blocks, a constant; nothing for other numbers.
macro_rules! for_mode {
    ($mode:expr, $m:ident => $found:expr) => {
        for_mode!($mode, $m => $found; 0 1 2 3 4 5 6 7 9 10 11 12 13 14 15 16 17 18)
    };
    ($mode:expr, $m:ident => $found:expr; $($number:literal)*) => {
        match $mode {
            $($number => {
                const $m: usize = $number;
                $found
            })*
            _ => None,
        }
    };
}
pub(super) use for_mode;

/// RGBA8 of rows of blocks.
#[inline(always)]
pub fn decode<S: Simd>(simd: S, width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let texels = texels(simd, block);
            let mut out = [[[0; 4]; 4]; 4];
            for (out, texels) in out.iter_mut().zip(texels.as_chunks().0) {
                *out = *texels;
            }
            out
        },
    );
}

/// RGBA of a block's texels, row by row; magenta of one that is an error.
#[inline(always)]
pub fn texels<S: Simd>(simd: S, block: &[u8; 16]) -> [[u8; 4]; 16] {
    let bits = u128::from_le_bytes(*block);
    let found = match uastc::mode_of(block) {
        uastc::SOLID => Some([uastc::color_of_solid(bits); 16]),
        mode => for_mode!(mode, M => interpolated::<S, M>(simd, bits)),
    };
    found.unwrap_or([uastc::ERROR; 16])
}

/// The texels of a block of mode `M`. Nothing for a block that is an error.
#[inline(always)]
fn interpolated<S: Simd, const M: usize>(simd: S, bits: u128) -> Option<[[u8; 4]; 16]> {
    let (layout, mode) = const { (Layout::of(M), &MODES[M]) };
    let patterns = const { uastc::patterns(M) };
    let pattern = patterns.get(field(bits, layout.pattern, layout.pattern_bits))?;
    let ends = endpoints::<M>(bits)?.map(|ends| ends.map(u32::from_le_bytes));
    // Of each texel both ends, and the weights of its components.
    let [mut from, mut to] = ends[0].map(|end| [end; 16]);
    if mode.subsets > 1 {
        let subsets = simd.fields(pattern.subsets.into(), 2);
        let [a, b, c] = ends;
        let mut tables = [[0; 16]; 2];
        for (end, table) in tables.iter_mut().enumerate() {
            [table[0], table[1], table[2]] = [a[end], b[end], c[end]];
        }
        [from, to] = [simd.pick16(&tables[0], &subsets), simd.pick16(&tables[1], &subsets)];
    }
    const ALL: u32 = 0x0101_0101;
    let mut shares = [0; 16];
    if mode.dual {
        let mask = 0xff << (8 * second::<M>(bits));
        let [first, second] = indices_of_planes::<S, M>(simd, bits);
        let table = const { &weights_of::<M>() };
        let (first, second) = (simd.pick16(table, &first), simd.pick16(table, &second));
        for (i, share) in shares.iter_mut().enumerate() {
            *share = (first[i] * ALL) & !mask | (second[i] * ALL) & mask;
        }
    } else {
        for (share, weight) in shares.iter_mut().zip(weights::<S, M>(simd, bits, pattern.anchors)) {
            *share = weight * ALL;
        }
    }
    let mut out = [[0; 4]; 16];
    for (i, out) in out.iter_mut().enumerate() {
        let [from, to, shares] = [from[i], to[i], shares[i]].map(u32::to_le_bytes);
        for c in 0..4 {
            let low = i16::from(from[c]);
            out[c] = mixed(low, i16::from(to[c]) - low, shares[c].into());
        }
    }
    Some(out)
}

/// What is `share` of 64 of the way from `low` on: of sixteen bits, as 257 times eight bits are, the high byte.
#[inline(always)]
pub fn mixed(low: i16, way: i16, share: i16) -> u8 {
    let sum = low * 64 + way * share;
    ((sum + ((sum + 32) >> 8)) >> 6) as u8
}

/// `count` bits of a block.
#[inline(always)]
pub const fn field(bits: u128, at: u32, count: u32) -> usize {
    (bits >> at) as usize & ((1 << count) - 1)
}

/// The digits of numbers that five digits of three share, two bits each.
static TRITS: [u16; 256] = digits(3, 5, 2);

/// The digits of numbers that three digits of five share, three bits each.
static QUINTS: [u16; 128] = digits(5, 3, 3);

const fn digits<const N: usize>(radix: usize, count: u32, width: u32) -> [u16; N] {
    let (mut out, mut number) = ([0; N], 0);
    while number < N {
        let (mut rest, mut digit) = (number, 0);
        while digit < count {
            out[number] |= ((rest % radix) as u16) << (digit * width);
            rest /= radix;
            digit += 1;
        }
        number += 1;
    }
    out
}

/// End points of eight bits of the subsets of mode `M`. Nothing for a block that is an error.
#[inline(always)]
pub fn endpoints<const M: usize>(bits: u128) -> Option<[Endpoints; 3]> {
    Some(endpoints_of::<M>(&values::<M>(bits)?))
}

/// Endpoint values of mode `M` as they are coded, a digit of three or five above bits: low and high of each component, subset after
/// subset. Nothing for a block that is an error.
#[inline(always)]
pub fn values<const M: usize>(bits: u128) -> Option<[u8; 18]> {
    let (layout, mode) = const { (Layout::of(M), &MODES[M]) };
    if layout.multiplier.is_some_and(|at| field(bits, at, 4) == 0) {
        return None;
    }
    let levels = const { ise::LEVELS[MODES[M].levels as usize] };
    let (low, count) = (levels.low_bits(), mode.components.values() * mode.subsets as usize);
    let mut values = [0; 18];
    for (i, value) in values.iter_mut().enumerate().take(count) {
        // The last group of digits has only the bits that it needs, and those above them are of other fields.
        let digit = match levels.radix() {
            3 => {
                let width = [0, 2, 4, 5, 7, 8][(count - i / 5 * 5).min(5)];
                usize::from(TRITS[field(bits, layout.digits + 8 * (i as u32 / 5), width)]) >> (2 * (i % 5))
                    & 3
            }
            5 => {
                let width = [0, 3, 5, 7][(count - i / 3 * 3).min(3)];
                usize::from(QUINTS[field(bits, layout.digits + 7 * (i as u32 / 3), width)]) >> (3 * (i % 3))
                    & 7
            }
            _ => 0,
        };
        *value = (digit << low | field(bits, layout.low_bits + low * i as u32, low)) as u8;
    }
    Some(values)
}

/// End points of eight bits by the values of mode `M`.
#[inline(always)]
pub fn endpoints_of<const M: usize>(values: &[u8; 18]) -> [Endpoints; 3] {
    let (mode, table) = const { (&MODES[M], &ise::VALUES[MODES[M].levels as usize]) };
    let mut out = [[[255; 4]; 2]; 3];
    for (subset, ends) in out.iter_mut().enumerate().take(mode.subsets.into()) {
        let first = subset * mode.components.values();
        for (end, components) in ends.iter_mut().enumerate() {
            let places: &[usize] = match mode.components {
                Components::Rgb => &[0, 2, 4],
                Components::Rgba => &[0, 2, 4, 6],
                Components::La => &[0, 0, 0, 2],
            };
            for (component, place) in components.iter_mut().zip(places) {
                *component = table[usize::from(values[(first + place + end) % values.len()])];
            }
        }
    }
    out
}

/// Weights of mode `M`, of up to four bits.
pub const fn weights_of<const M: usize>() -> [u32; 16] {
    let row = &ise::WEIGHTS[MODES[M].weight_row()];
    let (mut out, mut i) = ([0; 16], 0);
    while i < 16 {
        out[i] = row[i] as u32;
        i += 1;
    }
    out
}

/// The weights of a block of mode `M`, which has one plane. `anchors` has a bit for each texel whose index has no highest bit.
#[inline(always)]
pub fn weights<S: Simd, const M: usize>(simd: S, bits: u128, anchors: u16) -> [u32; 16] {
    let mut indices = indices::<S, M>(simd, bits, anchors);
    if const { MODES[M].weight_bits } == 5 {
        for index in &mut indices {
            *index = 2 * (*index + (*index >> 4));
        }
        return indices;
    }
    simd.pick16(const { &weights_of::<M>() }, &indices)
}

/// The indices of these weights.
#[inline(always)]
pub fn indices<S: Simd, const M: usize>(simd: S, bits: u128, mut anchors: u16) -> [u32; 16] {
    let (layout, mode) = const { (Layout::of(M), &MODES[M]) };
    let width = u32::from(mode.weight_bits);
    let packed = bits >> layout.weights;
    if width == 5 {
        // One subset, whose first texel is its anchor.
        let packed = packed & 0xf | (packed & !0xf) << 1;
        let mut indices = [0; 16];
        for (texel, index) in indices.iter_mut().enumerate() {
            *index = field(packed, 5 * texel as u32, 5) as u32;
        }
        return indices;
    }
    let mut packed = packed as u64;
    for _ in 0..mode.subsets {
        packed = widen(packed, width, anchors.trailing_zeros() % 16);
        anchors &= anchors.wrapping_sub(1);
    }
    simd.fields(packed, width)
}

/// The indices of both planes of a block of mode `M`. Those of a texel lie side by side.
#[inline(always)]
pub fn indices_of_planes<S: Simd, const M: usize>(simd: S, bits: u128) -> [[u32; 16]; 2] {
    let (layout, mode) = const { (Layout::of(M), &MODES[M]) };
    let width = u32::from(mode.weight_bits);
    let packed = (bits >> layout.weights) as u64;
    // The first texel's have no highest bit.
    let packed = match width {
        1 => packed << 2,
        _ => packed & 1 | (packed & 2) << 1 | (packed & !3) << 2,
    };
    let pairs = simd.fields(packed, 2 * width);
    let (mut first, mut second) = (pairs, pairs);
    for (first, second) in first.iter_mut().zip(&mut second) {
        *first &= (1 << width) - 1;
        *second >>= width;
    }
    [first, second]
}

/// The component that has weights of its own in a block of mode `M`.
#[inline(always)]
pub fn second<const M: usize>(bits: u128) -> usize {
    if M == 17 { 3 } else { field(bits, const { Layout::of(M).second }, 2) }
}
