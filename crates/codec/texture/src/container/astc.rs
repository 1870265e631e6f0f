//! `.astc`, as the reference encoder writes it: a header of 16 bytes, and blocks.

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer};
use crate::astc::Footprint;
use crate::format::{Extent, Format, Profile};
use std::borrow::Cow;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    const END: &str = "the end of the header";
    let mut reader = Reader::new(bytes);
    reader.take(4, END)?;
    let [w, h, d] = reader.array(END)?.map(|size: u8| u32::from(size));
    let footprint = Footprint::new(w, h, d).ok_or(Error::Malformed("size of blocks"))?;
    let extent = Extent { width: reader.u24(END)?, height: reader.u24(END)?, depth: reader.u24(END)? };
    let shape = Shape {
        container: Container::Astc,
        format: Format::Astc(footprint, Profile::LdrUnorm8),
        transfer: Transfer::Unknown,
        extent,
        dimensions: if d > 1 || extent.depth > 1 { 3 } else { 2 },
        levels: 1,
        layers: 0,
        faces: 1,
    };
    let mut texture = shape.texture(limits)?;
    let data = reader.take(texture.level_bytes(0)?, "the last block")?;
    texture.push([0; 3], Cow::Borrowed(data));
    Ok(texture)
}
