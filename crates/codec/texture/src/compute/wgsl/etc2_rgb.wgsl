fn element(words: vec2<u32>, x: u32, y: u32) -> u32 {
    return rgb(block_of(words), x, y);
}
