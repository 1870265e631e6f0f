//! Handles, and the resources that they stand for.

use super::cx::Cx;
use super::val::Val;
use super::{Bounds, Lift, Stop};
use crate::bitcode::{Type as Llvm, TypeId, ValueId};
use crate::program::{Class, Component, Resource as Declared, Shape};
use rustc_hash::FxHashMap;
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{Access, Count, ImageFormat, OutOfBounds, ResourceData, ResourceKind, Texel};
use xenoglot_ir::{Op, Resource, Type, Value};

/// Most bytes of a constant buffer that a shader sees: 4096 rows.
const MAX_CONSTANT_BUFFER: u32 = 1 << 16;

/// A handle of a resource.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    /// What is declared at its register.
    pub declared: Declared,
    /// The register, where it is known.
    pub register: Option<u32>,
}

/// Resources of the module, by class, space and register.
#[derive(Default)]
pub(super) struct Bound {
    resources: FxHashMap<(Class, u32, u32), Resource>,
}

impl Cx<'_> {
    /// A handle of a declared resource at a register.
    pub fn handle(&mut self, declared: Declared, register: ValueId) -> Lift<Val> {
        let register = self.integer(register).ok().and_then(|n| u32::try_from(n).ok());
        Ok(Val::Handle(Handle { declared, register }))
    }

    /// The address of an element of a library's resources, which are arrays of arrays at most.
    pub fn resource_address(&mut self, global: u32, of: TypeId, indices: &[ValueId]) -> Lift<Val> {
        let (mut ty, mut at) = (of, None);
        for &index in indices.iter().skip(1) {
            let Some(&Llvm::Array { count, of }) = self.module.types.get(ty) else {
                return Err(Stop::Unsupported("a part of a resource"));
            };
            let index = self.scalar(index)?;
            let index = self.resize(index, Type::I32);
            at = Some(match at {
                Some(before) => {
                    let count = self.i32(count as u32);
                    let before = self.op(Op::Imul, &[before, count]);
                    self.op(Op::Iadd, &[before, index])
                }
                None => index,
            });
            ty = of;
        }
        Ok(Val::Resource(global, at))
    }

    /// The handle that is loaded of a library's resource.
    pub fn library_handle(&mut self, global: u32, index: Option<Value>) -> Lift<Val> {
        let declared = self.program.resources.iter().find(|r| r.global == Some(global));
        let declared = *declared.ok_or(Stop::Unsupported("a resource that is not declared"))?;
        let index = match index {
            Some(v) => self.b.func.const_bits(v).map(|b| b.lane(0) as u32),
            None => Some(0),
        };
        let register = index.map(|i| declared.lower.wrapping_add(i));
        Ok(Val::Handle(Handle { declared, register }))
    }

    /// The handle that a value is.
    pub fn handle_of(&mut self, id: ValueId) -> Lift<Handle> {
        match self.value(id)? {
            Val::Handle(handle) => Ok(handle),
            _ => Err(Stop::Unsupported("a handle of unknown origin")),
        }
    }

    /// The resource of the module that a handle stands for.
    pub fn resource(&mut self, handle: &Handle) -> Lift<Resource> {
        let declared = &handle.declared;
        let register = handle.register.ok_or(Stop::Unsupported("a register that is computed"))?;
        let key = (declared.class, declared.space, register);
        if let Some(&known) = self.bound.resources.get(&key) {
            return Ok(known);
        }
        let mut name = format!("{}{register}", declared.class.letter());
        if declared.space != 0 {
            name.push_str(&format!("_space{}", declared.space));
        }
        let resource = self.ir.resources.push(ResourceData {
            name,
            kind: kind(declared)?,
            set: declared.space,
            binding: register,
            count: Count::One,
            oob: match self.options.bounds {
                Bounds::Checked => OutOfBounds::Zero,
                Bounds::Device => OutOfBounds::Undefined,
            },
        });
        self.bound.resources.insert(key, resource);
        Ok(resource)
    }

    /// The IR's handle of a texture, image or sampler.
    pub fn opaque(&mut self, handle: &Handle, kind: xenoglot_ir::Kind) -> Lift<Value> {
        let resource = self.resource(handle)?;
        let imm = xenoglot_ir::Imm::Resource(resource);
        Ok(self.inst(Op::ResourceHandle, imm, &[], xenoglot_ir::Type::scalar(kind)))
    }
}

fn kind(declared: &Declared) -> Lift<ResourceKind> {
    let access = if declared.class == Class::Uav { Access::ReadWrite } else { Access::Read };
    let texel = match declared.component {
        Some(Component::Sint) => Texel::Sint,
        Some(Component::Uint) => Texel::Uint,
        Some(Component::Float) | None => Texel::Float,
    };
    Ok(match (declared.class, declared.shape) {
        (Class::Cbv, _) => {
            let size = declared.bytes.clamp(1, MAX_CONSTANT_BUFFER).next_multiple_of(16);
            ResourceKind::UniformBuffer { size }
        }
        (Class::Srv | Class::Uav, Shape::RawBuffer | Shape::StructuredBuffer) => {
            ResourceKind::StorageBuffer { access }
        }
        (Class::Srv, Shape::TypedBuffer) => {
            ResourceKind::Texture { dim: Dim::Buffer, arrayed: false, multisampled: false, texel }
        }
        (Class::Uav, Shape::TypedBuffer) => {
            let format = format(texel, declared.components);
            ResourceKind::Image { dim: Dim::Buffer, arrayed: false, access, format }
        }
        (Class::Sampler, _) => ResourceKind::Sampler,
        (Class::Srv, Shape::AccelerationStructure) => ResourceKind::AccelerationStructure,
        (Class::Srv | Class::Uav, shape) => {
            let (dim, arrayed, multisampled) = texture(shape)?;
            match declared.class {
                Class::Srv => ResourceKind::Texture { dim, arrayed, multisampled, texel },
                _ if multisampled => return Err(Stop::Unsupported("a resource of this shape")),
                _ => {
                    let format = format(texel, declared.components);
                    ResourceKind::Image { dim, arrayed, access, format }
                }
            }
        }
    })
}

/// What a texture's shape is in the IR: its dimensions, whether it has layers, whether it has samples.
pub(super) fn texture(shape: Shape) -> Lift<(Dim, bool, bool)> {
    Ok(match shape {
        Shape::Texture1D => (Dim::D1, false, false),
        Shape::Texture2D => (Dim::D2, false, false),
        Shape::Texture2DMS => (Dim::D2, false, true),
        Shape::Texture3D => (Dim::D3, false, false),
        Shape::TextureCube => (Dim::Cube, false, false),
        Shape::Texture1DArray => (Dim::D1, true, false),
        Shape::Texture2DArray => (Dim::D2, true, false),
        Shape::Texture2DMSArray => (Dim::D2, true, true),
        Shape::TextureCubeArray => (Dim::Cube, true, false),
        _ => return Err(Stop::Unsupported("a resource of this shape")),
    })
}

/// The format of texels that are written: D3D does not tell, but what is read, too, has one component of 32 bits unless the
/// device can convert; the others are the widest of their kind.
fn format(texel: Texel, components: u8) -> ImageFormat {
    match (texel, components) {
        (Texel::Float, 1) => ImageFormat::R32f,
        (Texel::Sint, 1) => ImageFormat::R32i,
        (Texel::Uint, 1) => ImageFormat::R32ui,
        (Texel::Float, 2) => ImageFormat::Rg32f,
        (Texel::Sint, 2) => ImageFormat::Rg32i,
        (Texel::Uint, 2) => ImageFormat::Rg32ui,
        (Texel::Float, _) => ImageFormat::Rgba32f,
        (Texel::Sint, _) => ImageFormat::Rgba32i,
        (Texel::Uint, _) => ImageFormat::Rgba32ui,
    }
}
