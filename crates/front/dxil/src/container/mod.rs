//! DXBC containers: a header, a digest, and parts by four letters.
//!
//! | part | what it holds | read as |
//! |---|---|---|
//! | `DXIL`, `ILDB` | a program's header and bitcode, the second with debug information | [`Program`] |
//! | `STAT` | the same for reflection: not the shader | [`Program`] |
//! | `ISG1`, `OSG1`, `PSG1` | inputs, outputs, patch constants or outputs per primitive | [`Signature`] |
//! | `PSV0` | what a pipeline is checked by | [`PipelineValidation`] |
//! | `RTS0` | a root signature | [`RootSignature`] |
//! | `SFI0` | what it needs of a device | [`Features`] |
//! | `RDAT` | what a library's functions use | [`RuntimeData`] |
//! | `HASH` | what debug information is found by | [`ShaderHash`] |
//! | `ILDN` | the name of its file | text |
//! | `VERS` | what compiled it | [`CompilerVersion`] |
//!
//! Layouts are those of DirectXShaderCompiler's `DxilContainer.h`. [`Container::parse`] checks the table of parts and
//! nothing else; a part is read when it is asked for, so that damage in one does not hide the others. What is read
//! borrows from the input.

mod digest;
mod facts;
mod program;
mod psv;
mod rdat;
mod rdat_nodes;
pub(crate) mod reader;
mod signature;

pub use digest::Digest;
pub use facts::{CompilerVersion, Features, ShaderHash};
pub use program::{Bitcode, Program, bitcode};
pub use psv::{
    Binding, BindingType, Dependencies, ElementFacts, Interpolation, OutputTopology, PipelineValidation,
    ResourceKind, SemanticKind, StageFacts, TessellatorDomain, TessellatorOutput,
};
pub use rdat::{
    FunctionInfo, HitGroupType, Names, ResourceFlags, ResourceInfo, RuntimeData, Subobject, SubobjectContent,
};
pub use reader::Words;
pub use signature::{ComponentType, MinPrecision, Signature, SignatureElement, SystemValue};

use crate::root_signature::RootSignature;
use reader::Reader;
use serde::{Serialize, Serializer};
use std::fmt;
use thiserror::Error;

/// Four letters that name a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FourCc(pub [u8; 4]);

impl FourCc {
    /// The shader.
    pub const DXIL: FourCc = FourCc(*b"DXIL");
    /// The shader with debug information.
    pub const ILDB: FourCc = FourCc(*b"ILDB");
    /// The shader for reflection.
    pub const STAT: FourCc = FourCc(*b"STAT");
    /// Inputs.
    pub const ISG1: FourCc = FourCc(*b"ISG1");
    /// Outputs.
    pub const OSG1: FourCc = FourCc(*b"OSG1");
    /// Patch constants, or outputs per primitive.
    pub const PSG1: FourCc = FourCc(*b"PSG1");
    /// Pipeline state validation.
    pub const PSV0: FourCc = FourCc(*b"PSV0");
    /// The root signature.
    pub const RTS0: FourCc = FourCc(*b"RTS0");
    /// What the shader needs.
    pub const SFI0: FourCc = FourCc(*b"SFI0");
    /// A library's functions.
    pub const RDAT: FourCc = FourCc(*b"RDAT");
    /// The shader's hash.
    pub const HASH: FourCc = FourCc(*b"HASH");
    /// The name of the file with debug information.
    pub const ILDN: FourCc = FourCc(*b"ILDN");
    /// The compiler.
    pub const VERS: FourCc = FourCc(*b"VERS");
    /// The container itself, in errors about its header.
    pub const CONTAINER: FourCc = FourCc(*b"DXBC");
}

impl fmt::Display for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl fmt::Debug for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for FourCc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What is wrong with a container. Offsets are in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContainerError {
    /// It does not begin like a container or bitcode.
    #[error("neither a container nor bitcode")]
    Magic,
    /// Bytes that a field points to do not exist.
    #[error("{part} at {offset:#x}: {what} takes {needed} bytes, {left} are left")]
    Truncated {
        /// The part.
        part: FourCc,
        /// Where they should start.
        offset: u64,
        /// What they should be.
        what: &'static str,
        /// How many there should be.
        needed: u64,
        /// How many there are.
        left: u64,
    },
    /// A field holds a value without a meaning.
    #[error("{part} at {offset:#x}: {value:#x} is not a valid {what}")]
    Value {
        /// The part.
        part: FourCc,
        /// Where the field stands.
        offset: u64,
        /// What the field says.
        what: &'static str,
        /// What it holds.
        value: u64,
    },
    /// A count exceeds its limit.
    #[error("{part} at {offset:#x}: {value} {what}, the limit is {limit}")]
    Limit {
        /// The part.
        part: FourCc,
        /// Where the count stands.
        offset: u64,
        /// What is counted.
        what: &'static str,
        /// The count.
        value: u64,
        /// The limit.
        limit: u64,
    },
    /// There is no such part.
    #[error("no {0} part")]
    Missing(FourCc),
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A container.
    Container,
    /// LLVM bitcode.
    Bitcode,
    /// LLVM bitcode in the wrapper that gives its place and size.
    WrappedBitcode,
}

impl Format {
    /// A name for people.
    pub fn name(self) -> &'static str {
        match self {
            Format::Container => "Direct3D container (DXBC)",
            Format::Bitcode => "DXIL bitcode",
            Format::WrappedBitcode => "DXIL bitcode with wrapper",
        }
    }
}

/// What `bytes` are, by their first word.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    match bytes.first_chunk()? {
        b"DXBC" => Some(Format::Container),
        &program::BITCODE => Some(Format::Bitcode),
        &program::WRAPPER => Some(Format::WrappedBitcode),
        _ => None,
    }
}

/// Most parts of a container; compilers write a dozen.
pub const MAX_PARTS: u32 = 256;

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Part<'a> {
    /// Its name.
    pub name: FourCc,
    /// Byte offset of its contents in the container.
    pub offset: u32,
    /// Its contents.
    #[serde(serialize_with = "byte_count")]
    #[serde(rename = "bytes")]
    pub data: &'a [u8],
}

fn byte_count<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(data.len() as u64)
}

impl<'a> Part<'a> {
    pub(crate) fn reader(&self) -> Reader<'a> {
        Reader::new(self.name, self.offset, self.data)
    }
}

/// What a part holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content<'a> {
    /// `DXIL`, `ILDB`, `STAT`.
    Program(Program<'a>),
    /// `ISG1`, `OSG1`, `PSG1`.
    Signature(Signature<'a>),
    /// `PSV0`.
    PipelineValidation(Box<PipelineValidation<'a>>),
    /// `RTS0`.
    RootSignature(RootSignature),
    /// `SFI0`.
    Features(Features),
    /// `RDAT`.
    RuntimeData(RuntimeData<'a>),
    /// `HASH`.
    Hash(ShaderHash),
    /// `ILDN`.
    DebugName(&'a str),
    /// `VERS`.
    Compiler(CompilerVersion<'a>),
    /// A part this crate does not read.
    Opaque,
}

/// A container, its table of parts read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<'a> {
    /// The version of the format: 1.0 in all that are known.
    pub version: (u16, u16),
    /// The parts in the order of the table; a name may be there twice.
    pub parts: Vec<Part<'a>>,
    /// As many of the bytes given as the container says it has.
    bytes: &'a [u8],
}

impl<'a> Container<'a> {
    /// Reads the header and the table of parts. Bytes behind the container are left alone.
    ///
    /// # Errors
    /// No container; or its size, its table or a part lies outside `bytes`; or more than [`MAX_PARTS`].
    pub fn parse(bytes: &'a [u8]) -> Result<Container<'a>, ContainerError> {
        if detect(bytes) != Some(Format::Container) {
            return Err(ContainerError::Magic);
        }
        let mut header = Reader::new(FourCc::CONTAINER, 0, bytes);
        header.skip(4 + Digest::BYTES as u64, "magic and digest")?;
        let version = (header.u16("version")?, header.u16("version")?);
        let size = header.u32("size")?;
        let bytes = Reader::new(FourCc::CONTAINER, 0, bytes).bytes(size.into(), "container")?;
        let mut header = Reader::new(FourCc::CONTAINER, 0, bytes);
        header.skip(28, "header")?;
        let count = header.count("parts", MAX_PARTS.into())?;
        let table = header.words(count, "table of parts")?;
        let mut parts = Vec::with_capacity(table.len());
        for offset in table.iter().map(|word| u32::from_le_bytes(*word)) {
            let mut part = Reader::new(FourCc::CONTAINER, 0, bytes);
            part.skip(offset.into(), "part")?;
            let name = FourCc(part.array("name of a part")?);
            let size = part.u32("size of a part")?;
            // The header lies below 4 GiB, and the reader has passed it.
            let offset = offset.wrapping_add(8);
            let data = part.bytes(size.into(), "part")?;
            parts.push(Part { name, offset, data });
        }
        Ok(Container { version, parts, bytes })
    }

    /// The first part of a name.
    pub fn part(&self, name: FourCc) -> Option<&Part<'a>> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// Whether the digest is that of the contents. Costs a pass over them.
    pub fn digest(&self) -> Digest {
        Digest::of(self.bytes)
    }

    /// The shader: of `DXIL`, or of `ILDB` if there is no such part.
    ///
    /// # Errors
    /// There is neither, or its header is damaged. Containers of Direct3D 11 have neither.
    pub fn program(&self) -> Result<Program<'a>, ContainerError> {
        let part = self.part(FourCc::DXIL).or_else(|| self.part(FourCc::ILDB));
        Program::parse(part.ok_or(ContainerError::Missing(FourCc::DXIL))?)
    }

    /// What a part holds.
    ///
    /// # Errors
    /// The part is damaged.
    pub fn content(&self, part: &Part<'a>) -> Result<Content<'a>, ContainerError> {
        Ok(match part.name {
            FourCc::DXIL | FourCc::ILDB | FourCc::STAT => Content::Program(Program::parse(part)?),
            FourCc::ISG1 | FourCc::OSG1 | FourCc::PSG1 => Content::Signature(signature::parse(part)?),
            FourCc::PSV0 => {
                let kind = self.program().ok().map(|program| program.kind);
                Content::PipelineValidation(Box::new(psv::parse(part, kind)?))
            }
            FourCc::RTS0 => Content::RootSignature(RootSignature::read(part)?),
            FourCc::SFI0 => Content::Features(facts::features(part)?),
            FourCc::RDAT => Content::RuntimeData(rdat::parse(part)?),
            FourCc::HASH => Content::Hash(facts::hash(part)?),
            FourCc::ILDN => Content::DebugName(facts::debug_name(part)?),
            FourCc::VERS => Content::Compiler(facts::compiler(part)?),
            _ => Content::Opaque,
        })
    }

    /// A signature: of `ISG1`, `OSG1` or `PSG1`. Empty if there is no such part, as in libraries.
    ///
    /// # Errors
    /// The part is damaged.
    pub fn signature(&self, name: FourCc) -> Result<Signature<'a>, ContainerError> {
        self.part(name).map_or(Ok(Vec::new()), signature::parse)
    }

    /// The root signature that the shader came with.
    ///
    /// # Errors
    /// The part is damaged.
    pub fn root_signature(&self) -> Result<Option<RootSignature>, ContainerError> {
        self.part(FourCc::RTS0).map(RootSignature::read).transpose()
    }
}

#[cfg(test)]
mod tests;
