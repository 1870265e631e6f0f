//! Frames of Zstandard, unpacked image by image.

use super::Error;
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::{ErrorKind, Read};

/// A frame that is read from its start.
pub struct Frame<'a>(StreamingDecoder<&'a [u8], FrameDecoder>);

impl<'a> Frame<'a> {
    /// The frame at the start of `data`. Up to `spare` bytes are taken to hold its window: the decoder keeps the last bytes
    /// that it made in a ring, of the window's size or, where that is no power of two, up to twice as much.
    pub fn open(data: &'a [u8], spare: usize) -> Result<Frame<'a>, Error> {
        match StreamingDecoder::new_with_max_window_size(data, spare as u64 / 2) {
            Ok(decoder) => Ok(Frame(decoder)),
            Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => {
                Err(Error::Window { window: requested, spare: spare as u64 })
            }
            Err(e) => Err(Error::Zstd(e.to_string())),
        }
    }

    /// The next `bytes` bytes, where they are to stay: there is no other copy of them than in the window.
    pub fn take(&mut self, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut image = vec![0; bytes];
        match self.0.read_exact(&mut image) {
            Ok(()) => Ok(image),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Err(Error::Truncated("the end of a level")),
            Err(e) => Err(Error::Zstd(e.to_string())),
        }
    }
}
