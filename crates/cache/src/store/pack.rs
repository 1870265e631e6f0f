//! Packs: entries of a store in a file, to hand to others.
//!
//! | bytes | what |
//! |---|---|
//! | 0–7 | `89 58 47 43 50 0d 0a 1a`: a pack |
//! | 8–11 | schema of this format |
//! | then, for each entry | its key (32 bytes), its length (4 bytes), its bytes |
//!
//! Nobody's pack is believed: an entry whose hash is wrong is counted and left out. An entry of a key that the store has
//! already changes nothing, so that a pack can neither empty nor replace what its user has.

use super::{Store, StoreError};
use crate::entry::{self, HEADER, Kind, MAX_PAYLOAD};
use crate::key::{Key, Title};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use thiserror::Error;

/// Schema of the format.
pub const SCHEMA: u32 = 1;

const MAGIC: [u8; 8] = *b"\x89XGCP\r\n\x1a";

/// Why a pack was not written or read to its end.
#[derive(Debug, Error)]
pub enum PackError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be read or written.
    #[error("byte {at}: {source}")]
    Io {
        /// Byte offset in the pack.
        at: u64,
        /// Why.
        source: io::Error,
    },
    /// The file is no pack, or one of another schema.
    #[error("byte 0: not a pack of schema {SCHEMA}")]
    Magic,
    /// An entry is longer than entries can be: from here on the file cannot be followed.
    #[error("byte {at}: an entry of {length} bytes")]
    Length {
        /// Byte offset of the length.
        at: u64,
        /// The length.
        length: u32,
    },
}

/// What became of the entries of a pack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Entries that the store has now, and had not.
    pub added: u64,
    /// Entries of keys that it had already.
    pub known: u64,
    /// Entries whose bytes are wrong.
    pub damaged: u64,
}

impl Store {
    /// Writes all entries, or those of a title, to a pack. Damaged ones are left out. Gives how many were written.
    ///
    /// # Errors
    /// The store cannot be read, or the pack not be written.
    pub fn export(&self, title: Option<Title>, mut to: impl Write) -> Result<u64, PackError> {
        self.flush()?;
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            let done = to.write_all(bytes).map_err(|source| PackError::Io { at, source });
            at += bytes.len() as u64;
            done
        };
        put(&MAGIC)?;
        put(&SCHEMA.to_le_bytes())?;
        let (mut count, mut failed) = (0, None);
        self.scan(|item| {
            let Ok(header) = entry::check(&item.key, item.bytes) else { return ControlFlow::Continue(()) };
            // What several titles share belongs to all of them.
            let is_shared = matches!(header.kind, Kind::Shape | Kind::Versions);
            if title.is_some_and(|title| title != header.title && !is_shared) {
                return ControlFlow::Continue(());
            }
            let length = (item.bytes.len() as u32).to_le_bytes();
            match put(&item.key.0).and_then(|()| put(&length)).and_then(|()| put(item.bytes)) {
                Ok(()) => {
                    count += 1;
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(count), Err)
    }

    /// Takes the entries of a pack that the store lacks.
    ///
    /// # Errors
    /// A file that is no pack, or ends in the middle; what came before is kept.
    pub fn import(&self, from: impl Read) -> Result<Imported, PackError> {
        let mut imported = Imported::default();
        let mut pack = Reader::new(from)?;
        while let Some((key, bytes)) = pack.next_entry()? {
            // Unpacked as well: what will not unpack later is of no use.
            match entry::decode(&key, &bytes) {
                Err(_) => imported.damaged += 1,
                Ok(_) if self.get(&key).is_some() => imported.known += 1,
                Ok(_) => {
                    self.put_encoded(&key, bytes.into());
                    imported.added += 1;
                }
            }
        }
        self.flush()?;
        Ok(imported)
    }
}

/// Reads the entries of a pack in order. Nothing of them is checked but that they are whole.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    at: u64,
}

impl<R: Read> Reader<R> {
    /// Reads what a pack begins with.
    ///
    /// # Errors
    /// A file that is no pack.
    pub fn new(from: R) -> Result<Reader<R>, PackError> {
        let mut reader = Reader { from, at: 0 };
        reader.start()?;
        Ok(reader)
    }

    fn exact(&mut self, out: &mut [u8]) -> Result<(), PackError> {
        self.from.read_exact(out).map_err(|source| PackError::Io { at: self.at, source })?;
        self.at += out.len() as u64;
        Ok(())
    }

    fn start(&mut self) -> Result<(), PackError> {
        let (mut magic, mut schema) = ([0; 8], [0; 4]);
        let read = self.exact(&mut magic).and_then(|()| self.exact(&mut schema));
        if read.is_err() || magic != MAGIC || u32::from_le_bytes(schema) != SCHEMA {
            return Err(PackError::Magic);
        }
        Ok(())
    }

    /// The next entry's key and bytes; none at the end.
    ///
    /// # Errors
    /// A pack that ends in the middle of an entry.
    pub fn next_entry(&mut self) -> Result<Option<(Key, Vec<u8>)>, PackError> {
        let mut key = [0; 32];
        // The end is where an entry would begin.
        let first = loop {
            match self.from.read(&mut key) {
                Ok(0) => return Ok(None),
                Ok(count) => break count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(PackError::Io { at: self.at, source }),
            }
        };
        self.at += first as u64;
        self.exact(key.get_mut(first..).unwrap_or_default())?;
        let mut length = [0; 4];
        let at = self.at;
        self.exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length as usize > MAX_PAYLOAD + HEADER {
            return Err(PackError::Length { at, length });
        }
        // Memory is taken as bytes come, whatever the length says.
        let mut bytes = Vec::new();
        let read = (&mut self.from).take(length.into()).read_to_end(&mut bytes);
        read.map_err(|source| PackError::Io { at: self.at, source })?;
        self.at += bytes.len() as u64;
        if bytes.len() < length as usize {
            return Err(PackError::Io { at: self.at, source: io::ErrorKind::UnexpectedEof.into() });
        }
        Ok(Some((Key(key), bytes)))
    }
}
