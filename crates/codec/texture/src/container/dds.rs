//! DDS: a header of 128 bytes, one of 20 more for DX10; layers, in them faces, in them levels.

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer};
use crate::format::{Extent, Format, Texel};
use crate::names;
use crate::plain::{Field, Layout, Numeric};
use std::borrow::Cow;

/// Flags of a pixel format.
const HAS_ALPHA: u32 = 1;
const ALPHA_ONLY: u32 = 2;
const HAS_FOUR_CC: u32 = 4;
const PALETTE: u32 = 0x20;
const HAS_RGB: u32 = 0x40;
const LUMINANCE: u32 = 0x2_0000;
const BUMP: u32 = 0x8_0000;
/// Flags of a surface.
const CUBE: u32 = 0x200;
const FACES: u32 = 0xfc00;
const VOLUME: u32 = 0x20_0000;
/// What DX10 says of alpha, and its value for colours that are multiplied by it.
const ALPHA_MODE: u32 = 7;
const PREMULTIPLIED: u32 = 2;
/// DX10's flag for cubes, and its dimensions.
const DX10_CUBE: u32 = 4;
const DX10_LINE: u32 = 2;
const DX10_VOLUME: u32 = 4;
/// Colours of a palette.
const COLORS: usize = 256;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    const END: &str = "the end of the header";
    let mut reader = Reader::new(bytes);
    reader.take(4, END)?;
    let [size, _, height, width, _, depth, levels] = reader.words(END)?;
    reader.take(44, END)?;
    let pixels = PixelFormat(reader.words(END)?);
    let [_, caps2, _, _, _] = reader.words(END)?;
    if size != 124 || pixels.size() != 32 {
        return Err(Error::Malformed("size of a header"));
    }
    let (mut cube, mut layers, mut premultiplied) = (caps2 & CUBE != 0, 0, false);
    let mut dimensions = if caps2 & VOLUME != 0 { 3 } else { 2 };
    if cube && !matches!(caps2 & FACES, 0 | FACES) {
        return Err(Error::Malformed("cube without all faces"));
    }
    let (format, transfer) = match pixels.four_cc() {
        Some([b'D', b'X', b'1', b'0']) => {
            let [dxgi, dimension, misc, array, more] = reader.words("the end of the DX10 header")?;
            premultiplied = more & ALPHA_MODE == PREMULTIPLIED;
            cube = misc & DX10_CUBE != 0;
            // One layer is no array.
            layers = if array > 1 { array } else { 0 };
            dimensions = match dimension {
                DX10_LINE => 1,
                DX10_VOLUME => 3,
                _ => 2,
            };
            let known = names::dxgi(dxgi).ok_or_else(|| Error::Format(format!("DXGI {dxgi}")))?;
            (known.0, Transfer::of_number(known.1))
        }
        Some(name) => {
            premultiplied = matches!(&name, b"DXT2" | b"DXT4");
            let format = names::four_cc(name);
            let unknown = || Error::Format(name.escape_ascii().to_string());
            (format.ok_or_else(unknown)?, Transfer::Unknown)
        }
        None if pixels.is_palette() => (Format::Plain(Texel::R8Unorm), Transfer::Unknown),
        None => (Format::of_layout(pixels.layout()?), Transfer::Unknown),
    };
    let shape = Shape {
        container: Container::Dds,
        format,
        transfer,
        extent: Extent {
            width,
            height: if dimensions == 1 { 1 } else { height },
            depth: if dimensions == 3 { depth } else { 1 },
        },
        dimensions,
        levels: levels.max(1),
        layers,
        faces: if cube { 6 } else { 1 },
    };
    let mut texture = shape.texture(limits)?;
    texture.premultiplied = premultiplied;
    let palette = match pixels.is_palette() {
        true => Some(reader.take(4 * COLORS, "the end of the palette")?.as_chunks().0),
        false => None,
    };
    let mut held = 0;
    for layer in 0..texture.layers {
        for face in 0..texture.faces {
            for level in 0..texture.levels {
                let data = reader.take(texture.image_bytes(level)?, "the last level")?;
                let data = match palette {
                    None => Cow::Borrowed(data),
                    Some(colors) => {
                        limits.take(&mut held, data.len().checked_mul(4).ok_or(Error::TooLarge)?)?;
                        Cow::Owned(painted(data, colors))
                    }
                };
                texture.push([level, layer, face], data);
            }
        }
    }
    if palette.is_some() {
        texture.format = Format::Plain(Texel::Rgba8);
        texture.channels = texture.format.channels();
    }
    Ok(texture)
}

/// The colours of indices.
fn painted(indices: &[u8], colors: &[[u8; 4]]) -> Vec<u8> {
    indices.iter().flat_map(|&index| colors.get(usize::from(index)).copied().unwrap_or_default()).collect()
}

/// Size, flags, letters, bits of a texel, and the masks of red, green, blue and alpha.
struct PixelFormat([u32; 8]);

impl PixelFormat {
    fn size(&self) -> u32 {
        self.0[0]
    }

    fn has(&self, flag: u32) -> bool {
        self.0[1] & flag != 0
    }

    /// Letters, or the bytes of a number.
    fn four_cc(&self) -> Option<[u8; 4]> {
        self.has(HAS_FOUR_CC).then(|| self.0[2].to_le_bytes())
    }

    fn is_palette(&self) -> bool {
        !self.has(HAS_FOUR_CC) && self.has(PALETTE) && self.0[3] == 8
    }

    /// Where the masks say that components lie.
    fn layout(&self) -> Result<Layout, Error> {
        let [_, _, _, bits, masks @ ..] = self.0;
        let unknown = || Error::Format(format!("{bits} bits by masks {masks:x?}"));
        let has_alpha = self.has(HAS_ALPHA | ALPHA_ONLY | BUMP);
        let has_colors = self.has(HAS_RGB | LUMINANCE | BUMP);
        let stored = [has_colors, has_colors, has_colors, has_alpha];
        let mut fields = [Field::NONE; 4];
        for ((field, mask), _) in fields.iter_mut().zip(masks).zip(stored).filter(|(_, stored)| *stored) {
            let (offset, width) = (mask.trailing_zeros() % 32, mask.count_ones());
            // A mask with gaps is no number.
            if (mask >> offset).trailing_ones() != width {
                return Err(unknown());
            }
            *field = Field { offset: offset as u8, bits: width as u8 };
        }
        let is_luminance = self.has(LUMINANCE) && !self.has(HAS_RGB);
        if is_luminance {
            // Some writers repeat the mask of luminance.
            fields[1..3].fill(Field::NONE);
        }
        if !matches!(bits, 8 | 16 | 24 | 32) {
            return Err(unknown());
        }
        let numeric = if self.has(BUMP) { Numeric::Snorm } else { Numeric::Unorm };
        let layout = Layout::new(bits as u8 / 8, numeric, fields).ok_or_else(unknown)?;
        Ok(if is_luminance { layout.luminance() } else { layout })
    }
}
