//! What a shader's GLSL declares: the knowledge of the running GPU that its machine code lacks.

use std::collections::BTreeMap;
use xenoglot::maxwell::FileGpu;
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_maxwell::GpuAccessor;
use xenoglot_maxwell::gpu::{GraphicsState, Handle, InputPrimitive, Shape, Texture};

/// A sampler or image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// Its binding.
    pub binding: u32,
    /// Elements of an array.
    pub count: u32,
    /// Its shape.
    pub shape: (Dim, bool, bool),
    /// What its texels are.
    pub texel: Texel,
    /// It is compared with.
    pub shadow: bool,
    /// Coordinates are in texels.
    pub rect: bool,
    /// Format of an image; none of a sampler.
    pub format: Option<ImageFormat>,
}

/// A declaration of an input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// Its location.
    pub location: u32,
    /// Its components.
    pub components: u8,
    /// What they are.
    pub texel: Texel,
    /// It is an output.
    pub output: bool,
    /// It belongs to the patch.
    pub patch: bool,
}

/// A uniform or storage block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its binding.
    pub binding: u32,
    /// It is a storage block.
    pub storage: bool,
    /// The declarations in it.
    pub members: String,
}

/// What a source declares.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// Samplers.
    pub samplers: Vec<Opaque>,
    /// Images.
    pub images: Vec<Opaque>,
    /// Uniform and storage blocks.
    pub blocks: Vec<Block>,
    /// Inputs and outputs with locations.
    pub varyings: Vec<Varying>,
    /// Primitives a geometry shader takes.
    pub primitive: InputPrimitive,
}

/// A number that follows `key` and `=` in a layout.
fn layout_number(layout: &str, key: &str) -> Option<u32> {
    layout.split(',').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        (name.trim() == key).then(|| value.trim().parse().ok())?
    })
}

fn texel(prefix: &str) -> Texel {
    match prefix {
        "i" => Texel::Sint,
        "u" => Texel::Uint,
        _ => Texel::Float,
    }
}

/// The sampler or image, which `kind` says, of a type's name.
pub(super) fn opaque(ty: &str, kind: &str) -> Option<Opaque> {
    let at = ty.find(kind).filter(|&at| at <= 1)?;
    let rest = &ty[at + kind.len()..];
    let (shadow, rest) = rest.strip_suffix("Shadow").map_or((false, rest), |r| (true, r));
    let (arrayed, rest) = rest.strip_suffix("Array").map_or((false, rest), |r| (true, r));
    let (multisampled, rest) = rest.strip_suffix("MS").map_or((false, rest), |r| (true, r));
    let (rect, rest) = rest.strip_suffix("Rect").map_or((false, rest), |r| (true, r));
    let dim = match rest {
        "1D" => Dim::D1,
        "2D" => Dim::D2,
        "3D" => Dim::D3,
        "Cube" => Dim::Cube,
        "Buffer" => Dim::Buffer,
        _ => return None,
    };
    let shape = (dim, arrayed, multisampled);
    Some(Opaque { binding: 0, count: 1, shape, texel: texel(&ty[..at]), shadow, rect, format: None })
}

/// Components and kind of a scalar's or vector's type.
fn vector(ty: &str) -> Option<(u8, Texel)> {
    Some(match ty {
        "float" => (1, Texel::Float),
        "int" => (1, Texel::Sint),
        "uint" => (1, Texel::Uint),
        _ => {
            let at = ty.find("vec").filter(|&at| at <= 1)?;
            (ty[at + 3..].parse().ok()?, texel(&ty[..at]))
        }
    })
}

impl Declarations {
    /// Reads the declarations at the top of a source: those with a layout.
    pub fn read(source: &str) -> Declarations {
        let mut found = Declarations::default();
        let mut rest = source;
        while let Some(at) = rest.find("layout(") {
            let Some((layout, after)) = rest[at + 7..].split_once(')') else { break };
            rest = after;
            let declaration = after.split([';', '{']).next().unwrap_or_default();
            found.declare(layout, declaration);
            let body = after[declaration.len()..].strip_prefix('{').and_then(|b| b.split('}').next());
            found.declare_block(layout, declaration, body);
        }
        found
    }

    fn declare_block(&mut self, layout: &str, declaration: &str, body: Option<&str>) {
        let storage = declaration.split_whitespace().any(|w| w == "buffer");
        let is_block = storage || declaration.split_whitespace().any(|w| w == "uniform");
        if let (true, Some(body), Some(binding)) = (is_block, body, layout_number(layout, "binding")) {
            self.blocks.push(Block { binding, storage, members: body.to_owned() });
        }
    }

    fn declare(&mut self, layout: &str, declaration: &str) {
        let words: Vec<&str> = declaration.split(|c: char| c.is_whitespace() || c == '[').collect();
        let binding = layout_number(layout, "binding").unwrap_or(0);
        let count = declaration
            .split_once('[')
            .and_then(|(_, n)| n.split(']').next())
            .and_then(|n| n.trim().parse().ok())
            .unwrap_or(1);
        for word in &words {
            if let Some(sampler) = opaque(word, "sampler") {
                self.samplers.push(Opaque { binding, count, ..sampler });
            } else if let Some(image) = opaque(word, "image") {
                let format = layout.split(',').find_map(|part| ImageFormat::parse(part.trim()));
                self.images.push(Opaque {
                    binding,
                    count,
                    format: Some(format.unwrap_or(ImageFormat::Unknown)),
                    ..image
                });
            }
        }
        let output = words.contains(&"out");
        if let Some(location) = layout_number(layout, "location")
            && (output || words.contains(&"in"))
            && let Some((components, texel)) = words.iter().find_map(|w| vector(w))
        {
            let patch = words.contains(&"patch");
            self.varyings.push(Varying { location, components, texel, output, patch });
        }
        if declaration.trim() == "in" {
            self.primitive = match layout.split(',').next().unwrap_or_default().trim() {
                "points" => InputPrimitive::Points,
                "lines" => InputPrimitive::Lines,
                "lines_adjacency" => InputPrimitive::LinesAdjacency,
                "triangles_adjacency" => InputPrimitive::TrianglesAdjacency,
                _ => InputPrimitive::Triangles,
            };
        }
    }
}

/// The GPU as the GLSL describes it: uam keeps the handles of bindings in the driver's bank from `base` on, those of 32
/// samplers and then of 8 images.
#[derive(Clone, Debug)]
pub struct SourceGpu {
    file: FileGpu,
    primitive: InputPrimitive,
    textures: BTreeMap<u32, Opaque>,
    images: BTreeMap<u32, ImageFormat>,
    varyings: Vec<Varying>,
}

/// Bytes of the handles of samplers.
pub(super) const SAMPLER_BYTES: u32 = 4 * 32;

impl SourceGpu {
    /// The GPU for a source and its compiled file.
    pub fn new(declarations: &Declarations, file: FileGpu, base: u32) -> SourceGpu {
        let elements = |o: &Opaque| {
            let o = o.clone();
            (0..o.count).map(move |i| (base + 4 * (o.binding + i), o.clone()))
        };
        // Machine code asks textures at the handles of images for sizes.
        let sized = declarations.images.iter().flat_map(elements).map(|(at, i)| (at + SAMPLER_BYTES, i));
        SourceGpu {
            file,
            primitive: declarations.primitive,
            textures: declarations.samplers.iter().flat_map(elements).chain(sized).collect(),
            images: declarations
                .images
                .iter()
                .flat_map(|i| elements(i).filter_map(|(at, i)| Some((at + SAMPLER_BYTES, i.format?))))
                .collect(),
            varyings: declarations.varyings.clone(),
        }
    }

    /// The sampler behind a handle.
    pub fn sampler(&self, handle: &Handle) -> Option<&Opaque> {
        self.textures.get(&handle.texture.offset)
    }

    fn kind(&self, location: u32, output: bool) -> Texel {
        let found = self.varyings.iter().find(|v| v.location == location && v.output == output);
        found.map_or(Texel::Float, |v| v.texel)
    }
}

impl GpuAccessor for SourceGpu {
    fn handle_bank(&self) -> u8 {
        self.file.handle_bank
    }

    fn texture(&self, handle: Handle) -> Texture {
        let Some(o) = self.sampler(&handle) else { return Texture::default() };
        let (dim, arrayed, multisampled) = o.shape;
        Texture { shape: Some(Shape { dim, arrayed, multisampled }), texel: o.texel, normalized: !o.rect }
    }

    fn image_format(&self, handle: Handle) -> ImageFormat {
        self.images.get(&handle.texture.offset).copied().unwrap_or(ImageFormat::Unknown)
    }

    fn vertex_attribute(&self, location: u32) -> Texel {
        self.kind(location, false)
    }

    fn color_target(&self, target: u32) -> Texel {
        self.kind(target, true)
    }

    fn state(&self) -> GraphicsState {
        GraphicsState { input_primitive: self.primitive, ..self.file.state }
    }
}
