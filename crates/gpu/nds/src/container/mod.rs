//! Scene files, `.ndsf`: what the engines are given, and what should come of it.
//!
//! The layout is that of `vectors/nds/FORMAT.md`: chunks of a tag, a length and a payload. This is the file unpacked;
//! the crate does not compress.

pub(crate) mod read;
mod write;

use crate::raster::Profile;
use crate::registers::Registers;
use thiserror::Error;

/// First chunk of every file.
pub const FIRST: [u8; 4] = *b"NDSF";
/// Version of the layout.
pub const VERSION: u32 = 1;

/// How much a file may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file.
    pub bytes: usize,
    /// Chunks.
    pub chunks: usize,
    /// Words of the command stream.
    pub words: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 64 << 20, chunks: 4096, words: 8 << 20 }
    }
}

/// What is wrong with a file of chunks: a scene, or one of [whole pictures](crate::whole).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// It is none: it does not begin with this chunk.
    #[error("not a scene: no {} chunk", .0.escape_ascii())]
    Magic([u8; 4]),
    /// Written by a later version.
    #[error("version {0} of the format; this reads {VERSION}")]
    Version(u32),
    /// It ends early.
    #[error("the file ends {0} bytes early")]
    Truncated(usize),
    /// A chunk has an impossible length.
    #[error("chunk {} of {length} bytes", tag.escape_ascii())]
    Length {
        /// The chunk.
        tag: [u8; 4],
        /// Its length.
        length: usize,
    },
    /// A chunk has impossible contents.
    #[error("chunk {}: {what}", tag.escape_ascii())]
    Contents {
        /// The chunk.
        tag: [u8; 4],
        /// What is impossible.
        what: &'static str,
    },
    /// More than [`Limits`] allow.
    #[error("more {what} than the limit of {limit}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

/// Why a file could not be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{offset:#x}: {problem}")]
pub struct ContainerError {
    /// Where in the unpacked file.
    pub offset: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// An expected result, as its chunk has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The chunk: `XSTA`, `XPRB`, `XVTX`, `XPOL`, `XPCR`, `XORD`, `XCOL`, `XDEP`, `XATT`, `XCRC` or
    /// `XSPN`.
    pub tag: [u8; 4],
    /// Its payload.
    pub bytes: Vec<u8>,
}

/// A scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Lines `key=value`: name, features, commands, about.
    pub meta: String,
    /// Registers before the stream starts.
    pub registers: Registers,
    /// Name of a memory image to start from, `vram/NAME.bin` beside the scenes.
    pub memory: Option<String>,
    /// Texture memory: address and bytes.
    pub textures: Vec<(u32, Vec<u8>)>,
    /// Palette memory: address and bytes.
    pub palettes: Vec<(u32, Vec<u8>)>,
    /// Words written to GXFIFO.
    pub stream: Vec<u32>,
    /// After how many words the readable registers are sampled, ascending.
    pub probes: Vec<u32>,
    /// What should come of it.
    pub expected: Vec<Expectation>,
    /// Tags of other chunks, which are skipped: a scene that has any may ask for more than is done. Not written.
    pub unknown: Vec<[u8; 4]>,
}

impl Scene {
    /// The value of a key of [`Scene::meta`].
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.meta.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whose pixels the expected results are of: those that a console drew, if they were recorded on one.
    pub fn profile(&self) -> Profile {
        if self.expectation(*b"XSPN").is_some() { Profile::Console } else { Profile::MelonDs }
    }

    /// The expected result of a tag.
    pub fn expectation(&self, tag: [u8; 4]) -> Option<&[u8]> {
        self.expected.iter().find(|e| e.tag == tag).map(|e| e.bytes.as_slice())
    }
}
