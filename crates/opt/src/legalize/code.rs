//! Appends the instructions that an op becomes.

use super::Options;
use xenoglot_ir::{Bits, Builder, Flags, Imm, Kind, Op, Type, Value};

/// A builder with the words that expansions are written in. Constants and conditions have as many lanes as what they
/// are used with, so that an expansion serves scalars and vectors.
pub(crate) struct Code<'b, 'f> {
    pub(crate) b: &'b mut Builder<'f>,
    /// What the host lacks: an expansion may use the rest.
    pub(crate) options: Options,
}

impl<'b, 'f> Code<'b, 'f> {
    /// Code for hosts that lack nothing.
    pub(crate) fn plain(b: &'b mut Builder<'f>) -> Code<'b, 'f> {
        Code { b, options: Options::default() }
    }

    pub(crate) fn ty(&self, v: Value) -> Type {
        self.b.func.ty(v)
    }

    /// `bits` in every lane of `ty`.
    pub(crate) fn number(&mut self, ty: Type, bits: u64) -> Value {
        self.b.constant(ty, Bits::splat(ty, bits))
    }

    pub(crate) fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.b.op(op, args)
    }

    pub(crate) fn with(&mut self, op: Op, flags: Flags, args: &[Value]) -> Value {
        self.b.op_flags(op, flags, args)
    }

    pub(crate) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.b.select(condition, yes, no)
    }

    pub(crate) fn not(&mut self, v: Value) -> Value {
        self.b.op(Op::Not, &[v])
    }

    /// The same bits as a `ty`.
    pub(crate) fn cast(&mut self, v: Value, ty: Type) -> Value {
        if self.ty(v) == ty { v } else { self.b.convert(Op::Bitcast, Flags::NONE, v, ty) }
    }

    pub(crate) fn convert(&mut self, op: Op, v: Value, ty: Type) -> Value {
        if self.ty(v) == ty { v } else { self.b.convert(op, Flags::NONE, v, ty) }
    }

    /// A float as the integer of its bits.
    pub(crate) fn bits(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        self.cast(v, ty.with_kind(int_kind(ty.kind())))
    }

    /// An op on `v` and a number.
    pub(crate) fn op_number(&mut self, op: Op, v: Value, number: u64) -> Value {
        if number == 0 && matches!(op, Op::Shl | Op::Ushr | Op::Sshr | Op::Or) {
            return v;
        }
        let ty = self.ty(v);
        let number = self.number(ty, number);
        self.op(op, &[v, number])
    }

    /// Whether every lane of `v` is one constant, and which.
    pub(crate) fn uniform(&self, v: Value) -> Option<u64> {
        let bits = self.b.func.const_bits(v)?;
        let lanes = usize::from(self.ty(v).lanes());
        (1..lanes).all(|i| bits.lane(i) == bits.lane(0)).then(|| bits.lane(0))
    }

    /// Lane `lane` of a vector, or the scalar.
    pub(crate) fn lane(&mut self, v: Value, lane: u8) -> Value {
        if self.ty(v).is_scalar() {
            return v;
        }
        self.b.op_imm(Op::Extract, Flags::NONE, Imm::Lane(lane), &[v])
    }
}

/// The integer as wide as `kind`.
pub(crate) fn int_kind(kind: Kind) -> Kind {
    match kind.bits() {
        8 => Kind::I8,
        16 => Kind::I16,
        64 => Kind::I64,
        _ => Kind::I32,
    }
}
