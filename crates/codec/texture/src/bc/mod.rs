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

use crate::rows;

/// A row of texels as components.
type Rgba = [[[u8; 4]; 4]; 4];

/// RGBA8 with one bit of alpha.
#[inline(always)]
pub fn bc1(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(width, data, out, |block: &[u8; 8]| rgba(color::bc1(u64::from_le_bytes(*block))));
}

/// RGBA8 with four bits of alpha, always of four colours.
#[inline(always)]
pub fn bc2(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(width, data, out, |block: &[u8; 16]| {
        let (alphas, colors) = halves(block);
        let mut texels = color::four_colors(colors);
        for (i, texel) in texels.iter_mut().enumerate() {
            let alpha = (alphas >> (4 * i)) as u32 & 0xf;
            *texel = *texel & 0xff_ffff | (alpha * 0x1100_0000);
        }
        rgba(texels)
    });
}

/// RGBA8 with alpha of a ramp, always of four colours.
#[inline(always)]
pub fn bc3(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(width, data, out, |block: &[u8; 16]| {
        let (alphas, colors) = halves(block);
        let mut texels = color::four_colors(colors);
        for (texel, alpha) in texels.iter_mut().zip(ramp::unorm8(alphas)) {
            *texel = *texel & 0xff_ffff | u32::from(alpha) << 24;
        }
        rgba(texels)
    });
}

/// One component of 16 bits.
#[inline(always)]
pub fn bc4<const SIGNED: bool>(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(width, data, out, |block: &[u8; 8]| {
        let texels = ramp::wide::<SIGNED>(u64::from_le_bytes(*block));
        by_row(texels.map(u16::to_le_bytes))
    });
}

/// Two components of 16 bits.
#[inline(always)]
pub fn bc5<const SIGNED: bool>(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(width, data, out, |block: &[u8; 16]| {
        let (red, green) = halves(block);
        let (red, green) = (ramp::wide::<SIGNED>(red), ramp::wide::<SIGNED>(green));
        let texels: [_; 16] = std::array::from_fn(|i| u32::from(red[i]) | u32::from(green[i]) << 16);
        rgba(texels)
    });
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
    std::array::from_fn(|y| std::array::from_fn(|x| texels[4 * y + x]))
}
