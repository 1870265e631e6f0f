//! Float arithmetic on the bits, rounded once in any direction: what the fold functions of `xenoglot-ir` do, as ops.
//!
//! A finite number is a magnitude times a power of two. Magnitudes of doubles' products need two words; all others
//! have one. Bits are kept in 64-bit words whatever the float's width, and so are exponents.

use super::wide::{Wide, Words};
use xenoglot_ir::{Flags, Kind, Op, Round, Value};

/// Exponent of a zero: below all others, so that it never decides where a sum is.
const NOWHERE: i64 = -0x4000;

/// A float format.
#[derive(Clone, Copy)]
pub(super) struct Format {
    kind: Kind,
    /// Bits of the fraction.
    pub fraction: u32,
    /// Exponent of the least denormal.
    least: i64,
}

impl Format {
    pub fn of(kind: Kind) -> Option<Format> {
        let (fraction, least) = match kind {
            Kind::F16 => (10, -24),
            Kind::F32 => (23, -149),
            Kind::F64 => (52, -1074),
            _ => return None,
        };
        Some(Format { kind, fraction, least })
    }

    pub fn sign(self) -> u64 {
        1 << (self.kind.bits() - 1)
    }

    /// The largest exponent field: that of infinity and NaNs.
    fn last_field(self) -> u64 {
        (1 << (self.kind.bits() - 1 - self.fraction)) - 1
    }

    pub fn infinity(self) -> u64 {
        self.last_field() << self.fraction
    }

    pub fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction - 1)
    }

    pub fn one(self) -> u64 {
        (self.last_field() >> 1) << self.fraction
    }
}

/// A float taken apart.
pub(super) struct Parts {
    pub negative: Value,
    /// Below `2^(fraction + 1)`; not meant where the number is not finite.
    pub mantissa: Value,
    pub exponent: Value,
    pub zero: Value,
    pub infinite: Value,
    pub nan: Value,
}

/// A finite number: `magnitude * 2^exponent`.
pub(super) struct Number {
    pub negative: Value,
    pub magnitude: Wide,
    pub exponent: Value,
}

/// How a result is to be.
#[derive(Clone, Copy)]
pub(super) struct Result {
    pub format: Format,
    pub flags: Flags,
}

fn signed(v: i64) -> u64 {
    v as u64
}

impl Words<'_, '_> {
    pub fn parts(&mut self, format: Format, flags: Flags, bits: Value) -> Parts {
        let [sign, low] = [format.sign(), (1 << format.fraction) - 1].map(|m| self.with(Op::And, bits, m));
        let negative = self.with(Op::IcmpNe, sign, 0);
        let field = self.with(Op::Ushr, bits, format.fraction.into());
        let field = self.with(Op::And, field, format.last_field());
        let denormal = self.with(Op::IcmpEq, field, 0);
        let hidden = self.with(Op::Or, low, 1 << format.fraction);
        let zero = self.number(0);
        let tiny = if flags.ftz() { zero } else { low };
        let mantissa = self.select(denormal, tiny, hidden);
        let (one, finite) = (self.number(1), self.with(Op::IcmpNe, field, format.last_field()));
        let field = self.op(Op::Umax, &[field, one]);
        let exponent = self.with(Op::Iadd, field, signed(format.least - 1));
        let (special, whole) = (self.not(finite), self.with(Op::IcmpEq, low, 0));
        let broken = self.not(whole);
        Parts {
            negative,
            mantissa,
            exponent,
            zero: self.with(Op::IcmpEq, mantissa, 0),
            infinite: self.both(special, whole),
            nan: self.both(special, broken),
        }
    }

    /// With the highest one `above` bits below the top; zero stays.
    fn normalised(&mut self, n: Number, above: u64) -> Number {
        let none = self.is_zero(&n.magnitude);
        let up = self.leading_zeros(&n.magnitude);
        let up = self.with(Op::Isub, up, above);
        let nowhere = self.number(signed(NOWHERE));
        let exponent = self.op(Op::Isub, &[n.exponent, up]);
        let magnitude = self.shl(&n.magnitude, up);
        Number { magnitude, exponent: self.select(none, nowhere, exponent), ..n }
    }

    /// The sum; both have magnitudes of less than three quarters of their bits.
    fn sum(&mut self, a: Number, b: Number, round: Round) -> Number {
        let (a, b) = (self.normalised(a, 2), self.normalised(b, 2));
        let swap = self.op(Op::IcmpSlt, &[a.exponent, b.exponent]);
        let (high, low) =
            (self.choose(swap, &b.magnitude, &a.magnitude), self.choose(swap, &a.magnitude, &b.magnitude));
        let [high_negative, low_negative] =
            [[b.negative, a.negative], [a.negative, b.negative]].map(|[x, y]| self.select(swap, x, y));
        let [most, least] =
            [[b.exponent, a.exponent], [a.exponent, b.exponent]].map(|[x, y]| self.select(swap, x, y));
        let apart = self.op(Op::Isub, &[most, least]);
        let low = self.jam(&low, apart);
        let differ = self.op(Op::Xor, &[a.negative, b.negative]);
        let (sum, over) = (self.add(&high, &low), self.less(&high, &low));
        let (down, up) = (self.sub(&high, &low), self.sub(&low, &high));
        let difference = self.choose(over, &up, &down);
        let magnitude = self.choose(differ, &difference, &sum);
        let turned = self.both(differ, over);
        let negative = self.select(turned, low_negative, high_negative);
        // Opposite numbers that meet in zero.
        let none = self.is_zero(&magnitude);
        let none = self.both(none, differ);
        let minus = self.0.bool(round == Round::Down);
        Number { negative: self.select(none, minus, negative), magnitude, exponent: most }
    }

    /// The bits of the float that a number rounds to, `ftz` done.
    pub fn rounded(&mut self, to: Result, n: Number) -> Value {
        let Format { fraction, least, .. } = to.format;
        let round = to.flags.round();
        let n = self.normalised(n, 1);
        // One word is enough from here on; the highest one is its bit 62.
        let (mut word, mut exponent) = (n.magnitude[0], n.exponent);
        if let &[low, high] = &n.magnitude[..] {
            let rest = self.with(Op::IcmpNe, low, 0);
            let rest = self.bit(rest);
            word = self.op(Op::Or, &[high, rest]);
            exponent = self.with(Op::Iadd, exponent, 64);
        }
        // One unit in the last place, denormals included.
        let (unit, floor) =
            (self.with(Op::Iadd, exponent, u64::from(62 - fraction)), self.number(signed(least)));
        let unit = self.op(Op::Imax, &[unit, floor]);
        let drop = self.op(Op::Isub, &[unit, exponent]);
        let most = self.number(63);
        let far = self.is_above(drop, 63);
        let any = self.with(Op::IcmpNe, word, 0);
        let any = self.bit(any);
        let word = self.select(far, any, word);
        let drop = self.select(far, most, drop);
        let units = self.op(Op::Ushr, &[word, drop]);
        let whole = self.op(Op::Shl, &[units, drop]);
        let rest = self.op(Op::Isub, &[word, whole]);
        let up = match round {
            Round::Natural | Round::Even => {
                let one = self.number(1);
                let before = self.op(Op::Isub, &[drop, one]);
                let half = self.op(Op::Shl, &[one, before]);
                let odd = self.op(Op::And, &[units, one]);
                // More than half, or half and odd.
                let rest = self.op(Op::Iadd, &[rest, odd]);
                Some(self.op(Op::IcmpUlt, &[half, rest]))
            }
            Round::Zero => None,
            Round::Up | Round::Down => {
                let inexact = self.with(Op::IcmpNe, rest, 0);
                let side = if round == Round::Up { self.not(n.negative) } else { n.negative };
                Some(self.both(inexact, side))
            }
        };
        let units = match up {
            Some(up) => {
                let up = self.bit(up);
                self.op(Op::Iadd, &[units, up])
            }
            None => units,
        };
        // For normals `units` has the hidden bit: adding it carries into the exponent field as it must.
        let (above, last) = (self.with(Op::Isub, unit, signed(least)), self.number(to.format.last_field()));
        let field = self.op(Op::Imin, &[above, last]);
        let field = self.with(Op::Shl, field, fraction.into());
        let bits = self.op(Op::Iadd, &[field, units]);
        let [infinity, largest] = [to.format.infinity(), to.format.infinity() - 1].map(|v| self.number(v));
        let beyond = match round {
            Round::Natural | Round::Even => infinity,
            Round::Zero => largest,
            Round::Up => self.select(n.negative, largest, infinity),
            Round::Down => self.select(n.negative, infinity, largest),
        };
        let fits = self.op(Op::IcmpUlt, &[bits, infinity]);
        let bits = self.select(fits, bits, beyond);
        let bits = if to.flags.ftz() {
            let (tiny, zero) = (self.with(Op::IcmpUlt, bits, 1 << fraction), self.number(0));
            self.select(tiny, zero, bits)
        } else {
            bits
        };
        self.with_sign(to.format, n.negative, bits)
    }

    pub fn with_sign(&mut self, format: Format, negative: Value, bits: Value) -> Value {
        let (sign, zero) = (self.number(format.sign()), self.number(0));
        let sign = self.select(negative, sign, zero);
        self.op(Op::Or, &[bits, sign])
    }

    /// Infinities, NaNs and `sat` on the bits of a finite result.
    pub fn finished(
        &mut self,
        to: Result,
        finite: Value,
        infinite: Value,
        negative: Value,
        nan: Value,
    ) -> Value {
        let infinity = self.number(to.format.infinity());
        let infinity = self.with_sign(to.format, negative, infinity);
        let mut bits = self.select(infinite, infinity, finite);
        let mut not_a_number = to.format.nan();
        if to.flags.sat() {
            let (one, zero) = (self.number(to.format.one()), self.number(0));
            let below = self.with(Op::And, bits, to.format.sign());
            let below = self.with(Op::IcmpNe, below, 0);
            // Positive floats compare like their bits.
            let clamped = self.op(Op::Umin, &[bits, one]);
            bits = self.select(below, zero, clamped);
            not_a_number = 0;
        }
        let not_a_number = self.number(not_a_number);
        self.select(nan, not_a_number, bits)
    }

    /// `a * b`, plus `c` if there is one, of floats of the result's format.
    pub fn product_and_sum(&mut self, to: Result, [a, b]: [Value; 2], c: Option<Value>) -> Value {
        let (format, flags) = (to.format, to.flags);
        let [a, b] = [a, b].map(|bits| self.parts(format, flags, bits));
        let mut negative = self.op(Op::Xor, &[a.negative, b.negative]);
        let mut infinite = self.either(a.infinite, b.infinite);
        let mut nan = self.either(a.nan, b.nan);
        let either_zero = self.either(a.zero, b.zero);
        // Zero by infinity: an infinity's mantissa is not zero here.
        let undefined = self.both(either_zero, infinite);
        let numbers = self.not(nan);
        let wins = if flags.fmz() {
            Some(either_zero)
        } else if flags.zero_wins() {
            Some(self.both(undefined, numbers))
        } else {
            nan = self.either(nan, undefined);
            None
        };
        if let Some(wins) = wins {
            let loses = self.not(wins);
            [negative, infinite, nan] = [negative, infinite, nan].map(|v| self.both(v, loses));
        }
        let words = if format.kind == Kind::F64 { 2 } else { 1 };
        let product = Number {
            negative,
            magnitude: self.product(words, a.mantissa, b.mantissa),
            exponent: self.op(Op::Iadd, &[a.exponent, b.exponent]),
        };
        let Some(c) = c else {
            let finite = self.rounded(to, product);
            return self.finished(to, finite, infinite, negative, nan);
        };
        let c = self.parts(format, flags, c);
        let mut addend = Wide::from_slice(&[c.mantissa]);
        if words == 2 {
            addend.push(self.number(0));
        }
        let addend = Number { negative: c.negative, magnitude: addend, exponent: c.exponent };
        let sum = self.sum(product, addend, flags.round());
        let finite = self.rounded(to, sum);
        // Opposite infinities.
        let both = self.both(infinite, c.infinite);
        let differ = self.op(Op::Xor, &[negative, c.negative]);
        let opposite = self.both(both, differ);
        nan = self.either(nan, c.nan);
        nan = self.either(nan, opposite);
        let negative = self.select(infinite, negative, c.negative);
        infinite = self.either(infinite, c.infinite);
        self.finished(to, finite, infinite, negative, nan)
    }

    /// `a + b`.
    pub fn add_floats(&mut self, to: Result, a: Value, b: Value) -> Value {
        let one = self.number(to.format.one());
        self.product_and_sum(to, [a, one], Some(b))
    }

    /// The float with the other sign.
    pub fn negated(&mut self, format: Format, a: Value) -> Value {
        self.with(Op::Xor, a, format.sign())
    }

    /// A float of another format.
    pub fn convert_float(&mut self, from: Format, to: Result, bits: Value) -> Value {
        let parts = self.parts(from, to.flags, bits);
        let number = Number {
            negative: parts.negative,
            magnitude: Wide::from_slice(&[parts.mantissa]),
            exponent: parts.exponent,
        };
        let finite = self.rounded(to, number);
        self.finished(to, finite, parts.infinite, parts.negative, parts.nan)
    }

    /// The float of an integer that fills its word, by its sign if it has one.
    pub fn convert_int(&mut self, to: Result, signed: bool, v: Value) -> Value {
        let (zero, no) = (self.number(0), self.0.bool(false));
        let negative = if signed { self.op(Op::IcmpSlt, &[v, zero]) } else { no };
        let magnitude = if signed { self.op(Op::Iabs, &[v]) } else { v };
        // The highest bit may be set, which rounding has no room for.
        let top = self.with(Op::Ushr, magnitude, 63);
        let magnitude = self.jam(&[magnitude], top);
        let number = Number { negative, magnitude, exponent: top };
        let finite = self.rounded(to, number);
        self.finished(to, finite, no, negative, no)
    }
}
