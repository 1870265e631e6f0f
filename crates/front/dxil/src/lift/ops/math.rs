//! Arithmetic of floats.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::int::Scalar;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::{Flags, Op, Type, Value};

impl Cx<'_> {
    pub(super) fn math(&mut self, call: &Call<'_>) -> Lift<Made> {
        let one = |op| Some((op, 1));
        let simple = match call.op {
            Dx::FAbs => one(Op::Fabs),
            Dx::Saturate => one(Op::Fsat),
            Dx::Cos => one(Op::Cos),
            Dx::Sin => one(Op::Sin),
            Dx::Exp => one(Op::Exp2),
            Dx::Log => one(Op::Log2),
            Dx::Frc => one(Op::Fract),
            Dx::Sqrt => one(Op::Sqrt),
            Dx::Rsqrt => one(Op::Rsqrt),
            Dx::RoundNe => one(Op::RoundEven),
            Dx::RoundNi => one(Op::Floor),
            Dx::RoundPi => one(Op::Ceil),
            Dx::RoundZ => one(Op::Trunc),
            Dx::FMax => Some((Op::Fmax, 2)),
            Dx::FMin => Some((Op::Fmin, 2)),
            Dx::Fma => Some((Op::Fma, 3)),
            _ => None,
        };
        if let Some((op, count)) = simple {
            let args = (0..count).map(|n| self.arg(call, n)).collect::<Lift<Vec<Value>>>()?;
            return Ok(self.op(op, &args).into());
        }
        Ok(match call.op {
            Dx::IsNaN | Dx::IsInf | Dx::IsFinite | Dx::IsNormal => {
                let (v, s) = (self.arg(call, 0)?, self.arg_type(call, 0)?);
                self.special_float(call.op, v, s).into()
            }
            Dx::FMad => {
                let [a, b, c] = [self.arg(call, 0)?, self.arg(call, 1)?, self.arg(call, 2)?];
                let fused = self.fused();
                let product = self.b.op_flags(Op::Fmul, fused, &[a, b]);
                self.b.op_flags(Op::Fadd, fused, &[product, c]).into()
            }
            Dx::Dot2AddHalf => {
                // Products of halves are exact in singles.
                let mut sum = self.arg(call, 0)?;
                for lane in 0..2 {
                    let factors = [self.arg(call, 1 + lane)?, self.arg(call, 3 + lane)?];
                    let factors = factors.map(|v| self.float(v, Type::F32));
                    let product = self.op(Op::Fmul, &factors);
                    sum = self.op(Op::Fadd, &[sum, product]);
                }
                sum.into()
            }
            Dx::Dot2 | Dx::Dot3 | Dx::Dot4 => self.dot(call)?.into(),
            Dx::FDot => {
                let (a, b) = (self.lanes(call.arg(0)?)?, self.lanes(call.arg(1)?)?);
                let pairs: Vec<[Value; 2]> = a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
                self.sum_of_products(&pairs).into()
            }
            // Whether all lanes are true, or some; of integers, their bits.
            Dx::VectorReduceAnd | Dx::VectorReduceOr => {
                let op = if call.op == Dx::VectorReduceAnd { Op::And } else { Op::Or };
                let lanes = self.lanes(call.arg(0)?)?;
                let all = lanes.into_iter().reduce(|a, b| self.op(op, &[a, b]));
                all.ok_or(Stop::Unsupported("a vector"))?.into()
            }
            Dx::Tan => {
                let v = self.arg(call, 0)?;
                let (sin, cos) = (self.op(Op::Sin, &[v]), self.op(Op::Cos, &[v]));
                self.op(Op::Fdiv, &[sin, cos]).into()
            }
            Dx::Hcos | Dx::Hsin | Dx::Htan | Dx::Acos | Dx::Asin | Dx::Atan => {
                let v = self.arg(call, 0)?;
                let ty = self.ty(v);
                // In singles, whatever the type.
                let single = self.float(v, Type::F32);
                let made = match call.op {
                    Dx::Atan => self.atan(single),
                    Dx::Asin => self.asin(single),
                    Dx::Acos => {
                        let asin = self.asin(single);
                        let quarter = self.f32(std::f32::consts::FRAC_PI_2);
                        self.op(Op::Fsub, &[quarter, asin])
                    }
                    other => self.hyperbolic(other, single),
                };
                self.float(made, ty).into()
            }
            _ => return Err(NOT_LIFTED),
        })
    }

    /// A float in another type.
    pub(in crate::lift) fn float(&mut self, v: Value, ty: Type) -> Value {
        if self.ty(v) == ty { v } else { self.b.convert(Op::F2f, Flags::NONE, v, ty) }
    }

    /// Tests of the exponent, in the bits.
    fn special_float(&mut self, op: Dx, v: Value, s: Scalar) -> Value {
        if op == Dx::IsNaN {
            return self.op(Op::FcmpUno, &[v, v]);
        }
        let bits = s.ty.kind().bits();
        let (holder, mantissa) = match bits {
            16 => (Type::scalar(xenoglot_ir::Kind::I16), 10),
            32 => (Type::I32, 23),
            _ => (Type::I64, 52),
        };
        let ones = (1u64 << (bits - 1)) - (1 << mantissa);
        let word = self.cast(v, holder);
        let exponent = self.constant(holder, ones);
        let zero = self.constant(holder, 0);
        match op {
            Dx::IsInf => {
                let magnitude = self.constant(holder, (1 << (bits - 1)) - 1);
                let word = self.op(Op::And, &[word, magnitude]);
                self.op(Op::IcmpEq, &[word, exponent])
            }
            Dx::IsFinite => {
                let field = self.op(Op::And, &[word, exponent]);
                self.op(Op::IcmpNe, &[field, exponent])
            }
            _ => {
                let field = self.op(Op::And, &[word, exponent]);
                let finite = self.op(Op::IcmpNe, &[field, exponent]);
                let large = self.op(Op::IcmpNe, &[field, zero]);
                self.op(Op::And, &[finite, large])
            }
        }
    }

    /// The sum of products, each operand a lane.
    fn dot(&mut self, call: &Call<'_>) -> Lift<Value> {
        let lanes = match call.op {
            Dx::Dot2 => 2,
            Dx::Dot3 => 3,
            _ => 4,
        };
        let pair = |lane| Lift::Ok([self.arg(call, lane)?, self.arg(call, lane + lanes)?]);
        let pairs = (0..lanes).map(pair).collect::<Lift<Vec<[Value; 2]>>>()?;
        Ok(self.sum_of_products(&pairs))
    }

    /// What may be fused.
    fn fused(&self) -> Flags {
        if self.options.precise { Flags::NONE } else { Flags::NONE.with_contract() }
    }

    fn sum_of_products(&mut self, pairs: &[[Value; 2]]) -> Value {
        let fused = self.fused();
        let mut sum = None;
        for pair in pairs {
            let product = self.b.op_flags(Op::Fmul, fused, pair);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.b.op_flags(Op::Fadd, fused, &[sum, product]),
            });
        }
        sum.unwrap_or_else(|| self.f32(0.0))
    }

    /// Halves of the sum or difference of e to the operand and to its opposite, and their quotient.
    fn hyperbolic(&mut self, op: Dx, v: Value) -> Value {
        let log2_e = self.f32(std::f32::consts::LOG2_E);
        let power = self.op(Op::Fmul, &[v, log2_e]);
        let opposite = self.op(Op::Fneg, &[power]);
        let (up, down) = (self.op(Op::Exp2, &[power]), self.op(Op::Exp2, &[opposite]));
        let half = self.f32(0.5);
        match op {
            Dx::Hcos => {
                let sum = self.op(Op::Fadd, &[up, down]);
                self.op(Op::Fmul, &[sum, half])
            }
            Dx::Hsin => {
                let difference = self.op(Op::Fsub, &[up, down]);
                self.op(Op::Fmul, &[difference, half])
            }
            _ => {
                // 1 - 2 / (e^2v + 1), which is 1 where e^2v is infinite.
                let square = self.op(Op::Fmul, &[up, up]);
                let one = self.f32(1.0);
                let two = self.f32(2.0);
                let below = self.op(Op::Fadd, &[square, one]);
                let part = self.op(Op::Fdiv, &[two, below]);
                self.op(Op::Fsub, &[one, part])
            }
        }
    }

    /// Arc tangent: the smaller of |v| and 1/|v| in an odd polynomial, with an error of 1e-5 at most (Abramowitz and
    /// Stegun, 4.4.49).
    fn atan(&mut self, v: Value) -> Value {
        const COEFFICIENTS: [f32; 9] = [
            0.002_866_225_7,
            -0.016_165_737,
            0.042_909_614,
            -0.075_289_64,
            0.106_562_64,
            -0.142_089,
            0.199_935_5,
            -0.333_331_45,
            1.0,
        ];
        let one = self.f32(1.0);
        let magnitude = self.op(Op::Fabs, &[v]);
        let large = self.op(Op::FcmpOlt, &[one, magnitude]);
        let inverse = self.op(Op::Fdiv, &[one, magnitude]);
        let x = self.b.select(large, inverse, magnitude);
        let square = self.op(Op::Fmul, &[x, x]);
        let mut sum = self.f32(COEFFICIENTS[0]);
        for coefficient in &COEFFICIENTS[1..] {
            let coefficient = self.f32(*coefficient);
            let product = self.op(Op::Fmul, &[sum, square]);
            sum = self.op(Op::Fadd, &[product, coefficient]);
        }
        let small = self.op(Op::Fmul, &[sum, x]);
        let quarter = self.f32(std::f32::consts::FRAC_PI_2);
        let rest = self.op(Op::Fsub, &[quarter, small]);
        let angle = self.b.select(large, rest, small);
        let opposite = self.op(Op::Fneg, &[angle]);
        let zero = self.f32(0.0);
        let negative = self.op(Op::FcmpOlt, &[v, zero]);
        self.b.select(negative, opposite, angle)
    }

    /// Arc sine: the arc tangent of v / sqrt(1 - v²).
    fn asin(&mut self, v: Value) -> Value {
        let one = self.f32(1.0);
        let square = self.op(Op::Fmul, &[v, v]);
        let rest = self.op(Op::Fsub, &[one, square]);
        let root = self.op(Op::Sqrt, &[rest]);
        let tangent = self.op(Op::Fdiv, &[v, root]);
        self.atan(tangent)
    }
}
