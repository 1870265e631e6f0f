//! Sixteen pixels at once on the CPU.

use super::{Ops, gather, high, squares};
use fearless_simd::prelude::*;
use fearless_simd::{f32x16, i32x16, mask32x16, u16x32, u32x16};

/// How many pixels are worked on at once.
pub const LANES: usize = 16;

/// Arithmetic of sixteen pixels.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<'a, S: Simd> {
    simd: S,
    /// Units, a power of two in number, or none.
    memory: &'a [u16],
    table: &'a [u32],
}

impl<'a, S: Simd> Lanes<'a, S> {
    /// Arithmetic with the guest's memory, whose units are a power of two in number, 2^31 at most; any other reads as 0.
    #[inline(always)]
    pub fn new(simd: S, memory: &'a [u16]) -> Lanes<'a, S> {
        let fits = memory.len().is_power_of_two() && memory.len() <= 1 << 31;
        Lanes { simd, memory: if fits { memory } else { &[] }, table: &[] }
    }

    /// The same with a table.
    #[inline(always)]
    pub fn with_table(self, table: &'a [u32]) -> Lanes<'a, S> {
        Lanes { table, ..self }
    }

    /// The processor's instructions.
    #[inline(always)]
    pub fn simd(&self) -> S {
        self.simd
    }
}

#[inline(always)]
fn halves<S: Simd>(words: i32x16<S>) -> u16x32<S> {
    words.bitcast()
}

#[inline(always)]
fn words<S: Simd>(halves: u16x32<S>) -> i32x16<S> {
    halves.bitcast()
}

/// Whether the extensions are those of x86.
#[inline(always)]
fn is_x86<S: Simd>(simd: S) -> bool {
    cfg!(any(target_arch = "x86", target_arch = "x86_64")) && !simd.level().is_fallback()
}

macro_rules! pure {
    ($(fn $name:ident($($arg:ident: $ty:ty),+) -> $result:ty { |$simd:ident| $body:expr })+) => {$(
        #[inline(always)]
        fn $name(&mut self, $($arg: $ty),+) -> $result {
            #[allow(unused_variables)]
            let $simd = self.simd;
            $body
        }
    )+};
}

impl<S: Simd> Ops for Lanes<'_, S> {
    type Int = i32x16<S>;
    type Float = f32x16<S>;
    type Bool = mask32x16<S>;

    pure! {
        fn int(value: i32) -> i32x16<S> { |simd| i32x16::splat(simd, value) }
        fn float(value: f32) -> f32x16<S> { |simd| f32x16::splat(simd, value) }
        fn bool(value: bool) -> mask32x16<S> { |simd| mask32x16::splat(simd, value) }
        fn add(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a + b }
        fn sub(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a - b }
        fn mul(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a * b }
        fn and(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a & b }
        fn or(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a | b }
        fn xor(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a ^ b }
        fn shl(a: i32x16<S>, by: i32x16<S>) -> i32x16<S> { |simd| a << by }
        fn shr(a: i32x16<S>, by: i32x16<S>) -> i32x16<S> {
            |simd| (a.bitcast::<u32x16<S>>() >> by.bitcast::<u32x16<S>>()).bitcast()
        }
        fn sar(a: i32x16<S>, by: i32x16<S>) -> i32x16<S> { |simd| a >> by }
        fn min(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a.min(b) }
        fn max(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| a.max(b) }
        fn less(a: i32x16<S>, b: i32x16<S>) -> mask32x16<S> { |simd| a.simd_lt(b) }
        fn equal(a: i32x16<S>, b: i32x16<S>) -> mask32x16<S> { |simd| a.simd_eq(b) }
        fn fadd(a: f32x16<S>, b: f32x16<S>) -> f32x16<S> { |simd| a + b }
        fn fsub(a: f32x16<S>, b: f32x16<S>) -> f32x16<S> { |simd| a - b }
        fn fmul(a: f32x16<S>, b: f32x16<S>) -> f32x16<S> { |simd| a * b }
        fn fdiv(a: f32x16<S>, b: f32x16<S>) -> f32x16<S> { |simd| a / b }
        fn fabs(a: f32x16<S>) -> f32x16<S> { |simd| a.abs() }
        fn fless(a: f32x16<S>, b: f32x16<S>) -> mask32x16<S> { |simd| a.simd_lt(b) }
        fn to_float(a: i32x16<S>) -> f32x16<S> { |simd| a.to_float() }
        fn round(a: f32x16<S>) -> i32x16<S> {
            |simd| {
                let whole = a.round_ties_even();
                // What does not fit is this number on x86: then, and only then, it takes more than one instruction.
                let fast: i32x16<S> = whole.to_int();
                let beyond = fast.simd_eq(i32::MIN);
                if is_x86(simd) && beyond.all_false() { fast } else { whole.to_int_precise() }
            }
        }
        fn bits(a: f32x16<S>) -> i32x16<S> { |simd| a.bitcast() }
        fn float_of_bits(a: i32x16<S>) -> f32x16<S> { |simd| a.bitcast() }
        fn select(when: mask32x16<S>, a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| when.select(a, b) }
        fn fselect(when: mask32x16<S>, a: f32x16<S>, b: f32x16<S>) -> f32x16<S> { |simd| when.select(a, b) }
        fn both(a: mask32x16<S>, b: mask32x16<S>) -> mask32x16<S> { |simd| a & b }
        fn either(a: mask32x16<S>, b: mask32x16<S>) -> mask32x16<S> { |simd| a | b }
        fn not(a: mask32x16<S>) -> mask32x16<S> { |simd| !a }
        fn fmax(a: f32x16<S>, b: f32x16<S>) -> f32x16<S> {
            // What x86 makes of a NaN is what is asked for; others differ.
            |simd| if is_x86(simd) { a.max(b) } else { b.simd_lt(a).select(a, b) }
        }
        fn fmin(a: f32x16<S>, b: f32x16<S>) -> f32x16<S> {
            |simd| if is_x86(simd) { a.min(b) } else { a.simd_lt(b).select(a, b) }
        }
        fn add_halves(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| words(halves(a) + halves(b)) }
        fn sub_halves(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| words(halves(a) - halves(b)) }
        fn mul_halves(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| words(halves(a) * halves(b)) }
        fn mul_halves_high(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| high::products(simd, a, b) }
        fn min_halves(a: i32x16<S>, b: i32x16<S>) -> i32x16<S> { |simd| words(halves(a).min(halves(b))) }
        fn shl_halves(a: i32x16<S>, by: u32) -> i32x16<S> { |simd| words(halves(a) << by) }
        fn shr_halves(a: i32x16<S>, by: u32) -> i32x16<S> { |simd| words(halves(a) >> by) }
        fn widen_fives(a: i32x16<S>) -> i32x16<S> {
            // (c << 10) * 528 >> 16 is c << 3 | c >> 2.
            |simd| high::products(simd, a, i32x16::splat(simd, 0x210_0210))
        }
    }

    #[inline(always)]
    fn load(&mut self, at: i32x16<S>) -> i32x16<S> {
        let Some(last) = self.memory.len().checked_sub(1) else { return i32x16::splat(self.simd, 0) };
        let at = at & last as u32 as i32;
        if let Some(units) = gather::units(self.simd, self.memory, at) {
            return units;
        }
        let mut units = at.to_array();
        for unit in &mut units {
            // SAFETY: `last` is the number of units less one, all ones as that is a power of two; so `at` is below it.
            *unit = i32::from(unsafe { *self.memory.get_unchecked(*unit as u32 as usize) });
        }
        i32x16::load_array(self.simd, units)
    }

    #[inline(always)]
    fn entry(&mut self, at: i32x16<S>) -> i32x16<S> {
        let mut entries = at.to_array();
        for entry in &mut entries {
            *entry = self.table.get(*entry as u32 as usize).copied().unwrap_or(0) as i32;
        }
        i32x16::load_array(self.simd, entries)
    }

    #[inline(always)]
    fn mixed_rows(&mut self, at: [i32x16<S>; 2], share: i32x16<S>) -> [[i32x16<S>; 2]; 2] {
        if let Some(rows) = squares::mixed(self.simd, self.table, at, share) {
            return rows;
        }
        [self.mixed_entries(at[0], share), self.mixed_entries(at[1], share)]
    }

    #[inline(always)]
    fn when<const N: usize>(
        &mut self,
        holds: mask32x16<S>,
        otherwise: [i32x16<S>; N],
        then: impl FnOnce(&mut Self) -> [i32x16<S>; N],
    ) -> [i32x16<S>; N] {
        if holds.all_false() {
            return otherwise;
        }
        let mut values = then(self);
        for (value, otherwise) in values.iter_mut().zip(otherwise) {
            *value = holds.select(*value, otherwise);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::levels;
    use crate::ops::{Pairs, Scalar};
    use fearless_simd::dispatch;
    use proptest::prelude::*;

    /// Every operation on numbers: what the engines must agree on.
    fn everything<O: Ops>(o: &mut O, a: O::Int, b: O::Int) -> Vec<O::Int> {
        let (x, y) = (o.float_of_bits(a), o.float_of_bits(b));
        let by = o.and_with(b, 31);
        let floats = [
            o.fadd(x, y),
            o.fsub(x, y),
            o.fmul(x, y),
            o.fdiv(x, y),
            o.to_float(a),
            o.fmax(x, y),
            o.fmin(x, y),
        ];
        let mut out = vec![
            o.add(a, b),
            o.sub(a, b),
            o.mul(a, b),
            o.and(a, b),
            o.or(a, b),
            o.xor(a, b),
            o.shl(a, by),
            o.shr(a, by),
            o.sar(a, by),
            o.min(a, b),
            o.max(a, b),
            o.round(x),
            o.nearest(x, 255),
            o.load(a),
            o.add_halves(a, b),
            o.sub_halves(a, b),
            o.mul_halves(a, b),
            o.mul_halves_high(a, b),
            o.min_halves(a, b),
            o.shl_halves(a, 3),
            o.shr_halves(a, 5),
        ];
        let (at, below) = (o.and_with(a, 31), o.and_with(b, 31));
        let share = o.and_with(b, 0x3f);
        let share = o.halves(share, share);
        out.push(o.entry(at));
        out.extend(o.mixed_rows([at, below], share).concat());
        let fives = o.and_with(a, 0x7c00_7c00);
        out.push(o.widen_fives(fives));
        for value in floats {
            // Bits of NaNs are not pinned.
            let (zero, infinity, magnitude) = (o.float(0.0), o.float(f32::INFINITY), o.fabs(value));
            let finite = o.fless(magnitude, infinity);
            let value = o.fselect(finite, value, zero);
            out.push(o.bits(value));
        }
        let (less, fless, equal) = (o.less(a, b), o.fless(x, y), o.equal(a, b));
        let either = o.either(less, fless);
        let both = o.both(either, less);
        let not = o.not(equal);
        let both = o.both(both, not);
        out.extend(o.when(both, [a, b], |o| [o.add(a, b), o.sub(a, b)]));
        out
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn lanes_are_pixels(a in any::<[i32; 16]>(), b in any::<[i32; 16]>(), floats in any::<[f32; 16]>()) {
            let memory: Vec<u16> = (0..64).map(|i| i * 1021).collect();
            // The last pair that is asked for ends it.
            let table: Vec<u32> = (0..33).map(|i: u32| (i + 9).wrapping_mul(0x9e37_79b9)).collect();
            let floats = floats.map(|float| float.to_bits() as i32);
            for (a, level) in [a, floats].into_iter().flat_map(|a| levels().map(move |level| (a, level))) {
                let (lanes, pairs): (Vec<[i32; 16]>, Vec<[[i32; 16]; 2]>) = dispatch!(level, simd => {
                    let mut lanes = Lanes::new(simd, &memory).with_table(&table);
                    let [a, b] = [a, b].map(|values| i32x16::load_array(simd, values));
                    let pairs = everything(&mut Pairs(lanes), [a, b], [b, a]);
                    let lanes = everything(&mut lanes, a, b).into_iter().map(|value| value.to_array());
                    (lanes.collect(), pairs.iter().map(|pair| pair.map(|value| value.to_array())).collect())
                });
                for lane in 0..16 {
                    let mut scalar = Scalar::new(&memory).with_table(&table);
                    let expected = everything(&mut scalar, a[lane], b[lane]);
                    let values: Vec<i32> = lanes.iter().map(|values| values[lane]).collect();
                    prop_assert_eq!(&values, &expected);
                    let swapped = everything(&mut scalar, b[lane], a[lane]);
                    let halves =
                        [0, 1].map(|half| pairs.iter().map(|pair| pair[half][lane]).collect::<Vec<i32>>());
                    prop_assert_eq!(halves, [expected, swapped]);
                }
            }
        }
    }
}
