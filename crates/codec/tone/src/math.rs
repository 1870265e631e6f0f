//! Functions that `core` does not have: those of `std`, or of `libm` where there is no `std`.

macro_rules! functions {
    ($($name:ident, $ty:ty, ($x:ident $(, $y:ident)?), $std:expr, $libm:expr;)*) => {
        $(#[inline(always)]
        pub fn $name($x: $ty $(, $y: $ty)?) -> $ty {
            #[cfg(any(feature = "std", test))]
            return $std;
            #[cfg(not(any(feature = "std", test)))]
            return $libm;
        })*
    };
}

functions! {
    sqrt, f32, (x), x.sqrt(), libm::sqrtf(x);
    cbrt, f32, (x), x.cbrt(), libm::cbrtf(x);
    ln, f64, (x), x.ln(), libm::log(x);
    exp, f64, (x), x.exp(), libm::exp(x);
    exp2, f64, (x), x.exp2(), libm::exp2(x);
    sin, f64, (x), x.sin(), libm::sin(x);
    cos, f64, (x), x.cos(), libm::cos(x);
    hypot, f64, (x, y), x.hypot(y), libm::hypot(x, y);
}
