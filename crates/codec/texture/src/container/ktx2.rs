//! KTX 2, headers by the `ktx2` crate; levels plain or, where they are read, under Zstandard.

use super::zstd::Frame;
use super::{Container, Error, Image, Limits, Orientation, Shape, Texture, Transfer, names};
use crate::format::Extent;
use ktx2::dfd::{Basic, Block, ChannelTypeQualifiers};
use ktx2::{Header, Index, LevelIndex, SupercompressionScheme, TransferFunction};
use std::borrow::Cow;

/// The key of a picture's orientation.
const ORIENTATION: &str = "KTXorientation";

/// The channel of alpha in a descriptor.
const ALPHA: u8 = 15;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    check_descriptors(bytes)?;
    let reader = ktx2::Reader::new(bytes).map_err(|e| Error::Ktx2(e.to_string()))?;
    let header = reader.header();
    let number = header.format.map_or(0, |f| f.value());
    let (format, of_format) =
        names::vulkan(number).ok_or_else(|| Error::Format(format!("Vulkan {number}")))?;
    let shape = Shape {
        container: Container::Ktx2,
        format,
        // Formats of sRGB leave no choice. Others may be of it, those without a counterpart of sRGB by right.
        transfer: match of_format {
            Transfer::Srgb => Transfer::Srgb,
            _ => Transfer::from_number(reader.transfer_function().map_or(0, |f| f.value())),
        },
        extent: Extent {
            width: header.pixel_width,
            height: header.pixel_height.max(1),
            depth: header.pixel_depth.max(1),
        },
        levels: header.level_count.max(1),
        layers: header.layer_count.max(1),
        faces: header.face_count,
    };
    let mut texture = shape.texture(limits)?;
    texture.premultiplied = reader.is_alpha_premultiplied().unwrap_or(false);
    texture.orientation = reader
        .key_value_data()
        .find(|(key, _)| *key == ORIENTATION)
        .and_then(|(_, value)| Orientation::from_letters(value.strip_suffix(b"\0").unwrap_or(value)));
    let mut unpacked = 0usize;
    for (level, stored) in (0..texture.levels).zip(reader.levels()) {
        let needed = texture.level_bytes(level)?;
        // The reader's borrow ends with it; the place in the file does not.
        let start = (stored.data.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        let data =
            bytes.get(start..).and_then(|b| b.get(..stored.data.len())).ok_or(Error::Truncated("a level"))?;
        let mut images = match header.supercompression_scheme {
            None => Images::Plain(data),
            Some(SupercompressionScheme::Zstandard) => {
                unpacked = unpacked.checked_add(needed).ok_or(Error::TooLarge)?;
                limits.allow(unpacked)?;
                Images::Zstandard(Box::new(Frame::open(data, limits.bytes - unpacked)?))
            }
            Some(other) => return Err(Error::Supercompression(other.value())),
        };
        let bytes = texture.image_bytes(level)?;
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                texture.push([level, layer, face], images.take(bytes)?);
            }
        }
    }
    Ok(texture)
}

/// The images of a level, one after the other.
enum Images<'a> {
    Plain(&'a [u8]),
    Zstandard(Box<Frame<'a>>),
}

impl<'a> Images<'a> {
    /// The next image.
    fn take(&mut self, bytes: usize) -> Result<Cow<'a, [u8]>, Error> {
        match self {
            Images::Plain(data) => {
                let image = data.split_off(..bytes).ok_or(Error::Truncated("the end of a level"))?;
                Ok(Cow::Borrowed(image))
            }
            Images::Zstandard(frame) => Ok(Cow::Owned(frame.take(bytes)?)),
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
        pixel_height: texture.extent.height,
        pixel_depth: if texture.extent.depth > 1 { texture.extent.depth } else { 0 },
        layer_count: if texture.layers > 1 { texture.layers } else { 0 },
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
    // Each level begins at a multiple of four bytes and of a block, whose size is a power of two.
    let alignment = texture.format.block_bytes().max(4);
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
    if !matches!(names::vulkan(number), Some((_, Transfer::Srgb))) {
        basic.transfer_function = TransferFunction::new(texture.transfer.number());
        let encoded = matches!(texture.transfer, Transfer::Srgb | Transfer::Other(_));
        for sample in basic.sample_information.iter_mut().filter(|s| encoded && s.channel_type == ALPHA) {
            sample.channel_type_qualifiers |= ChannelTypeQualifiers::LINEAR;
        }
    }
    Ok((basic, type_size))
}

/// The pairs of keys and values.
fn pairs(texture: &Texture<'_>) -> Vec<u8> {
    let Some(orientation) = texture.orientation else { return Vec::new() };
    let letters = orientation.letters(if texture.extent.depth > 1 { 3 } else { 2 });
    let pair = format!("{ORIENTATION}\0{letters}\0");
    let mut bytes = (pair.len() as u32).to_le_bytes().to_vec();
    bytes.extend(pair.into_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
