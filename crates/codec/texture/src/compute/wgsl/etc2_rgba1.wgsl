// The bit that tells modes apart in the other formats says that all is opaque.
fn element(words: vec2<u32>, x: u32, y: u32) -> u32 {
    let block = block_of(words);
    return differential(block, x, y, !is_differential(block));
}
