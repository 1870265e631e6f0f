//! Lanes of constants as text.
//!
//! Integers are decimal up to 9999 and hexadecimal above; floats are the shortest decimal that reads back, with a
//! point or an exponent, and hexadecimal bits where they are not finite.

use crate::fold::convert::{f16_bits, f16_value};
use crate::ty::Kind;
use std::fmt;
use thiserror::Error;

/// Why a literal is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LiteralError {
    /// It is no number, or one of the wrong sort.
    #[error("expected a literal of type {}", .0.name())]
    Malformed(Kind),
    /// It has more bits than the type.
    #[error("literal does not fit {}", .0.name())]
    TooLarge(Kind),
}

/// An unsigned number: small ones in decimal.
pub(super) struct Number(pub u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 <= 9999 { write!(f, "{}", self.0) } else { write!(f, "{:#x}", self.0) }
    }
}

/// A lane of `kind`; the bits are within the kind's mask.
pub(super) struct Lane(pub Kind, pub u64);

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lane(kind, bits) = *self;
        match kind {
            Kind::Bool => f.write_str(if bits == 0 { "false" } else { "true" }),
            Kind::F16 if f16_value(bits).is_finite() => write!(f, "{:?}", f16_value(bits) as f32),
            Kind::F32 if f32::from_bits(bits as u32).is_finite() => {
                write!(f, "{:?}", f32::from_bits(bits as u32))
            }
            Kind::F64 if f64::from_bits(bits).is_finite() => write!(f, "{:?}", f64::from_bits(bits)),
            _ if kind.is_float() => write!(f, "{bits:#x}"),
            _ => Number(bits).fmt(f),
        }
    }
}

/// An unsigned number, decimal or `0x`; `None` if it is none or exceeds 64 bits.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(hex) => (hex, 16),
        None => (text, 10),
    };
    // `from_str_radix` would take a sign.
    let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if plain { u64::from_str_radix(digits, radix).ok() } else { None }
}

/// The bits of a lane of `kind`. Integers may be negative; floats have a point, an exponent, or are bits in `0x`.
pub(super) fn parse_lane(kind: Kind, text: &str) -> Result<u64, LiteralError> {
    let malformed = LiteralError::Malformed(kind);
    let too_large = LiteralError::TooLarge(kind);
    let fits = |bits: u64| if bits & !kind.mask() == 0 { Ok(bits) } else { Err(too_large) };
    if kind == Kind::Bool {
        return match text {
            "false" => Ok(0),
            "true" => Ok(1),
            _ => Err(malformed),
        };
    }
    if !kind.is_float() {
        if let Some(magnitude) = text.strip_prefix('-') {
            let magnitude = parse_number(magnitude).ok_or(malformed)?;
            let least = 1u64 << (kind.bits() - 1);
            return if magnitude <= least {
                Ok(magnitude.wrapping_neg() & kind.mask())
            } else {
                Err(too_large)
            };
        }
        return fits(parse_number(text).ok_or(malformed)?);
    }
    if text.starts_with("0x") {
        return fits(parse_number(text).ok_or(malformed)?);
    }
    let starts = text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit());
    if !starts || !text.contains(['.', 'e']) {
        return Err(malformed);
    }
    let (bits, finite) = match kind {
        Kind::F32 => text.parse::<f32>().map(|x| (u64::from(x.to_bits()), x.is_finite())),
        Kind::F64 => text.parse::<f64>().map(|x| (x.to_bits(), x.is_finite())),
        _ => text.parse::<f64>().map(|x| (f16_bits(x), f16_value(f16_bits(x)).is_finite())),
    }
    .map_err(|_| malformed)?;
    if finite { Ok(bits) } else { Err(too_large) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(kind: Kind, bits: u64) {
        let text = Lane(kind, bits).to_string();
        assert_eq!(parse_lane(kind, &text), Ok(bits), "{kind:?} {text}");
    }

    #[test]
    fn every_half_reads_back() {
        (0..=0xffff).for_each(|bits| round_trip(Kind::F16, bits));
    }

    #[test]
    fn edges_read_back() {
        for kind in Kind::ALL {
            for shift in 0..64 {
                for bits in
                    [1u64 << shift, (1 << shift) - 1, u64::MAX << shift, 0x9e37_79b9_7f4a_7c15 >> shift]
                {
                    round_trip(kind, bits & kind.mask());
                }
            }
        }
    }

    #[test]
    fn readable() {
        assert_eq!(Lane(Kind::F32, 0x3fc0_0000).to_string(), "1.5");
        assert_eq!(Lane(Kind::F32, 0x8000_0000).to_string(), "-0.0");
        assert_eq!(Lane(Kind::F32, 0x7f80_0000).to_string(), "0x7f800000");
        assert_eq!(Lane(Kind::I32, 70).to_string(), "70");
        assert_eq!(Lane(Kind::I32, 0xffff_ffff).to_string(), "0xffffffff");
        assert_eq!(Lane(Kind::Bool, 1).to_string(), "true");
    }

    #[test]
    fn refused() {
        assert_eq!(parse_lane(Kind::I8, "-1"), Ok(0xff));
        assert_eq!(parse_lane(Kind::I8, "-128"), Ok(0x80));
        assert_eq!(parse_lane(Kind::I8, "-129"), Err(LiteralError::TooLarge(Kind::I8)));
        assert_eq!(parse_lane(Kind::I8, "256"), Err(LiteralError::TooLarge(Kind::I8)));
        assert_eq!(parse_lane(Kind::F16, "65520.0"), Err(LiteralError::TooLarge(Kind::F16)));
        assert_eq!(parse_lane(Kind::F32, "1e39"), Err(LiteralError::TooLarge(Kind::F32)));
        for (kind, bad) in [
            (Kind::F32, "1"),
            (Kind::F32, "inf"),
            (Kind::F32, "nan"),
            (Kind::I32, "+1"),
            (Kind::I32, "0x"),
            (Kind::I32, "--1"),
            (Kind::I32, "1.0"),
            (Kind::Bool, "1"),
            (Kind::I32, ""),
        ] {
            assert_eq!(parse_lane(kind, bad), Err(LiteralError::Malformed(kind)), "{bad}");
        }
    }
}
