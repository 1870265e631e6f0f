//! PKM, as the reference encoder of ETC writes it: a header of 16 bytes, highest bytes first, and blocks.

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer};
use crate::format::{Extent, Format};
use std::borrow::Cow;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    const END: &str = "the end of the header";
    let mut reader = Reader { bytes, is_big: true };
    reader.take(4, END)?;
    let version = reader.array(END)?;
    let number = reader.u16(END)?;
    let [_, _, width, height] = [reader.u16(END)?, reader.u16(END)?, reader.u16(END)?, reader.u16(END)?];
    // Files of version 1 are of ETC1 alone.
    let (format, srgb) = match (&version, number) {
        (b"10", _) | (b"20", 0) => (Format::Etc1, false),
        (b"20", 1) => (Format::Etc2Rgb, false),
        (b"20", 3) => (Format::Etc2Rgba8, false),
        (b"20", 4) => (Format::Etc2Rgba1, false),
        (b"20", 5) => (Format::EacR11Unorm, false),
        (b"20", 6) => (Format::EacRg11Unorm, false),
        (b"20", 7) => (Format::EacR11Snorm, false),
        (b"20", 8) => (Format::EacRg11Snorm, false),
        (b"20", 9) => (Format::Etc2Rgb, true),
        (b"20", 10) => (Format::Etc2Rgba8, true),
        (b"20", 11) => (Format::Etc2Rgba1, true),
        _ => return Err(Error::Format(format!("{number} of PKM {}", version.escape_ascii()))),
    };
    let shape = Shape::picture(
        Container::Pkm,
        format,
        if srgb { Transfer::Srgb } else { Transfer::Unknown },
        Extent::flat(width.into(), height.into()),
    );
    let mut texture = shape.texture(limits)?;
    let data = reader.take(texture.level_bytes(0)?, "the last block")?;
    texture.push([0; 3], Cow::Borrowed(data));
    Ok(texture)
}
