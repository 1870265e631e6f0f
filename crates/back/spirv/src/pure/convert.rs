//! Conversions between kinds.

use super::float::{LOWER, plain};
use super::{Made, Shape};
use crate::error::Reason;
use crate::unit::{Id, Unit};
use spirv::Op as S;
use xenoglot_ir::{Kind, Op, Round};

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
            Op::F2f | Op::S2f | Op::U2f => {
                plain(shape.flags)?;
                match shape.op {
                    _ if from == to => a,
                    Op::F2f => self.op(S::FConvert, to, &[a]),
                    Op::S2f => self.float_of_signed(from, to, a),
                    _ => self.op(S::ConvertUToF, to, &[a]),
                }
            }
            // What is out of range has no result here; saturating is lowered.
            Op::F2s | Op::F2u => {
                let is_plain = matches!(shape.flags.round(), Round::Natural | Round::Zero);
                if shape.flags.clamp() || shape.flags.ftz() || !is_plain {
                    return Err(LOWER);
                }
                match shape.op {
                    Op::F2s => self.signed_of_float(to, a),
                    _ => self.op(S::ConvertFToU, to, &[a]),
                }
            }
            _ => return Err(SHAPE),
        })
    }
}
