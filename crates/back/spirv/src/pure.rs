//! Ops whose result depends on their operands alone.
//!
//! A sequence is written once, by [`Unit::sequence`]; if it is long, it becomes the body of a helper function that
//! every instruction with the same op, flags, immediate and types calls.

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

/// Sequences of more words than this are called: a call costs 5 to 8.
const INLINE_WORDS: usize = 24;

/// What an instruction computes, apart from its operands' values.
#[derive(Clone, PartialEq, Eq, Hash)]
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

/// What is known about shapes met before: the helper's id, or that the sequence is short.
pub(crate) type Helpers = FxHashMap<Shape, Option<Id>>;

impl Unit {
    /// Writes a pure op: its sequence, or a call of the helper that has it.
    pub(crate) fn pure(&mut self, helpers: &mut Helpers, shape: &Shape, args: &[Arg]) -> Made {
        if is_short(shape) {
            return self.sequence(shape, args);
        }
        let known = helpers.get(shape).copied();
        let any_constant = args.iter().any(|a| a.bits.is_some());
        if let (Some(Some(helper)), false) = (known, any_constant) {
            return Ok(self.call(shape, helper, args));
        }
        let (mark, globals) = (self.mark(), self.globals_len());
        let result = self.sequence(shape, args)?;
        if self.words_since(&mark) <= INLINE_WORDS {
            if !any_constant {
                helpers.insert(shape.clone(), None);
            }
            return Ok(result);
        }
        let grew = self.globals_len() != globals;
        self.rewind(&mark, grew);
        let helper = match known.flatten() {
            Some(helper) => helper,
            None => self.helper(shape)?,
        };
        helpers.insert(shape.clone(), Some(helper));
        Ok(self.call(shape, helper, args))
    }

    fn call(&mut self, shape: &Shape, helper: Id, args: &[Arg]) -> Id {
        let mut words: SmallVec<[u32; 6]> = SmallVec::from_slice(&[helper]);
        args.iter().for_each(|a| words.push(a.id));
        self.op_of(S::FunctionCall, shape.ty, &words)
    }

    /// A function of the shape's sequence.
    fn helper(&mut self, shape: &Shape) -> Made {
        let body = std::mem::take(&mut self.code);
        let result_type = self.ty(shape.ty);
        let types: SmallVec<[u32; 6]> =
            std::iter::once(result_type).chain(shape.types.iter().map(|&t| self.ty(t))).collect();
        let function_type = self.type_of(S::TypeFunction, &types);
        let function = self.op_raw(S::Function, result_type, &[FunctionControl::NONE.bits(), function_type]);
        let args: SmallVec<[Arg; 4]> = shape
            .types
            .iter()
            .map(|&t| Arg { id: self.op(S::FunctionParameter, t, &[]), bits: None })
            .collect();
        let label = self.id();
        self.effect(S::Label, &[label]);
        let made = self.sequence(shape, &args);
        if let Ok(result) = made {
            self.effect(S::ReturnValue, &[result]);
            self.effect(S::FunctionEnd, &[]);
            let mut name = shape.op.info().name.replace('.', "_");
            name.push_str(&format!("{}_{}", shape.flags, shape.arg(0)).replace('.', "_"));
            self.name(crate::Names::Interface, function, &name);
            self.functions.append(&mut self.code);
        }
        self.code = body;
        made.map(|_| function)
    }

    /// The instructions of a shape.
    fn sequence(&mut self, shape: &Shape, args: &[Arg]) -> Made {
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
        let shape = Shape {
            op: Op::Bitcast,
            flags: Flags::NONE,
            imm: Imm::None,
            ty,
            types: SmallVec::from_slice(&[int]),
        };
        let helper = match helpers.get(&shape).copied().flatten() {
            Some(helper) => helper,
            None => self.helper(&shape)?,
        };
        helpers.insert(shape.clone(), Some(helper));
        let id = self.constant(int, bits);
        Ok(Literal::Here(self.call(&shape, helper, &[Arg { id, bits: None }])))
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

/// Whether the sequence is known to be short.
fn is_short(shape: &Shape) -> bool {
    let plain = shape.flags == Flags::NONE || shape.flags == Flags::NONE.with_contract();
    plain
        && matches!(
            shape.op,
            Op::Iadd
                | Op::Isub
                | Op::Imul
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::Imin
                | Op::Imax
                | Op::Umin
                | Op::Umax
                | Op::Not
                | Op::Shl
                | Op::Ushr
                | Op::Sshr
                | Op::IcmpEq
                | Op::IcmpNe
                | Op::IcmpUlt
                | Op::IcmpUle
                | Op::IcmpSlt
                | Op::IcmpSle
                | Op::Fadd
                | Op::Fsub
                | Op::Fmul
                | Op::Fneg
                | Op::Fabs
                | Op::FcmpOlt
                | Op::FcmpOle
                | Op::FcmpOeq
                | Op::FcmpUne
                | Op::Select
                | Op::Splat
                | Op::Build
                | Op::Extract
                | Op::Insert
                | Op::Shuffle
                | Op::Bitcast
        )
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
