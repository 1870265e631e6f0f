//! Interpolation along edges and spans: one factor of few bits for everything, or exactly linear where w is level.
//!
//! The console's factors have 9 bits along edges and 8 along spans, which is enough for its 192 rows and 256 columns. Above its
//! resolution they have 14, and depths that are Z use such factors, too. With fewer bits several pixels in a row would have the
//! same texel.

use super::lanes::{Block, Lanes, SignedLanes, whole_quotients, whole_quotients8};
use fearless_simd::prelude::*;
use fearless_simd::{f32x16, i32x8};

/// Interpolates along an edge.
pub type AlongEdge = Interpolator<true>;
/// Interpolates along a span.
pub type AlongSpan = Interpolator<false>;

/// Interpolates between two ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpolator<const EDGE: bool> {
    start: i32,
    /// Steps from end to end.
    length: i32,
    /// The place, from the start.
    at: i32,
    /// Weights of the start in numerator and denominator, and of the end.
    w0: [i32; 2],
    w1: i32,
    linear: bool,
    factor: i32,
    /// Bits of factors.
    bits: u32,
    /// What depths are interpolated with: 22 bits.
    depth_reciprocal: i32,
}

/// Bits of factors above the console's resolution.
const FINE_BITS: u32 = 14;

impl<const EDGE: bool> Interpolator<EDGE> {
    /// Bits of the console's factors.
    const BITS: u32 = if EDGE { 9 } else { 8 };
    /// Bits of two equal w that must be clear for linear interpolation.
    const LEVEL_MASK: i32 = if EDGE { 0x7e } else { 0x7f };

    /// Between the places `start` and `end` with their normalised w, as the console does or with `fine` factors.
    #[inline]
    pub fn new(start: i32, end: i32, w0: i32, w1: i32, fine: bool) -> Self {
        // Edges drop the lowest bit of w; of an odd and an even one it comes back in the denominator.
        let (n0, d0, d1) = match EDGE {
            true if w0 & 1 != 0 && w1 & 1 == 0 => (w0 - 1, w0 + 1, w1),
            true => (w0 & 0xfffe, w0 & 0xfffe, w1 & 0xfffe),
            false => (w0, w0, w1),
        };
        Interpolator {
            start,
            length: end - start,
            at: 0,
            w0: [n0, d0],
            w1: d1,
            linear: w0 == w1 && w0 & Self::LEVEL_MASK == 0,
            factor: 0,
            bits: if fine { FINE_BITS } else { Self::BITS },
            depth_reciprocal: if start == end { 0 } else { ((1 << 30) / (end - start)) >> 8 },
        }
    }

    fn is_fine(&self) -> bool {
        self.bits == FINE_BITS
    }

    /// Whether values are interpolated without w.
    #[inline]
    pub fn is_linear(&self) -> bool {
        self.linear || self.length == 0
    }

    /// Moves to a place.
    #[inline]
    pub fn move_to(&mut self, place: i32) {
        self.at = place - self.start;
        if !self.is_linear() {
            let numerator = (i64::from(self.at) * i64::from(self.w0[0])) << self.bits;
            let denominator = self.at * self.w0[1] + (self.length - self.at) * self.w1;
            // Both are whole and far below 2^53, so the quotient is cut as that of integers.
            self.factor =
                if denominator == 0 { 0 } else { (numerator as f64 / f64::from(denominator)) as i32 };
        }
    }

    /// A value at the place, between two.
    #[inline]
    pub fn value(&self, a: i32, b: i32) -> i32 {
        if self.length == 0 || a == b {
            a
        } else if self.linear {
            // Falling values are interpolated from the other end.
            if a < b {
                a + (b - a) * self.at / self.length
            } else {
                b + (a - b) * (self.length - self.at) / self.length
            }
        } else {
            // From either end it is the same: the product with a whole factor loses nothing.
            a + (((b - a) * self.factor) >> self.bits)
        }
    }

    /// The difference of two 24-bit depths in two parts, small enough that products with a factor fit 32 bits.
    #[inline(always)]
    fn depth_parts(&self, a: i32, b: i32) -> [i32; 2] {
        let step = b - a;
        [step >> self.bits, step & ((1 << self.bits) - 1)]
    }
}

impl AlongEdge {
    /// Values at the place, between others.
    #[inline(always)]
    pub fn values<S: Simd>(&self, simd: S, a: &[i32; 8], b: &[i32; 8]) -> i32x8<S> {
        let (a, b) = (i32x8::load_array_ref(simd, a), i32x8::load_array_ref(simd, b));
        if self.length == 0 {
            return a;
        }
        if !self.linear {
            return a + (((b - a) * self.factor) >> self.bits);
        }
        // Falling values are interpolated from the other end.
        let places =
            a.simd_lt(b).select(i32x8::splat(simd, self.at), i32x8::splat(simd, self.length - self.at));
        let low = a.min(b);
        let numerators = (a.max(b) - low) * places;
        let near = numerators.to_float::<fearless_simd::f32x8<S>>() * (1.0 / self.length as f32);
        low + whole_quotients8(numerators, i32x8::splat(simd, self.length), near)
    }

    /// A depth at the place, between two: linear for Z, like all else for W.
    #[inline]
    pub fn depth(&self, a: i32, b: i32, is_w: bool) -> i32 {
        if self.length == 0 || a == b {
            return a;
        }
        if is_w || self.is_fine() {
            let factor = if is_w { self.factor } else { (self.at << self.bits) / self.length };
            let [high, low] = self.depth_parts(a, b);
            return a + high * factor + ((low * factor) >> self.bits);
        }
        let (base, step, at) = if a < b { (a, b - a, self.at) } else { (b, a - b, self.length - self.at) };
        // The difference keeps 10 bits.
        let shift = (32 - step.leading_zeros()).saturating_sub(10);
        let scaled = (i64::from((step >> shift) * at) * i64::from(self.depth_reciprocal)) >> 22;
        base + (scaled << shift) as i32
    }
}

impl AlongSpan {
    /// Places of a block's columns from the start; those beyond the ends are at them.
    #[inline(always)]
    pub fn places<S: Simd>(&self, block: &Block<S>) -> SignedLanes<S> {
        block.columns_from(self.start).max(0).min(self.length.max(0))
    }

    /// Factors at places: 0 where interpolation is linear.
    #[inline(always)]
    pub fn factors<S: Simd>(&self, places: SignedLanes<S>) -> SignedLanes<S> {
        if self.is_linear() {
            return SignedLanes::splat(places.token(), 0);
        }
        let weights = places * self.w0[0];
        let denominators = (weights + (self.length - places) * self.w1).max(1);
        let near =
            weights.to_float::<f32x16<S>>() * (1 << self.bits) as f32 / denominators.to_float::<f32x16<S>>();
        whole_quotients(weights << self.bits, denominators, near)
    }

    /// Places from the end with the smaller value.
    #[inline(always)]
    fn rising_places<S: Simd>(&self, a: i32, b: i32, places: SignedLanes<S>) -> SignedLanes<S> {
        if a < b { places } else { self.length - places }
    }

    /// Depths at places, where they are Z.
    #[inline(always)]
    pub fn z_depths<S: Simd>(&self, a: i32, b: i32, places: SignedLanes<S>) -> Lanes<S> {
        const PART: u32 = 13;
        if self.is_fine() {
            let length = self.length.max(1);
            let near = places.to_float::<f32x16<S>>() * ((1 << self.bits) as f32 / length as f32);
            let length = SignedLanes::splat(places.token(), length);
            return self.w_depths(a, b, whole_quotients(places << self.bits, length, near));
        }
        // The difference has lost 9 bits. Its product with the reciprocal has up to 50: in parts that fit 32.
        let scaled = self.rising_places(a, b, places) * ((a - b).abs() >> 9);
        let reciprocal = self.depth_reciprocal;
        let [high, low] = [scaled >> PART, scaled & ((1 << PART) - 1)];
        let way = high * reciprocal
            + low * (reciprocal >> PART)
            + ((low * (reciprocal & ((1 << PART) - 1))) >> PART);
        (way + a.min(b)).bitcast()
    }

    /// Depths at factors, where they are W.
    #[inline(always)]
    pub fn w_depths<S: Simd>(&self, a: i32, b: i32, factors: SignedLanes<S>) -> Lanes<S> {
        let [high, low] = self.depth_parts(a, b);
        (factors * high + ((factors * low) >> self.bits) + a).bitcast()
    }

    /// Values at places, where they are linear.
    #[inline(always)]
    pub fn linear_values<S: Simd>(&self, a: i32, b: i32, places: SignedLanes<S>) -> SignedLanes<S> {
        let length = self.length.max(1);
        let numerators = self.rising_places(a, b, places) * (a - b).abs();
        let near = numerators.to_float::<f32x16<S>>() * (1.0 / length as f32);
        let length = SignedLanes::splat(places.token(), length);
        whole_quotients(numerators, length, near) + a.min(b)
    }

    /// Values at factors.
    #[inline(always)]
    pub fn perspective_values<S: Simd>(&self, a: i32, b: i32, factors: SignedLanes<S>) -> SignedLanes<S> {
        ((factors * (b - a)) >> self.bits) + a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::lanes::LANES;
    use fearless_simd::{Level, dispatch};
    use xenoglot_testgen::rng::Rng;

    /// Those of the first columns up to `to`.
    fn places(span: &AlongSpan, to: usize) -> [i32; LANES] {
        dispatch!(Level::new(), simd => span.places(&Block::new(simd, 0, to)).to_array())
    }

    fn linear_values(span: &AlongSpan, a: i32, b: i32, places: [i32; LANES]) -> [i32; LANES] {
        dispatch!(Level::new(), simd => {
            span.linear_values(a, b, SignedLanes::load_array(simd, places)).to_array()
        })
    }

    fn factors(span: &AlongSpan, places: [i32; LANES]) -> [i32; LANES] {
        dispatch!(Level::new(), simd => span.factors(SignedLanes::load_array(simd, places)).to_array())
    }

    #[test]
    fn level_w_with_low_bits_is_not_linear() {
        assert!(AlongSpan::new(0, 9, 0x1000, 0x1000, false).is_linear());
        assert!(!AlongSpan::new(0, 9, 0x1001, 0x1001, false).is_linear());
        assert!(AlongEdge::new(0, 9, 0x1001, 0x1001, false).is_linear());
        assert!(!AlongEdge::new(0, 9, 0x1002, 0x1002, false).is_linear());
        assert!(!AlongSpan::new(0, 9, 0x1000, 0x1080, false).is_linear());
    }

    #[test]
    fn falling_values_mirror() {
        let mut edge = AlongEdge::new(0, 3, 0x1000, 0x1000, false);
        edge.move_to(1);
        assert_eq!((edge.value(0, 100), edge.value(100, 0)), (33, 66));
        let span = AlongSpan::new(0, 3, 0x1000, 0x1000, false);
        assert_eq!(linear_values(&span, 100, 0, places(&span, 3))[..3], [100, 66, 33]);
        dispatch!(Level::new(), simd => {
            let values = edge.values(simd, &[0, 100, 7, 0, 0, 0, 0, 0], &[100, 0, 7, 0, 0, 0, 0, 0]);
            assert_eq!(values.to_array()[..3], [33, 66, 7]);
        });
    }

    /// Depths of Z go by a reciprocal of 22 bits and differences of 10 bits along edges, of 15 in spans.
    #[test]
    fn depths_of_z_fall_short() {
        let mut edge = AlongEdge::new(0, 3, 0x1000, 0x1000, false);
        edge.move_to(1);
        // A third of 4,096 is 1,365, two thirds are 2,730.
        assert_eq!((edge.depth(0, 0x1000, false), edge.depth(0x1000, 0, false)), (1360, 2728));
        let span = AlongSpan::new(0, 3, 0x1000, 0x1000, false);
        let depths = dispatch!(Level::new(), simd => {
            span.z_depths(0, 0x3ff, SignedLanes::load_array(simd, places(&span, 4))).to_array()
        });
        // The highest of the difference's lowest nine bits are gone: 512 of 1,023 are left.
        assert_eq!(depths[..4], [0, 170, 341, 511]);
    }

    #[test]
    fn empty_is_its_start() {
        let mut edge = AlongEdge::new(4, 4, 1, 2, false);
        edge.move_to(4);
        assert_eq!((edge.value(3, 7), edge.depth(3, 7, true)), (3, 3));
    }

    #[test]
    fn places_are_within_the_span() {
        let span = AlongSpan::new(-3, 5, 1, 2, false);
        assert_eq!(places(&span, 5), [3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]);
        assert_eq!(
            places(&AlongSpan::new(9, 12, 1, 2, false), 5)[..12],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]
        );
    }

    /// All places of a span of some length, by blocks.
    fn blocks(length: i32) -> impl Iterator<Item = [i32; LANES]> {
        (0..=length).step_by(LANES).map(move |first| {
            let mut places = [length; LANES];
            places.iter_mut().zip(first..=length).for_each(|(place, at)| *place = at);
            places
        })
    }

    #[test]
    fn linear_values_are_quotients() {
        for length in 1..=511 {
            let span = AlongSpan::new(0, length, 0x1000, 0x1000, false);
            for (a, b) in [(0, 511), (511, 0), (-0x8000, 0x7fff), (0x7fff, -0x8000), (3, 4), (9, 2), (5, 5)] {
                let exact = |at: i32| {
                    if a < b { a + (b - a) * at / length } else { b + (a - b) * (length - at) / length }
                };
                for places in blocks(length) {
                    assert_eq!(linear_values(&span, a, b, places), places.map(exact), "{length}, {a} to {b}");
                }
            }
        }
    }

    fn assert_factors(length: i32, w0: i32, w1: i32) {
        for (fine, bits) in [(false, 8), (true, FINE_BITS)] {
            let span = AlongSpan { linear: false, ..AlongSpan::new(0, length, w0, w1, fine) };
            let exact = |at: i32| {
                let numerator = (i64::from(at) * i64::from(w0)) << bits;
                let denominator = i64::from(at) * i64::from(w0) + i64::from(length - at) * i64::from(w1);
                if denominator == 0 { 0 } else { (numerator / denominator) as i32 }
            };
            for places in blocks(length) {
                assert_eq!(factors(&span, places), places.map(exact), "{length}, {w0} to {w1}, {bits} bits");
            }
        }
    }

    #[test]
    fn factors_are_quotients() {
        for length in 1..=511 {
            for (w0, w1) in
                [(1, 0xffff), (0xffff, 1), (0xffff, 0xffff), (0x1234, 0x4321), (0, 0), (0, 7), (7, 0)]
            {
                assert_factors(length, w0, w1);
            }
        }
        let mut rng = Rng::new(1);
        for _ in 0..20_000 {
            // A span of the largest scale now and then; small numbers, whose quotients are often whole.
            let longest = [8, 257, 8192][rng.below(3) as usize];
            let length = 1 + rng.below(longest) as i32;
            let w = |rng: &mut Rng| (rng.below(0x1_0000) >> rng.below(16)) as i32;
            let (w0, w1) = (w(&mut rng), w(&mut rng));
            assert_factors(length, w0, w1);
        }
    }

    /// Above the console's resolution, depths of Z are as straight as those of W.
    #[test]
    fn fine_depths_of_z_are_straight() {
        for (a, b) in [(0, 0xff_ffff), (0xff_ffff, 0), (5, 0x12_3456), (7, 7)] {
            for length in [1, 3, 1000, 8176] {
                let span = AlongSpan::new(0, length, 0x1000, 0x1000, true);
                let mut edge = AlongEdge::new(0, length, 0x1000, 0x1000, true);
                for places in blocks(length) {
                    let depths = dispatch!(Level::new(), simd => {
                        span.z_depths(a, b, SignedLanes::load_array(simd, places)).to_array()
                    });
                    for (at, depth) in places.into_iter().zip(depths) {
                        let exact = i64::from(a) + i64::from(b - a) * i64::from(at) / i64::from(length);
                        assert!((i64::from(depth) - exact).abs() <= 0x400, "{a} to {b}, {at} of {length}");
                        edge.move_to(at);
                        assert_eq!(edge.depth(a, b, false), depth as i32, "{a} to {b}, {at} of {length}");
                    }
                }
            }
        }
    }

    #[test]
    fn depth_of_w_in_two_parts() {
        for (a, b) in [(0, 0xff_ffff), (0xff_ffff, 0), (5, 0x12_3456), (0x65_4321, 7)] {
            for (fine, bits) in [(false, 8), (true, FINE_BITS)] {
                let span = AlongSpan::new(0, 9, 1, 2, fine);
                for factor in 0..=1 << bits {
                    let whole = i64::from(a) + ((i64::from(b - a) * i64::from(factor)) >> bits);
                    let depths = dispatch!(Level::new(), simd => {
                        span.w_depths(a, b, SignedLanes::splat(simd, factor)).to_array()
                    });
                    assert_eq!(i64::from(depths[0]), whole);
                }
            }
        }
    }
}
