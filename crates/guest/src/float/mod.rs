//! IEEE 754 arithmetic with directed rounding and exceptions, on the bits of numbers.
//!
//! NaNs are those of MIPS processors before NaN2008: the highest fraction bit is *set* in a signaling NaN and clear in a
//! quiet one. Every NaN that an operation makes is the default NaN, whatever NaNs it was given, as qemu does it; the
//! manual would also allow to hand on a quiet operand.
//!
//! `fast` has the same operations on the host's own arithmetic for the usual case: round to nearest, normal numbers.

pub(crate) mod fast;
mod ops;
mod round;

pub use ops::{Order, add, compare, convert, div, from_int, mul, sqrt, sub, to_int};

use bitflags::bitflags;

bitflags! {
    /// Exceptions of an operation, as the cause bits of FCSR have them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub struct Flags: u8 {
        /// The result was rounded.
        const INEXACT = 1;
        /// The result is tiny and was rounded.
        const UNDERFLOW = 2;
        /// The result is too great.
        const OVERFLOW = 4;
        /// A finite number was divided by zero.
        const DIVISION = 8;
        /// The operation has no result.
        const INVALID = 16;
    }
}

/// Where results that are no number of the format go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, of two to the even one.
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
}

/// How to round, and the exceptions so far.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// Rounding.
    pub rounding: Rounding,
    /// Whether denormal results become zeros.
    pub flush: bool,
    /// Exceptions so far.
    pub flags: Flags,
}

impl Env {
    /// The environment that a control register asks for: bits 1–0 are the rounding, bit 24 flushes denormals.
    pub fn from_fcsr(fcsr: u32) -> Env {
        let rounding = match fcsr & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Zero,
            2 => Rounding::Up,
            _ => Rounding::Down,
        };
        Env { rounding, flush: fcsr >> 24 & 1 != 0, flags: Flags::empty() }
    }
}

/// A format of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the fraction.
    fraction: u32,
    /// Bits of the exponent.
    exponent: u32,
}

/// Single precision, in the lower 32 bits.
pub const SINGLE: Format = Format { fraction: 23, exponent: 8 };
/// Double precision.
pub const DOUBLE: Format = Format { fraction: 52, exponent: 11 };

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn sign_bit(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    fn exponent_mask(self) -> u64 {
        (1 << self.exponent) - 1
    }

    fn infinity(self, negative: bool) -> u64 {
        self.exponent_mask() << self.fraction | if negative { self.sign_bit() } else { 0 }
    }

    fn zero(self, negative: bool) -> u64 {
        if negative { self.sign_bit() } else { 0 }
    }

    /// The number of greatest magnitude.
    fn greatest(self, negative: bool) -> u64 {
        self.infinity(negative) - 1
    }

    /// The NaN that operations make: quiet, all lower bits set.
    pub fn default_nan(self) -> u64 {
        self.exponent_mask() << self.fraction | ((1 << (self.fraction - 1)) - 1)
    }

    fn unpack(self, bits: u64) -> Number {
        let negative = bits & self.sign_bit() != 0;
        let exponent = bits >> self.fraction & self.exponent_mask();
        let fraction = bits & ((1 << self.fraction) - 1);
        let class = if exponent == self.exponent_mask() {
            match fraction {
                0 => Class::Infinite,
                _ => Class::Nan { signaling: fraction >> (self.fraction - 1) != 0 },
            }
        } else if exponent == 0 && fraction == 0 {
            Class::Zero
        } else {
            let (fraction, exponent) =
                if exponent == 0 { (fraction, 1) } else { (fraction | 1 << self.fraction, exponent as i32) };
            // The highest bit of the significand is bit 63; it has the weight 2^exponent.
            let up = fraction.leading_zeros();
            let weight = exponent - self.bias() + (63 - self.fraction as i32) - up as i32;
            Class::Finite { exponent: weight, significand: fraction << up }
        };
        Number { negative, class }
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Zero,
    /// `significand * 2^(exponent - 63)`, the highest bit of the significand set.
    Finite {
        exponent: i32,
        significand: u64,
    },
    Infinite,
    Nan {
        signaling: bool,
    },
}
