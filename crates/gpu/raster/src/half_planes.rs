//! Triangles as three linear functions of the pixel, in integers: a pixel is covered where none of them is negative.
//!
//! ```text
//! value(column, row) = at + right * column + down * row      32 bits, wrapping
//! ```
//!
//! Values may wrap around, as those of a chip with 32 bits do. Which square of [`TILE`] pixels a side a triangle touches is then
//! what the chip would find: the value at the square's first pixel decides, and how much more its other pixels can have. In
//! larger squares such triangles count as touching, so that no tile is lost.

use crate::coverage::Coverage;
use crate::each;
use crate::grid::{Bounds, TILE};

/// How far beyond its bounds a triangle's functions are evaluated, in pixels: less than the side of a bin of the largest tiles.
const BEYOND: i64 = 128;

/// A triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfPlanes {
    /// The functions at the first pixel of the first row.
    pub at: [i32; 3],
    /// What a pixel to the right adds to them: less than 2^22, either way.
    pub right: [i32; 3],
    /// What a row below adds to them, the same.
    pub down: [i32; 3],
    /// The pixels that may be covered: 0 to 65534.
    pub bounds: Bounds,
    /// How far samples lie from the point where the functions are evaluated, in sixteenths of a pixel along either axis.
    pub reach: u16,
}

impl HalfPlanes {
    /// Words in a buffer: `at`, columns, `right`, rows, `down`, the reach with [`HalfPlanes::WRAPS`]. Columns and rows have the
    /// first one in the low half and the one after the last in the high half.
    pub const WORDS: usize = 12;
    /// Values within the bounds or near them may wrap around.
    pub const WRAPS: u32 = 1 << 31;

    /// As programs read it.
    pub fn words(&self) -> [u32; HalfPlanes::WORDS] {
        let [columns, rows] = each!([0, 1], axis => {
            let (low, end) = (self.bounds.low[axis], self.bounds.high[axis].wrapping_add(1));
            (low as u32 & 0xffff) | (end as u32) << 16
        });
        let last = u32::from(self.reach) | if self.wraps() { HalfPlanes::WRAPS } else { 0 };
        let vector = |of: [i32; 3], word: u32| {
            let [a, b, c] = of.map(|value| value as u32);
            [a, b, c, word]
        };
        let vectors = [vector(self.at, columns), vector(self.right, rows), vector(self.down, last)];
        let mut words = [0; HalfPlanes::WORDS];
        words.iter_mut().zip(vectors.as_flattened()).for_each(|(to, from)| *to = *from);
        words
    }

    /// The triangle of these words.
    pub fn of_words(words: &[u32; HalfPlanes::WORDS]) -> HalfPlanes {
        let [a, b, c, columns, d, e, f, rows, g, h, i, last] = *words;
        let [at, right, down] = [[a, b, c], [d, e, f], [g, h, i]].map(|of| of.map(|word| word as i32));
        let low = [columns, rows].map(|range| (range & 0xffff) as i32);
        let high = [columns, rows].map(|range| (range >> 16) as i32 - 1);
        HalfPlanes { at, right, down, bounds: Bounds { low, high }, reach: last as u16 }
    }

    /// Whether values within the bounds, or in a bin that they reach into, may wrap around.
    fn wraps(&self) -> bool {
        let [columns, rows] = each!([0, 1], axis => i64::from(self.bounds.high[axis]) + BEYOND);
        let most = |i: usize| {
            let [at, right, down] = [self.at[i], self.right[i], self.down[i]].map(|v| i64::from(v).abs());
            at + right * columns + down * rows
        };
        (0..3).any(|i| most(i) > i64::from(i32::MAX))
    }

    /// Whether all samples of a square are outside of one edge.
    fn is_outside(&self, [x, y]: [i32; 2], side: i32) -> bool {
        let (further, reach) = (i64::from(side - 1), i64::from(self.reach));
        (0..3).any(|i| {
            let (right, down) = (self.right[i], self.down[i]);
            let first = self.at[i].wrapping_add(right.wrapping_mul(x)).wrapping_add(down.wrapping_mul(y));
            let (right, down) = (i64::from(right), i64::from(down));
            let around = (right.abs() + down.abs()) / 16 * reach;
            i64::from(first) + further * (right.max(0) + down.max(0)) + around < 0
        })
    }
}

impl Coverage for HalfPlanes {
    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn touches(&self, pixels: &Bounds) -> bool {
        let common = self.bounds.intersect(pixels);
        if common.is_empty() {
            return false;
        }
        let side = pixels.high[0].saturating_sub(pixels.low[0]).saturating_add(1);
        let is_unknown = side > TILE as i32 && self.wraps();
        common == self.bounds || is_unknown || !self.is_outside(pixels.low, side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn half_planes() -> impl Strategy<Value = HalfPlanes> {
        let step = || prop::array::uniform3(prop_oneof![-300i32..300, -(1i32 << 21)..1 << 21]);
        let at = prop::array::uniform3(prop_oneof![-20_000i32..20_000, any::<i32>()]);
        let bounds = (0i32..80, 0i32..80, 0i32..60, 0i32..60)
            .prop_map(|(x, y, w, h)| Bounds { low: [x, y], high: [x + w, y + h] });
        (at, step(), step(), bounds).prop_map(|(at, right, down, bounds)| HalfPlanes {
            at,
            right,
            down,
            bounds,
            reach: 0,
        })
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(512))]

        #[test]
        fn no_covered_pixel_is_lost(of in half_planes(), side in prop_oneof![Just(8), Just(64), Just(128)]) {
            for (x, y) in (0..140).flat_map(|y| (0..140).map(move |x| (x, y))) {
                let value = |i: usize| {
                    i64::from(of.at[i]) + i64::from(of.right[i]) * i64::from(x) + i64::from(of.down[i]) * i64::from(y)
                };
                let pixel = Bounds { low: [x, y], high: [x, y] };
                let is_covered = (0..3).all(|i| value(i) >= 0) && of.bounds.touches(&pixel);
                // Where values wrap around, tiles are those of the chip.
                if is_covered && !of.wraps() {
                    let low = [x / side * side, y / side * side];
                    let square = Bounds { low, high: low.map(|at| at + side - 1) };
                    prop_assert!(of.touches(&square));
                }
            }
        }

        #[test]
        fn words_are_the_triangle(of in half_planes(), reach: u16) {
            let of = HalfPlanes { reach, ..of };
            prop_assert_eq!(HalfPlanes::of_words(&of.words()), of);
        }

        #[test]
        fn a_bin_of_a_touched_tile_is_touched(of in half_planes()) {
            for (x, y) in (0..18).flat_map(|y| (0..18).map(move |x| (x, y))) {
                let square = |side: i32| {
                    let low = [x * 8, y * 8].map(|at| at / side * side);
                    Bounds { low, high: low.map(|at| at + side - 1) }
                };
                prop_assert!(!of.touches(&square(8)) || of.touches(&square(64)));
            }
        }
    }

    #[test]
    fn samples_beside_the_pixel_count() {
        // Covered from column 10 on.
        let edge = HalfPlanes {
            at: [-160, 0, 0],
            right: [16, 0, 0],
            bounds: Bounds { low: [0; 2], high: [63; 2] },
            ..HalfPlanes::default()
        };
        let tile = Bounds { low: [0; 2], high: [7; 2] };
        assert!(!edge.touches(&tile));
        assert!(!HalfPlanes { reach: 8, ..edge }.touches(&tile));
        assert!(HalfPlanes { at: [-120, 0, 0], reach: 8, ..edge }.touches(&tile));
    }
}
