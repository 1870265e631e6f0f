//! Memory of the invocation and of the workgroup: addresses, loads and stores.
//!
//! Objects lie one after the other in the bytes of their space. An address that is computed is held within its object,
//! or within the space where the object is not known: what D3D leaves undefined stays within.

use super::constants::widen_half;
use super::cx::Cx;
use super::layout::{Layout, layouts};
use super::val::Val;
use super::{Lift, LiftError, Limits, Stop};
use crate::bitcode::{Constant, Def, InstKind, Module, Type as Llvm, TypeId, ValueId};
use crate::program::Program;
use rustc_hash::FxHashMap;
use xenoglot_ir::imm::{Order, Scope};
use xenoglot_ir::{Imm, MemInfo, Op, Resource, Space, Type, Value};

/// Address space of memory of the workgroup.
const GROUPSHARED: u32 = 3;

/// Address space of records of work graphs.
const RECORDS: u32 = 6;

/// Where objects lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// Memory of the invocation.
    Private,
    /// Memory of the workgroup.
    Shared,
    /// Memory that is handed to other shaders.
    Payload(Resource),
    /// The record of a work graph at an address, an `i64`.
    Record(Value),
}

impl Region {
    /// The region of an address space; of records, which have one each, none.
    pub fn of_space(space: u32) -> Lift<Region> {
        match space {
            0 => Ok(Region::Private),
            GROUPSHARED => Ok(Region::Shared),
            _ => Err(Stop::Unsupported("an address space that the shader has not")),
        }
    }

    /// Whether an address space is that of records.
    pub fn is_record(space: u32) -> bool {
        space == RECORDS
    }

    /// Whether addresses of both are told apart by their numbers.
    pub fn is_like(self, other: Region) -> bool {
        self == other || matches!((self, other), (Region::Record(_), Region::Record(_)))
    }

    /// A plain access to it.
    pub fn access(self, align_log2: u8) -> MemInfo {
        match self {
            Region::Private => MemInfo::plain(Space::Private, None, align_log2),
            Region::Shared => MemInfo::plain(Space::Shared, None, align_log2),
            Region::Payload(resource) => MemInfo::plain(Space::Payload, Some(resource), align_log2),
            Region::Record(_) => MemInfo::plain(Space::Global, None, align_log2),
        }
    }
}

/// An object that an address leads into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// Bytes of a region.
    Place {
        /// Its first byte.
        start: u32,
        /// How many bytes it has.
        size: u32,
    },
    /// A constant global, which has a place only if it is read at an address that is computed.
    Constant(u32),
}

/// An address.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub region: Region,
    pub object: Object,
    /// Bytes from the object's start, without what is computed.
    pub offset: u32,
    /// Bytes that are computed, an `i32`.
    pub dynamic: Option<Value>,
}

/// What lies where.
pub(super) struct Memory {
    /// By type; none for what is not stored.
    layouts: FxHashMap<TypeId, Layout>,
    /// Places of globals.
    globals: FxHashMap<u32, Object>,
    /// A word of the workgroup's memory that is the lifter's own.
    group_word: Option<u32>,
    /// Sizes of payloads.
    pub payloads: FxHashMap<Resource, u32>,
    private: u32,
    shared: u32,
    limits: Limits,
}

impl Memory {
    /// Lays out types and the workgroup's memory.
    pub fn new(module: &Module, program: &Program, limits: Limits) -> Result<Memory, LiftError> {
        let native16 = program.flags.contains(crate::program::ShaderFlags::NATIVE_LOW_PRECISION);
        let mut memory = Memory {
            layouts: layouts(module, native16),
            globals: FxHashMap::default(),
            payloads: FxHashMap::default(),
            group_word: None,
            private: 0,
            shared: 0,
            limits,
        };
        for (index, global) in (0..).zip(&module.globals) {
            if global.space == GROUPSHARED
                && let Some(layout) = memory.layouts.get(&global.ty).copied()
            {
                let object = memory.place(Region::Shared, layout)?;
                memory.globals.insert(index, object);
            }
        }
        Ok(memory)
    }

    pub fn private_size(&self) -> u32 {
        self.private
    }

    pub fn shared_size(&self) -> u32 {
        self.shared
    }

    /// The place of a word of the workgroup's memory that no shader sees.
    pub fn group_word(&mut self) -> Lift<u32> {
        if let Some(word) = self.group_word {
            return Ok(word);
        }
        let Object::Place { start, .. } = self.place(Region::Shared, Layout::WORD)? else {
            return Err(LiftError::Memory.into());
        };
        self.group_word = Some(start);
        Ok(start)
    }

    fn place(&mut self, region: Region, layout: Layout) -> Result<Object, LiftError> {
        let end = match region {
            Region::Private => &mut self.private,
            Region::Shared => &mut self.shared,
            Region::Payload(_) | Region::Record(_) => return Err(LiftError::Memory),
        };
        let start = u64::from(*end).next_multiple_of(layout.align.max(4));
        let next = start.saturating_add(layout.size.next_multiple_of(4));
        if next > self.limits.memory.into() {
            return Err(LiftError::Memory);
        }
        *end = next as u32;
        Ok(Object::Place { start: start as u32, size: (next - start) as u32 })
    }

    /// An address of an object of a type. Which object it is, is known of records alone.
    pub fn anywhere(&self, region: Region, of: TypeId, address: Value) -> Lift<Pointer> {
        Ok(match region {
            Region::Record(_) => {
                let object = Object::Place { start: 0, size: self.size(of)? };
                Pointer { region: Region::Record(address), object, offset: 0, dynamic: None }
            }
            _ => {
                let object = Object::Place { start: 0, size: 0 };
                Pointer { region, object, offset: 0, dynamic: Some(address) }
            }
        })
    }

    /// The start of a payload.
    pub fn whole(&self, region: Region) -> Pointer {
        let size = match region {
            Region::Payload(resource) => self.payloads.get(&resource).copied().unwrap_or(0),
            Region::Private | Region::Shared | Region::Record(_) => 0,
        };
        Pointer { region, object: Object::Place { start: 0, size }, offset: 0, dynamic: None }
    }

    /// Bytes of a type.
    pub fn size(&self, ty: TypeId) -> Lift<u32> {
        Ok(self.layout(ty)?.size as u32)
    }

    fn layout(&self, ty: TypeId) -> Lift<Layout> {
        self.layouts.get(&ty).copied().ok_or(Stop::Unsupported("a type that memory does not hold"))
    }
}

impl Cx<'_> {
    /// The address of a global variable.
    pub fn global(&mut self, index: u32) -> Lift<Val> {
        let global = self.module.globals.get(index as usize).ok_or(Stop::Unsupported("a global"))?;
        if global.initializer.is_none() && self.program.resources.iter().any(|r| r.global == Some(index)) {
            return Ok(Val::Resource(index, None));
        }
        let region = Region::of_space(global.space)?;
        if region == Region::Shared && self.is_thread_node() {
            return Err(Stop::Unsupported("memory of a group where invocations are launched one by one"));
        }
        let object = match self.memory.globals.get(&index) {
            Some(&object) => object,
            None if global.constant && global.initializer.is_some() => Object::Constant(index),
            None => self.placed(index)?,
        };
        Ok(Val::Pointer(Pointer { region, object, offset: 0, dynamic: None }))
    }

    /// Gives a global of the invocation its place, with what it starts with in it.
    fn placed(&mut self, index: u32) -> Lift<Object> {
        if let Some(&object) = self.memory.globals.get(&index) {
            return Ok(object);
        }
        let global = self.module.globals.get(index as usize).ok_or(Stop::Unsupported("a global"))?;
        let layout = self.memory.layout(global.ty)?;
        let object = self.memory.place(Region::Private, layout)?;
        self.memory.globals.insert(index, object);
        if let (Some(initializer), Object::Place { start, .. }) = (global.initializer, object) {
            self.initialize(start, initializer, global.ty)?;
        }
        Ok(object)
    }

    /// Stores what a global starts with in front of everything.
    fn initialize(&mut self, start: u32, value: ValueId, ty: TypeId) -> Lift<()> {
        let mut work = vec![(start, value, ty)];
        while let Some((at, value, ty)) = work.pop() {
            let constant = match self.def(value)? {
                Def::Constant(constant) => constant,
                _ => return Err(Stop::Unsupported("a variable that starts with an address")),
            };
            match constant {
                Constant::Undef => {}
                Constant::Aggregate(members) => {
                    for (i, &member) in (0..).zip(members.iter()) {
                        let (offset, ty) = self.member(ty, i)?;
                        work.push((at.wrapping_add(offset), member, ty));
                    }
                }
                Constant::Data(data) => {
                    let (_, of) = self.member(ty, 0)?;
                    for (i, &bits) in (0..).zip(data.iter()) {
                        let (offset, _) = self.member(ty, i)?;
                        self.initialize_scalar(at.wrapping_add(offset), bits, of)?;
                    }
                }
                Constant::Null => {
                    let size = self.memory.layout(ty)?.size;
                    let mem = MemInfo::plain(Space::Private, None, 2);
                    let zero = self.i32(0);
                    for word in (0..size as u32).step_by(4) {
                        let address = self.i32(at.wrapping_add(word));
                        self.in_prelude(|b| b.store(mem, address, zero));
                    }
                }
                Constant::Integer(bits) | Constant::Float(bits) => self.initialize_scalar(at, *bits, ty)?,
                _ => return Err(Stop::Unsupported("a variable that starts with an expression")),
            }
        }
        Ok(())
    }

    fn initialize_scalar(&mut self, at: u32, bits: u64, ty: TypeId) -> Lift<()> {
        let v = self.lift_bits(bits, ty)?;
        let held = self.held(self.ty(v));
        let v = match self.ty(v) {
            ty if ty == held => v,
            Type::F16 => self.constant(held, widen_half(bits)),
            ty => self.constant(held, bits & ty.kind().mask()),
        };
        let (v, align) = self.stored(v);
        let address = self.i32(at);
        self.in_prelude(|b| b.store(MemInfo::plain(Space::Private, None, align), address, v));
        Ok(())
    }

    /// Offset and type of a member.
    fn member(&self, ty: TypeId, index: u64) -> Lift<(u32, TypeId)> {
        let bad = Stop::Unsupported("an index outside of a type");
        match self.module.types.get(ty) {
            Some(&Llvm::Array { of, .. } | &Llvm::Vector { of, .. }) => {
                let size = self.memory.layout(of)?.size;
                let offset = size.checked_mul(index).and_then(|o| u32::try_from(o).ok()).ok_or(bad)?;
                Ok((offset, of))
            }
            Some(Llvm::Struct { fields, .. }) => {
                let index = usize::try_from(index).ok().filter(|&i| i < fields.len()).ok_or(bad.clone())?;
                let mut at = 0u64;
                for &field in &fields[..index] {
                    let layout = self.memory.layout(field)?;
                    at = at.next_multiple_of(layout.align).saturating_add(layout.size);
                }
                at = at.next_multiple_of(self.memory.layout(fields[index])?.align);
                Ok((u32::try_from(at).map_err(|_| bad)?, fields[index]))
            }
            _ => Err(bad),
        }
    }

    /// Memory of the invocation for an `alloca`.
    pub fn alloca(&mut self, of: TypeId, count: u64) -> Lift<Val> {
        let layout = self.memory.layout(of)?;
        let size = layout.size.checked_mul(count).ok_or(LiftError::Memory)?;
        let object = self.memory.place(Region::Private, Layout { size, ..layout })?;
        Ok(Val::Pointer(Pointer { region: Region::Private, object, offset: 0, dynamic: None }))
    }

    /// Address arithmetic.
    pub fn gep(&mut self, of: TypeId, operands: &[ValueId]) -> Lift<Val> {
        let (&base, indices) = operands.split_first().ok_or(Stop::Unsupported(""))?;
        let mut pointer = match self.value(base)? {
            Val::Resource(global, None) => return self.resource_address(global, of, indices),
            v => v.pointer()?,
        };
        let mut ty = of;
        for (n, &index) in indices.iter().enumerate() {
            // The first index steps over whole objects.
            let (stride, next) = match (n, self.module.types.get(ty)) {
                (0, _) => (self.memory.layout(ty)?.size, ty),
                (_, Some(Llvm::Struct { .. })) => {
                    let (offset, field) = self.member(ty, self.integer(index)?)?;
                    pointer.offset = pointer.offset.wrapping_add(offset);
                    ty = field;
                    continue;
                }
                (_, Some(&Llvm::Array { of, .. } | &Llvm::Vector { of, .. })) => {
                    (self.memory.layout(of)?.size, of)
                }
                _ => return Err(Stop::Unsupported("an index into what has no members")),
            };
            ty = next;
            self.step(&mut pointer, index, stride as u32)?;
        }
        Ok(Val::Pointer(pointer))
    }

    /// Adds `index * stride` bytes.
    fn step(&mut self, pointer: &mut Pointer, index: ValueId, stride: u32) -> Lift<()> {
        if let Ok(number) = self.integer(index) {
            pointer.offset = pointer.offset.wrapping_add((number as u32).wrapping_mul(stride));
            return Ok(());
        }
        let scalar = self.scalar_type_of(index)?;
        let v = self.scalar(index)?;
        let v = self.signed(v, scalar);
        let v = self.resize_signed(v, Type::I32);
        let stride = self.i32(stride);
        let bytes = self.op(Op::Imul, &[v, stride]);
        pointer.dynamic = Some(match pointer.dynamic {
            Some(before) => self.op(Op::Iadd, &[before, bytes]),
            None => bytes,
        });
        Ok(())
    }

    pub fn pointer(&mut self, id: ValueId) -> Lift<Pointer> {
        self.value(id)?.pointer()
    }

    /// An address as a number of bytes in its region; of records it is 64 bits wide.
    pub fn address(&mut self, pointer: &Pointer) -> Lift<Value> {
        let start = match pointer.object {
            Object::Place { start, .. } => start,
            Object::Constant(index) => match self.placed(index)? {
                Object::Place { start, .. } => start,
                Object::Constant(_) => return Err(Stop::Unsupported("a global")),
            },
        };
        let fixed = self.i32(start.wrapping_add(pointer.offset));
        let address = match pointer.dynamic {
            Some(v) => self.op(Op::Iadd, &[v, fixed]),
            None => fixed,
        };
        Ok(self.in_region(pointer.region, address))
    }

    /// The address of a byte of a region.
    fn in_region(&mut self, region: Region, byte: Value) -> Value {
        let Region::Record(base) = region else { return byte };
        match self.b.func.const_bits(byte) {
            Some(bits) => self.further(base, bits.lane(0) as u32),
            None => {
                let byte = self.resize(byte, Type::I64);
                self.op(Op::Iadd, &[base, byte])
            }
        }
    }

    /// Where an access of `bytes` bytes goes: within the object.
    pub fn access(&mut self, pointer: &Pointer, bytes: u32) -> Lift<Value> {
        let byte = self.accessed_byte(pointer, bytes)?;
        Ok(self.in_region(pointer.region, byte))
    }

    fn accessed_byte(&mut self, pointer: &Pointer, bytes: u32) -> Lift<Value> {
        let (start, size) = match pointer.object {
            Object::Place { start, size } => (start, size),
            Object::Constant(index) => match self.placed(index)? {
                Object::Place { start, size } => (start, size),
                Object::Constant(_) => return Err(Stop::Unsupported("a global")),
            },
        };
        // An object of no size is one that is not known: it may be anywhere in the region.
        let (start, size) = match (size, pointer.region) {
            (0, Region::Shared) => (0, self.memory.shared),
            (0, Region::Private | Region::Record(_)) => {
                return Err(Stop::Unsupported("an address of unknown origin"));
            }
            (0, Region::Payload(resource)) => (0, self.memory.payloads.get(&resource).copied().unwrap_or(0)),
            _ => (start, size),
        };
        let last = size.checked_sub(bytes).ok_or(Stop::Unsupported("an access outside of a variable"))?;
        match pointer.dynamic {
            None => {
                let offset = pointer.offset.min(last & !(bytes - 1));
                Ok(self.i32(start.wrapping_add(offset)))
            }
            Some(v) => {
                let fixed = self.i32(pointer.offset);
                let v = if pointer.offset == 0 { v } else { self.op(Op::Iadd, &[v, fixed]) };
                let last = self.i32(last & !(bytes - 1));
                let v = self.op(Op::Umin, &[v, last]);
                let start_value = self.i32(start);
                Ok(if start == 0 { v } else { self.op(Op::Iadd, &[v, start_value]) })
            }
        }
    }

    /// Whether what others write there meanwhile has to be seen.
    fn is_coherent(&self, region: Region) -> bool {
        matches!(region, Region::Record(_)) && self.given.is_some_and(|given| given.coherent)
    }

    /// A value in the form memory holds it in, and the logarithm of its alignment.
    fn stored(&mut self, v: Value) -> (Value, u8) {
        let v = self.as_memory(v);
        (v, self.ty(v).bytes().unwrap_or(4).trailing_zeros() as u8)
    }

    /// Reads a value of a type.
    pub fn load(&mut self, pointer: &Pointer, ty: TypeId, volatile: bool) -> Lift<Val> {
        if let Some(members) = self.members_of(ty)? {
            let mut all = Vec::new();
            for i in 0..members {
                let (offset, of) = self.member(ty, i)?;
                let at = Pointer { offset: pointer.offset.wrapping_add(offset), ..pointer.clone() };
                all.push(self.load(&at, of, volatile)?);
            }
            return Ok(Val::members(all));
        }
        self.load_scalar(pointer, ty, volatile).map(Val::Scalar)
    }

    /// Reads a scalar of a type.
    pub fn load_scalar(&mut self, pointer: &Pointer, ty: TypeId, volatile: bool) -> Lift<Value> {
        if let (Object::Constant(global), None) = (pointer.object, pointer.dynamic)
            && let Some(bits) = self.constant_at(global, pointer.offset)
        {
            return self.lift_bits(bits, ty);
        }
        let scalar = self.scalar_type(ty)?;
        let held = self.held(scalar.ty);
        let bytes = held.bytes().unwrap_or(4);
        let address = self.access(pointer, bytes)?;
        let mut mem = pointer.region.access(bytes.trailing_zeros() as u8);
        mem.volatile = volatile || self.is_coherent(pointer.region);
        let v = self.b.load(mem, address, held);
        Ok(self.of_memory(v, scalar.ty))
    }

    /// Writes a value of a type.
    pub fn store(&mut self, pointer: &Pointer, v: Val, ty: TypeId, volatile: bool) -> Lift<()> {
        if matches!(pointer.object, Object::Constant(_)) {
            return Err(Stop::Unsupported("a store to a constant"));
        }
        if let Some(members) = self.members_of(ty)? {
            for i in 0..members {
                let (offset, of) = self.member(ty, i)?;
                let at = Pointer { offset: pointer.offset.wrapping_add(offset), ..pointer.clone() };
                let member = v.member(i as usize).ok_or(Stop::Unsupported("a member"))?;
                self.store(&at, member, of, volatile)?;
            }
            return Ok(());
        }
        if matches!(v, Val::Undef) {
            return Ok(());
        }
        let v = self.scalar_of(v, ty)?;
        let (v, align) = self.stored(v);
        let address = self.access(pointer, self.ty(v).bytes().unwrap_or(4))?;
        let mut mem = pointer.region.access(align);
        mem.volatile = volatile || self.is_coherent(pointer.region);
        self.b.store(mem, address, v);
        Ok(())
    }

    /// The bits of a constant global at an offset, if a scalar starts there.
    fn constant_at(&self, global: u32, mut offset: u32) -> Option<u64> {
        let global = self.module.globals.get(global as usize)?;
        let (mut value, mut ty) = (global.initializer?, global.ty);
        loop {
            let Def::Constant(constant) = self.def(value).ok()? else { return None };
            let (index, size) = match self.module.types.get(ty)? {
                Llvm::Array { of, .. } | Llvm::Vector { of, .. } => {
                    let size = self.memory.layout(*of).ok()?.size.max(1) as u32;
                    (offset / size, size)
                }
                Llvm::Struct { .. } => return None,
                _ => {
                    return match constant {
                        Constant::Integer(bits) | Constant::Float(bits) if offset == 0 => Some(*bits),
                        Constant::Null | Constant::Undef if offset == 0 => Some(0),
                        _ => None,
                    };
                }
            };
            ty = self.module.types.member(ty, index.into())?;
            offset -= index * size;
            match constant {
                Constant::Aggregate(members) => value = *members.get(index as usize)?,
                Constant::Data(data) => return data.get(index as usize).copied().filter(|_| offset == 0),
                Constant::Null | Constant::Undef => return offset.is_multiple_of(4).then_some(0),
                _ => return None,
            }
        }
    }

    /// An atomic access to the workgroup's memory or to a record; `args` are the operands behind the address.
    pub fn atomic(&mut self, op: Op, pointer: &Pointer, args: &[Value], ty: Type) -> Lift<Value> {
        let (space, scope) = match pointer.region {
            Region::Shared => (Space::Shared, Scope::Workgroup),
            Region::Record(_) => (Space::Global, Scope::Device),
            Region::Private | Region::Payload(_) => {
                return Err(Stop::Unsupported("an atomic access of this kind"));
            }
        };
        if !matches!(ty, Type::I32 | Type::I64 | Type::F32) {
            return Err(Stop::Unsupported("an atomic access of this kind"));
        }
        let bytes = ty.bytes().unwrap_or(4);
        let address = self.access(pointer, bytes)?;
        let mem = MemInfo {
            order: Order::Relaxed,
            scope,
            ..MemInfo::plain(space, None, bytes.trailing_zeros() as u8)
        };
        let args: Vec<Value> = [address].into_iter().chain(args.iter().copied()).collect();
        Ok(self.inst(op, Imm::Mem(mem), &args, ty))
    }

    /// Whether an instruction is one that only says how long memory is in use.
    pub fn is_lifetime(&self, kind: &InstKind) -> bool {
        let InstKind::Call { callee, .. } = kind else { return false };
        let Ok(Def::Function(index)) = self.def(*callee) else { return false };
        let name = self.module.functions.get(*index as usize).map_or(&[][..], |f| &f.name);
        [&b"llvm.lifetime."[..], b"llvm.dbg."].iter().any(|start| name.starts_with(start))
    }
}
