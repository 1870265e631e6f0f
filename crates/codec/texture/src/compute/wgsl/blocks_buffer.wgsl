// Blocks in a buffer, in rows and slices.

@group(0) @binding(2) var<storage, read> blocks: array<Block>;

fn block_at(at: vec3<u32>) -> Block {
    return blocks[picture.blocks_at + (at.z * picture.blocks.y + at.y) * picture.blocks.x + at.x];
}
