//! Ops whose result depends on their operands alone.
//!
//! Each is an instruction or two: what would be more is lowered before (`legalize`).

mod bits;
mod convert;
mod float;
pub(crate) mod int;
mod vector;

use crate::error::Reason;
use crate::unit::{Id, Unit};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{FunctionControl, Op as S};
use xenoglot_ir::op::Sig;
use xenoglot_ir::{Bits, Flags, Function, Imm, Kind, Op, Type, Value};

/// What an instruction computes, apart from its operands' values.
pub(crate) struct Shape {
    pub(crate) op: Op,
    pub(crate) flags: Flags,
    pub(crate) imm: Imm,
    /// Result type.
    pub(crate) ty: Type,
    /// Operand types.
    pub(crate) types: SmallVec<[Type; 4]>,
}

impl Shape {
    /// Type of operand `i`; the result's if there is none.
    pub(crate) fn arg(&self, i: usize) -> Type {
        self.types.get(i).copied().unwrap_or(self.ty)
    }
}

/// An operand: its id and, if it is a constant, its bits.
#[derive(Clone, Copy)]
pub(crate) struct Arg<'a> {
    pub(crate) id: Id,
    pub(crate) bits: Option<&'a Bits>,
}

/// The bits of a value if it is a constant.
pub(crate) fn const_bits(function: &Function, v: Value) -> Option<&Bits> {
    let inst = &function.insts[function.def_inst(v)?];
    match (inst.op, inst.imm) {
        (Op::Const, Imm::Const(c)) => function.consts.get(c),
        _ => None,
    }
}

impl Arg<'_> {
    /// The operand's bits if all `ty.lanes()` lanes are constant and equal.
    pub(crate) fn uniform(&self, ty: Type) -> Option<u64> {
        let bits = self.bits?;
        (1..usize::from(ty.lanes())).all(|i| bits.lane(i) == bits.lane(0)).then(|| bits.lane(0))
    }
}

/// Where a constant is.
pub(crate) enum Literal {
    /// Declared: visible everywhere.
    Global(Id),
    /// Made in the body.
    Here(Id),
}

pub(crate) type Made = Result<Id, Reason>;

/// The functions that make constants of their bits, by type.
pub(crate) type Helpers = FxHashMap<Type, Id>;

impl Unit {
    /// A function that takes bits for a float of type `ty`.
    fn bits_as(&mut self, ty: Type, int: Type) -> Id {
        let body = std::mem::take(&mut self.code);
        let [result, param] = [ty, int].map(|t| self.ty(t));
        let function_type = self.type_of(S::TypeFunction, &[result, param]);
        let function = self.op_raw(S::Function, result, &[FunctionControl::NONE.bits(), function_type]);
        let bits = self.op(S::FunctionParameter, int, &[]);
        let label = self.id();
        self.effect(S::Label, &[label]);
        let made = self.op(S::Bitcast, ty, &[bits]);
        self.effect(S::ReturnValue, &[made]);
        self.effect(S::FunctionEnd, &[]);
        self.name(crate::Names::Interface, function, &format!("from_bits_{ty}"));
        self.functions.append(&mut self.code);
        self.code = body;
        function
    }

    /// Writes a pure op: an instruction or two.
    pub(crate) fn pure(&mut self, shape: &Shape, args: &[Arg]) -> Made {
        let mut ids: SmallVec<[Id; 4]> = SmallVec::new();
        args.iter().for_each(|a| ids.push(a.id));
        match shape.op.info().sig {
            Sig::Convert(..) | Sig::Bitcast => self.conversion(shape, &ids),
            Sig::Splat | Sig::Build | Sig::Extract | Sig::Insert | Sig::Shuffle | Sig::Select => {
                self.vector(shape, &ids)
            }
            Sig::Dot(_) | Sig::LoadExp | Sig::ExtractExp => self.float(shape, &ids),
            _ if shape.op == Op::Freeze => Ok(self.op_of(S::CopyObject, shape.ty, &ids)),
            _ if shape.arg(0).kind().is_float() => self.float(shape, &ids),
            _ if is_bit_op(shape.op) => self.bit(shape, args),
            _ => self.int(shape, args),
        }
    }

    /// `cond ? a : b`, lane by lane; a one-lane condition serves all lanes.
    pub(crate) fn select(&mut self, ty: Type, cond_type: Type, cond: Id, a: Id, b: Id) -> Id {
        let cond = if cond_type.is_scalar() && !ty.is_scalar() && !self.since(crate::Version::V1_4) {
            self.spread(ty.with_kind(Kind::Bool), cond)
        } else {
            cond
        };
        self.op(S::Select, ty, &[cond, a, b])
    }

    /// [`Unit::select`] with a condition of as many lanes.
    pub(crate) fn choose(&mut self, ty: Type, cond: Id, a: Id, b: Id) -> Id {
        self.op(S::Select, ty, &[cond, a, b])
    }

    /// Logical and, lane by lane. naga has it for scalars only.
    pub(crate) fn both(&mut self, bool: Type, a: Id, b: Id) -> Id {
        if self.options.portable_ops && !bool.is_scalar() {
            let no = self.splat(bool, 0);
            return self.choose(bool, a, b, no);
        }
        self.op(S::LogicalAnd, bool, &[a, b])
    }

    /// Logical or, lane by lane.
    pub(crate) fn either(&mut self, bool: Type, a: Id, b: Id) -> Id {
        if self.options.portable_ops && !bool.is_scalar() {
            let yes = self.splat(bool, 1);
            return self.choose(bool, a, yes, b);
        }
        self.op(S::LogicalOr, bool, &[a, b])
    }

    /// A constant, here in the body if it cannot be declared: WGSL, and so naga, has no infinities and NaNs, nor
    /// constant expressions for them. They are made of their bits, by a function so that it is no such expression.
    pub(crate) fn literal(
        &mut self,
        helpers: &mut Helpers,
        ty: Type,
        bits: &Bits,
    ) -> Result<Literal, Reason> {
        let finite = |i| float::is_finite(ty.kind(), bits.lane(i));
        let plain = !self.options.portable_ops || !ty.kind().is_float();
        if plain || (0..usize::from(ty.lanes())).all(finite) {
            return Ok(Literal::Global(self.constant(ty, bits)));
        }
        let int = ty.with_kind(int_kind(ty.kind()));
        let helper = match helpers.get(&ty).copied() {
            Some(helper) => helper,
            None => self.bits_as(ty, int),
        };
        helpers.insert(ty, helper);
        let id = self.constant(int, bits);
        Ok(Literal::Here(self.op_of(S::FunctionCall, ty, &[helper, id])))
    }

    /// A scalar in every lane of `ty`.
    pub(crate) fn spread(&mut self, ty: Type, scalar: Id) -> Id {
        if ty.is_scalar() {
            return scalar;
        }
        let lanes = [scalar; 4];
        self.op_of(S::CompositeConstruct, ty, &lanes[..usize::from(ty.lanes())])
    }
}

fn is_bit_op(op: Op) -> bool {
    matches!(
        op,
        Op::Shl
            | Op::Ushr
            | Op::Sshr
            | Op::Rotl
            | Op::FunnelL
            | Op::FunnelR
            | Op::BitfieldU
            | Op::BitfieldS
            | Op::BitfieldInsert
            | Op::Popcount
            | Op::Clz
            | Op::Ctz
            | Op::FindMsbS
            | Op::Reverse
            | Op::Byteswap
            | Op::PermuteBytes
            | Op::Sdot4
            | Op::Udot4
            | Op::SUdot4
            | Op::Lop3
    )
}

/// The integer kind as wide as `kind`.
pub(crate) fn int_kind(kind: Kind) -> Kind {
    match kind.bits() {
        8 => Kind::I8,
        16 => Kind::I16,
        64 => Kind::I64,
        _ => Kind::I32,
    }
}
