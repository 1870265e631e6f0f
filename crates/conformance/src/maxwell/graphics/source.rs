//! What a shader's GLSL declares: the knowledge of the running GPU that its machine code lacks.

use super::reflect::{Decorations, Image, Layout, Module, Type, Variable};
use spirv::{BuiltIn, ExecutionMode, StorageClass};
use std::collections::BTreeMap;
use xenoglot::maxwell::FileGpu;
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{ImageFormat, Texel};
use xenoglot_maxwell::GpuAccessor;
use xenoglot_maxwell::gpu::{GraphicsState, Handle, InputPrimitive, Shape, TessDomain, Texture};
use xenoglot_vulkan::glslang::Stage;

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

/// An input or output at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// Its location.
    pub location: u32,
    /// Its first component there.
    pub component: u32,
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
    /// Its binding; of an array the first.
    pub binding: u32,
    /// Elements of an array.
    pub count: u32,
    /// It is a storage block.
    pub storage: bool,
    /// What is in it.
    pub layout: Layout,
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
    /// The layer is an output.
    pub layered: bool,
    /// Tessellation.
    pub tessellation: Tessellation,
}

/// What a source says of tessellation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tessellation {
    /// What is divided.
    pub domain: TessDomain,
    /// Vertices of a patch that the control shader makes.
    pub made: u32,
    /// Vertices of a patch that constants index.
    pub read: u32,
    /// Outer levels that constants index.
    pub outer: u32,
}

fn texel(kind: &Type) -> Option<Texel> {
    Some(match kind {
        Type::Float { bits: 32 | 16 } => Texel::Float,
        Type::Int { bits: 32 | 16, signed: true } => Texel::Sint,
        Type::Int { bits: 32 | 16, signed: false } => Texel::Uint,
        _ => return None,
    })
}

fn opaque(module: &Module, image: &Image, binding: u32, count: u32) -> Result<Opaque, String> {
    let dim = match image.dim {
        spirv::Dim::Dim1D => Dim::D1,
        spirv::Dim::Dim2D | spirv::Dim::DimRect => Dim::D2,
        spirv::Dim::Dim3D => Dim::D3,
        spirv::Dim::DimCube => Dim::Cube,
        spirv::Dim::DimBuffer => Dim::Buffer,
        other => return Err(format!("images of {other:?}")),
    };
    let texels = module.ty(image.texel).and_then(|ty| match ty {
        Type::Int { bits: 64, signed } => Some(if *signed { Texel::Sint } else { Texel::Uint }),
        ty => texel(ty),
    });
    // Both name formats as GLSL does, but for case.
    let name = format!("{:?}", image.format);
    let format = ImageFormat::ALL.iter().copied().find(|f| format!("{f:?}").eq_ignore_ascii_case(&name));
    Ok(Opaque {
        binding,
        count,
        shape: (dim, image.arrayed, image.multisampled),
        texel: texels.ok_or("an image of components that are no numbers")?,
        shadow: image.shadow,
        rect: image.dim == spirv::Dim::DimRect,
        format: image.stored.then(|| format.unwrap_or(ImageFormat::Unknown)),
    })
}

/// Locations that a type takes.
fn locations(module: &Module, ty: u32, depth: u32) -> u32 {
    let many = |of, count: u32| locations(module, of, depth + 1).saturating_mul(count);
    match module.ty(ty) {
        _ if depth > MAX_DEPTH => 0,
        Some(Type::Array { of, length }) => many(*of, length.unwrap_or(1)),
        Some(Type::Matrix { column, count }) => many(*column, *count),
        Some(Type::Struct(members)) => members.iter().fold(0u32, |n, &m| n.saturating_add(many(m, 1))),
        _ => 1,
    }
}

/// How deep types of inputs and outputs nest, and the most locations they have.
const MAX_DEPTH: u32 = 8;
const MAX_LOCATIONS: u32 = 128;

impl Declarations {
    /// Reads the SPIR-V that a source is for OpenGL.
    ///
    /// # Errors
    /// What is no SPIR-V, or declares what no shader of this machine does.
    pub fn of_spirv(words: &[u32], stage: Stage) -> Result<Declarations, String> {
        let module = Module::read(words)?;
        let mut found = Declarations::default();
        for (mode, operands) in &module.modes {
            found.take_mode(*mode, operands, stage);
        }
        for variable in &module.variables {
            let of = module.decorations(variable.id);
            match variable.class {
                StorageClass::UniformConstant => {
                    let (element, count) = module.element(variable.ty);
                    let Some(Type::Image(image)) = module.ty(element) else { continue };
                    let opaque = opaque(&module, image, of.binding.unwrap_or(0), count)?;
                    let list = if image.stored { &mut found.images } else { &mut found.samplers };
                    list.push(opaque);
                }
                StorageClass::Uniform | StorageClass::StorageBuffer => {
                    let (element, count) = module.element(variable.ty);
                    let ty = module.decorations(element);
                    found.blocks.push(Block {
                        binding: of.binding.unwrap_or(0),
                        count,
                        storage: variable.class == StorageClass::StorageBuffer || ty.buffer_block,
                        layout: module.layout(element),
                    });
                }
                StorageClass::Input | StorageClass::Output => {
                    found.take_varying(&module, variable, &of, stage);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn take_mode(&mut self, mode: ExecutionMode, operands: &[u32], stage: Stage) {
        use ExecutionMode as M;
        match mode {
            M::InputPoints => self.primitive = InputPrimitive::Points,
            M::InputLines => self.primitive = InputPrimitive::Lines,
            M::InputLinesAdjacency => self.primitive = InputPrimitive::LinesAdjacency,
            M::InputTrianglesAdjacency => self.primitive = InputPrimitive::TrianglesAdjacency,
            M::Triangles if stage == Stage::Geometry => self.primitive = InputPrimitive::Triangles,
            M::Triangles => self.tessellation.domain = TessDomain::Triangles,
            M::Quads => self.tessellation.domain = TessDomain::Quads,
            M::Isolines => self.tessellation.domain = TessDomain::Isolines,
            M::OutputVertices if stage == Stage::TessControl => {
                self.tessellation.made = operands.first().copied().unwrap_or(0);
            }
            _ => {}
        }
    }

    fn take_varying(&mut self, module: &Module, variable: &Variable, of: &Decorations, stage: Stage) {
        let output = variable.class == StorageClass::Output;
        let many = !of.patch
            && match stage {
                Stage::TessControl => true,
                Stage::TessEvaluation | Stage::Geometry => !output,
                _ => false,
            };
        let greatest = module.greatest_index.get(&variable.id).map_or(0, |&n| n.saturating_add(1));
        match of.built_in {
            Some(BuiltIn::Layer) if output => self.layered = true,
            Some(BuiltIn::TessLevelOuter) => self.tessellation.outer = greatest,
            _ => {}
        }
        if of.built_in.is_some() {
            return;
        }
        let mut ty = variable.ty;
        if many && let Some(Type::Array { of, .. }) = module.ty(ty) {
            ty = *of;
            if !output {
                self.tessellation.read = self.tessellation.read.max(greatest);
            }
        }
        let start = Varying {
            location: of.location.unwrap_or(0),
            component: of.component.unwrap_or(0),
            components: 0,
            texel: Texel::Float,
            output,
            patch: of.patch,
        };
        self.add_varyings(module, ty, start, 0);
    }

    fn add_varyings(&mut self, module: &Module, ty: u32, at: Varying, depth: u32) {
        if depth > MAX_DEPTH || self.varyings.len() >= MAX_LOCATIONS as usize {
            return;
        }
        let mut add = |components: u32, element: &Type| {
            if let Some(texel) = texel(element) {
                self.varyings.push(Varying { components: components as u8, texel, ..at.clone() });
            }
        };
        match module.ty(ty) {
            Some(Type::Vector { of, count }) => {
                if let Some(element) = module.ty(*of) {
                    add(*count, element);
                }
            }
            Some(Type::Array { of: element, length: Some(count) })
            | Some(Type::Matrix { column: element, count }) => {
                let each = locations(module, *element, 0);
                for n in 0..(*count).min(MAX_LOCATIONS) {
                    let location = at.location.saturating_add(n.saturating_mul(each));
                    self.add_varyings(module, *element, Varying { location, ..at.clone() }, depth + 1);
                }
            }
            Some(Type::Struct(members)) => {
                let mut location = at.location;
                for (n, &member) in members.iter().enumerate() {
                    let of = module.member(ty, n);
                    if of.built_in.is_some() {
                        self.layered |= of.built_in == Some(BuiltIn::Layer) && at.output;
                        continue;
                    }
                    location = of.location.unwrap_or(location);
                    let patch = at.patch || of.patch;
                    let component = of.component.unwrap_or(0);
                    let at = Varying { location, component, patch, ..at.clone() };
                    self.add_varyings(module, member, at, depth + 1);
                    location = location.saturating_add(locations(module, member, 0));
                }
            }
            Some(plain) => add(1, plain),
            None => {}
        }
    }

    /// Inputs or outputs by location, those that share one as one; not those of patches, or only those.
    pub(super) fn interface(&self, output: bool, patch: bool) -> Vec<Varying> {
        let mut found: Vec<Varying> = Vec::new();
        for v in self.varyings.iter().filter(|v| v.output == output && v.patch == patch) {
            let components = v.components.saturating_add(v.component as u8).min(4);
            match found.iter_mut().find(|other| other.location == v.location) {
                Some(other) => other.components = other.components.max(components),
                None => found.push(Varying { components, component: 0, ..v.clone() }),
            }
        }
        found.sort_by_key(|v| v.location);
        found
    }

    /// The image that a handle's number is of, and which element.
    ///
    /// uam writes the type of an atomic over the low bits of the number, so a number that is none of an image may be one
    /// with these bits set.
    pub(super) fn image(&self, base: u32, offset: u32) -> Option<(&Opaque, u32)> {
        let elements = || self.images.iter().flat_map(|i| (0..i.count).map(move |element| (i, element)));
        let at = |(i, element): &(&Opaque, u32)| image_offset(base, i.binding.saturating_add(*element));
        let typed = |found: &(&Opaque, u32)| {
            let (word, ty) = (at(found) / 4, found.0.format.map_or(0, atomic_type));
            4 * (word | ty)
        };
        elements()
            .find(|found| at(found) == offset)
            .or_else(|| elements().find(|found| typed(found) == offset))
    }
}

/// Where the driver's bank has the handle of an image.
fn image_offset(base: u32, n: u32) -> u32 {
    base.saturating_add(SAMPLER_BYTES).saturating_add(n.saturating_mul(4))
}

/// The type that atomics on texels of a format have, as instructions number them.
fn atomic_type(format: ImageFormat) -> u32 {
    match format {
        ImageFormat::R32i => 1,
        ImageFormat::R64ui => 2,
        ImageFormat::R32f => 3,
        ImageFormat::R64i => 5,
        _ => 0,
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
        let formats = || {
            let images = declarations.images.iter().flat_map(elements);
            images.filter_map(|(at, i)| Some((at + SAMPLER_BYTES, i.format?)))
        };
        // Handles with the type of an atomic written over them, unless they are others.
        let typed = formats().map(|(at, format)| (4 * ((at / 4) | atomic_type(format)), format));
        SourceGpu {
            file,
            primitive: declarations.primitive,
            textures: declarations.samplers.iter().flat_map(elements).chain(sized).collect(),
            images: typed.chain(formats()).collect(),
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
