//! Inputs and outputs of a stage.

use crate::entities::Var;
use crate::imm::named_enum;
use crate::ty::Type;

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
        /// Cull distances, an array of `f32`: a primitive whose vertices are all outside one plane is dropped.
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
        /// The viewports that the primitive goes to, a bit each, `i32`.
        ViewportMask "viewport_mask",
        /// Number of the view, `i32`.
        ViewIndex "view_index",
        /// Position within a point, `f32x2`.
        PointCoord "point_coord",
        /// The instance that the draw starts with, `i32`.
        BaseInstance "base_instance",
        /// The number that the draw's vertices are counted from, `i32`.
        BaseVertex "base_vertex",
        /// The draw among those of a multi-draw, `i32`.
        DrawIndex "draw_index",
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
