// Blocks of ETC and EAC: `x` is the low word, `y` the high one. Texels go down the columns.

// A word whose most significant byte comes first.
fn big_endian(value: u32) -> u32 {
    return (value << 24u) | ((value & 0xff00u) << 8u) | ((value >> 8u) & 0xff00u) | (value >> 24u);
}

fn block_of(words: vec2<u32>) -> vec2<u32> {
    return vec2(big_endian(words.y), big_endian(words.x));
}
