//! The arithmetic that pixel rules are written in.
//!
//! A chip's pixel rules are functions over [`Ops`], written once. [`Scalar`] runs them a pixel at a time, [`Lanes`] sixteen
//! pixels at once on the CPU, [`Pairs`] twice sixteen, and [`Emit`] (feature `ir`) makes them a program of the IR, which the interpreter runs and
//! which becomes SPIR-V for the host's GPU. All arithmetic is pinned: integers wrap, each float operation is rounded to the
//! nearest by itself and never fused, quotients are rounded correctly. So every engine gives the same bits.

#[cfg(feature = "ir")]
mod emit;
mod gather;
mod high;
mod lanes;
mod pairs;
mod rows;
mod scalar;
mod squares;

#[cfg(feature = "ir")]
pub use emit::Emit;
pub use lanes::{LANES, Lanes};
pub use pairs::Pairs;
pub use rows::FromRow;
pub use scalar::Scalar;

/// A closure that is always inlined. One that is not is compiled without the processor's extensions, and each operation of
/// [`Lanes`] in it is a call.
#[macro_export]
macro_rules! inlined {
    ($($closure:tt)+) => {
        #[inline(always)]
        $($closure)+
    };
}

/// `$body` of each of some values, without a closure or a loop.
#[macro_export]
macro_rules! each {
    ([$($value:expr),+ $(,)?], $name:pat => $body:expr) => {
        [$({
            let $name = $value;
            $body
        }),+]
    };
}

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

    /// Word `at` of a table of the engine's. What is not in it reads as some other word, or 0; engines but those on the CPU
    /// have none.
    #[inline(always)]
    fn entry(&mut self, _at: Self::Int) -> Self::Int {
        self.int(0)
    }

    /// Entries `at` and `at + 1` of the table, whose bytes are channels, mixed: the second has a weight of 0 to 64, in both
    /// halves of `share`, the first the rest of 64. Bytes 0 and 2 in the halves of one word, 1 and 3 in those of another.
    #[inline(always)]
    fn mixed_entries(&mut self, at: Self::Int, share: Self::Int) -> [Self::Int; 2] {
        let whole = self.int(0x40_0040);
        let (rest, next) = (self.sub(whole, share), self.add_to(at, 1));
        let (first, second) = (self.entry(at), self.entry(next));
        each!([0, 8], from => {
            let (first, second) = (self.shr_by(first, from), self.shr_by(second, from));
            let (first, second) = (self.and_with(first, 0xff_00ff), self.and_with(second, 0xff_00ff));
            let (first, second) = (self.mul_halves(first, rest), self.mul_halves(second, share));
            self.add_halves(first, second)
        })
    }

    /// [`Ops::mixed_entries`] of two places.
    #[inline(always)]
    fn mixed_rows(&mut self, at: [Self::Int; 2], share: Self::Int) -> [[Self::Int; 2]; 2] {
        each!([at[0], at[1]], at => self.mixed_entries(at, share))
    }

    /// What `then` makes where it holds, else `otherwise`. An engine leaves `then` out where it holds for no pixel; what
    /// `then` does to values outside is not defined but for what it returns.
    fn when<const N: usize>(
        &mut self,
        holds: Self::Bool,
        otherwise: [Self::Int; N],
        then: impl FnOnce(&mut Self) -> [Self::Int; N],
    ) -> [Self::Int; N];

    /// The greater one; `b` if `a` is a NaN. Pass no NaN as `b`: drivers may turn the selection into a maximum of their own,
    /// which returns `a` then.
    #[inline(always)]
    fn fmax(&mut self, a: Self::Float, b: Self::Float) -> Self::Float {
        let less = self.fless(b, a);
        self.fselect(less, a, b)
    }

    /// The lesser one; `b` if `a` is a NaN. Pass no NaN as `b`, as with [`Ops::fmax`].
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

    /// A float from 0 to `most`, which is at most 65535: the nearest integer, ties to even; 0 for a NaN.
    #[inline(always)]
    fn nearest(&mut self, a: Self::Float, most: u16) -> Self::Int {
        let (zero, most) = (self.float(0.0), self.float(most.into()));
        let a = self.fmax(a, zero);
        let a = self.fmin(a, most);
        // A unit in the last place is 1 from 2^23 on.
        let ones = self.float((1 << 23) as f32);
        let a = self.fadd(a, ones);
        let a = self.bits(a);
        self.and_with(a, 0xffff)
    }

    /// A word of two halves of 16 bits; `low` has no others.
    #[inline(always)]
    fn halves(&mut self, low: Self::Int, high: Self::Int) -> Self::Int {
        let high = self.shl_by(high, 16);
        self.or(low, high)
    }

    /// Sums of halves, modulo 2^16.
    #[inline(always)]
    fn add_halves(&mut self, a: Self::Int, b: Self::Int) -> Self::Int {
        let low = self.add(a, b);
        let (low, a, b) = (self.and_with(low, LOW), self.and_with(a, HIGH), self.and_with(b, HIGH));
        let high = self.add(a, b);
        self.or(low, high)
    }

    /// Differences of halves, modulo 2^16.
    #[inline(always)]
    fn sub_halves(&mut self, a: Self::Int, b: Self::Int) -> Self::Int {
        let low = self.sub(a, b);
        let (low, a, b) = (self.and_with(low, LOW), self.and_with(a, HIGH), self.and_with(b, HIGH));
        let high = self.sub(a, b);
        self.or(low, high)
    }

    /// Products of halves, modulo 2^16.
    #[inline(always)]
    fn mul_halves(&mut self, a: Self::Int, b: Self::Int) -> Self::Int {
        let low = self.mul(a, b);
        let (low, a, b) = (self.and_with(low, LOW), self.shr_by(a, 16), self.shr_by(b, 16));
        let high = self.mul(a, b);
        self.halves(low, high)
    }

    /// Upper 16 bits of the signed products of halves.
    #[inline(always)]
    fn mul_halves_high(&mut self, a: Self::Int, b: Self::Int) -> Self::Int {
        let (low_a, low_b) = (self.shl_by(a, 16), self.shl_by(b, 16));
        let (low_a, low_b) = (self.sar_by(low_a, 16), self.sar_by(low_b, 16));
        let (high_a, high_b) = (self.sar_by(a, 16), self.sar_by(b, 16));
        let (low, high) = (self.mul(low_a, low_b), self.mul(high_a, high_b));
        let (low, high) = (self.shr_by(low, 16), self.and_with(high, HIGH));
        self.or(low, high)
    }

    /// The lesser halves, unsigned.
    #[inline(always)]
    fn min_halves(&mut self, a: Self::Int, b: Self::Int) -> Self::Int {
        let (low_a, low_b) = (self.and_with(a, LOW), self.and_with(b, LOW));
        let (high_a, high_b) = (self.shr_by(a, 16), self.shr_by(b, 16));
        let (low, high) = (self.min(low_a, low_b), self.min(high_a, high_b));
        self.halves(low, high)
    }

    /// Left shift of halves by 0 to 15.
    #[inline(always)]
    fn shl_halves(&mut self, a: Self::Int, by: u32) -> Self::Int {
        let a = self.shl_by(a, by);
        self.and_with(a, ((LOW << by) & LOW).wrapping_mul(0x1_0001))
    }

    /// Right shift of halves by 0 to 15, zeros in.
    #[inline(always)]
    fn shr_halves(&mut self, a: Self::Int, by: u32) -> Self::Int {
        let a = self.shr_by(a, by);
        self.and_with(a, (LOW >> by).wrapping_mul(0x1_0001))
    }

    /// Channels of five bits, bits 10 to 14 of halves that have no others, as channels of eight.
    #[inline(always)]
    fn widen_fives(&mut self, a: Self::Int) -> Self::Int {
        let (high, low) = (self.shr_by(a, 7), self.shr_by(a, 12));
        let (high, low) = (self.and_with(high, 0xf8_00f8), self.and_with(low, 0x7_0007));
        self.or(high, low)
    }
}

/// The lower half of a word.
const LOW: i32 = 0xffff;
/// The upper half of a word.
const HIGH: i32 = !0xffff;

/// The processor's best instructions, AVX2 where there is AVX2, and what every processor of the architecture has.
#[cfg(test)]
pub(crate) fn levels() -> impl Iterator<Item = fearless_simd::Level> {
    use fearless_simd::Level;
    let best = Level::new();
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    let avx2 = best.as_avx2().map(Level::Avx2);
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    let avx2 = None;
    [Some(best), avx2, Some(Level::baseline())].into_iter().flatten()
}
