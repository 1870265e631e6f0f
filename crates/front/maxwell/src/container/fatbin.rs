//! Fat binaries: cubins and PTX for several architectures, as CUDA's compilers put them into programs and libraries.
//!
//! A program or library for a host has them in the sections `.nv_fatbin` and `__nv_relfatbin` (`.nv_fatb` and `__nv_relf` on
//! Windows, where names end after eight bytes). Such a section, or a `.fatbin` file, is a sequence of containers, with zeros
//! between them. A container is a header of sixteen bytes (magic, version, its own size, the size of the rest) and members. A
//! member is a header, whose fields [`Member`] tells, and its contents, which may be a block of LZ4 or a frame of Zstandard.
//!
//! The layout is not documented by the vendor. It is described by n-eiling's "cuda-fatbin-decompression" and in GrigoryEvko's
//! "nvopen-tools" (`fatbin/FORMAT_SPECIFICATION.md`); offsets of fields are those seen in libraries of CUDA 11.8 and 12.9.

use super::{ContainerError, slice, word};
use object::{Object, ObjectSection};
use serde::Serialize;
use std::borrow::Cow;
use std::io::Read;

/// The first bytes of a container.
pub const MAGIC: [u8; 4] = 0xba55_ed50u32.to_le_bytes();

const HEADER_BYTES: u64 = 16;
const MEMBER_BYTES: u64 = 64;

/// Sections of host programs with containers, as ELF and PE name them.
const SECTIONS: [&str; 4] = [".nv_fatbin", "__nv_relfatbin", ".nv_fatb", "__nv_relf"];

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Text of the virtual instruction set.
    Ptx,
    /// An ELF of one architecture: a [cubin](super::Cubin) where that is one of SM50 to SM62.
    Cubin,
    /// Another, by its number.
    Other(u16),
}

/// How a member is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// A block of LZ4.
    Lz4,
    /// A frame of Zstandard.
    Zstd,
}

/// A member of a fat binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// What it is.
    pub kind: Kind,
    /// The architecture's number: 53 for SM53.
    pub sm: u32,
    /// How it is compressed, if it is.
    pub compression: Option<Compression>,
    /// Bytes of its contents.
    pub bytes: u64,
    /// Byte offset in the file of what is stored of it.
    pub offset: u64,
    /// What is stored of it.
    pub stored: &'a [u8],
}

impl<'a> Member<'a> {
    /// Its contents, decompressed.
    ///
    /// # Errors
    /// [`ContainerError::TooLarge`] with more than `limit` bytes; damaged or unknown compression.
    pub fn contents(&self, limit: u64) -> Result<Cow<'a, [u8]>, ContainerError> {
        if self.bytes > limit {
            return Err(ContainerError::TooLarge { offset: self.offset, bytes: self.bytes, limit });
        }
        let malformed = |what| ContainerError::Malformed { offset: self.offset, what };
        let Some(compression) = self.compression else { return Ok(Cow::Borrowed(self.stored)) };
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let contents = match compression {
            // A byte of LZ4 stands for 255 bytes at most: what says more is not given memory.
            Compression::Lz4 if self.bytes.div_ceil(255) > self.stored.len() as u64 => {
                return Err(malformed("size of an LZ4 block"));
            }
            Compression::Lz4 => {
                lz4_flex::block::decompress(self.stored, bytes).map_err(|_| malformed("LZ4 block"))?
            }
            Compression::Zstd => {
                let mut decoder = ruzstd::decoding::StreamingDecoder::new(self.stored)
                    .map_err(|_| malformed("Zstandard frame"))?;
                let mut contents = Vec::new();
                let read = decoder.by_ref().take(self.bytes.saturating_add(1)).read_to_end(&mut contents);
                read.map_err(|_| malformed("Zstandard frame"))?;
                contents
            }
        };
        if contents.len() != bytes {
            return Err(malformed("size of a member's contents"));
        }
        Ok(Cow::Owned(contents))
    }
}

/// A fat binary, or the fat binaries of a host's program or library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatBinary<'a> {
    /// Its members in the order of the file.
    pub members: Vec<Member<'a>>,
}

impl<'a> FatBinary<'a> {
    /// Whether `bytes` begin like one. Programs for hosts do not: see [`FatBinary::is_inside`].
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Whether `bytes` are a host's program or library with fat binaries. Reads its table of sections.
    pub fn is_inside(bytes: &[u8]) -> bool {
        sections(bytes).next().is_some()
    }

    /// Reads a fat binary, or all in a host's program or library (ELF or PE).
    ///
    /// # Errors
    /// Another file, or members outside their container.
    pub fn parse(bytes: &'a [u8]) -> Result<FatBinary<'a>, ContainerError> {
        let mut members = Vec::new();
        if FatBinary::is_one(bytes) {
            containers(bytes, 0, bytes.len() as u64, &mut members)?;
            return Ok(FatBinary { members });
        }
        let mut found = false;
        for (start, len) in sections(bytes) {
            found = true;
            slice(bytes, "a section of fat binaries", start, len)?;
            containers(bytes, start, start + len, &mut members)?;
        }
        if found { Ok(FatBinary { members }) } else { Err(ContainerError::Magic("fat binary")) }
    }
}

/// Offset and bytes of the sections of a host's program that have fat binaries.
fn sections(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let file = object::File::parse(bytes).ok();
    let ranges = file.into_iter().flat_map(|file| {
        let of = |section: object::Section| {
            let is_ours = section.name().is_ok_and(|name| SECTIONS.contains(&name));
            section.file_range().filter(|&(_, len)| is_ours && len != 0)
        };
        file.sections().filter_map(of).collect::<Vec<_>>()
    });
    ranges.into_iter()
}

/// Reads the containers of a range of the file.
fn containers<'a>(
    bytes: &'a [u8],
    mut at: u64,
    end: u64,
    members: &mut Vec<Member<'a>>,
) -> Result<(), ContainerError> {
    while at < end {
        let magic = slice(bytes, "a container", at, 4.min(end - at))?;
        if magic.iter().all(|&b| b == 0) {
            // Containers are aligned to eight bytes.
            at += 8 - at % 8;
            continue;
        }
        if magic != MAGIC {
            return Err(ContainerError::Malformed { offset: at, what: "magic of a container" });
        }
        let sizes = word(bytes, "a container", at + 4)?;
        if sizes & 0xffff != 1 {
            return Err(ContainerError::Malformed { offset: at + 4, what: "version of a container" });
        }
        let first = at + u64::from(sizes >> 16).max(HEADER_BYTES);
        let size = long(bytes, "a container", at + 8)?;
        slice(bytes, "a container", first, size)?;
        at = first + size;
        let mut member = first;
        while member < at {
            member = read(bytes, member, at, members)?;
        }
    }
    Ok(())
}

/// Reads a member of a container that ends at `end`; gives where the next one begins.
fn read<'a>(
    bytes: &'a [u8],
    at: u64,
    end: u64,
    members: &mut Vec<Member<'a>>,
) -> Result<u64, ContainerError> {
    let what = "a member's header";
    let header = u64::from(word(bytes, what, at + 4)?);
    let stored = long(bytes, what, at + 8)?;
    if header < MEMBER_BYTES {
        return Err(ContainerError::Malformed { offset: at + 4, what: "size of a member's header" });
    }
    let offset = at.saturating_add(header);
    let next = offset.saturating_add(stored);
    if next > end {
        return Err(ContainerError::Outside { what: "a member", offset, end: next, size: end });
    }
    let contents = slice(bytes, "a member", offset, stored)?;
    let compressed = u64::from(word(bytes, what, at + 16)?);
    let flags = long(bytes, what, at + 40)?;
    let compression = match flags >> 12 & 0xf {
        _ if compressed == 0 => None,
        flags if flags & 2 != 0 => Some(Compression::Lz4),
        flags if flags & 8 != 0 => Some(Compression::Zstd),
        _ => return Err(ContainerError::Malformed { offset: at + 40, what: "compression of a member" }),
    };
    // What is stored is padded to eight bytes where it is compressed.
    let (bytes_inside, stored) = match compression {
        None => (stored, contents),
        Some(_) => (long(bytes, what, at + 56)?, slice(bytes, "a member", offset, compressed.min(stored))?),
    };
    let kind = match word(bytes, what, at)? as u16 {
        1 => Kind::Ptx,
        2 => Kind::Cubin,
        other => Kind::Other(other),
    };
    let sm = word(bytes, what, at + 28)?;
    members.push(Member { kind, sm, compression, bytes: bytes_inside, offset, stored });
    Ok(next)
}

/// The two little-endian words at `offset`.
fn long(bytes: &[u8], what: &'static str, offset: u64) -> Result<u64, ContainerError> {
    Ok(u64::from(word(bytes, what, offset)?) | u64::from(word(bytes, what, offset + 4)?) << 32)
}
