//! The single steps of a body: ops with operands that fit, and the state they touch.

use super::body::{Body, Part, plain, random_kind, random_type};
use super::ops::{Family, shrinks, takes};
use xenoglot_ir::flags::{DivZero, Flags, NanMode, Round};
use xenoglot_ir::imm::{FloatFormat, ImmKind};
use xenoglot_ir::op::{Class, Sig, Width};
use xenoglot_ir::{Imm, Kind, Lanes, Op, Type, Value};

/// Formats that `fquantize` rounds to.
const FORMATS: [FloatFormat; 4] = [
    FloatFormat::F24,
    FloatFormat { exp: 5, mant: 10 },
    FloatFormat { exp: 8, mant: 7 },
    FloatFormat { exp: 6, mant: 13 },
];

impl Body<'_> {
    /// Appends something at random. May append nothing where no operand fits.
    pub(super) fn step(&mut self) {
        let memory = self.options.has(Family::Memory);
        match self.rng.below(100) {
            0..8 if !self.slots.is_empty() => self.slot(),
            8..13 if memory => self.load_input(),
            13..17 if memory => self.store_output(),
            17..20 if memory => self.load_output(),
            20..25 if !self.callees.is_empty() => self.call(),
            25..30 => {
                if let Some(ty) = random_type(self.rng, self.options, Class::Number) {
                    let v = self.constant(ty);
                    self.keep(v);
                }
            }
            _ => {
                if let Some(&op) = self.rng.pick(&self.ops) {
                    self.op(op);
                }
            }
        }
    }

    fn slot(&mut self) {
        let Some(&slot) = self.rng.pick(&self.slots) else { return };
        if self.rng.percent(50) {
            let v = self.b().slot_get(slot);
            self.keep(v);
        } else {
            let ty = self.f.slots[slot].ty;
            let v = self.value(ty);
            self.b().slot_set(slot, v);
        }
    }

    fn call(&mut self) {
        let callees = self.callees;
        let Some(callee) = self.rng.pick(callees) else { return };
        let args: Vec<Value> = callee.params.iter().map(|&ty| self.value(ty)).collect();
        let call = self.b().call(callee.func, &args, &callee.returns);
        for v in self.f.results(call).to_vec() {
            self.keep(v);
        }
    }

    /// One lane or more of `kind`.
    fn lanes(&mut self, kind: Kind) -> Type {
        let vector = self.options.has(Family::Vector) && self.rng.percent(35);
        let lanes = if vector { 2 + self.rng.below(3) as u8 } else { 1 };
        Type::new(kind, lanes).unwrap_or(Type::scalar(kind))
    }

    /// The address of word `first + (some number below 2^bits)` of a part.
    fn address(&mut self, part: Part, first: u32, bits: u32) -> Value {
        let index = self.value(Type::I32);
        let mut b = self.b();
        let (mask, four, first) = (b.i32((1 << bits) - 1), b.i32(4), b.i32(4 * first));
        let index = b.op(Op::And, &[index, mask]);
        let offset = b.op(Op::Imul, &[index, four]);
        b.op(Op::Iadd3, &[part.base, first, offset])
    }

    /// Reads from the half of the input that holds such values.
    pub(super) fn load_input(&mut self) {
        let Some([input, _]) = self.parts else { return };
        let Some(kind) = random_kind(self.rng, self.options, |k| matches!(k, Kind::I32 | Kind::F32)) else {
            return;
        };
        let ty = self.lanes(kind);
        let half = if kind == Kind::F32 { super::IN_WORDS / 2 } else { 0 };
        let at = self.address(input, half, if ty.is_scalar() { 3 } else { 2 });
        let v = self.b().load(plain(input.resource), at, ty);
        self.keep(v);
    }

    fn store_output(&mut self) {
        let Some([_, output]) = self.parts else { return };
        let word = |t: Type| matches!(t.kind(), Kind::I32 | Kind::F32);
        let Some(v) = self.pick(word) else { return };
        let v = self.canonical(v);
        let at = self.address(output, super::body::HASHED, 3);
        self.b().store(plain(output.resource), at, v);
    }

    /// Reads back as integers what was stored, whatever it was.
    fn load_output(&mut self) {
        let Some([_, output]) = self.parts else { return };
        let ty = self.lanes(Kind::I32);
        let at = self.address(output, super::body::HASHED, 3);
        let v = self.b().load(plain(output.resource), at, ty);
        self.keep(v);
    }

    /// A type that `op` takes.
    fn type_for(&mut self, op: Op, class: Class) -> Option<Type> {
        let kind = random_kind(self.rng, self.options, |k| class.has(k) && takes(op, k))?;
        Some(self.lanes(kind))
    }

    fn op(&mut self, op: Op) {
        let Some((args, result)) = self.operands(op) else { return };
        let flags = self.flags(op);
        let imm = self.imm(op, &args, result);
        let inst = self.b().inst(op, flags, imm, &args, &[result]);
        for mut v in self.f.results(inst).to_vec() {
            if shrinks(op) && !self.options.denormals {
                v = self.tame(v);
            }
            self.keep(v);
        }
    }

    /// Operands that fit `op`, and its result's type.
    fn operands(&mut self, op: Op) -> Option<(Vec<Value>, Type)> {
        Some(match op.info().sig {
            Sig::Same(n, class) => {
                let ty = self.type_for(op, class)?;
                ((0..n).map(|_| self.value(ty)).collect(), ty)
            }
            Sig::Test(n, class) => {
                let ty = self.type_for(op, class)?;
                ((0..n).map(|_| self.value(ty)).collect(), ty.with_kind(Kind::Bool))
            }
            sig @ (Sig::CarryIn | Sig::CarryOut) => {
                let ty = self.type_for(op, Class::Int)?;
                let carry = ty.with_kind(Kind::Bool);
                let args = [ty, ty, carry].map(|ty| self.value(ty)).to_vec();
                (args, if sig == Sig::CarryIn { ty } else { carry })
            }
            Sig::Convert(from, to, width) => self.conversion(op, from, to, width)?,
            Sig::Bitcast => self.bitcast()?,
            Sig::Select => {
                let ty = self.type_for(op, Class::Number)?;
                let condition = if self.rng.percent(50) { Type::BOOL } else { ty.with_kind(Kind::Bool) };
                ([condition, ty, ty].map(|ty| self.value(ty)).to_vec(), ty)
            }
            Sig::LoadExp => {
                let ty = self.type_for(op, Class::Float)?;
                let whole = ty.with_kind(Kind::I32);
                let (a, n) = (self.value(ty), self.value(whole));
                let mut b = self.b();
                let (mask, middle) = (b.i32(31), b.i32(16));
                let (mask, middle) = (b.splat(mask, ty.lanes()), b.splat(middle, ty.lanes()));
                let n = b.op(Op::And, &[n, mask]);
                let n = b.op(Op::Isub, &[n, middle]);
                (vec![a, n], ty)
            }
            Sig::ExtractExp => {
                let ty = self.type_for(op, Class::Float)?;
                (vec![self.value(ty)], ty.with_kind(Kind::I32))
            }
            Sig::Dot(n) => {
                let ty = self.type_for(op, Class::Float)?.with_lanes(n)?;
                (vec![self.value(ty), self.value(ty)], ty.lane())
            }
            Sig::Splat => {
                let ty = random_type(self.rng, self.options, Class::Number)?
                    .with_lanes(2 + self.rng.below(3) as u8)?;
                (vec![self.value(ty.lane())], ty)
            }
            Sig::Build => {
                let ty = random_type(self.rng, self.options, Class::Number)?
                    .with_lanes(2 + self.rng.below(3) as u8)?;
                ((0..ty.lanes()).map(|_| self.value(ty.lane())).collect(), ty)
            }
            Sig::Extract | Sig::Insert | Sig::Shuffle => {
                let v = self.pick(|t| !t.is_scalar())?;
                let ty = self.f.ty(v);
                match op.info().sig {
                    Sig::Extract => (vec![v], ty.lane()),
                    Sig::Insert => (vec![v, self.value(ty.lane())], ty),
                    _ => (vec![v, self.value(ty)], ty.with_lanes(2 + self.rng.below(3) as u8)?),
                }
            }
            _ => return None,
        })
    }

    fn conversion(&mut self, op: Op, from: Class, to: Class, width: Width) -> Option<(Vec<Value>, Type)> {
        let from = self.type_for(op, from)?;
        let (kind, old) = (random_kind(self.rng, self.options, |k| to.has(k))?, from.kind());
        let fits = match op {
            // Rounds twice in the reference evaluation.
            Op::S2f | Op::U2f => !(kind == Kind::F16 && old == Kind::I64),
            _ => width.allows(old, kind),
        };
        fits.then(|| (vec![self.value(from)], from.with_kind(kind)))
    }

    /// Integers may become floats only where denormals are allowed.
    fn bitcast(&mut self) -> Option<(Vec<Value>, Type)> {
        let numbers = |k: Kind| k != Kind::Bool;
        let kind = random_kind(self.rng, self.options, numbers)?;
        let from = self.lanes(kind);
        let denormals = self.options.denormals;
        let to = random_kind(self.rng, self.options, |k| numbers(k) && (denormals || !k.is_float()))?;
        let lanes = (from.bits() / to.bits()) as u8;
        let to = Type::new(to, lanes).filter(|t| t.bits() == from.bits())?;
        if to.lanes() > 1 && !self.options.has(Family::Vector) {
            return None;
        }
        let v = self.value(from);
        Some((vec![self.canonical(v)], to))
    }

    /// Flags that keep the result the same on every host.
    fn flags(&mut self, op: Op) -> Flags {
        let (may, rng, none) = (op.info().flags, &mut *self.rng, Flags::NONE);
        let to_int = matches!(op, Op::F2s | Op::F2u);
        let nan =
            [NanMode::Other, NanMode::Second, NanMode::First, NanMode::Propagate][rng.below(4) as usize];
        let by_zero = [DivZero::Zero, DivZero::Ones][rng.below(2) as usize];
        let modes = [Round::Natural, Round::Even, Round::Zero, Round::Up, Round::Down];
        let round = modes[rng.below(if to_int { 5 } else { 2 }) as usize];
        let product = [none.with_zero_wins(), none.with_fmz(), none, none, none][rng.below(5) as usize];
        let wanted = [
            if rng.percent(10) { none.with_ftz() } else { none },
            if rng.percent(10) { none.with_sat() } else { none },
            none.with_clamp(),
            none.with_nan(nan),
            none.with_div_zero(by_zero),
            none.with_round(round),
            product,
        ];
        wanted.into_iter().filter(|f| f.within(may)).fold(none, Flags::union)
    }

    fn imm(&mut self, op: Op, args: &[Value], result: Type) -> Imm {
        let lanes = args.first().map_or(1, |&v| self.f.ty(v).lanes());
        match op.info().imm {
            ImmKind::Lane => Imm::Lane(self.rng.below(lanes.into()) as u8),
            ImmKind::Lanes => {
                let mut lane = || self.rng.below(lanes.into()) as u8 + 4 * self.rng.below(2) as u8;
                let chosen: Vec<u8> = (0..result.lanes()).map(|_| lane()).collect();
                Lanes::new(&chosen).map_or(Imm::None, Imm::Lanes)
            }
            ImmKind::Format => Imm::Format(FORMATS[self.rng.below(4) as usize]),
            _ => Imm::None,
        }
    }
}
