//! What a shader uses and binds.

use serde::{Deserialize, Serialize};

/// A kernel's resources: what an emulator has to provide to run it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShaderInfo {
    /// Bit n: constant bank n is read.
    pub constant_banks: u32,
    /// Bytes of shared memory, those for reducing barriers included.
    pub shared_bytes: u32,
    /// Bytes of local memory of an invocation.
    pub local_bytes: u32,
    /// Invocations of a workgroup along x, y and z.
    pub workgroup: [u32; 3],
    /// Global memory is read.
    pub reads_global: bool,
    /// Global memory is written, atomically or not.
    pub writes_global: bool,
    /// Generic addresses are used: the windows of shared and local memory matter.
    pub generic_addresses: bool,
    /// Invocations of a warp exchange values (votes, shuffles, lane numbers).
    pub warp_operations: bool,
    /// Workgroup barriers are used.
    pub barriers: bool,
    /// Special registers read, by number, in order.
    pub special_registers: Vec<u8>,
}
