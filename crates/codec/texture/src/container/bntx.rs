//! BNTX, textures of the Nintendo Switch in block-linear memory, which become rows of texels or blocks here. Sources:
//! "BNTX format documentation" of <https://github.com/Tyulis/3DSkit>, `docs/Structure.md` of
//! <https://github.com/EPD-Libraries/BntxLibrary>, and <https://epd.zeldamods.org/wiki/Bntx>.

use super::{Container, Error, Limits, Reader, Shape, Source, Swizzle, Texture, Transfer};
use crate::astc::Footprint;
use crate::console::tegra::{Block, Surface};
use crate::format::{Extent, Format, Profile};
use crate::plain::{Layout, Numeric};
use std::borrow::Cow;

/// Where fields lie: the byte order mark, the number of textures, and the address of the table of textures.
const MARK: u64 = 0x0c;
const COUNT: u64 = 0x24;
const TABLE: u64 = 0x28;
/// How texels lie.
const LINEAR: u16 = 1;
/// Kinds of textures.
const LINES: [u8; 2] = [0, 4];
const VOLUME: u8 = 2;
const CUBES: [u8; 2] = [3, 8];
const ARRAYS: [u8; 3] = [4, 5, 8];
const SAMPLES: [u8; 2] = [6, 7];
/// Kinds of numbers in a format's second byte.
const SRGB: u8 = 6;
const UFLOAT: u8 = 10;

/// How many textures there are.
pub fn count(bytes: &[u8]) -> Result<usize, Error> {
    const END: &str = "the end of the table of textures";
    let count = at(bytes, COUNT, END)?.u32(END)? as usize;
    at(bytes, at(bytes, TABLE, END)?.u64(END)?, END)?
        .take(count.checked_mul(8).ok_or(Error::TooLarge)?, END)?;
    Ok(count)
}

/// A cursor in the file's byte order.
fn at<'a>(bytes: &'a [u8], offset: u64, what: &'static str) -> Result<Reader<'a>, Error> {
    let is_big = match Reader::at(bytes, MARK, "the byte order mark")?.array("the byte order mark")? {
        [0xff, 0xfe] => false,
        [0xfe, 0xff] => true,
        _ => return Err(Error::Malformed("byte order mark")),
    };
    Ok(Reader { is_big, ..Reader::at(bytes, offset, what)? })
}

pub fn read<'a>(
    bytes: &'a [u8],
    index: usize,
    limits: &Limits,
    held: &mut usize,
) -> Result<Texture<'a>, Error> {
    const END: &str = "the end of a texture's description";
    let table = at(bytes, TABLE, END)?.u64(END)?;
    let entry = table.checked_add(8 * index as u64).ok_or(Error::Malformed("address"))?;
    let start = at(bytes, entry, END)?.u64(END)?;
    let mut reader = at(bytes, start, END)?;
    if reader.array(END)? != *b"BRTI" {
        return Err(Error::Malformed("description of a texture"));
    }
    reader.take(0x0e, END)?;
    let tile_mode = reader.u16(END)?;
    reader.take(2, END)?;
    let (levels, samples) = (reader.u16(END)?, reader.u16(END)?);
    reader.take(2, END)?;
    let number = reader.u32(END)?;
    reader.take(4, END)?;
    let [width, height, depth, layers, layout] = reader.words(END)?;
    reader.take(0x20, END)?;
    let channels: [u8; 4] = reader.array(END)?;
    let kind = reader.u8(END)?;
    reader.take(3, END)?;
    let name = reader.u64(END)?;
    reader.take(8, END)?;
    let pointers = reader.u64(END)?;
    let (format, transfer) = format(number).ok_or_else(|| Error::Format(format!("BNTX {number:#x}")))?;
    if samples > 1 || SAMPLES.contains(&kind) {
        return Err(Error::Format(format!("BNTX texture of {samples} samples")));
    }
    let faces = if CUBES.contains(&kind) { 6 } else { 1 };
    if layers.max(1) % faces.min(layers.max(1)) != 0 {
        return Err(Error::Malformed("number of layers"));
    }
    let layers = if ARRAYS.contains(&kind) || layers > faces { layers / faces } else { 0 };
    let shape = Shape {
        container: Container::Bntx,
        format,
        transfer,
        extent: Extent {
            width,
            height: if LINES.contains(&kind) { 1 } else { height },
            depth: if kind == VOLUME { depth } else { 1 },
        },
        dimensions: match kind {
            VOLUME => 3,
            _ if LINES.contains(&kind) => 1,
            _ => 2,
        },
        levels: levels.max(1).into(),
        layers,
        faces,
    };
    let mut texture = shape.texture(limits)?;
    texture.name = at(bytes, name, "a name").ok().and_then(text);
    texture.swizzle = swizzle(channels)?;
    let first = at(bytes, pointers, "the address of a level")?.u64("the address of a level")?;
    if tile_mode == LINEAR {
        linear(&mut texture, at(bytes, first, "a level")?)?;
        return Ok(texture);
    }
    let surface = surface(&texture, layout)?;
    for layer in 0..texture.layers {
        for face in 0..texture.faces {
            for level in 0..texture.levels {
                let placed = surface.placed(layer * texture.faces + face, level).ok_or(Error::TooLarge)?;
                let tiled = placed.level.tiled_bytes(placed.block).ok_or(Error::TooLarge)?;
                let start = first.checked_add(placed.tiled as u64).ok_or(Error::Malformed("address"))?;
                let tiles = at(bytes, start, "a level")?.take(tiled, "the last level")?;
                let size = texture.image_bytes(level)?;
                limits.take(held, size)?;
                let mut rows = vec![0; size];
                placed
                    .level
                    .untile(placed.block, tiles, &mut rows)
                    .map_err(|_| Error::Truncated("the last level"))?;
                texture.push([level, layer, face], Cow::Owned(rows));
            }
        }
    }
    Ok(texture)
}

/// Levels in rows.
fn linear<'a>(texture: &mut Texture<'a>, mut data: Reader<'a>) -> Result<(), Error> {
    for layer in 0..texture.layers {
        for face in 0..texture.faces {
            for level in 0..texture.levels {
                let rows = data.take(texture.image_bytes(level)?, "the last level")?;
                texture.push([level, layer, face], Cow::Borrowed(rows));
            }
        }
    }
    Ok(())
}

/// How levels lie. The file has the height of blocks; their depth is what drivers choose.
fn surface(texture: &Texture<'_>, layout: u32) -> Result<Surface, Error> {
    let Extent { width, height, depth } = texture.extent;
    let element_size = texture.format.block();
    let block = Block::usual(height.div_ceil(element_size[1]), depth).with_height(1 << (layout & 7));
    Ok(Surface {
        size: [width, height, depth],
        element_size,
        element: texture.format.block_bytes() as u32,
        levels: texture.levels,
        layers: texture.layers.checked_mul(texture.faces).ok_or(Error::TooLarge)?,
        block: block.ok_or(Error::Malformed("height of blocks"))?,
    })
}

/// A length and a text.
fn text(mut reader: Reader<'_>) -> Option<Cow<'_, str>> {
    let length = reader.u16("a name").ok()?;
    let text = reader.take(length.into(), "a name").ok()?;
    (!text.is_empty()).then(|| String::from_utf8_lossy(text))
}

/// What components are read from; nothing if from themselves.
fn swizzle(channels: [u8; 4]) -> Result<Option<Swizzle>, Error> {
    if channels == [2, 3, 4, 5] {
        return Ok(None);
    }
    let mut sources = [Source::Zero; 4];
    for (source, channel) in sources.iter_mut().zip(channels) {
        *source = match channel {
            0 => Source::Zero,
            1 => Source::One,
            2..=5 => Source::Component(channel - 2),
            _ => return Err(Error::Malformed("source of a component")),
        };
    }
    Ok(Some(Swizzle(sources)))
}

/// A format and its transfer function by its number: how components lie in the second byte, what they count in the first.
/// Components are named from the lowest bits up.
fn format(number: u32) -> Option<(Format, Transfer)> {
    let [kind, name, _, _] = number.to_le_bytes();
    let numeric = match kind {
        1 | SRGB => Numeric::Unorm,
        2 => Numeric::Snorm,
        3 => Numeric::Uint,
        4 => Numeric::Sint,
        5 | UFLOAT => Numeric::Float,
        _ => return None,
    };
    let array = |order: &[u8], bits| Layout::array(order, bits, numeric).map(Format::of_layout);
    let packed = |order: &[u8], bits: &[u8]| Layout::packed(order, bits, numeric).map(Format::of_layout);
    let signed = |unsigned, with_sign| if kind == 2 { with_sign } else { unsigned };
    let format = match name {
        0x02 => array(b"r", 8)?,
        0x07 => packed(b"bgr", &[5, 6, 5])?,
        0x08 => packed(b"rgb", &[5, 6, 5])?,
        0x09 => array(b"rg", 8)?,
        0x0a => array(b"r", 16)?,
        0x0b => array(b"rgba", 8)?,
        0x0c => array(b"bgra", 8)?,
        0x0d => Format::E5b9g9r9,
        0x0e => packed(b"abgr", &[2, 10, 10, 10])?,
        0x0f => packed(b"bgr", &[10, 11, 11])?,
        0x12 => array(b"rg", 16)?,
        0x14 => array(b"r", 32)?,
        0x15 => array(b"rgba", 16)?,
        0x17 => array(b"rg", 32)?,
        0x18 => array(b"rgb", 32)?,
        0x19 => array(b"rgba", 32)?,
        0x1a => Format::Bc1,
        0x1b => Format::Bc2,
        0x1c => Format::Bc3,
        0x1d => signed(Format::Bc4Unorm, Format::Bc4Snorm),
        0x1e => signed(Format::Bc5Unorm, Format::Bc5Snorm),
        0x1f if kind == UFLOAT => Format::Bc6hUfloat,
        0x1f => Format::Bc6hSfloat,
        0x20 => Format::Bc7,
        0x2d..=0x3a => {
            let profile = match kind {
                SRGB => Profile::Srgb,
                5 | UFLOAT => Profile::Hdr,
                _ => Profile::LdrUnorm8,
            };
            Format::Astc(*Footprint::ALL.get(usize::from(name) - 0x2d)?, profile)
        }
        _ => return None,
    };
    Some((format, Transfer::of_number(kind == SRGB)))
}
