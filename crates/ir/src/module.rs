//! A module: functions, interface, resources, and the facts about how it is run.

use crate::entities::{Func, Resource, Var};
use crate::func::Function;
use crate::imm::{Dim, named_enum};
use crate::stage::{Denormals, Pipeline, Samplers};
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
        /// Distances to planes, of which primitives that are outside of one as a whole are dropped, an array of `f32`.
        CullDistance "cull_distance",
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
        /// The fragment's reference value of the stencil test, `i32`.
        StencilRef "stencil_ref",
        /// Whether the pixel is covered as a whole, `bool`.
        FullyCovered "fully_covered",
        /// Where in the triangle, perspective-correct, `f32x3`.
        BaryCoord "bary_coord",
        /// Where in the triangle, linear in the window, `f32x3`.
        BaryCoordLinear "bary_coord_linear",
        /// Pixels per fragment: the logarithm of rows, plus 4 times that of columns, `i32`.
        ShadingRate "shading_rate",
        /// Coverage, `i32`.
        SampleMask "sample_mask",
        /// Index of the sample, `i32`.
        SampleId "sample_id",
        /// Layer of a layered target, `i32`.
        Layer "layer",
        /// Index of the viewport, `i32`.
        ViewportIndex "viewport_index",
        /// Number of the view, `i32`.
        ViewIndex "view_index",
        /// Position within a point, `f32x2`.
        PointCoord "point_coord",
        /// The instance that the draw starts with, `i32`.
        BaseInstance "base_instance",
        /// Vertices of the input patch, `i32`.
        PatchVertices "patch_vertices",
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
        /// Mesh: a primitive's vertices, `i32`, `i32x2` or `i32x3`.
        PrimitiveIndices "primitive_indices",
        /// Mesh: whether the primitive is dropped, `bool`.
        CullPrimitive "cull_primitive",
        /// Rays: invocation in the launch, `i32x3`.
        LaunchId "launch_id",
        /// Rays: invocations of the launch, `i32x3`.
        LaunchSize "launch_size",
        /// Rays: origin, `f32x3`.
        WorldRayOrigin "world_ray_origin",
        /// Rays: direction, `f32x3`.
        WorldRayDirection "world_ray_direction",
        /// Rays: origin in the instance's space, `f32x3`.
        ObjectRayOrigin "object_ray_origin",
        /// Rays: direction in the instance's space, `f32x3`.
        ObjectRayDirection "object_ray_direction",
        /// Rays: least distance, `f32`.
        RayTMin "ray_t_min",
        /// Rays: flags, `i32`.
        RayFlags "ray_flags",
        /// Rays: kind of the hit, `i32`.
        HitKind "hit_kind",
        /// Rays: number of the instance in its structure, `i32`.
        InstanceId "instance_id",
        /// Rays: the instance's number by the application, `i32`.
        InstanceCustomIndex "instance_custom_index",
        /// Rays: number of the geometry, `i32`.
        GeometryIndex "geometry_index",
        /// Rays: the columns of the matrix from the instance's space, an array of four `f32x3`.
        ObjectToWorld "object_to_world",
        /// Rays: the columns of the matrix to the instance's space, an array of four `f32x3`.
        WorldToObject "world_to_object",
    }
}

named_enum! {
    /// How an interface variable is interpolated.
    Interpolation {
        /// Perspective-correct.
        Smooth "smooth",
        /// Linear in the window.
        Linear "linear",
        /// Perspective-correct, at the centroid of what is covered.
        Centroid "centroid",
        /// Linear in the window, at the centroid of what is covered.
        LinearCentroid "linear_centroid",
        /// Perspective-correct, at the sample.
        Sample "sample",
        /// Linear in the window, at the sample.
        LinearSample "linear_sample",
        /// The provoking vertex's.
        Flat "flat",
        /// One value for the whole patch (tessellation).
        Patch "patch",
        /// Not at all: an array of the three vertices' values (fragments).
        PerVertex "per_vertex",
        /// One value for the whole primitive (meshes, and fragments of theirs).
        PerPrimitive "per_primitive",
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
    /// Number of elements of each element: of clip and cull distances that exist once per vertex.
    pub inner: Option<u32>,
    /// Vertex stream that a geometry shader's output belongs to, 0 to 3.
    pub stream: u8,
}

/// Where the values of an output go, beside the rasteriser: transform feedback, or stream output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capture {
    /// The output.
    pub var: Var,
    /// The buffer, 0 to 3.
    pub buffer: u32,
    /// Byte offset in a vertex, a multiple of 4.
    pub offset: u32,
    /// Bytes of a vertex, a multiple of 4; the same for all of a buffer.
    pub stride: u32,
}

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
            _ => Texel::Float,
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
        /// Whoever traces a ray to the shaders it meets, and back.
        Ray "ray",
        /// The same in the shaders that the ray meets.
        IncomingRay "incoming_ray",
        /// An intersection shader to those that its hits call.
        HitAttribute "hit_attribute",
        /// Whoever calls a shader to the one called, and back.
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
        /// From whom to whom.
        kind: PayloadKind,
        /// Size in bytes.
        size: u32,
    },
    /// State of an inline ray query of an invocation. It has no descriptor.
    RayQuery,
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
    /// Outputs that are captured, in the order of their variables.
    pub captures: Vec<Capture>,
    /// Resources.
    pub resources: PrimaryMap<Resource, ResourceData>,
    /// Invocations of a workgroup along x, y and z. Lanes of its subgroups follow each other by rows, as
    /// `local_invocation_index` counts, and so do the four of each quad.
    pub workgroup: [u32; 3],
    /// Bytes of memory shared by the workgroup.
    pub shared_size: u32,
    /// The fixed functions around the stage.
    pub pipeline: Pipeline,
    /// What the guest asks of denormals.
    pub denormals: Denormals,
    /// How textures meet their samplers.
    pub samplers: Samplers,
    /// Whether the guest's compiler has optimised the code, so that the pass list does less.
    pub optimized: bool,
    /// Whether floats are the host's, not the guest's: a pass dropped what only the guest does with denormals, zeros, NaNs
    /// and rounding. Back ends say so in their output.
    pub relaxed_floats: bool,
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
            captures: Vec::new(),
            resources: PrimaryMap::new(),
            workgroup: [1; 3],
            shared_size: 0,
            pipeline: Pipeline::default(),
            denormals: Denormals::Any,
            samplers: Samplers::Combined,
            optimized: false,
            relaxed_floats: false,
            listing: Vec::new(),
        }
    }

    /// The entry function; `None` if it was never set.
    pub fn entry_func(&self) -> Option<&Function> {
        self.entry.expand().and_then(|f| self.funcs.get(f))
    }

    /// Captures every output at a location, and the position, in buffer 0: position first, then by location and
    /// component, each directly behind the one before (outputs of 64-bit lanes at multiples of 8 bytes).
    pub fn capture_outputs(&mut self) {
        let mut order: Vec<(u32, u8, Var)> = self
            .vars
            .iter()
            .filter(|(_, data)| data.direction == Direction::Output)
            .filter_map(|(var, data)| match data.semantic {
                Semantic::Location { location, component } => {
                    Some((location.saturating_add(1), component, var))
                }
                Semantic::Builtin(Builtin::Position) => Some((0, 0, var)),
                Semantic::Builtin(_) => None,
            })
            .collect();
        order.sort_unstable_by_key(|&(location, component, var)| (location, component, var.as_u32()));
        let (mut end, mut widest) = (0u32, 4u32);
        self.captures.clear();
        for (_, _, var) in order {
            let data = &self.vars[var];
            let lane = data.ty.kind().bits().div_ceil(8).max(4);
            widest = widest.max(lane);
            let offset = end.next_multiple_of(lane);
            self.captures.push(Capture { var, buffer: 0, offset, stride: 0 });
            let elements = data.array.unwrap_or(1);
            end = offset.saturating_add((lane * u32::from(data.ty.lanes())).saturating_mul(elements));
        }
        let stride = end.next_multiple_of(widest);
        self.captures.iter_mut().for_each(|capture| capture.stride = stride);
        self.captures.sort_unstable_by_key(|capture| capture.var);
    }

    /// The listing's text for a guest address.
    pub fn listing_at(&self, address: u32) -> Option<&str> {
        let i = self.listing.binary_search_by_key(&address, |l| l.address).ok()?;
        Some(&self.listing[i].text)
    }
}
