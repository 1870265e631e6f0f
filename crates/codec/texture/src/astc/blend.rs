//! Texels between the endpoints, by their weights, component after component over a chunk at a time.

use super::endpoint::{Endpoints, Logs, Own};
use super::mode::Header;
use super::shape::Shape;
use super::{CHUNK, ROOM, Scratch};
use crate::half;
use crate::lanes::{chosen, mask};

/// Components of a texel as bits of the output.
pub type Color = [u16; 4];

/// What a profile makes of endpoints of 16 bits.
pub trait Blend {
    /// Bytes of a texel.
    const BYTES: usize;
    /// Whether there may be logarithms.
    const LOGS: bool = false;

    /// The component of a texel at `weight` between `a` and `b`, which are logarithms where `log` is all ones.
    fn component(a: u16, b: u16, weight: u16, log: u16) -> u16;
}

/// Between endpoints of 16 bits, exactly as specified: `(64 - weight) a + weight b + 32` in 64ths. The high ten bits and
/// the low six each stay within 16.
#[inline(always)]
const fn between(a: u16, b: u16, weight: u16) -> u16 {
    let high = (b >> 6).wrapping_sub(a >> 6).wrapping_mul(weight).wrapping_add(a & !63);
    let low = (b & 63).wrapping_sub(a & 63).wrapping_mul(weight).wrapping_add((a & 63) << 6);
    high.wrapping_add((low.wrapping_add(32)) >> 6)
}

/// Between the high bytes of endpoints, in 64ths.
#[inline(always)]
const fn between_bytes(a: u16, b: u16, weight: u16) -> u16 {
    let (a, b) = (a >> 8, b >> 8);
    b.wrapping_sub(a).wrapping_mul(weight).wrapping_add(a << 6)
}

/// The decode mode `unorm8`.
pub struct Unorm8;
/// sRGB.
pub struct Srgb;
/// Low dynamic range in halves.
pub struct Float16;
/// High dynamic range in halves.
pub struct Hdr;
/// The same where all components are logarithms. Where none is, it is [`Float16`].
struct Logarithms;

impl Blend for Unorm8 {
    const BYTES: usize = 4;

    /// The high byte of the interpolation between two bytes, each times 257: with `s` in 64ths of a byte,
    /// `(257 s + 32) >> 14`.
    #[inline(always)]
    fn component(a: u16, b: u16, weight: u16, _log: u16) -> u16 {
        let s = between_bytes(a, b, weight);
        (s + ((s + 32) >> 8)) >> 6
    }
}

impl Blend for Srgb {
    const BYTES: usize = 4;

    /// The high byte of the interpolation between two bytes, each times 256 plus 128.
    #[inline(always)]
    fn component(a: u16, b: u16, weight: u16, _log: u16) -> u16 {
        (between_bytes(a, b, weight) + 32) >> 6
    }
}

impl Blend for Float16 {
    const BYTES: usize = 8;

    #[inline(always)]
    fn component(a: u16, b: u16, weight: u16, _log: u16) -> u16 {
        half::from_unorm16(between(a, b, weight))
    }
}

impl Blend for Hdr {
    const BYTES: usize = 8;
    const LOGS: bool = true;

    #[inline(always)]
    fn component(a: u16, b: u16, weight: u16, log: u16) -> u16 {
        chosen(log, Logarithms::component(a, b, weight, log), Float16::component(a, b, weight, log))
    }
}

impl Blend for Logarithms {
    const BYTES: usize = 8;

    #[inline(always)]
    fn component(a: u16, b: u16, weight: u16, _log: u16) -> u16 {
        half::from_lns(between(a, b, weight))
    }
}

/// All texels of one colour.
#[inline(always)]
pub fn fill<B: Blend>(color: Color, texels: usize, out: &mut [u8; ROOM * 8]) {
    let [r, g, b, a] = color.map(u64::from);
    if B::BYTES == 4 {
        let texel = (r | g << 8 | b << 16 | a << 24) as u32;
        out.as_chunks_mut().0[..texels].fill(texel.to_le_bytes());
    } else {
        let texel = r | g << 16 | b << 32 | a << 48;
        out.as_chunks_mut().0[..texels].fill(texel.to_le_bytes());
    }
}

/// Texels of the smallest flat blocks.
const SMALLEST: usize = 16;

/// The texels of a block, and what is behind them in their last chunk.
#[inline(always)]
pub fn texels<B: Blend>(
    header: &Header,
    endpoints: (&Endpoints, Own),
    scratch: &Scratch,
    shape: &Shape,
    out: &mut [u8; ROOM * 8],
) {
    match endpoints.1.logs {
        Logs::None if B::LOGS => by_count::<Float16>(header, endpoints, scratch, shape, out),
        Logs::All if B::LOGS => by_count::<Logarithms>(header, endpoints, scratch, shape, out),
        _ => by_count::<B>(header, endpoints, scratch, shape, out),
    }
}

#[inline(always)]
fn by_count<B: Blend>(
    header: &Header,
    endpoints: (&Endpoints, Own),
    scratch: &Scratch,
    shape: &Shape,
    out: &mut [u8; ROOM * 8],
) {
    match header.partitions {
        1 => partitioned::<B, 1>(header, endpoints, scratch, shape, out),
        2 => partitioned::<B, 2>(header, endpoints, scratch, shape, out),
        _ => partitioned::<B, 4>(header, endpoints, scratch, shape, out),
    }
}

/// The texels of a block of up to `P` partitions.
#[inline(always)]
fn partitioned<B: Blend, const P: usize>(
    header: &Header,
    endpoints: (&Endpoints, Own),
    scratch: &Scratch,
    shape: &Shape,
    out: &mut [u8; ROOM * 8],
) {
    // Halves are made of singles, which are twice as wide as all else.
    if B::BYTES == 8 && shape.texels == SMALLEST {
        chunks::<B, P, SMALLEST>(header, endpoints, scratch, 1, out);
    } else {
        chunks::<B, P, CHUNK>(header, endpoints, scratch, shape.chunks(), out);
    }
}

/// `count` times `N` texels.
#[inline(always)]
fn chunks<B: Blend, const P: usize, const N: usize>(
    header: &Header,
    endpoints: (&Endpoints, Own),
    scratch: &Scratch,
    count: usize,
    out: &mut [u8; ROOM * 8],
) {
    let [first, second] = &scratch.weights;
    let weights = first.as_chunks().0.iter().zip(second.as_chunks().0);
    let partitions = scratch.partitions.as_chunks().0;
    let out = out.chunks_exact_mut(N * B::BYTES);
    for (((first, second), partitions), out) in weights.zip(partitions).zip(out).take(count) {
        let mut components = [[0; N]; 4];
        for (c, component) in components.iter_mut().enumerate() {
            let weights = if header.second_plane == Some(c as u8) { second } else { first };
            *component = blended::<B, P, N>(endpoints, c, weights, partitions);
        }
        store::<B, N>(&components, out);
    }
}

/// Component `c` of texels.
#[inline(always)]
fn blended<B: Blend, const P: usize, const N: usize>(
    (endpoints, own): (&Endpoints, Own),
    c: usize,
    weights: &[u8; N],
    partitions: &[u8; N],
) -> [u16; N] {
    let [first, second, log_of] = endpoints.component(c, own);
    let mut out = [0; N];
    for i in 0..N {
        let (mut a, mut b, mut log) = (first[0], second[0], log_of[0]);
        if P > 1 {
            let here = mask(partitions[i] == 1);
            (a, b, log) =
                (chosen(here, first[1], a), chosen(here, second[1], b), chosen(here, log_of[1], log));
        }
        if P > 2 {
            let here = mask(partitions[i] == 2);
            (a, b, log) =
                (chosen(here, first[2], a), chosen(here, second[2], b), chosen(here, log_of[2], log));
            let here = mask(partitions[i] == 3);
            (a, b, log) =
                (chosen(here, first[3], a), chosen(here, second[3], b), chosen(here, log_of[3], log));
        }
        out[i] = B::component(a, b, weights[i].into(), log);
    }
    out
}

/// Interleaves the components of texels.
#[inline(always)]
fn store<B: Blend, const N: usize>([r, g, b, a]: &[[u16; N]; 4], out: &mut [u8]) {
    if B::BYTES == 4 {
        for (i, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate().take(N) {
            let (rg, ba) = (r[i] | g[i] << 8, b[i] | a[i] << 8);
            *out = (u32::from(rg) | u32::from(ba) << 16).to_le_bytes();
        }
    } else {
        for (i, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate().take(N) {
            let rg = u32::from(r[i]) | u32::from(g[i]) << 16;
            let ba = u32::from(b[i]) | u32::from(a[i]) << 16;
            *out = (u64::from(rg) | u64::from(ba) << 32).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the specification writes it.
    fn exact(a: u16, b: u16, weight: u16) -> u32 {
        (u32::from(a) * u32::from(64 - weight) + u32::from(b) * u32::from(weight) + 32) >> 6
    }

    /// The short forms are the specification's, over all pairs of bytes and all weights.
    #[test]
    fn bytes_are_the_high_byte_of_16_bits() {
        for (a, b) in (0..256u16).flat_map(|a| (0..256).map(move |b| (a, b))) {
            for weight in 0..=64 {
                let byte = |a, b, component: u16| assert_eq!(u32::from(component), exact(a, b, weight) >> 8);
                let (x, y) = (a * 257, b * 257);
                byte(x, y, Unorm8::component(x, y, weight, 0));
                let (x, y) = (a << 8 | 0x80, b << 8 | 0x80);
                byte(x, y, Srgb::component(x, y, weight, 0));
            }
        }
    }

    /// Every 16 bits against every end of the range and every pattern of bits near the seam.
    #[test]
    fn sixteen_bits_suffice() {
        for a in 0..=u16::MAX {
            for b in [0, 1, 31, 32, 63, 64, 65, 0x7fff, 0x8000, 0xffbf, 0xffc0, 0xffff, a.rotate_left(7)] {
                for weight in [0, 1, 21, 31, 32, 33, 63, 64] {
                    assert_eq!(u32::from(between(a, b, weight)), exact(a, b, weight));
                }
            }
        }
    }
}
