//! Lanes of a wave in groups: those with equal values, and prefixes within a group.
//!
//! Equal values are found bit by bit, and prefixes by lanes that look back twice as far in each step. The loops over bits and
//! steps end in all lanes at once. A loop over the distinct values would be shorter, but its lanes leave one by one, and drivers
//! are known to split waves there.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Imm, Kind, Op, Type, Value};

fn plain() -> Imm {
    Imm::Subgroup(SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false })
}

impl Cx<'_> {
    pub(super) fn partitions(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            Dx::WaveMatch => {
                let mask = self.equal_lanes(call)?;
                let words = self.cast(mask, Type::I32X2);
                let [low, high] = [0, 1].map(|lane| self.b.extract(words, lane));
                let zero = self.i32(0);
                Made::Value(Val::scalars([low, high, zero, zero]))
            }
            Dx::WaveMultiPrefixOp => self.prefix(call)?.into(),
            Dx::WaveMultiPrefixBitCount => {
                let v = self.arg(call, 0)?;
                let v = self.of_counted(v, 0);
                let ballot = self.inst(Op::SgBallot, plain(), &[v], Type::I64);
                let before = self.lanes_before(call, 1)?;
                let counted = self.op(Op::And, &[ballot, before]);
                let count = self.op(Op::Popcount, &[counted]);
                self.resize(count, Type::I32).into()
            }
            // Any or all of a quad.
            Dx::QuadVote => {
                let v = self.arg(call, 0)?;
                let op = match self.integer(call.arg(1)?)? {
                    0 => Op::Or,
                    1 => Op::And,
                    _ => return Err(Stop::Unsupported("its kind")),
                };
                let mut v = self.resize(v, Type::I32);
                for neighbour in [1, 2] {
                    let neighbour = self.i32(neighbour);
                    let theirs = self.inst(Op::SgShuffleXor, plain(), &[v, neighbour], Type::I32);
                    v = self.op(op, &[v, theirs]);
                }
                self.resize(v, Type::BOOL).into()
            }
            _ => return Err(NOT_LIFTED),
        })
    }

    /// A mask of the lanes that have this one's value.
    fn equal_lanes(&mut self, call: &Call<'_>) -> Lift<Value> {
        let (v, s) = (self.arg(call, 0)?, self.arg_type(call, 0)?);
        let holder = match self.ty(v).kind().bits() {
            1 => Type::BOOL,
            16 => Type::scalar(Kind::I16),
            32 => Type::I32,
            _ => Type::I64,
        };
        let v = self.cast(v, holder);
        let all = self.all_counted();
        if holder == Type::BOOL {
            return Ok(self.equal_bit(v, all));
        }
        let bits = if s.is_odd() { s.bits } else { holder.kind().bits() };
        Ok(self.equal_bits(v, holder, (bits, all)))
    }

    /// A mask of the lanes that have this one's word.
    pub(super) fn equal_words(&mut self, v: Value) -> Value {
        let all = self.all_counted();
        self.equal_bits(v, Type::I32, (32, all))
    }

    /// A mask of those of some lanes that have this one's bits, so many.
    fn equal_bits(&mut self, v: Value, holder: Type, (bits, all): (u32, Value)) -> Value {
        let (zero, one) = (self.constant(holder, 0), self.constant(holder, 1));
        // The bit behind the last one: none where the value fills its type.
        let end = self.constant(holder, 1u64.checked_shl(bits).unwrap_or(0) & holder.kind().mask());
        let [_, mask] = self.rounds([one, all], |cx, [bit, mask]| {
            let its = cx.op(Op::And, &[v, bit]);
            let set = cx.op(Op::IcmpNe, &[its, zero]);
            let next = cx.op(Op::Shl, &[bit, one]);
            let more = cx.op(Op::IcmpNe, &[next, end]);
            (more, [next, cx.equal_bit(set, mask)])
        });
        mask
    }

    /// The lanes of a mask for which a bit is what it is for this one.
    fn equal_bit(&mut self, bit: Value, mask: Value) -> Value {
        let ones = self.inst(Op::SgBallot, plain(), &[bit], Type::I64);
        let zeros = self.op(Op::Not, &[ones]);
        let same = self.b.select(bit, ones, zeros);
        self.op(Op::And, &[mask, same])
    }

    /// Does something to values, in a loop, as long as it says that there is more to do, which it says to all lanes alike.
    pub(super) fn rounds<const N: usize>(
        &mut self,
        start: [Value; N],
        body: impl FnOnce(&mut Self, [Value; N]) -> (Value, [Value; N]),
    ) -> [Value; N] {
        let [round, after] = [(); 2].map(|()| self.b.func.add_block());
        self.b.jump(round, &start);
        self.b.switch_to(round);
        let before = start.map(|v| {
            let ty = self.ty(v);
            self.b.func.add_param(round, ty)
        });
        let (more, result) = body(self, before);
        self.b.branch(more, (round, &result), (after, &[]));
        self.b.switch_to(after);
        result
    }

    /// Lanes of the mask in operands from `first` on that come before this one.
    fn lanes_before(&mut self, call: &Call<'_>, first: usize) -> Lift<Value> {
        let words = [self.arg(call, first)?, self.arg(call, first + 1)?];
        let mask = self.op(Op::Build, &words);
        let mask = self.cast(mask, Type::I64);
        let lane = self.inst(Op::SgId, plain(), &[], Type::I32);
        let lane = self.resize(lane, Type::I64);
        let (one, ones) = (self.constant(Type::I64, 1), self.constant(Type::I64, u64::MAX));
        let own = self.op(Op::Shl, &[one, lane]);
        let before = self.op(Op::Iadd, &[own, ones]);
        Ok(self.op(Op::And, &[mask, before]))
    }

    /// Operands of the lanes of a group that come before this one combined: value, mask, kind, whether it has no sign.
    fn prefix(&mut self, call: &Call<'_>) -> Lift<Value> {
        let (value, s) = (self.arg(call, 0)?, self.arg_type(call, 0)?);
        if s.is_odd() {
            return Err(Stop::Unsupported("integers of this width"));
        }
        let ty = self.ty(value);
        let one = if ty.kind().is_float() { self.f32(1.0) } else { self.constant(ty, 1) };
        let (op, neutral) = match (self.integer(call.arg(5)?)?, ty.kind().is_float()) {
            (0, true) => (Op::Fadd, self.constant(ty, 0)),
            (0, false) => (Op::Iadd, self.constant(ty, 0)),
            (1, false) => (Op::And, self.constant(ty, u64::MAX)),
            (2, false) => (Op::Or, self.constant(ty, 0)),
            (3, false) => (Op::Xor, self.constant(ty, 0)),
            (4, true) => (Op::Fmul, self.float(one, ty)),
            (4, false) => (Op::Imul, one),
            _ => return Err(Stop::Unsupported("its kind")),
        };
        let before = self.lanes_before(call, 1)?;
        // Only lanes that are there: they look back at lower ones, whatever masks say, so that the loop ends.
        let all = self.all_counted();
        let before = self.op(Op::And, &[before, all]);
        let zero = self.constant(Type::I64, 0);
        let is_first = self.op(Op::IcmpEq, &[before, zero]);
        // The highest lane of those before; this one for the first.
        let lane = self.inst(Op::SgId, plain(), &[], Type::I32);
        let (last, above) = (self.i32(63), self.op(Op::Clz, &[before]));
        let above = self.resize(above, Type::I32);
        let previous = self.op(Op::Isub, &[last, above]);
        let previous = self.b.select(is_first, lane, previous);
        let [sum, _] = self.rounds([value, previous], |cx, [sum, seen]| {
            let theirs = cx.inst(Op::SgShuffle, plain(), &[sum, seen], ty);
            let further = cx.inst(Op::SgShuffle, plain(), &[seen, seen], Type::I32);
            let done = cx.op(Op::IcmpEq, &[seen, lane]);
            let more = cx.op(op, &[theirs, sum]);
            // Who sees itself has seen all before it, and who looked there has, too.
            let looks = cx.op(Op::IcmpNe, &[further, seen]);
            let one_looks = cx.inst(Op::SgAny, plain(), &[looks], Type::BOOL);
            (one_looks, [cx.b.select(done, sum, more), cx.b.select(looks, further, lane)])
        });
        let sum = self.inst(Op::SgShuffle, plain(), &[sum, previous], ty);
        Ok(self.b.select(is_first, neutral, sum))
    }
}
