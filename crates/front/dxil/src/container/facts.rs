//! The small parts: `SFI0`, `HASH`, `ILDN`, `VERS`.

use super::{ContainerError, Part};
use bitflags::bitflags;
use serde::{Serialize, Serializer};

bitflags! {
    /// What a shader needs of a device, by the bits of `SFI0` and RDAT.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Features: u64 {
        /// `double`.
        const DOUBLES = 1 << 0;
        /// Raw and structured buffers in compute shaders of level 4.
        const COMPUTE_ON_LEVEL_4 = 1 << 1;
        /// UAVs in every stage.
        const UAVS_AT_EVERY_STAGE = 1 << 2;
        /// 64 UAVs.
        const UAVS_64 = 1 << 3;
        /// Minimum precision.
        const MINIMUM_PRECISION = 1 << 4;
        /// Division and fused multiplication of `double`.
        const DOUBLE_EXTENSIONS = 1 << 5;
        /// The shader extensions of level 11.1.
        const SHADER_EXTENSIONS = 1 << 6;
        /// Comparison filtering on level 9.
        const LEVEL_9_COMPARISON = 1 << 7;
        /// Tiled resources.
        const TILED_RESOURCES = 1 << 8;
        /// A stencil reference from the pixel shader.
        const STENCIL_REF = 1 << 9;
        /// Inner coverage.
        const INNER_COVERAGE = 1 << 10;
        /// Typed loads of UAVs beyond the three formats of a word.
        const TYPED_UAV_LOADS = 1 << 11;
        /// Rasterizer-ordered views.
        const ROVS = 1 << 12;
        /// Viewport and layer from any stage.
        const VIEWPORT_AND_LAYER_FROM_ANY_STAGE = 1 << 13;
        /// Wave operations.
        const WAVE_OPS = 1 << 14;
        /// Integers of 64 bits.
        const INT64 = 1 << 15;
        /// View instancing.
        const VIEW_ID = 1 << 16;
        /// Barycentrics.
        const BARYCENTRICS = 1 << 17;
        /// Types of 16 bits.
        const NATIVE_16_BIT = 1 << 18;
        /// Variable-rate shading.
        const SHADING_RATE = 1 << 19;
        /// Ray tracing, tier 1.1.
        const RAYTRACING_1_1 = 1 << 20;
        /// Sampler feedback.
        const SAMPLER_FEEDBACK = 1 << 21;
        /// Atomics of 64 bits on typed resources.
        const INT64_ATOMICS_TYPED = 1 << 22;
        /// Atomics of 64 bits on group-shared memory.
        const INT64_ATOMICS_SHARED = 1 << 23;
        /// Derivatives in mesh and amplification shaders.
        const MESH_DERIVATIVES = 1 << 24;
        /// Resources by their index in the heap.
        const RESOURCE_HEAP_INDEXING = 1 << 25;
        /// Samplers by their index in the heap.
        const SAMPLER_HEAP_INDEXING = 1 << 26;
        /// Wave matrices.
        const WAVE_MATRIX = 1 << 27;
        /// Atomics of 64 bits on resources of the heap.
        const INT64_ATOMICS_HEAP = 1 << 28;
        /// The texture operations of SM 6.7.
        const ADVANCED_TEXTURE_OPS = 1 << 29;
        /// Multisampled UAVs.
        const WRITABLE_MSAA = 1 << 30;
        /// Comparison with gradients or bias.
        const SAMPLE_CMP_GRADIENT_OR_BIAS = 1 << 31;
        /// Start vertex and instance.
        const EXTENDED_COMMAND_INFO = 1 << 32;
        /// Takes derivatives; RDAT of functions only.
        const USES_DERIVATIVES = 1 << 40;
        /// Must run in groups; RDAT of functions only.
        const REQUIRES_GROUP = 1 << 41;
        const _ = !0;
    }
}

impl Serialize for Features {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unnamed = self.iter_names().fold(*self, |rest, (_, flag)| rest - flag);
        let names = self.iter_names().map(|(name, _)| name.to_ascii_lowercase().replace('_', "-"));
        let bits = (!unnamed.is_empty()).then(|| format!("{:#x}", unnamed.bits()));
        serializer.collect_seq(names.chain(bits))
    }
}

/// `SFI0`: 64 flags.
pub(super) fn features(part: &Part) -> Result<Features, ContainerError> {
    Ok(Features::from_bits_retain(part.reader().u64("flags")?))
}

/// `HASH`: what debug information is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ShaderHash {
    /// The source text is part of it.
    pub includes_source: bool,
    /// The hash.
    #[serde(serialize_with = "hexadecimal")]
    pub digest: [u8; 16],
}

fn hexadecimal<S: Serializer>(digest: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{:032x}", u128::from_be_bytes(*digest)))
}

pub(super) fn hash(part: &Part) -> Result<ShaderHash, ContainerError> {
    let mut at = part.reader();
    let flags = at.u32("flags")?;
    Ok(ShaderHash { includes_source: flags & 1 != 0, digest: at.array("hash")? })
}

/// `ILDN`: the name of the file with debug information.
pub(super) fn debug_name<'a>(part: &Part<'a>) -> Result<&'a str, ContainerError> {
    let mut at = part.reader();
    at.u16("flags")?;
    let length = at.u16("length of the name")?;
    at.utf8(length.into(), "name")
}

/// `VERS`: what compiled the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CompilerVersion<'a> {
    /// Major and minor version.
    pub version: (u16, u16),
    /// A debug build.
    pub debug: bool,
    /// Commits since the beginning.
    pub commits: u32,
    /// Hash of the commit.
    pub commit: &'a str,
    /// The version for people.
    pub text: &'a str,
}

/// Behind the header lie the hash of the commit and the version, each ended by a zero, either left out.
pub(super) fn compiler<'a>(part: &Part<'a>) -> Result<CompilerVersion<'a>, ContainerError> {
    let mut at = part.reader();
    let version = (at.u16("major version")?, at.u16("minor version")?);
    let debug = at.u32("flags")? & 1 != 0;
    let commits = at.u32("number of commits")?;
    let length = at.u32("length of the text")?;
    let text = at.utf8(length.into(), "text")?;
    let mut texts = text.split('\0');
    let mut next = || texts.next().unwrap_or_default();
    Ok(CompilerVersion { version, debug, commits, commit: next(), text: next() })
}
