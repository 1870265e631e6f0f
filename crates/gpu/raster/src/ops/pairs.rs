//! Thirty-two pixels at once on the CPU: two groups of sixteen, whose operations take turns.

use super::{Lanes, Ops};
use fearless_simd::prelude::*;

/// Arithmetic of two groups of pixels. Pixel rules are long chains of operations that wait for each other; of two chains one
/// has work for the processor while the other waits.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a, S: Simd>(pub Lanes<'a, S>);

macro_rules! twice {
    ($(fn $name:ident($($arg:ident: $ty:ident),+) -> $result:ident)+) => {$(
        #[inline(always)]
        fn $name(&mut self, $($arg: Self::$ty),+) -> Self::$result {
            let first = self.0.$name($($arg[0]),+);
            let second = self.0.$name($($arg[1]),+);
            [first, second]
        }
    )+};
}

/// Operations with a constant behind the values.
macro_rules! twice_with {
    ($(fn $name:ident($($arg:ident: $ty:ident)?; $constant:ty) -> $result:ident)+) => {$(
        #[inline(always)]
        fn $name(&mut self, $($arg: Self::$ty,)? constant: $constant) -> Self::$result {
            let first = self.0.$name($($arg[0],)? constant);
            let second = self.0.$name($($arg[1],)? constant);
            [first, second]
        }
    )+};
}

impl<'a, S: Simd> Ops for Pairs<'a, S> {
    type Int = [<Lanes<'a, S> as Ops>::Int; 2];
    type Float = [<Lanes<'a, S> as Ops>::Float; 2];
    type Bool = [<Lanes<'a, S> as Ops>::Bool; 2];

    twice_with! {
        fn int(; i32) -> Int
        fn float(; f32) -> Float
        fn bool(; bool) -> Bool
        fn shl_halves(a: Int; u32) -> Int
        fn shr_halves(a: Int; u32) -> Int
    }

    twice! {
        fn add(a: Int, b: Int) -> Int
        fn sub(a: Int, b: Int) -> Int
        fn mul(a: Int, b: Int) -> Int
        fn and(a: Int, b: Int) -> Int
        fn or(a: Int, b: Int) -> Int
        fn xor(a: Int, b: Int) -> Int
        fn shl(a: Int, b: Int) -> Int
        fn shr(a: Int, b: Int) -> Int
        fn sar(a: Int, b: Int) -> Int
        fn min(a: Int, b: Int) -> Int
        fn max(a: Int, b: Int) -> Int
        fn less(a: Int, b: Int) -> Bool
        fn equal(a: Int, b: Int) -> Bool
        fn fadd(a: Float, b: Float) -> Float
        fn fsub(a: Float, b: Float) -> Float
        fn fmul(a: Float, b: Float) -> Float
        fn fdiv(a: Float, b: Float) -> Float
        fn fabs(a: Float) -> Float
        fn fless(a: Float, b: Float) -> Bool
        fn to_float(a: Int) -> Float
        fn round(a: Float) -> Int
        fn bits(a: Float) -> Int
        fn float_of_bits(a: Int) -> Float
        fn select(when: Bool, a: Int, b: Int) -> Int
        fn fselect(when: Bool, a: Float, b: Float) -> Float
        fn both(a: Bool, b: Bool) -> Bool
        fn either(a: Bool, b: Bool) -> Bool
        fn not(a: Bool) -> Bool
        fn load(at: Int) -> Int
        fn entry(at: Int) -> Int
        fn fmax(a: Float, b: Float) -> Float
        fn fmin(a: Float, b: Float) -> Float
        fn add_halves(a: Int, b: Int) -> Int
        fn sub_halves(a: Int, b: Int) -> Int
        fn mul_halves(a: Int, b: Int) -> Int
        fn mul_halves_high(a: Int, b: Int) -> Int
        fn min_halves(a: Int, b: Int) -> Int
        fn widen_fives(a: Int) -> Int
    }

    #[inline(always)]
    fn mixed_rows(&mut self, at: [Self::Int; 2], share: Self::Int) -> [[Self::Int; 2]; 2] {
        let [[a, b], [c, d]] = self.0.mixed_rows([at[0][0], at[1][0]], share[0]);
        let [[e, f], [g, h]] = self.0.mixed_rows([at[0][1], at[1][1]], share[1]);
        [[[a, e], [b, f]], [[c, g], [d, h]]]
    }

    #[inline(always)]
    fn when<const N: usize>(
        &mut self,
        holds: Self::Bool,
        otherwise: [Self::Int; N],
        then: impl FnOnce(&mut Self) -> [Self::Int; N],
    ) -> [Self::Int; N] {
        if holds[0].all_false() && holds[1].all_false() {
            return otherwise;
        }
        let mut values = then(self);
        for (value, otherwise) in values.iter_mut().zip(otherwise) {
            *value = self.select(holds, *value, otherwise);
        }
        values
    }
}
