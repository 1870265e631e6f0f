//! Files and memory with programs: what they are, and where in them the code lies.
//!
//! | file | read by |
//! |---|---|
//! | cubin: ELF of one architecture with compute kernels | [`Cubin`] |
//! | fat binary: cubins for several architectures, alone or in a host's program or library | `FatBinary` (feature `fatbin`) |
//! | DKSH: one shader as deko3d loads it | [`Dksh`] |
//! | program header and code, as the graphics driver hands it to the GPU | [`Graphics`] |
//!
//! Bare instruction words need no reader: code, entry and stage are all there is to know. Everything read borrows
//! from the input; no reader allocates more than a constant times the input's size. Contents of compressed members of fat
//! binaries are limited by the caller.

pub mod cubin;
pub mod dksh;
#[cfg(feature = "fatbin")]
pub mod fatbin;
mod graphics;
pub mod link;

pub use cubin::{Cubin, Kernel};
pub use dksh::Dksh;
#[cfg(feature = "fatbin")]
pub use fatbin::FatBinary;
pub use graphics::Graphics;
pub use link::{LinkError, link};

use crate::sph::SphError;
use thiserror::Error;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ELF for NVIDIA GPUs.
    Cubin,
    /// A deko3d shader.
    Dksh,
    /// A program header with its code.
    Graphics,
}

impl Format {
    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Format::Cubin => "NVIDIA kernels (cubin)",
            Format::Dksh => "deko3d shader (DKSH)",
            Format::Graphics => "NVIDIA graphics program with header",
        }
    }
}

/// Why a container was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContainerError {
    /// The bytes do not begin like it.
    #[error("not a {0}")]
    Magic(&'static str),
    /// It ends early, or something in it points outside.
    #[error("{what} lies at {offset:#x}..{end:#x} of {size:#x} bytes")]
    Outside {
        /// What.
        what: &'static str,
        /// Byte offset.
        offset: u64,
        /// Byte offset of its end.
        end: u64,
        /// Bytes of the input.
        size: u64,
    },
    /// A field has an impossible value.
    #[error("{offset:#x}: bad {what}")]
    Malformed {
        /// Byte offset of the field or of the part it is in.
        offset: u64,
        /// The field.
        what: &'static str,
    },
    /// A member's contents are larger than the caller allows.
    #[error("{offset:#x}: contents of {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Byte offset of what is stored of it.
        offset: u64,
        /// Bytes.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The ELF is for another architecture than SM50 to SM62.
    #[error("code for SM{0}, not for SM50 to SM62")]
    Architecture(u32),
    /// The ELF itself is damaged.
    #[error("damaged ELF: {0}")]
    Elf(#[from] object::read::Error),
    /// The program header is damaged.
    #[error(transparent)]
    Sph(#[from] SphError),
}

/// What `bytes` are, by their first words; `None` if nothing of these. Constant cost.
///
/// A program header has no magic: one is taken for it if its own fields agree with each other and the word behind
/// it decodes.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    if cubin::is_cubin(bytes) {
        Some(Format::Cubin)
    } else if bytes.starts_with(&dksh::MAGIC) {
        Some(Format::Dksh)
    } else {
        Graphics::is_plausible(bytes).then_some(Format::Graphics)
    }
}

/// `len` bytes from `offset` on.
fn slice<'a>(bytes: &'a [u8], what: &'static str, offset: u64, len: u64) -> Result<&'a [u8], ContainerError> {
    let end = offset.saturating_add(len);
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| bytes.get(start..end)).ok_or(ContainerError::Outside {
        what,
        offset,
        end,
        size: bytes.len() as u64,
    })
}

/// The little-endian word at `offset`.
fn word(bytes: &[u8], what: &'static str, offset: u64) -> Result<u32, ContainerError> {
    let bytes = slice(bytes, what, offset, 4)?;
    Ok(bytes.iter().rev().fold(0, |word, &b| word << 8 | u32::from(b)))
}

#[cfg(test)]
mod tests;
