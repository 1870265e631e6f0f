// Indices of BC6H and BC7: those of anchors are stored without their highest bit.

// The bits of a texel's index among those of `count` bits from `at` on. The first texel is an anchor; anchors that are
// not there are 16.
fn index_bits(block: vec4<u32>, at: u32, count: u32, texel: u32, anchors: vec2<u32>) -> u32 {
    let before = dot(vec3<u32>(vec3(texel) > vec3(0u, anchors)), vec3(1u));
    let short = u32(any(vec3(texel) == vec3(0u, anchors)));
    return bits(block, at + texel * count - before, count - short);
}

// The weight of the second endpoint, of 64.
fn weight_of(index: u32, count: u32) -> u32 {
    return tables[WEIGHTS + (1u << count) + index];
}
