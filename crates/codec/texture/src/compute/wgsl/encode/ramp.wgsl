// The ramps of BC3's alpha, BC4 and BC5, of which the first value is the greater: two bytes, and six values between them.

// The block of the component whose factor in `used` is 1; those of the others are 0.
fn ramp_block(at: vec3<u32>, used: vec4<f32>) -> vec2<u32> {
    load(at, used);
    let range = bounds();
    let first = u32(dot(range.second, used));
    let second = u32(dot(range.first, used));
    let ends = first | (second << 8u);
    // Equal values select the other mode, where index 0 is this value, too.
    if first == second {
        return vec2(ends, 0u);
    }
    let levels = levels_of(Ends(range.second, range.first), 7.0);
    var halves = vec2(0u);
    for (var i = 0u; i < 8u; i++) {
        let pair = vec2(u32(level(levels, i)), u32(level(levels, i + 8u)));
        // Levels 0 and 7 are indices 0 and 1, and those between them come next.
        let index = select(select(pair + 1u, vec2(1u), pair == vec2(7u)), vec2(0u), pair == vec2(0u));
        halves |= index << vec2(3u * i);
    }
    return vec2(ends | (halves.x << 16u), (halves.x >> 16u) | (halves.y << 8u));
}
