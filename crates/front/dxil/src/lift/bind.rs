//! Where handles lead, as the host's [`Remapper`](crate::binding::Remapper) says.

use super::cx::Cx;
use super::resource::{Handle, Place, descriptor_kind, kind};
use super::{Lift, LiftError, Stop};
use crate::binding::{Argument, DescriptorKind, Heap, Registers, Slot, Target, Windows};
use crate::program::{Class, Component, Resource as Declared, Shape};
use crate::root_signature::Register;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use xenoglot_ir::imm::MemInfo;
use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{Flags, Op, Resource, Space, Type, Value};

/// Which of several descriptors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// An `i32`.
    pub index: Value,
    /// Invocations of a wave may have different ones.
    pub nonuniform: bool,
}

impl Element {
    /// The flags of what takes such an element.
    pub fn flags(element: Option<Element>) -> Flags {
        match element {
            Some(Element { nonuniform: true, .. }) => Flags::NONE.with_nonuniform(),
            _ => Flags::NONE,
        }
    }
}

/// Where a handle leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// To a resource of the module.
    Resource {
        /// The resource.
        resource: Resource,
        /// Which of its descriptors, if it is an array.
        element: Option<Element>,
    },
    /// To a part of a storage buffer or a typed buffer of the module.
    Window {
        /// The buffer.
        resource: Resource,
        /// Which of its descriptors.
        element: Element,
        /// The first byte or texel, an `i32`.
        start: Value,
        /// Bytes or texels from there on, an `i32`.
        size: Value,
    },
    /// To a buffer of words as texels.
    Texels {
        /// The buffer.
        resource: Resource,
        /// Which of its descriptors, if it is an array.
        element: Option<Element>,
    },
    /// To push constants or to the shader's record, from this byte on.
    Inside(Resource, u32),
    /// To memory at an address, an `i64`.
    Address(Value),
}

/// What a shader sees of a typed buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// All texels.
    All,
    /// Those from a place on.
    Window {
        /// The first texel, an `i32`.
        start: Value,
        /// Texels from there on, an `i32`.
        size: Value,
    },
}

/// Resources of the module, and what is known of registers.
#[derive(Default)]
pub(super) struct Bindings {
    /// By set and binding.
    pub resources: FxHashMap<(u32, u32), SmallVec<[Resource; 2]>>,
    targets: FxHashMap<(Class, u32, u32), Target>,
    push: Option<Resource>,
    record: Option<Resource>,
    /// Buffers of the lifter's own.
    own: SmallVec<[(Slot, Resource); 2]>,
}

impl Cx<'_> {
    /// Where a handle leads.
    pub fn bind(&mut self, handle: &Handle) -> Lift<Bound> {
        if let Some(resource) = handle.resource.get() {
            return Ok(Bound::Resource { resource, element: None });
        }
        let declared = &handle.declared;
        if let Some(library) = declared.vendor {
            return Err(self.refused(library).into());
        }
        self.ordered |= declared.ordered;
        let descriptor = descriptor_kind(declared, self.options.constants_as_storage);
        let bound = match handle.place {
            Place::Register(register) => {
                let (target, first, count) = self.registers_target(declared, register)?;
                self.bind_target(declared, target, register, (first, count), descriptor)
            }
            Place::Heap(heap, element) => self.bind_heap(declared, heap, element, descriptor),
        }?;
        if let Bound::Resource { resource, element: None } = bound {
            handle.resource.set(Some(resource));
        }
        Ok(bound)
    }

    /// Where the counter of a structured buffer is.
    pub fn bind_counter(&mut self, handle: &Handle) -> Lift<Bound> {
        let declared = &handle.declared;
        if let Some(library) = declared.vendor {
            return Err(self.refused(library).into());
        }
        match handle.place {
            Place::Register(register) => {
                let registers = self.registers(declared, declared.lower, declared.count);
                let target = self.remapper.counter(&registers).map_err(LiftError::Bind)?;
                let range = (declared.lower, declared.count);
                self.bind_target(declared, target, register, range, DescriptorKind::Counter)
            }
            Place::Heap(heap, element) => self.bind_heap(declared, heap, element, DescriptorKind::Counter),
        }
    }

    fn registers(&self, declared: &Declared, first: u32, count: Option<u32>) -> Registers {
        let first = Register { number: first, space: declared.space };
        Registers { class: declared.class, first, count, stage: self.program.kind }
    }

    /// What the registers of a declaration are bound to, and which they are: the one that is meant, where it is known and
    /// they are not bound together.
    fn registers_target(
        &mut self,
        declared: &Declared,
        register: Element,
    ) -> Lift<(Target, u32, Option<u32>)> {
        let key = (declared.class, declared.space, declared.lower);
        if let Some(&known) = self.bound.targets.get(&key) {
            return Ok((known, declared.lower, declared.count));
        }
        let all = self.registers(declared, declared.lower, declared.count);
        let error = match self.remapper.resource(&all) {
            Ok(target) => {
                self.bound.targets.insert(key, target);
                return Ok((target, declared.lower, declared.count));
            }
            Err(error) => error,
        };
        let Some(number) = self.b.func.const_bits(register.index) else {
            return Err(LiftError::Bind(error).into());
        };
        let number = number.lane(0) as u32;
        let one = self.registers(declared, number, Some(1));
        let target = self.remapper.resource(&one).map_err(LiftError::Bind)?;
        Ok((target, number, Some(1)))
    }

    fn bind_target(
        &mut self,
        declared: &Declared,
        target: Target,
        register: Element,
        (first, count): (u32, Option<u32>),
        descriptor: DescriptorKind,
    ) -> Lift<Bound> {
        use DescriptorKind as D;
        let is_raw = declared.class != Class::Cbv && matches!(descriptor, D::StorageBuffer | D::Counter);
        let as_texels = is_raw && matches!(target, Target::Texels(_));
        let kind = match descriptor {
            _ if as_texels => kind(&words_of(declared), false)?,
            D::Counter => ResourceKind::StorageBuffer { access: Access::ReadWrite },
            _ => kind(declared, self.options.constants_as_storage)?,
        };
        Ok(match target {
            Target::Slot(slot) | Target::Texels(slot) | Target::StaticSampler { slot, .. } => {
                let of_slot = !matches!(target, Target::StaticSampler { .. });
                let count = match count {
                    Some(n) if n > 1 && of_slot => Count::Fixed(n),
                    None if of_slot => Count::Unbounded,
                    _ => Count::One,
                };
                let declared = Declared { lower: first, ..*declared };
                let resource = self.declare(&declared, descriptor, slot, (kind, count));
                let element = match count {
                    Count::One => None,
                    _ => Some(self.moved(register, first.wrapping_neg())),
                };
                match as_texels {
                    true => Bound::Texels { resource, element },
                    false => Bound::Resource { resource, element },
                }
            }
            Target::Table { at, heap, offset } => {
                let table = self.argument(at, Type::I32)?;
                let index = self.moved(register, offset.wrapping_sub(first));
                let index = Element { index: self.op(Op::Iadd, &[table, index.index]), ..index };
                self.bind_heap(declared, heap, index, descriptor)?
            }
            Target::Constants { at, words } => {
                if declared.class != Class::Cbv {
                    return Err(Stop::Unsupported("constants in place of a descriptor"));
                }
                if let Some(address) = self.local_argument(at)? {
                    return Ok(Bound::Address(address));
                }
                let (resource, start) = self.arguments(at, words.saturating_mul(4))?;
                Bound::Inside(resource, start)
            }
            Target::Address { at } => {
                if !matches!(descriptor, D::UniformBuffer | D::StorageBuffer | D::AccelerationStructure) {
                    return Err(Stop::Unsupported("an address in place of a descriptor"));
                }
                Bound::Address(self.argument(at, Type::I64)?)
            }
        })
    }

    /// A descriptor of a heap.
    fn bind_heap(
        &mut self,
        declared: &Declared,
        heap: Heap,
        element: Element,
        descriptor: DescriptorKind,
    ) -> Lift<Bound> {
        let slot = self.remapper.heap(heap, descriptor).map_err(LiftError::Bind)?;
        let element = match self.remapper.descriptor_checks(heap) {
            Some(checks) => self.checked(element, descriptor, checks),
            None => element,
        };
        let kind = match (descriptor, kind(declared, self.options.constants_as_storage)?) {
            // Views of one buffer may be read only or not, and are one array.
            (DescriptorKind::Counter, _) | (_, ResourceKind::StorageBuffer { .. }) => {
                ResourceKind::StorageBuffer { access: Access::ReadWrite }
            }
            (_, kind) => kind,
        };
        let declared = Declared { lower: 0, space: 0, ..*declared };
        let resource = self.declare(&declared, descriptor, slot, (kind, Count::Unbounded));
        let windows = match descriptor {
            DescriptorKind::StorageBuffer => self.remapper.buffer_windows(),
            DescriptorKind::UniformTexelBuffer | DescriptorKind::StorageTexelBuffer => {
                self.remapper.texel_windows()
            }
            _ => None,
        };
        Ok(match windows {
            Some(windows) => {
                let (start, size) = self.window(windows, element.index);
                Bound::Window { resource, element, start, size }
            }
            None => Bound::Resource { resource, element: Some(element) },
        })
    }

    /// A storage buffer of the lifter's own.
    pub fn own_buffer(&mut self, name: &str, slot: Slot) -> Resource {
        if let Some(&(_, known)) = self.bound.own.iter().find(|(of, _)| *of == slot) {
            return known;
        }
        let resource = self.ir.resources.push(ResourceData {
            name: name.into(),
            kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
            set: slot.set,
            binding: slot.binding,
            count: Count::One,
            oob: OutOfBounds::Zero,
        });
        self.bound.own.push((slot, resource));
        resource
    }

    /// The beginning and the size of what a shader sees of a buffer.
    fn window(&mut self, windows: Windows, place: Value) -> (Value, Value) {
        let buffer = self.own_buffer("windows", windows.slot);
        let mem = MemInfo::plain(Space::Storage, Some(buffer), 2);
        let stride = self.i32(windows.stride);
        let first = self.op(Op::Imul, &[place, stride]);
        let mut word = |byte| {
            let byte = self.i32(byte);
            let at = self.op(Op::Iadd, &[first, byte]);
            self.b.load(mem, at, Type::I32)
        };
        (word(windows.start), word(windows.size))
    }

    /// An element some places further.
    fn moved(&mut self, element: Element, by: u32) -> Element {
        let index = match self.b.func.const_bits(element.index) {
            _ if by == 0 => element.index,
            Some(bits) => self.i32((bits.lane(0) as u32).wrapping_add(by)),
            None => {
                let by = self.i32(by);
                self.op(Op::Iadd, &[element.index, by])
            }
        };
        Element { index, ..element }
    }

    /// An argument of the root signature: a word, or two as an address. Of the handle of a table, which records have, it is
    /// the low word.
    pub fn argument(&mut self, at: Argument, ty: Type) -> Lift<Value> {
        let bytes = ty.bytes().unwrap_or(4);
        if let Some(address) = self.local_argument(at)? {
            if matches!(at, Argument::Record(byte) if byte % bytes == 0) {
                return Ok(self.load_at(address, 0, ty));
            }
            let words = [0, 4].map(|byte| self.load_at(address, byte, Type::I32));
            let both = self.op(Op::Build, &words);
            return Ok(self.cast(both, ty));
        }
        let (resource, start) = self.arguments(at, bytes)?;
        let space = self.space_of_arguments(resource);
        let offset = self.i32(start);
        if start % bytes == 0 {
            let mem = MemInfo::plain(space, Some(resource), bytes.trailing_zeros() as u8);
            return Ok(self.b.load(mem, offset, ty));
        }
        // Addresses lie at even words, unless someone puts them elsewhere.
        let mem = MemInfo::plain(space, Some(resource), 2);
        let low = self.b.load(mem, offset, Type::I32);
        let offset = self.i32(start.saturating_add(4));
        let high = self.b.load(mem, offset, Type::I32);
        let both = self.op(Op::Build, &[low, high]);
        Ok(self.cast(both, ty))
    }

    /// The address of a node's local argument: nodes have no shader records.
    fn local_argument(&mut self, at: Argument) -> Lift<Option<Value>> {
        let Argument::Record(byte) = at else { return Ok(None) };
        let Some(local) = self.local_arguments() else { return Ok(None) };
        if byte % 4 != 0 || byte >= MAX_ARGUMENTS {
            return Err(NOWHERE);
        }
        Ok(Some(self.further(local, byte)))
    }

    /// What holds an argument of so many bytes, and the argument's first byte there.
    fn arguments(&mut self, at: Argument, bytes: u32) -> Lift<(Resource, u32)> {
        let (start, push) = match at {
            Argument::Push(word) => (word.saturating_mul(4), true),
            Argument::Record(byte) => (byte, false),
        };
        let end = start.saturating_add(bytes);
        if start % 4 != 0 || end > MAX_ARGUMENTS {
            return Err(NOWHERE);
        }
        let end = if push { end.max(self.remapper.push_words().saturating_mul(4)) } else { end };
        let end = end.clamp(4, MAX_ARGUMENTS).next_multiple_of(4);
        let known = if push { &mut self.bound.push } else { &mut self.bound.record };
        let resources = &mut self.ir.resources;
        let block = self.remapper.argument_block().filter(|_| push);
        let resource = *known.get_or_insert_with(|| {
            let (name, kind) = match (push, block) {
                (true, None) => ("root", ResourceKind::PushConstants { size: 4 }),
                (true, Some(_)) => ("root", ResourceKind::UniformBuffer { size: 16 }),
                (false, _) => ("record", ResourceKind::ShaderRecord { size: 4 }),
            };
            let Slot { set, binding } = block.unwrap_or(Slot { set: 0, binding: 0 });
            let oob = OutOfBounds::Zero;
            resources.push(ResourceData { name: name.into(), kind, set, binding, count: Count::One, oob })
        });
        match &mut resources[resource].kind {
            ResourceKind::PushConstants { size } | ResourceKind::ShaderRecord { size } => {
                *size = (*size).max(end);
            }
            ResourceKind::UniformBuffer { size } => *size = (*size).max(end.next_multiple_of(16)),
            _ => {}
        }
        Ok((resource, start))
    }

    /// The memory that holds arguments.
    pub(super) fn space_of_arguments(&self, resource: Resource) -> Space {
        match self.ir.resources[resource].kind {
            ResourceKind::ShaderRecord { .. } => Space::Record,
            ResourceKind::UniformBuffer { .. } => Space::Uniform,
            _ => Space::Push,
        }
    }
}

/// A buffer as one whose texels are words.
fn words_of(declared: &Declared) -> Declared {
    let component = Some(Component::Uint);
    Declared { shape: Shape::TypedBuffer, component, components: 1, wide: false, ..*declared }
}

const NOWHERE: Stop = Stop::Unsupported("an argument that lies nowhere");

/// Most bytes of arguments: push constants have 256 at most, shader records 4096.
const MAX_ARGUMENTS: u32 = 1 << 12;
