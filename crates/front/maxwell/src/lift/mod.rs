//! Instructions to IR.

pub mod layout;

use thiserror::Error;
use xenoglot_ir::Module;

/// A constant bank whose contents are known.
#[derive(Clone, Copy, Debug)]
pub struct ConstantBank<'a> {
    /// Its number.
    pub bank: u32,
    /// Its contents.
    pub data: &'a [u8],
}

/// A compute kernel.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    /// Instructions in groups.
    pub code: &'a [u8],
    /// Byte offset of the first group to run.
    pub entry: u32,
    /// Invocations along x, y and z.
    pub workgroup: [u32; 3],
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Bytes of local memory of an invocation.
    pub local_bytes: u32,
    /// Constant banks whose contents are known.
    pub constants: &'a [ConstantBank<'a>],
}

/// How global memory reaches the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalMemory {
    /// One storage buffer holds guest addresses from `base` on.
    Window {
        /// Guest address of its first byte.
        base: u64,
    },
}

/// How to lift.
#[derive(Clone, Copy, Debug)]
pub struct LiftOptions {
    /// Global memory.
    pub global: GlobalMemory,
    /// Guest address of shared memory's generic window.
    pub shared_window: u32,
    /// Guest address of local memory's generic window.
    pub local_window: u32,
}

impl Default for LiftOptions {
    fn default() -> LiftOptions {
        LiftOptions { global: GlobalMemory::Window { base: 0 }, shared_window: 0, local_window: 0 }
    }
}

/// A lifted kernel.
#[derive(Debug)]
pub struct Lifted {
    /// The module.
    pub module: Module,
}

/// Why a kernel was not lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LiftError {
    /// There is no lifter yet.
    #[error("not lifted yet")]
    Missing,
}

/// Lifts a kernel.
///
/// # Errors
/// Always, so far.
pub fn lift_compute(_kernel: &Kernel, _options: &LiftOptions) -> Result<Lifted, LiftError> {
    Err(LiftError::Missing)
}
