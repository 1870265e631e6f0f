// The ramps of BC3's alpha, BC4 and BC5: two bytes, and four or six values between them.

// The index of a texel.
fn step_of(block: vec2<u32>, texel: u32) -> u32 {
    return bits(vec4(block, 0u, 0u), 16u + 3u * texel, 3u);
}

// How many of `parts` parts an index takes of the first and the second byte.
fn shares(index: u32, parts: u32) -> vec2<u32> {
    let second = select(index - 1u, index * parts, index < 2u);
    return vec2(parts - second, second);
}

fn unorm8(block: vec2<u32>, texel: u32) -> u32 {
    let ends = vec2(block.x & 0xffu, (block.x >> 8u) & 0xffu);
    let index = step_of(block, texel);
    let parts = select(5u, 7u, ends.x > ends.y);
    if parts == 5u && index > 5u {
        return select(0u, 0xffu, index == 7u);
    }
    return (dot(ends, shares(index, parts)) + parts / 2u) / parts;
}

fn unorm16(block: vec2<u32>, texel: u32) -> u32 {
    let ends = vec2(block.x & 0xffu, (block.x >> 8u) & 0xffu);
    let index = step_of(block, texel);
    let parts = select(5u, 7u, ends.x > ends.y);
    if parts == 5u && index > 5u {
        return select(0u, 0xffffu, index == 7u);
    }
    return (dot(ends, shares(index, parts)) * 257u + parts / 2u) / parts;
}

// Bytes are compared as they are; only then -128 becomes -127.
fn snorm16(block: vec2<u32>, texel: u32) -> u32 {
    let ends = extractBits(vec2<i32>(vec2(block.x, block.x >> 8u)), 0u, 8u);
    let index = step_of(block, texel);
    let parts = select(5u, 7u, ends.x > ends.y);
    if parts == 5u && index > 5u {
        return select(0x8001u, 0x7fffu, index == 7u);
    }
    let sum = dot(max(ends, vec2(-127)), vec2<i32>(shares(index, parts)));
    let one = i32(127u * parts);
    // A positive number is divided, so that the quotient is rounded down.
    return u32((sum * 65534 + one + 65536 * one) / (2 * one) - 32768) & 0xffffu;
}
