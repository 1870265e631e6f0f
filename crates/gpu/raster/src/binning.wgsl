// Bitmaps of bins, then of their tiles.

@group(0) @binding(0) var<storage, read> grid: Grid;
@group(0) @binding(2) var<storage, read_write> bins: array<u32>;
@group(0) @binding(3) var<storage, read_write> tiles: array<u32>;

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
    let bin = bin_base(grid, tile / BIN);
    let base = tile_base(grid, tile);
    let first = id.z * 32u;
    var summary = 0u;
    for (var i = 0u; i < min(32u, primitive_words(grid) - first); i++) {
        let word = first + i;
        var candidates = bins[bin + word];
        var bits = 0u;
        while candidates != 0u {
            let bit = candidates & (0u - candidates);
            candidates ^= bit;
            if touches(word * 32u + firstTrailingBit(bit), tile * TILE, TILE) {
                bits |= bit;
            }
        }
        tiles[base + summary_words(grid) + word] = bits;
        if bits != 0u {
            summary |= 1u << i;
        }
    }
    tiles[base + id.z] = summary;
}
