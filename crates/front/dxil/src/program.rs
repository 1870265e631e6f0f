//! What a module's metadata says of its shader: entry point, resources, properties.
//!
//! Source: "Metadata" and "Resources" of DXIL.rst in DirectXShaderCompiler's documentation, and its `DxilConstants.h` for
//! numbers.

mod node;
mod signature;
mod stage;
mod vendor;

pub use node::{Launch, Node, NodeFlags, NodeId, NodeInput, NodeOutput, RecordGrid, RecordType};
pub use signature::{Element, Semantic};
pub use vendor::Vendor;

use crate::bitcode::{self, Attribute, Constant, Def, Metadata, MetadataId, Module, Type, TypeId};
pub use crate::model::{ResourceClass as Class, ResourceKind as Shape};
use crate::model::{ShaderKind, ShaderModel};
use bitflags::bitflags;
use thiserror::Error;
use xenoglot_ir::stage::{Depth, Pipeline};

/// Why metadata does not describe a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the metadata has no usable {0}")]
pub struct ProgramError(pub &'static str);

/// A module's shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Shader model.
    pub model: ShaderModel,
    /// What it is for.
    pub kind: ShaderKind,
    /// Index of the entry function in the module; a library has none.
    pub function: Option<u32>,
    /// Its name.
    pub name: String,
    /// Properties.
    pub flags: ShaderFlags,
    /// What becomes of denormals of 32-bit floats.
    pub denormals: Denormals,
    /// Invocations of a workgroup along x, y and z; ones for shaders without.
    pub threads: [u32; 3],
    /// Resources of all classes.
    pub resources: Vec<Resource>,
    /// What it takes from the stage before.
    pub inputs: Vec<Element>,
    /// What it gives to the next stage.
    pub outputs: Vec<Element>,
    /// What hull and domain shaders know of a patch as a whole, or mesh shaders of a primitive.
    pub patch: Vec<Element>,
    /// What back ends have to know of the pipeline around it.
    pub pipeline: Pipeline,
    /// Index of a hull shader's patch-constant function in the module.
    pub patch_function: Option<u32>,
    /// Control points of a patch that tessellation shaders take, at most 32.
    pub input_points: u32,
    /// Bytes of the payload of shaders of rays, of meshes and amplification.
    pub payload_bytes: u32,
    /// Bytes of the attributes of a ray's hit.
    pub attribute_bytes: u32,
    /// Lanes of the waves that it is written for, if it says.
    pub waves: Option<Waves>,
    /// What there is to know of the node of a work graph.
    pub node: Option<Node>,
}

/// Lanes of waves that a shader asks for: powers of two. SPIR-V has no word for it: the host asks its pipeline for
/// subgroups of this size, which are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waves {
    /// The fewest.
    pub min: u32,
    /// The most.
    pub max: u32,
    /// What is best, if it says.
    pub preferred: Option<u32>,
}

bitflags! {
    /// Properties of a shader (`dx.entryPoints`, tag 0): those that change how it is translated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct ShaderFlags: u64 {
        /// Nothing is refactored.
        const DISABLE_OPTIMIZATIONS = 1 << 0;
        /// Depth and stencil tests come before the shader.
        const EARLY_DEPTH_STENCIL = 1 << 3;
        /// 16-bit types have 16 bits, and not at least 16.
        const NATIVE_LOW_PRECISION = 1 << 23;
    }
}

/// What arithmetic of 32-bit floats does with denormals (the attribute `fp32-denorm-mode` of the entry function).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Denormals {
    /// What the host does.
    #[default]
    Any,
    /// Keeps them.
    Preserve,
    /// Takes them for zeros, and makes none.
    Flush,
}

impl Denormals {
    fn of(module: &Module, function: Option<u32>) -> Denormals {
        let set = || {
            let function = module.functions.get(function? as usize)?;
            module.attributes.get(function.attributes.checked_sub(1)? as usize)
        };
        let groups = set().into_iter().flatten();
        let groups =
            groups.flat_map(|&id| module.attribute_groups.iter().filter(move |group| group.id == id));
        let mode = groups.flat_map(|group| &group.attributes).find_map(|attribute| match attribute {
            Attribute::Text(key, Some(value)) if key == b"fp32-denorm-mode" => Some(value.as_slice()),
            _ => None,
        });
        match mode {
            Some(b"preserve") => Denormals::Preserve,
            Some(b"ftz") => Denormals::Flush,
            _ => Denormals::Any,
        }
    }
}

/// Kinds of a texel's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// Signed integers.
    Sint,
    /// Unsigned integers.
    Uint,
    /// Floats and fractions.
    Float,
}

impl Component {
    /// The kind of a component type's number, as metadata and annotations of handles have it.
    pub fn from_number(number: u64) -> Option<Component> {
        match number {
            // i1, i16, i32, i64 and four packed signed bytes.
            1 | 2 | 4 | 6 | 17 => Some(Component::Sint),
            3 | 5 | 7 | 18 => Some(Component::Uint),
            8..=16 => Some(Component::Float),
            _ => None,
        }
    }
}

/// Registers that are read or written in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Class.
    pub class: Class,
    /// Its number within the class, which handles are created by.
    pub id: u32,
    /// Register space.
    pub space: u32,
    /// First register.
    pub lower: u32,
    /// Number of registers; `None` without bound.
    pub count: Option<u32>,
    /// Shape.
    pub shape: Shape,
    /// Components of texels, if it has texels.
    pub component: Option<Component>,
    /// How many components the declaration gives a texel, 1 to 4.
    pub components: u8,
    /// Whether texels are of 64 bits: what atomics on them are of, whatever the component says.
    pub wide: bool,
    /// Bytes of a structured buffer's record, or of a constant buffer.
    pub bytes: u32,
    /// Whether a pixel's invocations access it in the order of their primitives (rasterizer-ordered views).
    pub ordered: bool,
    /// The global variable that a library's functions load it of.
    pub global: Option<u32>,
    /// The vendor library whose intrinsics are accesses to this UAV, if it is no real resource.
    pub vendor: Option<Vendor>,
}

impl Program {
    /// The shader of a module; of a library what its shaders have in common.
    ///
    /// # Errors
    /// Metadata that is missing or not as DXIL has it.
    pub fn of(module: &Module) -> Result<Program, ProgramError> {
        let entries = module.metadata.named("dx.entryPoints").unwrap_or_default();
        Program::entry(module, *entries.first().ok_or(ProgramError("entry point"))?)
    }

    /// The shaders of a module in order, several of a library.
    ///
    /// # Errors
    /// As [`Program::of`].
    pub fn all(module: &Module) -> Result<Vec<Program>, ProgramError> {
        let first = Program::of(module)?;
        if first.kind != ShaderKind::Library {
            return Ok(vec![first]);
        }
        let entries = module.metadata.named("dx.entryPoints").unwrap_or_default();
        let shader = |&entry: &MetadataId| {
            let mut program = Program::entry(module, entry)?;
            program.flags |= first.flags;
            Ok(program)
        };
        let programs: Result<Vec<Program>, ProgramError> = entries.iter().map(shader).collect();
        Ok(programs?.into_iter().filter(|p| p.function.is_some()).collect())
    }

    fn entry(module: &Module, entry: MetadataId) -> Result<Program, ProgramError> {
        let read = Reader { module, metadata: &module.metadata };
        let (name, model) = read.shader_model().ok_or(ProgramError("shader model"))?;
        let kind = kind_of(&name).ok_or(ProgramError("shader model"))?;
        let entry = module.metadata.list(entry).ok_or(ProgramError("entry point"))?;
        let function = entry.first().copied().flatten().and_then(|f| read.function(f));
        let mut program = Program {
            model,
            kind,
            function,
            name: entry.get(1).copied().flatten().and_then(|n| read.text(n)).unwrap_or_default(),
            flags: ShaderFlags::default(),
            denormals: Denormals::of(module, function),
            threads: [1; 3],
            resources: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            patch: Vec::new(),
            pipeline: Pipeline::default(),
            patch_function: None,
            input_points: 0,
            payload_bytes: 0,
            attribute_bytes: 0,
            waves: None,
            node: None,
        };
        if let Some(&Some(lists)) = entry.get(2) {
            let list = |at: usize| module.metadata.list(lists).and_then(|l| l.get(at).copied().flatten());
            program.inputs = read.signature(list(0)).ok_or(ProgramError("signature"))?;
            program.outputs = read.signature(list(1)).ok_or(ProgramError("signature"))?;
            program.patch = read.signature(list(2)).ok_or(ProgramError("signature"))?;
        }
        if let Some(Some(properties)) = entry.get(4) {
            read.properties(*properties, &mut program).ok_or(ProgramError("properties"))?;
            if program.kind == ShaderKind::Node {
                program.node = Some(read.node(*properties, &program.name).ok_or(ProgramError("node"))?);
            }
        }
        program.pipeline.early_fragment_tests = program.flags.contains(ShaderFlags::EARLY_DEPTH_STENCIL);
        program.pipeline.depth =
            program.outputs.iter().fold(Depth::Any, |depth, element| match element.semantic {
                Semantic::DepthGreaterEqual => Depth::Greater,
                Semantic::DepthLessEqual => Depth::Less,
                _ => depth,
            });
        if let Some(&lists) = module.metadata.named("dx.resources").and_then(|r| r.first()) {
            program.resources = read.resources(lists).ok_or(ProgramError("list of resources"))?;
        }
        Ok(program)
    }

    /// The resource of a class with a number.
    pub fn resource(&self, class: Class, id: u32) -> Option<&Resource> {
        self.resources.iter().find(|r| r.class == class && r.id == id)
    }

    /// The resource of a class that has a register.
    pub fn resource_at(&self, class: Class, space: u32, register: u32) -> Option<&Resource> {
        self.resources.iter().find(|r| {
            let within = register.checked_sub(r.lower).is_some_and(|n| r.count.is_none_or(|count| n < count));
            r.class == class && r.space == space && within
        })
    }
}

fn kind_of(profile: &str) -> Option<ShaderKind> {
    ShaderKind::ALL.into_iter().find(|k| k.profile() == profile)
}

struct Reader<'m> {
    module: &'m Module,
    metadata: &'m Metadata,
}

impl Reader<'_> {
    fn text(&self, id: MetadataId) -> Option<String> {
        match *self.metadata.get(id)? {
            bitcode::Node::Text(text) => {
                Some(String::from_utf8_lossy(self.metadata.contents(text)).into_owned())
            }
            _ => None,
        }
    }

    fn integer(&self, id: Option<MetadataId>) -> Option<u64> {
        self.module.metadata_integer(id?)
    }

    fn integer32(&self, list: &[Option<MetadataId>], at: usize) -> Option<u32> {
        u32::try_from(self.integer(*list.get(at)?)?).ok()
    }

    fn function(&self, id: MetadataId) -> Option<u32> {
        let bitcode::Node::Value(v) = self.metadata.get(id)? else { return None };
        match self.module.values.get(v.0 as usize)?.def {
            Def::Function(index) => Some(index),
            _ => None,
        }
    }

    /// The global variable of a resource; from SM 6.6 on its type is that of a handle, and metadata casts it to the
    /// resource's class.
    fn global(&self, id: MetadataId) -> Option<u32> {
        let bitcode::Node::Value(v) = self.metadata.get(id)? else { return None };
        match self.module.values.get(v.0 as usize)?.def {
            Def::Global(index) => Some(index),
            Def::Constant(Constant::Cast(_, of)) => match self.module.values.get(of.0 as usize)?.def {
                Def::Global(index) => Some(index),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the value points to that stands for a resource.
    fn pointee(&self, id: MetadataId) -> Option<TypeId> {
        let bitcode::Node::Value(v) = self.metadata.get(id)? else { return None };
        let value = self.module.values.get(v.0 as usize)?;
        match value.def {
            Def::Constant(Constant::Undef | Constant::Null | Constant::Cast(..)) | Def::Global(_) => {
                self.module.types.pointee(value.ty).map(|(ty, _)| ty)
            }
            _ => None,
        }
    }

    fn shader_model(&self) -> Option<(String, ShaderModel)> {
        let list = self.metadata.list(*self.metadata.named("dx.shaderModel")?.first()?)?;
        let part = |at: usize| u8::try_from(self.integer32(list, at)?).ok();
        let model = ShaderModel { major: part(1)?, minor: part(2)? };
        Some((self.text((*list.first()?)?)?, model))
    }

    fn resources(&self, lists: MetadataId) -> Option<Vec<Resource>> {
        let mut all = Vec::new();
        for (class, list) in Class::ALL.iter().copied().zip(self.metadata.list(lists)?) {
            for &item in list.and_then(|l| self.metadata.list(l)).unwrap_or_default() {
                all.push(self.resource(class, self.metadata.list(item?)?)?);
            }
        }
        Some(all)
    }

    /// Six fields that all classes have, then those of the class, then tags.
    fn resource(&self, class: Class, fields: &[Option<MetadataId>]) -> Option<Resource> {
        let field = |at: usize| self.integer(*fields.get(at)?);
        let (shape, tags) = match class {
            Class::Srv => (Shape::declared(field(6)?)?, 8),
            Class::Uav => (Shape::declared(field(6)?)?, 10),
            Class::Cbv => (Shape::CBuffer, 7),
            Class::Sampler => (Shape::Sampler, 7),
        };
        let mut resource = Resource {
            class,
            id: self.integer32(fields, 0)?,
            space: self.integer32(fields, 3)?,
            lower: self.integer32(fields, 4)?,
            count: Some(self.integer32(fields, 5)?).filter(|&n| n != u32::MAX),
            shape,
            component: None,
            components: self.components((*fields.get(1)?)?),
            wide: false,
            bytes: if class == Class::Cbv { self.integer32(fields, 6)? } else { 0 },
            ordered: class == Class::Uav && field(9)? != 0,
            global: self.global((*fields.get(1)?)?),
            vendor: None,
        };
        let name = fields.get(2).copied().flatten();
        resource.vendor = self.vendor(class, resource.space, name, *fields.get(1)?);
        let tags = fields.get(tags).copied().flatten().and_then(|t| self.metadata.list(t));
        for pair in tags.unwrap_or_default().chunks_exact(2) {
            match self.integer(pair[0])? {
                0 => resource.component = Component::from_number(self.integer(pair[1])?),
                1 => resource.bytes = u32::try_from(self.integer(pair[1])?).ok()?,
                3 => resource.wide = self.integer(pair[1])? != 0,
                _ => {}
            }
        }
        Some(resource)
    }

    /// Components of a texel by the type of the resource's global variable: a structure of a scalar or vector.
    fn components(&self, global: MetadataId) -> u8 {
        let lanes = || {
            let mut ty = self.pointee(global)?;
            // Arrays of resources, then the class, then its texel.
            while let Some(member) = self.first_member(ty) {
                ty = member;
            }
            match self.module.types.get(ty)? {
                Type::Vector { count, .. } => u8::try_from(*count).ok(),
                _ => Some(1),
            }
        };
        lanes().unwrap_or(1).clamp(1, 4)
    }

    /// The first member of a structure or array; members have lower numbers than what they are in.
    fn first_member(&self, ty: TypeId) -> Option<TypeId> {
        match self.module.types.get(ty)? {
            Type::Array { of, .. } => Some(*of),
            Type::Struct { fields, .. } => fields.first().copied(),
            _ => None,
        }
    }
}
