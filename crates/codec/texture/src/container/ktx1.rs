//! KTX 1: a header of 64 bytes, pairs of keys and values, and levels, each with its size.

use super::{Container, Error, Limits, Orientation, Reader, Shape, Texture, names};
use crate::format::{Extent, Format};
use std::borrow::Cow;

const IDENTIFIER: [u8; 12] = *b"\xabKTX 11\xbb\r\n\x1a\n";
const LITTLE_ENDIAN: u32 = 0x0403_0201;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    let mut reader = Reader { bytes };
    if reader.take(IDENTIFIER.len(), "the end of the identifier")? != IDENTIFIER {
        return Err(Error::Unknown);
    }
    let [endian, ty, _, format, internal, _, width, height, depth, layers, faces, levels, pairs] =
        reader.words("the end of the header")?;
    if endian != LITTLE_ENDIAN {
        return Err(Error::Malformed("byte order; only little-endian files are read"));
    }
    let pairs = reader.take(pairs as usize, "the end of the keys")?;
    let (mut stored, transfer) =
        names::gl(internal).ok_or_else(|| Error::Format(format!("GL {internal:#x}")))?;
    if let Format::Plain(_) = stored {
        let unknown = || Error::Format(format!("GL {internal:#x} of {format:#x}, {ty:#x}"));
        stored = names::gl_order(stored, format, ty).ok_or_else(unknown)?;
    }
    let shape = Shape {
        container: Container::Ktx1,
        format: stored,
        transfer,
        extent: Extent { width, height: height.max(1), depth: depth.max(1) },
        levels: levels.max(1),
        layers: layers.max(1),
        faces,
    };
    let mut texture = shape.texture(limits)?;
    texture.orientation = orientation(Reader { bytes: pairs });
    for level in 0..texture.levels {
        reader.u32("the size of a level")?;
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let data = reader.take(texture.image_bytes(level)?, "the last level")?;
                texture.push([level, layer, face], Cow::Borrowed(data));
                // Blocks fill whole words; plain texels may not.
                let padding = data.len().next_multiple_of(4) - data.len();
                reader.take(padding.min(reader.bytes.len()), "the padding")?;
            }
        }
    }
    Ok(texture)
}

/// What the pairs say of the picture's orientation; damaged pairs say nothing.
fn orientation(mut pairs: Reader<'_>) -> Option<Orientation> {
    loop {
        let size = pairs.u32("a key").ok()? as usize;
        let pair = pairs.take(size, "a value").ok()?;
        let padding = size.next_multiple_of(4) - size;
        pairs.take(padding.min(pairs.bytes.len()), "the padding").ok()?;
        if let Some(value) = pair.strip_prefix(b"KTXorientation\0") {
            return Orientation::from_assignments(value.strip_suffix(b"\0").unwrap_or(value));
        }
    }
}
