//! BC7.

use super::partition::{ANCHOR_OF_TWO, ANCHORS_OF_THREE, THREE, TWO, WEIGHTS, widen};
use super::{Rgba, rgba};
use crate::rows;
use crate::simd::Simd;

/// The fields of a mode, in bits, in the order they lie in a block.
pub struct Mode {
    pub subsets: usize,
    pub partition: u32,
    pub rotation: u32,
    pub selector: u32,
    pub color: u32,
    pub alpha: u32,
    /// A lowest bit for each endpoint.
    pub own_lowest: bool,
    /// A lowest bit for both endpoints of a subset.
    pub shared_lowest: bool,
    pub index: u32,
    pub second_index: u32,
}

const fn mode(subsets: usize, widths: [u32; 5], lowest: [bool; 2], index: u32, second_index: u32) -> Mode {
    let [partition, rotation, selector, color, alpha] = widths;
    let [own_lowest, shared_lowest] = lowest;
    Mode {
        subsets,
        partition,
        rotation,
        selector,
        color,
        alpha,
        own_lowest,
        shared_lowest,
        index,
        second_index,
    }
}

pub const MODES: [Mode; 8] = [
    mode(3, [4, 0, 0, 4, 0], [true, false], 3, 0),
    mode(2, [6, 0, 0, 6, 0], [false, true], 3, 0),
    mode(3, [6, 0, 0, 5, 0], [false, false], 2, 0),
    mode(2, [6, 0, 0, 7, 0], [true, false], 2, 0),
    mode(1, [0, 2, 1, 5, 6], [false, false], 2, 3),
    mode(1, [0, 2, 0, 7, 8], [false, false], 2, 2),
    mode(1, [0, 0, 0, 7, 7], [true, false], 4, 0),
    mode(2, [6, 0, 0, 5, 5], [true, false], 2, 0),
];

/// RGBA8; blocks of the reserved mode are all zero.
#[inline(always)]
pub fn bc7<S: Simd>(simd: S, width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let block = u128::from_le_bytes(*block);
            match (block as u8).trailing_zeros() {
                0 => decode::<S, 0>(simd, block),
                1 => decode::<S, 1>(simd, block),
                2 => decode::<S, 2>(simd, block),
                3 => decode::<S, 3>(simd, block),
                4 => decode::<S, 4>(simd, block),
                5 => decode::<S, 5>(simd, block),
                6 => decode::<S, 6>(simd, block),
                7 => decode::<S, 7>(simd, block),
                _ => [[[0; 4]; 4]; 4],
            }
        },
    );
}

/// Fields from the lowest bit on.
struct Fields(u128);

impl Fields {
    #[inline(always)]
    fn take(&mut self, bits: u32) -> u16 {
        let field = self.0 as u16 & ((1u32 << bits) - 1) as u16;
        self.0 >>= bits;
        field
    }
}

#[inline(always)]
fn decode<S: Simd, const M: usize>(simd: S, block: u128) -> Rgba {
    let mode = const { &MODES[M] };
    let mut fields = Fields(block >> (M + 1));
    let partition = usize::from(fields.take(mode.partition)) & 63;
    let rotation = fields.take(mode.rotation);
    let swapped = fields.take(mode.selector) != 0;
    let endpoints = endpoints(mode, &mut fields);

    let mut indices = fields.0 as u64;
    indices = widen(indices, mode.index, 0);
    let pattern = match mode.subsets {
        2 => {
            indices = widen(indices, mode.index, ANCHOR_OF_TWO[partition].into());
            TWO[partition]
        }
        3 => {
            for anchor in ANCHORS_OF_THREE[partition] {
                indices = widen(indices, mode.index, anchor.into());
            }
            THREE[partition]
        }
        _ => 0,
    };
    if mode.second_index == 0 {
        return rgba(one_index(simd, mode, &endpoints, indices, pattern));
    }
    let second = widen((fields.0 >> (16 * mode.index - 1)) as u64, mode.second_index, 0);
    let mut texels = if swapped {
        two_indices(simd, &endpoints[0], (second, mode.second_index), (indices, mode.index))
    } else {
        two_indices(simd, &endpoints[0], (indices, mode.index), (second, mode.second_index))
    };
    for texel in &mut texels {
        *texel = rotated(*texel, rotation);
    }
    rgba(texels)
}

/// Both endpoints of the subsets in eight bits, RGBA.
#[inline(always)]
fn endpoints(mode: &Mode, fields: &mut Fields) -> [[[u16; 4]; 2]; 4] {
    let mut out = [[[0; 4]; 2]; 4];
    let components = if mode.alpha == 0 { 3 } else { 4 };
    for c in 0..components {
        for subset in out.iter_mut().take(mode.subsets) {
            for end in subset {
                end[c] = fields.take(if c == 3 { mode.alpha } else { mode.color });
            }
        }
    }
    let mut lowest = [[0; 2]; 4];
    for subset in lowest.iter_mut().take(mode.subsets) {
        if mode.own_lowest {
            *subset = [fields.take(1), fields.take(1)];
        } else if mode.shared_lowest {
            *subset = [fields.take(1); 2];
        }
    }
    let extra = u32::from(mode.own_lowest || mode.shared_lowest);
    for (subset, lowest) in out.iter_mut().zip(lowest).take(mode.subsets) {
        for (end, lowest) in subset.iter_mut().zip(lowest) {
            for (c, value) in end.iter_mut().enumerate() {
                let bits = extra + if c == 3 { mode.alpha } else { mode.color };
                let high = (*value << extra | lowest) << (8 - bits);
                *value = high | high >> bits;
            }
            if components == 3 {
                end[3] = 255;
            }
        }
    }
    out
}

#[inline(always)]
fn blend(a: u16, b: u16, weight: u32) -> u32 {
    (u32::from(a) * (64 - weight) + u32::from(b) * weight + 32) >> 6
}

/// What lies between two endpoints, by index of `bits` bits.
#[inline(always)]
fn ramp(ends: &[[u16; 4]; 2], bits: u32, out: &mut [u32]) {
    for (color, &weight) in out.iter_mut().zip(&WEIGHTS[bits as usize]).take(1 << bits) {
        *color = (0..4).fold(0, |color, c| color | blend(ends[0][c], ends[1][c], weight) << (8 * c));
    }
}

#[inline(always)]
fn one_index<S: Simd>(
    simd: S,
    mode: &Mode,
    endpoints: &[[[u16; 4]; 2]; 4],
    indices: u64,
    pattern: u32,
) -> [u32; 16] {
    let mut palette = [0; 32];
    for (subset, ends) in endpoints.iter().enumerate().take(mode.subsets) {
        ramp(ends, mode.index, &mut palette[subset << mode.index..]);
    }
    let mut at = simd.fields(indices, mode.index);
    if mode.subsets > 1 {
        for (at, subset) in at.iter_mut().zip(simd.fields(pattern.into(), 2)) {
            *at |= subset << mode.index;
        }
    }
    let [low, high] = palette.as_chunks().0 else { return [0; 16] };
    let mut texels = simd.pick16(low, &at);
    if mode.subsets << mode.index > 16 {
        let high = simd.pick16(high, &at);
        for (i, texel) in texels.iter_mut().enumerate() {
            *texel = if at[i] & 16 != 0 { high[i] } else { *texel };
        }
    }
    texels
}

/// Colour by the first of `(indices, bits)`, alpha by the second.
#[inline(always)]
fn two_indices<S: Simd>(simd: S, ends: &[[u16; 4]; 2], color: (u64, u32), alpha: (u64, u32)) -> [u32; 16] {
    let (mut colors, mut alphas) = ([0; 16], [0; 16]);
    ramp(ends, color.1, &mut colors);
    ramp(ends, alpha.1, &mut alphas);
    let mut texels = simd.pick16(&colors, &simd.fields(color.0, color.1));
    let alphas = simd.pick16(&alphas, &simd.fields(alpha.0, alpha.1));
    for (texel, alpha) in texels.iter_mut().zip(alphas) {
        *texel = *texel & 0xff_ffff | alpha & 0xff00_0000;
    }
    texels
}

/// Alpha exchanged with red, green or blue.
#[inline(always)]
fn rotated(texel: u32, rotation: u16) -> u32 {
    if rotation == 0 {
        return texel;
    }
    let shift = 8 * (u32::from(rotation) - 1);
    let difference = (texel >> shift ^ texel >> 24) & 0xff;
    texel ^ difference << shift ^ difference << 24
}
