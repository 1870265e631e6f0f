//! Instructions of LLVM but for terminators and calls of `dx.op`.

use super::cx::Cx;
use super::flow;
use super::int::Scalar;
use super::resource::{CHOICE, Handle};
use super::val::Val;
use super::{Lift, Stop};
use crate::bitcode::{
    BinaryOp, CastOp, Def, FastMath, Inst, InstKind, Operand, Predicate, RmwOp, Type as Llvm, TypeId, ValueId,
};
use xenoglot_ir::{DivZero, Flags, Op, Type, Value};

/// What is done to two scalars of one type.
type Lane<'f> = dyn FnMut(&mut Cx<'_>, Scalar, [Value; 2]) -> Lift<Value> + 'f;

/// Divisions by zero give all ones in D3D.
fn division() -> Flags {
    Flags::NONE.with_div_zero(DivZero::Ones)
}

impl Cx<'_> {
    /// Arithmetic that may be done in any way may be fused; nothing else is made of it.
    fn float_flags(&self, fast: FastMath) -> Flags {
        match fast.contains(FastMath::UNSAFE_ALGEBRA) && !self.options.precise {
            true => Flags::NONE.with_contract(),
            false => Flags::NONE,
        }
    }

    /// An instruction that is neither a phi nor a terminator.
    pub fn lift_inst(&mut self, inst: &Inst) -> Lift<()> {
        match self.lift_scalar(inst)? {
            Some(v) => self.set_scalar(inst.result, v),
            None => self.lift_other(inst)?,
        }
        Ok(())
    }

    /// What most instructions are: arithmetic on scalars, loads of them. The result is handed on in a register.
    fn lift_scalar(&mut self, inst: &Inst) -> Lift<Option<Value>> {
        match &inst.kind {
            InstKind::Binary { op, args, fast, .. } => {
                let [Some(a), Some(b)] = args.map(|a| self.known_scalar(a)) else { return Ok(None) };
                let scalar = self.scalar_type_of(args[0])?;
                self.scalar_binary(*op, scalar, [a, b], self.float_flags(*fast)).map(Some)
            }
            InstKind::Compare { predicate, args, .. } => {
                let [Some(a), Some(b)] = args.map(|a| self.known_scalar(a)) else { return Ok(None) };
                let scalar = self.scalar_type_of(args[0])?;
                self.scalar_compare(*predicate, scalar, [a, b]).map(Some)
            }
            InstKind::Load { pointer, volatile, .. } => {
                let ty = self.type_of(inst.result.ok_or(Stop::Unsupported(""))?)?;
                let plain = self.module.types.get(ty).is_some_and(Llvm::is_scalar);
                match self.known_pointer(*pointer).filter(|_| plain).cloned() {
                    Some(pointer) => self.load_scalar(&pointer, ty, *volatile).map(Some),
                    None => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    fn lift_other(&mut self, inst: &Inst) -> Lift<()> {
        let v = match &inst.kind {
            InstKind::Binary { op, args, fast, .. } => self.binary(*op, *args, self.float_flags(*fast))?,
            InstKind::Cast { op, arg } => {
                let ty = self.type_of(inst.result.ok_or(Stop::Unsupported(""))?)?;
                self.convert(*op, *arg, ty)?
            }
            InstKind::Gep { of, operands, .. } => self.gep(*of, self.body.list(*operands))?,
            InstKind::Select(args) => self.select(*args)?,
            InstKind::Compare { predicate, args, .. } => self.compare(*predicate, *args)?,
            InstKind::ExtractElement([vector, index]) => match self.integer(*index) {
                Ok(index) => {
                    self.value(*vector)?.member(index as usize).ok_or(Stop::Unsupported("an index"))?
                }
                Err(_) => self.extracted(*vector, *index)?,
            },
            InstKind::InsertElement([vector, element, index]) => match self.integer(*index) {
                Ok(index) => {
                    let element = self.value(*element)?;
                    self.replaced(*vector, &[index as usize], element)?
                }
                Err(_) => self.inserted(*vector, *element, *index)?,
            },
            InstKind::ShuffleVector(args) => self.shuffle(*args)?,
            InstKind::ExtractValue { aggregate, indices } => {
                let mut v = self.value(*aggregate)?;
                for &index in self.body.list(*indices) {
                    v = v.member(index as usize).ok_or(Stop::Unsupported("an index"))?;
                }
                v
            }
            InstKind::InsertValue { aggregate, value, indices } => {
                let path: Vec<usize> = self.body.list(*indices).iter().map(|&i| i as usize).collect();
                let value = self.value(*value)?;
                self.replaced(*aggregate, &path, value)?
            }
            InstKind::Alloca { of, count, .. } => self.alloca(*of, self.integer(*count)?)?,
            InstKind::Load { pointer, volatile, .. } => {
                let ty = self.type_of(inst.result.ok_or(Stop::Unsupported(""))?)?;
                match self.value(*pointer)? {
                    Val::Resource(global, index) => self.library_handle(global, index)?,
                    v => self.load(&v.pointer()?, ty, *volatile)?,
                }
            }
            InstKind::Store { pointer, value, volatile, .. } => {
                let (ty, v) = (self.type_of(*value)?, self.value(*value)?);
                let pointer = self.pointer(*pointer)?;
                self.store(&pointer, v, ty, *volatile)?;
                return Ok(());
            }
            InstKind::Call { callee, args, .. } => match self.call(inst, *callee, self.body.list(*args))? {
                Some(v) => v,
                None => return Ok(()),
            },
            InstKind::AtomicRmw { op, pointer, value, .. } => self.atomic_rmw(*op, *pointer, *value)?,
            InstKind::CompareExchange { pointer, expected, new, .. } => {
                let pointer = self.pointer(*pointer)?;
                let (expected, new) = (self.scalar(*expected)?, self.scalar(*new)?);
                let ty = self.ty(expected);
                let old = self.atomic(Op::AtomicCmpxchg, &pointer, &[expected, new], ty)?;
                let done = self.op(Op::IcmpEq, &[old, expected]);
                Val::scalars([old, done])
            }
            InstKind::Fence(_) => return Err(Stop::Unsupported("")),
            // `lift_scalar` and `flow` lift these.
            _ => return Err(Stop::Unsupported("")),
        };
        if let Some(result) = inst.result {
            self.set(result, v);
        }
        Ok(())
    }

    fn call(&mut self, inst: &Inst, callee: ValueId, args: &[Operand]) -> Lift<Option<Val>> {
        let Def::Function(index) = *self.def(callee)? else {
            return Err(Stop::Unsupported("a function that is not known"));
        };
        let module = self.module;
        let function = module.functions.get(index as usize).ok_or(Stop::Unsupported(""))?;
        if function.name.starts_with(b"dx.op.") {
            return self.dx_op(inst.result, index, args);
        }
        match self.is_lifetime(&inst.kind) {
            true => Ok(None),
            false => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(self.value(arg.value().ok_or(Stop::Unsupported("an argument"))?)?);
                }
                flow::call(self, index, values)
            }
        }
    }

    /// Each member of a vector, or the scalar.
    fn each(&mut self, ty: TypeId, args: &[Val; 2], f: &mut Lane<'_>) -> Lift<Val> {
        let Some(&Llvm::Vector { of, .. }) = self.module.types.get(ty) else {
            return self.lane(ty, args, f).map(Val::Scalar);
        };
        let count = self.members_of(ty)?.unwrap_or(0);
        let mut members = Vec::new();
        for i in 0..count as usize {
            let lane = |v: &Val| v.member(i).ok_or(Stop::Unsupported("a vector"));
            let args = [lane(&args[0])?, lane(&args[1])?];
            members.push(self.lane(of, &args, f)?);
        }
        Ok(Val::scalars(members))
    }

    fn lane(&mut self, ty: TypeId, [a, b]: &[Val; 2], f: &mut Lane<'_>) -> Lift<Value> {
        let scalar = self.scalar_type(ty)?;
        let args = [self.scalar_of(a.clone(), ty)?, self.scalar_of(b.clone(), ty)?];
        f(self, scalar, args)
    }

    /// An operation on two values of one type.
    pub fn binary(&mut self, op: BinaryOp, args: [ValueId; 2], flags: Flags) -> Lift<Val> {
        let ty = self.type_of(args[0])?;
        let args = [self.value(args[0])?, self.value(args[1])?];
        self.each(ty, &args, &mut |cx, scalar, v| cx.scalar_binary(op, scalar, v, flags))
    }

    fn scalar_binary(&mut self, op: BinaryOp, s: Scalar, args: [Value; 2], flags: Flags) -> Lift<Value> {
        match s.is_int() {
            true => Ok(self.integer_binary(op, s, args)),
            false => self.float_binary(op, args, flags),
        }
    }

    fn integer_binary(&mut self, op: BinaryOp, s: Scalar, [a, b]: [Value; 2]) -> Value {
        if s.ty == Type::BOOL {
            return self.bool_binary(op, [a, b]);
        }
        // What may set bits above an odd integer is followed by their clearing.
        let (op, flags, wraps) = match op {
            BinaryOp::Add => (Op::Iadd, Flags::NONE, true),
            BinaryOp::Sub => (Op::Isub, Flags::NONE, true),
            BinaryOp::Mul => (Op::Imul, Flags::NONE, true),
            BinaryOp::Shl => (Op::Shl, Flags::NONE, true),
            BinaryOp::And => (Op::And, Flags::NONE, false),
            BinaryOp::Or => (Op::Or, Flags::NONE, false),
            BinaryOp::Xor => (Op::Xor, Flags::NONE, false),
            BinaryOp::Lshr => (Op::Ushr, Flags::NONE, false),
            BinaryOp::Ashr => (Op::Sshr, Flags::NONE, true),
            BinaryOp::Udiv => (Op::Udiv, division(), true),
            BinaryOp::Urem => (Op::Urem, division(), true),
            BinaryOp::Sdiv => (Op::Sdiv, division(), true),
            BinaryOp::Srem => (Op::Srem, division(), true),
        };
        let args = match op {
            Op::Sshr => [self.signed(a, s), b],
            Op::Sdiv | Op::Srem => [self.signed(a, s), self.signed(b, s)],
            _ => [a, b],
        };
        let v = self.b.op_typed(op, flags, &args, s.ty);
        if wraps { self.wrapped(v, s) } else { v }
    }

    /// Integers of one bit: sums are differences are exclusive or; a shift by one is of no value.
    fn bool_binary(&mut self, op: BinaryOp, [a, b]: [Value; 2]) -> Value {
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor => self.op(Op::Xor, &[a, b]),
            BinaryOp::Mul | BinaryOp::And => self.op(Op::And, &[a, b]),
            BinaryOp::Or => self.op(Op::Or, &[a, b]),
            // The divisor is one, or the quotient all ones.
            BinaryOp::Udiv | BinaryOp::Sdiv => {
                let not = self.b.not(b);
                self.op(Op::Or, &[a, not])
            }
            BinaryOp::Urem | BinaryOp::Srem => self.b.not(b),
            BinaryOp::Shl | BinaryOp::Lshr | BinaryOp::Ashr => a,
        }
    }

    fn float_binary(&mut self, op: BinaryOp, args: [Value; 2], flags: Flags) -> Lift<Value> {
        let op = match op {
            BinaryOp::Add => Op::Fadd,
            BinaryOp::Sub => Op::Fsub,
            BinaryOp::Mul => Op::Fmul,
            BinaryOp::Sdiv => Op::Fdiv,
            // frem: what is left of the quotient towards zero.
            BinaryOp::Srem => {
                let quotient = self.op(Op::Fdiv, &args);
                let whole = self.op(Op::Trunc, &[quotient]);
                let product = self.op(Op::Fmul, &[whole, args[1]]);
                return Ok(self.op(Op::Fsub, &[args[0], product]));
            }
            _ => return Err(Stop::Unsupported("")),
        };
        Ok(self.b.op_flags(op, flags, &args))
    }

    /// A conversion to `ty`.
    pub fn convert(&mut self, op: CastOp, arg: ValueId, ty: TypeId) -> Lift<Val> {
        let from = self.type_of(arg)?;
        let v = self.value(arg)?;
        if let Val::Pointer(_) = v {
            // The type of what an address leads to is said where it is used.
            return match op {
                CastOp::Bitcast => Ok(v),
                _ => Err(Stop::Unsupported("an address as a number")),
            };
        }
        if matches!(v, Val::Undef) {
            return Ok(Val::Undef);
        }
        match (self.members_of(from)?, self.members_of(ty)?) {
            (None, None) => {
                let v = self.scalar_of(v, from)?;
                Ok(Val::Scalar(self.convert_scalar(op, v, self.scalar_type(from)?, self.scalar_type(ty)?)?))
            }
            (Some(n), Some(m)) if n == m => {
                let mut members = Vec::new();
                for i in 0..n {
                    let of = |ty| self.module.types.member(ty, i).ok_or(Stop::Unsupported("a vector"));
                    let (from, to) = (of(from)?, of(ty)?);
                    let member = v.member(i as usize).ok_or(Stop::Unsupported("a vector"))?;
                    let member = self.scalar_of(member, from)?;
                    let (from, to) = (self.scalar_type(from)?, self.scalar_type(to)?);
                    members.push(self.convert_scalar(op, member, from, to)?);
                }
                Ok(Val::scalars(members))
            }
            _ => Err(Stop::Unsupported("vectors of other lengths")),
        }
    }

    fn convert_scalar(&mut self, op: CastOp, v: Value, from: Scalar, to: Scalar) -> Lift<Value> {
        // D3D's conversions to integers saturate.
        let clamp = Flags::NONE.with_clamp();
        let holder = if to.ty == Type::BOOL { Type::I32 } else { to.ty };
        let v = match op {
            CastOp::Trunc => {
                let v = self.resize(v, to.ty);
                self.wrapped(v, to)
            }
            CastOp::Zext => self.resize(v, to.ty),
            CastOp::Sext => {
                let v = self.signed(v, from);
                let v = self.resize_signed(v, to.ty);
                self.wrapped(v, to)
            }
            CastOp::FpToUi | CastOp::FpToSi => {
                let op = if op == CastOp::FpToUi { Op::F2u } else { Op::F2s };
                let v = self.b.convert(op, clamp, v, holder);
                let v = self.resize(v, to.ty);
                self.wrapped(v, to)
            }
            CastOp::UiToFp | CastOp::SiToFp => {
                let v = match (op, from.ty) {
                    (CastOp::SiToFp, Type::BOOL) => self.resize_signed(v, Type::I32),
                    (_, Type::BOOL) => self.resize(v, Type::I32),
                    (CastOp::SiToFp, _) => self.signed(v, from),
                    _ => v,
                };
                let op = if op == CastOp::UiToFp { Op::U2f } else { Op::S2f };
                self.b.convert(op, Flags::NONE, v, to.ty)
            }
            // Types of at least 16 bits may be of the same width.
            CastOp::FpTrunc | CastOp::FpExt if from.ty == to.ty => v,
            CastOp::FpTrunc | CastOp::FpExt => self.b.convert(Op::F2f, Flags::NONE, v, to.ty),
            CastOp::Bitcast if from.ty.bits() == to.ty.bits() && !from.is_odd() && !to.is_odd() => {
                self.cast(v, to.ty)
            }
            _ => return Err(Stop::Unsupported("")),
        };
        Ok(v)
    }

    /// Condition, and what is given if it is true or not.
    pub fn select(&mut self, args: [ValueId; 3]) -> Lift<Val> {
        let ty = self.type_of(args[1])?;
        let [condition, yes, no] = [self.value(args[0])?, self.value(args[1])?, self.value(args[2])?];
        match (&yes, &no) {
            (Val::Undef, _) => return Ok(no),
            (_, Val::Undef) => return Ok(yes),
            (Val::Handle(a), Val::Handle(b)) => {
                if a.is_same(b, self.b.func) {
                    return Ok(yes);
                }
                let place = a.place.of_choice(b.place).filter(|_| a.declared == b.declared).ok_or(CHOICE)?;
                let condition = self.scalar(args[0])?;
                let index = self.b.select(condition, a.place.index(), b.place.index());
                return Ok(Handle::new(a.declared, place.at(index)).into());
            }
            (Val::Node(_), _) | (_, Val::Node(_)) => return Err(CHOICE),
            (Val::Pointer(a), Val::Pointer(b)) if a.region.is_like(b.region) => {
                let of = self.module.types.pointee(ty).ok_or(Stop::Unsupported("an address"))?.0;
                let (a_at, b_at) = (self.address(a)?, self.address(b)?);
                let condition = self.scalar(args[0])?;
                let at = self.b.select(condition, a_at, b_at);
                return Ok(Val::Pointer(self.memory.anywhere(a.region, of, at)?));
            }
            _ => {}
        }
        let condition_type = self.type_of(args[0])?;
        if let Some(count) = self.members_of(ty)? {
            let vector = self.members_of(condition_type)?.is_some();
            let mut members = Vec::new();
            for i in 0..count as usize {
                let lane = |v: &Val| v.member(i).ok_or(Stop::Unsupported("a member"));
                let condition = if vector { lane(&condition)? } else { condition.clone() };
                members.push(self.choose(condition, [lane(&yes)?, lane(&no)?])?);
            }
            return Ok(Val::members(members));
        }
        let (yes, no) = (self.scalar_of(yes, ty)?, self.scalar_of(no, ty)?);
        self.choose(condition, [Val::Scalar(yes), Val::Scalar(no)])
    }

    fn choose(&mut self, condition: Val, [yes, no]: [Val; 2]) -> Lift<Val> {
        match (condition, yes, no) {
            (_, Val::Undef, v) | (_, v, Val::Undef) | (Val::Undef, v, _) => Ok(v),
            (Val::Scalar(c), Val::Scalar(yes), Val::Scalar(no)) => Ok(Val::Scalar(self.b.select(c, yes, no))),
            _ => Err(Stop::Unsupported("a choice between such values")),
        }
    }

    /// A comparison.
    pub fn compare(&mut self, predicate: Predicate, args: [ValueId; 2]) -> Lift<Val> {
        let ty = self.type_of(args[0])?;
        let args = [self.value(args[0])?, self.value(args[1])?];
        self.each(ty, &args, &mut |cx, scalar, v| cx.scalar_compare(predicate, scalar, v))
    }

    fn scalar_compare(&mut self, predicate: Predicate, s: Scalar, [mut a, mut b]: [Value; 2]) -> Lift<Value> {
        use Predicate as P;
        let (op, swapped) = match predicate {
            P::False => return Ok(self.constant(Type::BOOL, 0)),
            P::True => return Ok(self.constant(Type::BOOL, 1)),
            P::Oeq => (Op::FcmpOeq, false),
            P::Ogt => (Op::FcmpOlt, true),
            P::Oge => (Op::FcmpOle, true),
            P::Olt => (Op::FcmpOlt, false),
            P::Ole => (Op::FcmpOle, false),
            P::One => (Op::FcmpOne, false),
            P::Ord => (Op::FcmpOrd, false),
            P::Uno => (Op::FcmpUno, false),
            P::Ueq => (Op::FcmpUeq, false),
            P::Ugt => (Op::FcmpUlt, true),
            P::Uge => (Op::FcmpUle, true),
            P::Ult => (Op::FcmpUlt, false),
            P::Ule => (Op::FcmpUle, false),
            P::Une => (Op::FcmpUne, false),
            P::IntEq => (Op::IcmpEq, false),
            P::IntNe => (Op::IcmpNe, false),
            P::IntUgt => (Op::IcmpUlt, true),
            P::IntUge => (Op::IcmpUle, true),
            P::IntUlt => (Op::IcmpUlt, false),
            P::IntUle => (Op::IcmpUle, false),
            P::IntSgt => (Op::IcmpSlt, true),
            P::IntSge => (Op::IcmpSle, true),
            P::IntSlt => (Op::IcmpSlt, false),
            P::IntSle => (Op::IcmpSle, false),
        };
        if s.is_int() != predicate.is_integer() {
            return Err(Stop::Unsupported("operands of the wrong kind"));
        }
        let signed = matches!(op, Op::IcmpSlt | Op::IcmpSle);
        if s.ty == Type::BOOL && !matches!(op, Op::IcmpEq | Op::IcmpNe) {
            let widen = if signed { Cx::resize_signed } else { Cx::resize };
            (a, b) = (widen(self, a, Type::I32), widen(self, b, Type::I32));
        } else if signed {
            (a, b) = (self.signed(a, s), self.signed(b, s));
        }
        Ok(self.op(op, &if swapped { [b, a] } else { [a, b] }))
    }

    /// The lanes of a vector as scalars, and an index as a number of 32 bits.
    fn indexed(&mut self, vector: ValueId, index: ValueId) -> Lift<(Vec<Value>, Value)> {
        let ty = self.type_of(vector)?;
        let count = self.members_of(ty)?.unwrap_or(0);
        let whole = self.value(vector)?;
        let mut lanes = Vec::new();
        for i in 0..count {
            let of = self.module.types.member(ty, i).ok_or(Stop::Unsupported("a vector"))?;
            let lane = whole.member(i as usize).ok_or(Stop::Unsupported("a vector"))?;
            lanes.push(self.scalar_of(lane, of)?);
        }
        let index = self.scalar(index)?;
        Ok((lanes, self.resize(index, Type::I32)))
    }

    /// The lane of a vector whose number is computed.
    fn extracted(&mut self, vector: ValueId, index: ValueId) -> Lift<Val> {
        let (lanes, index) = self.indexed(vector, index)?;
        let mut lanes = (0..).zip(lanes);
        let (_, mut v) = lanes.next().ok_or(Stop::Unsupported("a vector"))?;
        for (n, lane) in lanes {
            let n = self.i32(n);
            let here = self.op(Op::IcmpEq, &[index, n]);
            v = self.b.select(here, lane, v);
        }
        Ok(Val::Scalar(v))
    }

    /// A vector with the lane replaced whose number is computed.
    fn inserted(&mut self, vector: ValueId, element: ValueId, index: ValueId) -> Lift<Val> {
        let (lanes, index) = self.indexed(vector, index)?;
        let element = self.scalar(element)?;
        let mut all = Vec::new();
        for (n, lane) in (0..).zip(lanes) {
            let n = self.i32(n);
            let here = self.op(Op::IcmpEq, &[index, n]);
            all.push(self.b.select(here, element, lane));
        }
        Ok(Val::scalars(all))
    }

    /// An aggregate with the member at a path replaced.
    fn replaced(&mut self, aggregate: ValueId, path: &[usize], v: Val) -> Lift<Val> {
        let ty = self.type_of(aggregate)?;
        let whole = self.value(aggregate)?;
        // The aggregates on the way in, then out again.
        let mut around = Vec::new();
        let (mut at, mut ty) = (whole, ty);
        for &index in path {
            let count = self.members_of(ty)?.ok_or(Stop::Unsupported("a member"))?;
            let members: Vec<Val> = match &at {
                Val::Members(members) => members.to_vec(),
                Val::Undef => vec![Val::Undef; count as usize],
                _ => return Err(Stop::Unsupported("a member")),
            };
            ty = self.module.types.member(ty, index as u64).ok_or(Stop::Unsupported("an index"))?;
            at = members.get(index).cloned().ok_or(Stop::Unsupported("an index"))?;
            around.push((members, index));
        }
        Ok(around.into_iter().rev().fold(v, |v, (mut members, index)| {
            members[index] = v;
            Val::members(members)
        }))
    }

    fn shuffle(&mut self, [a, b, numbers]: [ValueId; 3]) -> Lift<Val> {
        let ty = self.type_of(a)?;
        let count = self.members_of(ty)?.unwrap_or(0) as usize;
        let (a, b) = (self.value(a)?, self.value(b)?);
        let numbers_type = self.type_of(numbers)?;
        let result = self.members_of(numbers_type)?.unwrap_or(0);
        let numbers = self.value(numbers)?;
        let mut members = Vec::new();
        for i in 0..result as usize {
            let number = match numbers.member(i).ok_or(Stop::Unsupported("a vector"))? {
                Val::Scalar(v) => self.b.func.const_bits(v).map(|bits| bits.lane(0) as usize),
                _ => None,
            };
            let from = match number {
                None => Some(Val::Undef),
                Some(n) if n < count => a.member(n),
                Some(n) => b.member(n - count),
            };
            members.push(from.ok_or(Stop::Unsupported("an index"))?);
        }
        Ok(Val::members(members))
    }

    fn atomic_rmw(&mut self, op: RmwOp, pointer: ValueId, value: ValueId) -> Lift<Val> {
        let pointer = self.pointer(pointer)?;
        let mut v = self.scalar(value)?;
        let ty = self.ty(v);
        let op = match op {
            RmwOp::Xchg => Op::AtomicXchg,
            RmwOp::Add => Op::AtomicAdd,
            RmwOp::Sub => {
                v = self.op(Op::Ineg, &[v]);
                Op::AtomicAdd
            }
            RmwOp::And => Op::AtomicAnd,
            RmwOp::Or => Op::AtomicOr,
            RmwOp::Xor => Op::AtomicXor,
            RmwOp::Max => Op::AtomicSmax,
            RmwOp::Min => Op::AtomicSmin,
            RmwOp::Umax => Op::AtomicUmax,
            RmwOp::Umin => Op::AtomicUmin,
            RmwOp::Nand => return Err(Stop::Unsupported("")),
        };
        self.atomic(op, &pointer, &[v], ty).map(Val::Scalar)
    }
}
