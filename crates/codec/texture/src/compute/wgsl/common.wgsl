// What all programs share: the picture, tables, and bits of a block.

struct Picture {
    // Width, height and depth in texels.
    size: vec3<u32>,
    // Elements of texels from a row to the next.
    pitch: u32,
    // Blocks along each axis; of encoders with those of the padding of rows.
    blocks: vec3<u32>,
    // Of ASTC: the index of the profile in `Profile::ALL`.
    profile: u32,
    // Of ASTC: the footprint, and what a step of a texel is in 1024ths of the way along each of its axes.
    footprint: vec3<u32>,
    // Of several levels: the workgroups of those before this one.
    first_group: u32,
    step: vec3<u32>,
    // The first block in a buffer.
    blocks_at: u32,
    // Workgroups along each axis.
    groups: vec3<u32>,
    // The first element in a buffer.
    texels_at: u32,
}

@group(0) @binding(1) var<storage, read> tables: array<u32>;

// A byte of a table of bytes.
fn byte(at: u32) -> u32 {
    return (tables[at >> 2u] >> (8u * (at & 3u))) & 0xffu;
}

fn word(block: vec4<u32>, at: u32) -> u32 {
    if at > 3u {
        return 0u;
    }
    return block[at];
}

// Up to 31 bits from bit `at` on; those behind the block are 0.
fn bits(block: vec4<u32>, at: u32, count: u32) -> u32 {
    let low = word(block, at >> 5u) >> (at & 31u);
    let high = word(block, (at >> 5u) + 1u) << ((32u - at) & 31u);
    return extractBits(low | select(0u, high, (at & 31u) != 0u), 0u, count);
}
