//! Bitmaps made on the CPU: what the programs must make, word for word.

use crate::grid::{BIN, Bounds, Grid, TILE};

/// Bitmaps of a frame's tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    grid: Grid,
    words: Vec<u32>,
}

/// Bitmaps of the tiles that primitives touch, `bounds` in drawing order; those past the grid's number are left out.
pub fn bin(grid: &Grid, bounds: &[Bounds]) -> Tiles {
    let mut words = vec![0; grid.words() as usize];
    let [columns, _] = grid.tiles();
    let (summary_words, size) = (grid.summary_words() as usize, grid.tile_words() as usize);
    for (tile, words) in (0..).zip(words.chunks_exact_mut(size.max(1))) {
        let [x, y] = [tile % columns, tile / columns];
        let bin = [x, y].map(|at| at / BIN * BIN * TILE);
        let (summary, primitives) = words.split_at_mut(summary_words);
        for (i, bounds) in bounds.iter().take(grid.primitives as usize).enumerate() {
            if bounds.touches(bin, BIN * TILE) && bounds.touches([x, y].map(|at| at * TILE), TILE) {
                primitives[i / 32] |= 1 << (i % 32);
                summary[i / 1024] |= 1 << (i / 32 % 32);
            }
        }
    }
    Tiles { grid: *grid, words }
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
        let primitives = words.and_then(|words| words.get(summary..)).unwrap_or_default();
        (0..).zip(primitives).flat_map(|(i, &word)| {
            (0..32).filter(move |bit| word >> bit & 1 != 0).map(move |bit| i * 32 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        ) {
            let grid = Grid { size, primitives: bounds.len() as u32 };
            let tiles = bin(&grid, &bounds);
            let [columns, rows] = grid.tiles();
            for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
                let covers = |b: &Bounds| {
                    let axis = |i: usize, tile: u32| {
                        (tile * TILE..(tile + 1) * TILE).any(|p| (b.low[i]..=b.high[i]).contains(&(p as i32)))
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
        let grid = Grid { size: [8, 8], primitives: 1100 };
        let mut all = vec![Bounds { low: [9, 9], high: [9, 9] }; 1100];
        (all[40], all[1099]) = (Bounds::default(), Bounds::default());
        let tiles = bin(&grid, &all);
        assert_eq!((grid.summary_words(), grid.primitive_words()), (2, 35));
        assert_eq!(tiles.words()[..2], [1 << 1, 1 << (34 - 32)]);
        assert_eq!(tiles.primitives(0, 0).collect::<Vec<_>>(), [40, 1099]);
        assert_eq!(tiles.primitives(1, 0).count(), 0);
    }
}
