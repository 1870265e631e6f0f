fn element(block: vec2<u32>, x: u32, y: u32) -> u32 {
    let four = (block.x & 0xffffu) > (block.x >> 16u);
    return color(block, 4u * y + x, select(THREE_COLORS, FOUR_COLORS, four));
}
