//! Tiles, bins, and where their bitmaps lie.

/// Pixels along a side of a tile, where nothing else is asked for.
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

    /// Whether there are no pixels in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        (0..2).any(|axis| self.low[axis] > self.high[axis])
    }

    /// The pixels in both.
    #[inline]
    pub fn intersect(&self, other: &Bounds) -> Bounds {
        let axis = |i: usize| (self.low[i].max(other.low[i]), self.high[i].min(other.high[i]));
        let ((left, right), (top, bottom)) = (axis(0), axis(1));
        Bounds { low: [left, top], high: [right, bottom] }
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
    /// Pixels along a side of a tile; a power of two.
    pub tile: u32,
}

impl Grid {
    /// Tiles along either axis.
    pub fn tiles(&self) -> [u32; 2] {
        self.size.map(|pixels| pixels.div_ceil(self.tile))
    }

    /// Bins along either axis.
    pub fn bins(&self) -> [u32; 2] {
        self.size.map(|pixels| pixels.div_ceil(self.tile * BIN))
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

    /// Tiles that have pixels of bounds.
    pub fn tiles_of(&self, bounds: &Bounds) -> u32 {
        let bounds = bounds.intersect(&self.bounds());
        if bounds.is_empty() {
            return 0;
        }
        let [columns, rows] = [0, 1].map(|axis| {
            let [low, high] = [bounds.low[axis], bounds.high[axis]].map(|at| at as u32 / self.tile);
            high - low + 1
        });
        columns * rows
    }

    /// The pixels of all tiles.
    pub fn bounds(&self) -> Bounds {
        let last = |tiles: u32| i32::try_from(tiles.saturating_mul(self.tile)).unwrap_or(i32::MAX) - 1;
        Bounds { low: [0; 2], high: self.tiles().map(last) }
    }
}
