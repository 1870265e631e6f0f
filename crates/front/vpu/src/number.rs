//! The two number types registers can have, and what operations make of them.
//!
//! **Fixed point** is two's complement with 8, 10, 12, 14 or 16 fraction bits. Everything saturates and nothing wraps:
//! sums, differences, each product and each partial sum of MAD, DP3 and DP4 are clamped to what 32 bits hold. Products
//! are rounded down. RCP of zero is the greatest number, otherwise its magnitude is rounded down and clamped to the
//! greatest number; RSQ of zero and less is the greatest number, otherwise it has 16 significant bits, as
//! [`rsq`] says.
//!
//! **Float** is IEEE 754 single, denormals kept, rounded to nearest even, nothing fused; a NaN that arithmetic makes is
//! `0x7fc00000`; MIN and MAX of two NaNs give the second as it is. RSQ is the rounded reciprocal of the rounded root.
//! Comparisons with NaNs are false.

use crate::isa::Op;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Lanes of a register.
pub const LANES: usize = 4;

/// A register's contents as bits.
pub type Lanes = [u32; LANES];

/// The number of fraction bits of a fixed-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction(u8);

impl Fraction {
    /// 8, 10, 12, 14 or 16 bits.
    pub fn new(bits: u8) -> Option<Fraction> {
        matches!(bits, 8 | 10 | 12 | 14 | 16).then_some(Fraction(bits))
    }

    /// How many.
    pub fn bits(self) -> u32 {
        self.0.into()
    }

    /// The number 1.
    pub fn one(self) -> i32 {
        1 << self.0
    }
}

/// What numbers registers hold. Serialised as its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Number {
    /// Fixed point.
    Fixed(Fraction),
    /// IEEE single.
    Float,
}

/// s16.16.
impl Default for Number {
    fn default() -> Number {
        Number::Fixed(Fraction(16))
    }
}

/// A number type that does not exist.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no number type {0:?}; there are f32, s16.16, s18.14, s20.12, s22.10 and s24.8")]
pub struct UnknownNumber(String);

impl FromStr for Number {
    type Err = UnknownNumber;

    fn from_str(text: &str) -> Result<Number, UnknownNumber> {
        [8, 10, 12, 14, 16]
            .map(|bits| Number::Fixed(Fraction(bits)))
            .into_iter()
            .chain([Number::Float])
            .find(|n| n.to_string() == text)
            .ok_or_else(|| UnknownNumber(text.into()))
    }
}

impl TryFrom<String> for Number {
    type Error = UnknownNumber;

    fn try_from(text: String) -> Result<Number, UnknownNumber> {
        text.parse()
    }
}

impl From<Number> for String {
    fn from(number: Number) -> String {
        number.to_string()
    }
}

/// As parameters write it: `f32`, or `s16.16` with the bits before the point, sign included, and after it.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Fixed(fraction) => write!(f, "s{}.{}", 32 - fraction.bits(), fraction.bits()),
            Number::Float => f.write_str("f32"),
        }
    }
}

impl Number {
    /// The number nearest to `v` (down for fixed point); NaN becomes 0 in fixed point.
    pub fn number_of(self, v: f64) -> u32 {
        match self {
            Number::Fixed(f) => (v * f64::from(f.one())).floor() as i32 as u32,
            Number::Float => canonical(v as f32),
        }
    }

    /// The value of a number.
    pub fn value_of(self, bits: u32) -> f64 {
        match self {
            Number::Fixed(f) => f64::from(bits as i32) / f64::from(f.one()),
            Number::Float => f64::from(f32::from_bits(bits)),
        }
    }

    /// `n / 2^shift`, exact for what the machine makes of it; `shift` is at most 31.
    pub fn ratio(self, n: i32, shift: u32) -> u32 {
        match self {
            Number::Fixed(f) if f.bits() >= shift => {
                let wide = i64::from(n) << (f.bits() - shift);
                narrow(wide) as u32
            }
            Number::Fixed(f) => (n >> (shift - f.bits())) as u32,
            Number::Float => (n as f32 / (1u32 << shift) as f32).to_bits(),
        }
    }

    /// Clamps to 0–1; a NaN becomes 0.
    #[inline]
    pub fn saturate(self, v: u32) -> u32 {
        match self {
            Number::Fixed(f) => (v as i32).clamp(0, f.one()) as u32,
            Number::Float => {
                let v = f32::from_bits(v);
                if v > 0.0 { v.min(1.0).to_bits() } else { 0 }
            }
        }
    }

    /// Whether it is below zero.
    #[inline]
    pub fn is_negative(self, v: u32) -> bool {
        match self {
            Number::Fixed(_) => (v as i32) < 0,
            Number::Float => f32::from_bits(v) < 0.0,
        }
    }

    /// Whether it is zero.
    #[inline]
    pub fn is_zero(self, v: u32) -> bool {
        match self {
            Number::Fixed(_) => v == 0,
            Number::Float => f32::from_bits(v) == 0.0,
        }
    }

    /// The greatest whole number that is not greater, clamped to 32 bits; a NaN becomes 0.
    #[inline]
    pub fn whole(self, v: u32) -> i32 {
        match self {
            Number::Fixed(f) => v as i32 >> f.bits(),
            Number::Float => f32::from_bits(v).floor() as i32,
        }
    }

    /// A fraction of `max` (255 or less, or 65535) as a number.
    #[inline]
    pub fn unorm(self, v: u32, max: u32) -> u32 {
        match self {
            Number::Fixed(f) => ((v << f.bits()) + max / 2) / max,
            Number::Float => (v as f32 / max as f32).to_bits(),
        }
    }

    /// A number clamped to 0–1 as a fraction of `max` (255 or less, or 65535), rounded to nearest.
    #[inline]
    pub fn quantize(self, v: u32, max: u32) -> u32 {
        let v = self.saturate(v);
        match self {
            Number::Fixed(f) => (v * max + (1 << (f.bits() - 1))) >> f.bits(),
            Number::Float => (f32::from_bits(v) * max as f32 + 0.5) as u32,
        }
    }

    /// What an arithmetic operation gives. Other operations give `a`.
    #[inline]
    pub fn alu(self, op: Op, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
        match self {
            Number::Fixed(f) => fixed(f, op, a, b, c),
            Number::Float => float(op, a, b, c),
        }
    }
}

fn canonical(v: f32) -> u32 {
    if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() }
}

fn narrow(v: i64) -> i32 {
    v.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

#[inline]
fn lanes2(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    std::array::from_fn(|i| f(a[i], b[i]))
}

#[inline]
fn int2(a: &Lanes, b: &Lanes, f: impl Fn(i32, i32) -> i32) -> Lanes {
    lanes2(a, b, |a, b| f(a as i32, b as i32) as u32)
}

#[inline]
fn float2(a: &Lanes, b: &Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    lanes2(a, b, |a, b| canonical(f(f32::from_bits(a), f32::from_bits(b))))
}

#[inline]
fn select(a: &Lanes, b: &Lanes, which: impl Fn(usize) -> bool) -> Lanes {
    std::array::from_fn(|i| if which(i) { a[i] } else { b[i] })
}

/// `1 / x` in fixed point.
pub fn rcp(f: Fraction, x: i32) -> i32 {
    let Some(quotient) = (1u64 << (2 * f.bits())).checked_div(x.unsigned_abs().into()) else {
        return i32::MAX;
    };
    let magnitude = quotient.min(i32::MAX as u64) as i32;
    if x < 0 { -magnitude } else { magnitude }
}

/// `1 / sqrt(x)` in fixed point.
///
/// The operand is shifted left by an even number of bits until one of its upper two is set. The integer root of that
/// has 16 bits, and `2^31` divided by it has 16 or 17; that is shifted to where the point is, bits falling off.
pub fn rsq(f: Fraction, x: i32) -> i32 {
    if x <= 0 {
        return i32::MAX;
    }
    let shift = x.leading_zeros() & !1;
    let quotient = 0x8000_0000 / ((x as u32) << shift).isqrt();
    ((quotient << 14) >> rsq_shift(f, shift / 2).min(31)) as i32
}

/// How far RSQ shifts its quotient, times `2^14`, to the right after a normalisation by twice `half` bits.
pub(crate) fn rsq_shift(f: Fraction, half: u32) -> u32 {
    45 - 3 * f.bits() / 2 - half
}

fn fixed(f: Fraction, op: Op, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let mul = |x: i32, y: i32| narrow((i64::from(x) * i64::from(y)) >> f.bits());
    let product = |i: usize| mul(a[i] as i32, b[i] as i32);
    let truth = |yes: bool| if yes { f.one() } else { 0 };
    match op {
        Op::Add => int2(a, b, i32::saturating_add),
        Op::Sub => int2(a, b, i32::saturating_sub),
        Op::Mul => int2(a, b, mul),
        Op::Mad => std::array::from_fn(|i| product(i).saturating_add(c[i] as i32) as u32),
        Op::Dp3 => [product(0).saturating_add(product(1)).saturating_add(product(2)) as u32; LANES],
        Op::Dp4 => {
            let sum = product(0).saturating_add(product(1)).saturating_add(product(2));
            [sum.saturating_add(product(3)) as u32; LANES]
        }
        Op::Min => int2(a, b, i32::min),
        Op::Max => int2(a, b, i32::max),
        Op::Abs => a.map(|v| (v as i32).saturating_abs() as u32),
        Op::Neg => a.map(|v| 0i32.saturating_sub(v as i32) as u32),
        Op::Rcp => [rcp(f, a[0] as i32) as u32; LANES],
        Op::Rsq => [rsq(f, a[0] as i32) as u32; LANES],
        Op::Floor => a.map(|v| (v as i32 & -f.one()) as u32),
        Op::Frac => a.map(|v| (v as i32 & (f.one() - 1)) as u32),
        Op::Slt => int2(a, b, |a, b| truth(a < b)),
        Op::Sge => int2(a, b, |a, b| truth(a >= b)),
        Op::Seq => int2(a, b, |a, b| truth(a == b)),
        Op::Sel => select(a, b, |i| c[i] != 0),
        _ => *a,
    }
}

fn float(op: Op, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let lane = |v: &Lanes, i: usize| f32::from_bits(v[i]);
    let product = |i: usize| lane(a, i) * lane(b, i);
    let truth = |yes: bool| if yes { 1.0 } else { 0.0 };
    // One of the operands as it is: of equal ones the second, which tells zeros apart, and of two NaNs, too.
    let pick = |a: u32, b: u32, first: fn(f32, f32) -> bool| {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        if !x.is_nan() && (y.is_nan() || first(x, y)) { a } else { b }
    };
    match op {
        Op::Add => float2(a, b, |a, b| a + b),
        Op::Sub => float2(a, b, |a, b| a - b),
        Op::Mul => float2(a, b, |a, b| a * b),
        Op::Mad => std::array::from_fn(|i| canonical(product(i) + lane(c, i))),
        Op::Dp3 => [canonical(product(0) + product(1) + product(2)); LANES],
        Op::Dp4 => [canonical(product(0) + product(1) + product(2) + product(3)); LANES],
        Op::Min => lanes2(a, b, |a, b| pick(a, b, |a, b| a < b)),
        Op::Max => lanes2(a, b, |a, b| pick(a, b, |a, b| a > b)),
        Op::Abs => a.map(|v| v & 0x7fff_ffff),
        Op::Neg => a.map(|v| v ^ 0x8000_0000),
        Op::Rcp => [canonical(1.0 / lane(a, 0)); LANES],
        Op::Rsq => [canonical(1.0 / lane(a, 0).sqrt()); LANES],
        Op::Floor => float2(a, a, |v, _| v.floor()),
        Op::Frac => float2(a, a, |v, _| v - v.floor()),
        Op::Slt => float2(a, b, |a, b| truth(a < b)),
        Op::Sge => float2(a, b, |a, b| truth(a >= b)),
        Op::Seq => float2(a, b, |a, b| truth(a == b)),
        Op::Sel => select(a, b, |i| lane(c, i) != 0.0),
        _ => *a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn splits() -> [Fraction; 5] {
        [8, 10, 12, 14, 16].map(|bits| Fraction::new(bits).unwrap())
    }

    #[test]
    fn number_types_have_names() {
        assert_eq!("s16.16".parse(), Ok(Number::default()));
        assert_eq!("f32".parse(), Ok(Number::Float));
        assert_eq!("s24.8".parse(), Ok(Number::Fixed(Fraction(8))));
        assert!("s8.24".parse::<Number>().is_err());
    }

    #[test]
    fn components_come_back_from_registers() {
        for number in [Number::default(), Number::Float] {
            for max in [31, 63, 255, 65535] {
                assert!((0..=max).all(|v| number.quantize(number.unorm(v, max), max) == v));
            }
        }
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn reciprocals_are_near(x in 1i32.., shift in 0u32..31) {
            for f in splits() {
                let x = (x >> shift).max(1);
                let value = f64::from(x) / f64::from(f.one());
                let near = |got: i32, want: f64| {
                    let want = (want * f64::from(f.one())).min(i32::MAX.into());
                    (f64::from(got) - want).abs() <= 1.0 + want / 32768.0
                };
                prop_assert!(near(rcp(f, x), 1.0 / value), "rcp {x} {f:?}");
                prop_assert!(near(rsq(f, x), 1.0 / value.sqrt()), "rsq {x} {f:?} {}", rsq(f, x));
                prop_assert_eq!(rcp(f, -x), -rcp(f, x));
            }
        }
    }
}
