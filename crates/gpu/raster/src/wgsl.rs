//! The programs as WGSL, and functions for programs that read their bitmaps.

#[cfg(feature = "ir")]
use crate::edges::Edges;

/// Entry points `coarse` and `fine` for tiles of `tile` pixels a side.
///
/// Group 0: 0 the grid (columns, rows of pixels; primitives; words of a primitive), 1 the primitives, 2 the words
/// of bins, 3 the words of tiles. `coarse` runs over words of a bin, columns and rows of bins; `fine` over columns of
/// tiles, rows of tiles, and words of the summary. How many words or columns a workgroup does, [`Joining`] says.
pub fn binning(tile: u32, shape: Shape, joining: Joining) -> String {
    let touches = match shape {
        Shape::Boxes => include_str!("boxes.wgsl"),
        Shape::Edges => include_str!("edges.wgsl"),
        Shape::HalfPlanes => include_str!("half_planes.wgsl"),
    };
    let entries = match joining {
        Joining::Plain => include_str!("binning.wgsl"),
        Joining::Subgroups => include_str!("binning_subgroups.wgsl"),
    };
    let parts = [include_str!("grid.wgsl"), touches, include_str!("bitmaps.wgsl"), entries].concat();
    format!("const TILE = {tile}u;\n{parts}")
}

/// How bits are joined to words on a device. Bitmaps are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Joining {
    /// An invocation makes a word, and 32 words with their summary. Any device does it.
    #[default]
    Plain,
    /// An invocation makes a bit of a bin's word, or a word of a tile, and subgroups of any width join them.
    Subgroups,
}

impl Joining {
    /// Words of bins, and columns of tiles, that a workgroup makes.
    pub fn of_a_workgroup(self) -> [u32; 2] {
        match self {
            Joining::Plain => [64, 64],
            Joining::Subgroups => [2, 1],
        }
    }
}

/// Entry points `collect` and `measure`, which make the lists that [shading programs](crate::shade_program) run over, for
/// tiles of `tile` pixels a side.
///
/// Group 0: 0 the grid as for [`binning`], 1 the primitives with their variants in word [`Edges::VARIANT`], 2 the words of
/// tiles, 3 where each list begins, 4 slots, 5 lengths, 6 items, 7 numbers of workgroups. `collect` runs over columns of
/// tiles in workgroups of 64, rows of tiles, and words of the summary; `measure` over variants in workgroups of 64.
#[cfg(feature = "ir")]
pub fn lists(tile: u32) -> String {
    let (variant, row) = (Edges::VARIANT, crate::shade_program::ROW);
    let parts = [include_str!("grid.wgsl"), include_str!("lists.wgsl")].concat();
    format!("const TILE = {tile}u;\nconst VARIANT = {variant}u;\nconst ROW = {row}u;\n{parts}")
}

/// What primitives are for binning on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// [`crate::Bounds::words`] of each.
    #[default]
    Boxes,
    /// [`crate::Edges::words`] of each, at the start of its record.
    Edges,
    /// [`crate::HalfPlanes::words`] of each, at the start of its record.
    HalfPlanes,
}

/// Functions that say where the words of a tile of [`crate::TILE`] pixels a side are: `tile_base(grid, tile)`,
/// `summary_words(grid)`, of a `Grid` whose members are `size` and `primitives`.
///
/// A tile is drawn so:
///
/// ```wgsl
/// let base = tile_base(grid, tile);
/// for (var s = 0u; s < summary_words(grid); s++) {
///     var summary = tiles[base + s];
///     while summary != 0u {
///         let word = s * 32u + firstTrailingBit(summary);
///         summary &= summary - 1u;
///         var bits = tiles[base + summary_words(grid) + word];
///         while bits != 0u {
///             let primitive = word * 32u + firstTrailingBit(bits);
///             bits &= bits - 1u;
///             // Draw the primitive.
///         }
///     }
/// }
/// ```
pub const GRID: &str = concat!("const TILE = 8u;\n", include_str!("grid.wgsl"));
