//! Flags that refine what an op means. They sit on the instruction; every back end honours each of them.

use std::fmt;

/// How a result is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Round {
    /// The op's own way: to nearest even for arithmetic, towards zero for float to integer.
    #[default]
    Natural,
    /// To nearest, ties to even. Of quotients and square roots, which hosts may be some units off with otherwise, too.
    Even,
    /// Towards zero.
    Zero,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
}

/// What `fmin` and `fmax` give when an operand is a NaN. In every mode, of two equal operands (zeros of either
/// sign too) the second is the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum NanMode {
    /// The operand that is not a NaN.
    #[default]
    Other,
    /// The second operand (PICA200, x86).
    Second,
    /// The first operand.
    First,
    /// A NaN.
    Propagate,
}

/// What an integer division by zero gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum DivZero {
    /// Quotient and remainder are zero.
    #[default]
    Zero,
    /// Quotient and remainder are all ones (D3D).
    Ones,
    /// The invocation ends with a fault (CPU guests).
    Trap,
    /// The divisor is never zero, nor -1 where the dividend is the least integer, so the op maps to the host's division.
    Never,
}

/// The flags of one instruction, packed in 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u16);

const CONTRACT: u16 = 1 << 0;
const FTZ: u16 = 1 << 1;
const ZERO_WINS: u16 = 1 << 2;
const FMZ: u16 = 1 << 3;
const SAT: u16 = 1 << 4;
const CLAMP: u16 = 1 << 5;
const NONUNIFORM: u16 = 1 << 6;
const ROUND: u16 = 7;
const ROUND_AT: u32 = 7;
const NAN: u16 = 3;
const NAN_AT: u32 = 10;
const DIV: u16 = 3;
const DIV_AT: u32 = 12;

/// The single-bit flags with their names in the text form.
const NAMED: [(u16, &str); 7] = [
    (CONTRACT, "contract"),
    (FTZ, "ftz"),
    (ZERO_WINS, "zw"),
    (FMZ, "fmz"),
    (SAT, "sat"),
    (CLAMP, "clamp"),
    (NONUNIFORM, "nonuniform"),
];
const ROUNDS: [(Round, &str); 5] = [
    (Round::Natural, ""),
    (Round::Even, "even"),
    (Round::Zero, "zero"),
    (Round::Up, "up"),
    (Round::Down, "down"),
];
const NANS: [(NanMode, &str); 4] = [
    (NanMode::Other, ""),
    (NanMode::Second, "second"),
    (NanMode::First, "first"),
    (NanMode::Propagate, "propagate"),
];
const DIVS: [(DivZero, &str); 4] =
    [(DivZero::Zero, ""), (DivZero::Ones, "ones"), (DivZero::Trap, "trap"), (DivZero::Never, "never")];

macro_rules! bit {
    ($(#[$doc:meta])* $get:ident, $with:ident, $bit:ident) => {
        $(#[$doc])*
        pub const fn $get(self) -> bool {
            self.0 & $bit != 0
        }

        #[doc = concat!("These flags with [`Flags::", stringify!($get), "`] set.")]
        pub const fn $with(self) -> Flags {
            Flags(self.0 | $bit)
        }
    };
}

impl Flags {
    /// No flag: IEEE arithmetic without contraction, natural rounding.
    pub const NONE: Flags = Flags(0);

    bit! {
        /// The op may be fused with its neighbours, as `fma` would.
        contract, with_contract, CONTRACT
    }
    bit! {
        /// Denormal operands and results count as zero of the same sign.
        ftz, with_ftz, FTZ
    }
    bit! {
        /// PICA200: a product that is a NaN though no factor is one becomes +0.
        zero_wins, with_zero_wins, ZERO_WINS
    }
    bit! {
        /// Maxwell: a factor of zero makes the product +0, whatever the other factor is.
        fmz, with_fmz, FMZ
    }
    bit! {
        /// The result is clamped to 0..=1; a NaN becomes 0.
        sat, with_sat, SAT
    }
    bit! {
        /// Conversions to integers saturate and turn a NaN into 0; without it such a result is undefined
        /// (the fold function saturates).
        clamp, with_clamp, CLAMP
    }
    bit! {
        /// A handle operand may differ between the invocations of a subgroup.
        nonuniform, with_nonuniform, NONUNIFORM
    }

    /// These flags without `contract`.
    pub const fn without_contract(self) -> Flags {
        Flags(self.0 & !CONTRACT)
    }

    /// These flags without [`Flags::sat`]: for parts of a result.
    pub const fn without_sat(self) -> Flags {
        Flags(self.0 & !SAT)
    }

    /// These flags without [`Flags::ftz`].
    pub const fn without_ftz(self) -> Flags {
        Flags(self.0 & !FTZ)
    }

    /// These flags without [`Flags::zero_wins`].
    pub const fn without_zero_wins(self) -> Flags {
        Flags(self.0 & !ZERO_WINS)
    }

    /// These flags without the rules for denormals, zeros and NaNs that only guests have: `ftz`, `zw`, `fmz` and NaN modes.
    pub const fn without_float_rules(self) -> Flags {
        Flags(self.0 & !(FTZ | ZERO_WINS | FMZ | NAN << NAN_AT))
    }

    /// How the result is rounded.
    pub const fn round(self) -> Round {
        match (self.0 >> ROUND_AT) & ROUND {
            1 => Round::Even,
            2 => Round::Zero,
            3 => Round::Up,
            4 => Round::Down,
            _ => Round::Natural,
        }
    }

    /// These flags with rounding `r`.
    pub const fn with_round(self, r: Round) -> Flags {
        Flags(self.0 & !(ROUND << ROUND_AT) | (r as u16) << ROUND_AT)
    }

    /// What `fmin` and `fmax` do with NaNs.
    pub const fn nan(self) -> NanMode {
        match (self.0 >> NAN_AT) & NAN {
            1 => NanMode::Second,
            2 => NanMode::First,
            3 => NanMode::Propagate,
            _ => NanMode::Other,
        }
    }

    /// These flags with NaN mode `m`.
    pub const fn with_nan(self, m: NanMode) -> Flags {
        Flags(self.0 & !(NAN << NAN_AT) | (m as u16) << NAN_AT)
    }

    /// What a division by zero gives.
    pub const fn div_zero(self) -> DivZero {
        match (self.0 >> DIV_AT) & DIV {
            1 => DivZero::Ones,
            2 => DivZero::Trap,
            3 => DivZero::Never,
            _ => DivZero::Zero,
        }
    }

    /// These flags with division mode `m`.
    pub const fn with_div_zero(self, m: DivZero) -> Flags {
        Flags(self.0 & !(DIV << DIV_AT) | (m as u16) << DIV_AT)
    }

    /// The flags of `self` or `other`; modes that are not the default win.
    pub const fn union(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Whether `self` has nothing that `other` lacks.
    pub const fn within(self, other: Flags) -> bool {
        self.0 & !other.0 == 0
    }

    /// All flags an op may carry that takes every mode of `ROUND`, `NAN` and `DIV`: building blocks of the op table.
    pub(crate) const ANY_ROUND: Flags = Flags(ROUND << ROUND_AT);
    /// See [`Flags::ANY_ROUND`].
    pub(crate) const ANY_NAN: Flags = Flags(NAN << NAN_AT);
    /// See [`Flags::ANY_ROUND`].
    pub(crate) const ANY_DIV: Flags = Flags(DIV << DIV_AT);

    /// Adds the flag called `name` in the text form; `None` if there is none.
    pub fn parse_add(self, name: &str) -> Option<Flags> {
        if name.is_empty() {
            return None;
        }
        let bit = NAMED.iter().find(|(_, n)| *n == name).map(|(b, _)| Flags(self.0 | b));
        let round = || ROUNDS.iter().find(|(_, n)| *n == name).map(|(r, _)| self.with_round(*r));
        let nan = || NANS.iter().find(|(_, n)| *n == name).map(|(m, _)| self.with_nan(*m));
        let div = || DIVS.iter().find(|(_, n)| *n == name).map(|(m, _)| self.with_div_zero(*m));
        bit.or_else(round).or_else(nan).or_else(div)
    }
}

/// The text form: each flag after a dot, in a fixed order; nothing for the defaults.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bit, name) in NAMED {
            if self.0 & bit != 0 {
                write!(f, ".{name}")?;
            }
        }
        let modes = [
            ROUNDS.iter().find(|(r, _)| *r == self.round()).map_or("", |(_, n)| n),
            NANS.iter().find(|(m, _)| *m == self.nan()).map_or("", |(_, n)| n),
            DIVS.iter().find(|(m, _)| *m == self.div_zero()).map_or("", |(_, n)| n),
        ];
        for name in modes.into_iter().filter(|n| !n.is_empty()) {
            write!(f, ".{name}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_parses_back() {
        for bits in 0..1 << 14 {
            let f = Flags(bits);
            if f.round() as u16 != (bits >> ROUND_AT) & ROUND {
                continue; // a pattern no constructor makes
            }
            let text = f.to_string();
            let back = text.split('.').skip(1).try_fold(Flags::NONE, |acc, n| acc.parse_add(n));
            assert_eq!(back, Some(f), "{text}");
        }
        assert_eq!(Flags::NONE.parse_add(""), None);
        assert_eq!(Flags::NONE.parse_add("nope"), None);
    }
}
