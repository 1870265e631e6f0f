//! Interpolation along edges and spans: one factor of few bits for everything, or exactly linear where w is level.

/// Fraction bits of the reciprocal of a length.
const RECIPROCAL: u32 = 30;

/// Interpolates along an edge.
pub type AlongEdge = Interpolator<true>;
/// Interpolates along a span.
pub type AlongSpan = Interpolator<false>;

/// Interpolates between two ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpolator<const EDGE: bool> {
    start: i32,
    /// Steps from end to end.
    pub length: i32,
    /// The place, from the start.
    pub at: i32,
    reciprocal: i64,
    /// Weights of the start in numerator and denominator, and of the end.
    w0: [i32; 2],
    w1: i32,
    linear: bool,
    factor: i32,
}

impl<const EDGE: bool> Interpolator<EDGE> {
    /// Bits of the factor.
    pub const FACTOR_BITS: u32 = if EDGE { 9 } else { 8 };
    /// Bits of two equal w that must be clear for linear interpolation.
    const LEVEL_MASK: i32 = if EDGE { 0x7e } else { 0x7f };

    /// Between the places `start` and `end` with their normalised w.
    pub fn new(start: i32, end: i32, w0: i32, w1: i32) -> Self {
        let length = end - start;
        let reciprocal = if length != 0 { (1i64 << RECIPROCAL) / i64::from(length) } else { 0 };
        // Edges drop the lowest bit of w; of an odd and an even one it comes back in the denominator.
        let (n0, d0, d1) = match EDGE {
            true if w0 & 1 != 0 && w1 & 1 == 0 => (w0 - 1, w0 + 1, w1),
            true => (w0 & 0xfffe, w0 & 0xfffe, w1 & 0xfffe),
            false => (w0, w0, w1),
        };
        Interpolator {
            start,
            length,
            at: 0,
            reciprocal,
            w0: [n0, d0],
            w1: d1,
            linear: w0 == w1 && w0 & Self::LEVEL_MASK == 0,
            factor: 0,
        }
    }

    #[cfg(test)]
    fn is_linear(&self) -> bool {
        self.linear
    }

    /// The factor at a place from the start.
    #[inline]
    fn factor_at(&self, at: i32) -> i32 {
        let numerator = i64::from(at) * i64::from(self.w0[0]) << Self::FACTOR_BITS;
        let denominator =
            i64::from(at) * i64::from(self.w0[1]) + i64::from(self.length - at) * i64::from(self.w1);
        if denominator == 0 { 0 } else { (numerator / denominator) as i32 }
    }

    /// Moves to a place.
    #[inline]
    pub fn move_to(&mut self, place: i32) {
        self.at = place - self.start;
        if self.length != 0 && !self.linear {
            self.factor = self.factor_at(self.at);
        }
    }

    /// The factor at the place; 0 if values are linear.
    #[inline]
    pub fn factor(&self) -> i32 {
        self.factor
    }

    /// Moves to a place whose factor is known.
    #[inline]
    pub fn set(&mut self, place: i32, factor: i32) {
        (self.at, self.factor) = (place - self.start, factor);
    }

    /// A value at the place, between two.
    #[inline]
    pub fn value(&self, a: i32, b: i32) -> i32 {
        if self.length == 0 || a == b {
            a
        } else if self.linear {
            // Falling values are interpolated from the other end.
            let (base, step, at) =
                if a < b { (a, b - a, self.at) } else { (b, a - b, self.length - self.at) };
            base + step * at / self.length
        } else {
            // From either end the same: the product of a whole factor loses nothing.
            a + ((b - a) * self.factor >> Self::FACTOR_BITS)
        }
    }

    /// A depth at the place, between two: linear for Z, like all else for W.
    #[inline]
    pub fn depth(&self, a: i32, b: i32, is_w: bool) -> i32 {
        if self.length == 0 || a == b {
            return a;
        }
        if is_w {
            let step = i64::from(b - a) * i64::from(self.factor) >> Self::FACTOR_BITS;
            return a + step as i32;
        }
        let (base, mut step, at) =
            if a < b { (a, b - a, self.at) } else { (b, a - b, self.length - self.at) };
        let reciprocal = self.reciprocal >> 8;
        if EDGE {
            let bits = 32 - step.leading_zeros();
            let shift = bits.saturating_sub(10);
            step >>= shift;
            base + ((i64::from(step) * i64::from(at) * reciprocal >> 22) << shift) as i32
        } else {
            step >>= 9;
            base + (i64::from(step) * i64::from(at) * reciprocal >> 13) as i32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut span = AlongSpan::new(0, 3, 0x1000, 0x1000);
        span.move_to(1);
        assert_eq!((span.value(0, 100), span.value(100, 0)), (33, 66));
    }

    #[test]
    fn empty_is_its_start() {
        let mut span = AlongSpan::new(4, 4, 1, 2);
        span.move_to(4);
        assert_eq!((span.value(3, 7), span.depth(3, 7, true)), (3, 3));
    }
}
