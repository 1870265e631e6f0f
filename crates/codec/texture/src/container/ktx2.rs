//! KTX 2, read by the `ktx2` crate; levels plain or under Zstandard.

use super::{Container, Error, Limits, Shape, Texture, names};
use crate::format::Extent;
use ktx2::SupercompressionScheme;
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

/// Unpacks up to `needed` bytes.
fn zstd(data: &[u8], needed: usize) -> Result<Vec<u8>, Error> {
    let error = |e: &dyn std::fmt::Display| Error::Zstd(e.to_string());
    let decoder = ruzstd::decoding::StreamingDecoder::new(data).map_err(|e| error(&e))?;
    let mut out = Vec::new();
    decoder.take(needed as u64).read_to_end(&mut out).map_err(|e| error(&e))?;
    Ok(out)
}
