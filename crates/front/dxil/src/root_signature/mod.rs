//! Root signatures, versions 1.0 to 1.2: how registers of shaders reach constants, addresses and descriptor heaps.
//!
//! | file | |
//! |---|---|
//! | `read.rs`, `write.rs` | the binary form, that of the `RTS0` part |
//! | `validate.rs` | what a device demands beyond that |
//! | `print.rs` | HLSL's syntax ([`RootSignature`] is `Display`) |
//!
//! Layouts are those of DirectXShaderCompiler's `DxilRootSignature.h`; the meaning of fields and the rules are those of
//! the Direct3D 12 documentation ("Root Signatures", "Specifying Root Signatures in HLSL").

mod print;
mod read;
mod validate;
mod write;

pub use validate::Violation;

use crate::model::ResourceClass;
use crate::number::numbered;
use bitflags::bitflags;
use serde::{Serialize, Serializer};

numbered! {
    /// The version of a root signature.
    Version {
        1 V1_0 "1.0",
        2 V1_1 "1.1",
        3 V1_2 "1.2",
    }
}

numbered! {
    /// The shaders that see a parameter.
    Visibility {
        0 All "SHADER_VISIBILITY_ALL",
        1 Vertex "SHADER_VISIBILITY_VERTEX",
        2 Hull "SHADER_VISIBILITY_HULL",
        3 Domain "SHADER_VISIBILITY_DOMAIN",
        4 Geometry "SHADER_VISIBILITY_GEOMETRY",
        5 Pixel "SHADER_VISIBILITY_PIXEL",
        6 Amplification "SHADER_VISIBILITY_AMPLIFICATION",
        7 Mesh "SHADER_VISIBILITY_MESH",
    }
}

numbered! {
    /// How texels are filtered.
    Filter {
        0x00 MinMagMipPoint "FILTER_MIN_MAG_MIP_POINT",
        0x01 MinMagPointMipLinear "FILTER_MIN_MAG_POINT_MIP_LINEAR",
        0x04 MinPointMagLinearMipPoint "FILTER_MIN_POINT_MAG_LINEAR_MIP_POINT",
        0x05 MinPointMagMipLinear "FILTER_MIN_POINT_MAG_MIP_LINEAR",
        0x10 MinLinearMagMipPoint "FILTER_MIN_LINEAR_MAG_MIP_POINT",
        0x11 MinLinearMagPointMipLinear "FILTER_MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        0x14 MinMagLinearMipPoint "FILTER_MIN_MAG_LINEAR_MIP_POINT",
        0x15 MinMagMipLinear "FILTER_MIN_MAG_MIP_LINEAR",
        0x55 Anisotropic "FILTER_ANISOTROPIC",
        0x80 ComparisonMinMagMipPoint "FILTER_COMPARISON_MIN_MAG_MIP_POINT",
        0x81 ComparisonMinMagPointMipLinear "FILTER_COMPARISON_MIN_MAG_POINT_MIP_LINEAR",
        0x84 ComparisonMinPointMagLinearMipPoint "FILTER_COMPARISON_MIN_POINT_MAG_LINEAR_MIP_POINT",
        0x85 ComparisonMinPointMagMipLinear "FILTER_COMPARISON_MIN_POINT_MAG_MIP_LINEAR",
        0x90 ComparisonMinLinearMagMipPoint "FILTER_COMPARISON_MIN_LINEAR_MAG_MIP_POINT",
        0x91 ComparisonMinLinearMagPointMipLinear "FILTER_COMPARISON_MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        0x94 ComparisonMinMagLinearMipPoint "FILTER_COMPARISON_MIN_MAG_LINEAR_MIP_POINT",
        0x95 ComparisonMinMagMipLinear "FILTER_COMPARISON_MIN_MAG_MIP_LINEAR",
        0xd5 ComparisonAnisotropic "FILTER_COMPARISON_ANISOTROPIC",
        0x100 MinimumMinMagMipPoint "FILTER_MINIMUM_MIN_MAG_MIP_POINT",
        0x101 MinimumMinMagPointMipLinear "FILTER_MINIMUM_MIN_MAG_POINT_MIP_LINEAR",
        0x104 MinimumMinPointMagLinearMipPoint "FILTER_MINIMUM_MIN_POINT_MAG_LINEAR_MIP_POINT",
        0x105 MinimumMinPointMagMipLinear "FILTER_MINIMUM_MIN_POINT_MAG_MIP_LINEAR",
        0x110 MinimumMinLinearMagMipPoint "FILTER_MINIMUM_MIN_LINEAR_MAG_MIP_POINT",
        0x111 MinimumMinLinearMagPointMipLinear "FILTER_MINIMUM_MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        0x114 MinimumMinMagLinearMipPoint "FILTER_MINIMUM_MIN_MAG_LINEAR_MIP_POINT",
        0x115 MinimumMinMagMipLinear "FILTER_MINIMUM_MIN_MAG_MIP_LINEAR",
        0x155 MinimumAnisotropic "FILTER_MINIMUM_ANISOTROPIC",
        0x180 MaximumMinMagMipPoint "FILTER_MAXIMUM_MIN_MAG_MIP_POINT",
        0x181 MaximumMinMagPointMipLinear "FILTER_MAXIMUM_MIN_MAG_POINT_MIP_LINEAR",
        0x184 MaximumMinPointMagLinearMipPoint "FILTER_MAXIMUM_MIN_POINT_MAG_LINEAR_MIP_POINT",
        0x185 MaximumMinPointMagMipLinear "FILTER_MAXIMUM_MIN_POINT_MAG_MIP_LINEAR",
        0x190 MaximumMinLinearMagMipPoint "FILTER_MAXIMUM_MIN_LINEAR_MAG_MIP_POINT",
        0x191 MaximumMinLinearMagPointMipLinear "FILTER_MAXIMUM_MIN_LINEAR_MAG_POINT_MIP_LINEAR",
        0x194 MaximumMinMagLinearMipPoint "FILTER_MAXIMUM_MIN_MAG_LINEAR_MIP_POINT",
        0x195 MaximumMinMagMipLinear "FILTER_MAXIMUM_MIN_MAG_MIP_LINEAR",
        0x1d5 MaximumAnisotropic "FILTER_MAXIMUM_ANISOTROPIC",
    }
}

numbered! {
    /// What lies outside a texture.
    AddressMode {
        1 Wrap "TEXTURE_ADDRESS_WRAP",
        2 Mirror "TEXTURE_ADDRESS_MIRROR",
        3 Clamp "TEXTURE_ADDRESS_CLAMP",
        4 Border "TEXTURE_ADDRESS_BORDER",
        5 MirrorOnce "TEXTURE_ADDRESS_MIRROR_ONCE",
    }
}

numbered! {
    /// How a value is compared. Samplers that do not compare may have none.
    Comparison {
        0 None "COMPARISON_NONE",
        1 Never "COMPARISON_NEVER",
        2 Less "COMPARISON_LESS",
        3 Equal "COMPARISON_EQUAL",
        4 LessEqual "COMPARISON_LESS_EQUAL",
        5 Greater "COMPARISON_GREATER",
        6 NotEqual "COMPARISON_NOT_EQUAL",
        7 GreaterEqual "COMPARISON_GREATER_EQUAL",
        8 Always "COMPARISON_ALWAYS",
    }
}

numbered! {
    /// The color of a border.
    BorderColor {
        0 TransparentBlack "STATIC_BORDER_COLOR_TRANSPARENT_BLACK",
        1 OpaqueBlack "STATIC_BORDER_COLOR_OPAQUE_BLACK",
        2 OpaqueWhite "STATIC_BORDER_COLOR_OPAQUE_WHITE",
        3 OpaqueBlackUint "STATIC_BORDER_COLOR_OPAQUE_BLACK_UINT",
        4 OpaqueWhiteUint "STATIC_BORDER_COLOR_OPAQUE_WHITE_UINT",
    }
}

/// Flags that are serialised by HLSL's names, those of the flags themselves.
macro_rules! flags {
    ($($name:ident),*) => { $(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.iter_names().map(|(name, _)| name))
            }
        }
    )* };
}

bitflags! {
    /// Flags of a root signature.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RootFlags: u32 {
        /// There is a vertex layout.
        const ALLOW_INPUT_ASSEMBLER_INPUT_LAYOUT = 0x1;
        /// Vertex shaders see nothing.
        const DENY_VERTEX_SHADER_ROOT_ACCESS = 0x2;
        /// Hull shaders see nothing.
        const DENY_HULL_SHADER_ROOT_ACCESS = 0x4;
        /// Domain shaders see nothing.
        const DENY_DOMAIN_SHADER_ROOT_ACCESS = 0x8;
        /// Geometry shaders see nothing.
        const DENY_GEOMETRY_SHADER_ROOT_ACCESS = 0x10;
        /// Pixel shaders see nothing.
        const DENY_PIXEL_SHADER_ROOT_ACCESS = 0x20;
        /// There is stream output.
        const ALLOW_STREAM_OUTPUT = 0x40;
        /// Its arguments lie in shader records.
        const LOCAL_ROOT_SIGNATURE = 0x80;
        /// Amplification shaders see nothing.
        const DENY_AMPLIFICATION_SHADER_ROOT_ACCESS = 0x100;
        /// Mesh shaders see nothing.
        const DENY_MESH_SHADER_ROOT_ACCESS = 0x200;
        /// Shaders index the resource heap.
        const CBV_SRV_UAV_HEAP_DIRECTLY_INDEXED = 0x400;
        /// Shaders index the sampler heap.
        const SAMPLER_HEAP_DIRECTLY_INDEXED = 0x800;
        const _ = !0;
    }

    /// What may change, of ranges and root descriptors, from version 1.1 on.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DescriptorFlags: u32 {
        /// Descriptors may change while commands wait.
        const DESCRIPTORS_VOLATILE = 0x1;
        /// Data may change while commands run.
        const DATA_VOLATILE = 0x2;
        /// Data does not change from when the argument is set while commands run.
        const DATA_STATIC_WHILE_SET_AT_EXECUTE = 0x4;
        /// Data does not change once the argument is recorded.
        const DATA_STATIC = 0x8;
        /// Descriptors do not change, and buffers' bounds are checked.
        const DESCRIPTORS_STATIC_KEEPING_BUFFER_BOUNDS_CHECKS = 0x10000;
        const _ = !0;
    }

    /// Flags of static samplers, in version 1.2.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SamplerFlags: u32 {
        /// The border is of integers.
        const SAMPLER_FLAG_UINT_BORDER_COLOR = 0x1;
        /// Coordinates count texels.
        const SAMPLER_FLAG_NON_NORMALIZED_COORDINATES = 0x2;
        const _ = !0;
    }
}

flags!(RootFlags, DescriptorFlags, SamplerFlags);

/// A register of a shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Register {
    /// Its number.
    pub number: u32,
    /// Its space.
    pub space: u32,
}

/// Descriptors of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// What they are.
    pub class: ResourceClass,
    /// How many; all ones for as many as there are.
    pub count: u32,
    /// The first one's register.
    pub register: Register,
    /// What may change.
    pub flags: DescriptorFlags,
    /// The first one's place in the table; all ones to follow the range in front.
    pub offset: u32,
}

impl Range {
    /// The count of an unbounded range.
    pub const UNBOUNDED: u32 = u32::MAX;
    /// The offset that follows the range in front.
    pub const APPEND: u32 = u32::MAX;
}

/// The places in a table where ranges start, as their offsets say.
///
/// An unbounded range has no end to follow: what follows it starts at the last place.
pub fn starts(ranges: &[Range]) -> impl Iterator<Item = u32> + '_ {
    let mut end = 0u32;
    ranges.iter().map(move |range| {
        let start = if range.offset == Range::APPEND { end } else { range.offset };
        end = start.saturating_add(range.count);
        start
    })
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// Constants in the root signature: a constant buffer to the shader.
    Constants {
        /// The constant buffer's register.
        register: Register,
        /// Words.
        count: u32,
    },
    /// The address of a buffer.
    Descriptor {
        /// What it is to the shader; never a sampler.
        class: ResourceClass,
        /// Its register.
        register: Register,
        /// What may change.
        flags: DescriptorFlags,
    },
    /// A place in a descriptor heap.
    Table(Vec<Range>),
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// What it is.
    pub kind: ParameterKind,
    /// The shaders that see it.
    pub visibility: Visibility,
}

impl Parameter {
    /// The words it takes of the root signature's 64.
    pub fn words(&self) -> u32 {
        match self.kind {
            ParameterKind::Constants { count, .. } => count,
            ParameterKind::Descriptor { .. } => 2,
            ParameterKind::Table(_) => 1,
        }
    }
}

/// A sampler that is part of the root signature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StaticSampler {
    /// How texels are filtered.
    pub filter: Filter,
    /// What lies outside along u, v and w.
    pub address: [AddressMode; 3],
    /// Added to the level.
    pub mip_lod_bias: f32,
    /// Most samples of an anisotropic filter.
    pub max_anisotropy: u32,
    /// How comparing filters compare.
    pub comparison: Comparison,
    /// The color of borders.
    pub border: BorderColor,
    /// The finest level.
    pub min_lod: f32,
    /// The coarsest level.
    pub max_lod: f32,
    /// Its register.
    pub register: Register,
    /// The shaders that see it.
    pub visibility: Visibility,
    /// Flags of version 1.2.
    pub flags: SamplerFlags,
}

impl StaticSampler {
    /// The sampler HLSL gives if nothing but a register is said.
    pub fn new(register: Register) -> StaticSampler {
        StaticSampler {
            filter: Filter::Anisotropic,
            address: [AddressMode::Wrap; 3],
            mip_lod_bias: 0.0,
            max_anisotropy: 16,
            comparison: Comparison::LessEqual,
            border: BorderColor::OpaqueWhite,
            min_lod: 0.0,
            max_lod: f32::MAX,
            register,
            visibility: Visibility::All,
            flags: SamplerFlags::empty(),
        }
    }
}

/// A root signature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RootSignature {
    /// Its version.
    pub version: Version,
    /// Its flags.
    pub flags: RootFlags,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its samplers.
    pub samplers: Vec<StaticSampler>,
}

#[cfg(test)]
mod tests;
