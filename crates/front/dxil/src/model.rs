//! Shader models and kinds of shaders, by the numbers DXIL has for them.

use crate::number::numbered;
use bitflags::bitflags;
use serde::{Serialize, Serializer};
use std::fmt;

/// A shader model: the version of the language a shader was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShaderModel {
    /// 6 in all DXIL.
    pub major: u8,
    /// 0 to 9 in what this crate knows.
    pub minor: u8,
}

impl ShaderModel {
    /// SM 6 of a minor version.
    pub const fn sm6(minor: u8) -> ShaderModel {
        ShaderModel { major: 6, minor }
    }
}

impl fmt::Display for ShaderModel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Serialize for ShaderModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

numbered! {
    /// How a resource is reached.
    ResourceClass {
        0 Srv "SRV",
        1 Uav "UAV",
        2 Cbv "CBV",
        3 Sampler "Sampler",
    }
}

impl ResourceClass {
    /// The letter of its registers.
    pub fn letter(self) -> char {
        match self {
            ResourceClass::Srv => 't',
            ResourceClass::Uav => 'u',
            ResourceClass::Cbv => 'b',
            ResourceClass::Sampler => 's',
        }
    }
}

numbered! {
    /// The shape of a resource.
    ResourceKind {
        0 Invalid "invalid",
        1 Texture1D "Texture1D",
        2 Texture2D "Texture2D",
        3 Texture2DMS "Texture2DMS",
        4 Texture3D "Texture3D",
        5 TextureCube "TextureCube",
        6 Texture1DArray "Texture1DArray",
        7 Texture2DArray "Texture2DArray",
        8 Texture2DMSArray "Texture2DMSArray",
        9 TextureCubeArray "TextureCubeArray",
        10 TypedBuffer "TypedBuffer",
        11 RawBuffer "RawBuffer",
        12 StructuredBuffer "StructuredBuffer",
        13 CBuffer "CBuffer",
        14 Sampler "Sampler",
        15 TBuffer "TBuffer",
        16 AccelerationStructure "RTAccelerationStructure",
        17 FeedbackTexture2D "FeedbackTexture2D",
        18 FeedbackTexture2DArray "FeedbackTexture2DArray",
    }
}

impl ResourceKind {
    /// The shape of a number that a resource is declared with: all but the invalid one.
    pub(crate) fn declared(number: u64) -> Option<ResourceKind> {
        ResourceKind::from_number(number).filter(|&kind| kind != ResourceKind::Invalid)
    }
}

/// What a shader is for. Numbers are those of the program header, PSV0 and RDAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ShaderKind {
    /// Pixel shader.
    Pixel,
    /// Vertex shader.
    Vertex,
    /// Geometry shader.
    Geometry,
    /// Hull shader.
    Hull,
    /// Domain shader.
    Domain,
    /// Compute shader.
    Compute,
    /// Library: functions, most often shaders for ray tracing.
    Library,
    /// Ray-generation shader.
    RayGeneration,
    /// Intersection shader.
    Intersection,
    /// Any-hit shader.
    AnyHit,
    /// Closest-hit shader.
    ClosestHit,
    /// Miss shader.
    Miss,
    /// Callable shader.
    Callable,
    /// Mesh shader.
    Mesh,
    /// Amplification shader.
    Amplification,
    /// Node of a work graph.
    Node,
}

impl ShaderKind {
    /// Direct3D's name of the stage, for people.
    pub fn name(self) -> &'static str {
        match self {
            ShaderKind::Pixel => "pixel",
            ShaderKind::Vertex => "vertex",
            ShaderKind::Geometry => "geometry",
            ShaderKind::Hull => "hull",
            ShaderKind::Domain => "domain",
            ShaderKind::Compute => "compute",
            ShaderKind::Library => "library",
            ShaderKind::RayGeneration => "ray generation",
            ShaderKind::Intersection => "intersection",
            ShaderKind::AnyHit => "any hit",
            ShaderKind::ClosestHit => "closest hit",
            ShaderKind::Miss => "miss",
            ShaderKind::Callable => "callable",
            ShaderKind::Mesh => "mesh",
            ShaderKind::Amplification => "amplification",
            ShaderKind::Node => "node",
        }
    }

    /// All, by number.
    pub const ALL: [ShaderKind; 16] = [
        ShaderKind::Pixel,
        ShaderKind::Vertex,
        ShaderKind::Geometry,
        ShaderKind::Hull,
        ShaderKind::Domain,
        ShaderKind::Compute,
        ShaderKind::Library,
        ShaderKind::RayGeneration,
        ShaderKind::Intersection,
        ShaderKind::AnyHit,
        ShaderKind::ClosestHit,
        ShaderKind::Miss,
        ShaderKind::Callable,
        ShaderKind::Mesh,
        ShaderKind::Amplification,
        ShaderKind::Node,
    ];

    /// The kind of a number; `None` above 15.
    pub fn from_number(number: u32) -> Option<ShaderKind> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The letters of its profiles, as in `cs_6_0`; shaders of libraries have the library's.
    pub fn profile(self) -> &'static str {
        match self {
            ShaderKind::Pixel => "ps",
            ShaderKind::Vertex => "vs",
            ShaderKind::Geometry => "gs",
            ShaderKind::Hull => "hs",
            ShaderKind::Domain => "ds",
            ShaderKind::Compute => "cs",
            ShaderKind::Mesh => "ms",
            ShaderKind::Amplification => "as",
            _ => "lib",
        }
    }

    /// The set of it alone.
    pub const fn set(self) -> Stages {
        Stages::from_bits_retain(1 << self as u16)
    }
}

bitflags! {
    /// Kinds of shaders: bit 1 << number, as in RDAT.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Stages: u16 {
        /// All of them.
        const ALL = 0xffff;
    }
}
