//! What is wrong with bitcode, and how much of it is read.

use thiserror::Error;

/// An error with the place where it was met.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("bitcode byte {offset:#x}: {kind}")]
pub struct BitcodeError {
    /// Byte offset from the start of the bytes given; records are found by where they end.
    pub offset: u64,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What is wrong with bitcode.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrorKind {
    /// The magic number `BC 0xC0DE` is missing.
    #[error("no bitcode starts here")]
    Magic,
    /// The bytes end inside something.
    #[error("the bitcode ends inside of {0}")]
    Truncated(&'static str),
    /// A field with a value it cannot have.
    #[error("bad {what}: {value}")]
    Malformed {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// A record with too few operands.
    #[error("a record of code {code} in {block} is too short")]
    Short {
        /// The block.
        block: &'static str,
        /// The record's code.
        code: u32,
    },
    /// A record that no shader has.
    #[error("a record of code {code} in {block} is not supported")]
    Record {
        /// The block.
        block: &'static str,
        /// The record's code.
        code: u32,
    },
    /// A type, value, block or piece of metadata by a number that nothing has.
    #[error("there is no {what} {number}")]
    Missing {
        /// What is missing.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// A value of a type that does not fit where it is used.
    #[error("{0} of the wrong type")]
    Type(&'static str),
    /// More than [`Limits`] allow.
    #[error("more {0} than the limit")]
    Limit(&'static str),
}

impl ErrorKind {
    /// A field with an impossible value.
    pub(super) fn malformed(what: &'static str, value: impl Into<u64>) -> ErrorKind {
        ErrorKind::Malformed { what, value: value.into() }
    }

    /// A number that nothing has.
    pub(super) fn missing(what: &'static str, number: impl Into<u64>) -> ErrorKind {
        ErrorKind::Missing { what, number: number.into() }
    }
}

/// What a step of reading gives; the place is added further up.
pub(super) type Step<T> = Result<T, ErrorKind>;

/// Bounds on what bitcode may ask for. What is read takes memory in proportion to the bytes given; these bound the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of bitcode.
    pub bytes: usize,
    /// Instructions of all functions together.
    pub instructions: usize,
    /// Basic blocks of all functions together.
    pub blocks: usize,
    /// Abbreviations of one block, those of BLOCKINFO included.
    pub abbreviations: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 64 << 20, instructions: 1 << 20, blocks: 1 << 18, abbreviations: 1 << 8 }
    }
}
