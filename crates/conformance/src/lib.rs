//! Runs oracle vectors against engines.
//!
//! A suite is a row of [`SUITES`]: its name, its engines and how it is run on a file or folder in the format of
//! `vectors/*/FORMAT.md`. The command line and the project's tests run the same code, so users check Xenoglot on
//! their machine and driver with what we check it with.
//!
//! ```
//! use xenoglot_conformance::Suite;
//!
//! let suite = Suite::find("pica").expect("a suite of the table");
//! assert_eq!(suite.engine(None)?, "interp", "the default engine is the first one");
//! assert!(suite.engine(Some("abacus")).is_err());
//! # Ok::<(), xenoglot_conformance::Error>(())
//! ```
#![deny(missing_docs)]

pub mod corpora;
pub mod dxil;
#[cfg(feature = "host")]
mod host;
pub mod input;
pub mod limit;
pub mod maxwell;
#[cfg(target_os = "linux")]
mod mips;
pub mod nds;
pub mod pica;
pub mod picagpu;
pub mod report;
mod suites;
mod texture;
mod tone;
pub mod validator;
pub mod vulkan;
mod warp;
mod yuv;

pub use report::{Case, Observer, Silent, Summary, Verdict};
pub use suites::{Request, SUITES, Suite};

use std::path::PathBuf;
use thiserror::Error;

/// Why a suite could not be run.
#[derive(Debug, Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A zstd file is damaged.
    #[error("{}: not a whole zstd file: {reason}", path.display())]
    Zstd {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A tar or xz file is damaged.
    #[error("{}: not a whole tar or tar.xz file: {reason}", path.display())]
    Archive {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The suite's engines draw no tiles of this size.
    #[error("suite {suite} has no tiles of {tile} pixels a side")]
    Tile {
        /// The suite.
        suite: &'static str,
        /// The size.
        tile: u32,
    },
    /// A description is not of the suite's format.
    #[error("{}: {file}: {reason}", path.display())]
    Json {
        /// The folder or archive.
        path: PathBuf,
        /// The file in it.
        file: String,
        /// Why.
        reason: String,
    },
    /// A file is larger than any suite's.
    #[error("{}: more than {} bytes", path.display(), input::MAX_BYTES)]
    TooLarge {
        /// Which.
        path: PathBuf,
    },
    /// A file of the suite is damaged, or of another form.
    #[error("{}: {reason}", path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No file of the suite there.
    #[error("{}: no file that starts with {magic}", path.display())]
    NoVectors {
        /// Where.
        path: PathBuf,
        /// What the suite's files start with.
        magic: String,
    },
    /// A suite does not have an engine.
    #[error("suite {suite} has no engine {engine:?}; it has {known}")]
    Engine {
        /// The suite.
        suite: &'static str,
        /// The engine asked for.
        engine: String,
        /// Those it has.
        known: String,
    },
    /// The engine's device or tools are not there.
    #[error("{0}")]
    Device(String),
    /// A line of a text is not of the suite's format.
    #[error("{}: line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file ends early.
    #[error("{offset:#x}: {needed} more bytes were expected")]
    Truncated {
        /// Byte offset in the unpacked file.
        offset: usize,
        /// Bytes missing at most.
        needed: usize,
    },
    /// A DS scene is damaged.
    #[error("{}: {source}", path.display())]
    Scene {
        /// Which.
        path: PathBuf,
        /// Why.
        source: xenoglot_nds::container::ContainerError,
    },
    /// A DS scene of whole pictures is damaged.
    #[error("{}: {source}", path.display())]
    Whole {
        /// Which.
        path: PathBuf,
        /// Why.
        source: xenoglot_nds::container::ContainerError,
    },
    /// A field has an impossible value.
    #[error("{offset:#x}: bad {what}")]
    Malformed {
        /// Byte offset in the unpacked file.
        offset: usize,
        /// The field.
        what: &'static str,
    },
}

impl Error {
    /// The same error with `by` added to its offset.
    fn shifted(self, by: usize) -> Error {
        match self {
            Error::Truncated { offset, needed } => Error::Truncated { offset: offset + by, needed },
            Error::Malformed { offset, what } => Error::Malformed { offset: offset + by, what },
            other => other,
        }
    }
}
