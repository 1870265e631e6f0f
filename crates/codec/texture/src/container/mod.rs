//! Textures in files: KTX 1 and 2, DDS, PVR 3, PKM, `.astc` and `.basis`, and of consoles CTPK, BCLIM, BFLIM, NSBTX and BNTX; KTX 2
//! is written, too. [`read_all`] reads all textures of archives.
//!
//! Readers borrow the images from the file, apart from those that must be unpacked (Zstandard, zlib, BasisLZ), put into
//! little-endian order or rows, freed of padding or looked up in a palette: these are held within [`Limits::bytes`]. Nothing is
//! allocated before the file was seen to hold what its header says.
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
mod basis;
mod bntx;
mod cafe;
mod clim;
mod ctpk;
mod dds;
mod ktx1;
mod ktx2;
mod nsbtx;
mod packed;
mod pairs;
mod pkm;
mod presentation;
mod pvr;
mod texture;

pub use pairs::Pair;
pub use presentation::{Orientation, Source, Swizzle, Transfer, linear_to_srgb, srgb_to_linear};
pub use texture::{Image, Supercompression, Texture};

use crate::basis::huffman;
use crate::format::{Extent, Format};
use std::borrow::Cow;
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
    /// Takes `bytes` of what may be held beside `held`.
    fn take(&self, held: &mut usize, bytes: usize) -> Result<(), Error> {
        let sum = held.checked_add(bytes).ok_or(Error::TooLarge)?;
        self.allow(sum)?;
        *held = sum;
        Ok(())
    }

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
    #[error("neither KTX, KTX 2, DDS, PVR 3, PKM, .basis, .astc, CTPK, BCLIM, BFLIM, NSBTX, NSBMD nor BNTX")]
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
    /// A supercompression that is not known.
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
    /// A damaged stream of zlib.
    #[error("zlib: {0}")]
    Zlib(String),
    /// Damaged data of Basis Universal.
    #[error("BasisLZ: {0}")]
    Basis(#[from] huffman::Error),
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
    /// PVR 3.
    Pvr,
    /// PKM 1 and 2.
    Pkm,
    /// `.basis` of Basis Universal.
    Basis,
    /// CTPK of the Nintendo 3DS.
    Ctpk,
    /// BCLIM of the Nintendo 3DS.
    Bclim,
    /// BFLIM of the Nintendo 3DS and of the Wii U.
    Bflim,
    /// NSBTX, or an NSBMD with textures, of the Nintendo DS.
    Nsbtx,
    /// BNTX of the Nintendo Switch.
    Bntx,
    /// None: blocks or texels alone, see [`raw`].
    Raw,
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Container::Ktx1 => "KTX 1",
            Container::Ktx2 => "KTX 2",
            Container::Dds => "DDS",
            Container::Astc => "ASTC",
            Container::Pvr => "PVR 3",
            Container::Pkm => "PKM",
            Container::Basis => "Basis Universal",
            Container::Ctpk => "CTPK",
            Container::Bclim => "BCLIM",
            Container::Bflim => "BFLIM",
            Container::Nsbtx => "NSBTX",
            Container::Bntx => "BNTX",
            Container::Raw => "none",
        })
    }
}

/// A reader of files with several textures.
struct Archive {
    /// How many textures a file says that it has.
    count: fn(&[u8]) -> Result<usize, Error>,
    /// Reads one by its number. The last argument counts what is held beside the file for those before it, and for it.
    read: for<'a> fn(&'a [u8], usize, &Limits, &mut usize) -> Result<Texture<'a>, Error>,
}

impl Archive {
    fn of(bytes: &[u8]) -> Option<Archive> {
        Some(match bytes {
            [b'C', b'T', b'P', b'K', ..] => Archive { count: ctpk::count, read: ctpk::read },
            [b'B', b'T' | b'M', b'X' | b'D', b'0', ..] => Archive { count: nsbtx::count, read: nsbtx::read },
            [b'B', b'N', b'T', b'X', ..] => Archive { count: bntx::count, read: bntx::read },
            _ => return None,
        })
    }
}

/// Reads a texture, of files with several of them the first.
///
/// # Errors
/// When the bytes are no file of a known kind, damaged, or more than the limits allow.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>, Error> {
    if let Some(archive) = Archive::of(bytes) {
        if (archive.count)(bytes)? == 0 {
            return Err(Error::Malformed("number of textures"));
        }
        return (archive.read)(bytes, 0, limits, &mut 0);
    }
    match bytes {
        [0xab, b'K', b'T', b'X', b' ', b'1', ..] => ktx1::read(bytes, limits),
        [0xab, b'K', b'T', b'X', b' ', b'2', ..] => ktx2::read(bytes, limits),
        [b'D', b'D', b'S', b' ', ..] => dds::read(bytes, limits),
        [0x13, 0xab, 0xa1, 0x5c, ..] => astc::read(bytes, limits),
        [b'P', b'V', b'R', 3, ..] => pvr::read(bytes, limits),
        [b'P', b'K', b'M', b' ', ..] => pkm::read(bytes, limits),
        [b's', b'B', ..] => basis::read(bytes, limits),
        _ => match clim::footer(bytes) {
            Some(footer) => clim::read(bytes, footer, limits),
            None => Err(Error::Unknown),
        },
    }
}

/// Reads all textures of a file: one that cannot be read does not keep the others from it. The limits are for all of them
/// together.
///
/// # Errors
/// When the bytes are no file of a known kind, or its table of textures is damaged or longer than [`Limits::images`].
pub fn read_all<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Vec<Result<Texture<'a>, Error>>, Error> {
    let Some(archive) = Archive::of(bytes) else { return Ok(vec![Ok(read(bytes, limits)?)]) };
    let count = (archive.count)(bytes)?;
    if count > limits.images {
        return Err(Error::TooLarge);
    }
    let (mut textures, mut held, mut images) = (Vec::new(), 0, limits.images);
    for index in 0..count {
        let texture = (archive.read)(bytes, index, &Limits { images, ..*limits }, &mut held);
        if let Ok(texture) = &texture {
            images = images.saturating_sub(texture.images.len());
        }
        textures.push(texture);
    }
    Ok(textures)
}

/// Blocks or texels without a header as a texture of one image, whose size and format somebody knows. What is behind them is
/// left out.
///
/// # Errors
/// [`Error::Truncated`] if there are too few bytes, [`Error::Malformed`] for a size of zero.
pub fn raw<'a>(
    bytes: &'a [u8],
    format: Format,
    extent: Extent,
    limits: &Limits,
) -> Result<Texture<'a>, Error> {
    let shape = Shape::picture(Container::Raw, format, Transfer::Unknown, extent);
    let mut texture = shape.texture(limits)?;
    let data = Reader::new(bytes).take(texture.image_bytes(0)?, "the last block")?;
    texture.push([0; 3], Cow::Borrowed(data));
    Ok(texture)
}

/// The text at an offset, to the zero behind it; nothing if it is empty or not there.
fn name(bytes: &[u8], offset: u64) -> Option<Cow<'_, str>> {
    let text = bytes.get(usize::try_from(offset).ok()?..)?;
    let end = text.iter().position(|&letter| letter == 0)?;
    text.get(..end).filter(|text| !text.is_empty()).map(String::from_utf8_lossy)
}

/// Writes a texture as KTX 2, its levels plain, with its transfer function, orientation, swizzle and other pairs, and whether
/// alpha is premultiplied. The container it came from is of no matter, nor is the order of its images.
///
/// # Errors
/// [`Error::Format`] for formats that Vulkan does not have, [`Error::Truncated`] if an image is missing or too short.
pub fn write_ktx2(texture: &Texture<'_>) -> Result<Vec<u8>, Error> {
    ktx2::write(texture)
}

/// A cursor over a file.
struct Reader<'a> {
    bytes: &'a [u8],
    /// Whether words have their highest byte first.
    is_big: bool,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, is_big: false }
    }

    /// From an offset on.
    fn at(bytes: &'a [u8], offset: u64, what: &'static str) -> Result<Reader<'a>, Error> {
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..));
        rest.map(Reader::new).ok_or(Error::Truncated(what))
    }

    fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Error::Truncated(what))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Leaves out `count` bytes, or what is left of the file.
    fn skip(&mut self, count: usize) {
        self.bytes = self.bytes.get(count..).unwrap_or_default();
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Error> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(Error::Truncated(what))?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn u8(&mut self, what: &'static str) -> Result<u8, Error> {
        Ok(self.array::<1>(what)?[0])
    }

    fn u16(&mut self, what: &'static str) -> Result<u16, Error> {
        let bytes = self.array(what)?;
        Ok(if self.is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    /// Three bytes, the lowest first.
    fn u24(&mut self, what: &'static str) -> Result<u32, Error> {
        let [a, b, c] = self.array(what)?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, Error> {
        let bytes = self.array(what)?;
        Ok(if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, Error> {
        let bytes = self.array(what)?;
        Ok(if self.is_big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    fn words<const N: usize>(&mut self, what: &'static str) -> Result<[u32; N], Error> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.u32(what)?;
        }
        Ok(words)
    }
}
