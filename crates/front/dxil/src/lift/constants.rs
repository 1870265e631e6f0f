//! Constants, and constant expressions.

use super::cx::Cx;
use super::hits::is_hit_object;
use super::val::{MOST_MEMBERS, Val};
use super::{Lift, Stop};
use crate::bitcode::{Constant, Type as Llvm, TypeId};
use xenoglot_ir::fold::{self, convert};
use xenoglot_ir::{Flags, Imm, Type, Value};

/// Constant expressions within each other.
const MAX_DEPTH: u32 = 16;

impl Cx<'_> {
    /// How many members values of a type have; none for scalars.
    pub fn members_of(&self, ty: TypeId) -> Lift<Option<u64>> {
        let count = match self.module.types.get(ty) {
            Some(&Llvm::Array { count, .. } | &Llvm::Vector { count, .. }) => count,
            Some(Llvm::Struct { fields, .. }) if !is_hit_object(self.module, ty) => fields.len() as u64,
            _ => return Ok(None),
        };
        match count <= MOST_MEMBERS {
            true => Ok(Some(count)),
            false => Err(Stop::Unsupported("a value of very many members")),
        }
    }

    /// A constant, inside of `depth` others.
    pub fn lift_constant(&mut self, constant: &Constant, ty: TypeId, depth: u32) -> Lift<Val> {
        if depth > MAX_DEPTH {
            return Err(Stop::Unsupported("a deep constant"));
        }
        Ok(match constant {
            Constant::Undef => Val::Undef,
            Constant::Integer(bits) | Constant::Float(bits) => Val::Scalar(self.lift_bits(*bits, ty)?),
            Constant::Null => match self.members_of(ty)? {
                None => Val::Scalar(self.lift_bits(0, ty)?),
                Some(count) => {
                    let mut members = Vec::new();
                    for i in 0..count {
                        let of = self.module.types.member(ty, i).ok_or(Stop::Unsupported("a member"))?;
                        members.push(self.lift_constant(constant, of, depth + 1)?);
                    }
                    Val::members(members)
                }
            },
            Constant::Aggregate(ids) => {
                self.members_of(ty)?;
                let mut members = Vec::new();
                for &id in ids {
                    let of = self.type_of(id)?;
                    members.push(match self.def(id)? {
                        crate::bitcode::Def::Constant(member) => self.lift_constant(member, of, depth + 1)?,
                        _ => self.value(id)?,
                    });
                }
                Val::members(members)
            }
            Constant::Data(data) => {
                self.members_of(ty)?;
                let of = self.module.types.member(ty, 0).ok_or(Stop::Unsupported("a member"))?;
                let members: Lift<Vec<Val>> =
                    data.iter().map(|&bits| self.lift_bits(bits, of).map(Val::Scalar)).collect();
                Val::members(members?)
            }
            Constant::Gep { of, operands, .. } => self.expression(|cx| cx.gep(*of, operands))?,
            Constant::Binary(op, args) => self.expression(|cx| cx.binary(*op, *args, Flags::NONE))?,
            Constant::Cast(op, arg) => self.expression(|cx| cx.convert(*op, *arg, ty))?,
            Constant::Select(args) => self.expression(|cx| cx.select(*args))?,
            Constant::Compare(predicate, args) => self.expression(|cx| cx.compare(*predicate, *args))?,
        })
    }

    /// Lifts an expression, whose operands may be expressions.
    fn expression(&mut self, f: impl FnOnce(&mut Self) -> Lift<Val>) -> Lift<Val> {
        if self.expressions == MAX_DEPTH {
            return Err(Stop::Unsupported("a deep constant"));
        }
        self.expressions += 1;
        let lifted = f(self);
        self.expressions -= 1;
        lifted
    }

    /// A scalar constant of a type by the bits that LLVM has of it.
    pub fn lift_bits(&mut self, bits: u64, ty: TypeId) -> Lift<Value> {
        if let Some(Llvm::Pointer { .. }) = self.module.types.get(ty) {
            return Err(Stop::Unsupported("a null address"));
        }
        let scalar = self.scalar_type(ty)?;
        let widened = matches!(self.module.types.get(ty), Some(Llvm::Half)) && scalar.ty == Type::F32;
        let bits = if widened { widen_half(bits) } else { bits };
        Ok(self.constant(scalar.ty, bits))
    }
}

/// The bits of a half as those of a single.
pub(super) fn widen_half(bits: u64) -> u64 {
    let cx = fold::Cx { result: Type::F32, arg: Type::F16, flags: Flags::NONE, imm: Imm::None };
    // Widening knows no fault.
    convert::f2f(&cx, &[bits]).unwrap_or(0)
}
