//! CTPK, textures of the Nintendo 3DS: a header of 32 bytes, an entry of 32 for each texture, and levels in tiles of the
//! PICA200, the largest first. Source: <https://www.3dbrew.org/wiki/CTPK>; numbers of formats are the hardware's.

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer, name};
use crate::console::pica;
use crate::format::{Extent, Format};
use std::borrow::Cow;

const ENTRY: usize = 0x20;
/// Types of textures.
const CUBE: u8 = 0;
const LINE: u8 = 1;
const PICTURE: u8 = 2;

/// How many textures there are.
pub fn count(bytes: &[u8]) -> Result<usize, Error> {
    const END: &str = "the end of the entries";
    let count = usize::from(Reader::at(bytes, 6, END)?.u16(END)?);
    Reader::at(bytes, ENTRY as u64, END)?.take(ENTRY * count, END)?;
    Ok(count)
}

pub fn read<'a>(
    bytes: &'a [u8],
    index: usize,
    limits: &Limits,
    _held: &mut usize,
) -> Result<Texture<'a>, Error> {
    const END: &str = "the end of an entry";
    let section = Reader::at(bytes, 8, "the end of the header")?.u32("the end of the header")?;
    let mut reader = Reader::at(bytes, (ENTRY * (index + 1)) as u64, END)?;
    let [path, size, offset, number] = reader.words(END)?;
    let [width, height] = [reader.u16(END)?, reader.u16(END)?];
    let [levels, kind] = reader.array(END)?;
    let format = pica::Format::from_number(number).map(Format::Pica);
    let (dimensions, faces) = match kind {
        CUBE => (2, 6),
        LINE => (1, 1),
        PICTURE => (2, 1),
        _ => return Err(Error::Malformed("type of a texture")),
    };
    if faces > 1 && levels > 1 {
        // What comes first, faces or levels, is not documented.
        return Err(Error::Format("CTPK cube with levels".into()));
    }
    let shape = Shape {
        container: Container::Ctpk,
        format: format.ok_or_else(|| Error::Format(format!("PICA200 {number}")))?,
        transfer: Transfer::Unknown,
        extent: Extent::flat(width.into(), if kind == LINE { 1 } else { height.into() }),
        dimensions,
        levels: levels.max(1).into(),
        layers: 0,
        faces,
    };
    let mut texture = shape.texture(limits)?;
    texture.name = name(bytes, path.into());
    let start = u64::from(section) + u64::from(offset);
    let mut data = Reader::new(Reader::at(bytes, start, "a texture")?.take(size as usize, "a texture")?);
    for level in 0..texture.levels {
        for face in 0..texture.faces {
            let level_data = data.take(texture.image_bytes(level)?, "the last level")?;
            texture.push([level, 0, face], Cow::Borrowed(level_data));
        }
    }
    Ok(texture)
}
