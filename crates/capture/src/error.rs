//! What can be wrong with a file.

use crate::Capture;
use std::path::PathBuf;
use thiserror::Error;

/// What is wrong with a chunk.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Damage {
    /// The file ends in the chunk.
    #[error("the file ends {missing} bytes early")]
    Truncated {
        /// Bytes that are missing at least.
        missing: u64,
    },
    /// The file ends where another chunk should be.
    #[error("the file ends without a closing chunk")]
    NoEnd,
    /// The checksum of the chunk differs.
    #[error("its checksum is {found:#010x}, not {stored:#010x}")]
    Checksum {
        /// The one in the file.
        stored: u32,
        /// The one of what is in the file.
        found: u32,
    },
    /// The chunk says of itself that it is larger than allowed.
    #[error("{size} bytes are more than the limit of {limit}")]
    TooLarge {
        /// Bytes, unpacked.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The compressed data do not unpack to what the chunk says.
    #[error("it does not unpack: {0}")]
    Zstd(String),
    /// A compression this version does not know.
    #[error("unknown compression {0}")]
    Compression(u32),
    /// Contents that are none.
    #[error("bad {what} at byte {at} of its contents")]
    Contents {
        /// Which part.
        what: &'static str,
        /// Where.
        at: usize,
    },
    /// A chunk that must be understood, and is not.
    #[error("a chunk this version does not know and must")]
    Unknown,
}

/// Why a capture could not be read or written.
#[derive(Debug, Error)]
pub enum Error {
    /// Not a capture at all.
    #[error("not a capture: the file does not start with the bytes of .xgc")]
    Magic,
    /// Text-mode transfer.
    #[error("not a whole capture: line ends were changed on the way; transfer it as binary")]
    LineEnds,
    /// Written by a later version.
    #[error("version {0} of the format; this program reads up to {max}", max = crate::VERSION)]
    Version(u32),
    /// A chunk is damaged. What was read before it is kept.
    #[error(
        "chunk {number} ({tag}) at {offset:#x}: {damage}; recovered before it: {blocks} memory blocks, {bytes} bytes of \
         operations, {frames} frames",
        tag = tag.escape_ascii(),
        blocks = recovered.memory.len(),
        bytes = recovered.ops.len(),
        frames = recovered.frames.len()
    )]
    Chunk {
        /// Number of the chunk, from 0.
        number: usize,
        /// Its four letters; spaces if the file ends before.
        tag: [u8; 4],
        /// Where it starts in the file.
        offset: u64,
        /// What is wrong.
        damage: Damage,
        /// Everything before.
        recovered: Box<Capture>,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Error {
    /// What could be read of a damaged file.
    pub fn recovered(self) -> Option<Capture> {
        match self {
            Error::Chunk { recovered, .. } => Some(*recovered),
            _ => None,
        }
    }
}
