//! Constants of the module and of functions.

use super::{Reader, Record};
use crate::bitcode::codes::{BinaryOp, CastOp, Predicate, block, constant as code};
use crate::bitcode::error::{ErrorKind, Step};
use crate::bitcode::module::{Constant, Def, ValueId};
use crate::bitcode::ty::{Type, TypeId, Types};

impl Reader<'_> {
    pub(super) fn constants(&mut self) -> Step<()> {
        let mut ty = None;
        let first = self.value_types.len();
        self.records(block::CONSTANTS, "CONSTANTS_BLOCK", |r, mut record| {
            if record.code == code::SETTYPE {
                ty = Some(r.module.types.find(record.next()?)?);
                return Ok(());
            }
            let ty = ty.ok_or(ErrorKind::Type("a constant"))?;
            let constant = r.constant(record, ty)?;
            r.new_value(ty, Def::Constant(constant));
            Ok(())
        })?;
        self.check_forward()?;
        self.check_aggregates(first)
    }

    fn constant(&mut self, mut record: Record<'_>, ty: TypeId) -> Step<Constant> {
        Ok(match record.code {
            code::NULL => Constant::Null,
            code::UNDEF => Constant::Undef,
            code::INTEGER => {
                Constant::Integer(signed(record.next()?) as u64 & mask(&self.module.types, ty, true)?)
            }
            code::FLOAT => Constant::Float(record.next()? & mask(&self.module.types, ty, false)?),
            code::AGGREGATE => Constant::Aggregate(ids(record.operands)?),
            code::DATA | code::STRING | code::CSTRING => {
                let of = self.module.types.member(ty, 0).ok_or(ErrorKind::Type("a constant"))?;
                let integers = matches!(self.module.types.get(of), Some(Type::Integer(_)));
                let mask = mask(&self.module.types, of, integers)?;
                let end = (record.code == code::CSTRING).then_some(0);
                let data: Box<[u64]> = record.operands.iter().copied().chain(end).map(|v| v & mask).collect();
                if self.module.types.member(ty, data.len() as u64).is_some()
                    || self.module.types.member(ty, (data.len() as u64).wrapping_sub(1)).is_none()
                {
                    return Err(ErrorKind::Type("a constant"));
                }
                Constant::Data(data)
            }
            code::BINOP => {
                let op = BinaryOp::from_number(record.next()?)?;
                let args = [id(record.next()?)?, id(record.next()?)?];
                args.into_iter().try_for_each(|a| self.expect(a, ty))?;
                Constant::Binary(op, args)
            }
            code::CAST => {
                let op = CastOp::from_number(record.next()?)?;
                let from = self.module.types.find(record.next()?)?;
                let arg = id(record.next()?)?;
                self.expect(arg, from)?;
                Constant::Cast(op, arg)
            }
            code::GEP | code::INBOUNDS_GEP => self.constant_gep(record)?,
            code::SELECT => {
                let args = [id(record.next()?)?, id(record.next()?)?, id(record.next()?)?];
                args[1..].iter().try_for_each(|&a| self.expect(a, ty))?;
                let condition = self.module.types.bool();
                self.expect(args[0], condition)?;
                Constant::Select(args)
            }
            code::CMP => {
                let of = self.module.types.find(record.next()?)?;
                let args = [id(record.next()?)?, id(record.next()?)?];
                args.into_iter().try_for_each(|a| self.expect(a, of))?;
                Constant::Compare(Predicate::from_number(record.next()?)?, args)
            }
            _ => return Err(record.unsupported()),
        })
    }

    /// Pairs of types and values; with an odd operand first, that is what the address is taken to point to.
    fn constant_gep(&mut self, mut record: Record<'_>) -> Step<Constant> {
        let inbounds = record.code == code::INBOUNDS_GEP;
        let mut of = match record.operands.len() % 2 {
            1 => Some(self.module.types.find(record.next()?)?),
            _ => None,
        };
        let mut operands = Vec::new();
        while !record.operands.is_empty() {
            let ty = self.module.types.find(record.next()?)?;
            let operand = id(record.next()?)?;
            self.expect(operand, ty)?;
            of = of.or(self.module.types.pointee(ty).map(|(to, _)| to));
            operands.push(operand);
        }
        let of = of.ok_or(ErrorKind::Type("an address"))?;
        Ok(Constant::Gep { inbounds, of, operands: operands.into() })
    }

    /// Members of the aggregates from value `first` on are as many as their types have, and of these types.
    fn check_aggregates(&self, first: usize) -> Step<()> {
        let (values, before) = match &self.body {
            Some(body) => (&body.values, self.module.values.len()),
            None => (&self.module.values, 0),
        };
        let good = values.iter().skip(first - before).all(|value| {
            let Def::Constant(Constant::Aggregate(members)) = &value.def else { return true };
            let types = &self.module.types;
            let each = |(i, &m): (u64, &ValueId)| {
                let ty = types.member(value.ty, i);
                ty.is_some() && self.type_of(m) == ty
            };
            types.member(value.ty, members.len() as u64).is_none() && (0..).zip(members.iter()).all(each)
        });
        if good { Ok(()) } else { Err(ErrorKind::Type("a member of a constant")) }
    }
}

/// Numbers with their sign in the lowest bit; -0 stands for the least of them.
pub(super) fn signed(value: u64) -> i64 {
    match (value & 1, value >> 1) {
        (0, magnitude) => magnitude as i64,
        (_, 0) => i64::MIN,
        (_, magnitude) => (magnitude as i64).wrapping_neg(),
    }
}

fn id(number: u64) -> Step<ValueId> {
    u32::try_from(number).map(ValueId).map_err(|_| ErrorKind::missing("value", number))
}

fn ids(numbers: &[u64]) -> Step<Box<[ValueId]>> {
    numbers.iter().map(|&n| id(n)).collect()
}

/// The bits of an integer's or float's type.
fn mask(types: &Types, ty: TypeId, integer: bool) -> Step<u64> {
    let bits = match types.get(ty) {
        Some(&Type::Integer(bits)) if integer => bits,
        Some(Type::Half) if !integer => 16,
        Some(Type::Float) if !integer => 32,
        Some(Type::Double) if !integer => 64,
        _ => return Err(ErrorKind::Type("a constant")),
    };
    Ok(u64::MAX >> (64 - bits))
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn signs_are_in_the_lowest_bit() {
        assert_eq!([0, 2, 3, 1, u64::MAX].map(signed), [0, 1, -1, i64::MIN, -i64::MAX]);
    }
}
