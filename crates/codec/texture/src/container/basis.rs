//! `.basis`: a header, descriptions of slices, what pictures of ETC1S share, and slices.
//!
//! Layout: "sB", a version, sizes and checksums, counts, the format, flags and where the parts lie, all of one header of
//! 77 bytes; a slice is described in 23 bytes.

use super::{Container, Error, Limits, Orientation, Reader, Shape, Texture, Transfer};
use crate::astc::Footprint;
use crate::basis::lz::{Codebook, Frame, Sections};
use crate::format::{Channels, Extent, Format, Profile};
use std::borrow::Cow;
use std::collections::HashMap;

/// Flags of a file.
const UPSIDE_DOWN: u16 = 2;
const HAS_ALPHA: u16 = 4;
const SHARES_NOTHING: u16 = 8;
const SRGB: u16 = 16;

/// Flags of a slice.
const OF_ALPHA: u8 = 1;
const WHOLE_FRAME: u8 = 2;

/// Kinds of textures.
const CUBE: u8 = 2;
const FILM: u8 = 3;
const VOLUME: u8 = 4;

/// Bytes of a slice's description.
const DESCRIPTION: usize = 23;

/// Unpacks the images of a level of ETC1S.
pub struct Pictures<'c> {
    codebook: &'c Codebook,
    format: Format,
    /// Blocks along x and y.
    blocks: [usize; 2],
    /// Of films, the frame before of each face: colours and alpha.
    before: Vec<[Frame; 2]>,
}

impl<'c> Pictures<'c> {
    /// For images of `extent`, of films with `faces` faces; 0 if they are no frames.
    pub fn new(
        codebook: &'c Codebook,
        format: Format,
        extent: Extent,
        faces: usize,
    ) -> Result<Pictures<'c>, Error> {
        let [width, height, _] = extent.blocks([4, 4, 1]).map(|n| n as usize);
        width.checked_mul(height).and_then(|n| n.checked_mul(16)).ok_or(Error::TooLarge)?;
        let before = std::iter::repeat_with(Default::default).take(faces).collect();
        Ok(Pictures { codebook, format, blocks: [width, height], before })
    }

    /// Bytes of the frames that are remembered.
    pub fn held_bytes(&self) -> usize {
        let [width, height] = self.blocks;
        width.saturating_mul(height).saturating_mul(8).saturating_mul(self.before.len())
    }

    /// Puts the blocks of a slice behind `out`.
    pub fn unpack(
        &mut self,
        colors: &[u8],
        alphas: Option<&[u8]>,
        face: u32,
        is_difference: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let each = self.format.block_bytes();
        let [width, height] = self.blocks;
        let start = out.len();
        out.resize(start + width * height * each, 0);
        let out = out.get_mut(start..).unwrap_or_default();
        let mut none = [Frame::default(), Frame::default()];
        let is_film = !self.before.is_empty();
        let before = self.before.get_mut(face as usize).unwrap_or(&mut none);
        for ((part, data), before) in [Some(colors), alphas].into_iter().enumerate().zip(before) {
            let Some(data) = data else { continue };
            let film = is_film.then_some((before, is_difference));
            self.codebook.picture(data, self.blocks, film, |number, block| {
                let place = out.get_mut(number * each + 8 * part..).and_then(|rest| rest.first_chunk_mut());
                if let Some(place) = place {
                    *place = block;
                }
            })?;
        }
        Ok(())
    }
}

/// A slice.
#[derive(Clone, Copy)]
struct Slice<'a> {
    flags: u8,
    size: [u32; 2],
    data: &'a [u8],
}

/// Slices by image, level and whether they are of alpha.
type Slices<'a> = HashMap<(u32, u32, bool), Slice<'a>>;

/// The header of a file.
struct Header<'a> {
    slices: u32,
    images: u32,
    format: u8,
    flags: u16,
    kind: u8,
    sections: Sections<'a>,
    descriptions: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Result<Header<'a>, Error> {
        const END: &str = "the end of the header";
        let mut reader = Reader::new(bytes);
        reader.take(14, END)?;
        let [slices, images] = [reader.u24(END)?, reader.u24(END)?];
        let (format, flags, kind) = (reader.u8(END)?, reader.u16(END)?, reader.u8(END)?);
        // How long a frame lasts, and what programs may put there.
        reader.take(15, END)?;
        let part = |at: u32, size: u32| {
            bytes
                .get(at as usize..)
                .and_then(|rest| rest.get(..size as usize))
                .ok_or(Error::Truncated("a table"))
        };
        let (endpoint_count, at, size) = (reader.u16(END)?, reader.u32(END)?, reader.u24(END)?);
        let endpoints = part(at, size)?;
        let (selector_count, at, size) = (reader.u16(END)?, reader.u32(END)?, reader.u24(END)?);
        let selectors = part(at, size)?;
        let [at, size, descriptions, _, _] = reader.words(END)?;
        let sections =
            Sections { endpoint_count, endpoints, selector_count, selectors, tables: part(at, size)? };
        let length = (slices as usize).checked_mul(DESCRIPTION).ok_or(Error::TooLarge)?;
        let descriptions = bytes.get(descriptions as usize..).and_then(|rest| rest.get(..length));
        let descriptions = descriptions.ok_or(Error::Truncated("descriptions of slices"))?;
        Ok(Header { slices, images, format, flags, kind, sections, descriptions })
    }

    fn slices(&self, bytes: &'a [u8]) -> Result<Slices<'a>, Error> {
        const END: &str = "the end of a description";
        let mut all = Slices::with_capacity(self.slices as usize);
        for description in self.descriptions.chunks_exact(DESCRIPTION) {
            let mut reader = Reader::new(description);
            let (image, level, flags) = (reader.u24(END)?, reader.u8(END)?, reader.u8(END)?);
            let size = [reader.u16(END)?, reader.u16(END)?].map(u32::from);
            // Blocks along both axes follow from the size.
            reader.take(4, END)?;
            let [at, length] = reader.words(END)?;
            let data = bytes.get(at as usize..).and_then(|rest| rest.get(..length as usize));
            let data = data.ok_or(Error::Truncated("a slice"))?;
            // Of UASTC the flag says that there is alpha in the slice.
            let of_alpha = self.format == 0 && flags & OF_ALPHA != 0;
            all.insert((image, level.into(), of_alpha), Slice { flags, size, data });
        }
        Ok(all)
    }
}

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    let header = Header::read(bytes)?;
    if header.slices as usize > limits.images.saturating_mul(2) {
        return Err(Error::TooLarge);
    }
    if header.images > header.slices {
        return Err(Error::Malformed("number of images"));
    }
    let slices = header.slices(bytes)?;
    let first = slices.get(&(0, 0, false)).ok_or(Error::Truncated("the first slice"))?;
    let has_alpha = header.flags & HAS_ALPHA != 0;
    let (format, channels) = match header.format {
        0 if has_alpha => (Format::Etc1sAlpha, Channels::Rgba),
        0 => (Format::Etc1s, Channels::Rgb),
        1 => (Format::Uastc, if has_alpha { Channels::Rgba } else { Channels::Rgb }),
        2 => {
            let footprint = Footprint::new(4, 4, 1).ok_or(Error::Malformed("format"))?;
            (Format::Astc(footprint, Profile::Hdr), Channels::Rgb)
        }
        other => return Err(Error::Format(format!("{other} of Basis Universal"))),
    };
    let levels = 1 + slices.keys().map(|(_, level, _)| *level).max().unwrap_or(0);
    let [width, height] = first.size;
    let is_volume = header.kind == VOLUME;
    let (faces, layers) = match header.kind {
        CUBE if header.images.is_multiple_of(6) => (6, header.images / 6),
        _ => (1, header.images),
    };
    let shape = Shape {
        container: Container::Basis,
        format,
        transfer: if header.flags & SRGB != 0 { Transfer::Srgb } else { Transfer::Linear },
        extent: Extent { width, height, depth: if is_volume { header.images } else { 1 } },
        dimensions: if is_volume { 3 } else { 2 },
        levels,
        layers: if is_volume || layers <= 1 { 0 } else { layers },
        faces,
    };
    let mut texture = shape.texture(limits)?;
    if is_volume && levels > 1 {
        return Err(Error::Malformed("number of levels of a volume"));
    }
    texture.channels = channels;
    if header.flags & UPSIDE_DOWN != 0 {
        texture.orientation = Some(Orientation { up: true, ..Orientation::default() });
    }
    if format == Format::Etc1s || format == Format::Etc1sAlpha {
        unpack(&mut texture, &header, &slices, limits)?;
    } else {
        let mut held = 0;
        place(&mut texture, |texture, level, numbers| {
            let needed = texture.image_bytes(level)?;
            let each = needed / numbers.len().max(1);
            let data = |number: u32| {
                let slice = slices.get(&(number, level, false));
                slice.and_then(|slice| slice.data.get(..each)).ok_or(Error::Truncated("a slice"))
            };
            if let [number] = numbers {
                return Ok(Cow::Borrowed(data(*number)?));
            }
            limits.take(&mut held, needed)?;
            let mut all = Vec::with_capacity(needed);
            for number in numbers {
                all.extend(data(*number)?);
            }
            Ok(Cow::Owned(all))
        })?;
    }
    Ok(texture)
}

/// Pushes all images; `image` makes one of the numbers of its slices.
fn place<'a>(
    texture: &mut Texture<'a>,
    mut image: impl FnMut(&Texture<'a>, u32, &[u32]) -> Result<Cow<'a, [u8]>, Error>,
) -> Result<(), Error> {
    for level in 0..texture.levels {
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let first = (layer * texture.faces + face) * texture.extent.depth;
                let numbers: Vec<u32> = (first..first + texture.extent.depth).collect();
                let data = image(texture, level, &numbers)?;
                texture.push([level, layer, face], data);
            }
        }
    }
    Ok(())
}

/// Images of ETC1S.
fn unpack(
    texture: &mut Texture<'_>,
    header: &Header<'_>,
    slices: &Slices<'_>,
    limits: &Limits,
) -> Result<(), Error> {
    if header.flags & SHARES_NOTHING != 0 {
        return Err(Error::Malformed("tables; they are in no file"));
    }
    let codebook = Codebook::new(&header.sections)?;
    let mut held = Codebook::held_bytes(&header.sections);
    limits.allow(held)?;
    let films = if header.kind == FILM { 1 } else { 0 };
    let mut pictures: Vec<Pictures<'_>> = Vec::new();
    for level in 0..texture.levels {
        let level = Pictures::new(&codebook, texture.format, texture.level_extent(level), films)?;
        limits.take(&mut held, level.held_bytes())?;
        pictures.push(level);
    }
    place(texture, |texture, level, numbers| {
        let needed = texture.image_bytes(level)?;
        limits.take(&mut held, needed)?;
        let mut blocks = Vec::with_capacity(needed);
        let pictures = pictures.get_mut(level as usize).ok_or(Error::Malformed("level"))?;
        for &number in numbers {
            let slice =
                |of_alpha: bool| slices.get(&(number, level, of_alpha)).ok_or(Error::Truncated("a slice"));
            let colors = slice(false)?;
            let alphas = match texture.format {
                Format::Etc1sAlpha => Some(slice(true)?.data),
                _ => None,
            };
            let is_difference = films > 0 && colors.flags & WHOLE_FRAME == 0;
            pictures.unpack(colors.data, alphas, 0, is_difference, &mut blocks)?;
        }
        Ok(Cow::Owned(blocks))
    })
}
