//! Immediates: what an instruction knows besides its operands. Plain data, small enough to live in the instruction.

use crate::entities::{Const, Func, Resource, Slot, Var};
use crate::ty::Type;
use cranelift_entity::packed_option::PackedOption;

macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// The variant called `name`.
            pub fn parse(name: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|v| v.name() == name)
            }
        }
    };
}
pub(crate) use named_enum;

named_enum! {
    /// A byte-addressed memory space.
    Space {
        /// Constant bank: one op for PICA200 `c[a0+i]`, Maxwell `c[b][o]`, DXIL cbuffer loads.
        ConstBank "bank",
        /// Uniform buffer.
        Uniform "uniform",
        /// Storage buffer.
        Storage "storage",
        /// Memory of the workgroup.
        Shared "shared",
        /// Memory of the invocation.
        Private "private",
        /// Push constants.
        Push "push",
        /// What shaders hand to each other: payloads, attributes of hits, parameters of callable shaders.
        Payload "payload",
        /// The record that a shader of ray tracing was found by.
        Record "record",
        /// 64-bit host pointers.
        Global "global",
        /// Memory of a CPU guest.
        Guest "guest",
        /// Register file of a CPU guest.
        GuestRegs "guest_regs",
    }
}

impl Space {
    /// Whether an access names the resource it goes to.
    pub fn has_resource(self) -> bool {
        matches!(
            self,
            Space::ConstBank | Space::Uniform | Space::Storage | Space::Push | Space::Payload | Space::Record
        )
    }

    /// Whether stores and atomics are allowed.
    pub fn is_writable(self) -> bool {
        !matches!(self, Space::ConstBank | Space::Uniform | Space::Push | Space::Record)
    }
}

named_enum! {
    /// Memory order of an access.
    Order {
        /// Not atomic, no order.
        None "none",
        /// Atomic, no order.
        Relaxed "relaxed",
        /// Later accesses stay after it.
        Acquire "acquire",
        /// Earlier accesses stay before it.
        Release "release",
        /// Both.
        AcqRel "acqrel",
    }
}

named_enum! {
    /// The invocations that a memory order or a barrier covers.
    Scope {
        /// This invocation alone.
        Invocation "invocation",
        /// The subgroup.
        Subgroup "subgroup",
        /// The workgroup.
        Workgroup "workgroup",
        /// Everything on the device.
        Device "device",
        /// Host and device.
        System "system",
    }
}

/// Where a memory access goes and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemInfo {
    /// The space.
    pub space: Space,
    /// The resource, where [`Space::has_resource`] holds.
    pub resource: PackedOption<Resource>,
    /// The address is a multiple of `1 << align_log2` bytes; the program vouches for it.
    pub align_log2: u8,
    /// Memory order; [`Order::None`] for plain accesses.
    pub order: Order,
    /// Scope of the order.
    pub scope: Scope,
    /// Neither removed nor merged.
    pub volatile: bool,
    /// The most significant byte comes first; in memory of a CPU guest only.
    pub big: bool,
    /// Some of a vector's lanes may be inside of the resource while others are outside: where back ends test that, they test
    /// lane by lane. Otherwise they may test the last one for all.
    pub apart: bool,
}

impl MemInfo {
    /// A plain access to `resource` in `space` aligned to `1 << align_log2` bytes.
    pub fn plain(space: Space, resource: Option<Resource>, align_log2: u8) -> MemInfo {
        MemInfo {
            space,
            resource: resource.into(),
            align_log2,
            order: Order::None,
            scope: Scope::Invocation,
            volatile: false,
            big: false,
            apart: false,
        }
    }
}

/// Lanes of a shuffle: 0 to 3 from the first operand, 4 to 7 from the second.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lanes {
    len: u8,
    lanes: [u8; 4],
}

impl Lanes {
    /// One to four lane numbers below 8; `None` otherwise.
    pub fn new(lanes: &[u8]) -> Option<Lanes> {
        let ok = (1..=4).contains(&lanes.len()) && lanes.iter().all(|&l| l < 8);
        ok.then(|| {
            let mut out = [0; 4];
            out[..lanes.len()].copy_from_slice(lanes);
            Lanes { len: lanes.len() as u8, lanes: out }
        })
    }

    /// The lane numbers.
    pub fn as_slice(&self) -> &[u8] {
        &self.lanes[..usize::from(self.len)]
    }
}

/// A binary float format: sign, `exp` exponent bits biased by `2^(exp-1) - 1`, `mant` mantissa bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatFormat {
    /// Exponent bits, 2 to 8.
    pub exp: u8,
    /// Mantissa bits, 1 to 22.
    pub mant: u8,
}

impl FloatFormat {
    /// The PICA200's 24-bit format.
    pub const F24: FloatFormat = FloatFormat { exp: 7, mant: 16 };

    /// Whether both fields are in range.
    pub fn is_valid(self) -> bool {
        (2..=8).contains(&self.exp) && (1..=22).contains(&self.mant)
    }
}

named_enum! {
    /// Shape of a texture or image.
    Dim {
        /// A line.
        D1 "1d",
        /// A plane.
        D2 "2d",
        /// A volume.
        D3 "3d",
        /// Six planes addressed by direction.
        Cube "cube",
        /// A buffer of texels.
        Buffer "buffer",
        /// The input attachment of a subpass.
        Subpass "subpass",
    }
}

/// Which optional operands a texture op has; they follow the coordinates in the order of the bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TexOperands(pub u8);

impl TexOperands {
    /// Reference value of a shadow comparison.
    pub const COMPARE: TexOperands = TexOperands(1);
    /// LOD bias.
    pub const BIAS: TexOperands = TexOperands(2);
    /// Explicit LOD.
    pub const LOD: TexOperands = TexOperands(4);
    /// Two gradients.
    pub const GRAD: TexOperands = TexOperands(8);
    /// Texel offset.
    pub const OFFSET: TexOperands = TexOperands(16);
    /// Least LOD.
    pub const MIN_LOD: TexOperands = TexOperands(32);
    /// Sample index.
    pub const SAMPLE: TexOperands = TexOperands(64);

    /// Every operand with its name in the text form.
    pub const NAMED: [(TexOperands, &str); 7] = [
        (TexOperands::COMPARE, "compare"),
        (TexOperands::BIAS, "bias"),
        (TexOperands::LOD, "lod"),
        (TexOperands::GRAD, "grad"),
        (TexOperands::OFFSET, "offset"),
        (TexOperands::MIN_LOD, "min_lod"),
        (TexOperands::SAMPLE, "sample"),
    ];
}

/// What a texture or image op works on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexInfo {
    /// Shape.
    pub dim: Dim,
    /// Whether a layer is part of the coordinates.
    pub arrayed: bool,
    /// Whether texels have several samples.
    pub multisampled: bool,
    /// Whether the op compares depths.
    pub shadow: bool,
    /// Optional operands.
    pub operands: TexOperands,
    /// Component of a gather.
    pub component: u8,
    /// Whether the op has a second result, a `bool`: that all it read is resident.
    pub residency: bool,
}

named_enum! {
    /// How a reduction or scan combines two values.
    Reduce {
        /// Integer sum.
        Iadd "iadd",
        /// Float sum.
        Fadd "fadd",
        /// Integer product.
        Imul "imul",
        /// Float product.
        Fmul "fmul",
        /// Signed least.
        Imin "imin",
        /// Signed greatest.
        Imax "imax",
        /// Unsigned least.
        Umin "umin",
        /// Unsigned greatest.
        Umax "umax",
        /// Float least.
        Fmin "fmin",
        /// Float greatest.
        Fmax "fmax",
        /// Bitwise and.
        And "and",
        /// Bitwise or.
        Or "or",
        /// Bitwise exclusive or.
        Xor "xor",
    }
}

/// Guest width and combination of a subgroup op.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SubgroupInfo {
    /// Lanes of the guest's subgroup; 0 means the host's.
    pub width: u8,
    /// Combination of reductions and scans.
    pub reduce: Reduce,
    /// Whether a scan leaves the lane's own value out.
    pub exclusive: bool,
}

/// Scope, memory and execution of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BarrierInfo {
    /// Whose memory operations are ordered and, with `exec`, who waits.
    pub scope: Scope,
    /// Whether shared memory is ordered.
    pub shared: bool,
    /// Whether storage buffers and global memory are ordered.
    pub storage: bool,
    /// Whether images are ordered.
    pub image: bool,
    /// Whether execution waits for everyone in the scope.
    pub exec: bool,
}

named_enum! {
    /// What an inline ray query or a hit object tells of its ray or of a hit.
    RayValue {
        /// What was hit, `i32`: 0 nothing; of a candidate 0 a triangle, 1 a box; of the committed hit 1 a triangle, 2 one
        /// that the program generated.
        Kind "kind",
        /// Distance along the ray, `f32`.
        T "t",
        /// Number of the instance in its structure, `i32`.
        InstanceId "instance_id",
        /// The instance's number by the application, `i32`.
        InstanceCustomIndex "instance_custom_index",
        /// The instance's offset into the table of hit groups, `i32`.
        InstanceOffset "instance_offset",
        /// Number of the geometry, `i32`.
        GeometryIndex "geometry_index",
        /// Number of the primitive, `i32`.
        PrimitiveIndex "primitive_index",
        /// Where in the triangle, `f32x2`.
        Barycentrics "barycentrics",
        /// Whether the triangle's front was hit, `bool`.
        FrontFace "front_face",
        /// Whether the box is opaque, `bool`.
        OpaqueBox "opaque_box",
        /// The ray's origin in the instance's space, `f32x3`.
        ObjectOrigin "object_origin",
        /// The ray's direction in the instance's space, `f32x3`.
        ObjectDirection "object_direction",
        /// A column of the matrix from the instance's space, `f32x3`.
        ObjectToWorld "object_to_world",
        /// A column of the matrix to the instance's space, `f32x3`.
        WorldToObject "world_to_object",
        /// The ray's flags, `i32`.
        Flags "flags",
        /// The ray's least distance, `f32`.
        TMin "t_min",
        /// The ray's origin, `f32x3`.
        Origin "origin",
        /// The ray's direction, `f32x3`.
        Direction "direction",
        /// Whether a hit object is a hit, `bool`.
        IsHit "is_hit",
        /// Whether a hit object is a miss, `bool`.
        IsMiss "is_miss",
        /// Whether a hit object is neither, `bool`.
        IsNop "is_nop",
        /// Kind of a hit object's hit, `i32`.
        HitKind "hit_kind",
        /// Record of a hit object in the table of its shaders, `i32`.
        Record "record",
        /// Address of what follows the identifier in that record, low word first, `i32x2`.
        RecordAddress "record_address",
    }
}

impl RayValue {
    /// The value's type.
    pub fn ty(self) -> Type {
        use RayValue::*;
        match self {
            Kind | InstanceId | InstanceCustomIndex | InstanceOffset | GeometryIndex | PrimitiveIndex
            | Flags | HitKind | Record => Type::I32,
            RecordAddress => Type::I32X2,
            T | TMin => Type::F32,
            Barycentrics => Type::F32X2,
            FrontFace | OpaqueBox | IsHit | IsMiss | IsNop => Type::BOOL,
            ObjectOrigin | ObjectDirection | ObjectToWorld | WorldToObject | Origin | Direction => {
                Type::F32X3
            }
        }
    }

    /// Whether it is of a matrix, of whose four columns one is meant.
    pub fn is_matrix(self) -> bool {
        matches!(self, RayValue::ObjectToWorld | RayValue::WorldToObject)
    }

    /// Whether ray queries tell it.
    pub fn is_of_queries(self) -> bool {
        use RayValue::*;
        !matches!(self, IsHit | IsMiss | IsNop | HitKind | Record | RecordAddress)
    }

    /// Whether hit objects tell it.
    pub fn is_of_hits(self) -> bool {
        !matches!(
            self,
            RayValue::Kind
                | RayValue::InstanceOffset
                | RayValue::Barycentrics
                | RayValue::FrontFace
                | RayValue::OpaqueBox
        )
    }
}

/// What is asked of an inline ray query or a hit object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QueryInfo {
    /// The query or the object.
    pub query: Resource,
    /// What is asked.
    pub value: RayValue,
    /// Of the committed hit, and not of the candidate.
    pub committed: bool,
    /// Column of a matrix, 0 to 3.
    pub column: u8,
}

/// What an op on a hit object works on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HitInfo {
    /// The object.
    pub object: Resource,
    /// The payload of the ray or of the shader, or the hit's attributes.
    pub payload: Resource,
    /// The query whose hit it takes over.
    pub query: PackedOption<Resource>,
}

/// A specialization constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SpecInfo {
    /// The number that the host knows it by.
    pub id: u32,
    /// Its value where the host gives it none.
    pub default: u32,
}

/// The immediate of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imm {
    /// None.
    None,
    /// A constant of the function's pool.
    Const(Const),
    /// A slot.
    Slot(Slot),
    /// An input or output variable.
    Var(Var),
    /// A memory access.
    Mem(MemInfo),
    /// One lane, 0 to 3.
    Lane(u8),
    /// Several lanes.
    Lanes(Lanes),
    /// A called function.
    Func(Func),
    /// A float format.
    Format(FloatFormat),
    /// A texture or image access.
    Tex(TexInfo),
    /// A subgroup op.
    Subgroup(SubgroupInfo),
    /// A barrier.
    Barrier(BarrierInfo),
    /// A resource.
    Resource(Resource),
    /// A vertex stream, 0 to 3.
    Stream(u8),
    /// A question to a ray query or a hit object.
    Query(QueryInfo),
    /// A hit object with memory or a query.
    Hit(HitInfo),
    /// A specialization constant.
    Spec(SpecInfo),
}

impl Imm {
    /// Which kind this is.
    pub fn kind(&self) -> ImmKind {
        match self {
            Imm::None => ImmKind::None,
            Imm::Const(_) => ImmKind::Const,
            Imm::Slot(_) => ImmKind::Slot,
            Imm::Var(_) => ImmKind::Var,
            Imm::Mem(_) => ImmKind::Mem,
            Imm::Lane(_) => ImmKind::Lane,
            Imm::Lanes(_) => ImmKind::Lanes,
            Imm::Func(_) => ImmKind::Func,
            Imm::Format(_) => ImmKind::Format,
            Imm::Tex(_) => ImmKind::Tex,
            Imm::Subgroup(_) => ImmKind::Subgroup,
            Imm::Barrier(_) => ImmKind::Barrier,
            Imm::Resource(_) => ImmKind::Resource,
            Imm::Stream(_) => ImmKind::Stream,
            Imm::Query(_) => ImmKind::Query,
            Imm::Hit(_) => ImmKind::Hit,
            Imm::Spec(_) => ImmKind::Spec,
        }
    }
}

named_enum! {
    /// The kind of immediate an op takes. The text form is in the docs of each variant.
    ImmKind {
        /// Nothing.
        None "none",
        /// Lanes as hexadecimal bits, `0x3f800000` or `[0x1, 0x2]`; floats may be written `1.5`.
        Const "constant",
        /// `r0`: the slot's name.
        Slot "slot",
        /// `%pos`: the variable's name.
        Var "variable",
        /// `uniform @regs align 16`, then order, scope, `volatile` and `big` if not plain.
        Mem "memory",
        /// `2`.
        Lane "lane",
        /// `[0 1 6 7]`.
        Lanes "lanes",
        /// `@helper`.
        Func "function",
        /// `e7m16`.
        Format "format",
        /// `2d array ms shadow lod offset comp 1`.
        Tex "texture",
        /// `width 32 iadd exclusive`.
        Subgroup "subgroup",
        /// `workgroup shared storage image exec`.
        Barrier "barrier",
        /// `@regs`.
        Resource "resource",
        /// Nothing for the first stream, `stream 1` for another.
        Stream "stream",
        /// `@query t committed`, `@query object_to_world column 3`.
        Query "query",
        /// `@hit @payload`, `@hit @attributes query @query`.
        Hit "hit",
        /// `id 3 default 4`.
        Spec "specialization",
    }
}
