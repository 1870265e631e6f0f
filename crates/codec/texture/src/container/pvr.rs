//! PVR of version 3: a header of 52 bytes, metadata, and levels, in them layers, in them faces.

use super::{Container, Error, Limits, Orientation, Reader, Shape, Texture, Transfer};
use crate::astc::Footprint;
use crate::format::{Extent, Format, Profile};
use crate::plain::{Layout, Numeric};
use std::borrow::Cow;

const PREMULTIPLIED: u32 = 2;
/// Metadata of this vendor, and its key for the orientation: a byte for each axis.
const VENDOR: u32 = 0x0352_5650;
const ORIENTATION: u32 = 3;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    const END: &str = "the end of the header";
    let mut reader = Reader::new(bytes);
    reader.take(4, END)?;
    let [flags, low, high, space, ty, height, width, depth, layers, faces, levels, metadata] =
        reader.words(END)?;
    let metadata = reader.take(metadata as usize, "the end of the metadata")?;
    let format = match high {
        0 => compressed(low, ty, space == 1),
        _ => plain(low.to_le_bytes(), high.to_le_bytes(), ty),
    };
    let format = format.ok_or_else(|| Error::Format(format!("PVR {high:#x}:{low:#x} of type {ty}")))?;
    let shape = Shape {
        container: Container::Pvr,
        format,
        transfer: if space == 1 { Transfer::Srgb } else { Transfer::Linear },
        extent: Extent { width, height, depth: depth.max(1) },
        dimensions: if depth > 1 { 3 } else { 2 },
        levels: levels.max(1),
        layers: if layers > 1 { layers } else { 0 },
        faces: faces.max(1),
    };
    let mut texture = shape.texture(limits)?;
    texture.premultiplied = flags & PREMULTIPLIED != 0;
    texture.orientation = orientation(Reader::new(metadata));
    for level in 0..texture.levels {
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let data = reader.take(texture.image_bytes(level)?, "the last level")?;
                texture.push([level, layer, face], Cow::Borrowed(data));
            }
        }
    }
    Ok(texture)
}

/// What metadata say of the orientation; damaged ones say nothing.
fn orientation(mut metadata: Reader<'_>) -> Option<Orientation> {
    loop {
        let [vendor, key, size] = metadata.words("a header").ok()?;
        let data = metadata.take(size as usize, "a value").ok()?;
        if (vendor, key) == (VENDOR, ORIENTATION) {
            let [left, up, out] = data.first_chunk()?.map(|byte| byte != 0);
            return Some(Orientation { left, up, out });
        }
    }
}

/// A format of blocks by its number, and channel type where there are several.
fn compressed(number: u32, ty: u32, srgb: bool) -> Option<Format> {
    let signed = matches!(ty, 1 | 3 | 5 | 7 | 9 | 11);
    let choose = |unsigned, with_sign| if signed { with_sign } else { unsigned };
    Some(match number {
        6 => Format::Etc1,
        7 => Format::Bc1,
        8 | 9 => Format::Bc2,
        10 | 11 => Format::Bc3,
        12 => choose(Format::Bc4Unorm, Format::Bc4Snorm),
        13 => choose(Format::Bc5Unorm, Format::Bc5Snorm),
        // Writers put 0 or 13 for floats without a sign.
        14 if ty == 12 => Format::Bc6hSfloat,
        14 => Format::Bc6hUfloat,
        15 => Format::Bc7,
        19 => Format::E5b9g9r9,
        20 => Format::R8g8B8g8,
        21 => Format::G8r8G8b8,
        22 => Format::Etc2Rgb,
        23 => Format::Etc2Rgba8,
        24 => Format::Etc2Rgba1,
        25 => choose(Format::EacR11Unorm, Format::EacR11Snorm),
        26 => choose(Format::EacRg11Unorm, Format::EacRg11Snorm),
        27..=50 => {
            let profile = match ty {
                12 | 13 => Profile::Hdr,
                _ if srgb => Profile::Srgb,
                _ => Profile::LdrUnorm8,
            };
            Format::Astc(*Footprint::ALL.get(number as usize - 27)?, profile)
        }
        _ => return None,
    })
}

/// A plain format by the letters of its components and their bits: the first is at the lowest address, or in the
/// highest bits of a word.
fn plain(letters: [u8; 4], bits: [u8; 4], ty: u32) -> Option<Format> {
    let count = letters.iter().position(|&letter| letter == 0).unwrap_or(4);
    let (letters, bits) = (letters.get(..count)?, bits.get(..count)?);
    let numeric = match ty {
        0 | 4 | 8 => Numeric::Unorm,
        1 | 5 | 9 => Numeric::Snorm,
        2 | 6 | 10 => Numeric::Uint,
        3 | 7 | 11 => Numeric::Sint,
        12 | 13 => Numeric::Float,
        _ => return None,
    };
    let first = *bits.first()?;
    let is_array = bits.iter().all(|&b| b == first) && matches!(first, 8 | 16 | 32);
    let layout = match letters {
        _ if is_array => Layout::array(letters, first, numeric),
        // These floats lie from the lowest bits up.
        b"rgb" if bits == [11, 11, 10] => Layout::packed(b"bgr", &[10, 11, 11], numeric),
        _ => Layout::packed(letters, bits, numeric),
    };
    layout.map(Format::of_layout)
}
