//! Programs to IR: a compute kernel with one invocation per thread, over the buffers of [`layout`].
//!
//! What the machine would hold while the program runs (number type, formats, textures) is fixed when lifting. Registers
//! are slots; a block begins where control can come from elsewhere. Words that are no instruction end the thread, as in
//! the machine.

mod arith;
mod kernel;
pub mod record;
mod sample;

use crate::format::TileFormat;
use crate::number::Number;
use crate::program::Program;
use crate::texture::Texture;
use crate::{TEXTURES, TILE_BUFFERS};
use kernel::Kernel;
use thiserror::Error;
use xenoglot_ir::Module;

/// Where the kernel finds its threads, globals and memory. Offsets are in bytes, words little-endian.
pub mod layout {
    /// Binding of the uniform buffer of globals (set 0): g0 to g15, 16 bytes each.
    pub const GLOBAL_BINDING: u32 = 0;
    /// Binding of the storage buffer of threads (set 0), a record each.
    pub const THREAD_BINDING: u32 = 1;
    /// Binding of the storage buffer that textures are read from (set 0): the machine's memory, zero outside.
    pub const MEMORY_BINDING: u32 = 2;

    /// Bytes of the globals.
    pub const GLOBAL_SIZE: u32 = 256;
    /// Thread record: r0 to r15, as the thread starts and as it ends.
    pub const THREAD_REGISTERS: u32 = 0;
    /// Thread record: the words of the four tile buffers at the thread's location, before and after.
    pub const THREAD_TILES: u32 = 256;
    /// Thread record: how it ended, one of the constants below; three words unused.
    pub const THREAD_END: u32 = 272;
    /// Bytes of a record.
    pub const THREAD_STRIDE: u32 = 288;

    /// Ended by EXIT or by running past the end.
    pub const ENDED_BY_EXIT: u32 = 1;
    /// Ended by KILL.
    pub const ENDED_BY_KILL: u32 = 2;
    /// Ended at a word that is no instruction.
    pub const ENDED_UNDEFINED: u32 = 3;
}

/// What the machine holds while the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiftOptions {
    /// Number type.
    pub number: Number,
    /// Formats of the tile buffers.
    pub formats: [TileFormat; TILE_BUFFERS],
    /// Textures.
    pub textures: [Texture; TEXTURES],
    /// Invocations of a workgroup, 1 to 1024. There is a record for each invocation of each workgroup.
    pub workgroup: u32,
}

impl Default for LiftOptions {
    fn default() -> LiftOptions {
        LiftOptions {
            number: Number::default(),
            formats: Default::default(),
            textures: Default::default(),
            workgroup: 64,
        }
    }
}

/// Why a program cannot be lifted.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum LiftError {
    /// A workgroup of no or too many invocations.
    #[error("a workgroup of {0} invocations; 1 to 1024 are possible")]
    Workgroup(u32),
}

/// Lifts a program into a module whose entry function is `main`.
///
/// # Errors
/// Options that are out of range; every program can be lifted.
pub fn lift(program: &Program, options: &LiftOptions) -> Result<Module, LiftError> {
    if !(1..=1024).contains(&options.workgroup) {
        return Err(LiftError::Workgroup(options.workgroup));
    }
    Ok(Kernel::lift(program, options))
}
