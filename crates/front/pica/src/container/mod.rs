//! Files that hold programs for the unit: SHBIN, raw dumps, and SHBINs inside anything else.
//!
//! Every length and offset in a file is hostile until checked: nothing is allocated before the bytes it describes are
//! known to exist, and [`Limits`] bounds the counts.

pub mod extract;
pub mod raw;
mod reader;
pub mod shbin;
mod write;

pub use shbin::{
    Constant, ConstantValue, Dvle, Geometry, GeometryMode, Label, LineEntry, Output, RegisterFile, Semantic,
    ShaderKind, Shbin, Uniform,
};

use thiserror::Error;

/// Bounds on what a file may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Program words. The default is what a 12-bit program counter reaches, 4096.
    pub code_words: usize,
    /// Operand descriptors. An instruction reaches 128; the default is the 4096 that dumps of emulators hold.
    pub descriptors: usize,
    /// Executables (DVLEs) in one file.
    pub executables: usize,
    /// Entries in any other table.
    pub entries: usize,
    /// Bytes in one name.
    pub name_bytes: usize,
    /// Bytes read in total. Tables and names may overlap, and count each time: a small file cannot ask for much memory.
    pub work_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            code_words: 4096,
            descriptors: 4096,
            executables: 64,
            entries: 4096,
            name_bytes: 1024,
            work_bytes: 4 << 20,
        }
    }
}

/// What is wrong with a file. Offsets are in bytes from the start of the bytes given.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ContainerError {
    /// Bytes that a field points to do not exist.
    #[error("{offset:#x}: {what} takes {needed} bytes, but the data ends at {end:#x}")]
    Truncated {
        /// Where they should start.
        offset: u64,
        /// What they should be.
        what: &'static str,
        /// How many there should be.
        needed: u64,
        /// Length of the data.
        end: usize,
    },
    /// A section does not start with its magic.
    #[error("{offset:#x}: expected {expected:?}, found {found:02x?}")]
    Magic {
        /// Where.
        offset: u64,
        /// The magic.
        expected: &'static str,
        /// The bytes there.
        found: [u8; 4],
    },
    /// A count exceeds its limit.
    #[error("{offset:#x}: {value} {what}, the limit is {limit}")]
    Limit {
        /// Where the count stands.
        offset: u64,
        /// What is counted.
        what: &'static str,
        /// The count.
        value: u64,
        /// The limit.
        limit: usize,
    },
    /// The file's tables add up to more than the limit.
    #[error("{offset:#x}: tables and names add up to more than {limit} bytes")]
    Work {
        /// Where reading stopped.
        offset: u64,
        /// The limit.
        limit: u64,
    },
    /// A field holds a value without a meaning.
    #[error("{offset:#x}: {value:#x} is not a valid {what}")]
    Value {
        /// Where the field stands.
        offset: u64,
        /// What the field says.
        what: &'static str,
        /// What it holds.
        value: u64,
    },
    /// A name does not end within its symbol table.
    #[error("{offset:#x}: the name here does not end within its table")]
    Name {
        /// Where the name starts.
        offset: u64,
    },
}

#[cfg(test)]
pub(crate) mod tests;
