//! Where the bitcode is: in a part with a program's header, in a wrapper, or bare.

use super::reader::Reader;
use super::{Container, ContainerError, Format, FourCc, Part, detect};
use crate::model::{ShaderKind, ShaderModel};
use serde::Serialize;

/// How LLVM bitcode begins.
pub(super) const BITCODE: [u8; 4] = *b"BC\xc0\xde";
/// How its wrapper begins: 0x0B17C0DE.
pub(super) const WRAPPER: [u8; 4] = 0x0b17_c0de_u32.to_le_bytes();

/// A shader as a part holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Program<'a> {
    /// The shader model it was compiled for.
    pub model: ShaderModel,
    /// What it is for.
    pub kind: ShaderKind,
    /// Major and minor version of DXIL.
    pub dxil: (u8, u8),
    /// Byte offset of the bitcode in the container.
    pub offset: u32,
    /// The bitcode, from its magic on.
    #[serde(serialize_with = "super::byte_count")]
    #[serde(rename = "bytes")]
    pub bitcode: &'a [u8],
}

impl<'a> Program<'a> {
    /// Reads the header in front of bitcode: version and kind, size in words; then `DXIL`, its version, offset (from
    /// there) and size of the bitcode.
    pub(super) fn parse(part: &Part<'a>) -> Result<Program<'a>, ContainerError> {
        let mut header = part.reader();
        let version = header.u32("version of the program")?;
        let [minor_and_major, _, kind, _] = version.to_le_bytes();
        let kind = u32::from(u16::from_le_bytes([kind, 0]));
        let kind = ShaderKind::from_number(kind).ok_or_else(|| header.bad(4, "kind of shader", version))?;
        let words = header.u32("size of the program")?;
        let size = u64::from(words) * 4;
        // The size counts the header.
        let mut program = part.reader();
        program.bytes(size, "program")?;
        let start = header;
        let magic: [u8; 4] = header.array("DXIL's magic")?;
        if magic != FourCc::DXIL.0 {
            return Err(header.bad(4, "magic of DXIL", u32::from_le_bytes(magic)));
        }
        let [dxil_minor, dxil_major, ..] = header.u32("version of DXIL")?.to_le_bytes();
        let offset = header.u32("offset of the bitcode")?;
        let size = header.u32("size of the bitcode")?;
        let mut place = start;
        place.skip(offset.into(), "bitcode")?;
        let offset = place.offset();
        let bitcode = place.bytes(size.into(), "bitcode")?;
        Ok(Program {
            model: ShaderModel { major: minor_and_major >> 4, minor: minor_and_major & 15 },
            kind,
            dxil: (dxil_major, dxil_minor),
            offset: u32::try_from(offset).map_err(|_| place.bad(0, "offset of the bitcode", offset))?,
            bitcode,
        })
    }
}

/// Bitcode and what is known of it without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitcode<'a> {
    /// From its magic on.
    pub bytes: &'a [u8],
    /// The program it is of; bare bitcode says that in its metadata alone.
    pub program: Option<Program<'a>>,
}

/// The bitcode in a container, in a wrapper, or in bitcode itself.
///
/// # Errors
/// Another kind of file, or a damaged one.
pub fn bitcode(bytes: &[u8]) -> Result<Bitcode<'_>, ContainerError> {
    match detect(bytes) {
        Some(Format::Container) => {
            let program = Container::parse(bytes)?.program()?;
            Ok(Bitcode { bytes: program.bitcode, program: Some(program) })
        }
        Some(Format::Bitcode) => Ok(Bitcode { bytes, program: None }),
        Some(Format::WrappedBitcode) => Ok(Bitcode { bytes: unwrap(bytes)?, program: None }),
        None => Err(ContainerError::Magic),
    }
}

/// The contents of a wrapper: magic, version, offset, size, type of processor.
fn unwrap(bytes: &[u8]) -> Result<&[u8], ContainerError> {
    const NAME: FourCc = FourCc(*b"wrap");
    let mut header = Reader::new(NAME, 0, bytes);
    header.skip(8, "magic and version")?;
    let offset = header.u32("offset")?;
    let size = header.u32("size")?;
    let mut contents = header.seek(offset.into(), "bitcode")?;
    let bitcode = contents.bytes(size.into(), "bitcode")?;
    match bitcode.starts_with(&BITCODE) {
        true => Ok(bitcode),
        false => Err(ContainerError::Magic),
    }
}
