//! Handles, and the resources of the module that they stand for.

use super::bind::{Bound, Element, Part};
use super::cx::Cx;
use super::val::Val;
use super::{Bounds, Lift, Stop};
use crate::binding::{DescriptorKind, Heap, Slot};
use crate::bitcode::{Type as Llvm, TypeId, ValueId};
use crate::program::{Class, Component, Resource as Declared, Shape};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::rc::Rc;
use xenoglot_ir::imm::Dim;
use xenoglot_ir::module::{Access, Count, ImageFormat, OutOfBounds, ResourceData, ResourceKind, Texel};
use xenoglot_ir::{Function, Imm, Kind, Module as IrModule, Op, Resource, Type, Value};

/// Most bytes of a constant buffer that a shader sees: 4096 rows.
const MAX_CONSTANT_BUFFER: u32 = 1 << 16;

/// Hosts choose between descriptors of one array by its index, and between no others.
pub(super) const CHOICE: Stop = Stop::Unsupported("a choice between handles");

/// A handle of a resource.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    /// What is declared at its register, or said of a descriptor of a heap.
    pub declared: Declared,
    /// Where its descriptor is.
    pub place: Place,
    /// The resource that it leads to, once that is known; none of an array.
    pub resource: Cell<Option<Resource>>,
}

impl Handle {
    pub fn new(declared: Declared, place: Place) -> Handle {
        Handle { declared, place, resource: Cell::new(None) }
    }

    /// Whether another handle names the same descriptor with the same properties.
    pub fn is_same(&self, other: &Handle, func: &Function) -> bool {
        let is_same_index = |a: Element, b: Element| {
            let constants = || (func.const_bits(a.index), func.const_bits(b.index));
            a.nonuniform == b.nonuniform
                && (a.index == b.index || matches!(constants(), (Some(a), Some(b)) if a == b))
        };
        let is_same_place = match (self.place, other.place) {
            (Place::Register(a), Place::Register(b)) => is_same_index(a, b),
            (Place::Heap(heap, a), Place::Heap(of, b)) => heap == of && is_same_index(a, b),
            _ => false,
        };
        is_same_place && self.declared == other.declared
    }
}

/// Where a descriptor is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// At a register, by its number.
    Register(Element),
    /// In a heap.
    Heap(Heap, Element),
}

impl Place {
    fn element(self) -> Element {
        match self {
            Place::Register(element) | Place::Heap(_, element) => element,
        }
    }

    /// Which descriptor, an `i32`.
    pub fn index(self) -> Value {
        self.element().index
    }

    /// The place beside this one with a number.
    pub fn at(self, index: Value) -> Place {
        match self {
            Place::Register(element) => Place::Register(Element { index, ..element }),
            Place::Heap(heap, element) => Place::Heap(heap, Element { index, ..element }),
        }
    }

    /// What has one of the two places, if a number tells them apart. Which one it is may differ between invocations.
    pub fn of_choice(self, other: Place) -> Option<Place> {
        match (self, other) {
            (Place::Register(a), Place::Register(_)) => {
                Some(Place::Register(Element { nonuniform: true, ..a }))
            }
            (Place::Heap(heap, a), Place::Heap(of, _)) if heap == of => {
                Some(Place::Heap(heap, Element { nonuniform: true, ..a }))
            }
            _ => None,
        }
    }
}

impl Cx<'_> {
    /// The handle of a declared resource at a register.
    pub fn handle(&mut self, declared: Declared, register: ValueId, nonuniform: ValueId) -> Lift<Val> {
        let place = Place::Register(self.descriptor(register, nonuniform)?);
        Ok(Handle::new(declared, place).into())
    }

    /// Which of several descriptors an operation names.
    pub fn descriptor(&mut self, index: ValueId, nonuniform: ValueId) -> Lift<Element> {
        let nonuniform = self.integer(nonuniform).is_ok_and(|n| n != 0);
        Ok(Element { index: self.scalar(index)?, nonuniform })
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
        // Whether it differs between invocations is not said here.
        let nonuniform = index.is_some_and(|v| self.b.func.const_bits(v).is_none());
        let first = self.i32(declared.lower);
        let index = index.map_or(first, |v| self.op(Op::Iadd, &[v, first]));
        let place = Place::Register(Element { index, nonuniform });
        Ok(Handle::new(declared, place).into())
    }

    /// The handle that a value is.
    pub fn handle_of(&mut self, id: ValueId) -> Lift<Rc<Handle>> {
        match self.value(id)? {
            Val::Handle(handle) => Ok(handle),
            _ => Err(Stop::Unsupported("a handle of unknown origin")),
        }
    }

    /// The module's resource of a kind at a slot. Heaps are declared once for each kind of descriptor that is taken of them.
    pub fn declare(
        &mut self,
        declared: &Declared,
        descriptor: DescriptorKind,
        slot: Slot,
        (kind, count): (ResourceKind, Count),
    ) -> Resource {
        let known = self.bound.resources.entry((slot.set, slot.binding)).or_default();
        let resources = &mut self.ir.resources;
        let same = |&&r: &&Resource| resources[r].kind == kind && resources[r].count == count;
        if let Some(&found) = known.iter().find(same) {
            return found;
        }
        let letter = declared.class.letter();
        let counter = descriptor == DescriptorKind::Counter;
        let mut name = match count {
            Count::Unbounded => format!("{letter}_array"),
            _ => format!("{letter}{}", declared.lower),
        };
        if declared.space != 0 {
            name.push_str(&format!("_space{}", declared.space));
        }
        if counter || count == Count::Unbounded || !known.is_empty() {
            name.push_str(&format!("_{}", resources.len()));
        }
        let oob = match self.options.bounds {
            Bounds::Checked => OutOfBounds::Zero,
            Bounds::Device => OutOfBounds::Undefined,
        };
        let data = ResourceData { name, kind, set: slot.set, binding: slot.binding, count, oob };
        let resource = resources.push(data);
        known.push(resource);
        resource
    }

    /// The IR's handle of a texture, image or sampler.
    pub fn opaque(&mut self, handle: &Handle, kind: Kind) -> Lift<Value> {
        match self.bind(handle)? {
            Bound::Resource { resource, element } => Ok(self.opaque_at(resource, element, kind)),
            Bound::Address(address) if kind == Kind::Accel => {
                Ok(self.inst(Op::AccelAt, Imm::None, &[address], Type::scalar(kind)))
            }
            _ => Err(Stop::Unsupported("a resource of this shape without a descriptor")),
        }
    }

    /// The IR's handle of a typed buffer, and the part of it that the shader sees.
    pub fn texels(&mut self, handle: &Handle, kind: Kind) -> Lift<(Value, Part)> {
        match self.bind(handle)? {
            Bound::Window { resource, element, start, size } => {
                let texels = self.opaque_at(resource, Some(element), kind);
                Ok((texels, Part::Window { start, size }))
            }
            Bound::Resource { resource, element } => Ok((self.opaque_at(resource, element, kind), Part::All)),
            _ => Err(Stop::Unsupported("a typed buffer without a descriptor")),
        }
    }

    /// The number of a texel of the host's buffer. Of those behind the part that the shader sees it is one that no buffer has: hosts
    /// read nothing there and write nothing.
    pub fn texel_of(&mut self, part: Part, index: Value) -> Value {
        let Part::Window { start, size } = part else { return index };
        let (inside, at) = (self.op(Op::IcmpUlt, &[index, size]), self.op(Op::Iadd, &[start, index]));
        let nowhere = self.i32(u32::MAX);
        self.op(Op::Select, &[inside, at, nowhere])
    }

    fn opaque_at(&mut self, resource: Resource, element: Option<Element>, kind: Kind) -> Value {
        let flags = Element::flags(element);
        let index = element.map(|e| e.index);
        let imm = Imm::Resource(resource);
        let inst = self.b.inst(Op::ResourceHandle, flags, imm, index.as_slice(), &[Type::scalar(kind)]);
        self.b.func.results(inst)[0]
    }
}

/// What a resource is in the IR; constant buffers are uniform or storage buffers.
pub(super) fn kind(declared: &Declared, as_storage: bool) -> Lift<ResourceKind> {
    let access = if declared.class == Class::Uav { Access::ReadWrite } else { Access::Read };
    let texel = match declared.component {
        Some(Component::Sint) => Texel::Sint,
        Some(Component::Uint) => Texel::Uint,
        Some(Component::Float) | None => Texel::Float,
    };
    let format = || format(texel, declared.components, declared.wide);
    Ok(match (declared.class, declared.shape) {
        (Class::Cbv, _) if as_storage => ResourceKind::StorageBuffer { access },
        (Class::Cbv, _) => {
            let size = declared.bytes.clamp(1, MAX_CONSTANT_BUFFER).next_multiple_of(16);
            ResourceKind::UniformBuffer { size }
        }
        (Class::Srv | Class::Uav, Shape::RawBuffer | Shape::StructuredBuffer) => {
            ResourceKind::StorageBuffer { access }
        }
        (Class::Srv, Shape::TypedBuffer | Shape::TBuffer) => {
            ResourceKind::Texture { dim: Dim::Buffer, arrayed: false, multisampled: false, texel }
        }
        (Class::Uav, Shape::TypedBuffer) => {
            let (arrayed, multisampled) = (false, false);
            ResourceKind::Image { dim: Dim::Buffer, arrayed, multisampled, access, format: format() }
        }
        (Class::Sampler, _) => ResourceKind::Sampler,
        (Class::Srv, Shape::AccelerationStructure) => ResourceKind::AccelerationStructure,
        (Class::Uav, Shape::FeedbackTexture2D | Shape::FeedbackTexture2DArray) => ResourceKind::Image {
            dim: Dim::D2,
            arrayed: declared.shape == Shape::FeedbackTexture2DArray,
            multisampled: false,
            access,
            format: ImageFormat::R64ui,
        },
        (Class::Srv | Class::Uav, shape) => {
            let (dim, arrayed, multisampled) = texture(shape)?;
            match declared.class {
                Class::Srv => ResourceKind::Texture { dim, arrayed, multisampled, texel },
                _ => ResourceKind::Image { dim, arrayed, multisampled, access, format: format() },
            }
        }
    })
}

/// Takes the formats off images that no atomic accesses.
pub(super) fn drop_formats(ir: &mut IrModule) {
    let mut keep: FxHashSet<Resource> = FxHashSet::default();
    for f in ir.funcs.values() {
        for data in f.insts.values() {
            let traits = data.op.info().traits;
            let is_atomic = matches!(data.imm, Imm::Tex(_)) && traits.reads && traits.writes;
            if !is_atomic {
                continue;
            }
            let handle = data.args.as_slice(&f.pool).first().and_then(|&v| f.def_inst(v));
            match handle.map(|inst| f.insts[inst].imm) {
                Some(Imm::Resource(resource)) => {
                    keep.insert(resource);
                }
                // It may be any.
                _ => return,
            }
        }
    }
    for (resource, data) in ir.resources.iter_mut() {
        if let ResourceKind::Image { format, .. } = &mut data.kind
            && !matches!(format, ImageFormat::R64i | ImageFormat::R64ui)
            && !keep.contains(&resource)
        {
            *format = ImageFormat::unknown(format.texel());
        }
    }
}

/// What a descriptor of a resource is to the host; those of constant buffers are of uniform or storage buffers.
pub(super) fn descriptor_kind(declared: &Declared, as_storage: bool) -> DescriptorKind {
    match (declared.class, declared.shape) {
        (Class::Cbv, _) if as_storage => DescriptorKind::StorageBuffer,
        (Class::Cbv, _) => DescriptorKind::UniformBuffer,
        (Class::Sampler, _) => DescriptorKind::Sampler,
        (_, Shape::RawBuffer | Shape::StructuredBuffer) => DescriptorKind::StorageBuffer,
        (_, Shape::AccelerationStructure) => DescriptorKind::AccelerationStructure,
        (Class::Srv, Shape::TypedBuffer | Shape::TBuffer) => DescriptorKind::UniformTexelBuffer,
        (Class::Uav, Shape::TypedBuffer) => DescriptorKind::StorageTexelBuffer,
        (Class::Srv, _) => DescriptorKind::SampledImage,
        (Class::Uav, _) => DescriptorKind::StorageImage,
    }
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
/// device can convert; the others are the widest of their kind. Texels of 64 bits have one component.
fn format(texel: Texel, components: u8, wide: bool) -> ImageFormat {
    match (texel, components) {
        (Texel::Sint, _) if wide => ImageFormat::R64i,
        (Texel::Uint, _) if wide => ImageFormat::R64ui,
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
