//! Waves and quads: subgroups of the host's width.
//!
//! Where waves are to be without helpers ([`LiftOptions::waves_without_helpers`](crate::lift::LiftOptions)), these give what makes no
//! difference: truth or its opposite to votes, the neutral element to reductions and scans.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Imm, Kind, Op, Stage, Type, Value};

fn subgroup(reduce: Reduce, exclusive: bool) -> Imm {
    Imm::Subgroup(SubgroupInfo { width: 0, reduce, exclusive })
}

/// An op that combines nothing.
fn plain() -> Imm {
    subgroup(Reduce::Iadd, false)
}

/// The bits of what changes no reduction.
fn neutral(reduce: Reduce, kind: Kind) -> u64 {
    let top = 1 << (kind.bits() - 1);
    let (one, infinity) = match kind {
        Kind::F16 => (0x3c00, 0x7c00),
        Kind::F32 => (0x3f80_0000, 0x7f80_0000),
        _ => (0x3ff0_0000_0000_0000, 0x7ff0_0000_0000_0000),
    };
    match reduce {
        Reduce::Iadd | Reduce::Or | Reduce::Xor | Reduce::Umax => 0,
        Reduce::Imul => 1,
        Reduce::And | Reduce::Umin => kind.mask(),
        Reduce::Imin => top - 1,
        Reduce::Imax => top,
        // The sum with -0 is the other number, +0 too.
        Reduce::Fadd => top,
        Reduce::Fmul => one,
        Reduce::Fmin => infinity,
        Reduce::Fmax => top | infinity,
    }
}

impl Cx<'_> {
    pub(super) fn waves(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            Dx::WaveIsFirstLane => match self.counted() {
                Some(counted) => {
                    let first = self.first_of(counted);
                    let lane = self.inst(Op::SgId, plain(), &[], Type::I32);
                    self.op(Op::IcmpEq, &[lane, first]).into()
                }
                None => self.inst(Op::SgElect, plain(), &[], Type::BOOL).into(),
            },
            Dx::WaveGetLaneIndex => self.inst(Op::SgId, plain(), &[], Type::I32).into(),
            Dx::WaveGetLaneCount => self.inst(Op::SgSize, plain(), &[], Type::I32).into(),
            Dx::WaveAnyTrue => {
                let v = self.arg(call, 0)?;
                let v = self.of_counted(v, 0);
                self.inst(Op::SgAny, plain(), &[v], Type::BOOL).into()
            }
            Dx::WaveAllTrue => {
                let v = self.arg(call, 0)?;
                self.all(v).into()
            }
            Dx::WaveReadLaneFirst => {
                let v = self.arg(call, 0)?;
                self.first(v).into()
            }
            Dx::WaveActiveAllEqual => {
                let v = self.arg(call, 0)?;
                let first = self.first(v);
                let compare = if self.ty(v).kind().is_float() { Op::FcmpOeq } else { Op::IcmpEq };
                let equal = self.op(compare, &[v, first]);
                self.all(equal).into()
            }
            Dx::WaveActiveBallot => {
                let v = self.arg(call, 0)?;
                let v = self.of_counted(v, 0);
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
                self.over_lanes(call, Op::SgReduce, reduce, false)?.into()
            }
            Dx::WavePrefixOp => {
                let reduce = self.reduction(call)?;
                self.over_lanes(call, Op::SgScan, reduce, true)?.into()
            }
            Dx::WaveActiveBit => {
                let reduce = match self.integer(call.arg(1)?)? {
                    0 => Reduce::And,
                    1 => Reduce::Or,
                    2 => Reduce::Xor,
                    _ => return Err(Stop::Unsupported("its kind")),
                };
                self.over_lanes(call, Op::SgReduce, reduce, false)?.into()
            }
            // Lanes where the operand is true: all of the active ones, or those before.
            Dx::WaveAllBitCount | Dx::WavePrefixBitCount => {
                let v = self.arg(call, 0)?;
                let v = self.of_counted(v, 0);
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

    fn over_lanes(&mut self, call: &Call<'_>, op: Op, reduce: Reduce, exclusive: bool) -> Lift<Value> {
        let v = self.arg(call, 0)?;
        let ty = self.ty(v);
        let v = self.of_counted(v, neutral(reduce, ty.kind()));
        Ok(self.inst(op, subgroup(reduce, exclusive), &[v], ty))
    }

    /// Whether this lane is none of the helpers that waves are to be without; none if they have their helpers.
    fn counted(&mut self) -> Option<Value> {
        if self.ir.stage != Stage::Fragment || !self.options.waves_without_helpers {
            return None;
        }
        let helper = self.inst(Op::Helper, Imm::None, &[], Type::BOOL);
        Some(self.op(Op::Not, &[helper]))
    }

    /// A value, and `neutral` where a lane does not count.
    pub(super) fn of_counted(&mut self, v: Value, neutral: u64) -> Value {
        let Some(counted) = self.counted() else { return v };
        let ty = self.ty(v);
        let neutral = self.constant(ty, neutral);
        self.b.select(counted, v, neutral)
    }

    /// The lanes that count, as a mask.
    pub(super) fn all_counted(&mut self) -> Value {
        let counted = self.counted().unwrap_or_else(|| self.constant(Type::BOOL, 1));
        self.inst(Op::SgBallot, plain(), &[counted], Type::I64)
    }

    /// The number of the first lane where a condition holds.
    fn first_of(&mut self, condition: Value) -> Value {
        let mask = self.inst(Op::SgBallot, plain(), &[condition], Type::I64);
        let first = self.op(Op::Ctz, &[mask]);
        self.resize(first, Type::I32)
    }

    /// The first lane's value.
    fn first(&mut self, v: Value) -> Value {
        match self.counted() {
            Some(counted) => {
                let first = self.first_of(counted);
                self.shuffle_lanes(Op::SgShuffle, v, first)
            }
            None => {
                let ty = self.ty(v);
                self.inst(Op::SgReadFirst, plain(), &[v], ty)
            }
        }
    }

    /// Whether a condition holds in all lanes.
    fn all(&mut self, v: Value) -> Value {
        let v = self.of_counted(v, 1);
        self.inst(Op::SgAll, plain(), &[v], Type::BOOL)
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
