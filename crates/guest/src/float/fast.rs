//! The same arithmetic on the host's, for the usual case: rounding to nearest, no exception enabled, operands and result
//! normal numbers. Then the only exception can be that the result is inexact, which is computed exactly.
//!
//! Each function answers `None` where the case is not the usual one. A product or quotient that is the least normal number
//! is not: it may have underflowed.

/// A result, and whether it was rounded.
pub(crate) type Rounded<T> = Option<(T, bool)>;

/// The significand with its trailing zeros removed.
fn odd64(value: f64) -> u64 {
    let significand = value.to_bits() & ((1 << 52) - 1) | 1 << 52;
    significand >> significand.trailing_zeros()
}

macro_rules! float {
    ($module:ident, $type:ty) => {
        pub(crate) mod $module {
            use super::Rounded;

            fn usual(a: $type, b: $type) -> bool {
                a.is_normal() && b.is_normal()
            }

            /// `a + b`.
            #[inline]
            pub(crate) fn add(a: $type, b: $type) -> Rounded<$type> {
                let sum = a + b;
                // The rounding error of a sum is a number of the format, which these steps find.
                let part = sum - a;
                let error = (a - (sum - part)) + (b - part);
                (usual(a, b) && sum.is_normal()).then_some((sum, error != 0.0))
            }

            /// `a - b`.
            #[inline]
            pub(crate) fn sub(a: $type, b: $type) -> Rounded<$type> {
                add(a, -b)
            }
        }
    };
}

float!(single, f32);
float!(double, f64);

/// `a * b`.
#[inline]
pub(crate) fn mul32(a: f32, b: f32) -> Rounded<f32> {
    // 24 by 24 bits fit into a double.
    let exact = f64::from(a) * f64::from(b);
    let product = exact as f32;
    (a.is_normal() && b.is_normal() && product.abs() > f32::MIN_POSITIVE && product.is_finite())
        .then_some((product, f64::from(product) != exact))
}

/// `a * b`.
#[inline]
pub(crate) fn mul64(a: f64, b: f64) -> Rounded<f64> {
    let product = a * b;
    let bits = u128::from(odd64(a)) * u128::from(odd64(b));
    (a.is_normal() && b.is_normal() && product.abs() > f64::MIN_POSITIVE && product.is_finite())
        .then_some((product, bits >> 53 != 0))
}

/// `a / b`.
#[inline]
pub(crate) fn div64(a: f64, b: f64) -> Rounded<f64> {
    let quotient = a / b;
    // The quotient is exact when its product with the divisor is the dividend, powers of two apart.
    let exact = u128::from(odd64(quotient)) * u128::from(odd64(b)) == u128::from(odd64(a));
    (a.is_normal() && b.is_normal() && quotient.abs() > f64::MIN_POSITIVE && quotient.is_finite())
        .then_some((quotient, !exact))
}

/// `a / b`.
#[inline]
pub(crate) fn div32(a: f32, b: f32) -> Rounded<f32> {
    let quotient = a / b;
    let exact = f64::from(quotient) * f64::from(b) == f64::from(a);
    (a.is_normal() && b.is_normal() && quotient.abs() > f32::MIN_POSITIVE && quotient.is_finite())
        .then_some((quotient, !exact))
}

/// The square root.
#[inline]
pub(crate) fn sqrt64(a: f64) -> Rounded<f64> {
    let root = a.sqrt();
    let odd = odd64(root);
    // The square of the root's odd part is that of the operand when the root is exact: odd parts are unique.
    let exact = u128::from(odd) * u128::from(odd) == u128::from(odd64(a));
    (a.is_normal() && a > 0.0).then_some((root, !exact))
}

/// The square root.
#[inline]
pub(crate) fn sqrt32(a: f32) -> Rounded<f32> {
    let root = a.sqrt();
    let exact = f64::from(root) * f64::from(root) == f64::from(a);
    (a.is_normal() && a > 0.0).then_some((root, !exact))
}
