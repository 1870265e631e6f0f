//! Declarations of textures, samplers, images and acceleration structures.

use crate::error::{Error, Reason};
use crate::memory::descriptors;
use crate::options::Names;
use crate::rays::structure_type;
use crate::unit::{Id, Unit};
use spirv::{Capability, Decoration, Dim as HostDim, ImageFormat as HostFormat, Op as S, StorageClass};
use xenoglot_ir::entities::Resource;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{Count, ImageFormat, Module, ResourceData, ResourceKind, Texel};
use xenoglot_ir::stage::Samplers;
use xenoglot_ir::{Imm, Kind, NO_GUEST, Type, Value};

/// A declared texture, sampler or image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opaque {
    pub(super) var: Id,
    /// Type of a descriptor.
    pub(super) ty: Id,
    /// Type of the image in it; of a sampler, its own.
    pub(super) image: Id,
    pub(super) class: StorageClass,
    /// The texture comes with its sampler.
    pub(super) combined: bool,
    pub(super) array: bool,
    pub(super) storage: bool,
    pub(super) texel: Texel,
    /// Type of a component of its texels.
    pub(super) component: Id,
    pub(super) format: ImageFormat,
    pub(super) shape: (Dim, bool, bool),
}

impl Opaque {
    /// Whether texels are of 64 bits.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.format, ImageFormat::R64ui | ImageFormat::R64i)
    }

    /// Lanes of texels in the IR.
    pub(super) fn texel_kind(&self) -> Kind {
        match self.texel {
            Texel::Float => Kind::F32,
            _ if self.is_wide() => Kind::I64,
            _ => Kind::I32,
        }
    }

    /// What it takes to index an array with anything but constants, and with what differs between invocations.
    pub(super) fn indexing(&self) -> (Capability, Capability) {
        use Capability as C;
        match (self.shape.0, self.storage) {
            (Dim::Buffer, false) => {
                (C::UniformTexelBufferArrayDynamicIndexing, C::UniformTexelBufferArrayNonUniformIndexing)
            }
            (Dim::Buffer, true) => {
                (C::StorageTexelBufferArrayDynamicIndexing, C::StorageTexelBufferArrayNonUniformIndexing)
            }
            (_, false) => (C::SampledImageArrayDynamicIndexing, C::SampledImageArrayNonUniformIndexing),
            (_, true) => (C::StorageImageArrayDynamicIndexing, C::StorageImageArrayNonUniformIndexing),
        }
    }
}

/// All of a module.
#[derive(Default)]
pub(crate) struct Textures {
    pub(super) resources: SecondaryMap<Resource, Option<Opaque>>,
}

/// What is done with a texture.
#[derive(Clone, Copy, Default)]
struct Uses {
    any: bool,
    shadow: bool,
    separate: bool,
}

impl Textures {
    /// Declares textures, samplers and images that handles are taken of.
    pub(crate) fn declare(unit: &mut Unit, module: &Module) -> Result<Textures, Error> {
        let mut textures = Textures::default();
        for (resource, data) in &module.resources {
            if matches!(
                data.kind,
                ResourceKind::Texture { .. }
                    | ResourceKind::Sampler
                    | ResourceKind::Image { .. }
                    | ResourceKind::AccelerationStructure
            ) {
                let uses = uses(module, resource);
                if uses.any {
                    let opaque = declare(unit, module, data, uses).map_err(|r| r.at(None, NO_GUEST))?;
                    textures.resources[resource] = Some(opaque);
                }
            }
        }
        Ok(textures)
    }
}

fn uses(module: &Module, resource: Resource) -> Uses {
    let mut uses = Uses::default();
    for f in module.funcs.values() {
        let is_it = |v: Value| f.def_inst(v).is_some_and(|i| f.insts[i].imm == Imm::Resource(resource));
        for &inst in f.layout.iter().flat_map(|&b| &f.blocks[b].insts) {
            let data = &f.insts[inst];
            uses.any |= data.imm == Imm::Resource(resource);
            let Imm::Tex(info) = data.imm else { continue };
            let args = f.args(inst);
            if args.first().is_some_and(|&v| is_it(v)) {
                uses.shadow |= info.shadow;
                uses.separate |= args.get(1).is_some_and(|&v| f.ty(v).kind() == Kind::Samp);
            }
        }
    }
    uses
}

/// A component of texels in the host's types.
fn component(unit: &mut Unit, texel: Texel) -> Id {
    match texel {
        Texel::Float => unit.ty(Type::F32),
        Texel::Uint => unit.ty(Type::I32),
        Texel::Sint => unit.type_of(S::TypeInt, &[32, 1]),
    }
}

/// A component of a storage image's texels.
fn stored_component(unit: &mut Unit, format: ImageFormat) -> Id {
    let texel = format.texel();
    if !matches!(format, ImageFormat::R64ui | ImageFormat::R64i) {
        return component(unit, texel);
    }
    unit.capability(Capability::Int64ImageEXT);
    unit.extension("SPV_EXT_shader_image_int64");
    match texel {
        Texel::Sint => {
            unit.capability(Capability::Int64);
            unit.type_of(S::TypeInt, &[64, 1])
        }
        _ => unit.ty(Type::I64),
    }
}

pub(super) fn texel_type(unit: &mut Unit, opaque: Opaque) -> Id {
    unit.type_of(S::TypeVector, &[opaque.component, 4])
}

fn host_dim(unit: &mut Unit, dim: Dim, arrayed: bool, storage: bool) -> Result<HostDim, Reason> {
    let mut needs = |sampled, stored| unit.capability(if storage { stored } else { sampled });
    Ok(match dim {
        Dim::D1 => {
            needs(Capability::Sampled1D, Capability::Image1D);
            HostDim::Dim1D
        }
        Dim::D2 => HostDim::Dim2D,
        Dim::D3 => HostDim::Dim3D,
        Dim::Cube => {
            if arrayed {
                needs(Capability::SampledCubeArray, Capability::ImageCubeArray);
            }
            HostDim::DimCube
        }
        Dim::Buffer => {
            needs(Capability::SampledBuffer, Capability::ImageBuffer);
            HostDim::DimBuffer
        }
        Dim::Subpass => return Err(Reason::Unsupported("input attachments")),
    })
}

fn host_format(unit: &mut Unit, format: ImageFormat) -> HostFormat {
    use ImageFormat as F;
    let (host, extended) = match format {
        F::Unknown | F::UnknownSint | F::UnknownUint => (HostFormat::Unknown, false),
        F::Rgba32f => (HostFormat::Rgba32f, false),
        F::Rgba16f => (HostFormat::Rgba16f, false),
        F::R32f => (HostFormat::R32f, false),
        F::Rgba8 => (HostFormat::Rgba8, false),
        F::Rgba8Snorm => (HostFormat::Rgba8Snorm, false),
        F::Rgba32i => (HostFormat::Rgba32i, false),
        F::Rgba16i => (HostFormat::Rgba16i, false),
        F::Rgba8i => (HostFormat::Rgba8i, false),
        F::R32i => (HostFormat::R32i, false),
        F::Rgba32ui => (HostFormat::Rgba32ui, false),
        F::Rgba16ui => (HostFormat::Rgba16ui, false),
        F::Rgba8ui => (HostFormat::Rgba8ui, false),
        F::R32ui => (HostFormat::R32ui, false),
        F::Rg32f => (HostFormat::Rg32f, true),
        F::Rg16f => (HostFormat::Rg16f, true),
        F::R16f => (HostFormat::R16f, true),
        F::R11fG11fB10f => (HostFormat::R11fG11fB10f, true),
        F::Rgba16 => (HostFormat::Rgba16, true),
        F::Rgb10A2 => (HostFormat::Rgb10A2, true),
        F::Rg16 => (HostFormat::Rg16, true),
        F::Rg8 => (HostFormat::Rg8, true),
        F::R16 => (HostFormat::R16, true),
        F::R8 => (HostFormat::R8, true),
        F::Rg32i => (HostFormat::Rg32i, true),
        F::Rg16i => (HostFormat::Rg16i, true),
        F::Rg8i => (HostFormat::Rg8i, true),
        F::R16i => (HostFormat::R16i, true),
        F::R8i => (HostFormat::R8i, true),
        F::Rg32ui => (HostFormat::Rg32ui, true),
        F::Rg16ui => (HostFormat::Rg16ui, true),
        F::Rg8ui => (HostFormat::Rg8ui, true),
        F::R16ui => (HostFormat::R16ui, true),
        F::R8ui => (HostFormat::R8ui, true),
        F::R64i => (HostFormat::R64i, false),
        F::R64ui => (HostFormat::R64ui, false),
    };
    if extended {
        unit.capability(Capability::StorageImageExtendedFormats);
    }
    host
}

fn declare(unit: &mut Unit, module: &Module, data: &ResourceData, uses: Uses) -> Result<Opaque, Reason> {
    let class = StorageClass::UniformConstant;
    let mut opaque = Opaque {
        var: 0,
        ty: 0,
        image: 0,
        class,
        combined: false,
        array: data.count != Count::One,
        storage: false,
        texel: Texel::Float,
        component: 0,
        format: ImageFormat::Unknown,
        shape: (Dim::D2, false, false),
    };
    match data.kind {
        ResourceKind::Texture { dim, arrayed, multisampled, texel } => {
            let host = host_dim(unit, dim, arrayed, false)? as u32;
            let component = component(unit, texel);
            opaque.component = component;
            let flags = [uses.shadow, arrayed, multisampled].map(u32::from);
            let words = [component, host, flags[0], flags[1], flags[2], 1, HostFormat::Unknown as u32];
            opaque.image = unit.type_of(S::TypeImage, &words);
            opaque.combined = !uses.separate && dim != Dim::Buffer && module.samplers == Samplers::Combined;
            opaque.ty = match opaque.combined {
                true => unit.type_of(S::TypeSampledImage, &[opaque.image]),
                false => opaque.image,
            };
            opaque.texel = texel;
            opaque.shape = (dim, arrayed, multisampled);
        }
        ResourceKind::Image { dim, arrayed, multisampled, format, .. } => {
            // naga's languages have no images without a format: these hold what any format does.
            let format = match format {
                ImageFormat::Unknown if unit.options.portable_ops => ImageFormat::Rgba32f,
                ImageFormat::UnknownSint if unit.options.portable_ops => ImageFormat::Rgba32i,
                ImageFormat::UnknownUint if unit.options.portable_ops => ImageFormat::Rgba32ui,
                format => format,
            };
            let host = host_dim(unit, dim, arrayed, true)? as u32;
            if multisampled {
                unit.capability(Capability::StorageImageMultisample);
            }
            if multisampled && arrayed {
                unit.capability(Capability::ImageMSArray);
            }
            let component = stored_component(unit, format);
            opaque.component = component;
            let host_format = host_format(unit, format) as u32;
            let words = [component, host, 0, arrayed.into(), multisampled.into(), 2, host_format];
            opaque.image = unit.type_of(S::TypeImage, &words);
            opaque.ty = opaque.image;
            opaque.storage = true;
            (opaque.texel, opaque.format) = (format.texel(), format);
            opaque.shape = (dim, arrayed, multisampled);
        }
        ResourceKind::AccelerationStructure => {
            opaque.image = structure_type(unit, module.stage)?;
            opaque.ty = opaque.image;
        }
        _ => {
            opaque.image = unit.type_of(S::TypeSampler, &[]);
            opaque.ty = opaque.image;
        }
    }
    let declared = descriptors(unit, data.count, opaque.ty);
    opaque.var = unit.variable(class, declared);
    unit.name(Names::Interface, opaque.var, &data.name);
    unit.decorate(opaque.var, Decoration::DescriptorSet, &[data.set]);
    unit.decorate(opaque.var, Decoration::Binding, &[data.binding]);
    Ok(opaque)
}
