//! Interpolation along edges and spans: one factor of few bits for everything, or exactly linear where w is level.

use super::lanes::{Block, LANES, Lanes, SignedLanes, sign};

/// 2^23.
const WHOLE: f32 = 8_388_608.0;

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
}

impl<const EDGE: bool> Interpolator<EDGE> {
    /// Bits of the factor.
    const FACTOR_BITS: u32 = if EDGE { 9 } else { 8 };
    /// Bits of two equal w that must be clear for linear interpolation.
    const LEVEL_MASK: i32 = if EDGE { 0x7e } else { 0x7f };

    /// Between the places `start` and `end` with their normalised w.
    #[inline]
    pub fn new(start: i32, end: i32, w0: i32, w1: i32) -> Self {
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
        }
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
            let numerator = (i64::from(self.at) * i64::from(self.w0[0])) << Self::FACTOR_BITS;
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
            Self::perspective_value(a, b, self.factor)
        }
    }

    /// Values at the place, between others.
    #[inline(always)]
    pub fn values<const N: usize>(&self, a: &[i32; N], b: &[i32; N]) -> [i32; N] {
        let mut out = *a;
        if self.is_linear() {
            for (i, value) in out.iter_mut().enumerate() {
                *value = self.value(a[i], b[i]);
            }
        } else {
            for (i, value) in out.iter_mut().enumerate() {
                *value = Self::perspective_value(a[i], b[i], self.factor);
            }
        }
        out
    }

    /// A value between two at a factor. From either end it is the same: the product with a whole factor loses nothing.
    #[inline(always)]
    pub fn perspective_value(a: i32, b: i32, factor: i32) -> i32 {
        a + (((b - a) * factor) >> Self::FACTOR_BITS)
    }

    /// A depth of 24 bits between two at a factor.
    #[inline(always)]
    pub fn w_depth(a: i32, b: i32, factor: i32) -> i32 {
        // In two parts, which fit 32 bits.
        let step = b - a;
        let (high, low) = (step >> Self::FACTOR_BITS, step & ((1 << Self::FACTOR_BITS) - 1));
        a + high * factor + ((low * factor) >> Self::FACTOR_BITS)
    }

    /// The reciprocal of the length that depths are interpolated with: 22 bits.
    fn depth_reciprocal(&self) -> i32 {
        if self.length == 0 { 0 } else { ((1 << 30) / self.length) >> 8 }
    }
}

impl AlongEdge {
    /// A depth at the place, between two: linear for Z, like all else for W.
    #[inline]
    pub fn depth(&self, a: i32, b: i32, is_w: bool) -> i32 {
        if self.length == 0 || a == b {
            return a;
        }
        if is_w {
            return Self::w_depth(a, b, self.factor);
        }
        let (base, step, at) = if a < b { (a, b - a, self.at) } else { (b, a - b, self.length - self.at) };
        // The difference keeps 10 bits.
        let shift = (32 - step.leading_zeros()).saturating_sub(10);
        let scaled = (i64::from((step >> shift) * at) * i64::from(self.depth_reciprocal())) >> 22;
        base + (scaled << shift) as i32
    }
}

impl AlongSpan {
    /// Places of a block's columns from the start; those beyond the ends are at them.
    #[inline(always)]
    pub fn places(&self, block: &Block) -> SignedLanes {
        let mut places = block.columns_from(self.start);
        for place in &mut places {
            *place = (*place).clamp(0, self.length.max(0));
        }
        places
    }

    /// Factors at places: 0 where interpolation is linear.
    #[inline(always)]
    pub fn factors(&self, places: &SignedLanes) -> SignedLanes {
        let mut factors = [0; LANES];
        if self.is_linear() {
            return factors;
        }
        let (w0, w1, length) = (self.w0[0], self.w1, self.length);
        for (factor, &at) in factors.iter_mut().zip(places) {
            let numerator = at * w0;
            let denominator = (numerator + (length - at) * w1).max(1);
            let quotient = numerator as f32 * (1 << Self::FACTOR_BITS) as f32 / denominator as f32;
            // A sum of this size has no fraction: the nearest whole number is in its lowest bits.
            let guess = (quotient + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits()) as i32;
            // That is the quotient's whole part or one more. What is left over fits 32 bits, the product need not.
            let rest = (numerator << Self::FACTOR_BITS).wrapping_sub(guess.wrapping_mul(denominator));
            *factor = guess + sign(rest) as i32;
        }
        factors
    }

    /// Depths at places.
    #[inline(always)]
    pub fn z_depths(&self, a: i32, b: i32, places: &SignedLanes) -> Lanes {
        // From the smaller end, with a difference that has lost 9 bits.
        let (base, step, from, by) = if a < b { (a, b - a, 0, 1) } else { (b, a - b, self.length, -1) };
        let (step, reciprocal) = (step >> 9, self.depth_reciprocal() as u32);
        let mut out = [0; LANES];
        for (depth, &at) in out.iter_mut().zip(places) {
            let scaled = (step * (from + by * at)) as u32;
            *depth = base as u32 + ((u64::from(scaled) * u64::from(reciprocal)) >> 13) as u32;
        }
        out
    }

    /// Values at places, where they are linear.
    #[inline(always)]
    pub fn linear_values(&self, a: i32, b: i32, places: &SignedLanes) -> SignedLanes {
        let length = self.length.max(1) as u32;
        // The quotient of numbers up to 2^16 * length, by a product: exact, since its error is below 1 / length.
        let bits = 31 + length.ilog2();
        let inverse = ((1u64 << bits) / u64::from(length) + 1) as u32;
        // Falling values are those from the other end, rounded up from this one.
        let (step, round) = if a < b { ((b - a) as u32, 0) } else { ((a - b) as u32, length - 1) };
        let mut out = [0; LANES];
        for (value, &at) in out.iter_mut().zip(places) {
            let way = ((u64::from(step * at as u32 + round) * u64::from(inverse)) >> bits) as i32;
            *value = if a < b { a + way } else { a - way };
        }
        out
    }

    /// Values at factors.
    #[inline(always)]
    pub fn perspective_values(a: i32, b: i32, factors: &SignedLanes) -> SignedLanes {
        let mut out = [0; LANES];
        for (value, &factor) in out.iter_mut().zip(factors) {
            *value = Self::perspective_value(a, b, factor);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_testgen::rng::Rng;

    #[test]
    fn level_w_with_low_bits_is_not_linear() {
        assert!(AlongSpan::new(0, 9, 0x1000, 0x1000).is_linear());
        assert!(!AlongSpan::new(0, 9, 0x1001, 0x1001).is_linear());
        assert!(AlongEdge::new(0, 9, 0x1001, 0x1001).is_linear());
        assert!(!AlongEdge::new(0, 9, 0x1002, 0x1002).is_linear());
        assert!(!AlongSpan::new(0, 9, 0x1000, 0x1080).is_linear());
    }

    #[test]
    fn falling_values_mirror() {
        let mut edge = AlongEdge::new(0, 3, 0x1000, 0x1000);
        edge.move_to(1);
        assert_eq!((edge.value(0, 100), edge.value(100, 0)), (33, 66));
        let span = AlongSpan::new(0, 3, 0x1000, 0x1000);
        let places = span.places(&Block::new(0, 3));
        assert_eq!(span.linear_values(100, 0, &places)[..3], [100, 66, 33]);
    }

    /// Depths of Z go by a reciprocal of 22 bits and differences of 10 bits along edges, of 15 in spans.
    #[test]
    fn depths_of_z_fall_short() {
        let mut edge = AlongEdge::new(0, 3, 0x1000, 0x1000);
        edge.move_to(1);
        // A third of 4,096 is 1,365, two thirds are 2,730.
        assert_eq!((edge.depth(0, 0x1000, false), edge.depth(0x1000, 0, false)), (1360, 2728));
        let span = AlongSpan::new(0, 3, 0x1000, 0x1000);
        let places = span.places(&Block::new(0, 4));
        // The highest of the difference's lowest nine bits are gone: 512 of 1,023 are left.
        assert_eq!(span.z_depths(0, 0x3ff, &places)[..4], [0, 170, 341, 511]);
    }

    #[test]
    fn empty_is_its_start() {
        let mut edge = AlongEdge::new(4, 4, 1, 2);
        edge.move_to(4);
        assert_eq!((edge.value(3, 7), edge.depth(3, 7, true)), (3, 3));
    }

    #[test]
    fn places_are_within_the_span() {
        let span = AlongSpan::new(-3, 5, 1, 2);
        let places = span.places(&Block::new(0, 5));
        assert_eq!(places, [3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]);
        assert_eq!(
            AlongSpan::new(9, 12, 1, 2).places(&Block::new(0, 5))[..12],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]
        );
    }

    /// All places of a span of some length, by blocks.
    fn blocks(length: i32) -> impl Iterator<Item = SignedLanes> {
        (0..=length).step_by(LANES).map(move |first| {
            let mut places = [length; LANES];
            places.iter_mut().zip(first..=length).for_each(|(place, at)| *place = at);
            places
        })
    }

    #[test]
    fn linear_values_are_quotients() {
        for length in 1..=511 {
            let span = AlongSpan::new(0, length, 0x1000, 0x1000);
            for (a, b) in [(0, 511), (511, 0), (-0x8000, 0x7fff), (0x7fff, -0x8000), (3, 4), (9, 2), (5, 5)] {
                let exact = |at: i32| {
                    if a < b { a + (b - a) * at / length } else { b + (a - b) * (length - at) / length }
                };
                for places in blocks(length) {
                    assert_eq!(span.linear_values(a, b, &places), places.map(exact), "{length}, {a} to {b}");
                }
            }
        }
    }

    fn assert_factors(length: i32, w0: i32, w1: i32) {
        let span = AlongSpan { linear: false, ..AlongSpan::new(0, length, w0, w1) };
        let exact = |at: i32| {
            let numerator = (i64::from(at) * i64::from(w0)) << 8;
            let denominator = i64::from(at) * i64::from(w0) + i64::from(length - at) * i64::from(w1);
            if denominator == 0 { 0 } else { (numerator / denominator) as i32 }
        };
        for places in blocks(length) {
            assert_eq!(span.factors(&places), places.map(exact), "{length}, {w0} to {w1}");
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

    #[test]
    fn depth_of_w_in_two_parts() {
        for (a, b) in [(0, 0xff_ffff), (0xff_ffff, 0), (5, 0x12_3456), (0x65_4321, 7)] {
            for factor in 0..=256 {
                let whole = i64::from(a) + ((i64::from(b - a) * i64::from(factor)) >> 8);
                assert_eq!(i64::from(AlongSpan::w_depth(a, b, factor)), whole);
            }
        }
    }
}
