//! Conversions between kinds.

use super::exact::Exact;
use super::{Cx, Fault, float, sign_extend};
use crate::flags::{Flags, Round};
use crate::ty::{Bits, Kind};

type Folded = Result<u64, Fault>;

/// The value of a half, exact.
pub fn f16_value(bits: u64) -> f64 {
    let (sign, exp, mant) = (bits >> 15 & 1, bits >> 10 & 31, bits & 0x3ff);
    let magnitude = match exp {
        0 => mant as f64 * 2f64.powi(-24),
        31 if mant == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024 + mant) as f64 * 2f64.powi(exp as i32 - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// The half nearest to `x`, ties to even.
pub fn f16_bits(x: f64) -> u64 {
    if x.is_nan() {
        return float::NAN16;
    }
    let sign = u64::from(x.is_sign_negative()) << 15;
    let magnitude = x.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00; // half way to the first value past the largest
    }
    // One unit in the last place at this magnitude, denormals included; the division is exact.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let units = (magnitude / 2f64.powi(exponent - 10)).round_ties_even() as u64;
    // For normals `units` has the hidden bit: adding it carries into the exponent field as it must.
    sign | if units < 1024 && exponent == -14 { units } else { ((exponent + 14) as u64) * 1024 + units }
}

fn to_f64(kind: Kind, bits: u64) -> Result<f64, Fault> {
    match kind {
        Kind::F16 => Ok(f16_value(bits)),
        Kind::F32 => Ok(f64::from(f32::from_bits(bits as u32))),
        Kind::F64 => Ok(f64::from_bits(bits)),
        _ => Err(Fault::Unsupported),
    }
}

fn one(args: &[u64]) -> Folded {
    match args {
        &[a] => Ok(a),
        _ => Err(Fault::Unsupported),
    }
}

/// Low bits.
pub fn trunc_int(cx: &Cx, args: &[u64]) -> Folded {
    Ok(one(args)? & cx.result.kind().mask())
}

/// Zeros above; `bool` becomes 0 or 1.
pub fn zext(_cx: &Cx, args: &[u64]) -> Folded {
    one(args)
}

/// Copies of the sign above; `bool` becomes 0 or all ones.
pub fn sext(cx: &Cx, args: &[u64]) -> Folded {
    Ok(sign_extend(cx.arg.kind(), one(args)?) as u64 & cx.result.kind().mask())
}

/// Float to float.
pub fn f2f(cx: &Cx, args: &[u64]) -> Folded {
    let a = one(args)?;
    let x = to_f64(cx.arg.kind(), a)?;
    let (from, to) = (cx.arg.kind(), cx.result.kind());
    if x.is_nan() {
        return Ok(if cx.flags.sat() { 0 } else { float::nan(to) });
    }
    let through = |flags: Flags, kind: Kind, bits: u64| {
        let flags = flags.with_round(Round::Natural);
        let cx = Cx { result: cx.result.with_kind(kind), arg: cx.arg.with_kind(kind), flags, ..*cx };
        float::sat(&cx, &[bits])
    };
    let ftz = if cx.flags.ftz() { Flags::NONE.with_ftz() } else { Flags::NONE };
    let a = through(ftz, from, a)?;
    let x = to_f64(from, a)?;
    let directed = || Exact::from_float(from, a)?.round(to, cx.flags.round());
    let bits = match to {
        _ if !float::is_natural(cx) && x.is_finite() => directed().ok_or(Fault::Unsupported)?,
        Kind::F16 => f16_bits(x),
        Kind::F32 => u64::from((x as f32).to_bits()),
        Kind::F64 => x.to_bits(),
        _ => return Err(Fault::Unsupported),
    };
    through(cx.flags, to, bits)
}

fn rounded(cx: &Cx, args: &[u64]) -> Result<f64, Fault> {
    let kind = cx.arg.kind();
    let x = to_f64(kind, float::flushed(cx, kind, one(args)?))?;
    Ok(match cx.flags.round() {
        Round::Natural | Round::Zero => x.trunc(),
        Round::Even => x.round_ties_even(),
        Round::Up => x.ceil(),
        Round::Down => x.floor(),
    })
}

/// Float to signed integer, saturating.
pub fn f2s(cx: &Cx, args: &[u64]) -> Folded {
    let kind = cx.result.kind();
    let max = (kind.mask() >> 1) as i64;
    Ok((rounded(cx, args)? as i64).clamp(-max - 1, max) as u64 & kind.mask())
}

/// Float to unsigned integer, saturating.
pub fn f2u(cx: &Cx, args: &[u64]) -> Folded {
    Ok((rounded(cx, args)? as u64).min(cx.result.kind().mask()))
}

fn from_int(cx: &Cx, v: i128) -> Folded {
    let bits = match cx.result.kind() {
        Kind::F32 if float::is_natural(cx) => u64::from((v as f32).to_bits()),
        Kind::F64 if float::is_natural(cx) => (v as f64).to_bits(),
        kind => Exact::from_int(v).round(kind, cx.flags.round()).ok_or(Fault::Unsupported)?,
    };
    let cx = &Cx { flags: cx.flags.with_round(Round::Natural), ..*cx };
    float::sat(&Cx { arg: cx.result, ..*cx }, &[bits])
}

/// Signed integer to float.
pub fn s2f(cx: &Cx, args: &[u64]) -> Folded {
    from_int(cx, sign_extend(cx.arg.kind(), one(args)?).into())
}

/// Unsigned integer to float.
pub fn u2f(cx: &Cx, args: &[u64]) -> Folded {
    from_int(cx, one(args)?.into())
}

/// The same bits as another type; lane 0 is lowest.
pub fn bitcast(cx: &Cx, args: &[Bits]) -> Result<Bits, Fault> {
    let [a] = args else { return Err(Fault::Unsupported) };
    let (from, to) = (cx.arg.kind().bits(), cx.result.kind().bits());
    if cx.arg.bits() != cx.result.bits() {
        return Err(Fault::Unsupported);
    }
    let mut out = Bits::default();
    for (i, lane) in out.0.iter_mut().enumerate().take(usize::from(cx.result.lanes())) {
        let at = i as u32 * to;
        *lane = if to <= from {
            a.lane((at / from) as usize) >> (at % from) & (u64::MAX >> (64 - to))
        } else {
            (0..to / from).fold(0, |acc, k| acc | a.lane((at / from + k) as usize) << (k * from))
        };
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imm::Imm;
    use crate::ty::Type;

    fn cx(from: Type, to: Type, flags: Flags) -> Cx {
        Cx { result: to, arg: from, flags, imm: Imm::None }
    }

    #[test]
    fn every_half_survives_the_way_through_f64() {
        for bits in 0..0x1_0000u64 {
            let want = if float::is_nan(Kind::F16, bits) { float::NAN16 } else { bits };
            assert_eq!(f16_bits(f16_value(bits)), want, "{bits:#x}");
        }
    }

    #[test]
    fn halves_round_to_even() {
        assert_eq!(f16_bits(2049.0), 0x6800); // 2048
        assert_eq!(f16_bits(2051.0), 0x6802); // 2052
        assert_eq!(f16_bits(2f64.powi(-25)), 0);
        assert_eq!(f16_bits(1.5 * 2f64.powi(-24)), 2);
        assert_eq!(f16_bits(65519.9), 0x7bff);
        assert_eq!(f16_bits(0.999_99), 0x3c00);
    }

    #[test]
    fn floats_saturate_into_integers() {
        let c = cx(Type::F32, Type::I32, Flags::NONE.with_clamp());
        let f = |x: f32| f2s(&c, &[u64::from(x.to_bits())]).unwrap() as u32 as i32;
        assert_eq!((f(1.9), f(-1.9), f(3e9), f(-3e9), f(f32::NAN)), (1, -1, i32::MAX, i32::MIN, 0));
        let down = cx(Type::F32, Type::I32, Flags::NONE.with_round(Round::Down));
        assert_eq!(f2s(&down, &[u64::from((-1.5f32).to_bits())]), Ok(0xffff_fffe));
        assert_eq!(f2u(&c, &[u64::from((-5f32).to_bits())]), Ok(0));
    }

    #[test]
    fn conversions_saturate() {
        let sat = Flags::NONE.with_sat();
        let half = Type::scalar(Kind::F16);
        assert_eq!(f2f(&cx(Type::F32, half, sat), &[u64::from(2f32.to_bits())]), Ok(0x3c00));
        assert_eq!(f2f(&cx(Type::F32, half, sat), &[float::NAN32]), Ok(0));
        assert_eq!(s2f(&cx(Type::I32, Type::F32, sat), &[0xffff_ffff]), Ok(0));
        assert_eq!(u2f(&cx(Type::I32, Type::F32, sat), &[7]), Ok(u64::from(1f32.to_bits())));
    }

    #[test]
    fn bitcasts_split_and_join() {
        let v2 = Type::new(Kind::F16, 2).unwrap();
        let packed = Bits::scalar(0x1234_5678);
        let parts = bitcast(&cx(Type::I32, v2, Flags::NONE), &[packed]).unwrap();
        assert_eq!(parts, Bits([0x5678, 0x1234, 0, 0]));
        assert_eq!(bitcast(&cx(v2, Type::I32, Flags::NONE), &[parts]), Ok(packed));
    }
}
