//! How payloads are packed.

use crate::entry::EntryError;
use std::sync::Arc;

/// How a payload is packed. The numbers are part of the format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Codec {
    /// As it is.
    Stored = 0,
    /// Zstandard with the dictionary `dict/spirv-1.zdict`.
    ZstdSpirv1 = 1,
}

impl Codec {
    /// The codec of a number in an entry.
    pub(crate) fn from_number(number: u8) -> Option<Codec> {
        match number {
            0 => Some(Codec::Stored),
            1 => Some(Codec::ZstdSpirv1),
            _ => None,
        }
    }
}

#[cfg(not(feature = "disk"))]
pub(crate) use stored::{pack, unpack};
#[cfg(feature = "disk")]
pub(crate) use zstandard::{pack, unpack};

/// Without the feature `disk`, entries are only stored as they are, and only such entries can be read.
#[cfg(not(feature = "disk"))]
mod stored {
    use super::*;

    pub(crate) fn pack(_: &[u8]) -> (Codec, Option<Vec<u8>>) {
        (Codec::Stored, None)
    }

    pub(crate) fn unpack(codec: Codec, stored: &[u8], length: usize) -> Result<Arc<[u8]>, EntryError> {
        match codec {
            Codec::Stored if stored.len() == length => Ok(stored.into()),
            Codec::Stored => Err(EntryError::Payload),
            other => Err(EntryError::Codec(other as u8)),
        }
    }
}

#[cfg(feature = "disk")]
mod zstandard {
    use super::*;
    use std::cell::RefCell;
    use std::sync::LazyLock;
    use zstd::bulk::{Compressor, Decompressor};
    use zstd::dict::{DecoderDictionary, EncoderDictionary};
    use zstd::zstd_safe::get_frame_content_size;

    /// Level 3 packs a shader of 4 KiB in some 20 µs; higher levels gain little with a dictionary.
    const LEVEL: i32 = 3;
    /// Shorter payloads stay as they are.
    const SHORTEST: usize = 48;

    /// Made by `examples/train.rs`. Entries name the dictionary by their codec: another one is another file and codec.
    static DICTIONARY: &[u8] = include_bytes!("../dict/spirv-1.zdict");
    static ENCODER: LazyLock<EncoderDictionary<'static>> =
        LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
    static DECODER: LazyLock<DecoderDictionary<'static>> =
        LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

    thread_local! {
        static PACKER: RefCell<Option<Compressor<'static>>> =
            RefCell::new(Compressor::with_prepared_dictionary(&ENCODER).ok());
        static UNPACKER: RefCell<Option<Decompressor<'static>>> =
            RefCell::new(Decompressor::with_prepared_dictionary(&DECODER).ok());
    }

    pub(crate) fn pack(payload: &[u8]) -> (Codec, Option<Vec<u8>>) {
        if payload.len() < SHORTEST {
            return (Codec::Stored, None);
        }
        let packed = PACKER.with_borrow_mut(|packer| packer.as_mut()?.compress(payload).ok());
        match packed.filter(|packed| packed.len() < payload.len()) {
            Some(packed) => (Codec::ZstdSpirv1, Some(packed)),
            None => (Codec::Stored, None),
        }
    }

    /// The caller has checked the hash of `stored` and the bound on `length`.
    pub(crate) fn unpack(codec: Codec, stored: &[u8], length: usize) -> Result<Arc<[u8]>, EntryError> {
        match codec {
            Codec::Stored => return stored_as_is(stored, length),
            Codec::ZstdSpirv1 => {}
        }
        // Memory is taken for what the frame says, which has to be what the entry says.
        if !matches!(get_frame_content_size(stored), Ok(Some(n)) if n == length as u64) {
            return Err(EntryError::Payload);
        }
        let mut payload: Arc<[u8]> = std::iter::repeat_n(0, length).collect();
        let unpacked = Arc::get_mut(&mut payload).and_then(|bytes| {
            UNPACKER.with_borrow_mut(|unpacker| unpacker.as_mut()?.decompress_to_buffer(stored, bytes).ok())
        });
        if unpacked == Some(length) { Ok(payload) } else { Err(EntryError::Payload) }
    }

    fn stored_as_is(stored: &[u8], length: usize) -> Result<Arc<[u8]>, EntryError> {
        if stored.len() == length { Ok(stored.into()) } else { Err(EntryError::Payload) }
    }
}
