//! KTX 2, headers by the `ktx2` crate; levels plain or packed by Zstandard, zlib or BasisLZ.

use super::basis::Pictures;
use super::packed::Images;
use super::{
    Container, Error, Image, Limits, Orientation, Reader, Shape, Supercompression, Swizzle, Texture,
    Transfer, pairs,
};
use crate::basis::lz::{Codebook, Sections};
use crate::format::{Channels, Extent, Format};
use crate::names;
use ktx2::dfd::{Basic, Block, ChannelTypeQualifiers};
use ktx2::{Header, Index, LevelIndex, SupercompressionScheme, TransferFunction};
use std::borrow::Cow;

/// The channel of alpha in a descriptor.
const ALPHA: u8 = 15;

/// Colour models of Basis Universal in a descriptor.
const ETC1S: u8 = 163;
const UASTC: u8 = 166;
const UASTC_HDR: u8 = 167;

/// The key of films, whose frames are layers.
const FILM: &str = "KTXanimData";

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    check_descriptors(bytes)?;
    let reader = ktx2::Reader::new(bytes).map_err(|e| Error::Ktx2(e.to_string()))?;
    let header = reader.header();
    let number = header.format.map_or(0, |f| f.value());
    let described = Described::of(&reader);
    let transfer = Transfer::from_number(reader.transfer_function().map_or(0, |f| f.value()));
    let (format, srgb) = match described.model {
        ETC1S if number == 0 => {
            let format = if described.samples.len() > 1 { Format::Etc1sAlpha } else { Format::Etc1s };
            (format, false)
        }
        UASTC if number == 0 => (Format::Uastc, false),
        _ => names::vulkan(number).ok_or_else(|| Error::Format(format!("Vulkan {number}")))?,
    };
    let shape = Shape {
        container: Container::Ktx2,
        format,
        // Formats of sRGB leave no choice. Others may be of it, those without a counterpart of sRGB by right.
        transfer: if srgb { Transfer::Srgb } else { transfer },
        extent: Extent {
            width: header.pixel_width,
            height: header.pixel_height.max(1),
            depth: header.pixel_depth.max(1),
        },
        dimensions: match (header.pixel_height, header.pixel_depth) {
            (_, 1..) => 3,
            (1.., _) => 2,
            _ => 1,
        },
        levels: header.level_count.max(1),
        layers: header.layer_count,
        faces: header.face_count,
    };
    let mut texture = shape.texture(limits)?;
    texture.premultiplied = reader.is_alpha_premultiplied().unwrap_or(false);
    if let Some(channels) = described.channels() {
        texture.channels = channels;
    }
    let Index { kvd_byte_offset: start, kvd_byte_length: length, .. } = header.index;
    let all = bytes.get(start as usize..).and_then(|rest| rest.get(..length as usize)).unwrap_or_default();
    texture.pairs = pairs::read(Reader::new(all))?;
    texture.orientation = pairs::text(&texture.pairs, pairs::ORIENTATION).and_then(Orientation::from_letters);
    texture.swizzle = pairs::text(&texture.pairs, pairs::SWIZZLE).and_then(Swizzle::from_letters);
    texture.pairs.retain(|pair| pair.key != pairs::ORIENTATION && pair.key != pairs::SWIZZLE);
    if described.is_universal() && texture.orientation.is_none() {
        // Encoders of Basis Universal write no key, and mean the default.
        texture.orientation = Some(Orientation::default());
    }
    let mut levels = Vec::with_capacity(texture.levels as usize);
    for level in reader.levels() {
        // The reader's borrow ends with it; the place in the file does not.
        let start = (level.data.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        let data = bytes.get(start..).and_then(|b| b.get(..level.data.len()));
        levels.push(data.ok_or(Error::Truncated("a level"))?);
    }
    texture.supercompression = match header.supercompression_scheme {
        None => Supercompression::None,
        Some(SupercompressionScheme::BasisLZ) => Supercompression::BasisLz,
        Some(SupercompressionScheme::Zstandard) => Supercompression::Zstandard,
        Some(SupercompressionScheme::ZLIB) => Supercompression::Zlib,
        Some(other) => return Err(Error::Supercompression(other.value())),
    };
    let is_etc1s = matches!(format, Format::Etc1s | Format::Etc1sAlpha);
    if is_etc1s != (texture.supercompression == Supercompression::BasisLz) {
        return Err(Error::Malformed("supercompression; ETC1S is under BasisLZ, and nothing else is"));
    }
    if is_etc1s {
        let Index { sgd_byte_offset: start, sgd_byte_length: length, .. } = header.index;
        let shared = usize::try_from(start).ok().zip(usize::try_from(length).ok());
        let shared = shared.and_then(|(start, length)| bytes.get(start..)?.get(..length));
        basis_lz(&mut texture, shared.ok_or(Error::Truncated("the global data"))?, &levels, limits)?;
    } else {
        unpack(&mut texture, &levels, limits)?;
    }
    Ok(texture)
}

/// Images of levels, one after the other.
fn unpack<'a>(texture: &mut Texture<'a>, levels: &[&'a [u8]], limits: &Limits) -> Result<(), Error> {
    let mut unpacked = 0;
    for (level, data) in (0..texture.levels).zip(levels) {
        if texture.supercompression != Supercompression::None {
            limits.take(&mut unpacked, texture.level_bytes(level)?)?;
        }
        let mut images = match texture.supercompression {
            Supercompression::Zstandard => Images::zstandard(data, limits.bytes - unpacked)?,
            Supercompression::Zlib => Images::zlib(data),
            _ => Images::Plain(data),
        };
        let bytes = texture.image_bytes(level)?;
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                texture.push([level, layer, face], images.take(bytes)?);
            }
        }
    }
    Ok(())
}

/// Images of ETC1S: what they share is in the global data, with where in its level each image lies.
fn basis_lz(
    texture: &mut Texture<'_>,
    shared: &[u8],
    levels: &[&[u8]],
    limits: &Limits,
) -> Result<(), Error> {
    let mut reader = Reader::new(shared);
    let [endpoint_count, selector_count] = [reader.u16("a count")?, reader.u16("a count")?];
    let [endpoints, selectors, tables, _] = reader.words("the sizes of tables")?;
    let slices = |level: u32| texture.level_extent(level).depth as usize;
    let mut count = 0usize;
    for level in 0..texture.levels {
        let images = (texture.layers as usize).saturating_mul(texture.faces as usize);
        count = count.saturating_add(images.saturating_mul(slices(level)));
    }
    const DESCRIPTION: usize = 20;
    let bytes = count.checked_mul(DESCRIPTION).ok_or(Error::TooLarge)?;
    let mut descriptions = reader.take(bytes, "descriptions of images")?.chunks_exact(DESCRIPTION);
    let sections = Sections {
        endpoint_count,
        selector_count,
        endpoints: reader.take(endpoints as usize, "colours")?,
        selectors: reader.take(selectors as usize, "shades")?,
        tables: reader.take(tables as usize, "tables of codes")?,
    };
    let codebook = Codebook::new(&sections)?;
    let mut held = Codebook::held_bytes(&sections);
    limits.allow(held)?;
    let is_film = texture.pairs.iter().any(|pair| pair.key == FILM);
    for (level, data) in (0..texture.levels).zip(levels) {
        let extent = texture.level_extent(level);
        let faces = if is_film { texture.faces as usize } else { 0 };
        let mut pictures = Pictures::new(&codebook, texture.format, extent, faces)?;
        limits.allow(held.saturating_add(pictures.held_bytes()))?;
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let needed = texture.image_bytes(level)?;
                limits.take(&mut held, needed)?;
                let mut blocks = Vec::with_capacity(needed);
                for _ in 0..extent.depth {
                    let mut description = Reader::new(descriptions.next().unwrap_or_default());
                    let [flags, color_at, color, alpha_at, alpha] = description.words("a description")?;
                    let slice = |at: u32, length: u32| {
                        let slice = data.get(at as usize..).and_then(|rest| rest.get(..length as usize));
                        slice.ok_or(Error::Truncated("a slice"))
                    };
                    let alpha = match texture.format {
                        Format::Etc1sAlpha => Some(slice(alpha_at, alpha)?),
                        _ => None,
                    };
                    let is_difference = flags & 2 != 0;
                    pictures.unpack(slice(color_at, color)?, alpha, face, is_difference, &mut blocks)?;
                }
                texture.push([level, layer, face], Cow::Owned(blocks));
            }
        }
    }
    Ok(())
}

/// What the first descriptor says of texels.
struct Described {
    model: u8,
    /// Channels of samples.
    samples: Vec<u8>,
}

impl Described {
    fn of(reader: &ktx2::Reader<&[u8]>) -> Described {
        let basic = reader.basic_dfd();
        Described {
            model: basic.and_then(|basic| basic.color_model).map_or(0, |model| model.value()),
            samples: basic
                .map(|basic| basic.sample_information.iter().map(|s| s.channel_type & 0xf).collect())
                .unwrap_or_default(),
        }
    }

    fn is_universal(&self) -> bool {
        matches!(self.model, ETC1S | UASTC | UASTC_HDR)
    }

    /// What samples of Basis Universal stand for. Decoded texels have all components.
    fn channels(&self) -> Option<Channels> {
        match (self.model, self.samples.as_slice()) {
            (ETC1S, [_]) | (UASTC, [0]) | (UASTC_HDR, _) => Some(Channels::Rgb),
            _ => None,
        }
    }
}

/// Refuses what the `ktx2` crate does not bear: of basic descriptors it adds 1 to the dimensions of a block, in a byte. A
/// dimension of 256 texels can be written so, but no format has it.
fn check_descriptors(bytes: &[u8]) -> Result<(), Error> {
    let Some(header) = bytes.first_chunk() else { return Ok(()) };
    let Index { dfd_byte_offset: start, dfd_byte_length: length, .. } =
        Header::from_bytes(header).map_err(|e| Error::Ktx2(e.to_string()))?.index;
    let descriptors = bytes.get(start as usize..).and_then(|rest| rest.get(..length as usize));
    // The first word is the size of them all. Each has its vendor, type and version in six bytes, its size in two.
    let mut rest = descriptors.and_then(|all| all.get(4..)).unwrap_or_default();
    while let [kind @ .., low, high] = rest.get(..8).unwrap_or_default() {
        let size = usize::from(u16::from_le_bytes([*low, *high]));
        let dimensions = rest.get(12..16).unwrap_or_default();
        if kind == [0, 0, 0, 0, 2, 0] && dimensions.contains(&u8::MAX) {
            return Err(Error::Malformed("dimension of a block"));
        }
        // The crate refuses those that are shorter than this.
        rest = rest.get(size.max(8)..).unwrap_or_default();
    }
    Ok(())
}

pub fn write(texture: &Texture<'_>) -> Result<Vec<u8>, Error> {
    let unknown = || Error::Format(texture.format.to_string());
    let srgb = texture.transfer == Transfer::Srgb;
    let number = names::vulkan_number(texture.format, srgb).ok_or_else(unknown)?;
    let format = ktx2::Format::new(number).ok_or_else(unknown)?;
    let (basic, type_size) = descriptor(texture, number, format)?;
    let descriptor = Block::Basic(basic).to_vec();
    let pairs = pairs(texture);
    let dfd_byte_length = 4 + descriptor.len();
    let dfd_byte_offset = Header::LENGTH + texture.levels as usize * LevelIndex::LENGTH;
    let header = Header {
        format: Some(format),
        type_size,
        pixel_width: texture.extent.width,
        pixel_height: if texture.dimensions > 1 { texture.extent.height } else { 0 },
        pixel_depth: if texture.dimensions > 2 { texture.extent.depth } else { 0 },
        layer_count: if texture.array { texture.layers } else { 0 },
        face_count: texture.faces,
        level_count: texture.levels,
        supercompression_scheme: None,
        index: Index {
            dfd_byte_offset: dfd_byte_offset as u32,
            dfd_byte_length: dfd_byte_length as u32,
            kvd_byte_offset: if pairs.is_empty() { 0 } else { (dfd_byte_offset + dfd_byte_length) as u32 },
            kvd_byte_length: pairs.len() as u32,
            sgd_byte_offset: 0,
            sgd_byte_length: 0,
        },
    };
    // Images that are missing are found before room is made for them.
    let levels = sorted(texture)?;
    // Each level begins at a multiple of four bytes and of a block; sizes that are no power of two are odd, or of whole words.
    let alignment = texture.format.block_bytes();
    let alignment = if alignment.is_power_of_two() { alignment.max(4) } else { 4 * alignment };
    let mut total = dfd_byte_offset + dfd_byte_length + pairs.len();
    for level in 0..texture.levels {
        let bytes = texture.level_bytes(level)?.checked_add(alignment);
        total = bytes.and_then(|bytes| total.checked_add(bytes)).ok_or(Error::TooLarge)?;
    }
    let mut file = Vec::with_capacity(total);
    file.extend(header.as_bytes());
    file.resize(dfd_byte_offset, 0);
    file.extend((dfd_byte_length as u32).to_le_bytes());
    file.extend(descriptor);
    file.extend(pairs);
    // The smallest level lies first.
    for (level, images) in levels.iter().enumerate().rev() {
        file.resize(file.len().next_multiple_of(alignment), 0);
        let start = file.len();
        images.iter().for_each(|image| file.extend_from_slice(image));
        let length = (file.len() - start) as u64;
        let index =
            LevelIndex { byte_offset: start as u64, byte_length: length, uncompressed_byte_length: length };
        let at = Header::LENGTH + level * LevelIndex::LENGTH;
        file[at..at + LevelIndex::LENGTH].copy_from_slice(&index.as_bytes());
    }
    Ok(file)
}

/// The images of each level in their order.
fn sorted<'t>(texture: &'t Texture<'_>) -> Result<Vec<Vec<&'t [u8]>>, Error> {
    let place = |image: &&Image<'_>| [image.level, image.layer, image.face];
    let mut all: Vec<&Image<'_>> = texture.images.iter().collect();
    all.sort_by_key(place);
    let mut levels = Vec::new();
    for level in 0..texture.levels {
        let bytes = texture.image_bytes(level)?;
        let mut images = Vec::new();
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let at = all.binary_search_by_key(&[level, layer, face], place);
                let image = at.ok().and_then(|at| all.get(at)).and_then(|image| image.data.get(..bytes));
                images.push(image.ok_or(Error::Truncated("an image"))?);
            }
        }
        levels.push(images);
    }
    Ok(levels)
}

/// The descriptor of a format's texels, and the bytes of what is turned round for other byte orders.
fn descriptor(texture: &Texture<'_>, number: u32, format: ktx2::Format) -> Result<(Basic, u32), Error> {
    let (mut basic, type_size) = Basic::from_format_with(format, texture.premultiplied, None, None, None)
        .map_err(|e| Error::Ktx2(e.to_string()))?;
    if !matches!(names::vulkan(number), Some((_, true))) {
        basic.transfer_function = TransferFunction::new(texture.transfer.number());
        let encoded = matches!(texture.transfer, Transfer::Srgb | Transfer::Other(_));
        for sample in basic.sample_information.iter_mut().filter(|s| encoded && s.channel_type == ALPHA) {
            sample.channel_type_qualifiers |= ChannelTypeQualifiers::LINEAR;
        }
    }
    Ok((basic, type_size))
}

/// The bytes of the pairs of keys and values.
fn pairs(texture: &Texture<'_>) -> Vec<u8> {
    let text = |text: String| text.into_bytes().into_iter().chain([0]).collect::<Vec<u8>>();
    let letters = texture.orientation.map(|o| text(o.letters(texture.dimensions as usize)));
    let swizzle = texture.swizzle.map(|swizzle| text(swizzle.to_string()));
    let said = [(pairs::ORIENTATION, letters.as_deref()), (pairs::SWIZZLE, swizzle.as_deref())];
    let said = said.into_iter().filter_map(|(key, value)| Some((key, value?)));
    pairs::write(said.chain(texture.pairs.iter().map(|pair| (&*pair.key, &*pair.value))))
}
