//! A pixel at a time: the reference.

use super::Ops;

/// Arithmetic of a pixel.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'a> {
    memory: &'a [u16],
    table: &'a [u32],
}

impl<'a> Scalar<'a> {
    /// Arithmetic with the guest's memory, whose units are a power of two in number; none reads as 0.
    pub fn new(memory: &'a [u16]) -> Scalar<'a> {
        Scalar { memory, table: &[] }
    }

    /// The same with a table.
    pub fn with_table(self, table: &'a [u32]) -> Scalar<'a> {
        Scalar { table, ..self }
    }
}

macro_rules! pure {
    ($(fn $name:ident($($arg:ident: $ty:ty),+) -> $result:ty { $body:expr })+) => {$(
        #[inline(always)]
        fn $name(&mut self, $($arg: $ty),+) -> $result {
            $body
        }
    )+};
}

impl Ops for Scalar<'_> {
    type Int = i32;
    type Float = f32;
    type Bool = bool;

    pure! {
        fn int(value: i32) -> i32 { value }
        fn float(value: f32) -> f32 { value }
        fn bool(value: bool) -> bool { value }
        fn add(a: i32, b: i32) -> i32 { a.wrapping_add(b) }
        fn sub(a: i32, b: i32) -> i32 { a.wrapping_sub(b) }
        fn mul(a: i32, b: i32) -> i32 { a.wrapping_mul(b) }
        fn and(a: i32, b: i32) -> i32 { a & b }
        fn or(a: i32, b: i32) -> i32 { a | b }
        fn xor(a: i32, b: i32) -> i32 { a ^ b }
        fn shl(a: i32, by: i32) -> i32 { a.wrapping_shl(by as u32) }
        fn shr(a: i32, by: i32) -> i32 { (a as u32).wrapping_shr(by as u32) as i32 }
        fn sar(a: i32, by: i32) -> i32 { a.wrapping_shr(by as u32) }
        fn min(a: i32, b: i32) -> i32 { Ord::min(a, b) }
        fn max(a: i32, b: i32) -> i32 { Ord::max(a, b) }
        fn less(a: i32, b: i32) -> bool { a < b }
        fn equal(a: i32, b: i32) -> bool { a == b }
        fn fadd(a: f32, b: f32) -> f32 { a + b }
        fn fsub(a: f32, b: f32) -> f32 { a - b }
        fn fmul(a: f32, b: f32) -> f32 { a * b }
        fn fdiv(a: f32, b: f32) -> f32 { a / b }
        fn fabs(a: f32) -> f32 { a.abs() }
        fn fless(a: f32, b: f32) -> bool { a < b }
        fn to_float(a: i32) -> f32 { a as f32 }
        fn round(a: f32) -> i32 { a.round_ties_even() as i32 }
        fn bits(a: f32) -> i32 { a.to_bits() as i32 }
        fn float_of_bits(a: i32) -> f32 { f32::from_bits(a as u32) }
        fn select(when: bool, a: i32, b: i32) -> i32 { if when { a } else { b } }
        fn fselect(when: bool, a: f32, b: f32) -> f32 { if when { a } else { b } }
        fn both(a: bool, b: bool) -> bool { a & b }
        fn either(a: bool, b: bool) -> bool { a | b }
        fn not(a: bool) -> bool { !a }
    }

    #[inline(always)]
    fn load(&mut self, at: i32) -> i32 {
        self.memory.get(at as u32 as usize & self.memory.len().wrapping_sub(1)).copied().unwrap_or(0).into()
    }

    #[inline(always)]
    fn entry(&mut self, at: i32) -> i32 {
        self.table.get(at as u32 as usize).copied().unwrap_or(0) as i32
    }

    #[inline(always)]
    fn when<const N: usize>(
        &mut self,
        holds: bool,
        otherwise: [i32; N],
        then: impl FnOnce(&mut Self) -> [i32; N],
    ) -> [i32; N] {
        if holds { then(self) } else { otherwise }
    }
}
