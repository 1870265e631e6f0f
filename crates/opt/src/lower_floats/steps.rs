//! Float arithmetic on the bits that is not sums of products: quotients and roots digit by digit, whole numbers, least and
//! greatest.

use super::soft::{Format, Number, Parts, Result};
use super::wide::{Wide, Words};
use xenoglot_ir::{Flags, Kind, NanMode, Op, Round, Type, Value};

impl Words<'_, '_> {
    /// A loop of so many rounds over two words: what `step` makes of them round by round.
    fn rounds(
        &mut self,
        count: u64,
        first: [Value; 3],
        step: impl FnOnce(&mut Self, [Value; 3]) -> [Value; 3],
    ) -> [Value; 3] {
        let [head, body, done] = [0; 3].map(|_| self.0.func.add_block());
        let [n, x, y, z] = [0; 4].map(|_| self.0.func.add_param(head, Type::I64));
        let zero = self.number(0);
        self.0.jump(head, &[zero, first[0], first[1], first[2]]);
        self.0.switch_to(head);
        let goes_on = self.with(Op::IcmpUlt, n, count);
        self.0.branch(goes_on, (body, &[]), (done, &[]));
        self.0.switch_to(body);
        let [a, b, c] = step(self, [x, y, z]);
        let next = self.with(Op::Iadd, n, 1);
        self.0.jump(head, &[next, a, b, c]);
        self.0.switch_to(done);
        [x, y, z]
    }

    /// Mantissa and exponent with the highest one where that of normal numbers is.
    fn normal(&mut self, format: Format, parts: &Parts) -> (Value, Value) {
        let zeros = self.leading_zeros(&[parts.mantissa]);
        let up = self.with(Op::Isub, zeros, u64::from(63 - format.fraction));
        (self.op(Op::Shl, &[parts.mantissa, up]), self.op(Op::Isub, &[parts.exponent, up]))
    }

    /// The number of these digits, the last one set if there are more.
    fn number_of(&mut self, negative: Value, digits: Value, rest: Value, exponent: Value) -> Number {
        let rest = self.with(Op::IcmpNe, rest, 0);
        let rest = self.bit(rest);
        let magnitude = self.op(Op::Or, &[digits, rest]);
        Number { negative, magnitude: Wide::from_slice(&[magnitude]), exponent }
    }

    /// `a / b`.
    pub fn quotient(&mut self, to: Result, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|bits| self.parts(to.format, to.flags, bits));
        let negative = self.op(Op::Xor, &[a.negative, b.negative]);
        let [(dividend, of_a), (divisor, of_b)] = [&a, &b].map(|parts| self.normal(to.format, parts));
        // Two digits more than are kept, and whether anything is left.
        let count = u64::from(to.format.fraction) + 4;
        let zero = self.number(0);
        let [digits, rest, _] = self.rounds(count, [zero, dividend, zero], |w, [digits, rest, unused]| {
            let fits = w.op(Op::IcmpUle, &[divisor, rest]);
            let less = w.op(Op::Isub, &[rest, divisor]);
            let rest = w.select(fits, less, rest);
            let digit = w.bit(fits);
            let digits = w.with(Op::Shl, digits, 1);
            [w.op(Op::Or, &[digits, digit]), w.with(Op::Shl, rest, 1), unused]
        });
        let exponent = self.op(Op::Isub, &[of_a, of_b]);
        let exponent = self.with(Op::Isub, exponent, count - 1);
        let number = self.number_of(negative, digits, rest, exponent);
        let finite = self.rounded(to, number);
        let vanishes = self.either(a.zero, b.infinite);
        let signed_zero = self.with_sign(to.format, negative, zero);
        let finite = self.select(vanishes, signed_zero, finite);
        let undefined = [[a.infinite, b.infinite], [a.zero, b.zero]].map(|[x, y]| self.both(x, y));
        let nan = [a.nan, b.nan, undefined[0], undefined[1]].into_iter().reduce(|x, y| self.either(x, y));
        let infinite = self.either(a.infinite, b.zero);
        self.finished(to, finite, infinite, negative, nan.unwrap_or(infinite))
    }

    /// The square root of `a`.
    pub fn root(&mut self, to: Result, a: Value) -> Value {
        let a = self.parts(to.format, to.flags, a);
        let (mantissa, exponent) = self.normal(to.format, &a);
        // An even exponent is halved.
        let odd = self.with(Op::And, exponent, 1);
        let mantissa = self.op(Op::Shl, &[mantissa, odd]);
        let exponent = self.op(Op::Isub, &[exponent, odd]);
        // A digit more where the exponent was odd.
        let pairs = u64::from(to.format.fraction + 2).div_ceil(2);
        // Two digits more than are kept, and one that is 0 for some where mantissas do not fill their pairs.
        let count = u64::from(to.format.fraction + 3 + to.format.fraction % 2);
        // Digits come in pairs from the top of the word.
        let top = self.with(Op::Shl, mantissa, 64 - 2 * pairs);
        let zero = self.number(0);
        let [root, rest, _] = self.rounds(count, [zero, zero, top], |w, [root, rest, digits]| {
            let pair = w.with(Op::Ushr, digits, 62);
            let rest = w.with(Op::Shl, rest, 2);
            let rest = w.op(Op::Or, &[rest, pair]);
            let trial = w.with(Op::Shl, root, 2);
            let trial = w.with(Op::Or, trial, 1);
            let fits = w.op(Op::IcmpUle, &[trial, rest]);
            let less = w.op(Op::Isub, &[rest, trial]);
            let rest = w.select(fits, less, rest);
            let digit = w.bit(fits);
            let root = w.with(Op::Shl, root, 1);
            [w.op(Op::Or, &[root, digit]), rest, w.with(Op::Shl, digits, 2)]
        });
        let exponent = self.with(Op::Sshr, exponent, 1);
        let exponent = self.with(Op::Isub, exponent, count - pairs);
        let number = self.number_of(a.negative, root, rest, exponent);
        let finite = self.rounded(to, number);
        let signed_zero = self.with_sign(to.format, a.negative, zero);
        let finite = self.select(a.zero, signed_zero, finite);
        let positive = self.not(a.zero);
        let below = self.both(a.negative, positive);
        let nan = self.either(a.nan, below);
        self.finished(to, finite, a.infinite, a.negative, nan)
    }

    /// The magnitude of a finite number as a whole one, rounded, if it is below 2^64.
    fn units(&mut self, parts: &Parts, round: Round) -> Value {
        let zero = self.number(0);
        let is_whole = self.op(Op::IcmpSle, &[zero, parts.exponent]);
        let up = self.op(Op::Shl, &[parts.mantissa, parts.exponent]);
        let drop = self.op(Op::Isub, &[zero, parts.exponent]);
        let far = self.is_above(drop, 63);
        let near = self.op(Op::Ushr, &[parts.mantissa, drop]);
        let down = self.select(far, zero, near);
        let back = self.op(Op::Shl, &[down, drop]);
        let rest = self.op(Op::Isub, &[parts.mantissa, back]);
        let one = self.number(1);
        let goes_up = match round {
            Round::Natural | Round::Even => {
                let before = self.op(Op::Isub, &[drop, one]);
                let half = self.op(Op::Shl, &[one, before]);
                let odd = self.op(Op::And, &[down, one]);
                let rest = self.op(Op::Iadd, &[rest, odd]);
                let above = self.op(Op::IcmpUlt, &[half, rest]);
                // What is so small is no half.
                let close = self.not(far);
                Some(self.both(above, close))
            }
            Round::Zero => None,
            Round::Up | Round::Down => {
                let inexact = self.with(Op::IcmpNe, rest, 0);
                let side = if round == Round::Up { self.not(parts.negative) } else { parts.negative };
                Some(self.both(inexact, side))
            }
        };
        let down = match goes_up {
            Some(goes_up) => {
                let step = self.bit(goes_up);
                self.op(Op::Iadd, &[down, step])
            }
            None => down,
        };
        self.select(is_whole, up, down)
    }

    /// The whole number that `a` rounds to, as a float.
    pub fn whole(&mut self, to: Result, round: Round, a: Value) -> Value {
        let a = self.parts(to.format, to.flags, a);
        let zero = self.number(0);
        let is_whole = self.op(Op::IcmpSle, &[zero, a.exponent]);
        let units = self.units(&a, round);
        let magnitude = self.select(is_whole, a.mantissa, units);
        let exponent = self.select(is_whole, a.exponent, zero);
        let number = Number { negative: a.negative, magnitude: Wide::from_slice(&[magnitude]), exponent };
        let finite = self.rounded(to, number);
        self.finished(to, finite, a.infinite, a.negative, a.nan)
    }

    /// The integer of kind `to` that `a` rounds to: the last one that it has if it has none so large, 0 for a NaN.
    pub fn convert_to_int(&mut self, from: Format, flags: Flags, signed: bool, to: Kind, a: Value) -> Value {
        let a = self.parts(from, flags, a);
        let round = if flags.round() == Round::Natural { Round::Zero } else { flags.round() };
        let units = self.units(&a, round);
        // Mantissas with a higher exponent have a one beyond bit 63, or are of no finite number.
        let last = self.number(u64::from(63 - from.fraction));
        let is_large = self.op(Op::IcmpSlt, &[last, a.exponent]);
        let is_large = self.either(is_large, a.infinite);
        let zero = self.number(0);
        let most = to.mask() >> u32::from(signed);
        let (most, least) = (self.number(most), self.number(if signed { most + 1 } else { 0 }));
        let limit = self.select(a.negative, least, most);
        let below = self.op(Op::Umin, &[units, limit]);
        let magnitude = self.select(is_large, limit, below);
        let negated = self.op(Op::Ineg, &[magnitude]);
        let made = self.select(a.negative, negated, magnitude);
        self.select(a.nan, zero, made)
    }

    /// A word that orders floats as signed integers; -0 comes right before 0.
    fn order(&mut self, format: Format, a: Value) -> Value {
        let signs = self.with(Op::Sshr, a, 63);
        let flip = self.with(Op::And, signs, format.sign() - 1);
        self.op(Op::Xor, &[a, flip])
    }

    /// `a < b` of 64-bit floats that are no NaNs.
    fn is_less(&mut self, format: Format, a: Value, b: Value) -> Value {
        let [x, y] = [a, b].map(|v| self.order(format, v));
        let less = self.op(Op::IcmpSlt, &[x, y]);
        // Zeros are equal.
        let both = self.op(Op::Or, &[a, b]);
        let both = self.with(Op::And, both, format.sign() - 1);
        let differ = self.with(Op::IcmpNe, both, 0);
        self.both(less, differ)
    }

    /// The lesser or the greater of two 64-bit floats, of equal ones the second.
    pub fn pick(&mut self, to: Result, least: bool, a: Value, b: Value) -> Value {
        let format = to.format;
        let mut values = [a, b];
        if to.flags.ftz() {
            values = values.map(|v| {
                let field = self.with(Op::And, v, format.infinity());
                let is_small = self.with(Op::IcmpEq, field, 0);
                let zero = self.with(Op::And, v, format.sign());
                self.select(is_small, zero, v)
            });
        }
        let [a, b] = values;
        let [a_nan, b_nan] = values.map(|v| {
            let magnitude = self.with(Op::And, v, format.sign() - 1);
            self.is_above(magnitude, format.infinity())
        });
        let either = self.either(a_nan, b_nan);
        let numbers = self.not(either);
        let before = if least { self.is_less(format, a, b) } else { self.is_less(format, b, a) };
        let first = self.both(before, numbers);
        let takes_first = match to.flags.nan() {
            NanMode::Second | NanMode::Propagate => first,
            NanMode::First => self.either(first, either),
            NanMode::Other => {
                let a_number = self.not(a_nan);
                let only_b = self.both(b_nan, a_number);
                self.either(first, only_b)
            }
        };
        let picked = self.select(takes_first, a, b);
        if to.flags.nan() != NanMode::Propagate {
            return picked;
        }
        let nan = self.number(format.nan());
        self.select(either, nan, picked)
    }
}
