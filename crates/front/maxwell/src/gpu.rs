//! What only the running GPU knows: what handles stand for, and the state of the pipeline.
//!
//! A lifted shader depends on every answer given here: a cache keeps them with the shader (`xenoglot-cache`), and it is
//! lifted anew when one would be another.

use serde::{Deserialize, Serialize};
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_ir::stage;

/// A word of a constant bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ConstantWord {
    /// The bank.
    pub bank: u8,
    /// Byte offset, a multiple of 4.
    pub offset: u32,
}

/// Where a program takes the handle of a texture or image from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle {
    /// The handle; with `sampler` only its texture part.
    pub texture: ConstantWord,
    /// Where the sampler part comes from, if it is combined by the program.
    pub sampler: Option<ConstantWord>,
}

impl Handle {
    /// A handle that the program computes, or has from memory. All textures of a shape that such handles name are one array,
    /// and so are images: element n is what descriptor n describes, a texture with the sampler that it is used with. How
    /// many there are [`GpuAccessor::array_length`] says (1,024 else); numbers beyond name the last.
    pub const TABLE: Handle = Handle { texture: ConstantWord { bank: u8::MAX, offset: 0 }, sampler: None };
}

/// What a texture is, as its descriptor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Its shape: dimensions, layers, samples; that of the instruction if unknown.
    pub shape: Option<Shape>,
    /// What reading gives.
    pub texel: Texel,
    /// Coordinates run from 0 to 1, not to the size.
    pub normalized: bool,
}

impl Default for Texture {
    fn default() -> Texture {
        Texture { shape: None, texel: Texel::Float, normalized: true }
    }
}

/// The shape of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Dimensions.
    pub dim: Dim,
    /// Has layers.
    pub arrayed: bool,
    /// Has samples.
    pub multisampled: bool,
}

/// Input primitives of a geometry shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputPrimitive {
    /// Points.
    Points,
    /// Lines.
    Lines,
    /// Lines with adjacency.
    LinesAdjacency,
    /// Triangles.
    #[default]
    Triangles,
    /// Triangles with adjacency.
    TrianglesAdjacency,
}

impl InputPrimitive {
    /// Vertices of one.
    pub fn vertices(self) -> u32 {
        match self {
            InputPrimitive::Points => 1,
            InputPrimitive::Lines => 2,
            InputPrimitive::Triangles => 3,
            InputPrimitive::LinesAdjacency => 4,
            InputPrimitive::TrianglesAdjacency => 6,
        }
    }
}

/// What a tessellator divides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TessSpacing {
    /// In equal parts.
    #[default]
    Equal,
    /// In an odd number of parts, two of them shorter.
    FractionalOdd,
    /// In an even number of parts, two of them shorter.
    FractionalEven,
}

/// State of the tessellator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tessellator {
    /// What it divides.
    pub domain: TessDomain,
    /// Where it divides.
    pub spacing: TessSpacing,
    /// Triangles are clockwise.
    pub clockwise: bool,
    /// It makes points.
    pub points: bool,
}

impl From<Tessellator> for stage::Tessellation {
    fn from(tessellator: Tessellator) -> stage::Tessellation {
        stage::Tessellation {
            domain: match tessellator.domain {
                TessDomain::Isolines => stage::TessDomain::Isolines,
                TessDomain::Triangles => stage::TessDomain::Triangles,
                TessDomain::Quads => stage::TessDomain::Quads,
            },
            spacing: Some(match tessellator.spacing {
                TessSpacing::Equal => stage::TessSpacing::Equal,
                TessSpacing::FractionalOdd => stage::TessSpacing::FractionalOdd,
                TessSpacing::FractionalEven => stage::TessSpacing::FractionalEven,
            }),
            clockwise: Some(tessellator.clockwise),
            points: tessellator.points,
        }
    }
}

/// A comparison of the alpha test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AlphaTest {
    /// Fragments pass never.
    Never,
    /// Alpha below the reference passes.
    Less,
    /// Alpha equal to it passes.
    Equal,
    /// Alpha not above it passes.
    LessEqual,
    /// Alpha above it passes.
    Greater,
    /// Alpha unequal to it passes.
    NotEqual,
    /// Alpha not below it passes.
    GreaterEqual,
}

/// State of the graphics pipeline that shaders depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphicsState {
    /// Input primitives of the geometry shader.
    pub input_primitive: InputPrimitive,
    /// The tessellator.
    pub tessellator: Tessellator,
    /// Depth and stencil tests come before the fragment shader.
    pub early_fragment_tests: bool,
    /// The fragment shader runs for each sample.
    pub per_sample: bool,
    /// Samples of a pixel.
    pub samples: u32,
    /// Clip space has depths from -1 to 1, not from 0: only the last stage before the rasteriser is to be told.
    pub minus_one_to_one_depth: bool,
    /// Clip space is upside down against the host's: only the last stage before the rasteriser is to be told.
    pub flip_y: bool,
    /// What SR_Y_DIRECTION reads: rows of the window count downwards, or upwards.
    pub y_down: bool,
    /// Size of points whose shader does not write one.
    pub point_size: Option<f32>,
    /// The alpha test on target 0, and its reference.
    pub alpha_test: Option<(AlphaTest, f32)>,
    /// Alpha to coverage dithers: fragments of target 0 are discarded by their alpha against a pattern of 2x2 pixels, where
    /// the host does not do it.
    pub alpha_to_coverage_dither: bool,
    /// Targets 0 and 1 are the two sources of the blending of target 0.
    pub dual_source_blend: bool,
    /// Positions are in pixels of a window of this width and height, the viewport's transformation being off: only the last
    /// stage before the rasteriser is to be told.
    pub window_positions: Option<[f32; 2]>,
    /// Three words of a constant bank are the draw's: base vertex, base instance and number. Vertex shaders take the
    /// host's in place of what is there.
    pub draw_constants: Option<ConstantWord>,
    /// Front and back colours differ: the fragment shader takes those of the side it sees.
    pub two_sided_colors: bool,
    /// First location of legacy attributes: colours, fog, texture coordinates.
    pub legacy_location: u32,
}

impl Default for GraphicsState {
    fn default() -> GraphicsState {
        GraphicsState {
            input_primitive: InputPrimitive::default(),
            tessellator: Tessellator::default(),
            early_fragment_tests: false,
            per_sample: false,
            samples: 1,
            minus_one_to_one_depth: false,
            flip_y: false,
            y_down: false,
            point_size: None,
            alpha_test: None,
            alpha_to_coverage_dither: false,
            dual_source_blend: false,
            window_positions: None,
            draw_constants: None,
            two_sided_colors: false,
            legacy_location: 16,
        }
    }
}

/// What the host can do beyond what every host can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// Arrays of textures may be indexed by what differs between invocations.
    pub nonuniform_indexing: bool,
    /// The number of the first instance can be read.
    pub draw_parameters: bool,
    /// Vertex and tessellation shaders may write layer and viewport. Else they write them to
    /// [`LAYER_LOCATION`](crate::lift::layout::LAYER_LOCATION) and [`VIEWPORT_LOCATION`](crate::lift::layout::VIEWPORT_LOCATION), for a
    /// geometry shader that [`layer_shader`](crate::lift::layer_shader) makes.
    pub layer_from_vertex: bool,
    /// Shaders may write the viewports that a primitive goes to as a mask, an extension of NVIDIA's. Else geometry shaders have an
    /// invocation for each viewport, and other shaders write the mask to [`MASK_LOCATION`](crate::lift::layout::MASK_LOCATION), for
    /// a geometry shader that [`layer_shader`](crate::lift::layer_shader) makes.
    pub viewport_mask: bool,
    /// Gathers of planes take the texels beside a coordinate on the edge between texels by another rule than the guest's:
    /// coordinates move by 1/2^(n+1) texels, n being this.
    pub gather_bias: Option<u8>,
}

/// What of a vertex is captured in a buffer of transform feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Bytes of a vertex, a multiple of 4.
    pub stride: u32,
    /// For each word of a vertex, a quarter of the attribute's byte offset, as the machine's registers have it: 28 to 31 for
    /// the position, `32 + 4 * location + component` for generic attributes. [`Captured::NOTHING`] leaves a word out.
    pub words: Vec<u8>,
}

impl Captured {
    /// A word that nothing is written to.
    pub const NOTHING: u8 = 0xff;
}

/// Buffers of transform feedback.
pub const CAPTURE_BUFFERS: u32 = 4;

impl Default for Host {
    fn default() -> Host {
        Host {
            nonuniform_indexing: true,
            draw_parameters: true,
            layer_from_vertex: true,
            viewport_mask: false,
            gather_bias: None,
        }
    }
}

/// The GPU that a program is lifted for. Every answer has a default.
pub trait GpuAccessor {
    /// The constant bank that bound handles are words of.
    fn handle_bank(&self) -> u8 {
        2
    }

    /// What a texture is.
    fn texture(&self, _handle: Handle) -> Texture {
        Texture::default()
    }

    /// How many handles follow this one in the array that a program indexes.
    fn array_length(&self, _handle: Handle) -> Option<u32> {
        None
    }

    /// The format of an image accessed as texels, not as raw data.
    fn image_format(&self, _handle: Handle) -> ImageFormat {
        ImageFormat::Unknown
    }

    /// What the components of a vertex attribute are.
    fn vertex_attribute(&self, _location: u32) -> Texel {
        Texel::Float
    }

    /// A vertex attribute of integers is one of floats to the program, as numbers of their values (scaled formats, which
    /// hosts may lack). Asked of attributes of integers only.
    fn scaled_attribute(&self, _location: u32) -> bool {
        false
    }

    /// What of the last stage before the rasteriser is captured in a buffer below [`CAPTURE_BUFFERS`].
    fn captured(&self, _buffer: u32) -> Option<Captured> {
        None
    }

    /// What a colour target's components are.
    fn color_target(&self, _target: u32) -> Texel {
        Texel::Float
    }

    /// State of the pipeline, all of it. The lifter asks for its parts by the methods below: a shader depends on the parts
    /// that were asked for.
    fn state(&self) -> GraphicsState {
        GraphicsState::default()
    }

    /// The host. As with the state, the lifter asks for parts.
    fn host(&self) -> Host {
        Host::default()
    }

    /// [`GraphicsState::input_primitive`].
    fn input_primitive(&self) -> InputPrimitive {
        self.state().input_primitive
    }

    /// [`GraphicsState::tessellator`].
    fn tessellator(&self) -> Tessellator {
        self.state().tessellator
    }

    /// [`GraphicsState::early_fragment_tests`].
    fn early_fragment_tests(&self) -> bool {
        self.state().early_fragment_tests
    }

    /// [`GraphicsState::per_sample`].
    fn per_sample(&self) -> bool {
        self.state().per_sample
    }

    /// [`GraphicsState::samples`].
    fn samples(&self) -> u32 {
        self.state().samples
    }

    /// [`GraphicsState::minus_one_to_one_depth`].
    fn minus_one_to_one_depth(&self) -> bool {
        self.state().minus_one_to_one_depth
    }

    /// [`GraphicsState::flip_y`].
    fn flip_y(&self) -> bool {
        self.state().flip_y
    }

    /// [`GraphicsState::y_down`].
    fn y_down(&self) -> bool {
        self.state().y_down
    }

    /// [`GraphicsState::point_size`].
    fn point_size(&self) -> Option<f32> {
        self.state().point_size
    }

    /// [`GraphicsState::alpha_test`].
    fn alpha_test(&self) -> Option<(AlphaTest, f32)> {
        self.state().alpha_test
    }

    /// [`GraphicsState::alpha_to_coverage_dither`].
    fn alpha_to_coverage_dither(&self) -> bool {
        self.state().alpha_to_coverage_dither
    }

    /// [`GraphicsState::dual_source_blend`].
    fn dual_source_blend(&self) -> bool {
        self.state().dual_source_blend
    }

    /// [`GraphicsState::window_positions`].
    fn window_positions(&self) -> Option<[f32; 2]> {
        self.state().window_positions
    }

    /// [`GraphicsState::draw_constants`].
    fn draw_constants(&self) -> Option<ConstantWord> {
        self.state().draw_constants
    }

    /// [`GraphicsState::two_sided_colors`].
    fn two_sided_colors(&self) -> bool {
        self.state().two_sided_colors
    }

    /// [`GraphicsState::legacy_location`].
    fn legacy_location(&self) -> u32 {
        self.state().legacy_location
    }

    /// [`Host::nonuniform_indexing`].
    fn nonuniform_indexing(&self) -> bool {
        self.host().nonuniform_indexing
    }

    /// [`Host::draw_parameters`].
    fn draw_parameters(&self) -> bool {
        self.host().draw_parameters
    }

    /// [`Host::layer_from_vertex`].
    fn layer_from_vertex(&self) -> bool {
        self.host().layer_from_vertex
    }

    /// [`Host::viewport_mask`].
    fn viewport_mask(&self) -> bool {
        self.host().viewport_mask
    }

    /// [`Host::gather_bias`].
    fn gather_bias(&self) -> Option<u8> {
        self.host().gather_bias
    }
}

/// A GPU that answers by the defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultGpu;

impl GpuAccessor for DefaultGpu {}
