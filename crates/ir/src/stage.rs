//! What stages of the graphics pipeline are told beside their module: back ends take it with their options.

/// What a geometry shader takes and makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Vertices of an input primitive: 1, 2, 3, 4 (lines with adjacency) or 6 (triangles with adjacency).
    pub input_vertices: u32,
    /// Vertices of an output primitive: 1 for points, 2 for line strips, 3 for triangle strips.
    pub output_vertices: u32,
    /// Most vertices an invocation emits.
    pub max_vertices: u32,
    /// Invocations per primitive, at least 1.
    pub invocations: u32,
}

/// What a tessellator divides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TessDomain {
    /// Lines.
    Isolines,
    /// Triangles.
    #[default]
    Triangles,
    /// Quadrilaterals.
    Quads,
}

/// Where a tessellator divides edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TessSpacing {
    /// In equal parts.
    #[default]
    Equal,
    /// In an odd number of parts.
    FractionalOdd,
    /// In an even number of parts.
    FractionalEven,
}

/// The tessellator between a control and an evaluation shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tessellation {
    /// What it divides.
    pub domain: TessDomain,
    /// Where it divides; `None` if the other tessellation stage says.
    pub spacing: Option<TessSpacing>,
    /// Triangles are clockwise; `None` if the other tessellation stage says.
    pub clockwise: Option<bool>,
    /// It makes points.
    pub points: bool,
}

/// What a mesh shader makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mesh {
    /// Vertices of a primitive, 1 to 3.
    pub primitive_vertices: u32,
    /// Most vertices a workgroup makes.
    pub max_vertices: u32,
    /// Most primitives a workgroup makes.
    pub max_primitives: u32,
}

/// How the depth a fragment shader puts out compares with that of the primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Depth {
    /// In any way.
    #[default]
    Any,
    /// It is not less.
    Greater,
    /// It is not greater.
    Less,
}

/// All of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pipeline {
    /// Depth and stencil tests come before the fragment shader.
    pub early_fragment_tests: bool,
    /// What a fragment shader does to depth.
    pub depth: Depth,
    /// What a geometry shader takes and makes.
    pub geometry: Option<Geometry>,
    /// Vertices of an output patch of a tessellation control shader.
    pub patch_vertices: Option<u32>,
    /// The tessellator, as far as a tessellation shader says.
    pub tessellation: Option<Tessellation>,
    /// What a mesh shader makes.
    pub mesh: Option<Mesh>,
}
