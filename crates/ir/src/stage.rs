//! What a module says of the fixed functions around its stage, and of how its guest runs it.
//!
//! These facts belong to the shader, not to the host: back ends read them from the [`Module`](crate::Module), the text
//! form prints them, and the verifier checks that a stage has the ones it cannot do without.

use crate::imm::named_enum;

/// What a geometry shader takes and makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

named_enum! {
    /// What a tessellator divides.
    TessDomain {
        /// Lines.
        Isolines "isolines",
        /// Triangles.
        Triangles "triangles",
        /// Quadrilaterals.
        Quads "quads",
    }
}

named_enum! {
    /// Where a tessellator divides edges.
    TessSpacing {
        /// In equal parts.
        Equal "equal",
        /// In an odd number of parts.
        FractionalOdd "fractional_odd",
        /// In an even number of parts.
        FractionalEven "fractional_even",
    }
}

/// The tessellator between a control and an evaluation shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tessellation {
    /// What it divides.
    pub domain: TessDomain,
    /// Where it divides; `None` if the other tessellation stage says.
    pub spacing: Option<TessSpacing>,
    /// Whether triangles are clockwise; `None` if the other tessellation stage says.
    pub clockwise: Option<bool>,
    /// Whether it makes points.
    pub points: bool,
}

/// What a mesh shader makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mesh {
    /// Vertices of a primitive, 1 to 3.
    pub primitive_vertices: u32,
    /// Most vertices a workgroup makes.
    pub max_vertices: u32,
    /// Most primitives a workgroup makes.
    pub max_primitives: u32,
}

named_enum! {
    /// How the depth a fragment shader writes compares with that of the primitive.
    Depth {
        /// In any way.
        Any "any",
        /// It is not less.
        Greater "greater",
        /// It is not greater.
        Less "less",
    }
}

/// The fixed functions around a stage. The default is that of a stage that says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pipeline {
    /// Fragment stage: depth and stencil tests come before the shader.
    pub early_fragment_tests: bool,
    /// Fragment stage: what the shader does to depth.
    pub depth: Depth,
    /// Fragment stage: the output at location 1 is the second source of the blending of target 0.
    pub dual_source: bool,
    /// Stages before the rasteriser: equal computations of a position give equal bits in all such stages.
    pub invariant_position: bool,
    /// Geometry stage: what it takes and makes.
    pub geometry: Option<Geometry>,
    /// Tessellation control stage: vertices of an output patch.
    pub patch_vertices: Option<u32>,
    /// Tessellation stages: the tessellator, as far as the stage says.
    pub tessellation: Option<Tessellation>,
    /// Mesh stage: what it makes.
    pub mesh: Option<Mesh>,
}

impl Default for Pipeline {
    fn default() -> Pipeline {
        Pipeline {
            early_fragment_tests: false,
            depth: Depth::Any,
            dual_source: false,
            invariant_position: false,
            geometry: None,
            patch_vertices: None,
            tessellation: None,
            mesh: None,
        }
    }
}

named_enum! {
    /// What the guest asks of denormals of 32-bit floats. Ops that flush say so by a flag (`ftz`); this is about all others.
    Denormals {
        /// Nothing: the host may flush them.
        Any "any",
        /// They are neither flushed nor read as zero.
        Preserve "preserve",
    }
}

named_enum! {
    /// How textures meet their samplers.
    Samplers {
        /// A texture that is only ever sampled is bound together with its sampler, at the texture's binding.
        Combined "combined",
        /// Textures and samplers are bound apart.
        Separate "separate",
    }
}
