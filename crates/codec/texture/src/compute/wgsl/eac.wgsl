// EAC: a base, a multiplier, and a table of eight modifiers.

// The modifier of a texel; the first has the highest bits.
fn modifier(block: vec2<u32>, x: u32, y: u32) -> i32 {
    let index = bits(vec4(block, 0u, 0u), 45u - 3u * (4u * x + y), 3u);
    return i32(tables[EAC_MODIFIERS + 8u * ((block.y >> 16u) & 0xfu) + index]);
}

fn multiplier(block: vec2<u32>) -> i32 {
    return i32((block.y >> 20u) & 0xfu);
}

fn alpha8(block: vec2<u32>, x: u32, y: u32) -> u32 {
    return u32(clamp(i32(block.y >> 24u) + modifier(block, x, y) * multiplier(block), 0, 255));
}

// A component of 11 bits, repeated to 16.
fn r11(block: vec2<u32>, x: u32, y: u32) -> u32 {
    let step = select(8 * multiplier(block), 1, multiplier(block) == 0);
    let offset = modifier(block, x, y) * step;
    if SIGNED {
        let base = max(i32(block.y) >> 24u, -127);
        let value = clamp(8 * base + offset, -1023, 1023);
        let wide = (abs(value) << 5u) | (abs(value) >> 5u);
        return u32(sign(value) * wide) & 0xffffu;
    }
    let value = u32(clamp(8 * i32(block.y >> 24u) + 4 + offset, 0, 2047));
    return (value << 5u) | (value >> 6u);
}
