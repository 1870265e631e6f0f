//! NSBTX, textures and palettes of the Nintendo DS's 3D unit, and the textures in NSBMD: each becomes colours by a palette.
//! Sources: the pages "NSBTX" and "G3D Binary File Format" of <https://wiki.dshack.org>, and "NSBTX" of
//! <https://dswiki.garhoogin.com>.
//!
//! A file does not say which palette a texture has: a model's materials do. It is the one of the texture's name with `_pl`
//! behind it, which is what converters write; or of the same name, of the same number where there are as many palettes as
//! textures, or the only one.

use super::{Container, Error, Limits, Reader, Shape, Texture, Transfer};
use crate::console::ds;
use crate::format::{Channels, Extent, Format, Texel};
use std::borrow::Cow;

/// Letters of a name; behind its end there are zeros.
const NAME: usize = 16;
/// The texture memory, in slots.
const MEMORY: usize = 512 << 10;
const SLOT: usize = 128 << 10;
/// TEXIMAGE_PARAM's field of the address.
const ADDRESS: u32 = 0xffff;
/// Formats of TEXIMAGE_PARAM.
const COMPRESSED: u32 = 5;
const DIRECT: u32 = 7;

/// How many textures there are.
pub fn count(bytes: &[u8]) -> Result<usize, Error> {
    Ok(Set::open(bytes)?.textures.count)
}

pub fn read<'a>(
    bytes: &'a [u8],
    index: usize,
    limits: &Limits,
    held: &mut usize,
) -> Result<Texture<'a>, Error> {
    let set = Set::open(bytes)?;
    let (name, mut entry) = set.textures.entry(index)?;
    let param = entry.u32("an entry")?;
    let registers = ds::Texture { param: param & !ADDRESS, palette_base: 0 };
    let [width, height] = [registers.width(), registers.height()];
    let shape = Shape::picture(
        Container::Nsbtx,
        Format::Plain(Texel::Rgba8),
        Transfer::Unknown,
        Extent::flat(width as u32, height as u32),
    );
    let mut texture = shape.texture(limits)?;
    texture.name = text(name);
    let format = param >> 26 & 7;
    if format == 0 {
        return Err(Error::Malformed("format of a texture"));
    }
    let has_alpha = matches!(format, 1 | COMPRESSED | 6 | DIRECT) || param >> 29 & 1 != 0;
    texture.channels = if has_alpha { Channels::Rgba } else { Channels::Rgb };
    let palette = match format {
        DIRECT => &[],
        _ => set.palette_of(name, index)?,
    };
    let address = u64::from(param & ADDRESS) << 3;
    let bits = match format {
        2 | COMPRESSED => 2,
        3 => 4,
        DIRECT => 16,
        _ => 8,
    };
    let size = width * height * bits / 8;
    if size > if format == COMPRESSED { SLOT } else { MEMORY } {
        return Err(Error::Malformed("size of a texture"));
    }
    // Texels as the decoder makes them, and as they stay; and the slots of compressed ones.
    limits.take(held, 4 * width * height)?;
    limits.allow(*held + 4 * width * height + if format == COMPRESSED { 2 * SLOT } else { 0 })?;
    let memory = set.texels(format, address, size)?;
    let mut decoded = vec![ds::Texel::default(); width * height];
    registers
        .decode_into(&ds::Memory { texture: &memory, palette }, &mut decoded)
        .map_err(|_| Error::Malformed("format of a texture"))?;
    // Colours of what is transparent mean nothing.
    let seen = |texel: &ds::Texel| if texel.alpha == 0 { [0; 4] } else { texel.rgba8() };
    texture.push([0; 3], Cow::Owned(decoded.iter().flat_map(seen).collect()));
    Ok(texture)
}

/// The block `TEX0`.
struct Set<'a> {
    block: &'a [u8],
    textures: Dictionary<'a>,
    palettes: Option<Dictionary<'a>>,
}

impl<'a> Set<'a> {
    fn open(bytes: &'a [u8]) -> Result<Set<'a>, Error> {
        const END: &str = "the end of the header";
        let mut reader = Reader::at(bytes, 12, END)?;
        let (size, count) = (reader.u16(END)?, reader.u16(END)?);
        let mut offsets = Reader::at(bytes, size.into(), END)?;
        for _ in 0..count {
            let offset = offsets.u32(END)?;
            let mut block = Reader::at(bytes, offset.into(), "a block")?;
            let whole = block.bytes;
            if block.array("a block")? == *b"TEX0" {
                let size = block.u32("a block")? as usize;
                return Set::of(whole.get(..size).ok_or(Error::Truncated("the end of a block"))?);
            }
        }
        Err(Error::Malformed("number of blocks of textures"))
    }

    fn of(block: &'a [u8]) -> Result<Set<'a>, Error> {
        let textures = Reader::at(block, 0x0e, "a dictionary")?.u16("a dictionary")?;
        let palettes = Reader::at(block, 0x34, "a dictionary")?.u16("a dictionary")?;
        let palettes = if palettes == 0 { None } else { Some(Dictionary::open(block, palettes)?) };
        Ok(Set { block, textures: Dictionary::open(block, textures)?, palettes })
    }

    fn offset(&self, at: u64) -> Result<u64, Error> {
        Ok(Reader::at(self.block, at, "the end of a header")?.u32("the end of a header")?.into())
    }

    /// Texture memory with a texture of `size` bytes at its start; of a compressed one with its words in slot 1.
    fn texels(&self, format: u32, address: u64, size: usize) -> Result<Cow<'a, [u8]>, Error> {
        let at = |field: u64, address: u64, size: usize| {
            Reader::at(self.block, self.offset(field)? + address, "texels")?.take(size, "the last texel")
        };
        if format != COMPRESSED {
            return Ok(Cow::Borrowed(at(0x14, address, size)?));
        }
        let mut memory = at(0x24, address, size)?.to_vec();
        memory.resize(SLOT, 0);
        memory.extend(at(0x28, address / 2, size / 2)?);
        Ok(Cow::Owned(memory))
    }

    /// The palette memory from a texture's palette on.
    fn palette_of(&self, name: &[u8], index: usize) -> Result<&'a [u8], Error> {
        const NONE: Error = Error::Malformed("palette of a texture");
        let palettes = self.palettes.as_ref().ok_or(NONE)?;
        let suffixed = |other: &[u8]| {
            // Names are cut at sixteen letters.
            let whole = [name, b"_pl"].concat();
            other == whole.get(..NAME.min(whole.len())).unwrap_or_default()
        };
        let chosen = palettes
            .find(suffixed)
            .or_else(|| palettes.find(|other| other == name))
            .or((palettes.count == self.textures.count).then_some(index))
            .or((palettes.count == 1).then_some(0))
            .ok_or(NONE)?;
        let offset = u64::from(palettes.entry(chosen)?.1.u16("an entry")?) << 3;
        let start = self.offset(0x38)?;
        Ok(Reader::at(self.block, start + offset, "a palette")?.bytes)
    }
}

/// Names and what they stand for, in entries of one size.
struct Dictionary<'a> {
    count: usize,
    unit: usize,
    entries: &'a [u8],
    names: &'a [[u8; NAME]],
}

impl<'a> Dictionary<'a> {
    /// Behind the header there is a tree for searching, which is left out.
    fn open(block: &'a [u8], offset: u16) -> Result<Dictionary<'a>, Error> {
        const END: &str = "the end of a dictionary";
        let start = u64::from(offset);
        let mut header = Reader::at(block, start, END)?;
        let [_, count] = header.array(END)?;
        header.take(4, END)?;
        let (count, entries) = (usize::from(count), u64::from(header.u16(END)?));
        let mut reader = Reader::at(block, start + entries, END)?;
        let (unit, names) = (usize::from(reader.u16(END)?), u64::from(reader.u16(END)?));
        let entries_at = start + entries;
        let entries = reader.take(count * unit, END)?;
        let names = Reader::at(block, entries_at + names, END)?.take(count * NAME, END)?;
        Ok(Dictionary { count, unit, entries, names: names.as_chunks().0 })
    }

    fn entry(&self, index: usize) -> Result<(&'a [u8], Reader<'a>), Error> {
        let entry = self.entries.get(index * self.unit..).and_then(|rest| rest.get(..self.unit));
        let (name, entry) =
            self.names.get(index).zip(entry).ok_or(Error::Truncated("the end of a dictionary"))?;
        Ok((trimmed(name), Reader::new(entry)))
    }

    fn find(&self, is_it: impl Fn(&[u8]) -> bool) -> Option<usize> {
        self.names.iter().position(|name| is_it(trimmed(name)))
    }
}

/// A name without the zeros behind it.
fn trimmed(name: &[u8; NAME]) -> &[u8] {
    let end = name.iter().position(|&letter| letter == 0).unwrap_or(NAME);
    name.get(..end).unwrap_or_default()
}

fn text(name: &[u8]) -> Option<Cow<'_, str>> {
    (!name.is_empty()).then(|| String::from_utf8_lossy(name))
}
