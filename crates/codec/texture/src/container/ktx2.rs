//! KTX 2, headers by the `ktx2` crate; levels plain or, where they are read, under Zstandard.

use super::{Container, Error, Limits, Shape, Texture, names};
use crate::format::Extent;
use ktx2::dfd::{Basic, Block};
use ktx2::{Header, Index, LevelIndex, SupercompressionScheme};
use std::borrow::Cow;
use std::io::Read;

pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    let reader = ktx2::Reader::new(bytes).map_err(|e| Error::Ktx2(e.to_string()))?;
    let header = reader.header();
    let format = header.format.map_or(0, |f| f.value());
    let shape = Shape {
        container: Container::Ktx2,
        format: names::vulkan(format).ok_or_else(|| Error::Format(format!("Vulkan {format}")))?,
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
    let mut unpacked = 0usize;
    for (level, stored) in (0..texture.levels).zip(reader.levels()) {
        let needed = texture.level_bytes(level)?;
        // The reader's borrow ends with it; the place in the file does not.
        let start = (stored.data.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        let data =
            bytes.get(start..).and_then(|b| b.get(..stored.data.len())).ok_or(Error::Truncated("a level"))?;
        let data = match header.supercompression_scheme {
            None => Cow::Borrowed(data),
            Some(SupercompressionScheme::Zstandard) => {
                unpacked =
                    unpacked.checked_add(needed).filter(|n| *n <= limits.bytes).ok_or(Error::TooLarge)?;
                Cow::Owned(zstd(data, needed)?)
            }
            Some(other) => return Err(Error::Supercompression(other.value())),
        };
        if data.len() < needed {
            return Err(Error::Truncated("the end of a level"));
        }
        let bytes = texture.image_bytes(level)?;
        let mut at = 0;
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let image = match &data {
                    Cow::Borrowed(data) => Cow::Borrowed(&data[at..at + bytes]),
                    Cow::Owned(data) => Cow::Owned(data[at..at + bytes].to_vec()),
                };
                texture.push([level, layer, face], image);
                at += bytes;
            }
        }
    }
    Ok(texture)
}

pub fn write(texture: &Texture<'_>, srgb: bool) -> Result<Vec<u8>, Error> {
    let unknown = || Error::Format(texture.format.to_string());
    let number = names::vulkan_number(texture.format, srgb).ok_or_else(unknown)?;
    let format = ktx2::Format::new(number).ok_or_else(unknown)?;
    let (basic, type_size) = Basic::from_format(format).map_err(|e| Error::Ktx2(e.to_string()))?;
    let descriptor = Block::Basic(basic).to_vec();
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
            kvd_byte_offset: 0,
            kvd_byte_length: 0,
            sgd_byte_offset: 0,
            sgd_byte_length: 0,
        },
    };
    let mut file = header.as_bytes().to_vec();
    file.resize(dfd_byte_offset, 0);
    file.extend((dfd_byte_length as u32).to_le_bytes());
    file.extend(descriptor);
    // The smallest level lies first. Each begins at a multiple of four bytes and of a block, whose size is a power of two.
    let alignment = texture.format.block_bytes().max(4);
    for level in (0..texture.levels).rev() {
        file.resize(file.len().next_multiple_of(alignment), 0);
        let start = file.len();
        let bytes = texture.image_bytes(level)?;
        for layer in 0..texture.layers {
            for face in 0..texture.faces {
                let place = [level, layer, face];
                let image =
                    texture.images.iter().find(|image| [image.level, image.layer, image.face] == place);
                let data = image.and_then(|image| image.data.get(..bytes));
                file.extend(data.ok_or(Error::Truncated("an image"))?);
            }
        }
        let length = (file.len() - start) as u64;
        let index =
            LevelIndex { byte_offset: start as u64, byte_length: length, uncompressed_byte_length: length };
        let at = Header::LENGTH + level as usize * LevelIndex::LENGTH;
        file[at..at + LevelIndex::LENGTH].copy_from_slice(&index.as_bytes());
    }
    Ok(file)
}

/// Unpacks up to `needed` bytes.
fn zstd(data: &[u8], needed: usize) -> Result<Vec<u8>, Error> {
    let error = |e: &dyn std::fmt::Display| Error::Zstd(e.to_string());
    let decoder = ruzstd::decoding::StreamingDecoder::new(data).map_err(|e| error(&e))?;
    let mut out = Vec::new();
    decoder.take(needed as u64).read_to_end(&mut out).map_err(|e| error(&e))?;
    Ok(out)
}
