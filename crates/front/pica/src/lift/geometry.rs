//! The geometry emitter: SETEMIT, EMIT, the output banks and what is sent.
//!
//! The chip's emitter copies vertices into three buffers and sends all three. Here each EMIT stores its vertex once, in
//! a pool, and the buffers are slots of the pool: a primitive is four words.

use super::insts::Cx;
use super::layout::{
    EVENT_VERTICES, POOL_SLOTS_BEFORE, PRIMITIVE_STRIDE, STATE_EMITTER, VERTEX_STRIDE, event_primitives,
};
use super::regs::{File, Scalar};
use xenoglot_ir::{MemInfo, Op, Resource, Space, Type, Value};

/// Where vertices and primitives go.
#[derive(Clone, Copy)]
pub(super) struct Events {
    /// The event buffer.
    pub buffer: Resource,
    /// EMITs whose vertices and primitives are stored; those beyond are counted only.
    pub capacity: u32,
    /// Byte offset of the invocation's event record.
    pub base: Value,
}

const BUFFERS: u8 = 3;

impl Cx<'_> {
    pub(super) fn set_emit(&mut self, vertex: u8, primitive: bool, winding: bool) {
        let v = self.b.i32(vertex.into());
        self.set(Scalar::EmitVertex, v);
        let p = self.flag(primitive);
        self.set(Scalar::EmitPrimitive, p);
        let w = self.flag(winding);
        self.set(Scalar::EmitWinding, w);
    }

    fn masked_outputs(&self) -> impl Iterator<Item = u8> + use<> {
        let mask = self.output_mask;
        (0..16u8).filter(move |n| mask >> n & 1 == 1)
    }

    /// EMIT: stores the masked outputs, sends a primitive if SETEMIT asked for one, and changes the bank. Nothing in a
    /// program that is no geometry program: it has no emitter.
    pub(super) fn emit(&mut self) {
        let Some(events) = self.events else { return };
        let (store, send, next) = (self.b.func.add_block(), self.b.func.add_block(), self.b.func.add_block());
        let number = self.get(Scalar::Emits);
        let capacity = self.b.i32(events.capacity);
        let room = self.b.op(Op::IcmpUlt, &[number, capacity]);
        let one = self.b.i32(1);
        let count = self.b.op(Op::Iadd, &[number, one]);
        self.set(Scalar::Emits, count);
        self.b.branch(room, (store, &[]), (next, &[]));

        self.b.switch_to(store);
        let slot = self.offset(number, POOL_SLOTS_BEFORE);
        let at = self.pool_address(events, slot);
        for n in self.masked_outputs() {
            let v = self.get_vector(File::Output, n);
            let at = self.offset(at, u32::from(n) * 16);
            self.b.store(plain(events.buffer), at, v);
        }
        let vertex = self.get(Scalar::EmitVertex);
        for k in 0..BUFFERS {
            let k_value = self.b.i32(k.into());
            let here = self.b.op(Op::IcmpEq, &[vertex, k_value]);
            let old = self.get(Scalar::EmitSlot(k));
            let new = self.b.select(here, slot, old);
            self.set(Scalar::EmitSlot(k), new);
        }
        let primitive = self.get(Scalar::EmitPrimitive);
        self.b.branch(primitive, (send, &[]), (next, &[]));

        self.b.switch_to(send);
        let sent = self.get(Scalar::Primitives);
        let stride = self.b.i32(PRIMITIVE_STRIDE);
        let at = self.b.op(Op::Imul, &[sent, stride]);
        let at = self.b.op(Op::Iadd, &[at, events.base]);
        let at = self.offset(at, event_primitives(events.capacity));
        let winding = self.get(Scalar::EmitWinding);
        let zero = self.b.i32(0);
        let winding = self.b.select(winding, one, zero);
        let [a, b, c] = [0, 1, 2].map(|k| self.get(Scalar::EmitSlot(k)));
        let record = self.b.op(Op::Build, &[winding, a, b, c]);
        self.b.store(plain(events.buffer), at, record);
        let sent = self.b.op(Op::Iadd, &[sent, one]);
        self.set(Scalar::Primitives, sent);
        self.b.jump(next, &[]);

        self.b.switch_to(next);
        for n in 0..16 {
            if self.regs.has_vector(File::Output, n) || self.regs.has_vector(File::OtherBank, n) {
                let (current, other) =
                    (self.get_vector(File::Output, n), self.get_vector(File::OtherBank, n));
                self.set_vector(File::Output, n, other);
                self.set_vector(File::OtherBank, n, current);
            }
        }
    }

    /// Byte offset of a pool slot.
    fn pool_address(&mut self, events: Events, slot: Value) -> Value {
        let stride = self.b.i32(VERTEX_STRIDE);
        let at = self.b.op(Op::Imul, &[slot, stride]);
        let at = self.b.op(Op::Iadd, &[at, events.base]);
        self.offset(at, EVENT_VERTICES)
    }

    /// The emitter before the first EMIT: its buffers are the first slots.
    pub(super) fn begin_emitter(&mut self) {
        for k in 0..BUFFERS {
            let slot = self.b.i32(k.into());
            self.set(Scalar::EmitSlot(k), slot);
        }
    }

    /// Moves the emitter's vertices from the state record at `base` of `state` to the first slots of the pool, or back
    /// from the slots they are in.
    pub(super) fn move_emitter(&mut self, state: Resource, base: Value, back: bool) {
        let Some(events) = self.events else { return };
        for k in 0..BUFFERS {
            let slot = self.get(Scalar::EmitSlot(k));
            let pool = self.pool_address(events, slot);
            let record = self.offset(base, STATE_EMITTER + u32::from(k) * VERTEX_STRIDE);
            let (from, to) = ((state, record), (events.buffer, pool));
            let ((from, from_at), (to, to_at)) = if back { (to, from) } else { (from, to) };
            for n in self.masked_outputs() {
                let at = self.offset(from_at, u32::from(n) * 16);
                let v = self.b.load(plain(from), at, Type::F32X4);
                let at = self.offset(to_at, u32::from(n) * 16);
                self.b.store(plain(to), at, v);
            }
        }
    }

    /// `base + offset` in bytes.
    pub(super) fn offset(&mut self, base: Value, offset: u32) -> Value {
        if offset == 0 {
            return base;
        }
        let offset = self.b.i32(offset);
        self.b.op(Op::Iadd, &[base, offset])
    }
}

fn plain(buffer: Resource) -> MemInfo {
    MemInfo::plain(Space::Storage, Some(buffer), 4)
}
