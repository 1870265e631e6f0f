//! The arithmetic that pixel rules are written in.
//!
//! A chip's pixel rules are functions over [`Ops`], written once. [`Scalar`] runs them a pixel at a time, [`Lanes`] sixteen
//! pixels at once on the CPU, and [`Emit`] (feature `ir`) makes them a program of the IR, which the interpreter runs and
//! which becomes SPIR-V for the host's GPU. All arithmetic is pinned: integers wrap, each float operation is rounded to the
//! nearest by itself and never fused, quotients are rounded correctly. So every engine gives the same bits.

#[cfg(feature = "ir")]
mod emit;
mod lanes;
#[cfg(feature = "ir")]
mod quotient;
mod scalar;

#[cfg(feature = "ir")]
pub use emit::Emit;
pub use lanes::{LANES, Lanes};
pub use scalar::Scalar;

/// Arithmetic on pixels. Values are one for each pixel that an engine works on at once.
pub trait Ops {
    /// Integers of 32 bits.
    type Int: Copy + std::fmt::Debug;
    /// Floats of 32 bits.
    type Float: Copy + std::fmt::Debug;
    /// Truth values.
    type Bool: Copy + std::fmt::Debug;

    /// A constant.
    fn int(&mut self, value: i32) -> Self::Int;
    /// A constant.
    fn float(&mut self, value: f32) -> Self::Float;
    /// A constant.
    fn bool(&mut self, value: bool) -> Self::Bool;

    /// Sum, modulo 2^32.
    fn add(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Difference, modulo 2^32.
    fn sub(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Product, modulo 2^32.
    fn mul(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bitwise and.
    fn and(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bitwise or.
    fn or(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bitwise exclusive or.
    fn xor(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Left shift by 0 to 31.
    fn shl(&mut self, a: Self::Int, by: Self::Int) -> Self::Int;
    /// Right shift by 0 to 31, zeros in.
    fn shr(&mut self, a: Self::Int, by: Self::Int) -> Self::Int;
    /// Right shift by 0 to 31, signs in.
    fn sar(&mut self, a: Self::Int, by: Self::Int) -> Self::Int;
    /// The lesser one, signed.
    fn min(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// The greater one, signed.
    fn max(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Whether `a < b`, signed.
    fn less(&mut self, a: Self::Int, b: Self::Int) -> Self::Bool;
    /// Whether `a == b`.
    fn equal(&mut self, a: Self::Int, b: Self::Int) -> Self::Bool;

    /// Sum, rounded to nearest even.
    fn fadd(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Difference, rounded to nearest even.
    fn fsub(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Product, rounded to nearest even.
    fn fmul(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Quotient, rounded to nearest even.
    fn fdiv(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Magnitude.
    fn fabs(&mut self, a: Self::Float) -> Self::Float;
    /// Whether `a < b`; not if one of them is a NaN.
    fn fless(&mut self, a: Self::Float, b: Self::Float) -> Self::Bool;

    /// Float of a signed integer, rounded to nearest even.
    fn to_float(&mut self, a: Self::Int) -> Self::Float;
    /// The nearest integer, ties to even; the nearest that there is where it does not fit, 0 for a NaN.
    fn round(&mut self, a: Self::Float) -> Self::Int;
    /// The bits of a float.
    fn bits(&mut self, a: Self::Float) -> Self::Int;
    /// The float of bits.
    fn float_of_bits(&mut self, a: Self::Int) -> Self::Float;

    /// `a` where it holds, else `b`.
    fn select(&mut self, when: Self::Bool, a: Self::Int, b: Self::Int) -> Self::Int;
    /// `a` where it holds, else `b`.
    fn fselect(&mut self, when: Self::Bool, a: Self::Float, b: Self::Float) -> Self::Float;
    /// Whether both hold.
    fn both(&mut self, a: Self::Bool, b: Self::Bool) -> Self::Bool;
    /// Whether one of them holds.
    fn either(&mut self, a: Self::Bool, b: Self::Bool) -> Self::Bool;
    /// Whether it does not hold.
    fn not(&mut self, a: Self::Bool) -> Self::Bool;

    /// Unit `at` of 16 bits of the guest's memory, which lies there as often as it takes.
    fn load(&mut self, at: Self::Int) -> Self::Int;

    /// What `then` makes where it holds, else `otherwise`. An engine leaves `then` out where it holds for no pixel; what
    /// `then` does to values outside is not defined but for what it returns.
    fn when<const N: usize>(
        &mut self,
        holds: Self::Bool,
        otherwise: [Self::Int; N],
        then: impl FnOnce(&mut Self) -> [Self::Int; N],
    ) -> [Self::Int; N];

    /// The greater one; `b` if one of them is a NaN.
    #[inline(always)]
    fn fmax(&mut self, a: Self::Float, b: Self::Float) -> Self::Float {
        let less = self.fless(b, a);
        self.fselect(less, a, b)
    }

    /// The lesser one; `b` if one of them is a NaN.
    #[inline(always)]
    fn fmin(&mut self, a: Self::Float, b: Self::Float) -> Self::Float {
        let less = self.fless(a, b);
        self.fselect(less, a, b)
    }

    /// `a` within bounds.
    #[inline(always)]
    fn clamp(&mut self, a: Self::Int, low: i32, high: i32) -> Self::Int {
        let (low, high) = (self.int(low), self.int(high));
        let a = self.max(a, low);
        self.min(a, high)
    }

    /// Left shift by a constant.
    #[inline(always)]
    fn shl_by(&mut self, a: Self::Int, by: u32) -> Self::Int {
        let by = self.int(by as i32);
        self.shl(a, by)
    }

    /// Right shift by a constant, zeros in.
    #[inline(always)]
    fn shr_by(&mut self, a: Self::Int, by: u32) -> Self::Int {
        let by = self.int(by as i32);
        self.shr(a, by)
    }

    /// Right shift by a constant, signs in.
    #[inline(always)]
    fn sar_by(&mut self, a: Self::Int, by: u32) -> Self::Int {
        let by = self.int(by as i32);
        self.sar(a, by)
    }

    /// Bits of a constant.
    #[inline(always)]
    fn and_with(&mut self, a: Self::Int, mask: i32) -> Self::Int {
        let mask = self.int(mask);
        self.and(a, mask)
    }

    /// Sum with a constant.
    #[inline(always)]
    fn add_to(&mut self, a: Self::Int, constant: i32) -> Self::Int {
        let constant = self.int(constant);
        self.add(a, constant)
    }

    /// Product with a constant.
    #[inline(always)]
    fn times(&mut self, a: Self::Int, constant: i32) -> Self::Int {
        let constant = self.int(constant);
        self.mul(a, constant)
    }
}
