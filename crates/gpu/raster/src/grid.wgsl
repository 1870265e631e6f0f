// Where bitmaps of tiles and bins lie.

struct Grid {
    size: vec2<u32>,
    primitives: u32,
    /// Words of a primitive, where they are triangles.
    stride: u32,
}

const BIN = 8u;

fn tile_count(grid: Grid) -> vec2<u32> {
    return (grid.size + TILE - 1u) / TILE;
}

fn bin_count(grid: Grid) -> vec2<u32> {
    return (grid.size + TILE * BIN - 1u) / (TILE * BIN);
}

fn primitive_words(grid: Grid) -> u32 {
    return (grid.primitives + 31u) / 32u;
}

fn summary_words(grid: Grid) -> u32 {
    return (primitive_words(grid) + 31u) / 32u;
}

/// First word of a tile.
fn tile_base(grid: Grid, tile: vec2<u32>) -> u32 {
    return (tile.y * tile_count(grid).x + tile.x) * (summary_words(grid) + primitive_words(grid));
}

/// First word of a bin.
fn bin_base(grid: Grid, bin: vec2<u32>) -> u32 {
    return (bin.y * bin_count(grid).x + bin.x) * primitive_words(grid);
}
