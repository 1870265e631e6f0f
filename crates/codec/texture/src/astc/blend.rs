//! Texels between the endpoints, by their weights, component after component over sixteen texels at a time.

use super::endpoint::Pair;
use super::mode::Header;
use super::{ROOM, Scratch};
use crate::half;

/// Components of a texel as bits of the output.
pub type Color = [u16; 4];

/// What a profile makes of endpoints of 16 bits.
pub trait Blend {
    /// Bytes of a texel.
    const BYTES: usize;
    /// Whether endpoints may be logarithms.
    const LOG: bool = false;

    /// The component of a texel at `weight` between `a` and `b`.
    fn linear(a: u16, b: u16, weight: u8) -> u16;

    /// The same of logarithms.
    fn log(a: u16, b: u16, weight: u8) -> u16 {
        half::from_lns(between(a, b, weight))
    }
}

/// Between endpoints of 16 bits, exactly as specified.
#[inline(always)]
const fn between(a: u16, b: u16, weight: u8) -> u32 {
    (a as u32 * (64 - weight as u32) + b as u32 * weight as u32 + 32) >> 6
}

/// Between the high bytes of endpoints, in 64ths.
#[inline(always)]
const fn between_bytes(a: u16, b: u16, weight: u8) -> u16 {
    (a >> 8) * (64 - weight as u16) + (b >> 8) * weight as u16
}

/// The decode mode `unorm8`.
pub struct Unorm8;
/// sRGB.
pub struct Srgb;
/// Low dynamic range in halves.
pub struct Float16;
/// High dynamic range in halves.
pub struct Hdr;

impl Blend for Unorm8 {
    const BYTES: usize = 4;

    /// The high byte of what lies between bytes times 257: with `s` in 64ths of a byte, `(257 s + 32) >> 14`.
    #[inline(always)]
    fn linear(a: u16, b: u16, weight: u8) -> u16 {
        let s = between_bytes(a, b, weight);
        (s + ((s + 32) >> 8)) >> 6
    }
}

impl Blend for Srgb {
    const BYTES: usize = 4;

    /// The high byte of what lies between bytes times 256 plus 128.
    #[inline(always)]
    fn linear(a: u16, b: u16, weight: u8) -> u16 {
        (between_bytes(a, b, weight) + 32) >> 6
    }
}

impl Blend for Float16 {
    const BYTES: usize = 8;

    #[inline(always)]
    fn linear(a: u16, b: u16, weight: u8) -> u16 {
        half::from_unorm16(between(a, b, weight))
    }
}

impl Blend for Hdr {
    const BYTES: usize = 8;
    const LOG: bool = true;

    #[inline(always)]
    fn linear(a: u16, b: u16, weight: u8) -> u16 {
        half::from_unorm16(between(a, b, weight))
    }
}

/// All texels of one colour.
#[inline(always)]
pub fn fill<B: Blend>(color: Color, texels: usize, out: &mut [u8; ROOM * 8]) {
    for first in (0..texels).step_by(16) {
        store::<B>(&color.map(|c| [c; 16]), first, out);
    }
}

/// The texels of a block.
#[inline(always)]
pub fn texels<B: Blend>(
    header: &Header,
    pairs: &[Pair; 4],
    scratch: &Scratch,
    texels: usize,
    out: &mut [u8; ROOM * 8],
) {
    let count = usize::from(header.partitions);
    for first in (0..texels).step_by(16) {
        let mut components = [[0; 16]; 4];
        for (c, component) in components.iter_mut().enumerate() {
            let plane = usize::from(header.second_plane == Some(c as u8));
            let weights: &[u8; 16] = chunk(&scratch.weights[plane], first);
            *component = plain::<B>(&pairs[0], c, weights);
            for (p, pair) in pairs.iter().enumerate().take(count).skip(1) {
                let partitions: &[u8; 16] = chunk(&scratch.partitions, first);
                let other = plain::<B>(pair, c, weights);
                for i in 0..16 {
                    component[i] = if partitions[i] == p as u8 { other[i] } else { component[i] };
                }
            }
        }
        store::<B>(&components, first, out);
    }
}

/// Sixteen of them from `first` on, which is a multiple of 16 below [`ROOM`].
#[inline(always)]
fn chunk(of: &[u8; ROOM], first: usize) -> &[u8; 16] {
    const { assert!(ROOM % 16 == 0) };
    &of.as_chunks::<16>().0[first / 16]
}

/// Component `c` as if all texels were of one partition.
#[inline(always)]
fn plain<B: Blend>(pair: &Pair, c: usize, weights: &[u8; 16]) -> [u16; 16] {
    let [a, b] = [pair.ends[0][c], pair.ends[1][c]];
    if B::LOG && (if c == 3 { pair.log_alpha } else { pair.log_color }) {
        weights.map(|w| B::log(a, b, w))
    } else {
        weights.map(|w| B::linear(a, b, w))
    }
}

/// Interleaves sixteen texels.
#[inline(always)]
fn store<B: Blend>([r, g, b, a]: &[[u16; 16]; 4], first: usize, out: &mut [u8; ROOM * 8]) {
    if B::BYTES == 4 {
        let out = &mut out.as_chunks_mut::<64>().0[first / 16];
        for (i, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let texel = [r, g, b, a].map(|c| u32::from(c[i]));
            *out = (texel[0] | texel[1] << 8 | texel[2] << 16 | texel[3] << 24).to_le_bytes();
        }
    } else {
        let out = &mut out.as_chunks_mut::<128>().0[first / 16];
        for (i, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let texel = [r, g, b, a].map(|c| u64::from(c[i]));
            *out = (texel[0] | texel[1] << 16 | texel[2] << 32 | texel[3] << 48).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short forms are the specification's, over all pairs of bytes and all weights.
    #[test]
    fn bytes_are_the_high_byte_of_16_bits() {
        for (a, b) in (0..256u16).flat_map(|a| (0..256).map(move |b| (a, b))) {
            for weight in 0..=64 {
                let exact = between(a * 257, b * 257, weight) >> 8;
                assert_eq!(u32::from(Unorm8::linear(a * 257, b * 257, weight)), exact);
                let (a, b) = (a << 8 | 0x80, b << 8 | 0x80);
                assert_eq!(u32::from(Srgb::linear(a, b, weight)), between(a, b, weight) >> 8);
            }
        }
    }
}
