fn element(block: vec4<u32>, x: u32, y: u32) -> u32 {
    let rgb = color(block.zw, 4u * y + x, FOUR_COLORS) & ~OPAQUE;
    return rgb | (bits(block, 16u * y + 4u * x, 4u) * 0x11000000u);
}
