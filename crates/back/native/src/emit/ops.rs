//! Pure ops. What has no short form in SIMD instructions calls its fold function.

use super::Emitter;
use crate::Variant;
use crate::error::CompileError;
use crate::exec::{self, Context};
use crate::host::{FoldCall, Site};
use crate::plan::{Class, all, class, components, is_invocation, is_word, sources};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, I32, I32X4};
use cranelift_codegen::ir::{InstBuilder, Value as Simd};
use xenoglot_ir::fold::float::NAN32;
use xenoglot_ir::fold::{Cx, Fault, eval};
use xenoglot_ir::{Bits, Flags, Imm, Inst, Kind, NanMode, Op, Round, Value};

impl Emitter<'_> {
    /// Emits the needed components of the result of a pure op.
    pub(super) fn pure(&mut self, inst: Inst, v: Value) -> Result<(), CompileError> {
        let f = self.f;
        let data = &f.insts[inst];
        let kinds = f.args(inst).iter().map(|&a| f.ty(a).kind()).chain([f.ty(v).kind()]);
        if let Some(kind) = kinds.into_iter().find(|&k| !is_word(k)) {
            return self.unsupported(format!("values of kind {}", kind.name()), inst);
        }
        let live = self.plan.live(v);
        match class(f, inst) {
            Class::Move => {
                self.moves(inst, v);
                return Ok(());
            }
            _ if data.op == Op::Input => return self.input(inst, v),
            _ if data.op == Op::Undef => return Ok(()),
            _ if let Imm::Spec(spec) = data.imm => {
                let simd = self.constant(I32X4, spec.default);
                self.set(v, 0, simd);
                return Ok(());
            }
            _ => {}
        }
        if matches!(data.op, Op::Fdot2 | Op::Fdot3 | Op::Fdot4) && is_plain(data.flags) {
            let sum = self.dot(inst);
            self.finish(inst, v, 0, sum);
            return Ok(());
        }
        if self.is_native(inst) {
            for c in components(live) {
                let args: Vec<Simd> = f
                    .args(inst)
                    .iter()
                    .map(|&a| self.get(a, if f.ty(a).is_scalar() { 0 } else { c }))
                    .collect();
                let simd = self.lane_op(inst, &args);
                self.finish(inst, v, c, simd);
            }
            return Ok(());
        }
        self.fold(inst, v)
    }

    /// Sets a component of a result, made canonical where the variant and its users ask for it.
    fn finish(&mut self, inst: Inst, v: Value, c: usize, mut simd: Simd) {
        let flags = self.f.insts[inst].flags;
        if flags.sat() && self.f.ty(v).kind() == Kind::F32 {
            simd = self.saturate(simd);
        } else if class(self.f, inst) == Class::Arithmetic || flags.fmz() {
            match self.variant {
                Variant::Optimistic if self.plan.root(v) >> c & 1 == 1 => self.suspect(simd),
                Variant::Exact if self.plan.seen(v) >> c & 1 == 1 => simd = self.canonical(simd),
                // The rule for zero factors hides NaNs from `roots`.
                Variant::Optimistic if flags.fmz() => simd = self.canonical(simd),
                _ => {}
            }
        }
        self.set(v, c, simd);
    }

    fn canonical(&mut self, simd: Simd) -> Simd {
        let nan = self.constant(F32X4, NAN32 as u32);
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, simd, simd);
        self.blend(is_nan, nan, simd)
    }

    /// 0 for NaNs and what has a sign, at most 1.
    fn saturate(&mut self, simd: Simd) -> Simd {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let positive = self.greater(simd, zero);
        self.lesser(positive, one)
    }

    /// `a < b ? a : b`, an instruction of its own on x86.
    fn lesser(&mut self, a: Simd, b: Simd) -> Simd {
        let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
        self.blend(less, a, b)
    }

    /// `a > b ? a : b`
    fn greater(&mut self, a: Simd, b: Simd) -> Simd {
        let less = self.b.ins().fcmp(FloatCC::LessThan, b, a);
        self.blend(less, a, b)
    }

    fn moves(&mut self, inst: Inst, v: Value) {
        let f = self.f;
        let ty = Self::simd(f.ty(v).kind());
        for c in components(self.plan.live(v)) {
            let mut source = None;
            sources(f, inst, 1 << c, |_, a, from| {
                if let Some(from) = components(from).next() {
                    source = Some((a, from));
                }
            });
            let Some((a, from)) = source else { continue };
            let simd = self.get(a, from);
            let simd = match f.insts[inst].op {
                Op::Fneg => self.b.ins().fneg(simd),
                Op::Fabs => self.b.ins().fabs(simd),
                _ => self.cast(ty, simd),
            };
            self.set(v, c, simd);
        }
    }

    fn input(&mut self, inst: Inst, v: Value) -> Result<(), CompileError> {
        if !is_invocation(self.module, self.f, v) {
            return self.unsupported("an input other than the invocation in the dispatch", inst);
        }
        for c in components(self.plan.live(v)) {
            let simd = if c == 0 {
                let lanes = self.b.ins().load(I32X4, super::FIXED, self.context, Context::LANES as i32);
                let first = self.b.ins().splat(I32X4, self.first);
                self.b.ins().iadd(first, lanes)
            } else {
                self.constant(I32X4, 0)
            };
            self.set(v, c, simd);
        }
        Ok(())
    }

    /// A product with the zero rules.
    fn product(&mut self, flags: Flags, a: Simd, b: Simd) -> Simd {
        let product = self.b.ins().fmul(a, b);
        let keep = if flags.fmz() {
            let zero = self.float(0.0);
            let [x, y] = [a, b].map(|v| self.b.ins().fcmp(FloatCC::Equal, v, zero));
            let none = self.b.ins().bor(x, y);
            self.b.ins().bnot(none)
        } else if flags.zero_wins() && self.variant == Variant::Exact {
            let ordered = self.b.ins().fcmp(FloatCC::Ordered, product, product);
            let factors = self.b.ins().fcmp(FloatCC::Unordered, a, b);
            self.b.ins().bor(ordered, factors)
        } else {
            return product;
        };
        let bits = self.cast(I32X4, product);
        let kept = self.b.ins().band(bits, keep);
        self.cast(F32X4, kept)
    }

    fn dot(&mut self, inst: Inst) -> Simd {
        let f = self.f;
        let &[a, b] = f.args(inst) else { return self.float(0.0) };
        let flags = f.insts[inst].flags;
        // From +0: what a sum of zeros of either sign is depends on it.
        let mut sum = self.float(0.0);
        for c in components(all(f.ty(a))) {
            let (a, b) = (self.get(a, c), self.get(b, c));
            let product = self.product(flags, a, b);
            sum = self.b.ins().fadd(sum, product);
        }
        sum
    }

    /// Whether [`Emitter::lane_op`] has the op with these flags and operands.
    fn is_native(&self, inst: Inst) -> bool {
        use Op::*;
        let f = self.f;
        let data = &f.insts[inst];
        let flags = data.flags;
        match data.op {
            Iadd | Isub | Iadd3 | Imul | Ineg | Iabs | Imin | Imax | Umin | Umax | And | Or | Xor | Not
            | IcmpEq | IcmpNe | IcmpUlt | IcmpUle | IcmpSlt | IcmpSle | Select => true,
            Shl | Ushr | Sshr => self.shift_amount(inst).is_some(),
            Zext | Sext => f.ty(f.args(inst)[0]).kind() == Kind::Bool,
            Fmul | Fadd | Fsub | Fdiv | Floor | Ceil | Trunc | RoundEven | Fract | Sqrt | Rsqrt | Rcp => {
                is_plain(flags)
            }
            Fmin | Fmax | Fsat | FcmpOeq | FcmpOne | FcmpOlt | FcmpOle | FcmpUeq | FcmpUne | FcmpUlt
            | FcmpUle | FcmpOrd | FcmpUno => !flags.ftz(),
            S2f | U2f => is_plain(flags),
            F2s | F2u => !flags.ftz() && matches!(flags.round(), Round::Natural | Round::Zero),
            _ => false,
        }
    }

    /// The amount of a shift if it is one constant for all components.
    fn shift_amount(&self, inst: Inst) -> Option<i64> {
        let v = *self.f.args(inst).get(1)?;
        let bits = self.f.const_bits(v)?;
        let lanes = usize::from(self.f.ty(v).lanes());
        (0..lanes).all(|i| bits.lane(i) == bits.lane(0)).then_some(i64::from(bits.lane(0) as u32 % 32))
    }

    /// One component of an op.
    fn lane_op(&mut self, inst: Inst, args: &[Simd]) -> Simd {
        let data = &self.f.insts[inst];
        let (op, flags) = (data.op, data.flags);
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        match op {
            Op::Iadd => self.b.ins().iadd(a, b),
            Op::Isub => self.b.ins().isub(a, b),
            Op::Iadd3 => {
                let sum = self.b.ins().iadd(a, b);
                self.b.ins().iadd(sum, args[2])
            }
            Op::Imul => self.b.ins().imul(a, b),
            Op::Ineg => self.b.ins().ineg(a),
            Op::Iabs => self.b.ins().iabs(a),
            Op::Imin => self.b.ins().smin(a, b),
            Op::Imax => self.b.ins().smax(a, b),
            Op::Umin => self.b.ins().umin(a, b),
            Op::Umax => self.b.ins().umax(a, b),
            Op::And => self.b.ins().band(a, b),
            Op::Or => self.b.ins().bor(a, b),
            Op::Xor => self.b.ins().bxor(a, b),
            Op::Not => self.b.ins().bnot(a),
            Op::Shl | Op::Ushr | Op::Sshr => {
                let amount = self.shift_amount(inst).unwrap_or(0);
                let amount = self.b.ins().iconst(I32, amount);
                match op {
                    Op::Shl => self.b.ins().ishl(a, amount),
                    Op::Ushr => self.b.ins().ushr(a, amount),
                    _ => self.b.ins().sshr(a, amount),
                }
            }
            Op::IcmpEq => self.b.ins().icmp(IntCC::Equal, a, b),
            Op::IcmpNe => self.b.ins().icmp(IntCC::NotEqual, a, b),
            Op::IcmpUlt => self.b.ins().icmp(IntCC::UnsignedLessThan, a, b),
            Op::IcmpUle => self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, a, b),
            Op::IcmpSlt => self.b.ins().icmp(IntCC::SignedLessThan, a, b),
            Op::IcmpSle => self.b.ins().icmp(IntCC::SignedLessThanOrEqual, a, b),
            Op::Select => self.blend(a, b, args[2]),
            Op::Sext => a,
            Op::Zext => {
                let one = self.constant(I32X4, 1);
                self.b.ins().band(a, one)
            }
            Op::Fmul => self.product(flags, a, b),
            Op::Fadd => self.b.ins().fadd(a, b),
            Op::Fsub => self.b.ins().fsub(a, b),
            Op::Fdiv => self.b.ins().fdiv(a, b),
            Op::Floor => self.b.ins().floor(a),
            Op::Ceil => self.b.ins().ceil(a),
            Op::Trunc => self.b.ins().trunc(a),
            Op::RoundEven => self.b.ins().nearest(a),
            Op::Fract => {
                let floor = self.b.ins().floor(a);
                self.b.ins().fsub(a, floor)
            }
            Op::Sqrt => self.b.ins().sqrt(a),
            Op::Rsqrt | Op::Rcp => {
                let one = self.float(1.0);
                let of = if op == Op::Rcp { a } else { self.b.ins().sqrt(a) };
                self.b.ins().fdiv(one, of)
            }
            Op::Fmin | Op::Fmax => self.pick(op, flags.nan(), a, b),
            Op::Fsat => self.saturate(a),
            Op::S2f => self.b.ins().fcvt_from_sint(F32X4, a),
            Op::U2f => self.b.ins().fcvt_from_uint(F32X4, a),
            Op::F2s => self.b.ins().fcvt_to_sint_sat(I32X4, a),
            Op::F2u => self.b.ins().fcvt_to_uint_sat(I32X4, a),
            _ => self.compare(op, a, b),
        }
    }

    fn pick(&mut self, op: Op, mode: NanMode, a: Simd, b: Simd) -> Simd {
        let second = if op == Op::Fmin { self.lesser(a, b) } else { self.greater(a, b) };
        match mode {
            NanMode::Second => second,
            NanMode::First => {
                let nan = self.b.ins().fcmp(FloatCC::Unordered, a, b);
                self.blend(nan, a, second)
            }
            NanMode::Propagate => {
                let nan = self.b.ins().fcmp(FloatCC::Unordered, a, b);
                let canonical = self.constant(F32X4, NAN32 as u32);
                self.blend(nan, canonical, second)
            }
            NanMode::Other => {
                let first = self.b.ins().fcmp(FloatCC::Ordered, a, a);
                let not_second = self.b.ins().fcmp(FloatCC::Unordered, b, b);
                let only_first = self.b.ins().band(first, not_second);
                self.blend(only_first, a, second)
            }
        }
    }

    fn compare(&mut self, op: Op, a: Simd, b: Simd) -> Simd {
        let mut test = |cc| self.b.ins().fcmp(cc, a, b);
        match op {
            Op::FcmpOeq => test(FloatCC::Equal),
            Op::FcmpOlt => test(FloatCC::LessThan),
            Op::FcmpOle => test(FloatCC::LessThanOrEqual),
            Op::FcmpUne => test(FloatCC::NotEqual),
            Op::FcmpUlt => test(FloatCC::UnorderedOrLessThan),
            Op::FcmpUle => test(FloatCC::UnorderedOrLessThanOrEqual),
            Op::FcmpOrd => test(FloatCC::Ordered),
            Op::FcmpOne => {
                let (ordered, unequal) = (test(FloatCC::Ordered), test(FloatCC::NotEqual));
                self.b.ins().band(ordered, unequal)
            }
            Op::FcmpUeq => {
                let (unordered, equal) = (test(FloatCC::Unordered), test(FloatCC::Equal));
                self.b.ins().bor(unordered, equal)
            }
            _ => test(FloatCC::Unordered),
        }
    }

    /// Evaluates the op by its fold function.
    fn fold(&mut self, inst: Inst, v: Value) -> Result<(), CompileError> {
        let f = self.f;
        let data = &f.insts[inst];
        let args = f.args(inst);
        let types: Vec<_> = args.iter().map(|&a| f.ty(a)).collect();
        let cx = Cx {
            result: f.ty(v),
            arg: types.first().copied().unwrap_or(f.ty(v)),
            flags: data.flags,
            imm: data.imm,
        };
        // Whether there is a meaning depends on the op, its flags and types only.
        let zeros = vec![Bits::default(); args.len()];
        if eval(data.op, &cx, &zeros, &types) == Err(Fault::Unsupported) {
            return self.unsupported(format!("`{}{}`", data.op.info().name, data.flags), inst);
        }
        let mut at = 0;
        for &a in args {
            for c in components(all(f.ty(a))) {
                let simd = self.get(a, c);
                self.put_scratch(at, simd);
                at += 1;
            }
        }
        let site = Site::Fold(FoldCall { op: data.op, cx, types });
        // What is the same in all lanes is so in those, too, that do not execute.
        let mask = if self.plan.is_divergent(v) { self.mask } else { None };
        self.call(exec::fold as *const (), site, self.calls.fold, mask);
        for c in components(self.plan.live(v)) {
            let simd = self.take_scratch(c, Self::simd(f.ty(v).kind()));
            if class(f, inst) == Class::Arithmetic
                && self.variant == Variant::Optimistic
                && self.plan.root(v) >> c & 1 == 1
            {
                self.suspect(simd);
            }
            self.set(v, c, simd);
        }
        Ok(())
    }
}

/// Whether float arithmetic has no flags but those that [`Emitter::product`] and [`Emitter::finish`] know.
fn is_plain(flags: Flags) -> bool {
    !flags.ftz() && matches!(flags.round(), Round::Natural | Round::Even)
}
