//! A program header with the code behind it, as the GPU reads them from memory.

use super::{ContainerError, slice};
use crate::decode::decode;
use crate::sph::{SPH_BYTES, Sph};

/// A graphics program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graphics<'a> {
    /// The header.
    pub sph: Sph,
    /// What follows it: instructions in groups from the first byte on.
    pub code: &'a [u8],
}

impl<'a> Graphics<'a> {
    /// Reads a header and takes all behind it, in whole words, for code.
    ///
    /// # Errors
    /// Fewer bytes than a header and a group, or a header that contradicts itself.
    pub fn parse(bytes: &'a [u8]) -> Result<Graphics<'a>, ContainerError> {
        let (header, size) = (SPH_BYTES as u64, bytes.len() as u64);
        let sph = Sph::parse(slice(bytes, "the shader header", 0, header)?)?;
        let len = size.saturating_sub(header);
        let code = slice(bytes, "the code", header, (len - len % 8).max(16))?;
        Ok(Graphics { sph, code })
    }

    /// Whether the bytes are likely to be such a program.
    pub(super) fn is_plausible(bytes: &[u8]) -> bool {
        // The first word behind the header is of scheduling, the second an instruction.
        let Ok(program) = Graphics::parse(bytes) else { return false };
        let first = program.code.as_chunks::<8>().0.get(1);
        program.sph.version == 3 && first.is_some_and(|w| decode(8, u64::from_le_bytes(*w)).is_ok())
    }
}
