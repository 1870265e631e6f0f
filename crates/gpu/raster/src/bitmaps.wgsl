// The bitmaps of bins and of tiles, and the words of tiles.

@group(0) @binding(0) var<storage, read> grid: Grid;
@group(0) @binding(2) var<storage, read_write> bins: array<u32>;
@group(0) @binding(3) var<storage, read_write> tiles: array<u32>;

/// Finds which primitives of a word of its bin touch a tile, and writes them down.
fn tile_bits(tile: vec2<u32>, word: u32) -> u32 {
    var candidates = bins[bin_base(grid, tile / BIN) + word];
    var bits = 0u;
    while candidates != 0u {
        let bit = candidates & (0u - candidates);
        candidates ^= bit;
        if touches(word * 32u + firstTrailingBit(bit), tile * TILE, TILE) {
            bits |= bit;
        }
    }
    tiles[tile_base(grid, tile) + summary_words(grid) + word] = bits;
    return bits;
}
