fn wide(block: vec2<u32>, texel: u32) -> u32 {
    if SIGNED {
        return snorm16(block, texel);
    }
    return unorm16(block, texel);
}

// Two texels of a row.
fn element(block: vec2<u32>, x: u32, y: u32) -> u32 {
    return wide(block, 4u * y + x) | (wide(block, 4u * y + x + 1u) << 16u);
}
