//! The unit's float formats: conversion to and from IEEE single.
//!
//! All three are sign, exponent, mantissa from the top, with an all-ones exponent for infinity and NaN and a zero
//! exponent for zero and denormals (vectors/pica/FORMAT.md, section 1). Every value of each fits an IEEE single
//! exactly.

/// A float format of at most 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
}

/// Shader registers and float uniforms: 1 + 7 + 16 bits, bias 63.
pub const F24: Format = Format { exponent_bits: 7, mantissa_bits: 16 };

/// Light attenuation registers: 1 + 7 + 12 bits, bias 63.
pub const F20: Format = Format { exponent_bits: 7, mantissa_bits: 12 };

/// Light positions and procedural textures: 1 + 5 + 10 bits, bias 15.
pub const F16: Format = Format { exponent_bits: 5, mantissa_bits: 10 };

/// What a narrowing conversion does with results below the smallest normal number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Denormals {
    /// They are rounded to the nearest denormal.
    Keep,
    /// They become zero of the same sign, as the chip is believed to do.
    Flush,
}

/// The bits of every NaN these conversions give as an IEEE single.
pub const QUIET_NAN: u32 = 0x7fc0_0000;

const SINGLE_MANTISSA: u32 = 23;
const SINGLE_BIAS: i32 = 127;

impl Format {
    /// Width in bits, the sign included.
    pub const fn bits(self) -> u32 {
        1 + self.exponent_bits + self.mantissa_bits
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    const fn max_exponent(self) -> u32 {
        (1 << self.exponent_bits) - 1
    }

    const fn mantissa_mask(self) -> u32 {
        (1 << self.mantissa_bits) - 1
    }

    /// The bits of infinity, and above them NaN.
    const fn infinity(self) -> u32 {
        self.max_exponent() << self.mantissa_bits
    }

    /// A NaN of this format.
    const fn nan(self) -> u32 {
        self.infinity() | 1 << (self.mantissa_bits - 1)
    }

    /// The value of `raw` as the bits of an IEEE single; exact. Bits above the format's width are ignored; every NaN
    /// gives [`QUIET_NAN`].
    pub fn to_single_bits(self, raw: u32) -> u32 {
        let sign = (raw >> (self.bits() - 1) & 1) << 31;
        let exponent = raw >> self.mantissa_bits & self.max_exponent();
        let mantissa = raw & self.mantissa_mask();
        let to_single = SINGLE_MANTISSA - self.mantissa_bits;
        if exponent == self.max_exponent() {
            return if mantissa == 0 { sign | f32::INFINITY.to_bits() } else { QUIET_NAN };
        }
        if exponent == 0 {
            if mantissa == 0 {
                return sign;
            }
            // A denormal here is a normal single: move its leading one to the hidden place.
            let shift = mantissa.leading_zeros() - (31 - self.mantissa_bits);
            let single_exponent = (1 - self.bias() - shift as i32 + SINGLE_BIAS) as u32;
            let fraction = mantissa << shift & self.mantissa_mask();
            return sign | single_exponent << SINGLE_MANTISSA | fraction << to_single;
        }
        let single_exponent = (exponent as i32 - self.bias() + SINGLE_BIAS) as u32;
        sign | single_exponent << SINGLE_MANTISSA | mantissa << to_single
    }

    /// The value of `raw`, exactly.
    pub fn to_f32(self, raw: u32) -> f32 {
        f32::from_bits(self.to_single_bits(raw))
    }

    /// The nearest number of this format whose magnitude is not larger; denormals are kept, what is too large becomes
    /// infinity.
    pub fn truncate_f32(self, value: f32) -> u32 {
        let nearest = self.from_f32(value, Denormals::Keep);
        let grew = value.is_finite() && self.to_f32(nearest).abs() > value.abs();
        // From the first power of two beyond the format on, values become infinity; what is below it, and was rounded up
        // to infinity, becomes the largest number.
        let least_infinite = 2.0 * self.to_f32(self.infinity() - (1 << self.mantissa_bits));
        if grew && value.abs() < least_infinite { nearest - 1 } else { nearest }
    }

    /// The number's bits with another bias, as picasso converts constants: the mantissa's low bits are dropped, what has no
    /// exponent here is zero or infinity, and the least and greatest exponents keep the mantissa, though they stand for
    /// denormals and NaNs.
    pub fn rebias_f32(self, value: f32) -> u32 {
        let bits = value.to_bits();
        let sign = (bits >> 31) << (self.bits() - 1);
        let mantissa = bits >> (SINGLE_MANTISSA - self.mantissa_bits) & self.mantissa_mask();
        let exponent = (bits >> SINGLE_MANTISSA & 0xff) as i32 - SINGLE_BIAS + self.bias();
        match u32::try_from(exponent) {
            Err(_) => sign,
            Ok(exponent) if exponent > self.max_exponent() => sign | self.infinity(),
            Ok(exponent) => sign | exponent << self.mantissa_bits | mantissa,
        }
    }

    /// The nearest number of this format, ties to even; what is too large becomes infinity.
    pub fn from_f32(self, value: f32, denormals: Denormals) -> u32 {
        let bits = value.to_bits();
        let sign = (bits >> 31) << (self.bits() - 1);
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > f32::INFINITY.to_bits() {
            return self.nan();
        }
        if magnitude == f32::INFINITY.to_bits() {
            return sign | self.infinity();
        }
        let single_exponent = (magnitude >> SINGLE_MANTISSA) as i32;
        if single_exponent == 0 {
            // A single's denormals lie below half of any denormal here.
            return sign;
        }
        let exponent = single_exponent - SINGLE_BIAS + self.bias();
        let significand = magnitude & ((1 << SINGLE_MANTISSA) - 1) | 1 << SINGLE_MANTISSA;
        let drop = SINGLE_MANTISSA - self.mantissa_bits;
        if exponent >= 1 {
            let rounded = round_to_even(significand, drop);
            // A carry out of the significand raises the exponent, up to infinity, by plain addition.
            let sum = ((exponent as u32 - 1) << self.mantissa_bits) + rounded;
            return sign | sum.min(self.infinity());
        }
        let denormal_drop = drop + (1 - exponent) as u32;
        // 24 bits of significand: beyond this even the rounding bit is gone.
        let rounded =
            if denormal_drop > SINGLE_MANTISSA + 1 { 0 } else { round_to_even(significand, denormal_drop) };
        let became_normal = rounded >> self.mantissa_bits != 0;
        match denormals {
            Denormals::Flush if !became_normal => sign,
            _ => sign | rounded,
        }
    }
}

/// `value` without its lowest `drop` bits (1 to 31), rounded to nearest, ties to even.
fn round_to_even(value: u32, drop: u32) -> u32 {
    let half = 1 << (drop - 1);
    let odd = value >> drop & 1;
    (value + half - 1 + odd) >> drop
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rebiased_values() {
        for (value, raw) in [
            (1.0, 0x3f_0000),
            (-1.999_999_9, 0xbf_ffff),
            (0.0, 0),
            (-0.0, 0x80_0000),
            (1e-30, 0),
            (-1e-30, 0x80_0000),
            (1.5 * 2f32.powi(-63), 0x00_8000),
            (1.5 * 2f32.powi(64), 0x7f_8000),
            (2f32.powi(65), 0x7f_0000),
            (f32::NEG_INFINITY, 0xff_0000),
        ] {
            assert_eq!(F24.rebias_f32(value), raw, "{value}");
        }
    }

    #[test]
    fn known_values() {
        for (value, raw) in
            [(0.0, 0), (1.0, 0x3f_0000), (-2.0, 0xc0_0000), (0.5, 0x3e_0000), (1.5, 0x3f_8000)]
        {
            assert_eq!(F24.to_f32(raw), value);
            assert_eq!(F24.from_f32(value, Denormals::Keep), raw);
        }
        assert_eq!(F16.to_f32(0x3c00), 1.0);
        assert_eq!(F16.to_f32(0x0001), 2f32.powi(-24));
        assert_eq!(F20.to_f32(0x3f000), 1.0);
        assert_eq!(F24.to_single_bits(0x7f_0001), QUIET_NAN);
        assert_eq!(F24.to_f32(0xff_0000), f32::NEG_INFINITY);
    }

    #[test]
    fn narrowing_rounds_to_even_and_overflows_to_infinity() {
        // Bit 7 of a single is the lowest bit that f24 keeps.
        assert_eq!(F24.from_f32(f32::from_bits(0x3f80_0040), Denormals::Keep), 0x3f_0000);
        assert_eq!(F24.from_f32(f32::from_bits(0x3f80_00c0), Denormals::Keep), 0x3f_0002);
        assert_eq!(F24.from_f32(f32::from_bits(0x3f80_0041), Denormals::Keep), 0x3f_0001);
        assert_eq!(F24.from_f32(f32::from_bits(0x3fff_ffff), Denormals::Keep), 0x40_0000);
        assert_eq!(F24.from_f32(f32::MAX, Denormals::Keep), 0x7f_0000);
        assert_eq!(F24.from_f32(-f32::MAX, Denormals::Keep), 0xff_0000);
        assert!(F24.to_f32(F24.from_f32(f32::NAN, Denormals::Keep)).is_nan());
    }

    #[test]
    fn denormals_are_kept_or_flushed() {
        let smallest = 2f32.powi(-62 - 16);
        assert_eq!(F24.from_f32(smallest, Denormals::Keep), 1);
        assert_eq!(F24.from_f32(-smallest, Denormals::Flush), 0x80_0000);
        assert_eq!(F24.from_f32(smallest / 2.0, Denormals::Keep), 0);
        assert_eq!(F24.from_f32(smallest * 1.5, Denormals::Keep), 2);
        assert_eq!(F24.from_f32(f32::from_bits(1), Denormals::Keep), 0);
        let smallest_normal = 2f32.powi(-62);
        assert_eq!(F24.from_f32(smallest_normal, Denormals::Flush), 0x01_0000);
        // Rounds up to a normal number before the flush looks at it.
        let just_below = f32::from_bits(smallest_normal.to_bits() - 1);
        assert_eq!(F24.from_f32(just_below, Denormals::Flush), 0x01_0000);
    }

    #[test]
    fn every_number_survives_the_round_trip() {
        for format in [F24, F20, F16] {
            for raw in 0..1u32 << format.bits() {
                let magnitude = raw & ((1 << (format.bits() - 1)) - 1);
                let single = format.to_f32(raw);
                if magnitude > format.infinity() {
                    assert_eq!(single.to_bits(), QUIET_NAN);
                } else {
                    assert_eq!(format.from_f32(single, Denormals::Keep), raw, "{raw:#x}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn narrowing_gives_the_nearest_neighbour(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let got = F24.from_f32(value, Denormals::Keep);
            let error = |raw: u32| (f64::from(F24.to_f32(raw)) - f64::from(value)).abs();
            let magnitude = got & 0x7f_ffff;
            if magnitude < 0x7f_0000 {
                prop_assert!(magnitude + 1 == 0x7f_0000 || error(got) <= error(got + 1));
                prop_assert!(magnitude == 0 || error(got) <= error(got - 1));
            } else {
                // Infinity starts half a step above the largest finite number.
                prop_assert!(f64::from(value.abs()) >= f64::from(F24.to_f32(0x7e_ffff)) * (1.0 + 2f64.powi(-18)));
            }
        }
    }
}
