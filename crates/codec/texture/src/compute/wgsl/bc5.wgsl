fn wide(block: vec2<u32>, texel: u32) -> u32 {
    if SIGNED {
        return snorm16(block, texel);
    }
    return unorm16(block, texel);
}

fn element(block: vec4<u32>, x: u32, y: u32) -> u32 {
    return wide(block.xy, 4u * y + x) | (wide(block.zw, 4u * y + x) << 16u);
}
