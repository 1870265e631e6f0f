//! What is decoded and what it becomes.

use crate::astc::Footprint;
use crate::console::pica;
use crate::plain::{Layout, Numeric};
use alloc::string::String;
use core::fmt;

/// A guest's texture format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// BC1 with one bit of alpha: the last index of a block of three colours is transparent black.
    Bc1,
    /// BC1 without alpha: that index is opaque black.
    Bc1Rgb,
    /// BC2: BC1's colours, four bits of alpha.
    Bc2,
    /// BC3: BC1's colours, alpha as in BC4.
    Bc3,
    /// BC4, 0..=1.
    Bc4Unorm,
    /// BC4, -1..=1.
    Bc4Snorm,
    /// BC5, 0..=1.
    Bc5Unorm,
    /// BC5, -1..=1.
    Bc5Snorm,
    /// BC6H without a sign.
    Bc6hUfloat,
    /// BC6H with a sign.
    Bc6hSfloat,
    /// BC7.
    Bc7,
    /// ETC1. A differential block whose second colour leaves its range is read modulo 32.
    Etc1,
    /// ETC2 without alpha.
    Etc2Rgb,
    /// ETC2 with one bit of alpha.
    Etc2Rgba1,
    /// ETC2 with alpha of EAC.
    Etc2Rgba8,
    /// EAC, one channel of 11 bits, 0..=1.
    EacR11Unorm,
    /// EAC, one channel of 11 bits, -1..=1.
    EacR11Snorm,
    /// EAC, two channels of 11 bits, 0..=1.
    EacRg11Unorm,
    /// EAC, two channels of 11 bits, -1..=1.
    EacRg11Snorm,
    /// ASTC.
    Astc(Footprint, Profile),
    /// A format of the PICA200, in its tiles.
    Pica(pica::Format),
    /// ETC1S of Basis Universal without alpha, unpacked: blocks of [`Format::Etc1`], differential without a difference,
    /// both halves by one table.
    Etc1s,
    /// ETC1S with alpha: a block of colours, then one whose green is alpha.
    Etc1sAlpha,
    /// UASTC of low dynamic range. That of high dynamic range is ASTC of 4x4 as it is.
    Uastc,
    /// Texels of other layouts than [`Format::Plain`]'s.
    Packed(Layout),
    /// Red, green and blue of nine bits each, from the lowest up, and their exponent.
    E5b9g9r9,
    /// Red, green and blue of ten bits each in the extended range of displays, -0.7529 to 1.2529, and two of alpha.
    XrBias,
    /// Two texels with a green each: red, green, blue, green.
    R8g8B8g8,
    /// Two texels with a green each: green, red, green, blue.
    G8r8G8b8,
    /// Texels stored as they are.
    Plain(Texel),
}

/// How ASTC blocks are read and what they become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Low dynamic range, in the decode mode `unorm8`.
    LdrUnorm8,
    /// sRGB, left encoded.
    Srgb,
    /// Low dynamic range, in the decode mode `float16`, the default of Vulkan and OpenGL.
    LdrFloat16,
    /// High dynamic range.
    Hdr,
}

impl Profile {
    /// All of them.
    pub const ALL: [Profile; 4] = [Profile::LdrUnorm8, Profile::Srgb, Profile::LdrFloat16, Profile::Hdr];
}

/// A decoded texel; components little-endian, in the order of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Texel {
    /// A byte.
    R8Unorm,
    /// Two bytes.
    Rg8Unorm,
    /// Four bytes: 0..=1, or sRGB.
    Rgba8,
    /// `u16`, 0..=1.
    R16Unorm,
    /// `i16`, -1..=1; -32768 does not occur.
    R16Snorm,
    /// Two `u16`.
    Rg16Unorm,
    /// Two `i16`.
    Rg16Snorm,
    /// Four halves.
    Rgba16Float,
    /// Four singles.
    Rgba32Float,
    /// Four `u32`.
    Rgba32Uint,
    /// Four `i32`.
    Rgba32Sint,
}

impl Texel {
    /// All of them.
    pub const ALL: [Texel; 11] = [
        Texel::R8Unorm,
        Texel::Rg8Unorm,
        Texel::Rgba8,
        Texel::R16Unorm,
        Texel::R16Snorm,
        Texel::Rg16Unorm,
        Texel::Rg16Snorm,
        Texel::Rgba16Float,
        Texel::Rgba32Float,
        Texel::Rgba32Uint,
        Texel::Rgba32Sint,
    ];

    /// Its components as those of a plain texel.
    pub const fn layout(self) -> Option<Layout> {
        match self {
            Texel::R8Unorm => Layout::array(b"r", 8, Numeric::Unorm),
            Texel::Rg8Unorm => Layout::array(b"rg", 8, Numeric::Unorm),
            Texel::Rgba8 => Layout::array(b"rgba", 8, Numeric::Unorm),
            Texel::R16Unorm => Layout::array(b"r", 16, Numeric::Unorm),
            Texel::R16Snorm => Layout::array(b"r", 16, Numeric::Snorm),
            Texel::Rg16Unorm => Layout::array(b"rg", 16, Numeric::Unorm),
            Texel::Rg16Snorm => Layout::array(b"rg", 16, Numeric::Snorm),
            Texel::Rgba16Float => Layout::array(b"rgba", 16, Numeric::Float),
            Texel::Rgba32Float => Layout::array(b"rgba", 32, Numeric::Float),
            Texel::Rgba32Uint => Layout::array(b"rgba", 32, Numeric::Uint),
            Texel::Rgba32Sint => Layout::array(b"rgba", 32, Numeric::Sint),
        }
    }

    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        match self {
            Texel::R8Unorm => 1,
            Texel::Rg8Unorm | Texel::R16Unorm | Texel::R16Snorm => 2,
            Texel::Rgba8 | Texel::Rg16Unorm | Texel::Rg16Snorm => 4,
            Texel::Rgba16Float => 8,
            Texel::Rgba32Float | Texel::Rgba32Uint | Texel::Rgba32Sint => 16,
        }
    }

    /// Its components.
    pub const fn channels(self) -> Channels {
        match self {
            Texel::R8Unorm | Texel::R16Unorm | Texel::R16Snorm => Channels::R,
            Texel::Rg8Unorm | Texel::Rg16Unorm | Texel::Rg16Snorm => Channels::Rg,
            Texel::Rgba8
            | Texel::Rgba16Float
            | Texel::Rgba32Float
            | Texel::Rgba32Uint
            | Texel::Rgba32Sint => Channels::Rgba,
        }
    }
}

/// The components that a format stores. What it does not is decoded as 0, and alpha as 1; luminance is copied to red,
/// green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channels {
    /// Red.
    R,
    /// Red and green.
    Rg,
    /// Red, green and blue.
    Rgb,
    /// Red, green, blue and alpha.
    Rgba,
    /// Luminance.
    L,
    /// Luminance and alpha.
    La,
    /// Alpha.
    A,
    /// Other subsets, which masks of DDS name: whether red, green, blue and alpha are stored.
    Other([bool; 4]),
}

impl Channels {
    /// Red, green, blue and alpha, those that are stored.
    pub const fn of(stored: [bool; 4]) -> Channels {
        match stored {
            [true, false, false, false] => Channels::R,
            [true, true, false, false] => Channels::Rg,
            [true, true, true, false] => Channels::Rgb,
            [true, true, true, true] => Channels::Rgba,
            [false, false, false, true] => Channels::A,
            other => Channels::Other(other),
        }
    }

    /// How many they are.
    pub const fn count(self) -> u32 {
        match self {
            Channels::R | Channels::L | Channels::A => 1,
            Channels::Rg | Channels::La => 2,
            Channels::Rgb => 3,
            Channels::Rgba => 4,
            Channels::Other([r, g, b, a]) => r as u32 + g as u32 + b as u32 + a as u32,
        }
    }

    /// Whether alpha is one of them.
    pub const fn has_alpha(self) -> bool {
        matches!(self, Channels::Rgba | Channels::La | Channels::A | Channels::Other([.., true]))
    }
}

impl fmt::Display for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Channels::R => "R",
            Channels::Rg => "RG",
            Channels::Rgb => "RGB",
            Channels::Rgba => "RGBA",
            Channels::L => "L",
            Channels::La => "LA",
            Channels::A => "A",
            Channels::Other(stored) => {
                let letters = "RGBA".chars().zip(stored).filter(|(_, stored)| **stored);
                return f.write_str(&letters.map(|(letter, _)| letter).collect::<String>());
            }
        })
    }
}

impl Format {
    /// Those of 4x4 blocks that have no parameters: BC, ETC and EAC.
    pub const BC_ETC: [Format; 19] = [
        Format::Bc1,
        Format::Bc1Rgb,
        Format::Bc2,
        Format::Bc3,
        Format::Bc4Unorm,
        Format::Bc4Snorm,
        Format::Bc5Unorm,
        Format::Bc5Snorm,
        Format::Bc6hUfloat,
        Format::Bc6hSfloat,
        Format::Bc7,
        Format::Etc1,
        Format::Etc2Rgb,
        Format::Etc2Rgba1,
        Format::Etc2Rgba8,
        Format::EacR11Unorm,
        Format::EacR11Snorm,
        Format::EacRg11Unorm,
        Format::EacRg11Snorm,
    ];

    /// Plain texels of a layout: [`Format::Plain`] where they are stored as they are decoded.
    pub fn of_layout(layout: Layout) -> Format {
        let plain = Texel::ALL.into_iter().find(|texel| texel.layout() == Some(layout));
        plain.map_or(Format::Packed(layout), Format::Plain)
    }

    /// Every compressed format: [`Format::BC_ETC`], the PICA200's, and ASTC of all footprints and profiles.
    pub fn compressed() -> impl Iterator<Item = Format> {
        let astc = Footprint::ALL.into_iter().flat_map(|f| Profile::ALL.map(|p| Format::Astc(f, p)));
        Format::BC_ETC.into_iter().chain(pica::Format::ALL.map(Format::Pica)).chain(astc)
    }

    /// Whether `compute::Decoder` has a program for it: all of [`Format::BC_ETC`] and ASTC.
    pub fn has_program(self) -> bool {
        matches!(self, Format::Astc(..)) || Format::BC_ETC.contains(&self)
    }

    /// Width, height and depth of a block in texels; the tile of PICA200 formats, 1 for plain texels.
    pub const fn block(self) -> [u32; 3] {
        match self {
            Format::Astc(footprint, _) => footprint.size(),
            Format::Pica(_) => [8, 8, 1],
            Format::R8g8B8g8 | Format::G8r8G8b8 => [2, 1, 1],
            Format::Packed(_) | Format::E5b9g9r9 | Format::XrBias | Format::Plain(_) => [1; 3],
            _ => [4, 4, 1],
        }
    }

    /// Bytes of a block.
    pub const fn block_bytes(self) -> usize {
        match self {
            Format::Bc1
            | Format::Bc1Rgb
            | Format::Bc4Unorm
            | Format::Bc4Snorm
            | Format::Etc1
            | Format::Etc1s
            | Format::Etc2Rgb
            | Format::Etc2Rgba1
            | Format::EacR11Unorm
            | Format::EacR11Snorm => 8,
            Format::Pica(format) => format.bits() as usize * 8,
            Format::E5b9g9r9 | Format::XrBias | Format::R8g8B8g8 | Format::G8r8G8b8 => 4,
            Format::Packed(layout) => layout.bytes(),
            Format::Plain(texel) => texel.bytes(),
            _ => 16,
        }
    }

    /// What its texels become.
    pub const fn texel(self) -> Texel {
        match self {
            Format::Bc4Unorm | Format::EacR11Unorm => Texel::R16Unorm,
            Format::Bc4Snorm | Format::EacR11Snorm => Texel::R16Snorm,
            Format::Bc5Unorm | Format::EacRg11Unorm => Texel::Rg16Unorm,
            Format::Bc5Snorm | Format::EacRg11Snorm => Texel::Rg16Snorm,
            Format::Bc6hUfloat | Format::Bc6hSfloat | Format::E5b9g9r9 => Texel::Rgba16Float,
            Format::XrBias => Texel::Rgba32Float,
            Format::Packed(layout) => layout.texel(),
            Format::Astc(_, Profile::LdrFloat16 | Profile::Hdr) => Texel::Rgba16Float,
            Format::Plain(texel) => texel,
            _ => Texel::Rgba8,
        }
    }

    /// The components that it stores.
    pub const fn channels(self) -> Channels {
        match self {
            Format::Bc4Unorm | Format::Bc4Snorm | Format::EacR11Unorm | Format::EacR11Snorm => Channels::R,
            Format::Bc5Unorm | Format::Bc5Snorm | Format::EacRg11Unorm | Format::EacRg11Snorm => Channels::Rg,
            Format::Bc1Rgb
            | Format::Bc6hUfloat
            | Format::Bc6hSfloat
            | Format::Etc1
            | Format::Etc1s
            | Format::Etc2Rgb
            | Format::E5b9g9r9
            | Format::R8g8B8g8
            | Format::G8r8G8b8 => Channels::Rgb,
            Format::Packed(layout) => layout.channels(),
            Format::Pica(format) => format.channels(),
            Format::Plain(texel) => texel.channels(),
            _ => Channels::Rgba,
        }
    }

    /// Bytes of the blocks that cover `extent`; nothing if they are more than can be counted.
    pub fn data_bytes(self, extent: Extent) -> Option<usize> {
        let blocks = extent.blocks(self.block());
        product([blocks[0], blocks[1], blocks[2]])?.checked_mul(self.block_bytes())
    }

    /// Bytes of the texels of `extent`; nothing if they are more than can be counted.
    pub fn output_bytes(self, extent: Extent) -> Option<usize> {
        product([extent.width, extent.height, extent.depth])?.checked_mul(self.texel().bytes())
    }
}

/// Names as Vulkan has them, without what they all have in common; those of the PICA200 with its name before.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Format::Bc1 => "BC1_RGBA",
            Format::Bc1Rgb => "BC1_RGB",
            Format::Bc2 => "BC2",
            Format::Bc3 => "BC3",
            Format::Bc4Unorm => "BC4_UNORM",
            Format::Bc4Snorm => "BC4_SNORM",
            Format::Bc5Unorm => "BC5_UNORM",
            Format::Bc5Snorm => "BC5_SNORM",
            Format::Bc6hUfloat => "BC6H_UFLOAT",
            Format::Bc6hSfloat => "BC6H_SFLOAT",
            Format::Bc7 => "BC7",
            Format::Etc1 => "ETC1_R8G8B8",
            Format::Etc2Rgb => "ETC2_R8G8B8",
            Format::Etc2Rgba1 => "ETC2_R8G8B8A1",
            Format::Etc2Rgba8 => "ETC2_R8G8B8A8",
            Format::EacR11Unorm => "EAC_R11_UNORM",
            Format::EacR11Snorm => "EAC_R11_SNORM",
            Format::EacRg11Unorm => "EAC_R11G11_UNORM",
            Format::EacRg11Snorm => "EAC_R11G11_SNORM",
            Format::Astc(footprint, profile) => return write!(f, "ASTC_{footprint}_{profile}"),
            Format::Pica(format) => return write!(f, "PICA200_{format}"),
            Format::Etc1s => "ETC1S",
            Format::Etc1sAlpha => "ETC1S_ALPHA",
            Format::Uastc => "UASTC_LDR_4x4",
            Format::Packed(layout) => return layout.fmt(f),
            Format::E5b9g9r9 => "E5B9G9R9_UFLOAT_PACK32",
            Format::XrBias => "R10G10B10_XR_BIAS_A2_UNORM",
            Format::R8g8B8g8 => "R8G8_B8G8_UNORM",
            Format::G8r8G8b8 => "G8R8_G8B8_UNORM",
            Format::Plain(texel) => return texel.fmt(f),
        };
        f.write_str(name)
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size() {
            [width, height, 1] => write!(f, "{width}x{height}"),
            [width, height, depth] => write!(f, "{width}x{height}x{depth}"),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::LdrUnorm8 | Profile::LdrFloat16 => "UNORM",
            Profile::Srgb => "SRGB",
            Profile::Hdr => "SFLOAT",
        })
    }
}

impl fmt::Display for Texel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Texel::R8Unorm => "R8_UNORM",
            Texel::Rg8Unorm => "R8G8_UNORM",
            Texel::Rgba8 => "R8G8B8A8",
            Texel::R16Unorm => "R16_UNORM",
            Texel::R16Snorm => "R16_SNORM",
            Texel::Rg16Unorm => "R16G16_UNORM",
            Texel::Rg16Snorm => "R16G16_SNORM",
            Texel::Rgba16Float => "R16G16B16A16_SFLOAT",
            Texel::Rgba32Float => "R32G32B32A32_SFLOAT",
            Texel::Rgba32Uint => "R32G32B32A32_UINT",
            Texel::Rgba32Sint => "R32G32B32A32_SINT",
        })
    }
}

/// The size of a picture or volume in texels. Any of them may be zero, or no multiple of a block's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Along a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices.
    pub depth: u32,
}

impl Extent {
    /// A picture.
    pub const fn flat(width: u32, height: u32) -> Extent {
        Extent { width, height, depth: 1 }
    }

    /// Blocks of size `block` along each axis.
    pub const fn blocks(self, block: [u32; 3]) -> [u32; 3] {
        [self.width.div_ceil(block[0]), self.height.div_ceil(block[1]), self.depth.div_ceil(block[2])]
    }
}

fn product(sizes: [u32; 3]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(usize::try_from(size).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Both outputs of ASTC's low dynamic range are of one format.
    #[test]
    fn names_tell_formats_apart() {
        let names: Vec<String> = Format::compressed()
            .filter(|format| !matches!(format, Format::Astc(_, Profile::LdrFloat16)))
            .map(|format| format.to_string())
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in ["BC1_RGBA", "ASTC_6x6_SRGB", "ASTC_4x3x3_SFLOAT", "PICA200_ETC1A4"] {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
    }
}
