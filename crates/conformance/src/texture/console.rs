//! Files of consoles' formats: `vectors/texture/FORMAT.md`, section console.

use super::same;
use crate::Error;
use crate::input::Reader;
use crate::report::{Case, Verdict};
use xenoglot_texture::console::tegra::{Block, Level, Surface};
use xenoglot_texture::console::{ds, pica};
use xenoglot_texture::{Extent, Format, decode_into};

/// Most bytes of a surface.
const MAX_SURFACE: usize = 1 << 28;

pub(super) fn pica(bytes: &[u8]) -> Result<Vec<Case>, Error> {
    let mut reader = Reader::new(bytes);
    reader.take(8)?;
    let mut cases = Vec::new();
    for _ in 0..reader.u32()? {
        let offset = reader.offset();
        let format = pica::Format::ALL
            .get(usize::from(reader.u8()?))
            .ok_or(Error::Malformed { offset, what: "format" })?;
        reader.u8()?;
        let (width, height) = (reader.u16()?, reader.u16()?);
        reader.u16()?;
        let length = reader.u32()? as usize;
        let data = reader.take(length)?;
        let expected = reader.take(usize::from(width) * usize::from(height) * 4)?;
        let mut texels = vec![0; expected.len()];
        let extent = Extent::flat(width.into(), height.into());
        let verdict = match decode_into(Format::Pica(*format), extent, data, &mut texels) {
            Ok(()) => same(&texels, expected),
            Err(e) => Verdict::Failed(e.to_string()),
        };
        cases.push(Case { name: format!("pica/{format:?}"), verdict });
    }
    Ok(cases)
}

pub(super) fn ds(bytes: &[u8]) -> Result<Vec<Case>, Error> {
    let mut reader = Reader::new(bytes);
    reader.take(8)?;
    let count = reader.u32()?;
    let (texture, palette) = (reader.u32()? as usize, reader.u32()? as usize);
    let memory = ds::Memory { texture: reader.take(texture)?, palette: reader.take(palette)? };
    let mut cases = Vec::new();
    for i in 0..count {
        let texture = ds::Texture { param: reader.u32()?, palette_base: reader.u32()? };
        let (width, height) = (usize::from(reader.u16()?), usize::from(reader.u16()?));
        let offset = reader.offset();
        let length = reader.u32()? as usize;
        if [width, height] != [texture.width(), texture.height()] || length != width * height * 3 {
            return Err(Error::Malformed { offset, what: "size of a texture" });
        }
        let expected = reader.take(length)?;
        let mut texels = vec![ds::Texel::default(); width * height];
        let different = |(got, want): (&ds::Texel, &[u8])| {
            got.alpha != want[2] || got.alpha != 0 && got.color != u16::from_le_bytes([want[0], want[1]])
        };
        let verdict = match texture.decode_into(&memory, &mut texels) {
            Err(e) => Verdict::Failed(e.to_string()),
            Ok(()) => match texels.iter().zip(expected.chunks_exact(3)).position(different) {
                None => Verdict::Passed,
                Some(at) => Verdict::Failed(format!("texel {at}: {:x?}", texels[at])),
            },
        };
        cases.push(Case { name: format!("ds/{i} (format {})", texture.param >> 26 & 7), verdict });
    }
    Ok(cases)
}

/// A line of the text file: fields with `=`.
struct Line<'a>(&'a str);

impl Line<'_> {
    fn text(&self, key: &'static str) -> Result<&str, Error> {
        let mut fields = self.0.split(' ').filter_map(|field| field.split_once('='));
        let found = fields.find(|(name, _)| *name == key).map(|(_, value)| value);
        found.ok_or(Error::Malformed { offset: 0, what: key })
    }

    fn number(&self, key: &'static str) -> Result<u32, Error> {
        self.text(key)?.parse().map_err(|_| Error::Malformed { offset: 0, what: key })
    }
}

pub(super) fn tegra(bytes: &[u8]) -> Result<Vec<Case>, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::Malformed { offset: 0, what: "text" })?;
    text.lines()
        .enumerate()
        .map(|(i, line)| {
            let verdict = swizzled(line)?;
            Ok(Case { name: format!("tegra/{}", i + 1), verdict })
        })
        .collect()
}

/// Swizzles the input of a line, compares, and brings it back.
fn swizzled(text: &str) -> Result<Verdict, Error> {
    let line = Line(text);
    let size = [line.number("w")?, line.number("h")?, line.number("d")?];
    let (input, output) = (line.number("in")?, line.number("out")? as usize);
    let checksum = u32::from_str_radix(line.text("crc")?, 16)
        .map_err(|_| Error::Malformed { offset: 0, what: "crc" })?;
    if output > MAX_SURFACE || input as usize > MAX_SURFACE {
        return Err(Error::Malformed { offset: 0, what: "size of a surface" });
    }
    let byte = |i: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(12345) >> 24) as u8;
    let linear: Vec<u8> = (0..input).map(byte).collect();
    let (mut tiled, mut back) = (vec![0; output], vec![0; linear.len()]);
    let element = line.number("bpp")?;

    let error = if text.starts_with("L2B") {
        let level = Level { width: size[0], rows: size[1], slices: size[2], element };
        let block = Block::usual(size[1], size[2])
            .with_height(line.number("bh")?)
            .ok_or(Error::Malformed { offset: 0, what: "bh" })?;
        if level.tiled_bytes(block) != Some(output) {
            return Ok(Verdict::Failed(format!("{:?} bytes, expected {output}", level.tiled_bytes(block))));
        }
        level.tile(block, &linear, &mut tiled).and_then(|()| level.untile(block, &tiled, &mut back)).err()
    } else {
        let texels = line.number("block")?;
        let surface = Surface {
            size,
            element_size: [texels, texels, 1],
            element,
            levels: line.number("mips")?,
            layers: line.number("layers")?,
            block: Block::usual(size[1].div_ceil(texels.max(1)), size[2]),
        };
        if surface.bytes() != Some((output, linear.len())) {
            return Ok(Verdict::Failed(format!("{:?} bytes, expected {output}", surface.bytes())));
        }
        let places =
            (0..surface.layers).flat_map(|layer| (0..surface.levels).map(move |level| (layer, level)));
        places.filter_map(|(layer, level)| surface.placed(layer, level)).find_map(|p| {
            let (line, tile) = (p.linear, p.tiled);
            let tiled_now = p.level.tile(p.block, &linear[line..], &mut tiled[tile..]);
            tiled_now.and_then(|()| p.level.untile(p.block, &tiled[tile..], &mut back[line..])).err()
        })
    };
    Ok(match error {
        Some(e) => Verdict::Failed(e.to_string()),
        None if crc32fast::hash(&tiled) != checksum => Verdict::Failed("another checksum".into()),
        None => same(&back, &linear),
    })
}
