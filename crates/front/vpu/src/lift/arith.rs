//! The arithmetic of [`number`](crate::number) as IR: on vectors of four lanes unless said otherwise.

use crate::format::Component;
use crate::isa::Op as Vpu;
use crate::number::{Fraction, Number, rsq_shift};
use xenoglot_ir::{Bits, Builder, Flags, Op, Type, Value};

/// A builder that knows the number type.
pub(super) struct Arith<'f> {
    pub b: Builder<'f>,
    pub number: Number,
}

impl Arith<'_> {
    /// The type of a register.
    pub fn register(&self) -> Type {
        match self.number {
            Number::Fixed(_) => Type::I32X4,
            Number::Float => Type::F32X4,
        }
    }

    /// The same bits in every lane of a type.
    pub fn splat(&mut self, ty: Type, bits: u32) -> Value {
        self.b.constant(ty, Bits::splat(ty, bits.into()))
    }

    fn like(&mut self, v: Value, bits: u32) -> Value {
        let ty = self.b.func.ty(v);
        self.splat(ty, bits)
    }

    /// An integer op whose second operand is a constant.
    pub fn with(&mut self, op: Op, v: Value, constant: u32) -> Value {
        let constant = self.like(v, constant);
        self.b.op(op, &[v, constant])
    }

    fn is_negative(&mut self, v: Value) -> Value {
        let zero = self.like(v, 0);
        self.b.op(Op::IcmpSlt, &[v, zero])
    }

    /// The greatest number, or the least where `sign` is negative.
    fn limit(&mut self, sign: Value) -> Value {
        let sign = self.with(Op::Sshr, sign, 31);
        self.with(Op::Xor, sign, i32::MAX as u32)
    }

    fn add_fixed(&mut self, a: Value, b: Value) -> Value {
        let sum = self.b.op(Op::Iadd, &[a, b]);
        let (x, y) = (self.b.op(Op::Xor, &[a, sum]), self.b.op(Op::Xor, &[b, sum]));
        self.unless_overflown(sum, x, y, a)
    }

    fn sub_fixed(&mut self, a: Value, b: Value) -> Value {
        let difference = self.b.op(Op::Isub, &[a, b]);
        let (x, y) = (self.b.op(Op::Xor, &[a, b]), self.b.op(Op::Xor, &[a, difference]));
        self.unless_overflown(difference, x, y, a)
    }

    /// `v`, or the limit on the side of `a` where the signs of both `x` and `y` are set.
    fn unless_overflown(&mut self, v: Value, x: Value, y: Value, a: Value) -> Value {
        let both = self.b.op(Op::And, &[x, y]);
        let overflown = self.is_negative(both);
        let limit = self.limit(a);
        self.b.select(overflown, limit, v)
    }

    fn mul_fixed(&mut self, f: Fraction, a: Value, b: Value) -> Value {
        let (low, high) = (self.b.op(Op::Imul, &[a, b]), self.b.op(Op::Imulh, &[a, b]));
        let low = self.with(Op::Ushr, low, f.bits());
        let up = self.with(Op::Shl, high, 32 - f.bits());
        let v = self.b.op(Op::Or, &[low, up]);
        // It fits if all bits above the result's sign are like it.
        let (above, sign) = (self.with(Op::Sshr, high, f.bits() - 1), self.with(Op::Sshr, v, 31));
        let fits = self.b.op(Op::IcmpEq, &[above, sign]);
        let limit = self.limit(high);
        self.b.select(fits, v, limit)
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        match self.number {
            Number::Fixed(_) => self.add_fixed(a, b),
            Number::Float => self.b.op(Op::Fadd, &[a, b]),
        }
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        match self.number {
            Number::Fixed(f) => self.mul_fixed(f, a, b),
            Number::Float => self.b.op(Op::Fmul, &[a, b]),
        }
    }

    fn dot(&mut self, a: Value, b: Value, lanes: u8) -> Value {
        let products = self.mul(a, b);
        let first = self.b.extract(products, 0);
        let sum = (1..lanes).fold(first, |sum, lane| {
            let product = self.b.extract(products, lane);
            self.add(sum, product)
        });
        self.b.splat(sum, 4)
    }

    /// `1 / x` of a scalar.
    fn rcp_fixed(&mut self, f: Fraction, x: Value) -> Value {
        let magnitude = self.b.op(Op::Iabs, &[x]);
        let quotient = if f.bits() == 16 {
            // 2^32 does not fit: one less often, as -m is 2^32 - m.
            let rest = self.b.op(Op::Ineg, &[magnitude]);
            let quotient = self.b.op(Op::Udiv, &[rest, magnitude]);
            let quotient = self.with(Op::Umin, quotient, i32::MAX as u32 - 1);
            self.with(Op::Iadd, quotient, 1)
        } else {
            let dividend = self.b.i32(1 << (2 * f.bits()));
            self.b.op(Op::Udiv, &[dividend, magnitude])
        };
        let negated = self.b.op(Op::Ineg, &[quotient]);
        let negative = self.is_negative(x);
        let v = self.b.select(negative, negated, quotient);
        let (zero, greatest) = (self.b.i32(0), self.b.i32(i32::MAX as u32));
        let is_zero = self.b.op(Op::IcmpEq, &[x, zero]);
        self.b.select(is_zero, greatest, v)
    }

    /// `1 / sqrt(x)` of a scalar; see [`rsq`](crate::number::rsq).
    fn rsq_fixed(&mut self, f: Fraction, x: Value) -> Value {
        let zeros = self.b.op(Op::Clz, &[x]);
        let shift = self.with(Op::And, zeros, !1);
        let square = self.b.op(Op::Shl, &[x, shift]);
        let mut root = self.b.i32(0);
        for bit in (0..16).rev() {
            let more = self.with(Op::Or, root, 1 << bit);
            let product = self.b.op(Op::Imul, &[more, more]);
            let fits = self.b.op(Op::IcmpUle, &[product, square]);
            root = self.b.select(fits, more, root);
        }
        let dividend = self.b.i32(0x8000_0000);
        let quotient = self.b.op(Op::Udiv, &[dividend, root]);
        let quotient = self.with(Op::Shl, quotient, 14);
        let half = self.with(Op::Ushr, shift, 1);
        let most = self.b.i32(rsq_shift(f, 0));
        let amount = self.b.op(Op::Isub, &[most, half]);
        let amount = self.with(Op::Umin, amount, 31);
        let v = self.b.op(Op::Ushr, &[quotient, amount]);
        let (one, greatest) = (self.b.i32(1), self.b.i32(i32::MAX as u32));
        let small = self.b.op(Op::IcmpSlt, &[x, one]);
        self.b.select(small, greatest, v)
    }

    fn reciprocal(&mut self, a: Value, root: bool) -> Value {
        let x = self.b.extract(a, 0);
        let v = match self.number {
            Number::Fixed(f) if root => self.rsq_fixed(f, x),
            Number::Fixed(f) => self.rcp_fixed(f, x),
            Number::Float => {
                let x = if root { self.b.op(Op::Sqrt, &[x]) } else { x };
                let one = self.b.f32(1.0);
                self.b.op(Op::Fdiv, &[one, x])
            }
        };
        self.b.splat(v, 4)
    }

    /// 1 where it holds, else 0.
    fn truth(&mut self, fixed: Op, float: Op, a: Value, b: Value) -> Value {
        let (op, one) = match self.number {
            Number::Fixed(f) => (fixed, f.one() as u32),
            Number::Float => (float, 1f32.to_bits()),
        };
        let holds = self.b.op(op, &[a, b]);
        let (one, zero) = (self.like(a, one), self.like(a, 0));
        self.b.select(holds, one, zero)
    }

    /// Clamps to 0–1.
    pub fn saturate(&mut self, v: Value) -> Value {
        match self.number {
            Number::Fixed(f) => {
                let v = self.with(Op::Imax, v, 0);
                self.with(Op::Imin, v, f.one() as u32)
            }
            Number::Float => self.b.op(Op::Fsat, &[v]),
        }
    }

    /// `floor(v)` of lanes of any number.
    pub fn floor(&mut self, v: Value) -> Value {
        match self.number {
            Number::Fixed(f) => self.with(Op::And, v, -f.one() as u32),
            Number::Float => self.b.op(Op::Floor, &[v]),
        }
    }

    /// `v - floor(v)` of lanes of any number.
    pub fn frac(&mut self, v: Value) -> Value {
        match self.number {
            Number::Fixed(f) => self.with(Op::And, v, f.one() as u32 - 1),
            Number::Float => {
                let floor = self.floor(v);
                self.b.op(Op::Fsub, &[v, floor])
            }
        }
    }

    /// What [`Number::alu`] gives.
    pub fn alu(&mut self, op: Vpu, a: Value, b: Value, c: Value) -> Value {
        let fixed = matches!(self.number, Number::Fixed(_));
        let both = |fixed_op, float_op| if fixed { fixed_op } else { float_op };
        match op {
            Vpu::Add => self.add(a, b),
            Vpu::Sub if fixed => self.sub_fixed(a, b),
            Vpu::Sub => self.b.op(Op::Fsub, &[a, b]),
            Vpu::Mul => self.mul(a, b),
            Vpu::Mad => {
                let product = self.mul(a, b);
                self.add(product, c)
            }
            Vpu::Dp3 => self.dot(a, b, 3),
            Vpu::Dp4 => self.dot(a, b, 4),
            Vpu::Min => self.b.op(both(Op::Imin, Op::Fmin), &[a, b]),
            Vpu::Max => self.b.op(both(Op::Imax, Op::Fmax), &[a, b]),
            Vpu::Neg if fixed => {
                let zero = self.like(a, 0);
                self.sub_fixed(zero, a)
            }
            Vpu::Neg => self.b.op(Op::Fneg, &[a]),
            Vpu::Abs if fixed => {
                let negated = self.alu(Vpu::Neg, a, b, c);
                self.b.op(Op::Imax, &[a, negated])
            }
            Vpu::Abs => self.b.op(Op::Fabs, &[a]),
            Vpu::Rcp => self.reciprocal(a, false),
            Vpu::Rsq => self.reciprocal(a, true),
            Vpu::Floor => self.floor(a),
            Vpu::Frac => self.frac(a),
            Vpu::Slt => self.truth(Op::IcmpSlt, Op::FcmpOlt, a, b),
            Vpu::Sge => self.truth(Op::IcmpSle, Op::FcmpOle, b, a),
            Vpu::Seq => self.truth(Op::IcmpEq, Op::FcmpOeq, a, b),
            Vpu::Sel => {
                let zero = self.like(c, 0);
                let chosen = self.b.op(both(Op::IcmpNe, Op::FcmpUne), &[c, zero]);
                self.b.select(chosen, a, b)
            }
            _ => a,
        }
    }

    /// [`Number::is_negative`] of a scalar.
    pub fn below_zero(&mut self, v: Value) -> Value {
        let zero = self.like(v, 0);
        let op = if matches!(self.number, Number::Fixed(_)) { Op::IcmpSlt } else { Op::FcmpOlt };
        self.b.op(op, &[v, zero])
    }

    /// [`Number::is_zero`] of a scalar.
    pub fn is_zero(&mut self, v: Value) -> Value {
        let zero = self.like(v, 0);
        let op = if matches!(self.number, Number::Fixed(_)) { Op::IcmpEq } else { Op::FcmpOeq };
        self.b.op(op, &[v, zero])
    }

    /// [`Number::whole`] of a scalar.
    pub fn whole(&mut self, v: Value) -> Value {
        match self.number {
            Number::Fixed(f) => self.with(Op::Sshr, v, f.bits()),
            Number::Float => {
                let v = self.b.op(Op::Floor, &[v]);
                self.b.convert(Op::F2s, Flags::NONE.with_clamp(), v, Type::I32)
            }
        }
    }

    /// [`Number::unorm`] of a scalar.
    pub fn unorm(&mut self, v: Value, max: u32) -> Value {
        match self.number {
            Number::Fixed(f) => {
                let v = self.with(Op::Shl, v, f.bits());
                let v = self.with(Op::Iadd, v, max / 2);
                self.with(Op::Udiv, v, max)
            }
            Number::Float => {
                let v = self.b.convert(Op::U2f, Flags::NONE, v, Type::F32);
                let max = self.b.f32(max as f32);
                self.b.op(Op::Fdiv, &[v, max])
            }
        }
    }

    /// [`Number::quantize`] of a scalar.
    pub fn quantize(&mut self, v: Value, max: u32) -> Value {
        let v = self.saturate(v);
        match self.number {
            Number::Fixed(f) => {
                let v = self.with(Op::Imul, v, max);
                let v = self.with(Op::Iadd, v, 1 << (f.bits() - 1));
                self.with(Op::Ushr, v, f.bits())
            }
            Number::Float => {
                let (max, half) = (self.b.f32(max as f32), self.b.f32(0.5));
                let v = self.b.op(Op::Fmul, &[v, max]);
                let v = self.b.op(Op::Fadd, &[v, half]);
                self.b.convert(Op::F2u, Flags::NONE.with_clamp(), v, Type::I32)
            }
        }
    }

    /// Bits of an integer scalar from `shift` on.
    pub fn field(&mut self, word: Value, shift: u32, bits: u32) -> Value {
        let v = if shift == 0 { word } else { self.with(Op::Ushr, word, shift) };
        if shift + bits == 32 { v } else { self.with(Op::And, v, (1 << bits) - 1) }
    }

    /// A pixel's lanes; components in the order of the lanes, one for all lanes if there is only one.
    pub fn unpack(&mut self, components: &[Component], word: Value) -> Value {
        let lanes: Vec<Value> = components
            .iter()
            .map(|&(_, shift, bits)| {
                let v = self.field(word, shift, bits);
                self.unorm(v, (1 << bits) - 1)
            })
            .collect();
        if let [all] = lanes[..] {
            return self.b.splat(all, 4);
        }
        let one = self.register().lane();
        let one = self.splat(one, self.number.unorm(1, 1));
        let lane = |n: usize| lanes.get(n).copied().unwrap_or(one);
        self.b.op(Op::Build, &[lane(0), lane(1), lane(2), lane(3)])
    }

    /// A pixel's word.
    pub fn pack(&mut self, components: &[Component], v: Value) -> Value {
        let zero = self.b.i32(0);
        components.iter().fold(zero, |word, &(lane, shift, bits)| {
            let lane = self.b.extract(v, lane);
            let part = self.quantize(lane, (1 << bits) - 1);
            let part = if shift == 0 { part } else { self.with(Op::Shl, part, shift) };
            self.b.op(Op::Or, &[word, part])
        })
    }
}
