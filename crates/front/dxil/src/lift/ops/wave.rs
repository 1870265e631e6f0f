//! Waves and quads: subgroups of the host's width.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Imm, Op, Type, Value};

fn subgroup(reduce: Reduce, exclusive: bool) -> Imm {
    Imm::Subgroup(SubgroupInfo { width: 0, reduce, exclusive })
}

/// An op that combines nothing.
fn plain() -> Imm {
    subgroup(Reduce::Iadd, false)
}

impl Cx<'_> {
    pub(super) fn waves(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            Dx::WaveIsFirstLane => self.inst(Op::SgElect, plain(), &[], Type::BOOL).into(),
            Dx::WaveGetLaneIndex => self.inst(Op::SgId, plain(), &[], Type::I32).into(),
            Dx::WaveGetLaneCount => self.inst(Op::SgSize, plain(), &[], Type::I32).into(),
            Dx::WaveAnyTrue => self.over_lanes(call, Op::SgAny, plain())?.into(),
            Dx::WaveAllTrue => self.over_lanes(call, Op::SgAll, plain())?.into(),
            Dx::WaveReadLaneFirst => self.over_lanes(call, Op::SgReadFirst, plain())?.into(),
            Dx::WaveActiveAllEqual => {
                let v = self.arg(call, 0)?;
                let ty = self.ty(v);
                let first = self.inst(Op::SgReadFirst, plain(), &[v], ty);
                let compare = if ty.kind().is_float() { Op::FcmpOeq } else { Op::IcmpEq };
                let equal = self.op(compare, &[v, first]);
                self.inst(Op::SgAll, plain(), &[equal], Type::BOOL).into()
            }
            Dx::WaveActiveBallot => {
                let v = self.arg(call, 0)?;
                let mask = self.inst(Op::SgBallot, plain(), &[v], Type::I64);
                let words = self.cast(mask, Type::I32X2);
                let [low, high] = [0, 1].map(|lane| self.b.extract(words, lane));
                let zero = self.i32(0);
                Made::Value(Val::scalars([low, high, zero, zero]))
            }
            Dx::WaveReadLaneAt | Dx::QuadReadLaneAt => {
                let (v, mut lane) = (self.arg(call, 0)?, self.arg(call, 1)?);
                if call.op == Dx::QuadReadLaneAt {
                    let id = self.inst(Op::SgId, plain(), &[], Type::I32);
                    let quads = self.i32(!3);
                    let first = self.op(Op::And, &[id, quads]);
                    lane = self.op(Op::Or, &[first, lane]);
                }
                self.shuffle_lanes(Op::SgShuffle, v, lane).into()
            }
            // Across, down, diagonal.
            Dx::QuadOp => {
                let v = self.arg(call, 0)?;
                let mask = match self.integer(call.arg(1)?)? {
                    n @ 0..=2 => self.i32(n as u32 + 1),
                    _ => return Err(Stop::Unsupported("its kind")),
                };
                self.shuffle_lanes(Op::SgShuffleXor, v, mask).into()
            }
            Dx::WaveActiveOp => {
                let reduce = self.reduction(call)?;
                self.over_lanes(call, Op::SgReduce, subgroup(reduce, false))?.into()
            }
            Dx::WavePrefixOp => {
                let reduce = self.reduction(call)?;
                self.over_lanes(call, Op::SgScan, subgroup(reduce, true))?.into()
            }
            Dx::WaveActiveBit => {
                let reduce = match self.integer(call.arg(1)?)? {
                    0 => Reduce::And,
                    1 => Reduce::Or,
                    2 => Reduce::Xor,
                    _ => return Err(Stop::Unsupported("its kind")),
                };
                self.over_lanes(call, Op::SgReduce, subgroup(reduce, false))?.into()
            }
            // Lanes where the operand is true: all of the active ones, or those before.
            Dx::WaveAllBitCount | Dx::WavePrefixBitCount => {
                let v = self.arg(call, 0)?;
                let one = self.resize(v, Type::I32);
                let (op, exclusive) = match call.op {
                    Dx::WaveAllBitCount => (Op::SgReduce, false),
                    _ => (Op::SgScan, true),
                };
                self.inst(op, subgroup(Reduce::Iadd, exclusive), &[one], Type::I32).into()
            }
            _ => return Err(NOT_LIFTED),
        })
    }

    fn over_lanes(&mut self, call: &Call<'_>, op: Op, imm: Imm) -> Lift<Value> {
        let v = self.arg(call, 0)?;
        let ty = self.ty(v);
        Ok(self.inst(op, imm, &[v], ty))
    }

    /// Another lane's value. Truth values are not passed between lanes.
    fn shuffle_lanes(&mut self, op: Op, v: Value, lane: Value) -> Value {
        let ty = self.ty(v);
        let v = if ty == Type::BOOL { self.resize(v, Type::I32) } else { v };
        let held = self.ty(v);
        let got = self.inst(op, plain(), &[v, lane], held);
        self.resize_or_same(got, ty)
    }

    fn resize_or_same(&mut self, v: Value, ty: Type) -> Value {
        if self.ty(v) == ty { v } else { self.resize(v, ty) }
    }

    /// Sum, product, least and greatest; of integers that are signed (0) or not (1).
    fn reduction(&mut self, call: &Call<'_>) -> Lift<Reduce> {
        let s = self.arg_type(call, 0)?;
        let (kind, unsigned) = (self.integer(call.arg(1)?)?, self.integer(call.arg(2)?)? == 1);
        if s.is_odd() {
            return Err(Stop::Unsupported("integers of this width"));
        }
        Ok(match (kind, s.is_int(), unsigned) {
            (0, true, _) => Reduce::Iadd,
            (0, false, _) => Reduce::Fadd,
            (1, true, _) => Reduce::Imul,
            (1, false, _) => Reduce::Fmul,
            (2, false, _) => Reduce::Fmin,
            (2, true, true) => Reduce::Umin,
            (2, true, false) => Reduce::Imin,
            (3, false, _) => Reduce::Fmax,
            (3, true, true) => Reduce::Umax,
            (3, true, false) => Reduce::Imax,
            _ => return Err(Stop::Unsupported("its kind")),
        })
    }
}
