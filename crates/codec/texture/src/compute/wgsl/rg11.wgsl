fn element(words: vec4<u32>, x: u32, y: u32) -> u32 {
    return r11(block_of(words.xy), x, y) | (r11(block_of(words.zw), x, y) << 16u);
}
