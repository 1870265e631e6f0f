// Bitmaps of bins, then of their tiles.

@compute @workgroup_size(64)
fn coarse(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.x;
    let bin = id.yz;
    if word >= primitive_words(grid) {
        return;
    }
    var bits = 0u;
    let first = word * 32u;
    for (var i = 0u; i < min(32u, grid.primitives - first); i++) {
        if touches(first + i, bin * (TILE * BIN), TILE * BIN) {
            bits |= 1u << i;
        }
    }
    bins[bin_base(grid, bin) + word] = bits;
}

@compute @workgroup_size(64)
fn fine(@builtin(global_invocation_id) id: vec3<u32>) {
    let tile = id.xy;
    if tile.x >= tile_count(grid).x {
        return;
    }
    let first = id.z * 32u;
    var summary = 0u;
    for (var i = 0u; i < min(32u, primitive_words(grid) - first); i++) {
        if tile_bits(tile, first + i) != 0u {
            summary |= 1u << i;
        }
    }
    tiles[tile_base(grid, tile) + id.z] = summary;
}
