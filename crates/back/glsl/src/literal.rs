//! Constants, exact to the bit.

use crate::error::Error;
use std::fmt::Write;
use xenoglot_ir::{Kind, Type};

/// Writes a number in decimal: what `write!` costs shows where most of the text is numbers.
pub(crate) fn push_number(out: &mut String, mut n: u32) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    while at > 0 {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&d| char::from(d)));
}

/// Writes one lane. Returns whether the text starts with a minus sign.
pub(crate) fn lane(out: &mut String, kind: Kind, bits: u64) -> Result<bool, Error> {
    // Writing to a String cannot fail.
    let mut minus = false;
    let _ = match kind {
        Kind::Bool => out.write_str(if bits == 0 { "false" } else { "true" }),
        Kind::I32 if bits < 0x1_0000 => {
            push_number(out, bits as u32);
            out.write_str("u")
        }
        Kind::I32 if bits >= 0xffff_0000 => {
            minus = bits != 0xffff_ffff;
            if minus { write!(out, "-{}u", 0x1_0000_0000 - bits) } else { out.write_str("0xffffffffu") }
        }
        Kind::I32 => write!(out, "{bits:#x}u"),
        Kind::I64 if bits < 0x1_0000 => write!(out, "{bits}ul"),
        Kind::I64 => write!(out, "{bits:#x}ul"),
        Kind::F32 => {
            let x = f32::from_bits(bits as u32);
            if reads_back(x) {
                minus = x.is_sign_negative();
                write!(out, "{x:?}")
            } else {
                write!(out, "uintBitsToFloat({bits:#x}u)")
            }
        }
        Kind::I8 => write!(out, "uint8_t({bits}u)"),
        Kind::I16 => write!(out, "uint16_t({bits}u)"),
        Kind::F16 => write!(out, "uint16BitsToFloat16(uint16_t({bits:#x}u))"),
        Kind::F64 => {
            let x = f64::from_bits(bits);
            if x.fract() == 0.0 && x.abs() < 1e7 {
                minus = x.is_sign_negative();
                write!(out, "{x:?}lf")
            } else {
                write!(out, "packDouble2x32(uvec2({:#x}u, {:#x}u))", bits as u32, bits >> 32)
            }
        }
        _ => return Err(Error::Malformed("a constant of a kind without literals")),
    };
    Ok(minus)
}

/// Whether the shortest decimal of `x` gives `x` also to a compiler that reads it as a double first, and that
/// flushes denormals.
fn reads_back(x: f32) -> bool {
    if x == 0.0 || (x.fract() == 0.0 && x.abs() < 1e7) {
        return true;
    }
    // Seventeen significant bits or fewer have a short decimal far from any midpoint.
    x.is_normal() && (x.to_bits().trailing_zeros() >= 7 || shortest_is_safe(x))
}

fn shortest_is_safe(x: f32) -> bool {
    let mut text = Digits { bytes: [0; 32], len: 0 };
    let written = write!(text, "{x:?}").is_ok();
    let text = text.bytes.get(..text.len).and_then(|b| std::str::from_utf8(b).ok());
    written && text.and_then(|t| t.parse::<f64>().ok()).is_some_and(|d| (d as f32).to_bits() == x.to_bits())
}

/// A number's text on the stack.
struct Digits {
    bytes: [u8; 32],
    len: usize,
}

impl Write for Digits {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let to = self.bytes.get_mut(self.len..self.len + s.len()).ok_or(std::fmt::Error)?;
        to.copy_from_slice(s.as_bytes());
        self.len += s.len();
        Ok(())
    }
}

/// The GLSL name of a type.
pub(crate) fn type_name(ty: Type) -> Result<&'static str, Error> {
    const NAMES: [[&str; 4]; 8] = [
        ["bool", "bvec2", "bvec3", "bvec4"],
        ["uint", "uvec2", "uvec3", "uvec4"],
        ["float", "vec2", "vec3", "vec4"],
        ["uint64_t", "u64vec2", "u64vec3", "u64vec4"],
        ["double", "dvec2", "dvec3", "dvec4"],
        ["float16_t", "f16vec2", "f16vec3", "f16vec4"],
        ["uint16_t", "u16vec2", "u16vec3", "u16vec4"],
        ["uint8_t", "u8vec2", "u8vec3", "u8vec4"],
    ];
    let row = match ty.kind() {
        Kind::Bool => 0,
        Kind::I32 => 1,
        Kind::F32 => 2,
        Kind::I64 => 3,
        Kind::F64 => 4,
        Kind::F16 => 5,
        Kind::I16 => 6,
        Kind::I8 => 7,
        _ => return Err(Error::Malformed("a type without GLSL form")),
    };
    NAMES[row].get(usize::from(ty.lanes()) - 1).copied().ok_or(Error::Malformed("more than four lanes"))
}

/// The signed type with the same lanes as an integer type.
pub(crate) fn signed_name(kind: Kind, lanes: u8) -> &'static str {
    const NAMES: [[&str; 4]; 4] = [
        ["int", "ivec2", "ivec3", "ivec4"],
        ["int64_t", "i64vec2", "i64vec3", "i64vec4"],
        ["int16_t", "i16vec2", "i16vec3", "i16vec4"],
        ["int8_t", "i8vec2", "i8vec3", "i8vec4"],
    ];
    let row = match kind {
        Kind::I64 => 1,
        Kind::I16 => 2,
        Kind::I8 => 3,
        _ => 0,
    };
    NAMES[row][usize::from(lanes.clamp(1, 4)) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: Kind, bits: u64) -> String {
        let mut out = String::new();
        lane(&mut out, kind, bits).unwrap();
        out
    }

    #[test]
    fn floats_are_short_and_exact() {
        let f = |x: f32| text(Kind::F32, u64::from(x.to_bits()));
        assert_eq!(f(1.0), "1.0");
        assert_eq!(f(-0.0), "-0.0");
        assert_eq!(f(0.1), "0.1");
        assert_eq!(f(1e-7), "1e-7");
        assert_eq!(f(f32::INFINITY), "uintBitsToFloat(0x7f800000u)");
        assert_eq!(f(f32::NAN), "uintBitsToFloat(0x7fc00000u)");
        assert_eq!(f(1e-40), "uintBitsToFloat(0x116c2u)");
        let mut bits = 1u32;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let t = text(Kind::F32, u64::from(bits));
            if let Ok(d) = t.parse::<f64>() {
                assert_eq!((d as f32).to_bits(), bits, "{t}");
            }
        }
    }

    #[test]
    fn integers() {
        assert_eq!(text(Kind::I32, 12), "12u");
        assert_eq!(text(Kind::I32, 0xffff_fffe), "-2u");
        assert_eq!(text(Kind::I32, 0xffff_ffff), "0xffffffffu");
        assert_eq!(text(Kind::I32, 0x8000_0000), "0x80000000u");
        assert_eq!(text(Kind::I64, 0x8000_0000), "0x80000000ul");
    }
}
