// Bitmaps of bins, then of their tiles, an invocation for each bit or word and subgroups of any width to join them. Bits
// are placed by the invocation's number in the workgroup, so that nothing depends on how subgroups are numbered.

var<workgroup> joined: array<atomic<u32>, 2>;

/// Runs over words of a bin, two to a workgroup, columns and rows of bins.
@compute @workgroup_size(64)
fn coarse(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let bin = id.yz;
    let primitive = id.x * 64u + lane;
    if lane < 2u {
        atomicStore(&joined[lane], 0u);
    }
    workgroupBarrier();
    var bits = vec2(0u);
    if primitive < grid.primitives && touches(primitive, bin * (TILE * BIN), TILE * BIN) {
        bits[lane / 32u] = 1u << (lane % 32u);
    }
    let both = subgroupOr(bits);
    if subgroupMin(lane) == lane {
        atomicOr(&joined[0], both.x);
        atomicOr(&joined[1], both.y);
    }
    workgroupBarrier();
    let word = id.x * 2u + lane;
    if lane < 2u && word < primitive_words(grid) {
        bins[bin_base(grid, bin) + word] = atomicLoad(&joined[lane]);
    }
}

/// Runs over columns and rows of tiles, and words of the summary.
@compute @workgroup_size(32)
fn fine(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let tile = id.xy;
    let word = id.z * 32u + lane;
    if lane == 0u {
        atomicStore(&joined[0], 0u);
    }
    workgroupBarrier();
    var bits = 0u;
    if word < primitive_words(grid) {
        bits = tile_bits(tile, word);
    }
    let summary = subgroupOr(select(0u, 1u << lane, bits != 0u));
    if subgroupMin(lane) == lane {
        atomicOr(&joined[0], summary);
    }
    workgroupBarrier();
    if lane == 0u {
        tiles[tile_base(grid, tile) + id.z] = atomicLoad(&joined[0]);
    }
}
