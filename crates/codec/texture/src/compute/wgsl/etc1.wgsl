fn element(words: vec2<u32>, x: u32, y: u32) -> u32 {
    let block = block_of(words);
    let half = half_of(block, x, y);
    if is_differential(block) {
        return modified(block, differential_base(block, half), x, y, false);
    }
    return modified(block, individual_base(block, half), x, y, false);
}
