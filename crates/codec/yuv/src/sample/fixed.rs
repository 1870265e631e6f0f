//! Arithmetic within one of the exact: fixed-point numbers of 16 bits, two vectors of texels at a time.
//!
//! Codes and sums of codes begin at a word's highest bit. A component is luma and what chroma adds, both in fractions of a code of
//! luma, times what a code of luma is: that product alone is rounded to an integer. Chroma is taken as signed numbers around
//! the middle code.

use super::Plan;
use super::codes::{Code, Number, Reader};
use super::halves::halves;
use super::paint::{Arithmetic, PairOrder};
use super::words::Words;

/// Factors of a conversion.
#[derive(Clone, Copy, Default)]
pub(super) struct Factors {
    /// Parts of a code of luma of 8 bits that sums count.
    parts: i8,
    /// What such a part is as a fraction of 15 bits.
    part: i16,
    /// Of Cr in red and in green.
    cr: [i16; 2],
    /// Of Cb in green and in blue.
    cb: [i16; 2],
    /// The same for all components: chroma is around its middle, and has no part in it.
    offset: i16,
}

impl Factors {
    /// Those of a conversion of codes of `bits` to components of 0 to 255, if words hold them and all that is made of them.
    /// Luma has the same part in all components, and red and blue no part of the other's chroma.
    pub(super) fn new(matrix: [[f32; 3]; 3], offset: [f32; 3], bits: u32) -> Option<Factors> {
        let of_eight = f64::from(1u32 << (bits - 8));
        let luma = f64::from(matrix[0][1]) * of_eight;
        // The product of two integers that is nearest to what luma is multiplied by.
        let error = |parts: i8| {
            let exact = luma * 32768.0 / f64::from(parts);
            (f64::from(nearest(exact) as i32) - exact).abs() / exact
        };
        let parts = (56..=64).rev().min_by(|&a, &b| error(a).total_cmp(&error(b)))?;
        let word = |number: f64| {
            let word = nearest(number);
            (word.abs() < -f64::from(i16::MIN)).then_some(word as i16)
        };
        let part = word(luma * 32768.0 / f64::from(parts)).filter(|&part| part > 0)?;
        let in_parts = |number: f32| f64::from(number) / luma * f64::from(parts);
        // The highest code is as far from the middle as the middle is from 0: 128 codes of eight bits, and 1 as a fraction.
        let factor = |of_code: f32| in_parts(of_code) * of_eight * 128.0;
        let [[rr, ..], [gr, _, gb], [_, _, bb]] = matrix;
        let mut offsets = [0; 3];
        for ((out, offset), chroma) in offsets.iter_mut().zip(offset).zip([[rr, 0.0], [gr, gb], [0.0, bb]]) {
            let [cr, cb] = chroma.map(factor);
            let at_middle = in_parts(offset) + cr + cb;
            *out = word(at_middle)?;
            // The largest sum with what rounding adds.
            word(at_middle.abs() + cr.abs() + cb.abs() + 256.0 * f64::from(parts) + 4.0)?;
        }
        // They differ by their rounding, or because a component that chroma has a part of is always the same.
        let [offset, green, blue] = offsets;
        if offset.abs_diff(green).max(offset.abs_diff(blue)) > 1 {
            return None;
        }
        Some(Factors {
            parts,
            part,
            cr: [word(factor(rr))?, word(factor(gr))?],
            cb: [word(factor(gb))?, word(factor(bb))?],
            offset,
        })
    }
}

/// Adds a half away from zero, so that truncation rounds to the nearest integer.
fn nearest(number: f64) -> f64 {
    number + 0.5_f64.copysign(number)
}

/// Factors, each as often as there are words.
#[derive(Clone, Copy)]
pub(super) struct Fixed<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize> {
    words: W,
    parts: W::Scale,
    part: W::Words,
    cr: [W::Words; 2],
    cb: [W::Words; 2],
    offset: W::Words,
    place: W::Place,
}

impl<W, const HALF: usize, const GROUP: usize> Arithmetic<HALF, GROUP> for Fixed<W, HALF, GROUP>
where
    W: Words<HALF, GROUP>,
{
    type Lanes = W;
    type Texel = [u8; 4];
    type Chroma = [W::Words; 3];

    const IS_LUMA_SHARED: bool = true;
    const IS_HIGH: bool = true;

    #[inline(always)]
    fn new(words: W, plan: &Plan<'_>, _: u16) -> Self {
        let Factors { parts, part, cr, cb, offset } = plan.factors;
        Fixed {
            words,
            parts: words.scale(parts),
            part: words.splat(part),
            cr: [words.splat(cr[0]), words.splat(cr[1])],
            cb: [words.splat(cb[0]), words.splat(cb[1])],
            offset: words.splat(offset),
            place: words.place(Reader::new(plan.frame.format, true)),
        }
    }

    #[inline(always)]
    fn of_chroma<N: Number>(self, cr: &[N; HALF], cb: &[N; HALF]) -> [W::Words; 3] {
        let (words, place) = (self.words, self.place);
        self.with_offset(self.of_words(N::words(words, place, cr), N::words(words, place, cb)))
    }

    #[inline(always)]
    fn of_chroma_pairs<C: Code>(self, pairs: &[C; GROUP], order: PairOrder) -> [W::Words; 3] {
        let [cr, cb] = order.cr_first(C::word_pairs(self.words, self.place, pairs));
        self.with_offset(self.of_words(cr, cb))
    }

    #[inline(always)]
    fn texels<C: Code, N: Number>(self, luma: &[C; GROUP], [cr, cb]: [&[N; GROUP]; 2]) -> [[u8; 4]; GROUP] {
        let (words, place) = (self.words, self.place);
        let (cr, cb) = (N::word_halves(words, place, cr), N::word_halves(words, place, cb));
        let luma = C::scaled_halves(words, place, luma, self.parts);
        words.halves_to_rgba8(halves!(h => {
            self.components(self.of_words(cr[h], cb[h]), words.add(luma[h], self.offset))
        }))
    }

    #[inline(always)]
    fn texel_pairs<C: Code>(self, luma: &[C; GROUP], [even, odd]: [[W::Words; 3]; 2]) -> [[u8; 4]; GROUP] {
        let luma = C::scaled_pairs(self.words, self.place, luma, self.parts);
        self.words.to_rgba8([self.components(even, luma[0]), self.components(odd, luma[1])])
    }
}

impl<W: Words<HALF, GROUP>, const HALF: usize, const GROUP: usize> Fixed<W, HALF, GROUP> {
    /// What chroma adds to luma.
    #[inline(always)]
    fn of_words(self, cr: W::Words, cb: W::Words) -> [W::Words; 3] {
        let words = self.words;
        let green = words.add(words.product(cr, self.cr[1]), words.product(cb, self.cb[0]));
        [words.product(cr, self.cr[0]), green, words.product(cb, self.cb[1])]
    }

    /// The same with what is added to all components.
    #[inline(always)]
    fn with_offset(self, [r, g, b]: [W::Words; 3]) -> [W::Words; 3] {
        let (words, offset) = (self.words, self.offset);
        [words.add(r, offset), words.add(g, offset), words.add(b, offset)]
    }

    #[inline(always)]
    fn components(self, [r, g, b]: [W::Words; 3], luma: W::Words) -> [W::Words; 3] {
        let component = |c| self.words.product(self.words.add(c, luma), self.part);
        [component(r), component(g), component(b)]
    }
}
