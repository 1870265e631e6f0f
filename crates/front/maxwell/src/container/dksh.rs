//! DKSH: one shader as deko3d loads it, little-endian words (the format of uam 1.1.0's output).
//!
//! File header: magic, header size 24, control size, code size, offset of programs, number of programs (1). The code
//! section follows the control section.

use super::{ContainerError, slice, word};
use crate::sph::{SPH_BYTES, Sph};
use serde::Serialize;

/// The first bytes.
pub const MAGIC: [u8; 4] = *b"DKSH";

const HEADER_BYTES: u32 = 24;
const PROGRAM_BYTES: u64 = 64;

/// What a program is for, with what only such programs state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "stage")]
pub enum Kind {
    /// Vertex.
    Vertex,
    /// Fragment.
    Fragment {
        /// Depth and stencil tests come before the shader.
        early_tests: bool,
        /// Coverage is counted after the depth test.
        post_depth_coverage: bool,
        /// Runs once per sample.
        per_sample: bool,
    },
    /// Geometry.
    Geometry,
    /// Tessellation control.
    TessControl,
    /// Tessellation evaluation.
    TessEval {
        /// Domain in bits 0 to 3, spacing in bits 4 to 7, output primitive in bits 8 to 11.
        mode: u32,
    },
    /// Compute.
    Compute {
        /// Invocations of a workgroup along x, y and z.
        workgroup: [u32; 3],
        /// Bytes of shared memory.
        shared_bytes: u32,
        /// Bytes of local memory per invocation.
        local_bytes: u32,
        /// Barriers used.
        barriers: u32,
    },
}

/// A DKSH file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dksh<'a> {
    /// What the program is for.
    pub kind: Kind,
    /// Instructions, in groups from the first byte on. The section has no mark for its end: constants may follow.
    pub code: &'a [u8],
    /// The program header; compute programs have none.
    pub sph: Option<Sph>,
    /// Registers an invocation uses, at least 4.
    pub registers: u32,
    /// Compiler constants: constant bank 1.
    pub constants: &'a [u8],
    /// Bytes of scratch memory per warp.
    pub scratch_per_warp: u32,
}

impl<'a> Dksh<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// Anything but one whole program.
    pub fn parse(bytes: &'a [u8]) -> Result<Dksh<'a>, ContainerError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(ContainerError::Magic("DKSH"));
        }
        let header = |i: u64| word(bytes, "the file header", 4 * i);
        if header(1)? != HEADER_BYTES {
            return Err(ContainerError::Malformed { offset: 4, what: "header size" });
        }
        let (control_size, code_size, programs) = (header(2)?, header(3)?, u64::from(header(4)?));
        if header(5)? != 1 {
            return Err(ContainerError::Malformed { offset: 20, what: "number of programs" });
        }
        slice(bytes, "the program header", programs, PROGRAM_BYTES)?;
        let field = |i: u64| word(bytes, "the program header", programs + 4 * i);
        let section = slice(bytes, "the code section", control_size.into(), code_size.into())?;
        let (constants_at, constants_size) = (field(3)?, field(4)?);
        let constants = slice(section, "the compiler constants", constants_at.into(), constants_size.into())?;
        // Four flags, a byte each; the first tells of a table that the GPU's state takes.
        let flag = |n: u32| field(6).map(|w| w >> (8 * n) & 0xff != 0);
        let kind = match field(0)? {
            0 => Kind::Vertex,
            1 => {
                Kind::Fragment { early_tests: flag(1)?, post_depth_coverage: flag(2)?, per_sample: flag(3)? }
            }
            2 => Kind::Geometry,
            3 => Kind::TessControl,
            4 => Kind::TessEval { mode: field(6)? },
            5 => Kind::Compute {
                workgroup: [field(6)?, field(7)?, field(8)?],
                shared_bytes: field(9)?,
                local_bytes: field(10)?.saturating_add(field(11)?),
                barriers: field(13)?,
            },
            _ => return Err(ContainerError::Malformed { offset: programs, what: "stage" }),
        };
        let entry = u64::from(field(1)?);
        let (sph, start) = match kind {
            Kind::Compute { .. } => (None, entry),
            _ => (
                Some(Sph::parse(slice(section, "the shader header", entry, SPH_BYTES as u64)?)?),
                entry + SPH_BYTES as u64,
            ),
        };
        // Constants follow the code, where there are any.
        let end = match u64::from(constants_at) {
            at if constants_size != 0 && at >= start => at,
            _ => section.len() as u64,
        };
        let len = end
            .checked_sub(start)
            .ok_or(ContainerError::Malformed { offset: programs + 4, what: "entry point" })?;
        let code = slice(section, "the code", start, len - len % 8)?;
        let registers = field(2)?;
        Ok(Dksh { kind, code, sph, registers, constants, scratch_per_warp: field(5)? })
    }
}
