//! Floats as the vendor prints them: C's `%.20g`, `%.20e` from 1e9 on, with names for what is not finite.

use std::fmt::{self, Write};

/// Digits printed at most.
const DIGITS: usize = 20;

/// From here on numbers have an exponent.
const LARGE: f64 = 1e9;

/// Writes a double; `quiet` tells the kind of a NaN.
pub(crate) fn write_float(out: &mut dyn Write, value: f64, quiet: bool) -> fmt::Result {
    if value.is_nan() {
        let sign = if value.is_sign_negative() { '-' } else { '+' };
        return write!(out, "{sign}{}NAN ", if quiet { 'Q' } else { 'S' });
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "+INF " } else { "-INF " });
    }
    if value == 0.0 {
        return out.write_str(if value.is_sign_negative() { "-0.0 " } else { "0" });
    }
    if value.abs() >= LARGE {
        let text = format!("{value:.DIGITS$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return write!(out, "{mantissa}e+{exponent:0>2}");
    }
    let text = format!("{:.*e}", DIGITS - 1, value);
    let Some((mantissa, exponent)) = text.split_once('e') else { return out.write_str(&text) };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    out.write_str(sign)?;
    let (first, rest) = digits.split_at(1.min(digits.len()));
    if exponent < -4 {
        let point = if rest.is_empty() { "" } else { "." };
        return write!(out, "{first}{point}{rest}e-{:02}", exponent.abs());
    }
    let whole = exponent + 1;
    if whole <= 0 {
        return write!(out, "0.{:0<1$}{digits}", "", whole.unsigned_abs() as usize);
    }
    let whole = whole as usize;
    match digits.split_at_checked(whole) {
        Some((whole, "")) => out.write_str(whole),
        Some((whole, fraction)) => write!(out, "{whole}.{fraction}"),
        None => write!(out, "{digits:0<whole$}"),
    }
}

/// Writes a single by its bits; every NaN is quiet.
pub(crate) fn write_f32(out: &mut dyn Write, bits: u32) -> fmt::Result {
    write_float(out, f64::from(f32::from_bits(bits)), true)
}

/// Writes a double by its bits.
pub(crate) fn write_f64(out: &mut dyn Write, bits: u64) -> fmt::Result {
    write_float(out, f64::from_bits(bits), bits & (1 << 51) != 0)
}

/// Writes a half by its bits; every NaN is quiet.
pub(crate) fn write_f16(out: &mut dyn Write, bits: u16) -> fmt::Result {
    let magnitude = bits & 0x7fff;
    let (exponent, mantissa) = (i32::from(magnitude >> 10), f64::from(magnitude & 0x3ff));
    let value = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    };
    let value = if bits >> 15 != 0 { -value } else { value };
    write_float(out, value, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut String) -> fmt::Result) -> String {
        let mut out = String::new();
        assert!(write(&mut out).is_ok());
        out
    }

    #[test]
    fn singles() {
        let f = |v: f32| text(|out| write_f32(out, v.to_bits()));
        assert_eq!(f(1.0), "1");
        assert_eq!(f(-0.5), "-0.5");
        assert_eq!(f(0.1), "0.10000000149011611938");
        assert_eq!(f(0.0001), "9.9999997473787516356e-05");
        assert_eq!(f(0.00390625), "0.00390625");
        assert_eq!(f(16777216.0), "16777216");
        assert_eq!(f(1e30), "1.00000001504746621988e+30");
        assert_eq!(f(f32::INFINITY), "+INF ");
        assert_eq!(f(-0.0), "-0.0 ");
        assert_eq!(text(|out| write_f32(out, 1)), "1.4012984643248170709e-45");
    }

    #[test]
    fn halves() {
        let f = |v: u16| text(|out| write_f16(out, v));
        assert_eq!(f(0x3c00), "1");
        assert_eq!(f(1), "5.9604644775390625e-08");
        assert_eq!(f(0xfe00), "-QNAN ");
        assert_eq!(f(0x7d00), "+QNAN ");
        assert_eq!(f(0xf3f8), "-16320");
    }
}
