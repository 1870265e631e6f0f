//! Triangles as edges: what each row covers of them, in integers.
//!
//! Positions are in eighths of a pixel. A triangle has its vertices from the top down; edge a goes from the first to the
//! last, b from the first to the middle one, c from there to the last. Columns along an edge have sixteen more bits of
//! fraction. A row is covered at its top, a pixel at its left:
//!
//! ```text
//! rows      ceil(y_lo / 8) ..= (y_hi - 1) / 8
//! columns   ceil(left)     ..= ceil(right) - 1       left, right: edges a and b or c at the row
//! ```

use crate::coverage::Coverage;
use crate::each;
use crate::grid::Bounds;
use crate::ops::Ops;

/// Fraction bits of a pixel along an edge.
pub(crate) const PIXEL: u32 = 19;
/// What rounds a column up to a pixel.
pub(crate) const UP: i32 = (1 << PIXEL) - 1;
/// Columns whose sum with [`UP`] does not wrap around.
const FARTHEST: i64 = 1 << 30;

/// A triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Columns where edges a, b and c are known: a and b at the first row, c at the middle one. 2^19 is a pixel.
    pub x: [i32; 3],
    /// What an eighth of a row adds to them.
    pub slope: [i32; 3],
    /// First, middle and last row, in eighths.
    pub y: [i32; 3],
    /// Whether edge a is the right one.
    pub right_major: bool,
    /// The pixels that may be drawn.
    pub scissor: Bounds,
}

impl Edges {
    /// Words in a buffer: `x`, `slope`, `y`, flags ([`Edges::RIGHT_MAJOR`], [`Edges::WRAPS`]), the scissor, two of 0, which
    /// are the chip's: binning does not read them.
    pub const WORDS: usize = 16;
    /// The last of them: the number of the primitive's variant, where shading is apart from depth and blending.
    pub const VARIANT: usize = 15;
    /// Edge a is the right one.
    pub const RIGHT_MAJOR: u32 = 1;
    /// A column along an edge does not fit 32 bits, so that only rows are known.
    pub const WRAPS: u32 = 2;

    /// The triangle of three vertices, in eighths of a pixel from -32768 to 32767, from the top down, those of one row
    /// from the left to the right.
    pub fn new(vertices: [[i32; 2]; 3], scissor: Bounds) -> Edges {
        let [a, b, c] = vertices;
        let slope = |from: [i32; 2], to: [i32; 2]| slope(to[0] - from[0], to[1] - from[1]);
        let slopes = [slope(a, c), slope(a, b), slope(b, c)];
        Edges {
            x: [a[0], a[0], b[0]].map(|x| x << 16),
            slope: slopes,
            y: [a[1], b[1], c[1]],
            right_major: slopes[1] < slopes[0],
            scissor,
        }
    }

    /// [`Edges::RIGHT_MAJOR`], if it is.
    #[inline(always)]
    fn flags(&self) -> u32 {
        if self.right_major { Edges::RIGHT_MAJOR } else { 0 }
    }

    /// As programs read it.
    pub fn words(&self) -> [u32; Edges::WORDS] {
        let flags = self.flags() | u32::from(self.wraps()) << 1;
        let mut words = [0; Edges::WORDS];
        let numbers = self.x.iter().chain(&self.slope).chain(&self.y).map(|&v| v as u32);
        for (word, value) in words.iter_mut().zip(numbers.chain([flags]).chain(self.scissor.words())) {
            *word = value;
        }
        words
    }

    /// Rows that may be covered, first and last.
    #[inline(always)]
    pub fn rows(&self) -> [i32; 2] {
        let [low, high] = [self.scissor.low[1], self.scissor.high[1]];
        [(self.y[0].wrapping_add(7) >> 3).max(low), (self.y[2].wrapping_sub(1) >> 3).min(high)]
    }

    /// First and last column that a row covers; the first is above the last where it covers none.
    pub fn span(&self, row: i32) -> [i32; 2] {
        let [first, last] = self.rows();
        if row < first || row > last {
            return [0, -1];
        }
        let s = row.wrapping_mul(8);
        let edge =
            |i: usize, from: i32| self.x[i].wrapping_add(self.slope[i].wrapping_mul(s.wrapping_sub(from)));
        let long = edge(0, self.y[0]);
        let short = if s >= self.y[1] { edge(2, self.y[1]) } else { edge(1, self.y[0]) };
        let [left, right] = if self.right_major { [short, long] } else { [long, short] };
        [
            (left.wrapping_add(UP) >> PIXEL).max(self.scissor.low[0]),
            (right.wrapping_sub(1) >> PIXEL).min(self.scissor.high[0]),
        ]
    }

    /// The spans of rows `first` to `last`, which are among [`Edges::rows`].
    #[inline(always)]
    pub fn spans(&self, first: i32, last: i32) -> impl Iterator<Item = [i32; 2]> + use<> {
        let Edges { x, slope, y, right_major, scissor } = *self;
        let start = |edge: usize, from: i32| {
            x[edge].wrapping_add(slope[edge].wrapping_mul(first.wrapping_mul(8).wrapping_sub(from)))
        };
        let mut columns = [start(0, y[0]), start(1, y[0]), start(2, y[1])];
        let middle = y[1].wrapping_add(7) >> 3;
        (first..=last).map(
            #[inline(always)]
            move |row| {
                let [long, upper, lower] = columns;
                let short = if row >= middle { lower } else { upper };
                for (column, slope) in columns.iter_mut().zip(slope) {
                    *column = column.wrapping_add(slope.wrapping_mul(8));
                }
                let (left, right) = if right_major { (short, long) } else { (long, short) };
                [
                    (left.wrapping_add(UP) >> PIXEL).max(scissor.low[0]),
                    (right.wrapping_sub(1) >> PIXEL).min(scissor.high[0]),
                ]
            },
        )
    }

    /// Column of an edge at a row, with as many bits as it takes where rows are those of a triangle that does not wrap around.
    #[inline(always)]
    fn exact(&self, edge: usize, row: i32) -> i64 {
        let from = if edge == 2 { self.y[1] } else { self.y[0] };
        let rows = 8 * i64::from(row) - i64::from(from);
        i64::from(self.x[edge]).wrapping_add(i64::from(self.slope[edge]).wrapping_mul(rows))
    }

    /// First row at the middle vertex or below it.
    #[inline(always)]
    fn middle_row(&self) -> i32 {
        self.y[1].wrapping_add(7) >> 3
    }

    /// Least and greatest column of edges a, b and c in the rows where they bound the triangle, among rows `first` to `last`.
    /// Edges are straight, so that only the ends count. The least is above the greatest where an edge has no rows.
    #[inline(always)]
    fn extents(&self, [first, last]: [i32; 2]) -> [[i64; 2]; 3] {
        let middle = self.middle_row();
        let rows = [[first, last], [first, last.min(middle.saturating_sub(1))], [first.max(middle), last]];
        each!([0, 1, 2], edge => {
            let [first, last] = rows[edge];
            let (a, b) = (self.exact(edge, first), self.exact(edge, last));
            let is_empty = first > last;
            [if is_empty { i64::MAX } else { a.min(b) }, if is_empty { i64::MIN } else { a.max(b) }]
        })
    }

    /// The rows of the triangle, whatever the scissor is.
    #[inline(always)]
    fn own_rows(&self) -> [i32; 2] {
        [self.y[0].wrapping_add(7) >> 3, self.y[2].wrapping_sub(1) >> 3]
    }

    /// Whether columns along an edge may wrap around. The extents are those of the triangle's own rows.
    #[inline(always)]
    fn wraps_within(&self, extents: &[[i64; 2]; 3]) -> bool {
        let far = each!([0, 1, 2], edge => {
            let [least, greatest] = extents[edge];
            (least <= greatest) & ((least < -FARTHEST) | (greatest >= FARTHEST))
        });
        let high = each!([0, 1, 2], i => !(-(1 << 20)..1 << 20).contains(&self.y[i]));
        far[0] | far[1] | far[2] | high[0] | high[1] | high[2]
    }

    #[inline(always)]
    fn wraps(&self) -> bool {
        self.wraps_within(&self.extents(self.own_rows()))
    }

    /// First column of the leftmost and last column of the rightmost span among rows whose extents these are.
    #[inline(always)]
    fn columns(&self, [a, b, c]: &[[i64; 2]; 3]) -> [i64; 2] {
        let short = [b[0].min(c[0]), b[1].max(c[1])];
        let left = if self.right_major { short[0] } else { a[0] };
        let right = if self.right_major { a[1] } else { short[1] };
        [left.saturating_add(UP.into()) >> PIXEL, right.saturating_sub(1) >> PIXEL]
    }
}

/// Columns an eighth of a row adds to an edge, rounded away from zero.
fn slope(dx: i32, dy: i32) -> i32 {
    let d = i64::from(dy.max(1));
    let n = i64::from(dx) << 16;
    let n = n + n.signum() * (d - 1);
    (n / d) as i32
}

impl Edges {
    /// The part of a rectangle within the scissor, and the first and last of its rows that the triangle has; `None` where there
    /// is no such row.
    #[inline(always)]
    fn shared(&self, pixels: &Bounds) -> Option<(Bounds, [i32; 2])> {
        let pixels = pixels.intersect(&self.scissor);
        let [first, last] = self.rows();
        let rows = [pixels.low[1].max(first), pixels.high[1].min(last)];
        (!pixels.is_empty() && rows[0] <= rows[1]).then_some((pixels, rows))
    }
}

impl Coverage for Edges {
    #[inline(always)]
    fn bounds(&self) -> Bounds {
        let [first, last] = self.rows();
        let [low, high] = [self.scissor.low[0], self.scissor.high[0]];
        if first > last || self.wraps() {
            return Bounds { low: [low, first], high: [high, last] };
        }
        Tame(*self).bounds()
    }

    #[inline]
    fn touches(&self, pixels: &Bounds) -> bool {
        self.shared(pixels).is_some() && (self.wraps() || Tame(*self).touches(pixels))
    }
}

/// A triangle with at least one row, whose columns along the edges are known not to wrap around: bounds and tests need not
/// look for that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tame(pub Edges);

impl Coverage for Tame {
    #[inline(always)]
    fn bounds(&self) -> Bounds {
        let rows @ [first, last] = self.0.rows();
        let [low, high] = [self.0.scissor.low[0], self.0.scissor.high[0]];
        let [left, right] = self.0.columns(&self.0.extents(rows));
        let within = |x: i64| x.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        Bounds { low: [low.max(within(left)), first], high: [high.min(within(right)), last] }
    }

    #[inline(always)]
    fn touches(&self, pixels: &Bounds) -> bool {
        let Some((pixels, rows)) = self.0.shared(pixels) else { return false };
        let [left, right] = self.0.columns(&self.0.extents(rows));
        left.max(pixels.low[0].into()) <= right.min(pixels.high[0].into())
    }
}

/// A triangle's numbers as an engine has them.
#[derive(Clone, Copy, Debug)]
pub struct EdgeValues<T> {
    /// [`Edges::x`].
    pub x: [T; 3],
    /// [`Edges::slope`].
    pub slope: [T; 3],
    /// [`Edges::y`].
    pub y: [T; 3],
    /// Not 0 if edge a is the right one; other bits do not count.
    pub flags: T,
    /// [`Edges::scissor`]: left, top, right, bottom.
    pub scissor: [T; 4],
}

impl<T: Copy> EdgeValues<T> {
    /// Those of a triangle, as constants.
    #[inline(always)]
    pub fn constants<O: Ops<Int = T>>(o: &mut O, edges: &Edges) -> EdgeValues<T> {
        let ([left, top], [right, bottom]) = (edges.scissor.low, edges.scissor.high);
        EdgeValues {
            x: each!([0, 1, 2], i => o.int(edges.x[i])),
            slope: each!([0, 1, 2], i => o.int(edges.slope[i])),
            y: each!([0, 1, 2], i => o.int(edges.y[i])),
            flags: o.int(edges.flags() as i32),
            scissor: each!([left, top, right, bottom], at => o.int(at)),
        }
    }
}

/// First and last column of a row that is among a triangle's, whatever the scissor is: the rule of [`Edges::span`] in an
/// engine's arithmetic.
#[inline(always)]
pub fn span<O: Ops>(o: &mut O, edges: &EdgeValues<O::Int>, y: O::Int) -> [O::Int; 2] {
    let EdgeValues { x: [xa, xb, xc], slope: [sa, sb, sc], y: [lo, mid, _], flags, .. } = *edges;
    let (three, one, minus_one) = (o.int(3), o.int(1), o.int(-1));
    let s = o.shl(y, three);
    let (from_lo, from_mid) = (o.sub(s, lo), o.sub(s, mid));
    let (pa, pb, pc) = (o.mul(sa, from_lo), o.mul(sb, from_lo), o.mul(sc, from_mid));
    let (long, upper, lower) = (o.add(xa, pa), o.add(xb, pb), o.add(xc, pc));
    let is_upper = o.less(s, mid);
    let short = o.select(is_upper, upper, lower);
    let right_major = o.and(flags, one);
    let right_major = o.equal(right_major, one);
    let (left, right) = (o.select(right_major, short, long), o.select(right_major, long, short));
    let (up, pixel) = (o.int(UP), o.int(PIXEL as i32));
    let left = o.add(left, up);
    let right = o.add(right, minus_one);
    [o.sar(left, pixel), o.sar(right, pixel)]
}

/// Whether a triangle covers a pixel.
#[inline(always)]
pub fn covers<O: Ops>(o: &mut O, edges: &EdgeValues<O::Int>, x: O::Int, y: O::Int) -> O::Bool {
    let EdgeValues { y: [lo, _, hi], scissor, .. } = *edges;
    let [left, right] = span(o, edges, y);
    let (three, seven, minus_one) = (o.int(3), o.int(7), o.int(-1));
    let first = o.add(lo, seven);
    let first = o.sar(first, three);
    let last = o.add(hi, minus_one);
    let last = o.sar(last, three);
    let mut outside = o.bool(false);
    for (low, high) in [
        (x, left),
        (right, x),
        (y, first),
        (last, y),
        (x, scissor[0]),
        (scissor[2], x),
        (y, scissor[1]),
        (scissor[3], y),
    ] {
        let beyond = o.less(low, high);
        outside = o.either(outside, beyond);
    }
    o.not(outside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Scalar;
    use proptest::prelude::*;

    fn edges() -> impl Strategy<Value = Edges> {
        let at = || prop_oneof![0i32..700, -32768i32..=32767];
        let near = prop::array::uniform3((at(), at())).prop_map(|vertices| {
            let mut vertices = vertices.map(|(x, y)| [x, y]);
            vertices.sort_by_key(|v| (v[1], v[0]));
            Edges::new(vertices, Bounds { low: [3, 2], high: [70, 75] })
        });
        let any = (any::<[i32; 3]>(), any::<[i32; 3]>(), any::<[i16; 3]>(), any::<bool>()).prop_map(
            |(x, slope, y, right_major)| Edges {
                x,
                slope,
                y: y.map(i32::from),
                right_major,
                scissor: Bounds { low: [0, 0], high: [79, 79] },
            },
        );
        prop_oneof![near, any]
    }

    fn values(edges: &Edges) -> EdgeValues<i32> {
        let flags = edges.words()[9] as i32;
        let [left, top, right, bottom] = edges.scissor.words().map(|word| word as i32);
        let Edges { x, slope, y, .. } = *edges;
        EdgeValues { x, slope, y, flags, scissor: [left, top, right, bottom] }
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(512))]

        #[test]
        fn no_covered_pixel_is_lost(edges in edges(), tile in prop_oneof![Just(8), Just(16)]) {
            let mut scalar = Scalar::new(&[]);
            let bounds = edges.bounds();
            let rows = edges.rows();
            for (row, span) in (rows[0]..).zip(edges.spans(rows[0], rows[1])) {
                prop_assert_eq!(span, edges.span(row));
            }
            for y in 0..80 {
                let [first, last] = edges.span(y);
                for x in 0..80 {
                    let covered = (first..=last).contains(&x);
                    prop_assert_eq!(covers(&mut scalar, &values(&edges), x, y), covered);
                    if covered {
                        let low = [x / tile * tile, y / tile * tile];
                        let square = Bounds { low, high: low.map(|at| at + tile - 1) };
                        let pixel = Bounds { low: [x, y], high: [x, y] };
                        prop_assert!(edges.touches(&square));
                        prop_assert!(bounds.touches(&pixel));
                    }
                }
            }
        }
    }

    #[test]
    fn slopes_round_away_from_zero() {
        assert_eq!([slope(1, 3), slope(-1, 3), slope(5, 0)], [21846, -21846, 5 << 16]);
    }
}
