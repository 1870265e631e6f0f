//! ETC1, ETC2 and EAC.

pub(crate) mod color;
pub(crate) mod eac;

use crate::rows;

/// RGBA8 of ETC1.
#[inline(always)]
pub fn etc1(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 8]| by_column(color::etc1(u64::from_be_bytes(*block))),
    );
}

/// RGBA8 of two blocks of ETC1, of which the second one's green is alpha.
#[inline(always)]
pub fn etc1s_alpha(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let (colors, alphas) = halves(block);
            let (mut texels, alphas) = (color::etc1(colors), color::etc1(alphas));
            for (texel, alpha) in texels.iter_mut().zip(alphas) {
                texel[3] = alpha[1];
            }
            by_column(texels)
        },
    );
}

/// RGBA8 of ETC2 without alpha.
#[inline(always)]
pub fn rgb(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 8]| by_column(color::rgb(u64::from_be_bytes(*block))),
    );
}

/// RGBA8 of ETC2 with one bit of alpha.
#[inline(always)]
pub fn rgba1(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 8]| by_column(color::rgba1(u64::from_be_bytes(*block))),
    );
}

/// RGBA8 of ETC2 with alpha of EAC.
#[inline(always)]
pub fn rgba8(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let (alphas, colors) = halves(block);
            let (mut texels, alphas) = (color::rgb(colors), eac::alpha8(alphas));
            for (texel, alpha) in texels.iter_mut().zip(alphas) {
                texel[3] = alpha;
            }
            by_column(texels)
        },
    );
}

/// One component of 11 bits, repeated to 16.
#[inline(always)]
pub fn r11<const SIGNED: bool>(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 8]| by_column(eac::r11::<SIGNED>(u64::from_be_bytes(*block)).map(u16::to_le_bytes)),
    );
}

/// Two components of 11 bits, repeated to 16.
#[inline(always)]
pub fn rg11<const SIGNED: bool>(width: usize, data: &[u8], out: &mut [u8]) {
    rows::decode(
        width,
        data,
        out,
        #[inline(always)]
        |block: &[u8; 16]| {
            let (red, green) = halves(block);
            let (red, green) = (eac::r11::<SIGNED>(red), eac::r11::<SIGNED>(green));
            by_column(core::array::from_fn(|i| (u32::from(red[i]) | u32::from(green[i]) << 16).to_le_bytes()))
        },
    );
}

/// Rows of RGBA8 of a block of ETC1 as the PICA200 has it.
pub(crate) fn pica_etc1(block: u64) -> [[[u8; 4]; 4]; 4] {
    by_column(color::pica_etc1(block))
}

/// The two words of a block, the most significant byte first.
#[inline(always)]
fn halves(block: &[u8; 16]) -> (u64, u64) {
    let block = u128::from_be_bytes(*block);
    ((block >> 64) as u64, block as u64)
}

/// Sixteen texels, column by column, as rows.
#[inline(always)]
fn by_column<T: Copy>(texels: [T; 16]) -> [[T; 4]; 4] {
    core::array::from_fn(|y| core::array::from_fn(|x| texels[4 * x + y]))
}
