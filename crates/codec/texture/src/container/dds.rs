//! DDS: a header of 128 bytes, one of 20 more for DX10; layers, in them faces, in them levels.

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer, names};
use crate::format::{Extent, Format, Texel};
use std::borrow::Cow;

const HAS_FOUR_CC: u32 = 4;
const HAS_RGB: u32 = 0x40;
const CUBE: u32 = 0x200;
const VOLUME: u32 = 0x20_0000;
/// What DX10 says of alpha, and its value for colours that are multiplied by it.
const ALPHA_MODE: u32 = 7;
const PREMULTIPLIED: u32 = 2;
/// DX10's flag for cubes, and its dimension of volumes.
const DX10_CUBE: u32 = 4;
const DX10_VOLUME: u32 = 4;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    let mut reader = Reader { bytes };
    reader.take(4, "the header")?;
    let [size, _, height, width, _, depth, levels] = reader.words("the end of the header")?;
    reader.take(44, "the end of the header")?;
    let [pixel_size, flags, four_cc, bits, red, green, blue, alpha] =
        reader.words("the end of the header")?;
    let [_, caps2, _, _, _] = reader.words("the end of the header")?;
    if size != 124 || pixel_size != 32 {
        return Err(Error::Malformed("size of a header"));
    }
    let (mut cube, mut volume, mut layers) = (caps2 & CUBE != 0, caps2 & VOLUME != 0, 1);
    let mut premultiplied = false;
    let (format, transfer) = if flags & HAS_FOUR_CC != 0 {
        if &four_cc.to_le_bytes() == b"DX10" {
            let [dxgi, dimension, misc, array, more] = reader.words("the end of the DX10 header")?;
            premultiplied = more & ALPHA_MODE == PREMULTIPLIED;
            (cube, volume, layers) = (misc & DX10_CUBE != 0, dimension == DX10_VOLUME, array);
            names::dxgi(dxgi).ok_or_else(|| Error::Format(format!("DXGI {dxgi}")))?
        } else {
            let name = four_cc.to_le_bytes();
            premultiplied = matches!(&name, b"DXT2" | b"DXT4");
            let format = names::four_cc(name);
            let unknown = || Error::Format(name.escape_ascii().to_string());
            (format.ok_or_else(unknown)?, Transfer::Unknown)
        }
    } else if flags & HAS_RGB != 0
        && (bits, [red, green, blue, alpha]) == (32, [0xff, 0xff00, 0xff_0000, 0xff00_0000])
    {
        (Format::Plain(Texel::Rgba8), Transfer::Unknown)
    } else {
        return Err(Error::Format(format!("of {bits} bits by masks")));
    };
    let shape = Shape {
        container: Container::Dds,
        format,
        transfer,
        extent: Extent { width, height, depth: if volume { depth } else { 1 } },
        levels: levels.max(1),
        layers,
        faces: if cube { 6 } else { 1 },
    };
    let mut texture = shape.texture(limits)?;
    texture.premultiplied = premultiplied;
    for layer in 0..texture.layers {
        for face in 0..texture.faces {
            for level in 0..texture.levels {
                let data = reader.take(texture.image_bytes(level)?, "the last level")?;
                texture.push([level, layer, face], Cow::Borrowed(data));
            }
        }
    }
    Ok(texture)
}
