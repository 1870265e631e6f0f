//! Loads, stores and atomics: byte offsets as elements of the memory's view.

use crate::body::Body;
use crate::error::Reason;
use crate::inst::{scope, semantics};
use crate::memory::{Descriptor, Length, View, vector_of};
use crate::offsets::{self, Parts};
use crate::pure::const_bits;
use crate::unit::Id;
use smallvec::SmallVec;
use spirv::{Capability, Decoration, MemoryAccess, MemorySemantics, Op as S, StorageClass};
use xenoglot_ir::imm::Order;
use xenoglot_ir::module::OutOfBounds;
use xenoglot_ir::{Kind, MemInfo, Op, Resource, Space, Type, Value};

/// A number that may be known.
#[derive(Clone, Copy)]
enum Number {
    Known(u32),
    Id(Id),
    /// `id * factor + plus`, signed; [`Parts`](crate::offsets::Parts).
    Scaled {
        id: Id,
        factor: u32,
        plus: i32,
    },
}

/// A word of a view: the element, and the component if elements are vectors.
#[derive(Clone, Copy)]
struct Word {
    element: Number,
    component: Option<Number>,
}

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

    /// A computed offset.
    fn offset(&mut self, offset: Value) -> Number {
        let parts = match self.scratch.offsets.apart() {
            true => offsets::parts(self.function, offset),
            false => None,
        };
        match parts {
            Some(Parts { value, factor, plus }) => {
                Number::Scaled { id: self.value(value), factor, plus: plus.cast_signed() }
            }
            None => Number::Id(self.value(offset)),
        }
    }

    // Numbers: constants are computed here, not there.

    fn id(&mut self, n: Number) -> Id {
        match n {
            Number::Known(n) => self.unit().u32(n),
            Number::Id(id) => id,
            Number::Scaled { id, factor, plus } => {
                let scaled = match factor {
                    1 => id,
                    _ if factor.is_power_of_two() => {
                        self.once_of(S::ShiftLeftLogical, id, factor.trailing_zeros())
                    }
                    _ => self.once_of(S::IMul, id, factor),
                };
                if plus == 0 { scaled } else { self.once_of(S::IAdd, scaled, plus.cast_unsigned()) }
            }
        }
    }

    /// An op on a value and a constant, once where it is visible.
    fn once_of(&mut self, op: S, a: Id, b: u32) -> Id {
        let b = self.unit().u32(b);
        self.once([op as u32, a, b, 0], |body| body.unit().op(op, Type::I32, &[a, b]))
    }

    fn calc(&mut self, op: S, a: Number, b: u32) -> Number {
        match (op, a) {
            (S::IAdd, _) | (S::ShiftRightLogical, _) if b == 0 => a,
            (S::IAdd, Number::Known(a)) => Number::Known(a.wrapping_add(b)),
            (S::ShiftRightLogical, Number::Known(a)) => Number::Known(a >> b),
            (S::ShiftLeftLogical, Number::Known(a)) => Number::Known(a << b),
            (S::BitwiseAnd, Number::Known(a)) => Number::Known(a & b),
            (S::IAdd, Number::Scaled { id, factor, plus }) => {
                Number::Scaled { id, factor, plus: plus.wrapping_add_unsigned(b) }
            }
            (S::ShiftRightLogical, Number::Scaled { id, factor, plus }) if factor.trailing_zeros() >= b => {
                Number::Scaled { id, factor: factor >> b, plus: plus >> b }
            }
            (S::BitwiseAnd, Number::Scaled { factor, plus, .. })
                if factor.trailing_zeros() >= b.trailing_ones() =>
            {
                Number::Known(plus.cast_unsigned() & b)
            }
            (_, a) => {
                let a = self.id(a);
                Number::Id(self.once_of(op, a, b))
            }
        }
    }

    /// The `k`th word from a byte offset on, whose word number is `first`.
    fn word(&mut self, view: &View, place: Number, first: Number, align: u8, k: u32) -> Word {
        if view.element.is_scalar() {
            return Word { element: self.calc(S::IAdd, first, k), component: None };
        }
        if align >= 4 {
            let element = self.calc(S::ShiftRightLogical, place, 4);
            let element = self.calc(S::IAdd, element, k / 4);
            return Word { element, component: Some(Number::Known(k % 4)) };
        }
        let word = self.calc(S::IAdd, first, k);
        Word {
            element: self.calc(S::ShiftRightLogical, word, 2),
            component: Some(self.calc(S::BitwiseAnd, word, 3)),
        }
    }

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

    /// Number of the word that holds lane `i`, and the lane's first bit in it.
    fn part(&mut self, place: Number, bits: u32, i: u32) -> (Number, Number) {
        let byte = self.calc(S::IAdd, place, i * bits / 8);
        let word = self.calc(S::ShiftRightLogical, byte, 2);
        let within = self.calc(S::BitwiseAnd, byte, 3);
        (word, self.calc(S::ShiftLeftLogical, within, 3))
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

    fn atomic(
        &mut self,
        op: Op,
        view: &View,
        mem: MemInfo,
        place: Number,
        values: &[Id],
    ) -> Result<Id, Reason> {
        let ty = view.element;
        if !matches!(ty, Type::I32 | Type::I64) || view.is_private() {
            return Err(Reason::Unsupported("atomics on this memory"));
        }
        let host = host_atomic(op)?;
        let element = self.calc(S::ShiftRightLogical, place, (ty.bits() / 8).trailing_zeros());
        let inside = self.inside(view, element);
        let mut old = self.unit().splat(ty, 0);
        let zero = old;
        let write = |body: &mut Self| {
            let pointer = body.pointer(view, ty, element, None);
            body.exchange(host, ty, view.class, mem, pointer, values).unwrap_or(zero)
        };
        match inside {
            Inside::No => {}
            Inside::Yes => old = write(self),
            Inside::If(cond) => {
                let mut inner = zero;
                let (head, then) = self.when(cond, |body| inner = write(body));
                let [head, then] = [head, then].map(|b| self.label(b));
                old = self.unit().op(S::Phi, ty, &[zero, head, inner, then]);
            }
        }
        Ok(old)
    }

    /// Semantics of a comparison that fails: it stores nothing, so it releases nothing.
    fn unequal_order(&mut self, class: StorageClass, mem: MemInfo) -> Id {
        let order = match mem.order {
            Order::AcqRel => Order::Acquire,
            Order::Release => Order::Relaxed,
            other => other,
        };
        self.sync(class, MemInfo { order, ..mem })[1]
    }

    /// An atomic at a pointer; nothing if its operands are too many or too few.
    pub(crate) fn exchange(
        &mut self,
        host: S,
        ty: Type,
        class: StorageClass,
        mem: MemInfo,
        pointer: Id,
        values: &[Id],
    ) -> Option<Id> {
        let [scope, order] = self.sync(class, mem);
        let words: SmallVec<[u32; 6]> = match (host, values) {
            (S::AtomicCompareExchange, &[expected, new]) => {
                let unequal = self.unequal_order(class, mem);
                SmallVec::from_slice(&[pointer, scope, order, unequal, new, expected])
            }
            (S::AtomicCompareExchange, _) => return None,
            (_, &[value]) => SmallVec::from_slice(&[pointer, scope, order, value]),
            _ => return None,
        };
        Some(self.unit().op_of(host, ty, &words))
    }
}

/// The host's atomic.
pub(crate) fn host_atomic(op: Op) -> Result<S, Reason> {
    Ok(match op {
        Op::AtomicAdd => S::AtomicIAdd,
        Op::AtomicAnd => S::AtomicAnd,
        Op::AtomicOr => S::AtomicOr,
        Op::AtomicXor => S::AtomicXor,
        Op::AtomicXchg => S::AtomicExchange,
        Op::AtomicCmpxchg => S::AtomicCompareExchange,
        Op::AtomicUmin => S::AtomicUMin,
        Op::AtomicUmax => S::AtomicUMax,
        Op::AtomicSmin => S::AtomicSMin,
        Op::AtomicSmax => S::AtomicSMax,
        _ => return Err(OPERANDS),
    })
}
