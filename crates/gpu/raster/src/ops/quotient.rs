//! Quotients that are rounded correctly, of those that a host makes: 2.5 units in the last place is what Vulkan asks of
//! one.
//!
//! For mantissas `a` and `b` of 24 bits the quotient's is `floor(a * 2^k / b)`, `k` 23 or 24, or one more. What is left of
//! `a * 2^k` after subtracting a guess that is a few units off has less than 32 bits, so that it is right though the
//! products wrap around; a quotient of two floats never lies half-way.

use super::Ops;

/// A mantissa's highest bit.
const IMPLICIT: i32 = 1 << 23;
/// Units that a host's quotient may be off.
const OFF: usize = 4;

/// The quotient `a / b`, of one that is less than [`OFF`] units off. What is not a normal number stays as it is, and so
/// does a quotient that is none.
pub fn correct<O: Ops>(o: &mut O, a: O::Float, b: O::Float, near: O::Float) -> O::Float {
    let bits = [a, b, near].map(|value| o.bits(value));
    let exponents = bits.map(|bits| {
        let exponent = o.shr_by(bits, 23);
        o.and_with(exponent, 0xff)
    });
    let implicit = o.int(IMPLICIT);
    let [ma, mb, mq] = bits.map(|bits| {
        let fraction = o.and_with(bits, IMPLICIT - 1);
        o.or(fraction, implicit)
    });
    let [ea, eb, eq] = exponents;
    let smaller = o.less(ma, mb);
    let (zero, one) = (o.int(0), o.int(1));
    let down = o.select(smaller, one, zero);
    // The quotient's exponent follows from the mantissas; one of the host's that is beyond is at the end.
    let exponent = o.sub(ea, eb);
    let exponent = o.add_to(exponent, 127);
    let exponent = o.sub(exponent, down);
    let (below, above) = (o.less(eq, exponent), o.less(exponent, eq));
    let greatest = o.int(2 * IMPLICIT - 1);
    let guess = o.select(below, implicit, mq);
    let mut guess = o.select(above, greatest, guess);
    let k = o.add_to(down, 23);
    let (scaled, product) = (o.shl(ma, k), o.mul(guess, mb));
    let mut rest = o.sub(scaled, product);
    for _ in 0..OFF {
        let negative = o.less(rest, zero);
        let (less, more) = (o.add_to(guess, -1), o.add(rest, mb));
        guess = o.select(negative, less, guess);
        rest = o.select(negative, more, rest);
    }
    for _ in 0..OFF {
        let fits = o.less(rest, mb);
        let (more, less) = (o.add_to(guess, 1), o.sub(rest, mb));
        guess = o.select(fits, guess, more);
        rest = o.select(fits, rest, less);
    }
    let double = o.shl_by(rest, 1);
    let up = o.less(mb, double);
    let up = o.select(up, one, zero);
    let guess = o.add(guess, up);
    let fraction = o.sub(guess, implicit);
    let high = o.shl_by(exponent, 23);
    let magnitude = o.add(high, fraction);
    let sign = o.xor(bits[0], bits[1]);
    let sign = o.and_with(sign, i32::MIN);
    let value = o.or(sign, magnitude);
    let value = o.float_of_bits(value);

    let (least, most) = (o.int(0), o.int(255));
    let mut normal = o.bool(true);
    for exponent in [ea, eb, exponent] {
        let (reached, left) = (o.less(least, exponent), o.less(exponent, most));
        let within = o.both(reached, left);
        normal = o.both(normal, within);
    }
    o.fselect(normal, value, near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Scalar;
    use proptest::prelude::*;

    fn check(a: f32, b: f32, off: i32) -> Result<(), TestCaseError> {
        let exact = a / b;
        if !exact.is_normal() || !a.is_normal() || !b.is_normal() {
            return Ok(());
        }
        let near = f32::from_bits((exact.to_bits() as i32 + off) as u32);
        let corrected = correct(&mut Scalar::new(&[]), a, b, near);
        prop_assert_eq!(corrected.to_bits(), exact.to_bits(), "{} / {} from {}", a, b, near);
        Ok(())
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(20_000))]

        #[test]
        fn a_few_units_are_put_right(a in any::<f32>(), b in any::<f32>(), off in -3..=3) {
            check(a, b, off)?;
        }

        #[test]
        fn also_beside_powers_of_two(a in -9i32..9, b in -9i32..9, high in 100u32..150, off in -3..=3) {
            let near = |power: u32, by: i32| f32::from_bits(((power << 23) as i32 + by) as u32);
            check(near(high, a), near(127, b), off)?;
        }
    }
}
