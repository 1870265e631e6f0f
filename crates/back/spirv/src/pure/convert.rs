//! Conversions between kinds.

use super::float::bits_of;
use super::{Made, Shape};
use crate::error::Reason;
use crate::unit::{Id, Unit};
use spirv::{GlslStd450Op as GlOp, Op as S};
use xenoglot_ir::{Kind, Op, Round, Type};

const SHAPE: Reason = Reason::Invalid("operands of a conversion");

impl Unit {
    pub(super) fn conversion(&mut self, shape: &Shape, args: &[Id]) -> Made {
        let &[a] = args else { return Err(SHAPE) };
        let (from, to) = (shape.arg(0), shape.ty);
        Ok(match shape.op {
            Op::Bitcast if from == to => a,
            Op::Bitcast => self.op(S::Bitcast, to, &[a]),
            Op::Zext | Op::Sext if from.kind() == Kind::Bool => {
                let ones = if shape.op == Op::Sext { to.kind().mask() } else { 1 };
                let (yes, no) = (self.splat(to, ones), self.splat(to, 0));
                self.choose(to, a, yes, no)
            }
            Op::TruncInt | Op::Zext | Op::Sext if from == to => a,
            Op::TruncInt | Op::Zext => self.op(S::UConvert, to, &[a]),
            Op::Sext => self.op(S::SConvert, to, &[a]),
            Op::F2f => {
                self.natural(shape)?;
                let a = self.ftz(shape.flags, from, a);
                let b = if from == to { a } else { self.op(S::FConvert, to, &[a]) };
                self.finish_float(shape.flags, to, b)
            }
            Op::S2f | Op::U2f => {
                self.natural(shape)?;
                let op = if shape.op == Op::S2f { S::ConvertSToF } else { S::ConvertUToF };
                let b = self.op(op, to, &[a]);
                self.finish_float(shape.flags, to, b)
            }
            Op::F2s | Op::F2u => self.float_to_integer(shape, from, to, a),
            _ => return Err(SHAPE),
        })
    }

    fn natural(&self, shape: &Shape) -> Result<(), Reason> {
        match shape.flags.round() {
            Round::Natural | Round::Even => Ok(()),
            _ => Err(Reason::Unsupported("this rounding")),
        }
    }

    fn float_to_integer(&mut self, shape: &Shape, from: Type, to: Type, a: Id) -> Id {
        let rounding = match shape.flags.round() {
            Round::Natural | Round::Zero => None,
            Round::Even => Some(GlOp::RoundEven),
            Round::Up => Some(GlOp::Ceil),
            Round::Down => Some(GlOp::Floor),
        };
        // Halves do not reach the ends of wider integers.
        let (mut a, mut from) = (a, from);
        if from.kind() == Kind::F16 {
            from = from.with_kind(Kind::F32);
            a = self.op(S::FConvert, from, &[a]);
        }
        if let Some(op) = rounding {
            a = self.glsl(op, from, &[a]);
        }
        let signed = shape.op == Op::F2s;
        let convert = if signed { S::ConvertFToS } else { S::ConvertFToU };
        let bits = to.kind().bits();
        let word = if bits < 32 { to.with_kind(Kind::I32) } else { to };
        let narrow = |u: &mut Unit, id: Id| if word == to { id } else { u.op(S::UConvert, to, &[id]) };
        if !shape.flags.clamp() {
            let id = self.op(convert, word, &[a]);
            return narrow(self, id);
        }
        let bool = from.with_kind(Kind::Bool);
        // Powers of two, so exact: the first value too large, and the last that is not too small.
        let high = 2f64.powi(bits as i32 - i32::from(signed));
        let low = if signed { -high } else { 0.0 };
        let most = to.kind().mask() >> u32::from(signed);
        let least = if signed { word.kind().mask() & !most } else { 0 };
        let [high, low, zero] = [high, low, 0.0].map(|x| self.splat(from, bits_of(from.kind(), x)));
        let [most, least] = [most, least].map(|v| self.splat(word, v));
        let too_large = self.op(S::FOrdGreaterThanEqual, bool, &[a, high]);
        let too_small = self.op(S::FOrdLessThan, bool, &[a, low]);
        // What is out of range or no number is converted as 0.
        let above = self.op(S::FOrdGreaterThanEqual, bool, &[a, low]);
        let below = self.op(S::FOrdLessThan, bool, &[a, high]);
        let inside = self.both(bool, above, below);
        let safe = self.choose(from, inside, a, zero);
        let value = self.op(convert, word, &[safe]);
        let value = self.choose(word, too_large, most, value);
        let value = self.choose(word, too_small, least, value);
        narrow(self, value)
    }
}
