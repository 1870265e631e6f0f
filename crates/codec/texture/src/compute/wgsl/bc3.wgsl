fn element(block: vec4<u32>, x: u32, y: u32) -> u32 {
    let rgb = color(block.zw, 4u * y + x, FOUR_COLORS) & ~OPAQUE;
    return rgb | (unorm8(block.xy, 4u * y + x) << 24u);
}
