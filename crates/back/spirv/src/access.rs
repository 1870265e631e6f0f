//! Loads, stores and atomics: byte offsets as elements of the memory's view.

mod atomic;
mod number;

pub(crate) use atomic::host_atomic;

use crate::body::Body;
use crate::error::Reason;
use crate::inst::{scope, semantics};
use crate::memory::{Descriptor, Length, View, vector_of};
use crate::offsets::{self, Parts};
use crate::pure::const_bits;
use crate::unit::Id;
use number::{Number, Word};
use smallvec::SmallVec;
use spirv::{Capability, Decoration, MemoryAccess, MemorySemantics, Op as S, StorageClass};
use xenoglot_ir::imm::Order;
use xenoglot_ir::module::OutOfBounds;
use xenoglot_ir::{Kind, MemInfo, Op, Resource, Space, Type, Value};

/// Whether a place is inside.
#[derive(Clone, Copy)]
enum Inside {
    Yes,
    No,
    If(Id),
}

const ALIGN: Reason = Reason::Unsupported("an access that is not aligned to its lanes");
const OPERANDS: Reason = Reason::Invalid("the operands of an access");

impl Body<'_, '_> {
    pub(crate) fn access(
        &mut self,
        op: Op,
        mem: MemInfo,
        nonuniform: bool,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Id>, Reason> {
        if mem.space == Space::Global {
            return self.access_pointer(op, mem, args, result);
        }
        let (&offset, mut operands) = args.split_first().ok_or(OPERANDS)?;
        let mut view = self.shared.memory.view(mem, self.private)?;
        if view.oob == OutOfBounds::Fault {
            return Err(Reason::Unsupported("a shader cannot fault"));
        }
        if view.array {
            let (&index, rest) = operands.split_last().ok_or(OPERANDS)?;
            operands = rest;
            view.descriptor = Some(self.descriptor(&view, index, nonuniform));
        }
        let place = match const_bits(self.function, offset) {
            Some(bits) => Number::Known(bits.lane(0) as u32),
            None if self.function.ty(offset) != Type::I32 => {
                return Err(Reason::Unsupported("an offset that is no 32-bit integer"));
            }
            None => self.offset(offset),
        };
        // A known offset says more than the promise.
        let align = match place {
            Number::Known(n) if n != 0 => mem.align_log2.max(n.trailing_zeros() as u8),
            Number::Known(_) => 31,
            Number::Id(_) | Number::Scaled { .. } => mem.align_log2,
        };
        // The view beside the first one that takes all of it at once.
        let accessed = match op {
            Op::Load => result.map(|v| self.function.ty(v)),
            Op::Store => operands.first().map(|&v| self.function.ty(v)),
            _ => None,
        };
        if let Some(lanes) = accessed.and_then(|ty| vector_of(ty, mem, align, self.is_tested(&view)))
            && let Some(vectors) = self.shared.memory.vector_view(mem, lanes)
        {
            view = View { descriptor: view.descriptor, ..vectors };
        }
        match (op, result, operands) {
            (Op::Load, Some(result), []) => {
                let ty = self.function.ty(result);
                self.load(&view, mem, place, align, ty).map(Some)
            }
            (Op::Store, _, &[value]) => {
                let (id, ty) = (self.value(value), self.function.ty(value));
                self.store(&view, mem, place, align, ty, id).map(|()| None)
            }
            (_, Some(result), values) => {
                let ty = self.function.ty(result);
                if matches!(op, Op::AtomicFadd | Op::AtomicIncWrap | Op::AtomicDecWrap) {
                    return Err(Reason::Unsupported("the pass `lower_memory` makes loops of this atomic"));
                }
                if matches!(op, Op::AtomicSmin | Op::AtomicSmax) && self.unit().options.portable_ops {
                    return Err(Reason::Unsupported(
                        "the pass `lower_signed_atomics` makes loops of this atomic",
                    ));
                }
                let least = if ty == Type::I64 { 3 } else { 2 };
                if !matches!(ty, Type::I32 | Type::I64) || align < least {
                    return Err(Reason::Unsupported(
                        "atomics on anything but aligned words or pairs of them",
                    ));
                }
                let view = if ty == Type::I64 {
                    self.unit().capability(Capability::Int64Atomics);
                    let wide = self.shared.memory.wide_view(mem);
                    let wide =
                        wide.ok_or(Reason::Unsupported("64-bit atomics on anything but storage buffers"))?;
                    View { descriptor: view.descriptor, ..wide }
                } else {
                    view
                };
                let values: SmallVec<[Id; 2]> = values.iter().map(|&v| self.value(v)).collect();
                self.atomic(op, &view, mem, place, &values).map(Some)
            }
            _ => Err(OPERANDS),
        }
    }

    // Numbers: constants are computed here, not there.

    /// Whether accesses outside are kept from happening.
    fn is_tested(&self, view: &View) -> bool {
        let options = &self.shared.unit.options;
        match view.oob {
            _ if view.block.is_some() && options.host_bounds => false,
            OutOfBounds::Undefined => options.robust,
            _ => true,
        }
    }

    fn inside(&mut self, view: &View, element: Number) -> Inside {
        let checked = self.is_tested(view);
        match (view.length, element) {
            (Length::Fixed(n), Number::Known(e)) if e < n => Inside::Yes,
            (Length::Fixed(_), Number::Known(_)) => Inside::No,
            _ if !checked => Inside::Yes,
            (length, element) => {
                let element = self.id(element);
                let n = match length {
                    Length::Fixed(n) => self.unit().u32(n),
                    Length::Bound => self.bound_length(view),
                };
                let unit = self.unit();
                Inside::If(unit.op(S::ULessThan, Type::BOOL, &[element, n]))
            }
        }
    }

    /// Which element of an array of buffers an access goes to.
    fn descriptor(&mut self, view: &View, index: Value, nonuniform: bool) -> Descriptor {
        use Capability as C;
        let constant = const_bits(self.function, index).is_some();
        let index = self.value(index);
        let unit = self.unit();
        if unit.options.portable_ops {
            // naga finds out by itself where indices differ, and knows no capability for it.
            return Descriptor { index, nonuniform: false };
        }
        let (dynamic, differing) = match view.length {
            Length::Bound => (C::StorageBufferArrayDynamicIndexing, C::StorageBufferArrayNonUniformIndexing),
            Length::Fixed(_) => {
                (C::UniformBufferArrayDynamicIndexing, C::UniformBufferArrayNonUniformIndexing)
            }
        };
        if !constant {
            unit.capability(dynamic);
        }
        if nonuniform {
            unit.capability(C::ShaderNonUniform);
            unit.capability(differing);
            unit.descriptor_indexing();
        }
        Descriptor { index, nonuniform }
    }

    /// Elements of what is bound.
    fn bound_length(&mut self, view: &View) -> Id {
        match (view.descriptor, view.block) {
            (Some(descriptor), Some(block)) => {
                let unit = self.unit();
                let pointer = unit.pointer(view.class, block);
                let block = unit.op_raw(S::AccessChain, pointer, &[view.var, descriptor.index]);
                if descriptor.nonuniform {
                    unit.decorate(block, Decoration::NonUniform, &[]);
                }
                unit.op(S::ArrayLength, Type::I32, &[block, 0])
            }
            _ => self.length(view.var, |body| body.unit().op(S::ArrayLength, Type::I32, &[view.var, 0])),
        }
    }

    /// Bytes of a buffer.
    pub(crate) fn buffer_size(
        &mut self,
        resource: Resource,
        nonuniform: bool,
        args: &[Value],
        ty: Type,
    ) -> Result<Id, Reason> {
        let mem = MemInfo::plain(Space::Storage, Some(resource), 2);
        let mut view = self.shared.memory.view(mem, None)?;
        if let (true, Some(&index)) = (view.array, args.first()) {
            view.descriptor = Some(self.descriptor(&view, index, nonuniform));
        }
        let stride = view.element.bits() / 8;
        let bytes = match view.length {
            Length::Fixed(n) => self.unit().u32(n * stride),
            Length::Bound => {
                let n = self.bound_length(&view);
                let unit = self.unit();
                let stride = unit.u32(stride);
                unit.op(S::IMul, Type::I32, &[n, stride])
            }
        };
        Ok(if ty == Type::I64 { self.unit().op(S::UConvert, ty, &[bytes]) } else { bytes })
    }

    fn pointer(&mut self, view: &View, ty: Type, element: Number, component: Option<Number>) -> Id {
        let element = self.id(element);
        let component = component.map(|component| self.id(component));
        let descriptor = view.descriptor.map_or(0, |d| d.index);
        let key = [S::AccessChain as u32, view.var, element, component.unwrap_or(0) ^ descriptor << 1];
        match view.descriptor {
            // Two numbers do not fit the key.
            Some(_) if component.is_some() => self.chain(view, ty, element, component),
            _ => self.once(key, |body| body.chain(view, ty, element, component)),
        }
    }

    fn chain(&mut self, view: &View, ty: Type, element: Id, component: Option<Id>) -> Id {
        let member = view.block.map(|_| self.unit().u32(0));
        let unit = self.unit();
        let type_id = unit.ty(ty);
        let pointer = unit.pointer(view.class, type_id);
        let id = match (view.descriptor, member, component) {
            (None, Some(member), None) => unit.op_raw(S::AccessChain, pointer, &[view.var, member, element]),
            (descriptor, member, component) => {
                let mut words: SmallVec<[u32; 5]> = SmallVec::from_slice(&[view.var]);
                words.extend(descriptor.map(|d| d.index));
                words.extend(member);
                words.push(element);
                words.extend(component);
                unit.op_raw_of(S::AccessChain, pointer, &words)
            }
        };
        if view.descriptor.is_some_and(|d| d.nonuniform) {
            unit.decorate(id, Decoration::NonUniform, &[]);
        }
        id
    }

    /// Loads an element or one of its words as `ty`; zeros if it is outside.
    fn load_at(
        &mut self,
        view: &View,
        mem: MemInfo,
        ty: Type,
        at: Word,
        inside: Inside,
    ) -> Result<Id, Reason> {
        let element = match inside {
            Inside::No => return Ok(self.unit().splat(ty, 0)),
            Inside::Yes => at.element,
            Inside::If(cond) => {
                // Element 0 instead: it exists wherever a buffer is bound.
                let (element, zero) = (self.id(at.element), self.unit().u32(0));
                Number::Id(self.unit().choose(Type::I32, cond, element, zero))
            }
        };
        let pointer = self.pointer(view, ty, element, at.component);
        let value = if mem.order == Order::None {
            match mem.volatile {
                false => self.unit().op(S::Load, ty, &[pointer]),
                true => self.unit().op(S::Load, ty, &[pointer, MemoryAccess::VOLATILE.bits()]),
            }
        } else {
            let [scope, order] = self.sync(view.class, mem);
            self.unit().op(S::AtomicLoad, ty, &[pointer, scope, order])
        };
        Ok(match inside {
            Inside::If(cond) => {
                let unit = self.unit();
                let zero = unit.splat(ty, 0);
                unit.select(ty, Type::BOOL, cond, value, zero)
            }
            _ => value,
        })
    }

    fn store_at(&mut self, view: &View, mem: MemInfo, ty: Type, at: Word, inside: Inside, value: Id) {
        let write = |body: &mut Self| {
            let pointer = body.pointer(view, ty, at.element, at.component);
            if mem.order == Order::None {
                match mem.volatile {
                    false => body.unit().effect(S::Store, &[pointer, value]),
                    true => body.unit().effect(S::Store, &[pointer, value, MemoryAccess::VOLATILE.bits()]),
                }
            } else {
                let [scope, order] = body.sync(view.class, mem);
                body.unit().effect(S::AtomicStore, &[pointer, scope, order, value]);
            }
        };
        match inside {
            Inside::No => {}
            Inside::Yes => write(self),
            Inside::If(cond) => {
                self.when(cond, write);
            }
        }
    }

    /// Scope and semantics of an atomic access.
    pub(crate) fn sync(&mut self, class: StorageClass, mem: MemInfo) -> [Id; 2] {
        let mut order = semantics(mem.order);
        if order != MemorySemantics::RELAXED {
            order |= if class == StorageClass::Workgroup {
                MemorySemantics::WORKGROUP_MEMORY
            } else {
                MemorySemantics::UNIFORM_MEMORY
            };
        }
        [scope(mem.scope) as u32, order.bits()].map(|w| self.unit().u32(w))
    }

    fn ordered(&self, view: &View, mem: MemInfo, ty: Type) -> Result<(), Reason> {
        let word = ty.is_scalar() && ty.kind().bits() == 32 && view.element.is_scalar();
        if mem.order != Order::None && (!word || view.element.kind() != ty.kind()) {
            return Err(Reason::Unsupported("an atomic access of anything but one word"));
        }
        Ok(())
    }

    fn load(&mut self, view: &View, mem: MemInfo, place: Number, align: u8, ty: Type) -> Result<Id, Reason> {
        self.ordered(view, mem, ty)?;
        let (bits, lanes) = (ty.kind().bits(), u32::from(ty.lanes()));
        if u32::from(align) < (bits / 8).trailing_zeros() {
            return Err(ALIGN);
        }
        // Two words at once.
        if view.element.lanes() == 2 {
            let element = self.calc(S::ShiftRightLogical, place, 3);
            let inside = self.inside(view, element);
            let whole = self.load_at(view, mem, view.element, Word { element, component: None }, inside)?;
            return Ok(self.cast(view.element, ty, whole));
        }
        // Several words of one vector element at once.
        if !view.element.is_scalar() && align >= 4 && bits == 32 && lanes > 1 {
            let element = self.calc(S::ShiftRightLogical, place, 4);
            let inside = self.inside(view, element);
            let whole = self.load_at(view, mem, view.element, Word { element, component: None }, inside)?;
            let unit = self.unit();
            let own = view.element.with_lanes(lanes as u8).unwrap_or(view.element);
            let part = if lanes == 4 {
                whole
            } else {
                let words = [whole, whole, 0, 1, 2];
                unit.op_of(S::VectorShuffle, own, &words[..2 + lanes as usize])
            };
            return Ok(if own == ty { part } else { unit.op(S::Bitcast, ty, &[part]) });
        }
        let lane = ty.lane();
        let mut parts: SmallVec<[Id; 4]> = SmallVec::new();
        let first = self.calc(S::ShiftRightLogical, place, 2);
        for i in 0..lanes {
            parts.push(match bits {
                32 => {
                    let at = self.word(view, place, first, align, i);
                    let inside = self.inside(view, at.element);
                    let word = self.load_at(view, mem, view.element.lane(), at, inside)?;
                    self.cast(view.element.lane(), lane, word)
                }
                64 => {
                    let at = [2 * i, 2 * i + 1].map(|k| self.word(view, place, first, align, k));
                    // A lane is outside as a whole.
                    let inside = self.inside(view, at[1].element);
                    let words = [
                        self.load_at(view, mem, view.element.lane(), at[0], inside)?,
                        self.load_at(view, mem, view.element.lane(), at[1], inside)?,
                    ];
                    let pair = view.element.with_lanes(2).unwrap_or(view.element);
                    let unit = self.unit();
                    let both = unit.op(S::CompositeConstruct, pair, &words);
                    unit.op(S::Bitcast, lane, &[both])
                }
                _ => self.load_part(view, mem, place, lane, i)?,
            });
        }
        Ok(match parts[..] {
            [only] => only,
            ref many => self.unit().op_of(S::CompositeConstruct, ty, many),
        })
    }

    /// Lane `i` of 8- or 16-bit lanes, cut out of its word.
    fn load_part(
        &mut self,
        view: &View,
        mem: MemInfo,
        place: Number,
        lane: Type,
        i: u32,
    ) -> Result<Id, Reason> {
        let bits = lane.kind().bits();
        let (first, shift) = self.part(place, bits, i);
        let at = self.word(view, place, first, 0, 0);
        let inside = self.inside(view, at.element);
        let word = self.load_at(view, mem, view.element.lane(), at, inside)?;
        let word = self.cast(view.element.lane(), Type::I32, word);
        let shift = self.id(shift);
        let unit = self.unit();
        let low = unit.op(S::ShiftRightLogical, Type::I32, &[word, shift]);
        let narrow = if bits == 8 { Type::scalar(Kind::I8) } else { Type::scalar(Kind::I16) };
        let value = unit.op(S::UConvert, narrow, &[low]);
        Ok(self.cast(narrow, lane, value))
    }

    fn cast(&mut self, from: Type, to: Type, id: Id) -> Id {
        if from == to { id } else { self.unit().op(S::Bitcast, to, &[id]) }
    }

    fn store(
        &mut self,
        view: &View,
        mem: MemInfo,
        place: Number,
        align: u8,
        ty: Type,
        value: Id,
    ) -> Result<(), Reason> {
        self.ordered(view, mem, ty)?;
        let (bits, lanes) = (ty.kind().bits(), u32::from(ty.lanes()));
        if u32::from(align) < (bits / 8).trailing_zeros() {
            return Err(ALIGN);
        }
        if view.element.lanes() == 2 {
            let element = self.calc(S::ShiftRightLogical, place, 3);
            let inside = self.inside(view, element);
            let value = self.cast(ty, view.element, value);
            self.store_at(view, mem, view.element, Word { element, component: None }, inside, value);
            return Ok(());
        }
        if !view.element.is_scalar() && align >= 4 && bits == 32 && lanes == 4 {
            let element = self.calc(S::ShiftRightLogical, place, 4);
            let inside = self.inside(view, element);
            let value = self.cast(ty, view.element, value);
            self.store_at(view, mem, view.element, Word { element, component: None }, inside, value);
            return Ok(());
        }
        if bits < 32 && !view.is_private() {
            return Err(Reason::Unsupported("stores of less than 32 bits to memory that is shared"));
        }
        let (lane, word_type) = (ty.lane(), view.element.lane());
        let first = self.calc(S::ShiftRightLogical, place, 2);
        for i in 0..lanes {
            let part =
                if lanes == 1 { value } else { self.unit().op(S::CompositeExtract, lane, &[value, i]) };
            match bits {
                32 => {
                    let at = self.word(view, place, first, align, i);
                    let inside = self.inside(view, at.element);
                    let word = self.cast(lane, word_type, part);
                    self.store_at(view, mem, word_type, at, inside, word);
                }
                64 => {
                    let at = [2 * i, 2 * i + 1].map(|k| self.word(view, place, first, align, k));
                    let inside = self.inside(view, at[1].element);
                    let pair_type = view.element.with_lanes(2).unwrap_or(view.element);
                    let pair = self.unit().op(S::Bitcast, pair_type, &[part]);
                    for (k, at) in (0..).zip(at) {
                        let word = self.unit().op(S::CompositeExtract, word_type, &[pair, k]);
                        self.store_at(view, mem, word_type, at, inside, word);
                    }
                }
                _ => self.store_part(view, mem, place, lane, i, part)?,
            }
        }
        Ok(())
    }

    /// Stores lane `i` of 8- or 16-bit lanes into its word of private memory.
    fn store_part(
        &mut self,
        view: &View,
        mem: MemInfo,
        place: Number,
        lane: Type,
        i: u32,
        value: Id,
    ) -> Result<(), Reason> {
        let bits = lane.kind().bits();
        let (first, shift) = self.part(place, bits, i);
        let at = self.word(view, place, first, 0, 0);
        let inside = self.inside(view, at.element);
        let old = self.load_at(view, mem, Type::I32, at, inside)?;
        let shift = self.id(shift);
        let narrow = if bits == 8 { Type::scalar(Kind::I8) } else { Type::scalar(Kind::I16) };
        let value = self.cast(lane, narrow, value);
        let unit = self.unit();
        let wide = unit.op(S::UConvert, Type::I32, &[value]);
        let low = unit.u32((1 << bits) - 1);
        let mask = unit.op(S::ShiftLeftLogical, Type::I32, &[low, shift]);
        let keep = unit.op(S::Not, Type::I32, &[mask]);
        let kept = unit.op(S::BitwiseAnd, Type::I32, &[old, keep]);
        let new = unit.op(S::ShiftLeftLogical, Type::I32, &[wide, shift]);
        let word = unit.op(S::BitwiseOr, Type::I32, &[kept, new]);
        self.store_at(view, mem, Type::I32, at, inside, word);
        Ok(())
    }
}
