//! NVIDIA's NVAPI: the intrinsics that have an equivalent in Vulkan.
//!
//! An intrinsic is a sequence of accesses to a structured buffer that does not exist (`nvHLSLExtnsInternal.h`, which comes with
//! the library): an increment of its counter gives the number of a record, stores put operands and the operation into the record,
//! and further increments, or loads of the record, give results. After a marked record, the next store to a UAV stores nothing: it
//! names the UAV of the next operation.
//!
//! NVIDIA's warps have 32 lanes, and so have the masks here; of larger subgroups those are the lowest 32.

use super::{Call, Made};
use crate::bitcode::ValueId;
use crate::lift::bytes::Access;
use crate::lift::cx::Cx;
use crate::lift::resource::Handle;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::program::{Shape, Vendor};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Flags, Imm, Op, Type, Value};

/// Words of a record.
mod word {
    pub const OPERATION: u32 = 0;
    pub const SOURCE_0: u32 = 19;
    pub const SOURCE_1: u32 = 23;
    pub const SOURCE_2: u32 = 27;
    pub const RESULT: u32 = 31;
    pub const MARK: u32 = 35;
    /// Words of a record.
    pub const COUNT: u32 = 64;
}

/// Operations (`nvShaderExtnEnums.h`).
mod operation {
    pub const SHUFFLE: u64 = 1;
    pub const SHUFFLE_UP: u64 = 2;
    pub const SHUFFLE_DOWN: u64 = 3;
    pub const SHUFFLE_XOR: u64 = 4;
    pub const ALL: u64 = 5;
    pub const ANY: u64 = 6;
    pub const BALLOT: u64 = 7;
    pub const LANE: u64 = 8;
    pub const ATOMIC_FP16: u64 = 12;
    pub const ATOMIC_FP32: u64 = 13;
    pub const SPECIAL: u64 = 19;
    pub const ATOMIC_UINT64: u64 = 20;
    pub const MATCH: u64 = 21;
    pub const SHUFFLE_GENERIC: u64 = 33;
}

/// What [`operation::SPECIAL`] asks for.
mod special {
    pub const LANES_BELOW: u64 = 4;
    pub const TIMER_LOW: u64 = 9;
    pub const TIMER_HIGH: u64 = 10;
}

/// What an atomic does.
mod atomic {
    pub const AND: u64 = 0;
    pub const OR: u64 = 1;
    pub const XOR: u64 = 2;
    pub const ADD: u64 = 3;
    pub const MAX: u64 = 6;
    pub const MIN: u64 = 7;
    pub const SWAP: u64 = 8;
    pub const CAS: u64 = 9;
}

/// Lanes of a warp.
const WARP: u32 = 32;

const PLAIN: Imm = Imm::Subgroup(SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false });

type Words = SmallVec<[Value; 2]>;

/// The intrinsic at work.
#[derive(Default)]
pub(in crate::lift) struct Nvapi {
    record: Option<Record>,
    /// The UAV that the next operation is on.
    uav: Option<Rc<Handle>>,
}

struct Record {
    /// Its number, as the shader knows it.
    number: ValueId,
    words: SmallVec<[(u32, Value); 6]>,
    operation: Option<u64>,
    is_mark: bool,
    /// What further increments of the counter give, the last one first, once the first of them is met.
    counted: Option<Words>,
    /// What is loaded of the record.
    loaded: Words,
}

impl Cx<'_> {
    /// The operation of the record at work.
    pub(in crate::lift) fn nvapi_operation(&self) -> Option<u64> {
        self.nvapi.record.as_ref().and_then(|record| record.operation)
    }

    fn nvapi_refused(&self) -> Stop {
        self.refused(Vendor::Nvapi).into()
    }

    /// What the counter gives: a result of the record's operation, or the number of a new record.
    pub(super) fn nvapi_count(&mut self, call: &Call<'_>) -> Lift<Made> {
        if let Some(record) = &self.nvapi.record
            && let Some(operation) = record.operation
            && !is_atomic(operation)
        {
            let mut rest = match record.counted.clone() {
                Some(rest) => rest,
                None => {
                    let mut made = self.nvapi_results(operation)?;
                    made.reverse();
                    made
                }
            };
            let next = rest.pop();
            if let Some(record) = &mut self.nvapi.record {
                record.counted = Some(rest);
            }
            if let Some(next) = next {
                return Ok(next.into());
            }
        }
        let number = call.result.ok_or(Stop::Unsupported("no result"))?;
        let (words, loaded) = (SmallVec::new(), Words::new());
        let (operation, is_mark, counted) = (None, false, None);
        self.nvapi.record = Some(Record { number, words, operation, is_mark, counted, loaded });
        Ok(self.i32(0).into())
    }

    /// The word of the record at work that an access begins at.
    fn nvapi_word(&self, call: &Call<'_>) -> Lift<u32> {
        let is_its = self.nvapi.record.as_ref().is_some_and(|r| call.arg(1).is_ok_and(|n| n == r.number));
        let offset = self.integer(call.arg(2)?).unwrap_or(u64::MAX);
        match u32::try_from(offset / 4) {
            Ok(word) if is_its && offset.is_multiple_of(4) && word < word::COUNT => Ok(word),
            _ => Err(self.nvapi_refused()),
        }
    }

    /// Puts operands into the record.
    pub(super) fn nvapi_store(&mut self, call: &Call<'_>) -> Lift<Made> {
        let first = self.nvapi_word(call)?;
        let mask = self.integer(call.arg(7)?)?;
        for (word, n) in (first..).zip(0..4) {
            let id = call.arg(3 + n)?;
            if mask >> n & 1 == 0 || self.is_undef(id) {
                continue;
            }
            let v = self.scalar(id)?;
            let v = self.cast(v, Type::I32);
            let operation = self.integer(id).ok();
            let Some(record) = &mut self.nvapi.record else { return Err(self.nvapi_refused()) };
            match word {
                word::OPERATION => record.operation = operation,
                word::MARK => record.is_mark = true,
                _ => {
                    record.words.retain(|known| known.0 != word);
                    record.words.push((word, v));
                }
            }
            if word == word::OPERATION {
                match operation {
                    // An atomic is done here: its result may be of no use to anyone.
                    Some(operation) if is_atomic(operation) => {
                        let made = self.nvapi_atomic(operation)?;
                        if let Some(record) = &mut self.nvapi.record {
                            record.loaded = made;
                        }
                    }
                    Some(operation) if is_known(operation) => {}
                    _ => return Err(self.nvapi_refused()),
                }
            }
        }
        Ok(Made::Nothing)
    }

    /// Loads results of the record.
    pub(super) fn nvapi_load(&mut self, call: &Call<'_>) -> Lift<Made> {
        let first = self.nvapi_word(call)?;
        let ty = self.result_scalar(call, Some(0))?;
        let loaded = self.nvapi.record.as_ref().map(|r| r.loaded.clone()).unwrap_or_default();
        let mut members = Vec::new();
        for n in 0..4 {
            let at = (first + n).checked_sub(word::RESULT).ok_or_else(|| self.nvapi_refused())?;
            members.push(match loaded.get(at as usize) {
                Some(&v) if ty.bits() == 32 => Val::Scalar(self.cast(v, ty)),
                _ => Val::Undef,
            });
        }
        members.push(self.mapped());
        Ok(Made::Value(Val::members(members)))
    }

    /// Whether a store only names the UAV of the next operation, and stores nothing.
    pub(super) fn nvapi_marks(&mut self, call: &Call<'_>, handle: &Rc<Handle>) -> bool {
        let marks = self
            .nvapi
            .record
            .as_ref()
            .is_some_and(|r| r.is_mark && call.arg(1).is_ok_and(|coordinate| coordinate == r.number));
        if marks {
            self.nvapi.uav = Some(handle.clone());
        }
        marks
    }

    /// An operand: a word of the record.
    fn nvapi_operand(&self, word: u32) -> Lift<Value> {
        let record = self.nvapi.record.as_ref();
        let known = record.and_then(|r| r.words.iter().find(|known| known.0 == word));
        known.map(|known| known.1).ok_or_else(|| self.nvapi_refused())
    }

    /// What an operation gives by the counter.
    fn nvapi_results(&mut self, operation: u64) -> Lift<Words> {
        let source = |n: u32| word::SOURCE_0 + n;
        Ok(match operation {
            operation::SHUFFLE
            | operation::SHUFFLE_UP
            | operation::SHUFFLE_DOWN
            | operation::SHUFFLE_XOR
            | operation::SHUFFLE_GENERIC => {
                let operands = [0, 1, 2].map(|n| self.nvapi_operand(source(n)));
                let [v, lane, mask] = operands;
                let (is_valid, v) = self.nvapi_shuffle(operation, [v?, lane?, mask?]);
                match operation {
                    operation::SHUFFLE_GENERIC => smallvec![self.resize(is_valid, Type::I32), v],
                    _ => smallvec![v],
                }
            }
            operation::ALL | operation::ANY | operation::BALLOT => {
                let (v, zero) = (self.nvapi_operand(source(0))?, self.i32(0));
                let is_set = self.op(Op::IcmpNe, &[v, zero]);
                let vote = |cx: &mut Self, op| {
                    let vote = cx.inst(op, PLAIN, &[is_set], Type::BOOL);
                    cx.resize(vote, Type::I32)
                };
                smallvec![match operation {
                    operation::ALL => vote(self, Op::SgAll),
                    operation::ANY => vote(self, Op::SgAny),
                    _ => self.inst(Op::SgBallot, PLAIN, &[is_set], Type::I32),
                }]
            }
            operation::LANE => smallvec![self.inst(Op::SgId, PLAIN, &[], Type::I32)],
            operation::SPECIAL => {
                let which = self.nvapi_operand(source(0))?;
                let which = self.b.func.const_bits(which).map(|bits| bits.lane(0));
                smallvec![match which {
                    Some(special::LANES_BELOW) => {
                        let lane = self.inst(Op::SgId, PLAIN, &[], Type::I32);
                        let (one, ones) = (self.i32(1), self.i32(u32::MAX));
                        let own = self.op(Op::Shl, &[one, lane]);
                        self.op(Op::Iadd, &[own, ones])
                    }
                    Some(half @ (special::TIMER_LOW | special::TIMER_HIGH)) => {
                        let clock = self.inst(Op::DeviceClock, Imm::None, &[], Type::I32X2);
                        self.b.extract(clock, u8::from(half == special::TIMER_HIGH))
                    }
                    _ => return Err(self.nvapi_refused()),
                }]
            }
            // The second operand says how many words the value has: one.
            operation::MATCH => {
                let v = self.nvapi_operand(source(0))?;
                let equal = self.equal_words(v);
                smallvec![self.resize(equal, Type::I32)]
            }
            _ => return Err(self.nvapi_refused()),
        })
    }

    /// The value of another lane of a segment of the warp, and whether there is such a lane; this one's own value if not. The mask has
    /// the bits of a lane's number that name its segment, from bit 8 on, and where segments end in the others.
    fn nvapi_shuffle(&mut self, operation: u64, [v, by, mask]: [Value; 3]) -> (Value, Value) {
        let lane = self.inst(Op::SgId, PLAIN, &[], Type::I32);
        let [low, eight] = [self.i32(WARP - 1), self.i32(8)];
        let by = self.op(Op::And, &[by, low]);
        let clamp = self.op(Op::And, &[mask, low]);
        let segments = self.op(Op::Ushr, &[mask, eight]);
        let segments = self.op(Op::And, &[segments, low]);
        let within = self.op(Op::Xor, &[segments, low]);
        // Higher bits tell warps of a larger subgroup apart.
        let outside = self.op(Op::Not, &[within]);
        let first = self.op(Op::And, &[lane, outside]);
        let last = self.op(Op::And, &[clamp, within]);
        let last = self.op(Op::Or, &[first, last]);
        let (from, is_up) = match operation {
            operation::SHUFFLE_UP => (self.op(Op::Isub, &[lane, by]), true),
            operation::SHUFFLE_DOWN => (self.op(Op::Iadd, &[lane, by]), false),
            operation::SHUFFLE_XOR => (self.op(Op::Xor, &[lane, by]), false),
            _ => {
                let place = self.op(Op::And, &[by, within]);
                (self.op(Op::Or, &[first, place]), false)
            }
        };
        // Upwards segments end at their first lane.
        let ends = if is_up { [last, from] } else { [from, last] };
        let is_valid = self.op(Op::IcmpSle, &ends);
        let from = self.b.select(is_valid, from, lane);
        (is_valid, self.inst(Op::SgShuffle, PLAIN, &[v, from], Type::I32))
    }

    /// An atomic on the UAV that was named; the old value's words.
    fn nvapi_atomic(&mut self, operation: u64) -> Lift<Words> {
        let handle = self.nvapi.uav.take().filter(|handle| handle.declared.shape == Shape::RawBuffer);
        let handle = handle.ok_or_else(|| self.nvapi_refused())?;
        let (offset, kind) = (self.nvapi_operand(word::SOURCE_0)?, self.nvapi_operand(word::SOURCE_2)?);
        let kind = self.b.func.const_bits(kind).map(|bits| bits.lane(0));
        let value = self.nvapi_operand(word::SOURCE_1)?;
        let buffer = self.bind(&handle)?;
        let nothing = Stop::Unsupported("no result");
        match (operation, kind) {
            (operation::ATOMIC_FP16, Some(atomic::ADD | atomic::MAX | atomic::MIN)) => {
                let op = match kind {
                    Some(atomic::MAX) => Op::Fmax,
                    Some(atomic::MIN) => Op::Fmin,
                    _ => Op::Fadd,
                };
                let old = self.load_bytes(buffer, offset, Type::I32)?;
                // Until nobody else has changed the word in between.
                let mut error = None;
                let [old] = self.rounds([old], |cx, [old]| {
                    let new = cx.on_halves(op, old, value);
                    let access = Access::aligned(Op::AtomicCmpxchg, offset, Type::I32);
                    let found = match cx.access_bytes(buffer, access, &[old, new]) {
                        Ok(found) => found.unwrap_or(old),
                        Err(stop) => {
                            error = Some(stop);
                            old
                        }
                    };
                    (cx.op(Op::IcmpNe, &[found, old]), [found])
                });
                error.map_or(Ok(smallvec![old]), Err)
            }
            (operation::ATOMIC_FP32, Some(atomic::ADD)) => {
                let value = self.cast(value, Type::F32);
                let access = Access::aligned(Op::AtomicFadd, offset, Type::F32);
                let old = self.access_bytes(buffer, access, &[value])?.ok_or(nothing)?;
                Ok(smallvec![self.cast(old, Type::I32)])
            }
            (operation::ATOMIC_UINT64, Some(kind)) => {
                let op = match kind {
                    atomic::AND => Op::AtomicAnd,
                    atomic::OR => Op::AtomicOr,
                    atomic::XOR => Op::AtomicXor,
                    atomic::ADD => Op::AtomicAdd,
                    atomic::MAX => Op::AtomicUmax,
                    atomic::MIN => Op::AtomicUmin,
                    atomic::SWAP => Op::AtomicXchg,
                    atomic::CAS => Op::AtomicCmpxchg,
                    _ => return Err(self.nvapi_refused()),
                };
                let pair = |cx: &mut Self, first: u32| {
                    let words = [cx.nvapi_operand(first)?, cx.nvapi_operand(first + 1)?];
                    let both = cx.op(Op::Build, &words);
                    Ok::<_, Stop>(cx.cast(both, Type::I64))
                };
                let mut operands: Words = smallvec![pair(self, word::SOURCE_1)?];
                if op == Op::AtomicCmpxchg {
                    operands.push(pair(self, word::SOURCE_1 + 2)?);
                }
                let access = Access::aligned(op, offset, Type::I64);
                let old = self.access_bytes(buffer, access, &operands)?.ok_or(nothing)?;
                let words = self.cast(old, Type::I32X2);
                Ok([0, 1].map(|lane| self.b.extract(words, lane)).into_iter().collect())
            }
            _ => Err(self.nvapi_refused()),
        }
    }

    /// An operation on both halves of two words. What singles make of halves is rounded right.
    fn on_halves(&mut self, op: Op, a: Value, b: Value) -> Value {
        let pair = Type::F16.with_lanes(2).unwrap_or(Type::F16);
        let [a, b] = [a, b].map(|word| self.cast(word, pair));
        let halves = [0, 1].map(|lane| {
            let [a, b] = [a, b].map(|pair| {
                let half = self.b.extract(pair, lane);
                self.b.convert(Op::F2f, Flags::NONE, half, Type::F32)
            });
            let v = self.op(op, &[a, b]);
            self.b.convert(Op::F2f, Flags::NONE, v, Type::F16)
        });
        let both = self.op(Op::Build, &halves);
        self.cast(both, Type::I32)
    }
}

fn is_atomic(operation: u64) -> bool {
    matches!(operation, operation::ATOMIC_FP16 | operation::ATOMIC_FP32 | operation::ATOMIC_UINT64)
}

/// Operations that give results by the counter.
fn is_known(operation: u64) -> bool {
    let shuffles_votes_and_lane = operation::SHUFFLE..=operation::LANE;
    shuffles_votes_and_lane.contains(&operation)
        || matches!(operation, operation::SPECIAL | operation::MATCH | operation::SHUFFLE_GENERIC)
}
