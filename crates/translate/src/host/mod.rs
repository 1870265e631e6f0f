//! What runs the code that modules are compiled to.
//!
//! A [`Host`] is one description for passes and back ends alike: which language the code is in, and what of it the host
//! has. [`Translator::compile`](crate::Translator::compile) replaces ops that the host lacks by ops it has. Get one by name
//! ([`Host::named`], or `str::parse`), of a Vulkan device (`Host::of_vulkan`, feature `vulkan`) or of a wgpu adapter
//! (`Host::of_adapter`, feature `wgpu`), and change what you know better: all fields are public.
//!
//! ```
//! use xenoglot::host::{Host, Subgroups};
//!
//! let mut host: Host = "vulkan-1.3".parse()?;
//! host.subgroups = Subgroups::exactly(32);
//! # Ok::<(), xenoglot::host::UnknownHost>(())
//! ```
//!
//! Hosts can be compared, hashed and serialised. Code depends on the module's text, the host, [`Options`](crate::Options) and
//! the [versions](crate::versions) of passes, writers and front ends, and on nothing else.

mod capabilities;
mod language;
mod named;
#[cfg(feature = "vulkan")]
mod vulkan;
#[cfg(feature = "wgpu")]
mod wgpu;

pub use capabilities::{Capabilities, UnknownCapability};
pub use language::Language;
pub use named::UnknownHost;

use serde::{Deserialize, Serialize};
use xenoglot_glsl::Target as Glsl;
use xenoglot_opt::{Lacks, legalize, lower_absent, lower_floats, lower_levels, lower_narrow};
use xenoglot_spirv::{Capability, Version};

/// What runs the code.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Host {
    /// The language of the code.
    pub language: Language,
    /// The capabilities of SPIR-V that the host has; `None` for all of the language's. Code that needs another is
    /// [`Error::Spirv`](crate::Error::Spirv). Other languages than SPIR-V and GLSL are made of SPIR-V, too.
    pub capabilities: Option<Capabilities>,
    /// Of these, what the host lacks all the same: switches for single features.
    pub without: Capabilities,
    /// What the host does with floats.
    pub floats: Floats,
    /// How many lanes its subgroups have.
    pub subgroups: Subgroups,
    /// Whether accesses outside of buffers read zeros and write nothing by themselves (Vulkan's `robustBufferAccess2`):
    /// no code is spent on them.
    pub robust_buffers: bool,
    /// How many elements there are of an array of buffers, where its elements are single buffers: in all languages but
    /// SPIR-V ([`split_arrays`](xenoglot_opt::split_arrays)).
    pub array_elements: u32,
    /// Whether invocations reconverge where the structure of the code says (`SPV_KHR_maximal_reconvergence`).
    pub maximal_reconvergence: bool,
}

/// What a host does with floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Floats {
    /// The float controls that the host offers; they are asked for. SPIR-V only.
    #[serde(with = "controls")]
    pub controls: xenoglot_spirv::FloatControls,
    /// Whether `fma` rounds once. Vulkan and OpenGL do not promise it, GPUs do it, software renderers may not: then it is
    /// computed in wider floats.
    pub fused_fma: bool,
    /// Whether `x + 0` is computed, so that -0 becomes 0. Some compilers take it for `x`.
    pub zero_sums: bool,
    /// Whether quotients and square roots of 32-bit floats are rounded to nearest. GPUs may be some units off: Vulkan allows 2.5
    /// and more.
    pub quotients: bool,
    /// Whether there are 64-bit floats that round to nearest, so that what 32-bit floats lack is computed in them. Without,
    /// both are computed in integers.
    pub doubles: bool,
    /// Whether denormals of 32-bit floats are zeros to the host anyway: nothing is written for guests that flush them. No
    /// host promises it without being asked; devices that do it are known to whoever runs on them.
    pub flushes: bool,
}

/// How many lanes the subgroups of a host have: between these two, powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Subgroups {
    /// The fewest.
    pub min: u8,
    /// The most.
    pub max: u8,
}

impl Subgroups {
    /// The width is not known.
    pub const UNKNOWN: Subgroups = Subgroups { min: 1, max: 128 };

    /// All subgroups have `width` lanes.
    pub const fn exactly(width: u8) -> Subgroups {
        Subgroups { min: width, max: width }
    }

    /// The width, if all subgroups have the same; else 0.
    pub const fn width(self) -> u8 {
        if self.min == self.max { self.min } else { 0 }
    }
}

impl Floats {
    /// Those of most GPUs: `fma` rounds once, quotients do not, sums with zero are computed, there are doubles; no float
    /// controls.
    pub const GPU: Floats = Floats {
        controls: xenoglot_spirv::FloatControls::NONE,
        fused_fma: true,
        zero_sums: true,
        quotients: false,
        doubles: true,
        flushes: false,
    };
}

impl Host {
    /// What the host lacks, for the passes that lower it.
    pub fn lacks(&self) -> Lacks {
        if self.language == Language::Native {
            return self.native_lacks();
        }
        let Floats { fused_fma, zero_sums, quotients, doubles, .. } = self.floats;
        // What naga reads and writes is WGSL's, in all its languages.
        let is_by_naga = !matches!(self.language, Language::Spirv(_) | Language::Glsl(_));
        let is_glsl = matches!(self.language, Language::Glsl(_));
        let narrow = self.lacks_narrow();
        // In compute shaders; no other language than SPIR-V has them.
        let lacks_derivatives =
            is_by_naga || is_glsl || self.lacks_capability(Capability::ComputeDerivativeGroupLinearKHR);
        Lacks {
            // No host language has atomics that wrap at a bound, nor can any round but to nearest.
            narrow_memory: true,
            shared_int64_atomics: true,
            signed_atomics: is_by_naga,
            floats: lower_floats::Options {
                directed: true,
                fma: !fused_fma,
                fma64: is_by_naga,
                doubles,
                zeros: !zero_sums,
                float64: self.lacks_float64(),
                quotients: !quotients,
                halves: narrow.any(),
            },
            narrow,
            arithmetic: self.lacks_arithmetic(),
            int64: self.lacks_int64(),
            vertex_without_position: is_by_naga,
            absent: lower_absent::Options {
                point_size: matches!(self.language, Language::Wgsl | Language::Hlsl(..)),
                shading_rate: is_by_naga || is_glsl,
                fragment_targets: is_by_naga,
                residency: is_by_naga || is_glsl,
            },
            draw_parameters: is_by_naga,
            combined_samplers: is_by_naga,
            separate_samplers: is_glsl,
            texel_buffers: is_by_naga || matches!(self.language, Language::Glsl(Glsl::Es310)),
            texture_lines: matches!(self.language, Language::Wgsl | Language::Msl(..)),
            levels: lower_levels::Options { queries: is_by_naga, implicit_in_compute: lacks_derivatives },
            compute_derivatives: lacks_derivatives,
            helpers: is_by_naga,
            shared_bindings: is_by_naga,
            buffer_arrays: (is_by_naga || is_glsl).then_some(self.array_elements),
            unbounded_arrays: is_glsl,
            location_components: is_by_naga
                || matches!(self.language, Language::Glsl(Glsl::Gl330 | Glsl::Es310)),
            subgroups: Some(self.subgroups.width()),
            quads: self.lacks_quads(),
            invocations: false,
            calls: false,
        }
    }
}

impl Host {
    /// What the native back end lacks: all numbers but those of 32 bits, and all memory but buffers of words. It rounds as it
    /// is told, and has every rule of the IR's arithmetic.
    fn native_lacks(&self) -> Lacks {
        Lacks {
            narrow_memory: true,
            floats: lower_floats::Options {
                float64: true,
                fma64: true,
                halves: true,
                ..lower_floats::Options::default()
            },
            narrow: lower_narrow::Options { ints: true, halves: true },
            arithmetic: legalize::Options { wide_rules: true, ..legalize::Options::default() },
            int64: true,
            texel_buffers: true,
            shared_bindings: true,
            buffer_arrays: Some(self.array_elements),
            subgroups: Some(0),
            invocations: true,
            calls: true,
            ..Lacks::default()
        }
    }

    /// Whether there are no 64-bit integers: in what is written of the language, or on the device.
    fn lacks_int64(&self) -> bool {
        // MSL and HLSL have them, but naga casts no pair of words to one.
        let in_language =
            matches!(self.language, Language::Spirv(_) | Language::Glsl(Glsl::Vulkan450 | Glsl::Gl450));
        !in_language || self.lacks_capability(Capability::Int64)
    }

    /// Whether there are no exchanges within quads: naga reads none, and only GLSL 450 has them.
    fn lacks_quads(&self) -> bool {
        let in_language =
            matches!(self.language, Language::Spirv(_) | Language::Glsl(Glsl::Vulkan450 | Glsl::Gl450));
        !in_language || self.lacks_capability(Capability::GroupNonUniformQuad)
    }

    /// Whether there are no 64-bit floats.
    fn lacks_float64(&self) -> bool {
        !self.floats.doubles || self.lacks_capability(Capability::Float64)
    }

    /// Which kinds of less than 32 bits there are not. naga reads no narrow integers in what its languages have.
    fn lacks_narrow(&self) -> lower_narrow::Options {
        let in_language =
            matches!(self.language, Language::Spirv(_) | Language::Glsl(Glsl::Vulkan450 | Glsl::Gl450));
        let is_by_naga = !matches!(self.language, Language::Spirv(_) | Language::Glsl(_));
        let lacks = |capability| self.lacks_capability(capability);
        lower_narrow::Options {
            ints: !in_language || lacks(Capability::Int8) || lacks(Capability::Int16),
            halves: !(in_language || is_by_naga) || lacks(Capability::Float16),
        }
    }

    /// Whether the device lacks a capability that its language has.
    fn lacks_capability(&self, capability: Capability) -> bool {
        let has = self.capabilities.as_ref().is_none_or(|all| all.contains(capability));
        !has || self.without.contains(capability)
    }

    /// Whether there are no dot products of bytes: SPIR-V has them by default since version 1.6.
    fn lacks_byte_dots(&self) -> bool {
        let in_language = matches!(self.language, Language::Spirv(Some(version)) if version >= Version::V1_6);
        !in_language || self.lacks_capability(Capability::DotProductInput4x8BitPacked)
    }

    /// What no shading language has, and what this one lacks besides.
    fn lacks_arithmetic(&self) -> legalize::Options {
        let is_spirv = matches!(self.language, Language::Spirv(_));
        let is_old = matches!(self.language, Language::Glsl(Glsl::Gl330));
        let is_glsl = matches!(self.language, Language::Glsl(_));
        legalize::Options {
            rules: true,
            wide_rules: false,
            compares: !is_spirv,
            // naga reads no products of two words.
            high_products: is_old || !(is_spirv || is_glsl),
            bit_counts: is_old,
            byte_dots: self.lacks_byte_dots(),
            flushes: self.floats.flushes,
        }
    }
}

/// Float controls as the names of their execution modes, by width.
mod controls {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use xenoglot_spirv::FloatControls;

    #[derive(Serialize, Deserialize)]
    struct Text {
        signed_zero_inf_nan: [bool; 3],
        denorm_preserve: bool,
        round_even: bool,
    }

    pub(super) fn serialize<S: Serializer>(c: &FloatControls, s: S) -> Result<S::Ok, S::Error> {
        let &FloatControls { signed_zero_inf_nan, denorm_preserve, round_even } = c;
        Text { signed_zero_inf_nan, denorm_preserve, round_even }.serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<FloatControls, D::Error> {
        let Text { signed_zero_inf_nan, denorm_preserve, round_even } = Text::deserialize(d)?;
        Ok(FloatControls { signed_zero_inf_nan, denorm_preserve, round_even })
    }
}
