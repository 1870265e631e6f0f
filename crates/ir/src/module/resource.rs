//! What a module binds: buffers, textures, images, samplers, and memory that shaders hand to each other.

use crate::imm::{Dim, named_enum};

named_enum! {
    /// What a texel's components are when read from a texture or image.
    Texel {
        /// 32-bit floats.
        Float "float",
        /// Signed 32-bit integers.
        Sint "sint",
        /// Unsigned 32-bit integers.
        Uint "uint",
    }
}

named_enum! {
    /// Memory format of a storage image's texels.
    ImageFormat {
        /// Not said; floats.
        Unknown "unknown",
        /// Not said; signed integers.
        UnknownSint "unknown_i",
        /// Not said; integers.
        UnknownUint "unknown_ui",
        /// Four 32-bit floats.
        Rgba32f "rgba32f",
        /// Four halves.
        Rgba16f "rgba16f",
        /// Two 32-bit floats.
        Rg32f "rg32f",
        /// Two halves.
        Rg16f "rg16f",
        /// A 32-bit float.
        R32f "r32f",
        /// A half.
        R16f "r16f",
        /// Floats of 11, 11 and 10 bits.
        R11fG11fB10f "r11f_g11f_b10f",
        /// Four 16-bit fractions.
        Rgba16 "rgba16",
        /// Fractions of 10, 10, 10 and 2 bits.
        Rgb10A2 "rgb10_a2",
        /// Four 8-bit fractions.
        Rgba8 "rgba8",
        /// Two 16-bit fractions.
        Rg16 "rg16",
        /// Two 8-bit fractions.
        Rg8 "rg8",
        /// A 16-bit fraction.
        R16 "r16",
        /// An 8-bit fraction.
        R8 "r8",
        /// Four 8-bit fractions with sign.
        Rgba8Snorm "rgba8_snorm",
        /// Four 32-bit signed integers.
        Rgba32i "rgba32i",
        /// Four 16-bit signed integers.
        Rgba16i "rgba16i",
        /// Four 8-bit signed integers.
        Rgba8i "rgba8i",
        /// Two 32-bit signed integers.
        Rg32i "rg32i",
        /// Two 16-bit signed integers.
        Rg16i "rg16i",
        /// Two 8-bit signed integers.
        Rg8i "rg8i",
        /// A 32-bit signed integer.
        R32i "r32i",
        /// A 16-bit signed integer.
        R16i "r16i",
        /// An 8-bit signed integer.
        R8i "r8i",
        /// Four 32-bit integers.
        Rgba32ui "rgba32ui",
        /// Four 16-bit integers.
        Rgba16ui "rgba16ui",
        /// Four 8-bit integers.
        Rgba8ui "rgba8ui",
        /// Two 32-bit integers.
        Rg32ui "rg32ui",
        /// Two 16-bit integers.
        Rg16ui "rg16ui",
        /// Two 8-bit integers.
        Rg8ui "rg8ui",
        /// A 32-bit integer.
        R32ui "r32ui",
        /// A 16-bit integer.
        R16ui "r16ui",
        /// An 8-bit integer.
        R8ui "r8ui",
        /// A 64-bit signed integer; for atomics alone.
        R64i "r64i",
        /// A 64-bit integer; for atomics alone.
        R64ui "r64ui",
    }
}

impl ImageFormat {
    /// What the components are in registers.
    pub fn texel(self) -> Texel {
        use ImageFormat::*;
        match self {
            Rgba32i | Rgba16i | Rgba8i | Rg32i | Rg16i | Rg8i | R32i | R16i | R8i | R64i => Texel::Sint,
            Rgba32ui | Rgba16ui | Rgba8ui | Rg32ui | Rg16ui | Rg8ui | R32ui | R16ui | R8ui | R64ui => {
                Texel::Uint
            }
            UnknownSint => Texel::Sint,
            UnknownUint => Texel::Uint,
            _ => Texel::Float,
        }
    }

    /// Whether nothing but the components' kind is said.
    pub fn is_unknown(self) -> bool {
        matches!(self, ImageFormat::Unknown | ImageFormat::UnknownSint | ImageFormat::UnknownUint)
    }

    /// The format that says that of components of a kind.
    pub fn unknown(texel: Texel) -> ImageFormat {
        match texel {
            Texel::Float => ImageFormat::Unknown,
            Texel::Sint => ImageFormat::UnknownSint,
            Texel::Uint => ImageFormat::UnknownUint,
        }
    }
}

named_enum! {
    /// What an access outside a buffer does.
    OutOfBounds {
        /// Anything the host does; the front end vouches that it does not happen.
        Undefined "undefined",
        /// Loads give 0, stores are dropped.
        Zero "zero",
        /// Stores are dropped, loads give anything.
        Ignore "ignore",
        /// The invocation ends with a fault.
        Fault "fault",
    }
}

named_enum! {
    /// What a program may do to a resource.
    Access {
        /// Load.
        Read "read",
        /// Store.
        Write "write",
        /// Both.
        ReadWrite "readwrite",
    }
}

named_enum! {
    /// What shaders hand to each other.
    PayloadKind {
        /// A task shader to the mesh shaders it launches.
        Task "task",
        /// Between the shader that traces a ray and the shaders the ray invokes.
        Ray "ray",
        /// The same in the shaders that the ray meets.
        IncomingRay "incoming_ray",
        /// An intersection shader to those that its hits call.
        HitAttribute "hit_attribute",
        /// Attributes between an invocation and its hit objects.
        HitObjectAttribute "hit_object_attribute",
        /// Between a calling shader and the callable shader.
        Callable "callable",
        /// The same in the called shader.
        IncomingCallable "incoming_callable",
    }
}

/// What a resource is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResourceKind {
    /// Uniform buffer of so many bytes.
    UniformBuffer {
        /// Size in bytes, a multiple of 16.
        size: u32,
    },
    /// Storage buffer of a size known when it is bound.
    StorageBuffer {
        /// Allowed accesses.
        access: Access,
    },
    /// What follows the identifier in the record that a shader of ray tracing was found by, so many bytes.
    ShaderRecord {
        /// Size in bytes.
        size: u32,
    },
    /// Push constants of so many bytes.
    PushConstants {
        /// Size in bytes.
        size: u32,
    },
    /// Sampled texture.
    Texture {
        /// Shape.
        dim: Dim,
        /// Has layers.
        arrayed: bool,
        /// Has samples.
        multisampled: bool,
        /// What reading gives.
        texel: Texel,
    },
    /// Sampler.
    Sampler,
    /// Storage image.
    Image {
        /// Shape.
        dim: Dim,
        /// Has layers.
        arrayed: bool,
        /// Has several samples per texel.
        multisampled: bool,
        /// Allowed accesses.
        access: Access,
        /// Format in memory.
        format: ImageFormat,
    },
    /// Acceleration structure.
    AccelerationStructure,
    /// Memory that is handed to other shaders. It has no descriptor; calls name it by its binding.
    Payload {
        /// The shaders that the data passes between.
        kind: PayloadKind,
        /// Size in bytes.
        size: u32,
    },
    /// State of an inline ray query of an invocation. It has no descriptor.
    RayQuery,
    /// A hit or a miss that an invocation has found, and whose shader it may run. It has no descriptor, and starts with
    /// nothing in it.
    HitObject,
}

named_enum! {
    /// Name of a resource kind in the text form.
    ResourceName {
        /// Uniform buffer.
        Uniform "uniform",
        /// Storage buffer.
        Storage "storage",
        /// Push constants.
        Push "push",
        /// Texture.
        Texture "texture",
        /// Sampler.
        Sampler "sampler",
        /// Image.
        Image "image",
        /// Acceleration structure.
        Accel "accel",
        /// Shader record.
        Record "record",
        /// Payload.
        Payload "payload",
        /// Ray query.
        Query "query",
        /// Hit object.
        Hit "hit",
    }
}

impl ResourceKind {
    /// The kind's name in the text form.
    pub fn name(&self) -> ResourceName {
        match self {
            ResourceKind::UniformBuffer { .. } => ResourceName::Uniform,
            ResourceKind::StorageBuffer { .. } => ResourceName::Storage,
            ResourceKind::PushConstants { .. } => ResourceName::Push,
            ResourceKind::Texture { .. } => ResourceName::Texture,
            ResourceKind::Sampler => ResourceName::Sampler,
            ResourceKind::Image { .. } => ResourceName::Image,
            ResourceKind::AccelerationStructure => ResourceName::Accel,
            ResourceKind::ShaderRecord { .. } => ResourceName::Record,
            ResourceKind::Payload { .. } => ResourceName::Payload,
            ResourceKind::RayQuery => ResourceName::Query,
            ResourceKind::HitObject => ResourceName::Hit,
        }
    }
}

/// How many descriptors a resource has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// One, not an array.
    One,
    /// An array of so many.
    Fixed(u32),
    /// An array without bound.
    Unbounded,
}

/// A resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourceData {
    /// Name, unique in the module, of letters, digits and `_`.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Number of descriptors.
    pub count: Count,
    /// Accesses outside.
    pub oob: OutOfBounds,
}
