// Blocks in a texture of integers, a texel for each.

@group(0) @binding(2) var blocks: texture_2d_array<u32>;

fn block_at(at: vec3<u32>) -> Block {
    return texel_block(textureLoad(blocks, at.xy, at.z, level));
}
