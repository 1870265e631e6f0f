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

/// The tessellator before an evaluation shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tessellation {
    /// What it divides.
    pub domain: TessDomain,
    /// Where it divides.
    pub spacing: TessSpacing,
    /// Triangles are clockwise.
    pub clockwise: bool,
    /// It makes points.
    pub points: bool,
}
