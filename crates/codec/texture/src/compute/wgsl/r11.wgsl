// Two texels of a row.
fn element(words: vec2<u32>, x: u32, y: u32) -> u32 {
    let block = block_of(words);
    return r11(block, x, y) | (r11(block, x + 1u, y) << 16u);
}
