//! Exact sums and products of finite floats, rounded once in any direction: what hosts have no mode for.

use super::float::is_nan;
use crate::flags::Round;
use crate::ty::Kind;

/// Where the top bit of a magnitude that is not zero lies: room for a carry above, and enough below that bits
/// shifted out never meet a cancellation of more than one bit.
const TOP: u32 = 125;

/// A finite number: `magnitude * 2^exponent`, the lowest bit of the magnitude standing for all that lies below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

/// Fraction bits and exponent of the least denormal.
fn format(kind: Kind) -> Option<(u32, i32)> {
    match kind {
        Kind::F16 => Some((10, -24)),
        Kind::F32 => Some((23, -149)),
        Kind::F64 => Some((52, -1074)),
        _ => None,
    }
}

impl Exact {
    fn new(negative: bool, magnitude: u128, exponent: i32) -> Exact {
        let shift = magnitude.leading_zeros();
        if magnitude == 0 {
            return Exact { negative, magnitude, exponent: 0 };
        }
        let up = shift as i32 - (127 - TOP as i32);
        let magnitude = if up >= 0 { magnitude << up } else { jam(magnitude, -up as u32) };
        Exact { negative, magnitude, exponent: exponent - up }
    }

    /// The value of `bits`; `None` for infinities, NaNs, and kinds that are no floats.
    pub fn from_float(kind: Kind, bits: u64) -> Option<Exact> {
        let (fraction, least) = format(kind)?;
        let width = kind.bits();
        let field = bits >> fraction & ((1 << (width - 1 - fraction)) - 1);
        let low = bits & ((1 << fraction) - 1);
        if is_nan(kind, bits) || is_nan(kind, bits | 1) {
            return None;
        }
        let (mantissa, exponent) =
            if field == 0 { (low, least) } else { (low | 1 << fraction, least + field as i32 - 1) };
        Some(Exact::new(bits >> (width - 1) & 1 != 0, mantissa.into(), exponent))
    }

    /// An integer.
    pub fn from_int(v: i128) -> Exact {
        Exact::new(v < 0, v.unsigned_abs(), 0)
    }

    /// The product. The factors are floats as they came.
    pub fn mul(self, other: Exact) -> Exact {
        // Mantissas have at most 53 bits, so nothing is lost.
        let narrow = |e: Exact| (e.magnitude >> (TOP - 62), e.exponent + (TOP as i32 - 62));
        let ((a, x), (b, y)) = (narrow(self), narrow(other));
        Exact::new(self.negative != other.negative, a * b, x + y)
    }

    /// The sum; `round` decides the sign of a zero made of opposite operands.
    pub fn add(self, other: Exact, round: Round) -> Exact {
        let (a, b) = match (self.magnitude, other.magnitude) {
            (0, 0) if self.negative == other.negative => return self,
            (0, 0) => return Exact::new(round == Round::Down, 0, 0),
            (0, _) => return other,
            (_, 0) => return self,
            _ if self.exponent >= other.exponent => (self, other),
            _ => (other, self),
        };
        let low = jam(b.magnitude, (a.exponent - b.exponent) as u32);
        if a.negative == b.negative {
            return Exact::new(a.negative, a.magnitude + low, a.exponent);
        }
        match a.magnitude.checked_sub(low) {
            Some(0) => Exact::new(round == Round::Down, 0, 0),
            Some(rest) => Exact::new(a.negative, rest, a.exponent),
            None => Exact::new(b.negative, low - a.magnitude, a.exponent),
        }
    }

    /// The float of `kind` this rounds to.
    pub fn round(self, kind: Kind, round: Round) -> Option<u64> {
        let (fraction, least) = format(kind)?;
        let width = kind.bits();
        let sign = u64::from(self.negative) << (width - 1);
        if self.magnitude == 0 {
            return Some(sign);
        }
        // One unit in the last place, denormals included.
        let unit = (self.exponent + (TOP - fraction) as i32).max(least);
        let drop = (unit - self.exponent) as u32;
        let (units, rest) = match drop {
            0..=127 => (self.magnitude >> drop, self.magnitude & ((1 << drop) - 1)),
            _ => (0, 1),
        };
        let half = if drop > 127 { u128::MAX } else { 1 << (drop - 1) };
        let up = match round {
            Round::Natural | Round::Even => rest > half || (rest == half && units & 1 == 1),
            Round::Zero => false,
            Round::Up => rest != 0 && !self.negative,
            Round::Down => rest != 0 && self.negative,
        };
        let units = units as u64 + u64::from(up);
        // For normals `units` has the hidden bit: adding it carries into the exponent field as it must.
        let magnitude = ((unit - least) as u64).saturating_mul(1 << fraction).saturating_add(units);
        let infinity = ((1u64 << (width - 1 - fraction)) - 1) << fraction;
        let away = match round {
            Round::Natural | Round::Even => true,
            Round::Zero => false,
            Round::Up => !self.negative,
            Round::Down => self.negative,
        };
        Some(sign | if magnitude < infinity { magnitude } else { infinity - u64::from(!away) })
    }
}

/// `v >> by`, the lowest bit set if anything was shifted out.
fn jam(v: u128, by: u32) -> u128 {
    match by {
        0 => v,
        1..=127 => v >> by | u128::from(v & ((1 << by) - 1) != 0),
        _ => u128::from(v != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns that meet every exponent, dense around the borders.
    fn patterns(width: u32) -> impl Iterator<Item = u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        (0..40_000).map(move |i| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let v = state ^ state >> 29;
            // Long runs of zeros and ones make ties and cancellations.
            let v = if i % 3 == 0 { v & !0 << (v % 50) } else { v };
            v & (u64::MAX >> (64 - width))
        })
    }

    #[test]
    fn nearest_is_what_the_host_computes() {
        let v: Vec<u64> = patterns(32).collect();
        let exact = |x: u64| Exact::from_float(Kind::F32, x);
        for w in v.windows(3) {
            let ([a, b, c], Some(x), Some(y), Some(z)) =
                ([w[0], w[1], w[2]].map(|x| f32::from_bits(x as u32)), exact(w[0]), exact(w[1]), exact(w[2]))
            else {
                continue;
            };
            let same = |e: Exact, host: f32| {
                assert_eq!(
                    e.round(Kind::F32, Round::Even),
                    Some(u64::from(host.to_bits())),
                    "{a:e} {b:e} {c:e}"
                );
            };
            same(x.add(y, Round::Even), a + b);
            same(x.mul(y), a * b);
            same(x.mul(y).add(z, Round::Even), a.mul_add(b, c));
        }
        let v: Vec<u64> = patterns(64).collect();
        let exact = |x: u64| Exact::from_float(Kind::F64, x);
        for w in v.windows(3) {
            let ([a, b, c], Some(x), Some(y), Some(z)) =
                ([w[0], w[1], w[2]].map(f64::from_bits), exact(w[0]), exact(w[1]), exact(w[2]))
            else {
                continue;
            };
            let near = x.mul(y).round(Kind::F64, Round::Even).map(f64::from_bits);
            // An addend near the product, so that most of it cancels.
            let d = near.filter(|n| n.is_finite()).map_or(c, |n| -n);
            let same = |e: Exact, host: f64| {
                assert_eq!(e.round(Kind::F64, Round::Even), Some(host.to_bits()), "{a:e} {b:e} {c:e}");
            };
            same(x.add(y, Round::Even), a + b);
            same(x.mul(y), a * b);
            same(x.mul(y).add(z, Round::Even), a.mul_add(b, c));
            if let Some(w) = exact(d.to_bits()) {
                same(x.mul(y).add(w, Round::Even), a.mul_add(b, d));
            }
            same(x, a);
            let narrow = x.round(Kind::F32, Round::Even);
            assert_eq!(narrow, Some(u64::from((a as f32).to_bits())));
        }
    }

    #[test]
    fn directions_enclose_the_exact_result() {
        let v: Vec<u64> = patterns(32).collect();
        for w in v.windows(2) {
            let (Some(x), Some(y)) = (Exact::from_float(Kind::F32, w[0]), Exact::from_float(Kind::F32, w[1]))
            else {
                continue;
            };
            let to = |r: Round| x.mul(y).round(Kind::F32, r).map(|b| f64::from(f32::from_bits(b as u32)));
            let (Some(down), Some(up), Some(zero), Some(even)) =
                (to(Round::Down), to(Round::Up), to(Round::Zero), to(Round::Even))
            else {
                panic!("{w:x?}");
            };
            let exact = f64::from(f32::from_bits(w[0] as u32)) * f64::from(f32::from_bits(w[1] as u32));
            assert!(down <= exact && exact <= up && (even == up || even == down), "{w:x?}");
            assert_eq!(zero, if exact < 0.0 { up } else { down }, "{w:x?}");
            assert!(down == up || (down as f32).next_up() == up as f32, "{w:x?}");
        }
    }

    #[test]
    fn zeros_of_cancellation_have_the_sign_of_the_direction() {
        let one = Exact::from_int(1);
        let minus = Exact::from_int(-1);
        for (round, bits) in [(Round::Even, 0), (Round::Up, 0), (Round::Zero, 0), (Round::Down, 0x8000_0000)]
        {
            assert_eq!(one.add(minus, round).round(Kind::F32, round), Some(bits));
        }
        assert_eq!(Exact::from_int(i128::from(u64::MAX)).round(Kind::F32, Round::Zero), Some(0x5f7f_ffff));
    }
}
