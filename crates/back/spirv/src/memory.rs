//! Byte-addressed memory as typed arrays.
//!
//! Each resource, the shared memory and each function's private memory is declared once, as an array of one element
//! type chosen from all accesses of the module: uniform buffers as vectors of four words (their stride must be 16),
//! other resources as such vectors if every access is a whole aligned one, else as words. A storage buffer with 64-bit
//! atomics is declared once more for them, as an array of 64-bit integers.

use crate::error::{Error, Reason};
use crate::options::{Names, Version};
use crate::pure::const_bits;
use crate::rays::payload_class;
use crate::texture::Textures;
use crate::unit::{Id, Unit};
use rustc_hash::FxHashMap;
use spirv::{Capability, Decoration, Op as S, StorageClass};
use xenoglot_ir::entities::Resource;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::module::{Access, Count, Module, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Function, Imm, Kind, MemInfo, NO_GUEST, Op, Space, Type};

/// How many elements an array has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    /// So many.
    Fixed(u32),
    /// As many as are bound.
    Bound,
}

/// A declared memory.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub(crate) var: Id,
    pub(crate) class: StorageClass,
    /// An element: one word or four.
    pub(crate) element: Type,
    pub(crate) length: Length,
    /// The block that the array is the only member of.
    pub(crate) block: Option<Id>,
    /// Whether the variable is an array of blocks.
    pub(crate) array: bool,
    /// Which of them is accessed.
    pub(crate) descriptor: Option<Descriptor>,
    /// What an access outside does.
    pub(crate) oob: OutOfBounds,
}

/// An element of an array of descriptors.
#[derive(Clone, Copy)]
pub(crate) struct Descriptor {
    pub(crate) index: Id,
    /// Invocations may have different ones.
    pub(crate) nonuniform: bool,
}

impl View {
    /// Whether no other invocation sees it while this one runs.
    pub(crate) fn is_private(self) -> bool {
        matches!(
            self.class,
            StorageClass::Function
                | StorageClass::RayPayloadKHR
                | StorageClass::IncomingRayPayloadKHR
                | StorageClass::HitAttributeKHR
                | StorageClass::CallableDataKHR
                | StorageClass::IncomingCallableDataKHR
        )
    }
}

/// All memories of a module but the private ones.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) textures: Textures,
    resources: SecondaryMap<Resource, Option<View>>,
    /// As 64-bit integers, for atomics.
    wide: SecondaryMap<Resource, Option<View>>,
    shared: Option<View>,
}

/// What is done to one memory.
#[derive(Clone, Copy, Default)]
struct Uses {
    floats: u32,
    ints: u32,
    /// Whole aligned vectors of four words.
    vectors: u32,
    others: u32,
    atomic: bool,
    /// 64-bit atomics.
    wide_atomic: bool,
    written: bool,
    read: bool,
}

impl Uses {
    fn add(&mut self, function: &Function, inst: xenoglot_ir::Inst, mem: MemInfo) {
        let data = &function.insts[inst];
        let args = function.args(inst);
        let value = match data.op {
            Op::Load => function.result(inst),
            _ => args.get(1).copied(),
        };
        let Some(ty) = value.map(|v| function.ty(v)) else { return };
        let float = ty.kind() == Kind::F32;
        *if float { &mut self.floats } else { &mut self.ints } += 1;
        let offset = args.first().and_then(|&a| const_bits(function, a)).map(|b| b.lane(0));
        let aligned = mem.align_log2 >= 4 || offset.is_some_and(|o| o % 16 == 0);
        let whole = ty.kind().bits() == 32 && ty.lanes() == 4 && aligned;
        *if whole { &mut self.vectors } else { &mut self.others } += 1;
        let atomic = !matches!(data.op, Op::Load | Op::Store);
        self.atomic |= atomic;
        self.wide_atomic |= atomic && ty.kind().bits() == 64;
        self.written |= data.op != Op::Load;
        self.read |= data.op != Op::Store;
    }

    /// The kind of most accesses; words where lanes are not words, or are shared by atomics.
    fn kind(&self) -> Kind {
        if self.floats > self.ints && !self.atomic { Kind::F32 } else { Kind::I32 }
    }

    fn element(&self, always_vectors: bool) -> Type {
        let lane = Type::scalar(self.kind());
        let vectors = always_vectors || (self.vectors > 0 && self.others == 0 && !self.atomic);
        if vectors { lane.with_lanes(4).unwrap_or(lane) } else { lane }
    }
}

impl Memory {
    /// Declares resources and shared memory.
    pub(crate) fn declare(unit: &mut Unit, module: &Module) -> Result<Memory, Error> {
        let mut uses: SecondaryMap<Resource, Uses> = SecondaryMap::new();
        let mut shared = Uses::default();
        for function in module.funcs.values() {
            for &block in &function.layout {
                for &inst in &function.blocks[block].insts {
                    let Imm::Mem(mem) = function.insts[inst].imm else { continue };
                    match (mem.space, mem.resource.expand()) {
                        (Space::Shared, _) => shared.add(function, inst, mem),
                        (_, Some(r)) => uses[r].add(function, inst, mem),
                        _ => {}
                    }
                }
            }
        }
        let aliased = shared_places(module, &uses);
        let mut memory = Memory { textures: Textures::declare(unit, module)?, ..Memory::default() };
        for (resource, data) in &module.resources {
            let uses = uses[resource];
            if let ResourceKind::Payload { kind, size } = data.kind {
                let view = declare_words(unit, payload_class(kind), Type::I32, size);
                unit.name(Names::Interface, view.var, &data.name);
                memory.resources[resource] = Some(view);
                continue;
            }
            let view = declare(unit, data, uses, None).map_err(|r| r.at(None, NO_GUEST))?;
            memory.resources[resource] = view;
            if let (Some(view), true) = (view, aliased[resource] && !uses.wide_atomic) {
                unit.decorate(view.var, Decoration::Aliased, &[]);
            }
            if let (Some(view), true, ResourceKind::StorageBuffer { .. }) =
                (view, uses.wide_atomic, data.kind)
            {
                let wide = declare(unit, data, uses, Some(Type::I64)).map_err(|r| r.at(None, NO_GUEST))?;
                memory.wide[resource] = wide;
                for view in [Some(view), wide].into_iter().flatten() {
                    unit.decorate(view.var, Decoration::Aliased, &[]);
                }
            }
        }
        if module.shared_size > 0 {
            let element = shared.element(false);
            let view = declare_words(unit, StorageClass::Workgroup, element, module.shared_size);
            unit.name(Names::Interface, view.var, "shared");
            memory.shared = Some(view);
        }
        Ok(memory)
    }

    /// The view of 64-bit atomics.
    pub(crate) fn wide_view(&self, mem: MemInfo) -> Option<View> {
        mem.resource.expand().and_then(|r| self.wide.get(r).copied().flatten())
    }

    /// The view of a resource.
    pub(crate) fn resource(&self, resource: Resource) -> Option<View> {
        self.resources.get(resource).copied().flatten()
    }

    /// The view an access goes through; `private` is the function's own.
    pub(crate) fn view(&self, mem: MemInfo, private: Option<View>) -> Result<View, Reason> {
        match mem.space {
            Space::Shared => self.shared.ok_or(Reason::Invalid("there is no shared memory")),
            Space::Private => private.ok_or(Reason::Invalid("there is no private memory")),
            Space::Global => Err(Reason::Invalid("pointers have no view")),
            Space::Guest | Space::GuestRegs => Err(Reason::Unsupported("this memory space")),
            _ => mem
                .resource
                .expand()
                .and_then(|r| self.resource(r))
                .ok_or(Reason::Invalid("the resource is no buffer")),
        }
    }
}

/// Private memory of a function: a variable of the function, to be declared in its first block.
pub(crate) fn private(unit: &mut Unit, size: u32) -> View {
    let words = size.div_ceil(4).max(1);
    let (element, length) = (unit.ty(Type::I32), unit.u32(words));
    let array = unit.type_of(S::TypeArray, &[element, length]);
    let pointer = unit.pointer(StorageClass::Function, array);
    let zero = unit.null(array);
    let var = unit.op_raw(S::Variable, pointer, &[StorageClass::Function as u32, zero]);
    View {
        var,
        class: StorageClass::Function,
        element: Type::I32,
        length: Length::Fixed(words),
        block: None,
        array: false,
        descriptor: None,
        oob: OutOfBounds::Undefined,
    }
}

fn declare_words(unit: &mut Unit, class: StorageClass, element: Type, size: u32) -> View {
    let n = size.div_ceil(4 * u32::from(element.lanes())).max(1);
    let (type_id, length) = (unit.ty(element), unit.u32(n));
    // Not interned: arrays in blocks carry a stride, this one may not.
    let array = unit.fresh_type(S::TypeArray, &[type_id, length]);
    let var = unit.variable(class, array);
    let length = Length::Fixed(n);
    let oob = OutOfBounds::Undefined;
    View { var, class, element, length, block: None, array: false, descriptor: None, oob }
}

/// Declares a resource as an array of `element`, or of what suits its uses.
fn declare(
    unit: &mut Unit,
    data: &ResourceData,
    uses: Uses,
    element: Option<Type>,
) -> Result<Option<View>, Reason> {
    let since_1_3 = unit.since(Version::V1_3);
    let (class, size, access) = match data.kind {
        ResourceKind::UniformBuffer { size } => (StorageClass::Uniform, Some(size), Access::Read),
        ResourceKind::ShaderRecord { size } => {
            (StorageClass::ShaderRecordBufferKHR, Some(size), Access::Read)
        }
        ResourceKind::PushConstants { size } => (StorageClass::PushConstant, Some(size), Access::Read),
        ResourceKind::StorageBuffer { access } if since_1_3 => (StorageClass::StorageBuffer, None, access),
        ResourceKind::StorageBuffer { access } => (StorageClass::Uniform, None, access),
        _ => return Ok(None),
    };
    let uniform = matches!(data.kind, ResourceKind::UniformBuffer { .. });
    let mut element = element.unwrap_or_else(|| uses.element(uniform));
    let unbound = matches!(class, StorageClass::PushConstant | StorageClass::ShaderRecordBufferKHR);
    if unbound {
        element = element.lane(); // its size need not be a multiple of 16
    }
    let stride = element.bits() / 8;
    let type_id = unit.ty(element);
    let (array, length) = match size {
        Some(size) => {
            let n = size.div_ceil(stride).max(1);
            let length = unit.u32(n);
            (unit.fresh_type(S::TypeArray, &[type_id, length]), Length::Fixed(n))
        }
        None => (unit.fresh_type(S::TypeRuntimeArray, &[type_id]), Length::Bound),
    };
    unit.decorate(array, Decoration::ArrayStride, &[stride]);
    let block = unit.fresh_type(S::TypeStruct, &[array]);
    let old_storage = size.is_none() && !since_1_3;
    unit.decorate(block, if old_storage { Decoration::BufferBlock } else { Decoration::Block }, &[]);
    unit.decorate_member(block, 0, Decoration::Offset, &[0]);
    if size.is_none() {
        if access == Access::Read || !uses.written {
            unit.decorate_member(block, 0, Decoration::NonWritable, &[]);
        }
        if access == Access::Write && !uses.read {
            unit.decorate_member(block, 0, Decoration::NonReadable, &[]);
        }
    }
    // naga reads arrays without bound of storage buffers only.
    let count = match data.count {
        Count::Unbounded if uniform && unit.options.portable_ops => Count::Fixed(NAGA_UNIFORM_BUFFERS),
        count => count,
    };
    let declared = descriptors(unit, count, block);
    let var = unit.variable(class, declared);
    unit.name(Names::Interface, var, &data.name);
    unit.name(Names::Interface, block, &format!("{}_block", data.name));
    unit.member_name(block, 0, "data");
    if !unbound {
        unit.decorate(var, Decoration::DescriptorSet, &[data.set]);
        unit.decorate(var, Decoration::Binding, &[data.binding]);
    }
    let array = data.count != Count::One;
    let (block, oob) = (Some(block), data.oob);
    Ok(Some(View { var, class, element, length, block, array, descriptor: None, oob }))
}

/// Elements of an array without bound of uniform buffers, in what naga reads.
const NAGA_UNIFORM_BUFFERS: u32 = 4096;

/// The type of as many descriptors as a resource has.
pub(crate) fn descriptors(unit: &mut Unit, count: Count, of: Id) -> Id {
    match count {
        Count::One => of,
        Count::Fixed(n) => {
            let n = unit.u32(n.max(1));
            unit.type_of(S::TypeArray, &[of, n])
        }
        Count::Unbounded => {
            unit.capability(Capability::RuntimeDescriptorArray);
            unit.descriptor_indexing();
            unit.type_of(S::TypeRuntimeArray, &[of])
        }
    }
}

/// Resources that are bound where another one is: heaps, which are declared once for each use of their descriptors.
fn shared_places(module: &Module, uses: &SecondaryMap<Resource, Uses>) -> SecondaryMap<Resource, bool> {
    let mut first: FxHashMap<(u32, u32), Resource> = FxHashMap::default();
    let mut shared = SecondaryMap::new();
    for (resource, data) in &module.resources {
        let buffer = matches!(data.kind, ResourceKind::StorageBuffer { .. });
        if !buffer || !(uses[resource].read || uses[resource].written) {
            continue;
        }
        if let Some(&other) = first.get(&(data.set, data.binding)) {
            shared[other] = true;
            shared[resource] = true;
        }
        first.insert((data.set, data.binding), resource);
    }
    shared
}
