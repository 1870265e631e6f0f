//! The bounds of sixteen triangles at once, equal to [`Edges::bounds`] bit for bit.

use crate::edges::{PIXEL, UP};
#[cfg(test)]
use crate::grid::Bounds;
use crate::grid::Grid;
use crate::ops::LANES;
use crate::{Edges, each};
use fearless_simd::prelude::*;
use fearless_simd::{f32x16, i32x16, mask32x16};

/// Words of a triangle that its bounds depend on.
const WORDS: usize = 14;
/// Columns whose magnitude, as floats have it, is below this fit 32 bits, as do their sums with [`UP`]: a little below 2^30.
const FARTHEST: f32 = 1.07e9;
/// Vertices whose rows, in eighths of a pixel, are below this are handled here.
const HIGHEST: i32 = 1 << 20;

/// In place of a tile's number: the triangle covers nothing.
pub const NOWHERE: i32 = -1;
/// In place of a tile's number: there may be more than one, or one beyond the grid.
pub const MANY: i32 = -2;
/// In place of a tile's number: columns along an edge may wrap around.
pub const WRAPS: i32 = -3;

/// Sixteen triangles, a lane each.
#[derive(Debug)]
pub struct Sixteen {
    words: [[i32; LANES]; WORDS],
}

impl Sixteen {
    /// Sixteen empty triangles.
    #[inline(always)]
    pub fn new() -> Sixteen {
        Sixteen { words: [[0; LANES]; WORDS] }
    }

    /// Puts a triangle in a place below sixteen.
    #[inline(always)]
    pub fn set(&mut self, place: usize, edges: &Edges) {
        let Edges { x: [xa, xb, xc], slope: [sa, sb, sc], y: [lo, mid, hi], right_major, scissor } = *edges;
        let ([left, top], [right, bottom]) = (scissor.low, scissor.high);
        let all = [xa, xb, xc, sa, sb, sc, lo, mid, hi, right_major.into(), left, top, right, bottom];
        for (row, word) in self.words.iter_mut().zip(all) {
            row[place % LANES] = word;
        }
    }

    /// The tile of a grid that each triangle is in, counted row by row, or [`NOWHERE`], [`MANY`] or [`WRAPS`].
    #[inline(always)]
    pub fn tiles<S: Simd>(&self, simd: S, grid: &Grid) -> [i32; LANES] {
        let ([left, top, right, bottom], known) = self.bounds(simd);
        let frame = grid.bounds();
        let shift = grid.tile.trailing_zeros();
        let [columns, _] = grid.tiles();
        let (low, high) = ([left >> shift, top >> shift], [right >> shift, bottom >> shift]);
        let single = low[0].simd_eq(high[0]) & low[1].simd_eq(high[1]);
        let some = left.simd_le(right) & top.simd_le(bottom);
        let (starts, ends) =
            (left.simd_ge(0) & top.simd_ge(0), right.simd_le(frame.high[0]) & bottom.simd_le(frame.high[1]));
        let tile = low[1] * columns as i32 + low[0];
        let tile = (single & starts & ends).select(tile, i32x16::splat(simd, MANY));
        let tile = some.select(tile, i32x16::splat(simd, NOWHERE));
        known.select(tile, i32x16::splat(simd, WRAPS)).to_array()
    }

    /// The bounds of each triangle (left, top, right, bottom), and a mask of the triangles that have them: columns of the others
    /// may wrap around.
    #[inline(always)]
    fn bounds<S: Simd>(&self, simd: S) -> ([i32x16<S>; 4], mask32x16<S>) {
        let words = self.words.map(|row| i32x16::load_array(simd, row));
        let [xa, xb, xc, sa, sb, sc, lo, mid, hi, flags, left, top, right, bottom] = words;
        let (x, slope) = ([xa, xb, xc], [sa, sb, sc]);
        // An edge bounds rows within its height only, which begins where its column is given.
        let heights = [hi - lo, mid - lo, hi - mid];
        let near = each!([0, 1, 2], edge => {
            let (x, slope): (f32x16<S>, f32x16<S>) = (x[edge].to_float(), slope[edge].to_float());
            let height: f32x16<S> = heights[edge].to_float();
            (x.abs() + slope.abs() * height).simd_lt(FARTHEST) & heights[edge].simd_ge(0)
        });
        let low = lo.min(mid).min(hi).simd_ge(-HIGHEST) & lo.max(mid).max(hi).simd_lt(HIGHEST);
        let known = near[0] & near[1] & near[2] & low;
        let first = ((lo + 7) >> 3).max(top);
        let last = ((hi - 1) >> 3).min(bottom);
        let middle = (mid + 7) >> 3;
        let rows = [[first, last], [first, last.min(middle - 1)], [first.max(middle), last]];
        let from = [lo, lo, mid];
        let [a, b, c] = each!([0, 1, 2], edge => {
            let [start, end] = each!([0, 1], i => x[edge] + slope[edge] * ((rows[edge][i] << 3) - from[edge]));
            let some = rows[edge][0].simd_le(rows[edge][1]);
            let [most, least] = [i32::MAX - UP, i32::MIN + 1].map(|at| i32x16::splat(simd, at));
            [some.select(start.min(end), most), some.select(start.max(end), least)]
        });
        let right_major = !(flags & 1).simd_eq(0);
        let start = right_major.select(b[0].min(c[0]), a[0]);
        let end = right_major.select(a[1], b[1].max(c[1]));
        let some = first.simd_le(last);
        let columns = [(start + UP) >> PIXEL, (end - 1) >> PIXEL];
        let left = some.select(left.max(columns[0]), left);
        let right = some.select(right.min(columns[1]), right);
        ([left, first, right, last], known)
    }

    /// The bounds of each triangle, if they are known.
    #[cfg(test)]
    fn known_bounds<S: Simd>(&self, simd: S) -> [Option<Bounds>; LANES] {
        let (bounds, known) = self.bounds(simd);
        let [left, top, right, bottom] = bounds.map(|side| side.to_array());
        let known = known.to_bitmask();
        std::array::from_fn(|lane| {
            let bounds = Bounds { low: [left[lane], top[lane]], high: [right[lane], bottom[lane]] };
            (known >> lane & 1 != 0).then_some(bounds)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;
    use crate::ops::levels;
    use fearless_simd::dispatch;
    use proptest::prelude::*;

    /// Triangles made from random vertices, and edges of random numbers.
    fn edges() -> impl Strategy<Value = Edges> {
        let at = || prop_oneof![0i32..700, -32768i32..=32767];
        let corner = || prop_oneof![-9i32..90, Just(-32768), Just(32767)];
        let scissor = (corner(), corner(), corner(), corner())
            .prop_map(|(left, top, right, bottom)| Bounds { low: [left, top], high: [right, bottom] });
        let near = (prop::array::uniform3((at(), at())), scissor.clone()).prop_map(|(vertices, scissor)| {
            let mut vertices = vertices.map(|(x, y)| [x, y]);
            vertices.sort_by_key(|v| (v[1], v[0]));
            Edges::new(vertices, scissor)
        });
        let any = (any::<[i32; 3]>(), any::<[i32; 3]>(), any::<[i32; 3]>(), any::<bool>(), scissor)
            .prop_map(|(x, slope, y, right_major, scissor)| Edges { x, slope, y, right_major, scissor });
        prop_oneof![4 => near, 1 => any]
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(512))]

        #[test]
        fn sixteen_are_one_after_the_other(
            all in prop::collection::vec(edges(), 1..40),
            size in [1u32..90, 1u32..90],
            tile in prop_oneof![Just(8u32), Just(64u32)],
        ) {
            let grid = Grid { size, primitives: all.len() as u32, tile };
            let expected = crate::cpu::bin(&grid, &all);
            for level in levels() {
                let (tiles, known) = dispatch!(level, simd => {
                    let mut sixteen = Sixteen::new();
                    for (place, edges) in all.iter().take(LANES).enumerate() {
                        sixteen.set(place, edges);
                    }
                    (crate::cpu::bin_edges(simd, &grid, |i| all[i]), sixteen.known_bounds(simd))
                });
                prop_assert_eq!(&tiles, &expected);
                for (bounds, edges) in known.into_iter().zip(&all) {
                    prop_assert!(bounds.is_none_or(|bounds| bounds == edges.bounds()));
                }
            }
        }
    }
}
