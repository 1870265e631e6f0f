//! The operations.

use super::round::{Exact, round, shift_right};
use super::{Class, Env, Flags, Format, Number, Rounding};

/// What a comparison finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `a < b`.
    Less,
    /// `a == b`.
    Equal,
    /// `a > b`.
    Greater,
    /// One is a NaN.
    Unordered,
}

/// The default NaN when an operand is a NaN; a signaling one is invalid.
fn nan_operand(of: &[Number], format: Format, env: &mut Env) -> Option<u64> {
    let mut found = None;
    for number in of {
        if let Class::Nan { signaling } = number.class {
            if signaling {
                env.flags |= Flags::INVALID;
            }
            found = Some(format.default_nan());
        }
    }
    found
}

fn invalid(format: Format, env: &mut Env) -> u64 {
    env.flags |= Flags::INVALID;
    format.default_nan()
}

/// `a + b`.
pub fn add(a: u64, b: u64, format: Format, env: &mut Env) -> u64 {
    sum(format.unpack(a), format.unpack(b), format, env)
}

/// `a - b`.
pub fn sub(a: u64, b: u64, format: Format, env: &mut Env) -> u64 {
    let b = format.unpack(b);
    sum(format.unpack(a), Number { negative: !b.negative, ..b }, format, env)
}

fn sum(a: Number, b: Number, format: Format, env: &mut Env) -> u64 {
    if let Some(nan) = nan_operand(&[a, b], format, env) {
        return nan;
    }
    match (a.class, b.class) {
        (Class::Infinite, Class::Infinite) if a.negative != b.negative => invalid(format, env),
        (Class::Infinite, _) => format.infinity(a.negative),
        (_, Class::Infinite) => format.infinity(b.negative),
        (Class::Zero, Class::Zero) if a.negative == b.negative => format.zero(a.negative),
        (Class::Zero, Class::Zero) => format.zero(env.rounding == Rounding::Down),
        (Class::Finite { exponent, significand }, Class::Zero) => {
            round(a.negative, Exact::new(u128::from(significand) << 64, exponent, false), format, env)
        }
        (Class::Zero, Class::Finite { exponent, significand }) => {
            round(b.negative, Exact::new(u128::from(significand) << 64, exponent, false), format, env)
        }
        (
            Class::Finite { exponent: ea, significand: sa },
            Class::Finite { exponent: eb, significand: sb },
        ) => {
            let swap = (ea, sa) < (eb, sb);
            let ((el, sl, nl), (es, ss, ns)) = if swap {
                ((eb, sb, b.negative), (ea, sa, a.negative))
            } else {
                ((ea, sa, a.negative), (eb, sb, b.negative))
            };
            // One bit is left above for a carry, 63 below for what the smaller one shifts out.
            let large = u128::from(sl) << 63;
            let small = u128::from(ss) << 63;
            let down = el - es;
            let (small, lost) = match down {
                0..=127 => (small >> down, small & ((1u128 << down) - 1) != 0),
                _ => (0, true),
            };
            let exponent = el + 1;
            if nl == ns {
                return round(nl, Exact::new(large + small, exponent, lost), format, env);
            }
            // With something lost, the difference is a little less than the one of what is kept.
            let difference = large - small - u128::from(lost);
            if difference == 0 && !lost {
                return format.zero(env.rounding == Rounding::Down);
            }
            round(nl, Exact::new(difference, exponent, lost), format, env)
        }
        (Class::Nan { .. }, _) | (_, Class::Nan { .. }) => format.default_nan(),
    }
}

/// `a * b`.
pub fn mul(a: u64, b: u64, format: Format, env: &mut Env) -> u64 {
    let (a, b) = (format.unpack(a), format.unpack(b));
    if let Some(nan) = nan_operand(&[a, b], format, env) {
        return nan;
    }
    let negative = a.negative != b.negative;
    match (a.class, b.class) {
        (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => invalid(format, env),
        (Class::Infinite, _) | (_, Class::Infinite) => format.infinity(negative),
        (
            Class::Finite { exponent: ea, significand: sa },
            Class::Finite { exponent: eb, significand: sb },
        ) => round(negative, Exact::new(u128::from(sa) * u128::from(sb), ea + eb + 1, false), format, env),
        _ => format.zero(negative),
    }
}

/// `a / b`.
pub fn div(a: u64, b: u64, format: Format, env: &mut Env) -> u64 {
    let (a, b) = (format.unpack(a), format.unpack(b));
    if let Some(nan) = nan_operand(&[a, b], format, env) {
        return nan;
    }
    let negative = a.negative != b.negative;
    match (a.class, b.class) {
        (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => invalid(format, env),
        (Class::Infinite, _) => format.infinity(negative),
        (Class::Zero, _) | (_, Class::Infinite) => format.zero(negative),
        (_, Class::Zero) => {
            env.flags |= Flags::DIVISION;
            format.infinity(negative)
        }
        (
            Class::Finite { exponent: ea, significand: sa },
            Class::Finite { exponent: eb, significand: sb },
        ) => {
            let dividend = u128::from(sa) << 64;
            let (quotient, rest) = (dividend / u128::from(sb), dividend % u128::from(sb));
            // Bit 64 of the quotient weighs 2^(ea - eb).
            round(negative, Exact::new(quotient, ea - eb + 63, rest != 0), format, env)
        }
        (Class::Nan { .. }, _) | (_, Class::Nan { .. }) => format.default_nan(),
    }
}

/// The square root.
pub fn sqrt(a: u64, format: Format, env: &mut Env) -> u64 {
    let number = format.unpack(a);
    if let Some(nan) = nan_operand(&[number], format, env) {
        return nan;
    }
    match number.class {
        Class::Zero => a,
        _ if number.negative => invalid(format, env),
        Class::Finite { exponent, significand } => {
            // An even power of two below a significand of 127 or 128 bits: the root has 64 bits.
            let up = 63 + (exponent & 1) as u32;
            let square = u128::from(significand) << up;
            let root = square.isqrt();
            let weight = 127 + (exponent - 63 - up as i32) / 2;
            round(false, Exact::new(root, weight, root * root != square), format, env)
        }
        _ => format.infinity(false),
    }
}

/// A number in another format.
pub fn convert(a: u64, from: Format, to: Format, env: &mut Env) -> u64 {
    let number = from.unpack(a);
    match number.class {
        Class::Zero => to.zero(number.negative),
        Class::Infinite => to.infinity(number.negative),
        Class::Nan { signaling } => {
            if signaling {
                env.flags |= Flags::INVALID;
            }
            to.default_nan()
        }
        Class::Finite { exponent, significand } => {
            round(number.negative, Exact::new(u128::from(significand) << 64, exponent, false), to, env)
        }
    }
}

/// A signed integer as a number.
pub fn from_int(value: i64, to: Format, env: &mut Env) -> u64 {
    match value {
        0 => 0,
        _ => round(value < 0, Exact::new(u128::from(value.unsigned_abs()), 127, false), to, env),
    }
}

/// A number as a signed integer of `bits` bits; the greatest one, and invalid, when there is none.
pub fn to_int(a: u64, from: Format, bits: u32, rounding: Rounding, env: &mut Env) -> i64 {
    let greatest = i64::MAX >> (64 - bits);
    let number = from.unpack(a);
    let (exponent, significand) = match number.class {
        Class::Zero => return 0,
        Class::Finite { exponent, significand } if exponent < 64 => (exponent, significand),
        _ => {
            env.flags |= Flags::INVALID;
            return greatest;
        }
    };
    let wide = u128::from(significand) << 64;
    let (magnitude, inexact) = shift_right(wide, false, 127 - exponent, number.negative, rounding);
    let limit = greatest as u128 + u128::from(number.negative);
    if magnitude > limit {
        env.flags |= Flags::INVALID;
        return greatest;
    }
    if inexact {
        env.flags |= Flags::INEXACT;
    }
    let value = magnitude as u64;
    if number.negative { value.wrapping_neg() as i64 } else { value as i64 }
}

/// Compares; a signaling NaN is invalid, any NaN when `signaling` says so.
pub fn compare(a: u64, b: u64, format: Format, signaling: bool, env: &mut Env) -> Order {
    let (x, y) = (format.unpack(a), format.unpack(b));
    if nan_operand(&[x, y], format, env).is_some() {
        if signaling {
            env.flags |= Flags::INVALID;
        }
        return Order::Unordered;
    }
    // Magnitudes are ordered as their bits are; both zeros are equal.
    let key = |bits: u64, number: Number| {
        let magnitude = (bits & !format.sign_bit()) as i64;
        if number.negative { -magnitude } else { magnitude }
    };
    match key(a, x).cmp(&key(b, y)) {
        std::cmp::Ordering::Less => Order::Less,
        std::cmp::Ordering::Equal => Order::Equal,
        std::cmp::Ordering::Greater => Order::Greater,
    }
}
