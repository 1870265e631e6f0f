//! A module: functions, interface, resources, and the facts about how it is run.

use crate::entities::{Func, Resource, Var};
use crate::func::Function;
use crate::imm::{Dim, named_enum};
use crate::ty::Type;
use cranelift_entity::PrimaryMap;
use cranelift_entity::packed_option::PackedOption;

named_enum! {
    /// What a module is run as.
    Stage {
        /// Vertex shader.
        Vertex "vertex",
        /// Tessellation control shader.
        TessControl "tess_control",
        /// Tessellation evaluation shader.
        TessEval "tess_eval",
        /// Geometry shader.
        Geometry "geometry",
        /// Fragment shader.
        Fragment "fragment",
        /// Compute kernel.
        Compute "compute",
        /// Mesh shader.
        Mesh "mesh",
        /// Task (amplification) shader.
        Task "task",
        /// Ray generation shader.
        RayGen "ray_gen",
        /// Intersection shader.
        Intersection "intersection",
        /// Any-hit shader.
        AnyHit "any_hit",
        /// Closest-hit shader.
        ClosestHit "closest_hit",
        /// Miss shader.
        Miss "miss",
        /// Callable shader.
        Callable "callable",
        /// Code of a CPU guest.
        Cpu "cpu",
    }
}

named_enum! {
    /// Direction of an interface variable.
    Direction {
        /// Read.
        Input "input",
        /// Written.
        Output "output",
    }
}

named_enum! {
    /// A value the host's pipeline provides or takes. Types and indices are 32-bit.
    Builtin {
        /// Clip-space position, `f32x4`.
        Position "position",
        /// Point size, `f32`.
        PointSize "point_size",
        /// Distances to clip planes, an array of `f32`.
        ClipDistance "clip_distance",
        /// Index of the vertex, `i32`.
        VertexIndex "vertex_index",
        /// Index of the instance, `i32`.
        InstanceIndex "instance_index",
        /// Index of the primitive, `i32`.
        PrimitiveId "primitive_id",
        /// Index within a patch or of a geometry invocation, `i32`.
        InvocationId "invocation_id",
        /// Window position and 1/w, `f32x4`.
        FragCoord "frag_coord",
        /// Whether the front is seen, `bool`.
        FrontFacing "front_facing",
        /// Fragment depth, `f32`.
        FragDepth "frag_depth",
        /// Coverage, `i32`.
        SampleMask "sample_mask",
        /// Index of the sample, `i32`.
        SampleId "sample_id",
        /// Layer of a layered target, `i32`.
        Layer "layer",
        /// Index of the viewport, `i32`.
        ViewportIndex "viewport_index",
        /// Position in a patch, `f32x3`.
        TessCoord "tess_coord",
        /// Outer levels, an array of `f32`.
        TessLevelOuter "tess_level_outer",
        /// Inner levels, an array of `f32`.
        TessLevelInner "tess_level_inner",
        /// Compute: invocation in the dispatch, `i32x3`.
        GlobalInvocationId "global_invocation_id",
        /// Compute: invocation in the workgroup, `i32x3`.
        LocalInvocationId "local_invocation_id",
        /// Compute: workgroup in the dispatch, `i32x3`.
        WorkgroupId "workgroup_id",
        /// Compute: workgroups in the dispatch, `i32x3`.
        NumWorkgroups "num_workgroups",
        /// Compute: invocation in the workgroup, counted, `i32`.
        LocalInvocationIndex "local_invocation_index",
    }
}

named_enum! {
    /// How an interface variable is interpolated.
    Interpolation {
        /// Perspective-correct.
        Smooth "smooth",
        /// Linear in the window.
        Linear "linear",
        /// The provoking vertex's.
        Flat "flat",
    }
}

/// What an interface variable is connected to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Semantic {
    /// A location, and the first component within it, 0 to 3.
    Location {
        /// Location number.
        location: u32,
        /// First component.
        component: u8,
    },
    /// A builtin.
    Builtin(Builtin),
}

/// An input or output variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarData {
    /// Name, unique in the module, of letters, digits and `_`.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Type of the value, or of an element of an array.
    pub ty: Type,
    /// Connection.
    pub semantic: Semantic,
    /// Interpolation.
    pub interpolation: Interpolation,
    /// Number of elements if it is an array.
    pub array: Option<u32>,
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
    },
    /// Sampler.
    Sampler,
    /// Storage image.
    Image {
        /// Shape.
        dim: Dim,
        /// Has layers.
        arrayed: bool,
        /// Allowed accesses.
        access: Access,
    },
    /// Acceleration structure.
    AccelerationStructure,
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

/// A line of the guest's listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListingLine {
    /// Guest address.
    pub address: u32,
    /// The instruction's text.
    pub text: String,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// What it is run as.
    pub stage: Stage,
    /// A name for people; any text.
    pub name: String,
    /// Functions.
    pub funcs: PrimaryMap<Func, Function>,
    /// The one that is run.
    pub entry: PackedOption<Func>,
    /// Inputs and outputs.
    pub vars: PrimaryMap<Var, VarData>,
    /// Resources.
    pub resources: PrimaryMap<Resource, ResourceData>,
    /// Invocations of a workgroup along x, y and z.
    pub workgroup: [u32; 3],
    /// Bytes of memory shared by the workgroup.
    pub shared_size: u32,
    /// The guest's listing in order of addresses; may be empty. Not part of the text form.
    pub listing: Vec<ListingLine>,
}

impl Module {
    /// An empty module.
    pub fn new(stage: Stage, name: impl Into<String>) -> Module {
        Module {
            stage,
            name: name.into(),
            funcs: PrimaryMap::new(),
            entry: None.into(),
            vars: PrimaryMap::new(),
            resources: PrimaryMap::new(),
            workgroup: [1; 3],
            shared_size: 0,
            listing: Vec::new(),
        }
    }

    /// The entry function; `None` if it was never set.
    pub fn entry_func(&self) -> Option<&Function> {
        self.entry.expand().and_then(|f| self.funcs.get(f))
    }

    /// The listing's text for a guest address.
    pub fn listing_at(&self, address: u32) -> Option<&str> {
        let i = self.listing.binary_search_by_key(&address, |l| l.address).ok()?;
        Some(&self.listing[i].text)
    }
}
