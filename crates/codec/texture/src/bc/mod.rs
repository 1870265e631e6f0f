//! BC1 to BC7.
//!
//! BC1 to BC5 leave their rounding to the decoder; here results are the exact fractions rounded to the nearest, to 8
//! bits where the texel has four components and to 16 where it has one or two.

pub(crate) mod bc6h;
pub(crate) mod bc7;
pub(crate) mod color;
pub(crate) mod partition;
mod ramp;

pub use bc6h::bc6h;
pub use bc7::bc7;

use crate::rows::{self, BATCH};
use crate::simd::Simd;

/// A row of texels as components.
type Rgba = [[[u8; 4]; 4]; 4];

/// RGBA8: with one bit of alpha where `ALPHA`, else opaque.
#[inline(always)]
pub fn bc1<S: Simd, const ALPHA: bool>(simd: S, width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode_prepared(
        width,
        data,
        out,
        #[inline(always)]
        |blocks: &[[u8; 8]], palettes: &mut [_; BATCH]| {
            for (palette, block) in palettes.iter_mut().zip(blocks) {
                *palette = color::palette::<false, ALPHA>(u64::from_le_bytes(*block) as u32);
            }
        },
        #[inline(always)]
        |block, palette| {
            let indices = (u64::from_le_bytes(*block) >> 32) as u32;
            rgba(color::texels(simd, indices, *palette))
        },
    );
}

/// RGBA8 with four bits of alpha, always of four colours.
#[inline(always)]
pub fn bc2<S: Simd>(simd: S, width: usize, data: &[u8], out: &mut [u8]) {
    color_and_alpha(
        simd,
        width,
        data,
        out,
        #[inline(always)]
        |alphas| {
            let mut fields = simd.fields(alphas, 4);
            for field in &mut fields {
                *field *= 0x1100_0000;
            }
            fields
        },
    );
}

/// RGBA8 with alpha of a ramp, always of four colours.
#[inline(always)]
pub fn bc3<S: Simd>(simd: S, width: usize, data: &[u8], out: &mut [u8]) {
    color_and_alpha(
        simd,
        width,
        data,
        out,
        #[inline(always)]
        |alphas| {
            let mut palette = [0; 16];
            for (entry, alpha) in palette.iter_mut().zip(ramp::unorm8(alphas)) {
                *entry = u32::from(alpha) << 24;
            }
            simd.pick16(&palette, &simd.fields(alphas >> 16, 3))
        },
    );
}

/// RGBA8 of four colours with the alphas, in the highest bytes, of the first half of a block.
#[inline(always)]
fn color_and_alpha<S: Simd>(
    simd: S,
    width: usize,
    data: &[u8],
    out: &mut [u8],
    alpha: impl Fn(u64) -> [u32; 16],
) {
    rows::decode_prepared(
        width,
        data,
        out,
        #[inline(always)]
        |blocks: &[[u8; 16]], palettes: &mut [_; BATCH]| {
            for (palette, block) in palettes.iter_mut().zip(blocks) {
                *palette = color::palette::<true, true>(halves(block).1 as u32);
            }
        },
        #[inline(always)]
        |block, palette| {
            let (alphas, colors) = halves(block);
            let mut texels = color::texels(simd, (colors >> 32) as u32, *palette);
            for (texel, alpha) in texels.iter_mut().zip(alpha(alphas)) {
                *texel = *texel & 0xff_ffff | alpha;
            }
            rgba(texels)
        },
    );
}

/// One component of 16 bits.
#[inline(always)]
pub fn bc4<const SIGNED: bool>(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 8]| {
            let texels = ramp::wide::<SIGNED>(u64::from_le_bytes(*block));
            by_row(texels.map(u16::to_le_bytes))
        },
    );
}

/// Two components of 16 bits.
#[inline(always)]
pub fn bc5<const SIGNED: bool>(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let (red, green) = halves(block);
            let (red, green) = (ramp::wide::<SIGNED>(red), ramp::wide::<SIGNED>(green));
            let texels: [_; 16] = core::array::from_fn(|i| u32::from(red[i]) | u32::from(green[i]) << 16);
            rgba(texels)
        },
    );
}

/// The two words of a block.
#[inline(always)]
fn halves(block: &[u8; 16]) -> (u64, u64) {
    let block = u128::from_le_bytes(*block);
    (block as u64, (block >> 64) as u64)
}

/// Texels as words, to rows of bytes.
#[inline(always)]
fn rgba(texels: [u32; 16]) -> Rgba {
    by_row(texels.map(u32::to_le_bytes))
}

/// Sixteen texels as four rows.
#[inline(always)]
fn by_row<T: Copy>(texels: [T; 16]) -> [[T; 4]; 4] {
    core::array::from_fn(|y| core::array::from_fn(|x| texels[4 * y + x]))
}
