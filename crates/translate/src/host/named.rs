//! Hosts by name.

use super::{Capabilities, Floats, Host, Language, Subgroups};
use thiserror::Error;
use xenoglot_glsl::Target as Glsl;
use xenoglot_spirv::{Capability, FloatControls, Version};

/// A host with a name.
struct Named {
    name: &'static str,
    /// What it is, in a line.
    doc: &'static str,
    host: fn() -> Host,
}

/// Every named host.
const NAMED: &[Named] = &[
    Named {
        name: "vulkan",
        doc: "Vulkan on a GPU: SPIR-V 1.3, or the first later version that has what a shader needs",
        host: Host::default,
    },
    Named { name: "vulkan-1.1", doc: "Vulkan 1.1 on a GPU: SPIR-V 1.3", host: || vulkan(Version::V1_3) },
    Named { name: "vulkan-1.2", doc: "Vulkan 1.2 on a GPU: SPIR-V 1.5", host: || vulkan(Version::V1_5) },
    Named { name: "vulkan-1.3", doc: "Vulkan 1.3 on a GPU: SPIR-V 1.6", host: || vulkan(Version::V1_6) },
    Named {
        name: "lavapipe-25",
        doc: "Mesa 25's Vulkan on the CPU, 256-bit vectors: SPIR-V 1.6",
        host: lavapipe,
    },
    Named {
        name: "gl-3.3",
        doc: "OpenGL 3.3: GLSL 330",
        host: || without_doubles(Language::Glsl(Glsl::Gl330)),
    },
    Named { name: "gl-4.5", doc: "OpenGL 4.5: GLSL 450", host: || Host::of(Language::Glsl(Glsl::Gl450)) },
    Named {
        name: "vulkan-glsl",
        doc: "Vulkan on a GPU behind a compiler of GLSL 450",
        host: || Host::of(Language::Glsl(Glsl::Vulkan450)),
    },
    Named { name: "gles-3.1", doc: "OpenGL ES 3.1: GLSL ES 310", host: gles },
    Named {
        name: "webgpu",
        doc: "WebGPU, or wgpu: WGSL without extensions for numbers",
        host: || without_halves(without_doubles(Language::Wgsl)),
    },
    Named { name: "metal", doc: "Metal: MSL 2.4", host: || without_doubles(Language::Msl(2, 4)) },
    Named {
        name: "d3d12",
        doc: "Direct3D 12: HLSL for shader model 6.0",
        host: || without_halves(without_doubles(Language::Hlsl(6, 0))),
    },
    Named {
        name: "native",
        doc: "the CPU that this runs on: its machine code, for compute kernels",
        host: native,
    },
];

/// A name that no host has.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("no host is called `{0}`; there are: {names}", names = Host::names().collect::<Vec<_>>().join(", "))]
pub struct UnknownHost(pub String);

impl Host {
    /// A host of which only the language is known: floats as [`Floats::GPU`] says, no promises about subgroups and accesses
    /// outside of buffers.
    pub fn of(language: Language) -> Host {
        Host {
            language,
            capabilities: None,
            without: Capabilities::NONE,
            floats: Floats::GPU,
            subgroups: Subgroups::UNKNOWN,
            robust_buffers: false,
            // WebGPU promises as many storage buffers in a stage, and OpenGL ES 3.1 about as many uniform buffers.
            array_elements: 8,
            maximal_reconvergence: false,
        }
    }

    /// The host called `name`; see [`Host::names`].
    pub fn named(name: &str) -> Option<Host> {
        NAMED.iter().find(|named| named.name == name).map(|named| (named.host)())
    }

    /// The names of all hosts that have one.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|named| named.name)
    }

    /// What the host called `name` is, in a line.
    pub fn doc(name: &str) -> Option<&'static str> {
        NAMED.iter().find(|named| named.name == name).map(|named| named.doc)
    }
}

/// The host called `vulkan`.
impl Default for Host {
    fn default() -> Host {
        Host { robust_buffers: true, ..Host::of(Language::Spirv(None)) }
    }
}

impl std::str::FromStr for Host {
    type Err = UnknownHost;

    fn from_str(name: &str) -> Result<Host, UnknownHost> {
        Host::named(name).ok_or_else(|| UnknownHost(name.to_owned()))
    }
}

/// GPUs whose `robustBufferAccess2` is on.
fn vulkan(version: Version) -> Host {
    Host { robust_buffers: true, ..Host::of(Language::Spirv(Some(version))) }
}

/// What `xenoglot-vulkan`'s documentation says of it: `Fma` rounds twice, a zero is dropped from sums.
fn lavapipe() -> Host {
    let controls = FloatControls { signed_zero_inf_nan: [true; 3], denorm_preserve: false, round_even: true };
    Host {
        floats: Floats { controls, fused_fma: false, zero_sums: false, quotients: true, ..Floats::GPU },
        subgroups: Subgroups::exactly(8),
        robust_buffers: false,
        ..vulkan(Version::V1_6)
    }
}

fn without_doubles(language: Language) -> Host {
    Host { floats: Floats { doubles: false, ..Floats::GPU }, ..Host::of(language) }
}

/// Shader model 6.0 and WebGPU without its extension have none.
fn without_halves(host: Host) -> Host {
    Host { without: [Capability::Float16].into_iter().collect(), ..host }
}

/// What `xenoglot-native` computes floats with rounds as the IR says; it has none but those of 32 bits.
fn native() -> Host {
    Host {
        floats: Floats { quotients: true, doubles: false, ..Floats::GPU },
        array_elements: 1,
        ..Host::of(Language::Native)
    }
}

/// ES 3.1 has no `fma` and no 64-bit types.
fn gles() -> Host {
    Host {
        floats: Floats { fused_fma: false, doubles: false, ..Floats::GPU },
        ..Host::of(Language::Glsl(Glsl::Es310))
    }
}
