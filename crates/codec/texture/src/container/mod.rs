//! Textures in files: KTX 1 and 2, DDS, `.astc`; KTX 2 is written, too.
//!
//! Readers borrow the images from the file. Nothing is allocated before the file was seen to hold what its header says,
//! but for levels under Zstandard, which are unpacked within [`Limits::bytes`].
//!
//! ```
//! use xenoglot_texture::container::{Limits, Transfer, read};
//!
//! # let bytes = [&[0x13, 0xab, 0xa1, 0x5c, 4, 4, 1, 4, 0, 0, 4, 0, 0, 1, 0, 0][..], &[0; 16]].concat();
//! let limits = Limits::default();
//! let texture = read(&bytes, &limits)?;
//! // An `.astc` file does not say whether its colours are sRGB.
//! assert_eq!((texture.transfer, texture.channels.count()), (Transfer::Unknown, 4));
//! let decoded = texture.decode(&limits)?;
//! assert_eq!(decoded.images[0].data.len(), 4 * 4 * 4);
//! # Ok::<(), xenoglot_texture::container::Error>(())
//! ```

mod astc;
mod dds;
mod ktx1;
mod ktx2;
mod names;
mod presentation;
mod texture;
mod zstd;

pub use presentation::{Orientation, Transfer, linear_to_srgb, srgb_to_linear};
pub use texture::{Image, Texture};

use std::fmt;
use texture::Shape;
use thiserror::Error;

/// What a reader, and [`Texture::decode`], may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes that a texture may hold in memory beside the file: levels that are unpacked, what unpacks them, and
    /// texels that are decoded.
    pub bytes: usize,
    /// Most images.
    pub images: usize,
}

impl Limits {
    /// Whether so many bytes may be held.
    fn allow(&self, needed: usize) -> Result<(), Error> {
        if needed <= self.bytes {
            return Ok(());
        }
        Err(Error::Memory { needed: needed as u64, limit: self.bytes as u64 })
    }
}

impl Default for Limits {
    /// 256 MiB, 65,536 images.
    fn default() -> Limits {
        Limits { bytes: 256 << 20, images: 1 << 16 }
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
    /// More images than [`Limits::images`], or more bytes than can be counted.
    #[error("more bytes or images than the limits allow")]
    TooLarge,
    /// More bytes than [`Limits::bytes`].
    #[error("{needed} bytes would be held, of which the limit is {limit}")]
    Memory {
        /// Bytes that would be held; counting stopped at the limit.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// A frame of Zstandard has a window for which [`Limits::bytes`] leaves no room.
    #[error("a window of {window} bytes may take twice that to unpack, and the limit leaves {spare}")]
    Window {
        /// Bytes of the window.
        window: u64,
        /// Bytes that the limit leaves beside the unpacked levels.
        spare: u64,
    },
    /// Data that do not fit their size.
    #[error(transparent)]
    Decode(#[from] crate::decode::Error),
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

/// Writes a texture as KTX 2, its levels plain, with its transfer function, orientation and whether alpha is premultiplied.
/// The container it came from is of no matter, nor is the order of its images.
///
/// # Errors
/// [`Error::Format`] for formats that Vulkan does not have, [`Error::Truncated`] if an image is missing or too short.
pub fn write_ktx2(texture: &Texture<'_>) -> Result<Vec<u8>, Error> {
    ktx2::write(texture)
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
