fn element(words: vec4<u32>, x: u32, y: u32) -> u32 {
    return (rgb(block_of(words.zw), x, y) & ~OPAQUE) | (alpha8(block_of(words.xy), x, y) << 24u);
}
