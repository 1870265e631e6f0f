//! The programs as WGSL, and functions for programs that read their bitmaps.

/// Entry points `coarse` and `fine` for tiles of `tile` pixels a side.
///
/// Group 0: 0 the grid (columns, rows of pixels; primitives; words of a primitive), 1 the primitives, 2 the words
/// of bins, 3 the words of tiles. `coarse` runs over words of a bin in workgroups of 64, columns and rows of bins;
/// `fine` over columns of tiles in workgroups of 64, rows of tiles, and words of the summary.
pub fn binning(tile: u32, shape: Shape) -> String {
    let touches = match shape {
        Shape::Boxes => include_str!("boxes.wgsl"),
        Shape::Edges => include_str!("edges.wgsl"),
    };
    let parts = [include_str!("grid.wgsl"), touches, include_str!("binning.wgsl")].concat();
    format!("const TILE = {tile}u;\n{parts}")
}

/// What primitives are for binning on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// [`crate::Bounds::words`] of each.
    #[default]
    Boxes,
    /// [`crate::Edges::words`] of each, at the start of its record.
    Edges,
}

/// Functions that say where the words of a tile of [`crate::TILE`] pixels a side are: `tile_base(grid, tile)`, `summary_words(grid)`, of a `Grid` whose
/// members are `size` and `primitives`.
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
