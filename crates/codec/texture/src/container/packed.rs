//! Levels that are packed, by Zstandard or zlib, unpacked image by image.

use super::Error;
use flate2::read::ZlibDecoder;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::borrow::Cow;
use std::io::{ErrorKind, Read};

/// The images of a level, one after the other.
pub enum Images<'a> {
    Plain(&'a [u8]),
    Zstandard(Box<StreamingDecoder<&'a [u8], FrameDecoder>>),
    Zlib(Box<ZlibDecoder<&'a [u8]>>),
}

impl<'a> Images<'a> {
    /// A frame of Zstandard. Up to `spare` bytes are taken to hold its window: the decoder keeps the last bytes that it
    /// made in a ring, of the window's size or, where that is no power of two, up to twice as much.
    pub fn zstandard(data: &'a [u8], spare: usize) -> Result<Images<'a>, Error> {
        match StreamingDecoder::new_with_max_window_size(data, spare as u64 / 2) {
            Ok(decoder) => Ok(Images::Zstandard(Box::new(decoder))),
            Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => {
                Err(Error::Window { window: requested, spare: spare as u64 })
            }
            Err(e) => Err(Error::Zstd(e.to_string())),
        }
    }

    /// A stream of zlib, whose window is small.
    pub fn zlib(data: &'a [u8]) -> Images<'a> {
        Images::Zlib(Box::new(ZlibDecoder::new(data)))
    }

    /// The next `bytes` bytes, where they are to stay: there is no other copy of them than in the window.
    pub fn take(&mut self, bytes: usize) -> Result<Cow<'a, [u8]>, Error> {
        let name: fn(String) -> Error = match self {
            Images::Plain(data) => {
                let image = data.split_off(..bytes).ok_or(Error::Truncated("the end of a level"))?;
                return Ok(Cow::Borrowed(image));
            }
            Images::Zstandard(_) => Error::Zstd,
            Images::Zlib(_) => Error::Zlib,
        };
        let mut image = vec![0; bytes];
        let read = match self {
            Images::Zstandard(decoder) => decoder.read_exact(&mut image),
            Images::Zlib(decoder) => decoder.read_exact(&mut image),
            Images::Plain(_) => Ok(()),
        };
        match read {
            Ok(()) => Ok(Cow::Owned(image)),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Err(Error::Truncated("the end of a level")),
            Err(e) => Err(name(e.to_string())),
        }
    }
}
