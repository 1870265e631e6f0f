//! Bitmaps made on the CPU: what the programs must make, word for word.

use crate::Edges;
use crate::coverage::Coverage;
use crate::edges::Tame;
use crate::extents::{self, Sixteen};
use crate::grid::{BIN, Bounds, Grid};
use crate::ops::LANES;
use fearless_simd::prelude::*;

/// Bitmaps of a frame's tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    grid: Grid,
    words: Vec<u32>,
}

/// Bitmaps of the tiles that primitives touch, `primitives` in drawing order; those past the grid's number are left out.
///
/// A primitive is in a tile if it touches the tile's bin and the tile.
pub fn bin<C: Coverage + Copy>(grid: &Grid, primitives: impl IntoIterator<Item = C>) -> Tiles {
    let mut marks = Marks::new(grid);
    let frame = grid.bounds();
    // A tile's side is a power of two.
    let shift = grid.tile.trailing_zeros();
    for (i, primitive) in primitives.into_iter().take(grid.primitives as usize).enumerate() {
        let whole = primitive.bounds();
        let bounds = whole.intersect(&frame);
        let [low, high] = [bounds.low, bounds.high].map(|corner| corner.map(|at| at as u32 >> shift));
        if low == high && whole == bounds && !bounds.is_empty() {
            marks.touch(low, i);
        } else {
            marks.spread(primitive, &bounds, shift, i);
        }
    }
    Tiles { grid: *grid, words: marks.words }
}

/// [`bin`] for the triangles that `edges` gives by number, sixteen at once.
#[inline(always)]
pub fn bin_edges<S: Simd>(simd: S, grid: &Grid, edges: impl Fn(usize) -> Edges) -> Tiles {
    let mut marks = Marks::new(grid);
    let (frame, shift) = (grid.bounds(), grid.tile.trailing_zeros());
    let mut sixteen = Sixteen::new();
    let all = grid.primitives as usize;
    for first in (0..all).step_by(LANES) {
        let numbers = first..all.min(first + LANES);
        for (place, number) in numbers.clone().enumerate() {
            sixteen.set(place, &edges(number));
        }
        for (number, tile) in numbers.zip(sixteen.tiles(simd, grid)) {
            match tile {
                extents::NOWHERE => {}
                extents::MANY => {
                    let edges = Tame(edges(number));
                    let whole = edges.bounds();
                    let bounds = whole.intersect(&frame);
                    let [low, high] = [bounds.low, bounds.high].map(|corner| corner.map(|at| at >> shift));
                    // Of two tiles side by side, each has an end of the triangle: no test is needed.
                    if whole == bounds && low[1] == high[1] && low[0] + 1 == high[0] {
                        marks.touch(low.map(|at| at as u32), number);
                        marks.touch(high.map(|at| at as u32), number);
                    } else {
                        marks.spread(edges, &bounds, shift, number);
                    }
                }
                extents::WRAPS => {
                    let edges = edges(number);
                    marks.spread(edges, &edges.bounds().intersect(&frame), shift, number);
                }
                tile => marks.touch_tile(tile as usize, number),
            }
        }
    }
    Tiles { grid: *grid, words: marks.words }
}

/// The words of all tiles, with what it takes to find those of one.
struct Marks {
    words: Vec<u32>,
    columns: u32,
    summary: usize,
    size: usize,
}

impl Marks {
    fn new(grid: &Grid) -> Marks {
        let [columns, _] = grid.tiles();
        let (summary, size) = (grid.summary_words() as usize, grid.tile_words() as usize);
        Marks { words: vec![0; grid.words() as usize], columns, summary, size }
    }

    /// Notes that a primitive touches a tile.
    #[inline(always)]
    fn touch(&mut self, [x, y]: [u32; 2], primitive: usize) {
        self.touch_tile((y * self.columns + x) as usize, primitive);
    }

    /// [`Marks::touch`] by the tile's number, which counts row by row.
    #[inline(always)]
    fn touch_tile(&mut self, tile: usize, primitive: usize) {
        let base = tile * self.size;
        self.words[base + self.summary + primitive / 32] |= 1 << (primitive % 32);
        self.words[base + primitive / 1024] |= 1 << (primitive / 32 % 32);
    }

    /// Notes which tiles a primitive touches. It comes by value: by reference it would have to be in memory also where it
    /// is in one tile.
    #[inline(never)]
    fn spread<C: Coverage>(&mut self, primitive: C, bounds: &Bounds, shift: u32, number: usize) {
        for bin in squares(bounds, shift + BIN.trailing_zeros()) {
            if !primitive.touches(&bin) {
                continue;
            }
            for tile in squares(&bounds.intersect(&bin), shift) {
                if primitive.touches(&tile) {
                    self.touch(tile.low.map(|at| at as u32 >> shift), number);
                }
            }
        }
    }
}

/// The squares of `1 << shift` pixels a side, at multiples of it, that have pixels of `bounds`, whose corners are not
/// negative.
fn squares(bounds: &Bounds, shift: u32) -> impl Iterator<Item = Bounds> + use<> {
    let side = 1i32 << shift;
    let axis = |i: usize| {
        let is_empty = bounds.is_empty();
        (if is_empty { 1 } else { bounds.low[i] >> shift })..=(if is_empty {
            0
        } else {
            bounds.high[i] >> shift
        })
    };
    let (columns, rows) = (axis(0), axis(1));
    rows.flat_map(move |y| columns.clone().map(move |x| [x << shift, y << shift]))
        .map(move |low| Bounds { low, high: low.map(|at| at.saturating_add(side - 1)) })
}

impl Tiles {
    /// The words that programs make of the same.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Primitives that touch a tile, in drawing order; none outside of the frame.
    pub fn primitives(&self, x: u32, y: u32) -> impl Iterator<Item = u32> {
        let [columns, rows] = self.grid.tiles();
        let (summary, size) = (self.grid.summary_words() as usize, self.grid.tile_words() as usize);
        let tile = (y * columns + x) as usize;
        let words =
            if x < columns && y < rows { self.words.get(tile * size..(tile + 1) * size) } else { None };
        let (summary, primitives) =
            words.and_then(|words| words.split_at_checked(summary)).unwrap_or_default();
        bits(summary).flat_map(move |word| {
            let bitmap = primitives.get(word as usize).copied().unwrap_or(0);
            ones(bitmap).map(move |bit| word * 32 + bit)
        })
    }
}

/// Places of the ones of a bitmap, from the lowest up.
#[inline]
fn bits(words: &[u32]) -> impl Iterator<Item = u32> {
    (0..).zip(words).flat_map(|(i, &word)| ones(word).map(move |bit| i * 32 + bit))
}

/// Places of the ones of a word, from the lowest up.
#[inline]
fn ones(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::TILE;
    use proptest::prelude::*;

    fn bounds() -> impl Strategy<Value = Bounds> {
        let at = || prop_oneof![-9i32..90, any::<i32>()];
        (at(), at(), at(), at()).prop_map(|(a, b, c, d)| Bounds { low: [a, b], high: [c, d] })
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn a_tile_has_what_covers_one_of_its_pixels(
            bounds in prop::collection::vec(bounds(), 0..70),
            size in [1u32..90, 1u32..90],
            tile in prop_oneof![Just(8u32), Just(16u32)],
        ) {
            let grid = Grid { size, primitives: bounds.len() as u32, tile };
            let tiles = bin(&grid, &bounds);
            let [columns, rows] = grid.tiles();
            for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
                let covers = |b: &Bounds| {
                    let axis = |i: usize, at: u32| {
                        (at * tile..(at + 1) * tile).any(|p| (b.low[i]..=b.high[i]).contains(&(p as i32)))
                    };
                    axis(0, x) && axis(1, y)
                };
                let expected: Vec<u32> =
                    (0..).zip(&bounds).filter(|(_, b)| covers(b)).map(|(i, _)| i).collect();
                prop_assert_eq!(tiles.primitives(x, y).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn summaries_say_which_words_are_not_0() {
        let grid = Grid { size: [8, 8], primitives: 1100, tile: TILE };
        let mut all = vec![Bounds { low: [9, 9], high: [9, 9] }; 1100];
        (all[40], all[1099]) = (Bounds::default(), Bounds::default());
        let tiles = bin(&grid, &all);
        assert_eq!((grid.summary_words(), grid.primitive_words()), (2, 35));
        assert_eq!(tiles.words()[..2], [1 << 1, 1 << (34 - 32)]);
        assert_eq!(tiles.primitives(0, 0).collect::<Vec<_>>(), [40, 1099]);
        assert_eq!(tiles.primitives(1, 0).count(), 0);
    }
}
