//! KTX 1: a header of 64 bytes, pairs of keys and values, and levels, each with its size.

use super::{Container, Error, Limits, Orientation, Reader, Shape, Texture, Transfer, pairs};
use crate::format::Extent;
use crate::names;
use std::borrow::Cow;

const IDENTIFIER: [u8; 12] = *b"\xabKTX 11\xbb\r\n\x1a\n";
const SAME_ENDIAN: u32 = 0x0403_0201;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    let mut reader = Reader::new(bytes);
    if reader.take(IDENTIFIER.len(), "the end of the identifier")? != IDENTIFIER {
        return Err(Error::Unknown);
    }
    let endian = reader.u32("the end of the header")?;
    reader.is_big = endian.swap_bytes() == SAME_ENDIAN;
    if endian != SAME_ENDIAN && !reader.is_big {
        return Err(Error::Malformed("byte order"));
    }
    let [ty, type_size, format, internal, base, width, height, depth, layers, faces, levels, length] =
        reader.words("the end of the header")?;
    let is_big = reader.is_big;
    let pairs = reader.take(length as usize, "the end of the keys")?;
    let known = match (ty, format) {
        (0, 0) => names::gl(internal),
        // Some writers leave out what the internal format of blocks says.
        (0, _) | (_, 0) => names::gl(internal).or_else(|| names::gl_plain(internal, base, ty)),
        _ => names::gl_plain(internal, format, ty).or_else(|| names::gl(internal)),
    };
    let unknown = || Error::Format(format!("GL {internal:#x} of {format:#x}, {ty:#x}"));
    let (stored, srgb) = known.ok_or_else(unknown)?;
    let shape = Shape {
        container: Container::Ktx1,
        format: stored,
        transfer: Transfer::of_number(srgb),
        extent: Extent { width, height: height.max(1), depth: depth.max(1) },
        dimensions: match (height, depth) {
            (_, 1..) => 3,
            (1.., _) => 2,
            _ => 1,
        },
        levels: levels.max(1),
        layers,
        faces,
    };
    let mut texture = shape.texture(limits)?;
    texture.pairs = pairs::read(Reader { bytes: pairs, is_big })?;
    texture.orientation =
        pairs::text(&texture.pairs, pairs::ORIENTATION).and_then(Orientation::from_assignments);
    texture.pairs.retain(|pair| pair.key != pairs::ORIENTATION);
    // Words of files from machines of the other order are turned round.
    let word = if is_big { type_size } else { 1 };
    if !matches!(word, 1 | 2 | 4) {
        return Err(Error::Malformed("size of a type"));
    }
    let is_plain = stored.block()[0] == 1;
    let mut held = 0;
    for level in 0..texture.levels {
        reader.u32("the size of a level")?;
        let extent = texture.level_extent(level);
        let row = stored.data_bytes(Extent { height: 1, depth: 1, ..extent }).ok_or(Error::TooLarge)?;
        // Rows of texels begin at multiples of four bytes; blocks fill whole words.
        let pitch = if is_plain { row.next_multiple_of(4) } else { row };
        let needed = texture.image_bytes(level)?;
        let rows = needed.checked_div(row).unwrap_or(0);
        let stored_bytes = if is_plain { rows.checked_mul(pitch) } else { Some(needed) };
        let stored_bytes = stored_bytes.ok_or(Error::TooLarge)?;
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let data = reader.take(stored_bytes, "the last level")?;
                let mut data = if stored_bytes == needed {
                    Cow::Borrowed(data)
                } else {
                    limits.take(&mut held, needed)?;
                    Cow::Owned(data.chunks_exact(pitch).flat_map(|padded| &padded[..row]).copied().collect())
                };
                if word > 1 {
                    if let Cow::Borrowed(_) = data {
                        limits.take(&mut held, needed)?;
                    }
                    data.to_mut().chunks_exact_mut(word as usize).for_each(<[u8]>::reverse);
                }
                texture.push([level, layer, face], data);
                reader.skip(stored_bytes.next_multiple_of(4) - stored_bytes);
            }
        }
    }
    Ok(texture)
}
