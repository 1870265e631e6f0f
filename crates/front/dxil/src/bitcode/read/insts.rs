//! Records of instructions.

use super::constants::signed;
use super::function::Reading;
use super::{Reader, Record, alignment};
use crate::bitcode::codes::{BinaryOp, CastOp, Predicate, RmwOp, function as code};
use crate::bitcode::error::{ErrorKind, Step};
use crate::bitcode::list::List;
use crate::bitcode::module::{Atomic, BlockId, FastMath, InstKind, MathFlags, MetadataId, Operand, ValueId};
use crate::bitcode::ty::{Type, TypeId};

/// Bits of a call's calling convention.
const TAIL_CALL: u64 = 1;
const EXPLICIT_TYPE: u64 = 1 << 15;

impl Reader<'_> {
    pub(super) fn inst(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        match record.code {
            code::BINOP => self.binary(record, reading),
            code::CAST => {
                let (arg, _) = self.typed(&mut record)?;
                let ty = self.module.types.find(record.next()?)?;
                let op = CastOp::from_number(record.next()?)?;
                self.add(reading, Some(ty), InstKind::Cast { op, arg })
            }
            code::VSELECT => {
                let (yes, ty) = self.typed(&mut record)?;
                let no = self.of_type(&mut record, ty)?;
                let (condition, _) = self.typed(&mut record)?;
                self.add(reading, Some(ty), InstKind::Select([condition, yes, no]))
            }
            code::CMP | code::CMP2 => self.compare(record, reading),
            code::GEP => self.gep(record, reading),
            code::EXTRACTELT | code::INSERTELT | code::SHUFFLEVEC => self.vector(record, reading),
            code::RET => match record.operands {
                [] => self.add(reading, None, InstKind::Return(None)),
                _ => {
                    let (value, _) = self.typed(&mut record)?;
                    self.add(reading, None, InstKind::Return(Some(value)))
                }
            },
            code::BR => {
                let yes = reading.block(record.next()?)?;
                if record.operands.is_empty() {
                    return self.add(reading, None, InstKind::Jump(yes));
                }
                let no = reading.block(record.next()?)?;
                let bool = self.module.types.bool();
                let condition = self.of_type(&mut record, bool)?;
                self.add(reading, None, InstKind::Branch { condition, targets: [yes, no] })
            }
            code::SWITCH => self.switch(record, reading),
            code::UNREACHABLE => self.add(reading, None, InstKind::Unreachable),
            code::PHI => self.phi(record, reading),
            code::ALLOCA => self.alloca(record, reading),
            code::LOAD => {
                let (pointer, pointer_type) = self.typed(&mut record)?;
                let mut ty = self.pointee(pointer_type)?;
                if record.operands.len() == 3 {
                    ty = self.module.types.find(record.next()?)?;
                }
                let (align, volatile) = (alignment(record.next()?)?, record.next()? != 0);
                self.add(reading, Some(ty), InstKind::Load { pointer, align, volatile })
            }
            code::STORE => {
                let (pointer, _) = self.typed(&mut record)?;
                let (value, _) = self.typed(&mut record)?;
                let (align, volatile) = (alignment(record.next()?)?, record.next()? != 0);
                self.add(reading, None, InstKind::Store { pointer, value, align, volatile })
            }
            code::EXTRACTVAL => {
                let (aggregate, ty) = self.typed(&mut record)?;
                let (indices, member) = self.indices(&mut record, ty)?;
                self.add(reading, Some(member), InstKind::ExtractValue { aggregate, indices })
            }
            code::INSERTVAL => {
                let (aggregate, ty) = self.typed(&mut record)?;
                let (value, value_type) = self.typed(&mut record)?;
                let (indices, member) = self.indices(&mut record, ty)?;
                if member != value_type {
                    return Err(ErrorKind::Type("a member"));
                }
                self.add(reading, Some(ty), InstKind::InsertValue { aggregate, value, indices })
            }
            code::CALL => self.call(record, reading),
            code::ATOMICRMW => {
                let (pointer, pointer_type) = self.typed(&mut record)?;
                let ty = self.pointee(pointer_type)?;
                let value = self.of_type(&mut record, ty)?;
                let op = RmwOp::from_number(record.next()?)?;
                let how = atomic(&mut record)?;
                self.add(reading, Some(ty), InstKind::AtomicRmw { op, pointer, value, how })
            }
            code::CMPXCHG => {
                let (pointer, _) = self.typed(&mut record)?;
                let (expected, ty) = self.typed(&mut record)?;
                let new = self.of_type(&mut record, ty)?;
                let how = atomic(&mut record)?;
                let (failure, weak) = (record.next32()?, record.optional() != 0);
                let bool = self.module.types.bool();
                let pair = Type::Struct { name: None, packed: false, fields: vec![ty, bool] };
                let ty = self.module.types.intern(pair);
                let kind = InstKind::CompareExchange { pointer, expected, new, how, failure, weak };
                self.add(reading, Some(ty), kind)
            }
            code::FENCE => {
                let ordering = record.next32()?;
                let single_thread = record.next()? == 0;
                let how = Atomic { volatile: false, ordering, single_thread };
                self.add(reading, None, InstKind::Fence(how))
            }
            _ => Err(record.unsupported()),
        }
    }

    /// A value by its distance backwards.
    fn relative(&self, record: &mut Record<'_>) -> Step<ValueId> {
        Ok(ValueId(self.next_value().wrapping_sub(record.next()? as u32)))
    }

    /// A value with its type, which follows where the value does not exist yet.
    fn typed(&mut self, record: &mut Record<'_>) -> Step<(ValueId, TypeId)> {
        let id = self.relative(record)?;
        match self.type_of(id) {
            Some(ty) => Ok((id, ty)),
            None => {
                let ty = self.module.types.find(record.next()?)?;
                self.forward.push((id, ty));
                Ok((id, ty))
            }
        }
    }

    /// A value whose type is known.
    fn of_type(&mut self, record: &mut Record<'_>, ty: TypeId) -> Step<ValueId> {
        let id = self.relative(record)?;
        self.expect(id, ty)?;
        Ok(id)
    }

    fn pointee(&self, pointer: TypeId) -> Step<TypeId> {
        self.module.types.pointee(pointer).map(|(to, _)| to).ok_or(ErrorKind::Type("an address"))
    }

    fn binary(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        let (left, ty) = self.typed(&mut record)?;
        let right = self.of_type(&mut record, ty)?;
        let op = BinaryOp::from_number(record.next()?)?;
        let bits = record.optional() as u8;
        let float = matches!(self.module.types.get(ty), Some(Type::Half | Type::Float | Type::Double));
        let (mut flags, mut fast) = (MathFlags::empty(), FastMath::empty());
        match op {
            _ if float => fast = FastMath::from_bits_truncate(bits),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => {
                flags.set(MathFlags::NUW, bits & 1 != 0);
                flags.set(MathFlags::NSW, bits & 2 != 0);
            }
            BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Lshr | BinaryOp::Ashr => {
                flags.set(MathFlags::EXACT, bits & 1 != 0);
            }
            _ => {}
        }
        self.add(reading, Some(ty), InstKind::Binary { op, args: [left, right], flags, fast })
    }

    fn compare(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        let (left, of) = self.typed(&mut record)?;
        let right = self.of_type(&mut record, of)?;
        let predicate = Predicate::from_number(record.next()?)?;
        let fast = FastMath::from_bits_truncate(record.optional() as u8);
        let bool = self.module.types.bool();
        let ty = match *self.module.types.get(of).ok_or(ErrorKind::missing("type", of.0))? {
            Type::Vector { count, .. } => self.module.types.intern(Type::Vector { count, of: bool }),
            _ => bool,
        };
        self.add(reading, Some(ty), InstKind::Compare { predicate, args: [left, right], fast })
    }

    fn gep(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        let inbounds = record.next()? != 0;
        let of = self.module.types.find(record.next()?)?;
        let (base, base_type) = self.typed(&mut record)?;
        let start = self.lists.start::<ValueId>();
        self.lists.push(base);
        while !record.operands.is_empty() {
            let operand = self.typed(&mut record)?.0;
            self.lists.push(operand);
        }
        let operands = self.lists.since(start);
        let space = self.module.types.pointee(base_type).ok_or(ErrorKind::Type("an address"))?.1;
        let to = self.stepped(of, self.lists.get(operands).get(2..).unwrap_or_default())?;
        let ty = self.module.types.intern(Type::Pointer { to, space });
        self.add(reading, Some(ty), InstKind::Gep { inbounds, of, operands })
    }

    /// What is reached from an object of type `ty` by indices into it.
    fn stepped(&self, mut ty: TypeId, indices: &[ValueId]) -> Step<TypeId> {
        for &index in indices {
            let number = match self.module.types.get(ty) {
                Some(Type::Struct { .. }) => {
                    self.constant_integer(index).ok_or(ErrorKind::Type("an index"))?
                }
                // Any element is of the same type as the first one, which an empty array has, too.
                Some(&Type::Array { of, .. } | &Type::Vector { of, .. }) => {
                    ty = of;
                    continue;
                }
                _ => return Err(ErrorKind::Type("an address")),
            };
            ty = self.module.types.member(ty, number).ok_or(ErrorKind::Type("an index"))?;
        }
        Ok(ty)
    }

    fn constant_integer(&self, id: ValueId) -> Option<u64> {
        use crate::bitcode::module::{Constant, Def};
        match self.module.value(self.body.as_ref(), id)?.def {
            Def::Constant(Constant::Integer(n)) => Some(n),
            Def::Constant(Constant::Null) => Some(0),
            _ => None,
        }
    }

    fn vector(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        let (vector, ty) = self.typed(&mut record)?;
        let Some(&Type::Vector { of, .. }) = self.module.types.get(ty) else {
            return Err(ErrorKind::Type("a vector"));
        };
        match record.code {
            code::EXTRACTELT => {
                let (index, _) = self.typed(&mut record)?;
                self.add(reading, Some(of), InstKind::ExtractElement([vector, index]))
            }
            code::INSERTELT => {
                let element = self.of_type(&mut record, of)?;
                let (index, _) = self.typed(&mut record)?;
                self.add(reading, Some(ty), InstKind::InsertElement([vector, element, index]))
            }
            _ => {
                let second = self.of_type(&mut record, ty)?;
                let (numbers, numbers_type) = self.typed(&mut record)?;
                let Some(&Type::Vector { count, .. }) = self.module.types.get(numbers_type) else {
                    return Err(ErrorKind::Type("a vector"));
                };
                let ty = self.module.types.intern(Type::Vector { count, of });
                self.add(reading, Some(ty), InstKind::ShuffleVector([vector, second, numbers]))
            }
        }
    }

    fn switch(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        let ty = self.module.types.find(record.next()?)?;
        let value = self.of_type(&mut record, ty)?;
        let default = reading.block(record.next()?)?;
        let start = self.lists.start::<(ValueId, BlockId)>();
        while !record.operands.is_empty() {
            // Constants are numbered from the start here.
            let case = ValueId(record.next32()?);
            self.expect(case, ty)?;
            self.lists.push((case, reading.block(record.next()?)?));
        }
        self.add(reading, None, InstKind::Switch { value, default, cases: self.lists.since(start) })
    }

    fn phi(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        let ty = self.module.types.find(record.next()?)?;
        let start = self.lists.start::<(ValueId, BlockId)>();
        while !record.operands.is_empty() {
            let distance = signed(record.next()?);
            let id = ValueId(self.next_value().wrapping_sub(distance as u32));
            self.expect(id, ty)?;
            self.lists.push((id, reading.block(record.next()?)?));
        }
        self.add(reading, Some(ty), InstKind::Phi(self.lists.since(start)))
    }

    fn alloca(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        const ALIGNMENT: u64 = (1 << 5) - 1;
        const EXPLICIT_TYPE: u64 = 1 << 6;
        let mut of = self.module.types.find(record.next()?)?;
        let count_type = self.module.types.find(record.next()?)?;
        let count = ValueId(record.next32()?);
        self.expect(count, count_type)?;
        let packed = record.next()?;
        if packed & EXPLICIT_TYPE == 0 {
            of = self.pointee(of)?;
        }
        let align = alignment(packed & ALIGNMENT)?;
        let ty = self.module.types.intern(Type::Pointer { to: of, space: 0 });
        self.add(reading, Some(ty), InstKind::Alloca { of, count, align })
    }

    /// The rest of a record as indices into an aggregate, and the type they lead to.
    fn indices(&mut self, record: &mut Record<'_>, mut ty: TypeId) -> Step<(List<u32>, TypeId)> {
        let start = self.lists.start::<u32>();
        while !record.operands.is_empty() {
            let index = record.next32()?;
            ty = self.module.types.member(ty, index.into()).ok_or(ErrorKind::Type("an index"))?;
            self.lists.push(index);
        }
        Ok((self.lists.since(start), ty))
    }

    fn call(&mut self, mut record: Record<'_>, reading: &mut Reading) -> Step<()> {
        let attributes = record.next32()?;
        let convention = record.next()?;
        let explicit = match convention & EXPLICIT_TYPE {
            0 => None,
            _ => Some(self.module.types.find(record.next()?)?),
        };
        let (callee, callee_type) = self.typed(&mut record)?;
        let ty = match explicit {
            Some(ty) => ty,
            None => self.pointee(callee_type)?,
        };
        let Some(Type::Function { returns, params, variadic }) = self.module.types.get(ty) else {
            return Err(ErrorKind::Type("a function"));
        };
        let (returns, variadic, count) = (*returns, *variadic, params.len());
        let start = self.lists.start::<Operand>();
        for n in 0..count {
            let Some(param) = self.module.types.param(ty, n) else { break };
            let arg = match self.module.types.get(param) {
                Some(Type::Label) => Operand::Block(reading.block(record.next()?)?),
                Some(Type::Metadata) => Operand::Metadata(MetadataId(self.relative(&mut record)?.0)),
                _ => Operand::Value(self.of_type(&mut record, param)?),
            };
            self.lists.push(arg);
        }
        while variadic && !record.operands.is_empty() {
            let arg = self.typed(&mut record)?.0;
            self.lists.push(Operand::Value(arg));
        }
        let result = (self.module.types.get(returns) != Some(&Type::Void)).then_some(returns);
        let tail = convention & TAIL_CALL != 0;
        self.add(reading, result, InstKind::Call { callee, attributes, tail, args: self.lists.since(start) })
    }
}

fn atomic(record: &mut Record<'_>) -> Step<Atomic> {
    Ok(Atomic {
        volatile: record.next()? != 0,
        ordering: record.next32()?,
        single_thread: record.next()? == 0,
    })
}
