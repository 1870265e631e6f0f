//! Tiles, bins, and where their bitmaps lie.

/// Pixels along a side of a tile.
pub const TILE: u32 = 8;
/// Tiles along a side of a bin.
pub const BIN: u32 = 8;

/// The pixels that a primitive may touch: columns and rows from `low` to `high`, both inclusive. Where `low` is above
/// `high` it touches none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// First column and row.
    pub low: [i32; 2],
    /// Last column and row.
    pub high: [i32; 2],
}

impl Bounds {
    /// Words of bounds in a buffer: `low`, then `high`.
    pub const WORDS: usize = 4;

    /// As programs read them.
    pub fn words(&self) -> [u32; Bounds::WORDS] {
        let ([left, top], [right, bottom]) = (self.low, self.high);
        [left, top, right, bottom].map(|v| v as u32)
    }

    /// Whether it touches the square of `size` pixels a side whose first pixel is `at`.
    pub(crate) fn touches(&self, at: [u32; 2], size: u32) -> bool {
        let is_in = |axis: usize| {
            let from = i64::from(at[axis]);
            i64::from(self.low[axis]) < from + i64::from(size) && i64::from(self.high[axis]) >= from
        };
        let is_empty = (0..2).any(|axis| self.low[axis] > self.high[axis]);
        !is_empty && is_in(0) && is_in(1)
    }
}

/// A frame and its primitives.
///
/// A tile's words are [`Grid::summary_words`] with a bit for each of the others that is not 0, then
/// [`Grid::primitive_words`] with a bit for each primitive. Tiles lie row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Columns and rows of pixels.
    pub size: [u32; 2],
    /// How many primitives there are.
    pub primitives: u32,
}

impl Grid {
    /// Tiles along either axis.
    pub fn tiles(&self) -> [u32; 2] {
        self.size.map(|pixels| pixels.div_ceil(TILE))
    }

    /// Bins along either axis.
    pub fn bins(&self) -> [u32; 2] {
        self.size.map(|pixels| pixels.div_ceil(TILE * BIN))
    }

    /// Words of a bitmap of primitives.
    pub fn primitive_words(&self) -> u32 {
        self.primitives.div_ceil(32)
    }

    /// Words of a bitmap of words.
    pub fn summary_words(&self) -> u32 {
        self.primitive_words().div_ceil(32)
    }

    /// Words of a tile.
    pub fn tile_words(&self) -> u32 {
        self.summary_words() + self.primitive_words()
    }

    /// Words of all tiles.
    pub fn words(&self) -> u64 {
        let [columns, rows] = self.tiles().map(u64::from);
        columns * rows * u64::from(self.tile_words())
    }

    /// Words of all bins.
    pub fn bin_words(&self) -> u64 {
        let [columns, rows] = self.bins().map(u64::from);
        columns * rows * u64::from(self.primitive_words())
    }
}
