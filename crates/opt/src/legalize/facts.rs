//! What is known of floats, so that nothing is done to them that does nothing.

use super::float::{is_denormal, is_finite, is_nan_bits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Function, Inst, NanMode, Op, Value};

/// Facts of a value; with more of them set, more is known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Facts(u8);

impl Facts {
    pub(super) const NONE: Facts = Facts(0);
    /// No lane is denormal.
    pub(super) const FLUSHED: Facts = Facts(1);
    /// No lane is a NaN.
    pub(super) const NUMBER: Facts = Facts(2);
    /// No lane is an infinity or a NaN.
    pub(super) const FINITE: Facts = Facts(4 | 2);
    /// Every lane is +0 to 1.
    pub(super) const UNIT: Facts = Facts(8 | 4 | 2);

    pub(super) fn has(self, other: Facts) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn and(self, other: Facts) -> Facts {
        Facts(self.0 & other.0)
    }

    pub(super) fn or(self, other: Facts) -> Facts {
        Facts(self.0 | other.0)
    }

    fn only(self, on: bool) -> Facts {
        if on { self } else { Facts::NONE }
    }
}

/// Facts of a function's values; those of values that nothing was said of are none.
#[derive(Default)]
pub(super) struct Table(Vec<Facts>);

impl Table {
    pub(super) fn clear(&mut self, values: usize) {
        self.0.clear();
        self.0.resize(values, Facts::NONE);
    }

    pub(super) fn of(&self, v: Value) -> Facts {
        self.0.get(v.index()).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, v: Value, facts: Facts) {
        if self.0.len() <= v.index() {
            self.0.resize(v.index() + 1, Facts::NONE);
        }
        self.0[v.index()] = facts;
    }

    /// What an instruction as it stands, whose result is the float `v`, makes of what is known of its operands.
    pub(super) fn result(&self, f: &Function, inst: Inst, v: Value) -> Facts {
        let (ty, data) = (f.ty(v), &f.insts[inst]);
        let args = f.args(inst);
        let of = |i: usize| args.get(i).map_or(Facts::NONE, |&a| self.of(a));
        let from = args.first().map_or(ty, |&a| f.ty(a)).kind();
        let flags = data.flags;
        let made = match data.op {
            Op::Const => f.const_bits(v).map_or(Facts::NONE, |bits| {
                let lanes = || (0..usize::from(ty.lanes())).map(|i| bits.lane(i));
                let all = |test: &dyn Fn(u64) -> bool| lanes().all(test);
                (Facts::FLUSHED.only(all(&|x| !is_denormal(ty.kind(), x))))
                    .or(Facts::NUMBER.only(all(&|x| !is_nan_bits(ty.kind(), x))))
                    .or(Facts::FINITE.only(all(&|x| is_finite(ty.kind(), x))))
            }),
            // Every integer but of 64 bits fits in 32-bit floats; none is as small as a denormal.
            Op::S2f | Op::U2f => {
                Facts::FLUSHED.or(Facts::NUMBER).or(Facts::FINITE.only(ty.kind().bits() > 16))
            }
            // Denormals of a narrower format are none in a wider one.
            Op::F2f if ty.kind().bits() > from.bits() => Facts::FLUSHED.or(of(0).and(Facts::FINITE)),
            Op::F2f => of(0).and(Facts::NUMBER),
            Op::Fneg | Op::Fabs => of(0).and(Facts::FLUSHED.or(Facts::FINITE)),
            Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven => Facts::FLUSHED.or(of(0).and(Facts::FINITE)),
            // The root of the least denormal is normal.
            Op::Sqrt => Facts::FLUSHED,
            Op::Splat | Op::Extract | Op::Freeze => of(0),
            Op::Build => args.iter().fold(ALL, |facts, &a| facts.and(self.of(a))),
            Op::Insert | Op::Shuffle => of(0).and(of(1)),
            Op::Select => of(1).and(of(2)),
            Op::Fmin | Op::Fmax => {
                let number = Facts::NUMBER.only(flags.nan() == NanMode::Other).and(of(0).or(of(1)));
                of(0).and(of(1)).or(number)
            }
            // The rules leave no NaN where no factor is one.
            Op::Fmul if flags.zero_wins() => of(0).and(of(1)).and(Facts::NUMBER),
            Op::Fsat => of(0).and(Facts::FLUSHED),
            _ => Facts::NONE,
        };
        let clamped = Facts::UNIT.only(flags.sat() || data.op == Op::Fsat);
        made.or(Facts::FLUSHED.only(flags.ftz())).or(clamped)
    }
}

/// All facts.
const ALL: Facts = Facts(15);
