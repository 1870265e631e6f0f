// A block of 16 bytes that is filled from its lowest bit on.

var<private> block: vec4<u32>;
var<private> filled: u32;

// Puts a value of `count` bits behind what is there.
fn put(value: u32, count: u32) {
    let at = filled & 31u;
    let word = filled >> 5u;
    block[word] |= value << at;
    if at + count > 32u {
        block[word + 1u] |= value >> (32u - at);
    }
    filled += count;
}

// Puts sixteen indices of two bits, of eight texels in a word. The highest bit of the first, which is 0, is not stored.
fn put_pairs(halves: vec2<u32>) {
    let all = halves.x | (halves.y << 16u);
    put(all & 1u, 1u);
    put(all >> 2u, 30u);
}

// The same of four bits.
fn put_nibbles(halves: vec2<u32>) {
    put(halves.x & 7u, 3u);
    put(halves.x >> 4u, 28u);
    put(halves.y, 32u);
}
