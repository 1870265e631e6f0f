//! Lanes of a wave in groups: those with equal values, and prefixes within a group.
//!
//! Equal values are found bit by bit, and prefixes by lanes that look back twice as far in each step; prefixes over the same lanes
//! share a loop. The loops over bits and steps end in all lanes at once. A loop over the distinct values would be shorter, but its
//! lanes leave one by one, and drivers are known to split waves there.

use super::{Call, Made, NOT_LIFTED};
use crate::bitcode::InstKind;
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Imm, Kind, Op, Type, Value};

/// Instructions behind a prefix that are searched for others of the same lanes, and how many prefixes are computed at once.
const LOOKED_AT: usize = 32;
const MOST_PREFIXES: usize = 8;

/// What is combined, and what the first lane of a group gets.
struct Prefix {
    value: Value,
    op: Op,
    neutral: Value,
}

fn plain() -> Imm {
    Imm::Subgroup(SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false })
}

impl<'a> Cx<'a> {
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
    pub(super) fn rounds<V: AsRef<[Value]> + AsMut<[Value]>>(
        &mut self,
        start: V,
        body: impl FnOnce(&mut Self, V) -> (Value, V),
    ) -> V {
        let [round, after] = [(); 2].map(|()| self.b.func.add_block());
        self.b.jump(round, start.as_ref());
        self.b.switch_to(round);
        let mut before = start;
        for v in before.as_mut() {
            let ty = self.ty(*v);
            *v = self.b.func.add_param(round, ty);
        }
        let (more, result) = body(self, before);
        self.b.branch(more, (round, result.as_ref()), (after, &[]));
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
        if let Some(known) = call.result.and_then(|result| self.known_scalar(result)) {
            return Ok(known);
        }
        let first = self.combined(call)?;
        let mut all = vec![first];
        let mut results = Vec::new();
        for behind in self.prefixes_behind(call) {
            if let (Some(result), Ok(prefix)) = (behind.result, self.combined(&behind)) {
                results.push(result);
                all.push(prefix);
            }
        }
        let before = self.lanes_before(call, 1)?;
        let mut made = self.prefixes(&all, before).into_iter();
        let own = made.next().ok_or(NOT_LIFTED)?;
        results.into_iter().zip(made).for_each(|(result, v)| self.set(result, Val::Scalar(v)));
        Ok(own)
    }

    /// Prefixes over the same lanes in the instructions behind a call, of values that are there already.
    fn prefixes_behind(&mut self, call: &Call<'_>) -> Vec<Call<'a>> {
        let body = self.body;
        let mut found = Vec::new();
        // Of a vector, lanes are at work one by one.
        let behind = body.insts.iter().skip(self.at as usize + 1).take(LOOKED_AT);
        for inst in behind.filter(|_| call.lane.is_none()) {
            let (callee, args) = match &inst.kind {
                InstKind::Call { callee, args, .. } => (*callee, body.list(*args)),
                InstKind::Jump(_)
                | InstKind::Branch { .. }
                | InstKind::Switch { .. }
                | InstKind::Return(_)
                | InstKind::Unreachable => break,
                _ => continue,
            };
            // Lanes may be gone behind other functions, and behind a discard.
            let Some((op, args)) = self.called_op(callee, args) else { break };
            match op {
                Dx::Discard => break,
                Dx::WaveMultiPrefixOp => {}
                _ => continue,
            }
            let other = Call { op, result: inst.result, args, lane: None };
            let arg = |call: &Call<'_>, n: usize| call.arg(n).ok();
            let is_same = (1..5).all(|n| arg(&other, n).is_some() && arg(&other, n) == arg(call, n));
            let is_there = arg(&other, 0).is_some_and(|value| self.known_scalar(value).is_some());
            if is_same && is_there && found.len() + 1 < MOST_PREFIXES {
                found.push(other);
            }
        }
        found
    }

    /// What the call of a prefix combines.
    fn combined(&mut self, call: &Call<'_>) -> Lift<Prefix> {
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
        Ok(Prefix { value, op, neutral })
    }

    /// Each prefix over the lanes of a group that come before this one.
    fn prefixes(&mut self, all: &[Prefix], before: Value) -> Vec<Value> {
        // Only lanes that are there: they look back at lower ones, whatever masks say, so that the loop ends.
        let there = self.all_counted();
        let before = self.op(Op::And, &[before, there]);
        let zero = self.constant(Type::I64, 0);
        let is_first = self.op(Op::IcmpEq, &[before, zero]);
        // The highest lane of those before; this one for the first.
        let lane = self.inst(Op::SgId, plain(), &[], Type::I32);
        let (last, above) = (self.i32(63), self.op(Op::Clz, &[before]));
        let above = self.resize(above, Type::I32);
        let previous = self.op(Op::Isub, &[last, above]);
        let previous = self.b.select(is_first, lane, previous);
        let mut start: Vec<Value> = all.iter().map(|prefix| prefix.value).collect();
        start.push(previous);
        let sums = self.rounds(start, |cx, mut sums| {
            let seen = sums.pop().unwrap_or(previous);
            let further = cx.inst(Op::SgShuffle, plain(), &[seen, seen], Type::I32);
            let done = cx.op(Op::IcmpEq, &[seen, lane]);
            for (sum, prefix) in sums.iter_mut().zip(all) {
                let ty = cx.ty(*sum);
                let theirs = cx.inst(Op::SgShuffle, plain(), &[*sum, seen], ty);
                let more = cx.op(prefix.op, &[theirs, *sum]);
                *sum = cx.b.select(done, *sum, more);
            }
            // Who sees itself has seen all before it, and who looked there has, too.
            let looks = cx.op(Op::IcmpNe, &[further, seen]);
            let one_looks = cx.inst(Op::SgAny, plain(), &[looks], Type::BOOL);
            sums.push(cx.b.select(looks, further, lane));
            (one_looks, sums)
        });
        let made = sums.into_iter().zip(all).map(|(sum, prefix)| {
            let ty = self.ty(sum);
            let sum = self.inst(Op::SgShuffle, plain(), &[sum, previous], ty);
            self.b.select(is_first, prefix.neutral, sum)
        });
        made.collect()
    }
}
