//! Floats, exactly as the fold functions say.
//!
//! No instruction of GLSL.std.450 is used where its handling of NaNs or zeros is the host's choice: minimum, maximum
//! and clamps are compares and selects. A NaN is found as `x != x`. Arithmetic without the flag `contract` is
//! decorated `NoContraction`, which also keeps compilers from other algebra with it.

use super::{Made, Shape};
use crate::error::Reason;
use crate::unit::{Id, Unit};
use spirv::{Decoration, GlslStd450Op as GlOp, Op as S};
use xenoglot_ir::fold::convert::f16_bits;
use xenoglot_ir::imm::FloatFormat;
use xenoglot_ir::{Flags, Imm, Kind, NanMode, Op, Round, Type};

const SHAPE: Reason = Reason::Invalid("operands of a float op");
const ROUNDING: Reason = Reason::Unsupported("this rounding");

/// `x` as bits of `kind`.
pub(super) fn bits_of(kind: Kind, x: f64) -> u64 {
    match kind {
        Kind::F16 => f16_bits(x),
        Kind::F64 => x.to_bits(),
        _ => u64::from((x as f32).to_bits()),
    }
}

/// The sign bit of `kind`.
fn sign_bit(kind: Kind) -> u64 {
    1 << (kind.bits() - 1)
}

/// The exponent field of `kind`: also the bits of infinity.
fn exponent_bits(kind: Kind) -> u64 {
    match kind {
        Kind::F16 => 0x7c00,
        Kind::F64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    }
}

/// Whether `bits` are neither an infinity nor a NaN.
pub(super) fn is_finite(kind: Kind, bits: u64) -> bool {
    bits & exponent_bits(kind) != exponent_bits(kind)
}

impl Unit {
    pub(super) fn float(&mut self, shape: &Shape, args: &[Id]) -> Made {
        if !matches!(shape.flags.round(), Round::Natural | Round::Even) {
            return Err(ROUNDING);
        }
        if shape.ty.kind() == Kind::Bool {
            return self.float_compare(shape, args);
        }
        let ty = shape.arg(0);
        match (shape.op, args) {
            (Op::Fneg, &[a]) => Ok(self.op(S::FNegate, ty, &[a])),
            (Op::Fabs, &[a]) => Ok(self.glsl(GlOp::FAbs, ty, &[a])),
            (Op::Fmin | Op::Fmax, &[a, b]) => Ok(self.pick(shape, ty, a, b)),
            (Op::Fdot2 | Op::Fdot3 | Op::Fdot4, &[a, b]) => Ok(self.dot(shape, ty, a, b)),
            (Op::Fquantize, &[a]) => match shape.imm {
                Imm::Format(_) if ty.kind() != Kind::F32 => {
                    Err(Reason::Unsupported("only defined on 32-bit floats"))
                }
                Imm::Format(format) if format.is_valid() => Ok(self.quantize(ty, format, a)),
                _ => Err(SHAPE),
            },
            (Op::FfrexpExp | Op::FfrexpMant, &[a]) => self.frexp(shape, ty, a),
            _ => {
                let flushed: smallvec::SmallVec<[Id; 3]> = args
                    .iter()
                    .enumerate()
                    .map(|(i, &a)| if shape.arg(i) == ty { self.ftz(shape.flags, ty, a) } else { a })
                    .collect();
                let result = self.arithmetic(shape, ty, &flushed)?;
                // `fsat` saturates by itself.
                let flags = if shape.op == Op::Fsat { shape.flags.with_sat() } else { shape.flags };
                Ok(self.finish_float(flags, ty, result))
            }
        }
    }

    fn arithmetic(&mut self, shape: &Shape, ty: Type, args: &[Id]) -> Made {
        let flags = shape.flags;
        let transcendental = |u: &mut Unit, op: GlOp, a: Id| match ty.kind() {
            Kind::F64 => Err(Reason::Unsupported("not for 64-bit floats")),
            _ => Ok(u.glsl(op, ty, &[a])),
        };
        Ok(match (shape.op, args) {
            (Op::Fadd, _) => self.exact(S::FAdd, flags, ty, args),
            (Op::Fsub, _) => self.exact(S::FSub, flags, ty, args),
            (Op::Fdiv, _) => self.exact(S::FDiv, flags, ty, args),
            (Op::Fmul, &[a, b]) => self.product(flags, ty, a, b),
            (Op::Fma, &[a, b, c]) => self.fma(flags, ty, a, b, c),
            (Op::Fsat, &[a]) => a,
            (Op::Floor, &[a]) => self.glsl(GlOp::Floor, ty, &[a]),
            (Op::Ceil, &[a]) => self.glsl(GlOp::Ceil, ty, &[a]),
            (Op::Trunc, &[a]) => self.glsl(GlOp::Trunc, ty, &[a]),
            (Op::RoundEven, &[a]) => self.glsl(GlOp::RoundEven, ty, &[a]),
            (Op::Fract, &[a]) => {
                let floor = self.glsl(GlOp::Floor, ty, &[a]);
                self.exact(S::FSub, Flags::NONE, ty, &[a, floor])
            }
            (Op::Sqrt, &[a]) => self.glsl(GlOp::Sqrt, ty, &[a]),
            (Op::Rsqrt, &[a]) => self.glsl(GlOp::InverseSqrt, ty, &[a]),
            (Op::Rcp, &[a]) => {
                let one = self.splat(ty, bits_of(ty.kind(), 1.0));
                self.exact(S::FDiv, flags, ty, &[one, a])
            }
            (Op::Exp2, &[a]) => transcendental(self, GlOp::Exp2, a)?,
            (Op::Log2, &[a]) => transcendental(self, GlOp::Log2, a)?,
            (Op::Sin, &[a]) => transcendental(self, GlOp::Sin, a)?,
            (Op::Cos, &[a]) => transcendental(self, GlOp::Cos, a)?,
            (Op::Fldexp, &[a, n]) => self.ldexp(ty, a, n)?,
            _ => return Err(SHAPE),
        })
    }

    /// Float arithmetic, not to be contracted unless the flags allow it.
    fn exact(&mut self, op: S, flags: Flags, ty: Type, args: &[Id]) -> Id {
        let id = self.op_of(op, ty, args);
        if !flags.contract() {
            self.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    pub(super) fn is_nan(&mut self, ty: Type, a: Id) -> Id {
        self.op(S::FUnordNotEqual, ty.with_kind(Kind::Bool), &[a, a])
    }

    fn is_number(&mut self, ty: Type, a: Id) -> Id {
        self.op(S::FOrdEqual, ty.with_kind(Kind::Bool), &[a, a])
    }

    /// A float as the integer of its bits.
    fn float_bits(&mut self, ty: Type, a: Id) -> Id {
        self.op(S::Bitcast, ty.with_kind(super::int_kind(ty.kind())), &[a])
    }

    /// Flushes denormals to the zero of their sign if the flag asks for it.
    pub(super) fn ftz(&mut self, flags: Flags, ty: Type, a: Id) -> Id {
        if !flags.ftz() {
            return a;
        }
        let int = ty.with_kind(super::int_kind(ty.kind()));
        let [exponent, sign, zero] =
            [exponent_bits(ty.kind()), sign_bit(ty.kind()), 0].map(|v| self.splat(int, v));
        let bits = self.float_bits(ty, a);
        let field = self.op(S::BitwiseAnd, int, &[bits, exponent]);
        let denormal = self.op(S::IEqual, ty.with_kind(Kind::Bool), &[field, zero]);
        let flushed = self.op(S::BitwiseAnd, int, &[bits, sign]);
        let kept = self.choose(int, denormal, flushed, bits);
        self.op(S::Bitcast, ty, &[kept])
    }

    /// `ftz` and `sat` on a result.
    pub(super) fn finish_float(&mut self, flags: Flags, ty: Type, a: Id) -> Id {
        let a = self.ftz(flags, ty, a);
        if flags.sat() { self.saturate(ty, a) } else { a }
    }

    /// Clamps to 0..=1.
    fn saturate(&mut self, ty: Type, a: Id) -> Id {
        let bool = ty.with_kind(Kind::Bool);
        if ty.kind() == Kind::F32 {
            // On the bits: drivers make `a > 0 ? a : 0` a maximum, which may keep -0.
            let int = ty.with_kind(Kind::I32);
            let [none, one, infinity, unity] =
                [0, 1, 0x7f80_0000, bits_of(Kind::F32, 1.0)].map(|v| self.splat(int, v));
            let bits = self.float_bits(ty, a);
            // False for zeros, negative numbers and NaNs, which become +0.
            let below = self.op(S::ISub, int, &[bits, one]);
            let positive = self.op(S::ULessThan, bool, &[below, infinity]);
            // Positive floats compare like their bits.
            let clamped = self.glsl(GlOp::UMin, int, &[bits, unity]);
            let kept = self.choose(int, positive, clamped, none);
            return self.op(S::Bitcast, ty, &[kept]);
        }
        let [zero, one] = [0.0, 1.0].map(|x| self.splat(ty, bits_of(ty.kind(), x)));
        // False for NaN and -0 too, which become +0.
        let positive = self.op(S::FOrdGreaterThan, bool, &[a, zero]);
        let a = self.choose(ty, positive, a, zero);
        let below = self.op(S::FOrdLessThan, bool, &[a, one]);
        self.choose(ty, below, a, one)
    }

    /// Whether a product that is a NaN is one of factors that are none.
    fn made_nan(&mut self, ty: Type, product: Id, a: Id, b: Id) -> Id {
        let bool = ty.with_kind(Kind::Bool);
        let nan = self.is_nan(ty, product);
        let [a, b] = [a, b].map(|x| self.is_number(ty, x));
        let numbers = self.both(bool, a, b);
        self.both(bool, nan, numbers)
    }

    /// Whether a factor is zero.
    fn zero_factor(&mut self, ty: Type, a: Id, b: Id) -> Id {
        let bool = ty.with_kind(Kind::Bool);
        let zero = self.splat(ty, 0);
        let [a, b] = [a, b].map(|x| self.op(S::FOrdEqual, bool, &[x, zero]));
        self.either(bool, a, b)
    }

    /// The product with the zero rules; operands are flushed already.
    fn product(&mut self, flags: Flags, ty: Type, a: Id, b: Id) -> Id {
        let mut product = self.exact(S::FMul, flags, ty, &[a, b]);
        let zero = self.splat(ty, 0);
        if flags.zero_wins() {
            let wins = self.made_nan(ty, product, a, b);
            product = self.choose(ty, wins, zero, product);
        }
        if flags.fmz() {
            let wins = self.zero_factor(ty, a, b);
            product = self.choose(ty, wins, zero, product);
        }
        product
    }

    fn fma(&mut self, flags: Flags, ty: Type, a: Id, b: Id, c: Id) -> Id {
        let bool = ty.with_kind(Kind::Bool);
        let fused = if self.options.exact_fma && ty.kind() == Kind::F32 && !flags.contract() {
            self.fma_by_doubles(ty, a, b, c)
        } else {
            let fused = self.glsl(GlOp::Fma, ty, &[a, b, c]);
            if !flags.contract() {
                self.decorate(fused, Decoration::NoContraction, &[]);
            }
            fused
        };
        let mut wins = None;
        if flags.zero_wins() {
            let product = self.exact(S::FMul, Flags::NONE, ty, &[a, b]);
            wins = Some(self.made_nan(ty, product, a, b));
        }
        if flags.fmz() {
            let zero = self.zero_factor(ty, a, b);
            wins = Some(match wins {
                None => zero,
                Some(other) => self.either(bool, zero, other),
            });
        }
        let Some(wins) = wins else { return fused };
        let sum = self.plus_zero(ty, c);
        self.choose(ty, wins, sum, fused)
    }

    /// `+0 + a`. Hosts that do not promise to keep signs of zeros drop such a sum, so it is a select.
    fn plus_zero(&mut self, ty: Type, a: Id) -> Id {
        let zero = self.splat(ty, 0);
        let is_zero = self.op(S::FOrdEqual, ty.with_kind(Kind::Bool), &[a, zero]);
        self.choose(ty, is_zero, zero, a)
    }

    /// `a * b + c` of 32-bit floats, rounded once: the product is exact in 64 bits, and the sum is rounded to odd
    /// there, which leaves enough of it for the last rounding to be right.
    fn fma_by_doubles(&mut self, ty: Type, a: Id, b: Id, c: Id) -> Id {
        let (wide, int, bool) = (ty.with_kind(Kind::F64), ty.with_kind(Kind::I64), ty.with_kind(Kind::Bool));
        let [a, b, c] = [a, b, c].map(|x| self.op(S::FConvert, wide, &[x]));
        let exact = |u: &mut Unit, op: S, x: Id, y: Id| u.exact(op, Flags::NONE, wide, &[x, y]);
        let product = exact(self, S::FMul, a, b);
        let sum = exact(self, S::FAdd, product, c);
        // What the sum lost, by Knuth's two-sum.
        let of_c = exact(self, S::FSub, sum, product);
        let of_product = exact(self, S::FSub, sum, of_c);
        let lost_product = exact(self, S::FSub, product, of_product);
        let lost_c = exact(self, S::FSub, c, of_c);
        let lost = exact(self, S::FAdd, lost_product, lost_c);
        let [zero, one, ones] = [0, 1, u64::MAX].map(|v| self.splat(int, v));
        let none = self.splat(wide, 0);
        // False where infinities make it a NaN.
        let [below, above] =
            [(lost, none), (none, lost)].map(|(x, y)| self.op(S::FOrdLessThan, bool, &[x, y]));
        let inexact = self.either(bool, below, above);
        let bits = self.op(S::Bitcast, int, &[sum]);
        let lost_bits = self.op(S::Bitcast, int, &[lost]);
        let parity = self.op(S::BitwiseAnd, int, &[bits, one]);
        let even = self.op(S::IEqual, bool, &[parity, zero]);
        let moves = self.both(bool, inexact, even);
        let signs = self.op(S::BitwiseXor, int, &[bits, lost_bits]);
        let inwards = self.op(S::SLessThan, bool, &[signs, zero]);
        let step = self.choose(int, inwards, ones, one);
        let step = self.choose(int, moves, step, zero);
        let odd = self.op(S::IAdd, int, &[bits, step]);
        let odd = self.op(S::Bitcast, wide, &[odd]);
        self.op(S::FConvert, ty, &[odd])
    }

    /// The sum from +0 of the products in lane order.
    fn dot(&mut self, shape: &Shape, ty: Type, a: Id, b: Id) -> Id {
        let flags = shape.flags;
        let lane = ty.lane();
        let free = flags.contract() && !(flags.zero_wins() || flags.fmz() || flags.ftz() || flags.sat());
        if free {
            return self.op(S::Dot, lane, &[a, b]);
        }
        let [a, b] = [a, b].map(|x| self.ftz(flags, ty, x));
        let products = self.product(flags, ty, a, b);
        let products = self.ftz(flags, ty, products);
        let first = self.op(S::CompositeExtract, lane, &[products, 0]);
        let first = self.plus_zero(lane, first);
        let mut sum = first; // flushed with the products
        for i in 1..u32::from(ty.lanes()) {
            let product = self.op(S::CompositeExtract, lane, &[products, i]);
            sum = self.exact(S::FAdd, flags, lane, &[sum, product]);
            sum = self.ftz(flags, lane, sum);
        }
        if flags.sat() { self.saturate(lane, sum) } else { sum }
    }

    /// `fmin` and `fmax`: equal operands give the second.
    fn pick(&mut self, shape: &Shape, ty: Type, a: Id, b: Id) -> Id {
        let bool = ty.with_kind(Kind::Bool);
        let [a, b] = [a, b].map(|x| self.ftz(shape.flags, ty, x));
        let min = shape.op == Op::Fmin;
        let ordered = if min { S::FOrdLessThan } else { S::FOrdGreaterThan };
        let at_most = if min { S::FOrdGreaterThanEqual } else { S::FOrdLessThanEqual };
        match shape.flags.nan() {
            NanMode::Second => {
                let first = self.op(ordered, bool, &[a, b]);
                self.choose(ty, first, a, b)
            }
            NanMode::First => {
                // Second where ordered and not strictly first.
                let second = self.op(at_most, bool, &[a, b]);
                self.choose(ty, second, b, a)
            }
            NanMode::Other => {
                let second = self.op(at_most, bool, &[a, b]);
                let nan = self.is_nan(ty, a);
                let second = self.either(bool, second, nan);
                self.choose(ty, second, b, a)
            }
            NanMode::Propagate => {
                let first = self.op(ordered, bool, &[a, b]);
                let nan = self.is_nan(ty, a);
                let first = self.either(bool, first, nan);
                self.choose(ty, first, a, b)
            }
        }
    }

    fn float_compare(&mut self, shape: &Shape, args: &[Id]) -> Made {
        let &[a, b] = args else { return Err(SHAPE) };
        let (ty, bool) = (shape.arg(0), shape.ty);
        let [a, b] = [a, b].map(|x| self.ftz(shape.flags, ty, x));
        let portable = self.options.portable_ops;
        let direct = match shape.op {
            Op::FcmpOeq => S::FOrdEqual,
            Op::FcmpUne => S::FUnordNotEqual,
            Op::FcmpOlt => S::FOrdLessThan,
            Op::FcmpOle => S::FOrdLessThanEqual,
            Op::FcmpOne if !portable => S::FOrdNotEqual,
            Op::FcmpUeq if !portable => S::FUnordEqual,
            Op::FcmpUlt if !portable => S::FUnordLessThan,
            Op::FcmpUle if !portable => S::FUnordLessThanEqual,
            // Unordered compares are the opposites of ordered ones.
            Op::FcmpUlt | Op::FcmpUle => {
                let op = if shape.op == Op::FcmpUlt { S::FOrdLessThanEqual } else { S::FOrdLessThan };
                let opposite = self.op(op, bool, &[b, a]);
                return Ok(self.op(S::LogicalNot, bool, &[opposite]));
            }
            Op::FcmpOne | Op::FcmpUeq => {
                let [less, greater] = [(a, b), (b, a)].map(|(x, y)| self.op(S::FOrdLessThan, bool, &[x, y]));
                let one = self.either(bool, less, greater);
                let ueq = shape.op == Op::FcmpUeq;
                return Ok(if ueq { self.op(S::LogicalNot, bool, &[one]) } else { one });
            }
            Op::FcmpOrd | Op::FcmpUno => {
                let uno = shape.op == Op::FcmpUno;
                if uno {
                    let [a, b] = [a, b].map(|x| self.is_nan(ty, x));
                    return Ok(self.either(bool, a, b));
                }
                let [a, b] = [a, b].map(|x| self.is_number(ty, x));
                return Ok(self.both(bool, a, b));
            }
            _ => return Err(SHAPE),
        };
        Ok(self.op(direct, bool, &[a, b]))
    }

    /// Rounding to a narrower format, on the bits.
    fn quantize(&mut self, ty: Type, format: FloatFormat, a: Id) -> Id {
        let int = ty.with_kind(Kind::I32);
        let bool = ty.with_kind(Kind::Bool);
        let drop = 23 - u64::from(format.mant);
        let bias = (1u64 << (format.exp - 1)) - 1;
        let [sign, rest, down, one, half, keep, least, over, infinity, zero] = [
            0x8000_0000,
            0x7fff_ffff,
            drop,
            1,
            (1 << (drop - 1)) - 1,
            u64::from(u32::MAX) & !((1 << drop) - 1),
            (128 - bias) << 23,
            (128 + bias) << 23,
            0x7f80_0000,
            0,
        ]
        .map(|v| self.splat(int, v));
        let bits = self.float_bits(ty, a);
        let sign = self.op(S::BitwiseAnd, int, &[bits, sign]);
        let magnitude = self.op(S::BitwiseAnd, int, &[bits, rest]);
        let odd = self.op(S::ShiftRightLogical, int, &[magnitude, down]);
        let odd = self.op(S::BitwiseAnd, int, &[odd, one]);
        let sum = self.op(S::IAdd, int, &[magnitude, half]);
        let sum = self.op(S::IAdd, int, &[sum, odd]);
        let rounded = self.op(S::BitwiseAnd, int, &[sum, keep]);
        let large = self.op(S::UGreaterThanEqual, bool, &[rounded, over]);
        let small = self.op(S::ULessThan, bool, &[rounded, least]);
        let value = self.choose(int, small, zero, rounded);
        let value = self.choose(int, large, infinity, value);
        let value = self.op(S::BitwiseOr, int, &[sign, value]);
        let value = self.op(S::Bitcast, ty, &[value]);
        let nan = self.is_nan(ty, a);
        self.choose(ty, nan, a, value)
    }

    /// Exponent or mantissa of `a = m * 2^n`, on the bits.
    fn frexp(&mut self, shape: &Shape, ty: Type, a: Id) -> Made {
        let a = self.ftz(shape.flags, ty, a);
        let single = ty.with_kind(Kind::F32);
        let wide = match ty.kind() {
            Kind::F32 => a,
            Kind::F16 => self.op(S::FConvert, single, &[a]),
            _ => return Err(Reason::Unsupported("not for 64-bit floats")),
        };
        let int = ty.with_kind(Kind::I32);
        let bool = ty.with_kind(Kind::Bool);
        let [magnitude, normal, zero, one] = [0x7fff_ffff, 0x0080_0000, 0, 1].map(|v| self.splat(int, v));
        let bits = self.float_bits(single, wide);
        let positive = self.op(S::BitwiseAnd, int, &[bits, magnitude]);
        // Zero wraps to the top, so one compare finds all that have no exponent of their own.
        let below = self.op(S::ISub, int, &[positive, one]);
        let last = self.splat(int, 0x7f80_0000 - 1);
        let special = self.op(S::UGreaterThanEqual, bool, &[below, last]);
        // Denormals: shift the highest one to where the hidden bit is.
        let denormal = self.op(S::ULessThan, bool, &[positive, normal]);
        let highest = self.glsl(GlOp::FindUMsb, int, &[positive]);
        let [hidden, base, bias, mask] = [23, 126, 149 - 1, 0x007f_ffff].map(|v| self.splat(int, v));
        let shift = self.op(S::ISub, int, &[hidden, highest]);
        let top = self.splat(int, 31);
        let shift = self.op(S::BitwiseAnd, int, &[shift, top]);
        let shift = self.choose(int, denormal, shift, zero);
        let lifted = self.op(S::ShiftLeftLogical, int, &[positive, shift]);
        if shape.op == Op::FfrexpExp {
            let field = self.op(S::ShiftRightLogical, int, &[positive, hidden]);
            let of_normal = self.op(S::ISub, int, &[field, base]);
            let of_denormal = self.op(S::ISub, int, &[highest, bias]);
            let exponent = self.choose(int, denormal, of_denormal, of_normal);
            return Ok(self.choose(int, special, zero, exponent));
        }
        let [half, sign] = [0x3f00_0000, 0x8000_0000].map(|v| self.splat(int, v));
        let fraction = self.op(S::BitwiseAnd, int, &[lifted, mask]);
        let sign = self.op(S::BitwiseAnd, int, &[bits, sign]);
        let value = self.op(S::BitwiseOr, int, &[fraction, half]);
        let value = self.op(S::BitwiseOr, int, &[value, sign]);
        let value = self.choose(int, special, bits, value);
        let value = self.op(S::Bitcast, single, &[value]);
        Ok(if ty.kind() == Kind::F16 { self.op(S::FConvert, ty, &[value]) } else { value })
    }

    /// `a * 2^n` by at most three factors; all products but the last are exact or far below the least denormal.
    fn ldexp(&mut self, ty: Type, a: Id, n: Id) -> Made {
        let single = ty.with_kind(Kind::F32);
        let a = match ty.kind() {
            Kind::F32 => a,
            Kind::F16 => self.op(S::FConvert, single, &[a]),
            _ => return Err(Reason::Unsupported("not for 64-bit floats")),
        };
        let int = ty.with_kind(Kind::I32);
        let bool = ty.with_kind(Kind::Bool);
        let (mut value, mut left) = (a, n);
        for _ in 0..2 {
            // Up by 127, or down by 102: 24 bits above the least exponent, so that no bit is lost yet.
            let [most, least] = [127i32, -126].map(|v| self.splat(int, u64::from(v as u32)));
            let high = self.op(S::SGreaterThan, bool, &[left, most]);
            let low = self.op(S::SLessThan, bool, &[left, least]);
            let [up, down, zero] = [127i32, -102, 0].map(|v| self.splat(int, u64::from(v as u32)));
            let step = self.choose(int, low, down, zero);
            let step = self.choose(int, high, up, step);
            let factor = self.power(single, step);
            value = self.exact(S::FMul, Flags::NONE, single, &[value, factor]);
            left = self.op(S::ISub, int, &[left, step]);
        }
        let [most, least] = [127i32, -126].map(|v| self.splat(int, u64::from(v as u32)));
        let high = self.op(S::SGreaterThan, bool, &[left, most]);
        let left = self.choose(int, high, most, left);
        let low = self.op(S::SLessThan, bool, &[left, least]);
        let left = self.choose(int, low, least, left);
        let factor = self.power(single, left);
        let value = self.exact(S::FMul, Flags::NONE, single, &[value, factor]);
        Ok(if ty.kind() == Kind::F16 { self.op(S::FConvert, ty, &[value]) } else { value })
    }

    /// `2^n` for n from -126 to 127.
    fn power(&mut self, ty: Type, n: Id) -> Id {
        let int = ty.with_kind(Kind::I32);
        let [bias, at] = [127, 23].map(|v| self.splat(int, v));
        let field = self.op(S::IAdd, int, &[n, bias]);
        let bits = self.op(S::ShiftLeftLogical, int, &[field, at]);
        self.op(S::Bitcast, ty, &[bits])
    }
}
