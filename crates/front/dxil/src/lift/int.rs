//! Types of scalars, and integers of odd widths: they live in the next wider type, with zeros above.

use super::cx::Cx;
use super::hits::is_hit_object;
use super::{Lift, Stop};
use crate::bitcode::{Type as Llvm, TypeId};
use xenoglot_ir::{Bits, Flags, Kind, Op, Type, Value};

/// A scalar of LLVM in the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// The type it lives in.
    pub ty: Type,
    /// Bits of an integer, 0 for floats.
    pub bits: u32,
}

impl Scalar {
    /// An integer of a width that has a type.
    pub fn integer(bits: u32, native: bool) -> Scalar {
        let ty = match bits {
            1 => Type::BOOL,
            16 if native => Type::scalar(Kind::I16),
            0..=32 => Type::I32,
            _ => Type::I64,
        };
        Scalar { ty, bits }
    }

    pub fn is_int(self) -> bool {
        self.bits != 0
    }

    /// Whether bits above the integer have to be kept zero.
    pub fn is_odd(self) -> bool {
        self.bits != 0 && self.bits != self.ty.kind().bits()
    }

    /// All ones.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits.clamp(1, 64))
    }
}

impl Cx<'_> {
    /// The scalar that a type is; `Unsupported` for others.
    pub fn scalar_type(&self, id: TypeId) -> Lift<Scalar> {
        let float = |ty| Ok(Scalar { ty, bits: 0 });
        match self.module.types.get(id) {
            Some(&Llvm::Integer(bits)) => Ok(Scalar::integer(bits, self.native16)),
            // Of at least 16 bits where 16-bit types are not native.
            Some(Llvm::Half) if self.native16 => float(Type::F16),
            Some(Llvm::Half | Llvm::Float) => float(Type::F32),
            Some(Llvm::Double) => float(Type::F64),
            Some(_) if is_hit_object(self.module, id) => Ok(Scalar::integer(32, self.native16)),
            _ => Err(Stop::Unsupported("a type that is no scalar")),
        }
    }

    /// Clears bits above an odd integer.
    pub fn wrapped(&mut self, v: Value, s: Scalar) -> Value {
        if !s.is_odd() {
            return v;
        }
        let mask = self.constant(s.ty, s.mask());
        self.op(Op::And, &[v, mask])
    }

    /// An integer with signs above it.
    pub fn signed(&mut self, v: Value, s: Scalar) -> Value {
        if !s.is_odd() {
            return v;
        }
        let shift = self.constant(s.ty, (s.ty.kind().bits() - s.bits).into());
        let high = self.op(Op::Shl, &[v, shift]);
        self.op(Op::Sshr, &[high, shift])
    }

    /// An integer or truth value in another integer type, zeros above.
    pub fn resize(&mut self, v: Value, to: Type) -> Value {
        let from = self.ty(v);
        if from == to {
            return v;
        }
        if to == Type::BOOL {
            let one = self.constant(from, 1);
            let low = self.op(Op::And, &[v, one]);
            let zero = self.constant(from, 0);
            return self.op(Op::IcmpNe, &[low, zero]);
        }
        let op = if from.kind().bits() > to.kind().bits() { Op::TruncInt } else { Op::Zext };
        self.b.convert(op, Flags::NONE, v, to)
    }

    /// As [`Cx::resize`], with signs above.
    pub fn resize_signed(&mut self, v: Value, to: Type) -> Value {
        let from = self.ty(v);
        match from.kind().bits() < to.kind().bits() {
            true => self.b.convert(Op::Sext, Flags::NONE, v, to),
            false => self.resize(v, to),
        }
    }

    /// The type that memory has of a scalar.
    pub fn held(&self, ty: Type) -> Type {
        match ty.kind() {
            Kind::Bool => Type::I32,
            Kind::F16 if self.wide_memory => Type::F32,
            Kind::I16 if self.wide_memory => Type::I32,
            _ => ty,
        }
    }

    /// A scalar as memory has it.
    pub fn as_memory(&mut self, v: Value) -> Value {
        let held = self.held(self.ty(v));
        self.as_type(v, held)
    }

    /// A scalar of a type, of what memory has.
    pub fn of_memory(&mut self, v: Value, ty: Type) -> Value {
        self.as_type(v, ty)
    }

    /// A float or an integer as one of another width.
    fn as_type(&mut self, v: Value, ty: Type) -> Value {
        match ty.kind().is_float() {
            true => self.float(v, ty),
            false => self.resize(v, ty),
        }
    }

    /// The same bits as another type of the same width.
    pub fn cast(&mut self, v: Value, to: Type) -> Value {
        if self.ty(v) == to { v } else { self.b.convert(Op::Bitcast, Flags::NONE, v, to) }
    }

    /// A constant of a type, the same value for the same bits.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & ty.kind().mask();
        if let Some(&known) = self.known.get(&(ty, bits)) {
            return known;
        }
        let v = self.in_prelude(|b| b.constant(ty, Bits::scalar(bits)));
        self.known.insert((ty, bits), v);
        v
    }

    pub fn i32(&mut self, v: u32) -> Value {
        self.constant(Type::I32, v.into())
    }

    pub fn f32(&mut self, v: f32) -> Value {
        self.constant(Type::F32, v.to_bits().into())
    }
}
