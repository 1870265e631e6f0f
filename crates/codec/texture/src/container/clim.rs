//! BCLIM and BFLIM, pictures of layouts of the Nintendo 3DS: texels in tiles of the PICA200, then a footer of 40 bytes.
//! Sources: <https://nintendo-formats.com/libs/nw/bflim.html>, and the pages "BCLIM (File Format)" and "BFLIM (File Format)" of
//! Wexos's Wiki. BFLIM of the Wii U has the same footer with the highest bytes first, and surfaces of its GPU: [`cafe`].

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer, cafe};
use crate::console::pica;
use crate::format::{Extent, Format};
use std::borrow::Cow;

/// Bytes of the footer: its header, the section of the image, and the size of the data.
const FOOTER: usize = 0x28;
/// The smallest size that the hardware has.
const SMALLEST: u32 = 8;

/// The footer, if the file has one.
pub fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let footer = bytes.get(bytes.len().checked_sub(FOOTER)?..)?;
    matches!(footer.first_chunk(), Some(b"CLIM" | b"FLIM")).then_some(footer)
}

pub fn read<'a>(bytes: &'a [u8], footer: &[u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    const END: &str = "the end of the footer";
    let mut reader = Reader::new(footer);
    let is_clim = reader.array(END)? == *b"CLIM";
    let mark = reader.u16(END)?;
    reader.take(14, END)?;
    let section = reader.array(END)?;
    if section != *b"imag" {
        return Err(Error::Malformed("section of an image"));
    }
    reader.is_big = match mark {
        0xfeff => false,
        0xfffe if is_clim => return Err(Error::Format("BCLIM with its highest bytes first".into())),
        0xfffe => true,
        _ => return Err(Error::Malformed("byte order mark")),
    };
    reader.take(4, END)?;
    let [width, height] = [u32::from(reader.u16(END)?), u32::from(reader.u16(END)?)];
    let (number, tiling) = if is_clim {
        (reader.u32(END)?, 0)
    } else {
        reader.take(2, END)?;
        let [number, tiling] = reader.array(END)?;
        (number.into(), tiling)
    };
    let size = reader.u32(END)? as usize;
    let data = bytes.get(..size).filter(|_| size <= bytes.len() - footer.len());
    let data = data.ok_or(Error::Truncated("the footer"))?;
    if reader.is_big {
        return cafe::read(data, [width, height], number, tiling, limits);
    }
    if tiling != 0 {
        return Err(Error::Format(format!("BFLIM with tile mode {tiling:#x}")));
    }
    let format = match number {
        0 => pica::Format::I8,
        1 => pica::Format::A8,
        2 => pica::Format::Ia4,
        3 => pica::Format::Ia8,
        4 => pica::Format::Rg8,
        5 => pica::Format::Rgb565,
        6 => pica::Format::Rgb8,
        7 => pica::Format::Rgb5A1,
        8 => pica::Format::Rgba4,
        9 => pica::Format::Rgba8,
        10 => pica::Format::Etc1,
        11 => pica::Format::Etc1A4,
        12 if is_clim => pica::Format::I4,
        13 if is_clim => pica::Format::A4,
        _ => return Err(Error::Format(format!("{number} of {}LIM", if is_clim { "BC" } else { "BF" }))),
    };
    let shape = Shape::picture(
        if is_clim { Container::Bclim } else { Container::Bflim },
        Format::Pica(format),
        Transfer::Unknown,
        Extent::flat(width, height),
    );
    let mut texture = shape.texture(limits)?;
    let padded = memory_width(texture.format, texture.extent, size)?;
    texture.push([0; 3], tiles(&texture, data, padded, limits)?);
    Ok(texture)
}

/// Texels of a row of tiles in memory. Pictures lie in textures, whose sides are powers of two; some writers only fill
/// the last tiles.
fn memory_width(format: Format, Extent { width, height, .. }: Extent, size: usize) -> Result<u32, Error> {
    let power = |side: u32| side.next_power_of_two().max(SMALLEST);
    let whole = |side: u32| side.next_multiple_of(SMALLEST);
    let candidates = [[power(width), power(height)], [whole(width), whole(height)]];
    let fits = |[w, h]: &[u32; 2]| format.data_bytes(Extent::flat(*w, *h)) == Some(size);
    candidates.into_iter().find(fits).map(|[w, _]| w).ok_or(Error::Malformed("size of the data"))
}

/// The tiles that have texels of the picture: `data` have rows of tiles of `padded` texels.
fn tiles<'a>(
    texture: &Texture<'_>,
    data: &'a [u8],
    padded: u32,
    limits: &Limits,
) -> Result<Cow<'a, [u8]>, Error> {
    let needed = texture.image_bytes(0)?;
    let row = |width: u32| width.div_ceil(SMALLEST) as usize * texture.format.block_bytes();
    let [used, stride] = [row(texture.extent.width), row(padded)];
    if used == stride {
        return data.get(..needed).map(Cow::Borrowed).ok_or(Error::Truncated("the footer"));
    }
    limits.allow(needed)?;
    let rows = data.chunks(stride).filter_map(|row| row.get(..used));
    let tiles: Vec<u8> = rows.take(needed / used).flatten().copied().collect();
    Ok(Cow::Owned(tiles))
}
