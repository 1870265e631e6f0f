//! Textures in files: KTX 1 and 2, DDS, `.astc`; KTX 2 is written, too.
//!
//! Readers borrow the images from the file. Nothing is allocated before the file was seen to hold what its header says,
//! but for levels under Zstandard, which are unpacked up to [`Limits::bytes`].

mod astc;
mod dds;
mod ktx1;
mod ktx2;
mod names;

use crate::format::{Extent, Format};
use std::borrow::Cow;
use std::fmt;
use thiserror::Error;

/// What a reader may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes that levels may unpack to.
    pub bytes: usize,
    /// Most images.
    pub images: usize,
}

impl Default for Limits {
    /// A gigabyte, 65,536 images.
    fn default() -> Limits {
        Limits { bytes: 1 << 30, images: 1 << 16 }
    }
}

/// Why a file is no texture.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// None of the containers.
    #[error("neither KTX, KTX 2, DDS nor .astc")]
    Unknown,
    /// The file ends early.
    #[error("the file ends before {0}")]
    Truncated(&'static str),
    /// A field has an impossible value.
    #[error("bad {0}")]
    Malformed(&'static str),
    /// A format that is not decoded.
    #[error("format {0} is not supported")]
    Format(String),
    /// What is neither plain nor Zstandard.
    #[error("a supercompression of {0} is not supported")]
    Supercompression(u32),
    /// More than the limits allow.
    #[error("more bytes or images than the limits allow")]
    TooLarge,
    /// The `ktx2` crate's complaint.
    #[error("KTX 2: {0}")]
    Ktx2(String),
    /// A damaged Zstandard frame.
    #[error("Zstandard: {0}")]
    Zstd(String),
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// KTX 1.
    Ktx1,
    /// KTX 2.
    Ktx2,
    /// DDS, with or without the DX10 header.
    Dds,
    /// `.astc`.
    Astc,
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Container::Ktx1 => "KTX 1",
            Container::Ktx2 => "KTX 2",
            Container::Dds => "DDS",
            Container::Astc => "ASTC",
        })
    }
}

/// A texture: images of a format by level, layer and face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texture<'a> {
    /// The kind of file.
    pub container: Container,
    /// The format. Files tell ASTC's sRGB from its linear form, `.astc` does not.
    pub format: Format,
    /// The size of level 0.
    pub extent: Extent,
    /// Levels, at least one.
    pub levels: u32,
    /// Layers, at least one.
    pub layers: u32,
    /// Faces: 6 of a cube, else 1.
    pub faces: u32,
    /// The images in the order they lie in the file.
    pub images: Vec<Image<'a>>,
}

/// An image of a texture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// Its level.
    pub level: u32,
    /// Its layer.
    pub layer: u32,
    /// Its face.
    pub face: u32,
    /// Its size.
    pub extent: Extent,
    /// Its blocks.
    pub data: Cow<'a, [u8]>,
}

/// Reads a texture.
///
/// # Errors
/// When the bytes are no file of a known kind, damaged, or more than the limits allow.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    match bytes {
        [0xab, b'K', b'T', b'X', b' ', b'1', ..] => ktx1::read(bytes, limits),
        [0xab, b'K', b'T', b'X', b' ', b'2', ..] => ktx2::read(bytes, limits),
        [b'D', b'D', b'S', b' ', ..] => dds::read(bytes, limits),
        [0x13, 0xab, 0xa1, 0x5c, ..] => astc::read(bytes, limits),
        _ => Err(Error::Unknown),
    }
}

/// Writes a texture as KTX 2, its levels plain. The container it came from is of no matter, nor is the order of its
/// images. `srgb` is what files say of formats that do not tell linear colours from sRGB themselves.
///
/// # Errors
/// [`Error::Format`] for formats that Vulkan does not have, [`Error::Truncated`] if an image is missing or too short.
pub fn write_ktx2(texture: &Texture<'_>, srgb: bool) -> Result<Vec<u8>, Error> {
    ktx2::write(texture, srgb)
}

/// What a header says, before there are images.
#[derive(Clone, Copy)]
struct Shape {
    container: Container,
    format: Format,
    extent: Extent,
    levels: u32,
    layers: u32,
    faces: u32,
}

impl Shape {
    /// The texture without images, once its numbers are plausible.
    fn texture<'a>(self, limits: &Limits) -> Result<Texture<'a>, Error> {
        let Shape { container, format, extent, levels, layers, faces } = self;
        let largest = extent.width.max(extent.height).max(extent.depth);
        if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
            return Err(Error::Malformed("size"));
        }
        if levels == 0 || levels > 32 - largest.leading_zeros() {
            return Err(Error::Malformed("number of levels"));
        }
        if layers == 0 || !matches!(faces, 1 | 6) {
            return Err(Error::Malformed("number of layers or faces"));
        }
        let count = u64::from(levels) * u64::from(layers) * u64::from(faces);
        if count > limits.images as u64 {
            return Err(Error::TooLarge);
        }
        Ok(Texture { container, format, extent, levels, layers, faces, images: Vec::new() })
    }
}

impl<'a> Texture<'a> {
    /// The size of a level.
    fn level_extent(&self, level: u32) -> Extent {
        let smaller = |size: u32| (size >> level).max(1);
        Extent {
            width: smaller(self.extent.width),
            height: smaller(self.extent.height),
            depth: smaller(self.extent.depth),
        }
    }

    /// Bytes of an image of a level.
    fn image_bytes(&self, level: u32) -> Result<usize, Error> {
        self.format.data_bytes(self.level_extent(level)).ok_or(Error::TooLarge)
    }

    /// Bytes of all images of a level.
    fn level_bytes(&self, level: u32) -> Result<usize, Error> {
        let images = self.layers as usize * self.faces as usize;
        self.image_bytes(level)?.checked_mul(images).ok_or(Error::TooLarge)
    }

    fn push(&mut self, [level, layer, face]: [u32; 3], data: Cow<'a, [u8]>) {
        self.images.push(Image { level, layer, face, extent: self.level_extent(level), data });
    }
}

/// A cursor over a file.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Error::Truncated(what))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, Error> {
        let bytes = self.take(4, what)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn words<const N: usize>(&mut self, what: &'static str) -> Result<[u32; N], Error> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.u32(what)?;
        }
        Ok(words)
    }
}
