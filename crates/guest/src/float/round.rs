//! Exact results to numbers of a format.

use super::{Env, Flags, Format, Rounding};

/// A magnitude that is not rounded yet: `bits * 2^(exponent - 127)`, the highest bit set; `sticky` says that something
/// greater than zero and less than the lowest bit is to be added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub exponent: i32,
    pub bits: u128,
    pub sticky: bool,
}

impl Exact {
    /// A magnitude whose bit 127 weighs `2^exponent`; the highest bit set may be any but there is one.
    pub fn new(bits: u128, exponent: i32, sticky: bool) -> Exact {
        let up = bits.leading_zeros();
        Exact { exponent: exponent - up as i32, bits: bits << (up & 127), sticky }
    }
}

/// What is left of `bits` after a shift to the right by `shift`, rounded, and whether that lost anything.
pub(super) fn shift_right(
    bits: u128,
    sticky: bool,
    shift: i32,
    negative: bool,
    rounding: Rounding,
) -> (u128, bool) {
    let (kept, lost, half) = match shift {
        i32::MIN..=0 => (bits, 0, 1),
        1..=127 => (bits >> shift, bits & ((1 << shift) - 1), 1 << (shift - 1)),
        128 => (0, bits, 1 << 127),
        // Less than half of the lowest bit.
        _ => (0, u128::from(bits != 0), 1 << 127),
    };
    let inexact = lost != 0 || sticky;
    let up = match rounding {
        Rounding::Nearest => lost > half || lost == half && (sticky || kept & 1 != 0),
        Rounding::Zero => false,
        Rounding::Up => inexact && !negative,
        Rounding::Down => inexact && negative,
    };
    (kept + u128::from(up), inexact)
}

/// Rounds to a format, with overflow and underflow.
pub(super) fn round(negative: bool, exact: Exact, format: Format, env: &mut Env) -> u64 {
    let least = 1 - format.bias();
    let shift = 127 - format.fraction as i32;
    let sign = format.zero(negative);
    let to = |shift| shift_right(exact.bits, exact.sticky, shift, negative, env.rounding);
    if exact.exponent < least {
        // Tiny after rounding: a number just below the least normal one that rounds to it is not.
        let tiny = exact.exponent < least - 1 || to(shift).0 >> (format.fraction + 1) == 0;
        if env.flush && tiny {
            env.flags |= Flags::UNDERFLOW | Flags::INEXACT;
            return sign;
        }
        let (kept, inexact) = to(shift.saturating_add(least - exact.exponent));
        if inexact {
            env.flags |= Flags::INEXACT;
            env.flags.set(Flags::UNDERFLOW, tiny || env.flags.contains(Flags::UNDERFLOW));
        }
        // The least normal number's bits follow those of the greatest denormal one.
        return sign | kept as u64;
    }
    let (kept, inexact) = to(shift);
    let carried = (kept >> (format.fraction + 1)) as i32;
    let exponent = exact.exponent + carried;
    if exponent > format.bias() {
        env.flags |= Flags::OVERFLOW | Flags::INEXACT;
        let away = match env.rounding {
            Rounding::Nearest => true,
            Rounding::Zero => false,
            Rounding::Up => !negative,
            Rounding::Down => negative,
        };
        return if away { format.infinity(negative) } else { format.greatest(negative) };
    }
    env.flags.set(Flags::INEXACT, inexact || env.flags.contains(Flags::INEXACT));
    let fraction = kept as u64 >> carried & ((1 << format.fraction) - 1);
    sign | ((exponent + format.bias()) as u64) << format.fraction | fraction
}
