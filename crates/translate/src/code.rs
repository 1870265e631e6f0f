//! What modules become, and what may be asked of it.

use serde::{Deserialize, Serialize};
#[cfg(feature = "native")]
use std::sync::Arc;
use xenoglot_opt::pipeline::Level;

/// How the code computes floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Floats {
    /// As the guest, bit for bit wherever the host has the means.
    #[default]
    Exact,
    /// As the host: its rounding, denormals, zeros and NaNs. Shorter code, with other results in these cases; it says so
    /// ([`Module::relaxed_floats`](xenoglot_ir::Module::relaxed_floats)). See [`xenoglot_opt::relax`].
    Relaxed,
}

/// What may be asked of code for any host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// How much to optimise; `None`: lightly where the guest's compiler has done it already, else all of it.
    pub level: Option<Level>,
    /// How floats are computed.
    pub floats: Floats,
    /// What is named in SPIR-V.
    pub names: xenoglot_spirv::Names,
    /// Puts each guest instruction and its address with what became of it: `OpLine` in SPIR-V, a comment in GLSL.
    pub guest_lines: bool,
    /// Keeps hostile programs within bounds: loops end after a number of iterations, and accesses that the module leaves
    /// undefined stay inside their resource. SPIR-V; of WGSL, MSL and HLSL loops only.
    pub robust: bool,
    /// Turns y of the position round where the host's clip space is WebGPU's, Metal's or Direct3D's. WGSL, MSL and HLSL.
    pub flip_y: bool,
}

impl Default for Options {
    /// Exact floats, names for the interface, nothing else.
    fn default() -> Options {
        Options {
            level: None,
            floats: Floats::Exact,
            names: xenoglot_spirv::Names::default(),
            guest_lines: false,
            robust: false,
            flip_y: false,
        }
    }
}

/// A module's code.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Code {
    /// SPIR-V words.
    Words(Vec<u32>),
    /// Text.
    Text(String),
    /// Machine code in memory, to be run.
    #[cfg(feature = "native")]
    Native(Arc<xenoglot_native::Program>),
}

/// Machine code equals itself alone: it has addresses of its process inside.
impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        match (self, other) {
            (Code::Words(a), Code::Words(b)) => a == b,
            (Code::Text(a), Code::Text(b)) => a == b,
            #[cfg(feature = "native")]
            (Code::Native(a), Code::Native(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Eq for Code {}

impl Code {
    /// The bytes of a file with it: words little-endian, text as UTF-8. Machine code as it lies in memory, to be looked at:
    /// it runs in this process only.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Code::Words(words) => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
            Code::Text(text) => text.into_bytes(),
            #[cfg(feature = "native")]
            Code::Native(program) => program.machine_code().to_vec(),
        }
    }
}
