//! What the writer is asked for.

use spirv::{Capability, ExecutionMode};
use std::fmt;
use std::str::FromStr;
use xenoglot_ir::stage::{TessDomain, TessSpacing, Tessellation};

/// Version of SPIR-V. The Vulkan environments that take it: 1.0 from Vulkan 1.0 on, up to 1.3 from 1.1, 1.4 with
/// an extension of 1.1, 1.5 from 1.2, 1.6 from 1.3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Version {
    /// 1.0.
    V1_0,
    /// 1.1.
    V1_1,
    /// 1.2.
    V1_2,
    /// 1.3.
    #[default]
    V1_3,
    /// 1.4.
    V1_4,
    /// 1.5.
    V1_5,
    /// 1.6.
    V1_6,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Version; 7] = [
        Version::V1_0,
        Version::V1_1,
        Version::V1_2,
        Version::V1_3,
        Version::V1_4,
        Version::V1_5,
        Version::V1_6,
    ];

    /// The minor number, 0 to 6.
    pub fn minor(self) -> u32 {
        self as u32
    }
}

impl FromStr for Version {
    type Err = ();

    /// The version called `1.0` to `1.6`.
    fn from_str(text: &str) -> Result<Version, ()> {
        Version::ALL.into_iter().find(|v| v.to_string() == text).ok_or(())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor())
    }
}

/// Float controls (`SPV_KHR_float_controls`), of 32-bit floats where nothing else is said. Each needs the matching property of the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FloatControls {
    /// Signs of zeros, infinities and NaNs survive, in floats of 16, 32 and 64 bits.
    pub signed_zero_inf_nan: [bool; 3],
    /// Denormals are neither flushed nor read as zero.
    pub denorm_preserve: bool,
    /// Results are rounded to nearest even.
    pub round_even: bool,
}

impl FloatControls {
    /// None of them.
    pub const NONE: FloatControls =
        FloatControls { signed_zero_inf_nan: [false; 3], denorm_preserve: false, round_even: false };
    /// All of them.
    pub const ALL: FloatControls =
        FloatControls { signed_zero_inf_nan: [true; 3], denorm_preserve: true, round_even: true };
}

/// The execution modes of a tessellator.
pub(crate) fn tessellation_modes(t: Tessellation) -> impl Iterator<Item = ExecutionMode> {
    let domain = match t.domain {
        TessDomain::Isolines => ExecutionMode::Isolines,
        TessDomain::Triangles => ExecutionMode::Triangles,
        TessDomain::Quads => ExecutionMode::Quads,
    };
    let spacing = t.spacing.map(|spacing| match spacing {
        TessSpacing::Equal => ExecutionMode::SpacingEqual,
        TessSpacing::FractionalOdd => ExecutionMode::SpacingFractionalOdd,
        TessSpacing::FractionalEven => ExecutionMode::SpacingFractionalEven,
    });
    let winding = t.clockwise.map(|clockwise| match clockwise {
        true => ExecutionMode::VertexOrderCw,
        false => ExecutionMode::VertexOrderCcw,
    });
    let points = t.points.then_some(ExecutionMode::PointMode);
    [Some(domain), spacing, winding, points].into_iter().flatten()
}

/// Which names the output carries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Names {
    /// None.
    #[default]
    None,
    /// Functions, interface and resources.
    Interface,
    /// Values too, by the guest register they came from.
    All,
}

/// Options of [`emit`](crate::emit). The default is SPIR-V for a Vulkan 1.1 device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Version of SPIR-V to write; what a module needs beyond it is [`Error::Version`](crate::Error). `None` writes 1.3,
    /// or the first later version that has what the module needs: stages of meshes and rays, and ray queries, need 1.4.
    pub version: Option<Version>,
    /// The capabilities the consumer has; `None` for all. Needing another is [`Error::Capability`](crate::Error).
    pub capabilities: Option<Vec<Capability>>,
    /// Of these, what the consumer lacks all the same: switches for single features.
    pub without: Vec<Capability>,
    /// Float controls to ask for.
    pub float_controls: FloatControls,
    /// Switches as chains of ifs: for naga, whose targets cannot leave a loop from inside a switch.
    pub switch_as_if_chain: bool,
    /// Only ops that every consumer reads as specified: naga takes unordered float compares for ordered ones and
    /// knows no extended multiplication.
    pub portable_ops: bool,
    /// `SPV_KHR_maximal_reconvergence`: invocations reconverge where the structure says.
    pub maximal_reconvergence: bool,
    /// Guard what the module leaves undefined: loops end after [`Options::loop_limit`] iterations of a call of a
    /// function, and accesses outside a resource with policy `undefined` load 0 and store nothing.
    pub robust: bool,
    /// Iterations, over all loops of one call of a function, after which it returns (zeros) in robust mode.
    pub loop_limit: u32,
    /// The host's accesses outside a buffer are as the policies `zero` and `ignore` say (`robustBufferAccess2`):
    /// no code is spent on them. Not for shared and private memory.
    pub host_bounds: bool,
    /// Most constructs around a statement; drivers are silently wrong from 80 on.
    pub max_depth: u32,
    /// Names to write.
    pub names: Names,
    /// `OpLine` with the guest address as line before what a guest instruction became, in a file named after the
    /// module.
    pub guest_lines: bool,
    /// Lanes of the host's subgroups if known; guest widths other than 0 and this are `Unsupported`.
    pub subgroup_width: u8,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            version: None,
            capabilities: None,
            without: Vec::new(),
            float_controls: FloatControls::NONE,
            switch_as_if_chain: false,
            portable_ops: false,
            maximal_reconvergence: false,
            robust: false,
            loop_limit: 1 << 20,
            host_bounds: false,
            max_depth: 48,
            names: Names::default(),
            guest_lines: false,
            subgroup_width: 0,
        }
    }
}

impl Options {
    /// What naga reads and its target languages can say: SPIR-V 1.3 with if-chains for switches, portable ops, no
    /// float controls, and no capability that naga refuses.
    pub fn for_naga() -> Options {
        let capabilities = vec![
            Capability::Shader,
            Capability::ClipDistance,
            Capability::CullDistance,
            Capability::SampleRateShading,
            Capability::DerivativeControl,
            Capability::ImageQuery,
            Capability::Sampled1D,
            Capability::Image1D,
            Capability::SampledCubeArray,
            Capability::ImageCubeArray,
            Capability::StorageImageExtendedFormats,
            Capability::StorageImageMultisample,
            Capability::Int64,
            Capability::Int64Atomics,
            Capability::Float16,
            Capability::Float64,
            Capability::StorageBuffer16BitAccess,
            Capability::UniformAndStorageBuffer16BitAccess,
            Capability::Geometry,
            Capability::FragmentBarycentricKHR,
            Capability::GroupNonUniform,
            Capability::GroupNonUniformVote,
            Capability::GroupNonUniformArithmetic,
            Capability::GroupNonUniformBallot,
            Capability::GroupNonUniformShuffle,
            Capability::GroupNonUniformShuffleRelative,
            Capability::RuntimeDescriptorArray,
            Capability::UniformBufferArrayDynamicIndexing,
            Capability::StorageBufferArrayDynamicIndexing,
        ];
        Options {
            version: Some(Version::V1_3),
            capabilities: Some(capabilities),
            // The text that naga writes has them.
            names: Names::Interface,
            switch_as_if_chain: true,
            portable_ops: true,
            ..Options::default()
        }
    }

    /// Options for a version, otherwise the default.
    pub fn version(version: Version) -> Options {
        Options { version: Some(version), ..Options::default() }
    }
}
