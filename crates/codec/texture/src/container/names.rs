//! Formats by the numbers of Vulkan, OpenGL and DXGI, with the transfer function that a number says. Of these only ASTC
//! decodes sRGB to other bytes, so that only it has a format for it.

use super::Transfer;
use crate::astc::Footprint;
use crate::format::{Format, Profile, Texel};

/// Footprints before this one in [`Footprint::ALL`] are flat.
const FLAT: usize = 14;

fn astc(index: u32, deep: bool, profile: Profile) -> Option<Format> {
    let footprints = if deep { &Footprint::ALL[FLAT..] } else { &Footprint::ALL[..FLAT] };
    Some(Format::Astc(*footprints.get(index as usize)?, profile))
}

/// The first `VkFormat` of ASTC, of its floats, and of its footprints with depth.
const ASTC: u32 = 157;
const ASTC_FLOAT: u32 = 1_000_066_000;
const ASTC_DEEP: u32 = 1_000_288_000;

/// A format with the function of its number, `srgb` or linear.
fn with_transfer(format: Format, srgb: bool) -> (Format, Transfer) {
    let srgb = srgb || matches!(format, Format::Astc(_, Profile::Srgb));
    (format, if srgb { Transfer::Srgb } else { Transfer::Linear })
}

/// A `VkFormat`.
pub fn vulkan(number: u32) -> Option<(Format, Transfer)> {
    let profiles = [Profile::LdrUnorm8, Profile::Srgb, Profile::Hdr];
    let format = match number {
        9 | 15 => Format::Plain(Texel::R8Unorm),
        16 | 22 => Format::Plain(Texel::Rg8Unorm),
        37 | 43 => Format::Plain(Texel::Rgba8),
        44 | 50 => Format::Bgra8,
        70 => Format::Plain(Texel::R16Unorm),
        71 => Format::Plain(Texel::R16Snorm),
        77 => Format::Plain(Texel::Rg16Unorm),
        78 => Format::Plain(Texel::Rg16Snorm),
        97 => Format::Plain(Texel::Rgba16Float),
        109 => Format::Plain(Texel::Rgba32Float),
        131 | 132 => Format::Bc1Rgb,
        133 | 134 => Format::Bc1,
        135 | 136 => Format::Bc2,
        137 | 138 => Format::Bc3,
        139 => Format::Bc4Unorm,
        140 => Format::Bc4Snorm,
        141 => Format::Bc5Unorm,
        142 => Format::Bc5Snorm,
        143 => Format::Bc6hUfloat,
        144 => Format::Bc6hSfloat,
        145 | 146 => Format::Bc7,
        147 | 148 => Format::Etc2Rgb,
        149 | 150 => Format::Etc2Rgba1,
        151 | 152 => Format::Etc2Rgba8,
        153 => Format::EacR11Unorm,
        154 => Format::EacR11Snorm,
        155 => Format::EacRg11Unorm,
        156 => Format::EacRg11Snorm,
        ASTC..=184 => astc((number - ASTC) / 2, false, profiles[(number - ASTC) as usize % 2])?,
        ASTC_FLOAT..1_000_066_014 => astc(number - ASTC_FLOAT, false, Profile::Hdr)?,
        ASTC_DEEP..1_000_288_030 => {
            astc((number - ASTC_DEEP) / 3, true, profiles[(number - ASTC_DEEP) as usize % 3])?
        }
        _ => return None,
    };
    let srgb = matches!(number, 15 | 22 | 43 | 50 | 132 | 134 | 136 | 138 | 146 | 148 | 150 | 152);
    Some(with_transfer(format, srgb))
}

/// The `VkFormat` of a format; the sRGB variant if `srgb` is set and there is one.
pub fn vulkan_number(format: Format, srgb: bool) -> Option<u32> {
    let format = match format {
        Format::Astc(footprint, Profile::LdrUnorm8 | Profile::LdrFloat16) if srgb => {
            Format::Astc(footprint, Profile::Srgb)
        }
        Format::Astc(footprint, Profile::LdrFloat16) => Format::Astc(footprint, Profile::LdrUnorm8),
        _ => format,
    };
    let numbers = (1..=184).chain(ASTC_FLOAT..ASTC_FLOAT + 14).chain(ASTC_DEEP..ASTC_DEEP + 30);
    let number = |srgb| numbers.clone().find(|&n| vulkan(n) == Some(with_transfer(format, srgb)));
    number(srgb).or_else(|| number(false))
}

/// An internal format of OpenGL.
pub fn gl(number: u32) -> Option<(Format, Transfer)> {
    let format = match number {
        0x8058 | 0x8c43 => Format::Plain(Texel::Rgba8),
        0x83f0 | 0x8c4c => Format::Bc1Rgb,
        0x83f1 | 0x8c4d => Format::Bc1,
        0x83f2 | 0x8c4e => Format::Bc2,
        0x83f3 | 0x8c4f => Format::Bc3,
        0x8dbb => Format::Bc4Unorm,
        0x8dbc => Format::Bc4Snorm,
        0x8dbd => Format::Bc5Unorm,
        0x8dbe => Format::Bc5Snorm,
        0x8e8c | 0x8e8d => Format::Bc7,
        0x8e8e => Format::Bc6hSfloat,
        0x8e8f => Format::Bc6hUfloat,
        0x8d64 => Format::Etc1,
        0x9270 => Format::EacR11Unorm,
        0x9271 => Format::EacR11Snorm,
        0x9272 => Format::EacRg11Unorm,
        0x9273 => Format::EacRg11Snorm,
        0x9274 | 0x9275 => Format::Etc2Rgb,
        0x9276 | 0x9277 => Format::Etc2Rgba1,
        0x9278 | 0x9279 => Format::Etc2Rgba8,
        0x93b0..0x93be => astc(number - 0x93b0, false, Profile::LdrUnorm8)?,
        0x93c0..0x93ca => astc(number - 0x93c0, true, Profile::LdrUnorm8)?,
        0x93d0..0x93de => astc(number - 0x93d0, false, Profile::Srgb)?,
        0x93e0..0x93ea => astc(number - 0x93e0, true, Profile::Srgb)?,
        _ => return None,
    };
    let srgb = matches!(number, 0x8c43 | 0x8c4c..=0x8c4f | 0x8e8d | 0x9275 | 0x9277 | 0x9279);
    Some(with_transfer(format, srgb))
}

/// The order of components of uncompressed texels, by OpenGL's format and type.
pub fn gl_order(internal: Format, format: u32, ty: u32) -> Option<Format> {
    // Bytes, or a word of four with the first component in the lowest.
    if !matches!(ty, 0x1401 | 0x8367) {
        return None;
    }
    match (internal, format) {
        (_, 0x1908) => Some(internal),
        (Format::Plain(Texel::Rgba8), 0x80e1) => Some(Format::Bgra8),
        _ => None,
    }
}

/// A `DXGI_FORMAT`.
pub fn dxgi(number: u32) -> Option<(Format, Transfer)> {
    let format = match number {
        2 => Format::Plain(Texel::Rgba32Float),
        10 => Format::Plain(Texel::Rgba16Float),
        28 | 29 => Format::Plain(Texel::Rgba8),
        35 => Format::Plain(Texel::Rg16Unorm),
        49 => Format::Plain(Texel::Rg8Unorm),
        56 => Format::Plain(Texel::R16Unorm),
        61 => Format::Plain(Texel::R8Unorm),
        71 | 72 => Format::Bc1,
        74 | 75 => Format::Bc2,
        77 | 78 => Format::Bc3,
        80 => Format::Bc4Unorm,
        81 => Format::Bc4Snorm,
        83 => Format::Bc5Unorm,
        84 => Format::Bc5Snorm,
        95 => Format::Bc6hUfloat,
        96 => Format::Bc6hSfloat,
        98 | 99 => Format::Bc7,
        _ => return None,
    };
    Some(with_transfer(format, matches!(number, 29 | 72 | 75 | 78 | 99)))
}

/// The formats of DDS from before DX10.
pub fn four_cc(name: [u8; 4]) -> Option<Format> {
    Some(match &name {
        b"DXT1" => Format::Bc1,
        b"DXT2" | b"DXT3" => Format::Bc2,
        b"DXT4" | b"DXT5" => Format::Bc3,
        b"ATI1" | b"BC4U" => Format::Bc4Unorm,
        b"BC4S" => Format::Bc4Snorm,
        b"ATI2" | b"BC5U" => Format::Bc5Unorm,
        b"BC5S" => Format::Bc5Snorm,
        _ => return None,
    })
}
