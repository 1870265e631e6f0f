//! Entries as bytes: what a store keeps, a pack carries and nobody believes before its hash is right.
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `XGCE` |
//! | 4–5 | schema of this format |
//! | 6 | kind |
//! | 7 | codec of the payload |
//! | 8–15 | stamp: which versions of passes and writers it was made under |
//! | 16–23 | title: whose it is |
//! | 24–27 | bytes of the payload |
//! | 28–31 | bytes of the payload as stored |
//! | 32–63 | BLAKE3 of the key, of bytes 0–31 and of the payload as stored |
//! | 64– | the payload as stored |
//!
//! All numbers are little-endian. The hash covers the key, so an entry under another's key is as damaged as one with a
//! wrong bit; and it is checked before anything is unpacked, so that no decompressor sees bytes that we did not write.

use crate::codec::{self, Codec};
use crate::key::{Key, Title};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use thiserror::Error;

/// Schema of the format.
pub const SCHEMA: u16 = 1;

/// Most bytes of a payload.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// Bytes before the payload.
pub const HEADER: usize = 64;

const MAGIC: [u8; 4] = *b"XGCE";

/// What an entry holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum Kind {
    /// Code for a host.
    Artifact = 0,
    /// Why there is none.
    Failure = 1,
    /// What a front end asked: the queries of a recording, without answers.
    Shape = 2,
    /// A guest's program with everything that its translation depends on.
    Guest = 3,
    /// What a driver made of code.
    Blob = 4,
    /// The versions that a stamp stands for.
    Versions = 5,
}

impl Kind {
    /// All of them, in order.
    pub const ALL: [Kind; 6] =
        [Kind::Artifact, Kind::Failure, Kind::Shape, Kind::Guest, Kind::Blob, Kind::Versions];

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Artifact => "artifact",
            Kind::Failure => "failure",
            Kind::Shape => "shape",
            Kind::Guest => "guest",
            Kind::Blob => "blob",
            Kind::Versions => "versions",
        }
    }
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it holds.
    pub kind: Kind,
    /// The versions it was made under: [`Versions::stamp`](crate::Versions::stamp). 0 if it depends on none.
    pub stamp: u64,
    /// Whose it is.
    pub title: Title,
    /// What is kept.
    pub payload: Arc<[u8]>,
}

/// Why bytes are no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EntryError {
    /// They end before the payload does, or after.
    #[error("{0} bytes, which is not what the header says")]
    Length(usize),
    /// Something else, or of a schema that this program does not know.
    #[error("byte 0: not an entry of schema {SCHEMA}")]
    Magic,
    /// A kind that there is not.
    #[error("byte 6: kind {0} is not known")]
    Kind(u8),
    /// A codec that there is not, or that this program was built without.
    #[error("byte 7: codec {0} is not known")]
    Codec(u8),
    /// A payload beyond the limit.
    #[error("byte 24: a payload of {0} bytes; {MAX_PAYLOAD} are possible")]
    TooLarge(u64),
    /// The hash is another: a bit is wrong somewhere, or the entry belongs to another key.
    #[error("byte 32: the hash does not fit")]
    Hash,
    /// The payload does not unpack to what the header says.
    #[error("byte 64: the payload does not unpack")]
    Payload,
}

/// What an entry's first bytes say. Nothing is checked but that they can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it holds.
    pub kind: Kind,
    /// How the payload is packed.
    pub codec: Codec,
    /// The versions it was made under.
    pub stamp: u64,
    /// Whose it is.
    pub title: Title,
    /// Bytes of the payload.
    pub payload: u32,
    /// Bytes of it as stored.
    pub stored: u32,
}

impl Header {
    /// Reads the header of an entry.
    ///
    /// # Errors
    /// Bytes that are no entry's; the hash is not looked at.
    pub fn read(bytes: &[u8]) -> Result<Header, EntryError> {
        let fields: &[u8; HEADER] = bytes.first_chunk().ok_or(EntryError::Length(bytes.len()))?;
        let [m0, m1, m2, m3, s0, s1, kind, codec, ..] = *fields;
        if [m0, m1, m2, m3] != MAGIC || u16::from_le_bytes([s0, s1]) != SCHEMA {
            return Err(EntryError::Magic);
        }
        let kind = *Kind::ALL.get(usize::from(kind)).ok_or(EntryError::Kind(kind))?;
        let codec = Codec::from_number(codec).ok_or(EntryError::Codec(codec))?;
        let long = |at: usize| fields[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        let short = |at: usize| fields[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        let header = Header {
            kind,
            codec,
            stamp: long(8),
            title: Title(long(16)),
            payload: short(24),
            stored: short(28),
        };
        if header.payload as usize > MAX_PAYLOAD {
            return Err(EntryError::TooLarge(header.payload.into()));
        }
        if bytes.len() - HEADER != header.stored as usize {
            return Err(EntryError::Length(bytes.len()));
        }
        Ok(header)
    }
}

/// An entry as bytes under a key, its payload packed where that makes it shorter.
///
/// # Errors
/// A payload beyond [`MAX_PAYLOAD`].
pub fn encode(key: &Key, entry: &Entry) -> Result<Vec<u8>, EntryError> {
    let length = entry.payload.len();
    if length > MAX_PAYLOAD {
        return Err(EntryError::TooLarge(length as u64));
    }
    let (codec, packed) = codec::pack(&entry.payload);
    let stored: &[u8] = packed.as_deref().unwrap_or(&entry.payload);
    let mut bytes = Vec::with_capacity(HEADER + stored.len());
    bytes.extend(MAGIC);
    bytes.extend(SCHEMA.to_le_bytes());
    bytes.extend([entry.kind as u8, codec as u8]);
    bytes.extend(entry.stamp.to_le_bytes());
    bytes.extend(entry.title.0.to_le_bytes());
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend((stored.len() as u32).to_le_bytes());
    let hash = hash(key, &bytes, stored);
    bytes.extend(hash);
    bytes.extend(stored);
    Ok(bytes)
}

/// The entry that bytes hold under a key.
///
/// # Errors
/// Any byte that is not as [`encode`] wrote it.
pub fn decode(key: &Key, bytes: &[u8]) -> Result<Entry, EntryError> {
    let header = check(key, bytes)?;
    let stored = bytes.get(HEADER..).unwrap_or_default();
    let payload = codec::unpack(header.codec, stored, header.payload as usize)?;
    Ok(Entry { kind: header.kind, stamp: header.stamp, title: header.title, payload })
}

/// Checks the bytes of an entry without unpacking it.
///
/// # Errors
/// As [`decode`].
pub fn check(key: &Key, bytes: &[u8]) -> Result<Header, EntryError> {
    let header = Header::read(bytes)?;
    let (head, rest) = bytes.split_at(32);
    let (said, stored) = rest.split_at(32);
    if hash(key, head, stored) != said { Err(EntryError::Hash) } else { Ok(header) }
}

fn hash(key: &Key, head: &[u8], stored: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&key.0).update(head).update(stored);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(payload: &[u8]) -> Entry {
        Entry { kind: Kind::Artifact, stamp: 5, title: Title::new("game"), payload: payload.into() }
    }

    #[test]
    fn every_flipped_byte_is_noticed() {
        let key = Key::of("test").finish();
        let words: Vec<u8> = (0..600u32).flat_map(|n| (n % 37).to_le_bytes()).collect();
        for payload in [&b""[..], b"abc", &words] {
            let bytes = encode(&key, &entry(payload)).unwrap();
            assert_eq!(decode(&key, &bytes).unwrap(), entry(payload));
            for at in 0..bytes.len() {
                for bit in 0..8 {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 1 << bit;
                    assert!(decode(&key, &damaged).is_err(), "byte {at}, bit {bit}");
                }
            }
            for end in 0..bytes.len() {
                assert!(decode(&key, &bytes[..end]).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn an_entry_does_not_answer_to_another_key() {
        let bytes = encode(&Key::of("a").finish(), &entry(b"abc")).unwrap();
        assert_eq!(decode(&Key::of("b").finish(), &bytes), Err(EntryError::Hash));
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(300))]

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let mut with_magic = MAGIC.to_vec();
            with_magic.extend(SCHEMA.to_le_bytes());
            with_magic.extend(&bytes);
            let key = Key::of("any").finish();
            prop_assert!(decode(&key, &bytes).is_err());
            prop_assert!(decode(&key, &with_magic).is_err());
        }

        #[test]
        fn payloads_come_back(payload: Vec<u8>, stamp: u64, title: u64) {
            let key = Key::of("any").bytes(&payload).finish();
            let entry =
                Entry { kind: Kind::Guest, stamp, title: Title(title), payload: payload.into() };
            prop_assert_eq!(decode(&key, &encode(&key, &entry).unwrap()).unwrap(), entry);
        }
    }
}
