//! Float ops: IEEE 754, round to nearest even, no contraction, denormals kept unless `ftz`.
//!
//! `f16` is computed in `f32` where that cannot round twice (sum, product, quotient, square root and the exact
//! ops). Sums, products and `fma` round in any direction; directed rounding of others answers
//! [`Fault::Unsupported`].

use super::convert::{f16_bits, f16_value};
use super::exact::Exact;
use super::{Cx, Fault, sign_extend};
use crate::flags::{NanMode, Round};
use crate::imm::Imm;
use crate::ty::{Bits, Kind};

type Folded = Result<u64, Fault>;

/// The canonical NaN of `f16`.
pub const NAN16: u64 = 0x7e00;
/// The canonical NaN of `f32`.
pub const NAN32: u64 = 0x7fc0_0000;
/// The canonical NaN of `f64`.
pub const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// The canonical NaN of `kind`.
pub fn nan(kind: Kind) -> u64 {
    match kind {
        Kind::F16 => NAN16,
        Kind::F64 => NAN64,
        _ => NAN32,
    }
}

/// Whether `bits` of float `kind` are a NaN.
pub fn is_nan(kind: Kind, bits: u64) -> bool {
    let inf = match kind {
        Kind::F16 => 0x7c00,
        Kind::F64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    };
    bits & sign_bit(kind).wrapping_sub(1) > inf
}

fn sign_bit(kind: Kind) -> u64 {
    1 << (kind.bits() - 1)
}

fn is_denormal(kind: Kind, bits: u64) -> bool {
    let exponent = match kind {
        Kind::F16 => 0x7c00,
        Kind::F64 => 0x7ff0_0000_0000_0000,
        _ => 0x7f80_0000,
    };
    bits & exponent == 0
}

/// Flushes a denormal to the zero of its sign if the flag asks for it.
pub(super) fn flushed(cx: &Cx, kind: Kind, bits: u64) -> u64 {
    if cx.flags.ftz() && is_denormal(kind, bits) { bits & sign_bit(kind) } else { bits }
}

pub(super) fn is_natural(cx: &Cx) -> bool {
    matches!(cx.flags.round(), Round::Natural | Round::Even)
}

fn natural(cx: &Cx) -> Result<(), Fault> {
    is_natural(cx).then_some(()).ok_or(Fault::Unsupported)
}

/// Canonical NaN, `ftz` and `sat` on a result.
fn finish(cx: &Cx, bits: u64) -> u64 {
    let kind = cx.result.kind();
    if is_nan(kind, bits) {
        return if cx.flags.sat() { 0 } else { nan(kind) };
    }
    let bits = flushed(cx, kind, bits);
    if !cx.flags.sat() {
        bits
    } else if bits & sign_bit(kind) != 0 {
        0
    } else {
        bits.min(one_bits(kind)) // positive floats compare like their bits
    }
}

/// `a * b + c` of finite operands in the direction of the flags; `None` if one is not finite.
fn directed(cx: &Cx, kind: Kind, product: [u64; 2], c: u64) -> Option<u64> {
    let exact = |v| Exact::from_float(kind, v);
    let sum = exact(product[0])?.mul(exact(product[1])?).add(exact(c)?, cx.flags.round());
    sum.round(kind, cx.flags.round())
}

/// The bits of 1 in `kind`.
pub fn one_bits(kind: Kind) -> u64 {
    match kind {
        Kind::F16 => 0x3c00,
        Kind::F64 => 1f64.to_bits(),
        _ => u64::from(1f32.to_bits()),
    }
}

/// `a + b`.
pub fn add(cx: &Cx, args: &[u64]) -> Folded {
    let kind = cx.arg.kind();
    if let (false, &[a, b]) = (is_natural(cx), args)
        && let Some(sum) = directed(cx, kind, [flushed(cx, kind, a), one_bits(kind)], flushed(cx, kind, b))
    {
        return Ok(finish(cx, sum));
    }
    arith::<2>(cx, args, |a| a[0] + a[1], |a| a[0] + a[1])
}

/// `a - b`.
pub fn sub(cx: &Cx, args: &[u64]) -> Folded {
    let &[a, b] = args else { return Err(Fault::Unsupported) };
    // A NaN's sign does not matter: results are canonical.
    add(cx, &[a, b ^ sign_bit(cx.arg.kind())])
}

/// Applies `single` or `double` to the operands as floats, rounding to nearest.
fn arith<const N: usize>(
    cx: &Cx,
    args: &[u64],
    single: fn([f32; N]) -> f32,
    double: fn([f64; N]) -> f64,
) -> Folded {
    let kind = cx.arg.kind();
    let args: [u64; N] = args.try_into().map_err(|_| Fault::Unsupported)?;
    let args = args.map(|a| flushed(cx, kind, a));
    let bits = match kind {
        Kind::F16 => f16_bits(f64::from(single(args.map(|a| f16_value(a) as f32)))),
        Kind::F32 => u64::from(single(args.map(|a| f32::from_bits(a as u32))).to_bits()),
        Kind::F64 => double(args.map(f64::from_bits)).to_bits(),
        _ => return Err(Fault::Unsupported),
    };
    Ok(finish(cx, bits))
}

macro_rules! arith {
    ($($(#[$doc:meta])* $name:ident $n:literal |$a:ident| $body:expr;)+) => {$(
        $(#[$doc])*
        pub fn $name(cx: &Cx, args: &[u64]) -> Folded {
            natural(cx)?;
            arith::<$n>(cx, args, |$a| $body, |$a| $body)
        }
    )+};
}

arith! {
    /// `a / b`.
    div 2 |a| a[0] / a[1];
    /// Towards minus infinity.
    floor 1 |a| a[0].floor();
    /// Towards plus infinity.
    ceil 1 |a| a[0].ceil();
    /// Towards zero.
    trunc 1 |a| a[0].trunc();
    /// To the nearest integer, ties to even.
    round_even 1 |a| a[0].round_ties_even();
    /// `a - floor(a)`.
    fract 1 |a| a[0] - a[0].floor();
    /// Square root.
    sqrt 1 |a| a[0].sqrt();
    /// `1 / sqrt(a)`.
    rsqrt 1 |a| 1.0 / a[0].sqrt();
    /// `1 / a`.
    rcp 1 |a| 1.0 / a[0];
    /// `2^a`.
    exp2 1 |a| a[0].exp2();
    /// `log2 a`.
    log2 1 |a| a[0].log2();
    /// Sine.
    sin 1 |a| a[0].sin();
    /// Cosine.
    cos 1 |a| a[0].cos();
    /// The operand, through the flags.
    sat 1 |a| a[0];
}

/// The product after the zero rules, NaNs canonical.
fn product(cx: &Cx, kind: Kind, a: u64, b: u64) -> Folded {
    let zero = |v: u64| v & !sign_bit(kind) == 0;
    let (a, b) = (flushed(cx, kind, a), flushed(cx, kind, b));
    if cx.flags.fmz() && (zero(a) || zero(b)) {
        return Ok(0);
    }
    let directed = || {
        let exact = |v| Exact::from_float(kind, v);
        exact(a)?.mul(exact(b)?).round(kind, cx.flags.round())
    };
    if let Some(p) = (!is_natural(cx)).then(directed).flatten() {
        return Ok(flushed(cx, kind, p));
    }
    let p = match kind {
        Kind::F16 => f16_bits(f16_value(a) * f16_value(b)),
        Kind::F32 => u64::from((f32::from_bits(a as u32) * f32::from_bits(b as u32)).to_bits()),
        Kind::F64 => (f64::from_bits(a) * f64::from_bits(b)).to_bits(),
        _ => return Err(Fault::Unsupported),
    };
    Ok(if !is_nan(kind, p) {
        flushed(cx, kind, p)
    } else if cx.flags.zero_wins() && !is_nan(kind, a) && !is_nan(kind, b) {
        0
    } else {
        nan(kind)
    })
}

/// `a * b` with the zero rules.
pub fn mul(cx: &Cx, args: &[u64]) -> Folded {
    let &[a, b] = args else { return Err(Fault::Unsupported) };
    Ok(finish(cx, product(cx, cx.arg.kind(), a, b)?))
}

/// `a * b + c`, rounded once.
pub fn fma(cx: &Cx, args: &[u64]) -> Folded {
    let (kind, zero) = (cx.arg.kind(), |v: u64| v & !sign_bit(cx.arg.kind()) == 0);
    let &[a, b, c] = args else { return Err(Fault::Unsupported) };
    let inf_by_zero = {
        let inf = |v: u64| is_nan(kind, (v & !sign_bit(kind)) | 1) && !is_nan(kind, v);
        let (a, b) = (flushed(cx, kind, a), flushed(cx, kind, b));
        (zero(a) && inf(b)) || (inf(a) && zero(b))
    };
    let zero_product = (cx.flags.fmz() && (zero(flushed(cx, kind, a)) || zero(flushed(cx, kind, b))))
        || (cx.flags.zero_wins() && inf_by_zero);
    if zero_product {
        return add(cx, &[0, c]);
    }
    // An `f32` sum of halves' products would round twice.
    if (kind == Kind::F16 || !is_natural(cx))
        && let Some(sum) = directed(cx, kind, [a, b].map(|v| flushed(cx, kind, v)), flushed(cx, kind, c))
    {
        return Ok(finish(cx, sum));
    }
    arith::<3>(cx, args, |a| a[0].mul_add(a[1], a[2]), |a| a[0].mul_add(a[1], a[2]))
}

/// Sum from +0 of the products in lane order.
pub fn dot(cx: &Cx, args: &[Bits]) -> Result<Bits, Fault> {
    natural(cx)?;
    let [a, b] = args else { return Err(Fault::Unsupported) };
    let kind = cx.arg.kind();
    let scalar = Cx { arg: cx.arg.lane(), flags: cx.flags.without_sat(), ..*cx };
    let mut sum = 0;
    for i in 0..usize::from(cx.arg.lanes()) {
        let p = product(cx, kind, a.lane(i), b.lane(i))?;
        sum = add(&scalar, &[sum, p])?;
    }
    Ok(Bits::scalar(finish(cx, sum)))
}

/// Sign flipped, NaNs too.
pub fn neg(cx: &Cx, args: &[u64]) -> Folded {
    let &[a] = args else { return Err(Fault::Unsupported) };
    Ok(a ^ sign_bit(cx.arg.kind()))
}

/// Sign cleared, NaNs too.
pub fn abs(cx: &Cx, args: &[u64]) -> Folded {
    let &[a] = args else { return Err(Fault::Unsupported) };
    Ok(a & !sign_bit(cx.arg.kind()))
}

/// A key that orders all floats that are not NaNs; both zeros are equal.
fn order(kind: Kind, bits: u64) -> i64 {
    let s = sign_extend(kind, bits);
    if s < 0 { -((bits & !sign_bit(kind)) as i64) } else { s }
}

fn pick(cx: &Cx, args: &[u64], first: fn(i64, i64) -> bool) -> Folded {
    let &[a, b] = args else { return Err(Fault::Unsupported) };
    let kind = cx.arg.kind();
    let (a, b) = (flushed(cx, kind, a), flushed(cx, kind, b));
    Ok(match (is_nan(kind, a), is_nan(kind, b), cx.flags.nan()) {
        (false, false, _) if first(order(kind, a), order(kind, b)) => a,
        (false, false, _) => b,
        (_, _, NanMode::Second) => b,
        (_, _, NanMode::First) => a,
        (_, _, NanMode::Propagate) => nan(kind),
        (a_nan, _, NanMode::Other) => {
            if a_nan {
                b
            } else {
                a
            }
        }
    })
}

/// Least; see [`NanMode`].
pub fn min(cx: &Cx, args: &[u64]) -> Folded {
    pick(cx, args, |a, b| a < b)
}

/// Greatest; see [`NanMode`].
pub fn max(cx: &Cx, args: &[u64]) -> Folded {
    pick(cx, args, |a, b| a > b)
}

macro_rules! compare {
    ($($(#[$doc:meta])* $name:ident($unordered:literal, |$a:ident, $b:ident| $body:expr);)+) => {$(
        $(#[$doc])*
        pub fn $name(cx: &Cx, args: &[u64]) -> Folded {
            let &[a, b] = args else { return Err(Fault::Unsupported) };
            let kind = cx.arg.kind();
            if is_nan(kind, a) || is_nan(kind, b) {
                return Ok(u64::from($unordered));
            }
            let ($a, $b) = (order(kind, flushed(cx, kind, a)), order(kind, flushed(cx, kind, b)));
            Ok(u64::from($body))
        }
    )+};
}

compare! {
    /// Ordered and equal.
    oeq(false, |a, b| a == b);
    /// Ordered and unequal.
    one(false, |a, b| a != b);
    /// Ordered and less.
    olt(false, |a, b| a < b);
    /// Ordered and at most.
    ole(false, |a, b| a <= b);
    /// Unordered or equal.
    ueq(true, |a, b| a == b);
    /// Unordered or unequal.
    une(true, |a, b| a != b);
    /// Unordered or less.
    ult(true, |a, b| a < b);
    /// Unordered or at most.
    ule(true, |a, b| a <= b);
    /// No NaN.
    ord(false, |_a, _b| true);
    /// A NaN.
    uno(true, |_a, _b| false);
}

/// `a * 2^n`, rounded once.
pub fn ldexp(cx: &Cx, args: &[u64]) -> Folded {
    natural(cx)?;
    let &[a, n] = args else { return Err(Fault::Unsupported) };
    let scale = 2f64.powi(sign_extend(Kind::I32, n).clamp(-400, 400) as i32); // exact in f64 for any f32
    match cx.arg.kind() {
        Kind::F32 => {
            let x = f32::from_bits(flushed(cx, Kind::F32, a) as u32);
            Ok(finish(cx, u64::from(((f64::from(x) * scale) as f32).to_bits())))
        }
        Kind::F16 => Ok(finish(cx, f16_bits(f16_value(flushed(cx, Kind::F16, a)) * scale))),
        _ => Err(Fault::Unsupported),
    }
}

/// Mantissa in `0.5..1` with the sign, and exponent, so that `a = mantissa * 2^exponent`; 0, infinity and NaN
/// give themselves and 0.
fn frexp(kind: Kind, bits: u64) -> Result<(f64, i32), Fault> {
    let x = match kind {
        Kind::F16 => f16_value(bits),
        Kind::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => return Err(Fault::Unsupported), // f64 denormals need another path
    };
    if x == 0.0 || !x.is_finite() {
        return Ok((x, 0));
    }
    let raw = x.to_bits();
    let exponent = (raw >> 52 & 0x7ff) as i32 - 1022; // f32 denormals are normal in f64
    Ok((f64::from_bits(raw & !(0x7ff << 52) | 1022 << 52), exponent))
}

/// Exponent of `frexp`.
pub fn frexp_exp(cx: &Cx, args: &[u64]) -> Folded {
    let &[a] = args else { return Err(Fault::Unsupported) };
    Ok(u64::from(frexp(cx.arg.kind(), flushed(cx, cx.arg.kind(), a))?.1 as u32))
}

/// Mantissa of `frexp`.
pub fn frexp_mant(cx: &Cx, args: &[u64]) -> Folded {
    let &[a] = args else { return Err(Fault::Unsupported) };
    let m = frexp(cx.arg.kind(), flushed(cx, cx.arg.kind(), a))?.0;
    let bits = if cx.arg.kind() == Kind::F16 { f16_bits(m) } else { u64::from((m as f32).to_bits()) };
    Ok(finish(cx, bits))
}

/// Rounding to a narrower float format and back to `f32`.
pub fn quantize(cx: &Cx, args: &[u64]) -> Folded {
    let (&[a], Imm::Format(fmt), Kind::F32) = (args, cx.imm, cx.arg.kind()) else {
        return Err(Fault::Unsupported);
    };
    if !fmt.is_valid() {
        return Err(Fault::Unsupported);
    }
    if is_nan(Kind::F32, a) {
        return Ok(NAN32);
    }
    let drop = 23 - u32::from(fmt.mant);
    let (sign, magnitude) = (a & 0x8000_0000, a & 0x7fff_ffff);
    // Rounding the bits carries into the exponent where it must.
    let rounded = (magnitude + (1 << (drop - 1)) - 1 + (magnitude >> drop & 1)) & !((1u64 << drop) - 1);
    let bias = (1u64 << (fmt.exp - 1)) - 1;
    let least_normal = (128 - bias) << 23;
    let overflow = (128 + bias) << 23;
    Ok(sign
        | if rounded >= overflow {
            0x7f80_0000
        } else if rounded < least_normal {
            0
        } else {
            rounded
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::Flags;
    use crate::imm::FloatFormat;
    use crate::ty::Type;

    fn cx(flags: Flags) -> Cx {
        Cx { result: Type::F32, arg: Type::F32, flags, imm: Imm::None }
    }

    fn b(x: f32) -> u64 {
        u64::from(x.to_bits())
    }

    #[test]
    fn zero_rules_differ_on_nan_factors() {
        let zw = cx(Flags::NONE.with_zero_wins());
        let fmz = cx(Flags::NONE.with_fmz());
        assert_eq!(mul(&zw, &[b(0.0), b(f32::INFINITY)]), Ok(0));
        assert_eq!(mul(&zw, &[b(0.0), NAN32]), Ok(NAN32));
        assert_eq!(mul(&fmz, &[b(-0.0), NAN32]), Ok(0));
        assert_eq!(mul(&cx(Flags::NONE), &[b(-0.0), b(3.0)]), Ok(b(-0.0)));
        assert_eq!(mul(&zw, &[b(-0.0), b(3.0)]), Ok(b(-0.0)));
    }

    #[test]
    fn min_and_max_by_nan_mode() {
        for (mode, nan_first, nan_second) in [
            (NanMode::Other, b(1.0), b(1.0)),
            (NanMode::Second, b(1.0), NAN32),
            (NanMode::First, NAN32, b(1.0)),
            (NanMode::Propagate, NAN32, NAN32),
        ] {
            let c = cx(Flags::NONE.with_nan(mode));
            assert_eq!(max(&c, &[NAN32, b(1.0)]), Ok(nan_first));
            assert_eq!(max(&c, &[b(1.0), NAN32]), Ok(nan_second));
            assert_eq!(max(&c, &[b(0.0), b(-0.0)]), Ok(b(-0.0)));
            assert_eq!(min(&c, &[b(-3.0), b(2.0)]), Ok(b(-3.0)));
        }
    }

    #[test]
    fn dot_products_start_at_plus_zero() {
        let c = Cx { result: Type::F32, arg: Type::F32X4, flags: Flags::NONE, imm: Imm::None };
        let z = Bits::f32x4([-0.0; 4]);
        let one = Bits::f32x4([1.0; 4]);
        assert_eq!(dot(&c, &[z, one]), Ok(Bits::scalar(0)));
    }

    #[test]
    fn dot_products_saturate_once_at_the_end() {
        let flags = Flags::NONE.with_sat();
        let c = Cx { result: Type::F32, arg: Type::F32X4, flags, imm: Imm::None };
        let (a, one) = (Bits::f32x4([-4.0, 3.0, 1.5, 0.0]), Bits::f32x4([1.0; 4]));
        assert_eq!(dot(&c, &[a, one]), Ok(Bits::scalar(b(0.5))));
    }

    #[test]
    fn quantize_to_f24() {
        let c = Cx { imm: Imm::Format(FloatFormat::F24), ..cx(Flags::NONE) };
        let q = |x: f32| f32::from_bits(quantize(&c, &[b(x)]).unwrap() as u32);
        assert_eq!(q(1.0), 1.0);
        assert_eq!(q(1.0 + 2f32.powi(-17)), 1.0); // tie to even
        assert_eq!(q(1.0 + 3.0 * 2f32.powi(-17)), 1.0 + 2f32.powi(-15));
        assert_eq!(q(2f32.powi(-62)), 2f32.powi(-62));
        assert_eq!(q(2f32.powi(-63)).to_bits(), 0);
        assert_eq!(q(-2f32.powi(-63)).to_bits(), 0x8000_0000);
        assert_eq!(q(2f32.powi(64)), f32::INFINITY);
        assert_eq!(q(2f32.powi(64) * (1.0 - 2f32.powi(-20))), f32::INFINITY);
        assert_eq!(q(2f32.powi(63)), 2f32.powi(63));
    }

    #[test]
    fn flushing_and_saturation() {
        let ftz = cx(Flags::NONE.with_ftz());
        assert_eq!(add(&ftz, &[1, 1]), Ok(0));
        assert_eq!(mul(&ftz, &[b(-1e-30), b(1e-30)]), Ok(b(-0.0)));
        let sat = cx(Flags::NONE.with_sat());
        assert_eq!(add(&sat, &[b(1.0), b(1.0)]), Ok(b(1.0)));
        assert_eq!(add(&sat, &[NAN32, b(1.0)]), Ok(0));
        assert_eq!(add(&sat, &[b(-1.0), b(0.5)]), Ok(0));
    }

    #[test]
    fn exponents() {
        let c = cx(Flags::NONE);
        assert_eq!(frexp_exp(&c, &[b(8.0)]), Ok(4));
        assert_eq!(frexp_mant(&c, &[b(-8.0)]), Ok(b(-0.5)));
        assert_eq!(frexp_exp(&c, &[1]), Ok((-148i32) as u32 as u64));
        assert_eq!(ldexp(&c, &[b(0.75), 2]), Ok(b(3.0)));
        assert_eq!(ldexp(&c, &[b(1.0), (-149i32) as u32 as u64]), Ok(1));
    }
}
