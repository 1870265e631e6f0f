//! Byte-addressed memory as typed arrays.
//!
//! Each resource, the shared memory and each function's private memory is declared once, as an array of one element
//! type chosen from all accesses of the module: uniform buffers as vectors of four words (their stride must be 16),
//! other resources as such vectors if every access is a whole aligned one, else as words. A storage buffer that is accessed by
//! words and by aligned vectors of two or four of them is declared once for each, if there are enough vectors that this makes
//! the module shorter; with 64-bit atomics once more for those, as an array of 64-bit integers.

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
use xenoglot_ir::module::{Access, Count as Descriptors, Module, OutOfBounds, ResourceData, ResourceKind};
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
                | StorageClass::HitObjectAttributeEXT
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
    /// As vectors of two words and of four, beside the view of words.
    vectors: SecondaryMap<Resource, [Option<View>; 2]>,
    /// Blocks by what is in them: resources of the same shape share one.
    blocks: FxHashMap<Shape, Id>,
    /// As 64-bit integers, for atomics.
    wide: SecondaryMap<Resource, Option<View>>,
    shared: Option<View>,
}

/// What is in a block: elements, how many if that is fixed, and decorations of the member.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    element: Type,
    length: Option<u32>,
    old_storage: bool,
    read_only: bool,
    write_only: bool,
}

/// Accesses of one width.
#[derive(Clone, Copy, Default)]
struct Count {
    floats: u32,
    ints: u32,
}

impl Count {
    fn all(self) -> u32 {
        self.floats + self.ints
    }

    /// The kind of most of them.
    fn kind(self) -> Kind {
        if self.floats > self.ints { Kind::F32 } else { Kind::I32 }
    }
}

/// Vectors of two and of four words that make a view of their own shorter than accesses of words.
const WORTH_PAIRS: u32 = 5;
const WORTH_QUADS: u32 = 2;

/// What is done to one memory.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Aligned vectors of two words, and aligned lanes of 64 bits.
    pairs: Count,
    /// Whole aligned vectors of four words.
    quads: Count,
    others: Count,
    atomic: bool,
    /// 64-bit atomics.
    wide_atomic: bool,
    written: bool,
    read: bool,
}

/// The vector of words that an access is as a whole: of two or four lanes, or none. `align_log2` is what is known of the
/// offset; `tested` says that accesses outside are kept from happening.
pub(crate) fn vector_of(ty: Type, mem: MemInfo, align_log2: u8, tested: bool) -> Option<u8> {
    if mem.order != xenoglot_ir::imm::Order::None || (mem.apart && tested) {
        return None;
    }
    match (ty.kind().bits(), ty.lanes()) {
        (32, 4) if align_log2 >= 4 => Some(4),
        (32, 2) | (64, 1) if align_log2 >= 3 => Some(2),
        _ => None,
    }
}

impl Uses {
    fn add(&mut self, function: &Function, inst: xenoglot_ir::Inst, mem: MemInfo, tested: bool) {
        let data = &function.insts[inst];
        let args = function.args(inst);
        let value = match data.op {
            Op::Load => function.result(inst),
            _ => args.get(1).copied(),
        };
        let Some(ty) = value.map(|v| function.ty(v)) else { return };
        let offset = args.first().and_then(|&a| const_bits(function, a)).map(|b| b.lane(0) as u32);
        let known = offset.map_or(0, |offset| if offset == 0 { 31 } else { offset.trailing_zeros() as u8 });
        let atomic = !matches!(data.op, Op::Load | Op::Store);
        let vector = vector_of(ty, mem, mem.align_log2.max(known), tested).filter(|_| !atomic);
        let count = match vector {
            Some(4) => &mut self.quads,
            Some(_) => &mut self.pairs,
            None => &mut self.others,
        };
        *if ty.kind() == Kind::F32 { &mut count.floats } else { &mut count.ints } += 1;
        self.atomic |= atomic;
        self.wide_atomic |= atomic && ty.kind().bits() == 64;
        self.written |= data.op != Op::Load;
        self.read |= data.op != Op::Store;
    }

    /// The kind of most accesses; words where lanes are not words, or are shared by atomics.
    fn kind(&self) -> Kind {
        let [pairs, quads, others] = [self.pairs, self.quads, self.others];
        let all = Count {
            floats: pairs.floats + quads.floats + others.floats,
            ints: pairs.ints + quads.ints + others.ints,
        };
        if self.atomic { Kind::I32 } else { all.kind() }
    }

    fn element(&self, always_vectors: bool) -> Type {
        let lane = Type::scalar(self.kind());
        let only_quads = self.quads.all() > 0 && self.pairs.all() + self.others.all() == 0;
        let vectors = always_vectors || (only_quads && !self.atomic);
        if vectors { lane.with_lanes(4).unwrap_or(lane) } else { lane }
    }

    /// The elements of the first view of a storage buffer, and of those for vectors of two and of four words beside it.
    fn views(&self) -> (Type, [Option<Type>; 2]) {
        let vector = |count: Count, lanes| Type::scalar(count.kind()).with_lanes(lanes);
        let (pairs, quads) = (self.pairs.all(), self.quads.all());
        let mut beside = [
            vector(self.pairs, 2).filter(|_| pairs >= WORTH_PAIRS),
            vector(self.quads, 4).filter(|_| quads >= WORTH_QUADS),
        ];
        if self.others.all() == 0 && !self.atomic {
            // There need not be words: the first of the other views that take all is the first view.
            match (pairs, quads, beside) {
                (1.., 0, _) => return (vector(self.pairs, 2).unwrap_or(Type::I32), [None; 2]),
                (0, 1.., _) => return (vector(self.quads, 4).unwrap_or(Type::I32), [None; 2]),
                (1.., 1.., [Some(_), Some(quad)]) => {
                    beside[1] = None;
                    return (quad, beside);
                }
                _ => {}
            }
        }
        let kind = if self.atomic { Kind::I32 } else { self.others.kind() };
        (Type::scalar(kind), beside)
    }
}

/// Whether accesses outside of a resource are kept from happening by code.
fn is_tested(unit: &Unit, oob: OutOfBounds) -> bool {
    let options = &unit.options;
    match oob {
        _ if options.host_bounds => false,
        OutOfBounds::Undefined => options.robust,
        _ => true,
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
                    let data = &function.insts[inst];
                    if let (Op::BufferSize, Imm::Resource(r)) = (data.op, data.imm) {
                        // A size is one of words.
                        uses[r].others.ints += 1;
                    }
                    let Imm::Mem(mem) = data.imm else { continue };
                    match (mem.space, mem.resource.expand()) {
                        (Space::Shared, _) => shared.add(function, inst, mem, false),
                        (_, Some(r)) => {
                            let tested = is_tested(unit, module.resources[r].oob);
                            uses[r].add(function, inst, mem, tested);
                        }
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
            // naga takes one view of a resource.
            let several =
                matches!(data.kind, ResourceKind::StorageBuffer { .. }) && !unit.options.portable_ops;
            let (element, beside) = match several {
                true => {
                    let (element, beside) = uses.views();
                    (Some(element), beside)
                }
                false => (None, [None; 2]),
            };
            let blocks = &mut memory.blocks;
            let view = declare(unit, blocks, data, uses, element).map_err(|r| r.at(None, NO_GUEST))?;
            memory.resources[resource] = view;
            for (at, element) in beside.into_iter().enumerate() {
                let Some(element) = element else { continue };
                let blocks = &mut memory.blocks;
                let view = declare(unit, blocks, data, uses, Some(element));
                let view = view.map_err(|r| r.at(None, NO_GUEST))?;
                memory.vectors[resource][at] = view;
            }
            let vectors = memory.vectors[resource];
            let is_aliased = aliased[resource] || (uses.written && vectors.iter().any(Option::is_some));
            if is_aliased {
                let first = view.filter(|_| !uses.wide_atomic);
                for view in [first].into_iter().chain(vectors).flatten() {
                    unit.decorate(view.var, Decoration::Aliased, &[]);
                }
            }
            if let (Some(view), true, ResourceKind::StorageBuffer { .. }) =
                (view, uses.wide_atomic, data.kind)
            {
                let blocks = &mut memory.blocks;
                let wide = declare(unit, blocks, data, uses, Some(Type::I64));
                let wide = wide.map_err(|r| r.at(None, NO_GUEST))?;
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

    /// The view that a vector of two or four words goes through, if there is one beside the first.
    pub(crate) fn vector_view(&self, mem: MemInfo, lanes: u8) -> Option<View> {
        let [pairs, quads] = mem.resource.expand().and_then(|r| self.vectors.get(r).copied())?;
        if lanes == 4 { quads } else { pairs }
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
    blocks: &mut FxHashMap<Shape, Id>,
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
    let length = size.map(|size| size.div_ceil(stride).max(1));
    let read_only = size.is_none() && (access == Access::Read || !uses.written);
    let portable = unit.options.portable_ops;
    let shape = Shape {
        element,
        length,
        old_storage: size.is_none() && !since_1_3,
        // naga takes types of the same members for one, decorations aside, so it gets those of the variable. What is only written
        // is for both in WGSL.
        read_only: read_only && !portable,
        write_only: size.is_none() && access == Access::Write && !uses.read && !portable,
    };
    // What naga writes has a type for each.
    let known = blocks.get(&shape).copied().filter(|_| !portable);
    let block = known.unwrap_or_else(|| {
        let block = declare_block(unit, shape);
        unit.name(Names::Interface, block, &format!("{}_block", data.name));
        unit.member_name(block, 0, "data");
        block
    });
    blocks.insert(shape, block);
    let length = length.map_or(Length::Bound, Length::Fixed);
    // naga reads arrays without bound of storage buffers only.
    let count = match data.count {
        Descriptors::Unbounded if uniform && portable => Descriptors::Fixed(NAGA_UNIFORM_BUFFERS),
        count => count,
    };
    let declared = descriptors(unit, count, block);
    let var = unit.variable(class, declared);
    if read_only && portable {
        unit.decorate(var, Decoration::NonWritable, &[]);
    }
    unit.name(Names::Interface, var, &data.name);
    if !unbound {
        unit.decorate(var, Decoration::DescriptorSet, &[data.set]);
        unit.decorate(var, Decoration::Binding, &[data.binding]);
    }
    let array = data.count != Descriptors::One;
    let (block, oob) = (Some(block), data.oob);
    Ok(Some(View { var, class, element, length, block, array, descriptor: None, oob }))
}

/// Declares a block of a shape.
fn declare_block(unit: &mut Unit, shape: Shape) -> Id {
    let type_id = unit.ty(shape.element);
    let array = match shape.length {
        Some(n) => {
            let length = unit.u32(n);
            unit.fresh_type(S::TypeArray, &[type_id, length])
        }
        None => unit.fresh_type(S::TypeRuntimeArray, &[type_id]),
    };
    unit.decorate(array, Decoration::ArrayStride, &[shape.element.bits() / 8]);
    let block = unit.fresh_type(S::TypeStruct, &[array]);
    let kind = if shape.old_storage { Decoration::BufferBlock } else { Decoration::Block };
    unit.decorate(block, kind, &[]);
    unit.decorate_member(block, 0, Decoration::Offset, &[0]);
    if shape.read_only {
        unit.decorate_member(block, 0, Decoration::NonWritable, &[]);
    }
    if shape.write_only {
        unit.decorate_member(block, 0, Decoration::NonReadable, &[]);
    }
    block
}

/// Elements of an array without bound of uniform buffers, in what naga reads.
const NAGA_UNIFORM_BUFFERS: u32 = 4096;

/// The type of as many descriptors as a resource has.
pub(crate) fn descriptors(unit: &mut Unit, count: Descriptors, of: Id) -> Id {
    match count {
        Descriptors::One => of,
        Descriptors::Fixed(n) => {
            let n = unit.u32(n.max(1));
            unit.type_of(S::TypeArray, &[of, n])
        }
        Descriptors::Unbounded => {
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
