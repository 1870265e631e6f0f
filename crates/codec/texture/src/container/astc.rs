//! `.astc`, as the reference encoder writes it: a header of 16 bytes, and blocks.

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer};
use crate::astc::Footprint;
use crate::format::{Extent, Format, Profile};
use std::borrow::Cow;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    let mut reader = Reader { bytes };
    let header = reader.take(16, "the end of the header")?;
    let [w, h, d] = [4, 5, 6].map(|i| u32::from(header[i]));
    let footprint = Footprint::new(w, h, d).ok_or(Error::Malformed("size of blocks"))?;
    let size = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], 0]);
    let shape = Shape {
        container: Container::Astc,
        format: Format::Astc(footprint, Profile::LdrUnorm8),
        transfer: Transfer::Unknown,
        extent: Extent { width: size(7), height: size(10), depth: size(13) },
        levels: 1,
        layers: 1,
        faces: 1,
    };
    let mut texture = shape.texture(limits)?;
    let data = reader.take(texture.level_bytes(0)?, "the last block")?;
    texture.push([0; 3], Cow::Borrowed(data));
    Ok(texture)
}
