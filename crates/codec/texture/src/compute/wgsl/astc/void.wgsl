// Blocks without weights: void extents, which are of one colour, and illegal ones.

// Magenta, or NaN where the output is of floats.
fn error_color() -> vec4<u32> {
    return select(vec4(0xffffu), vec4(0xffu, 0u, 0xffu, 0xffu), picture.profile < FLOAT16);
}

// Where the colour reaches along three axes: low ends, and high ends.
struct Extent {
    low: vec3<u32>,
    high: vec3<u32>,
    mask: u32,
}

fn extent_of(block: vec4<u32>) -> Extent {
    if picture.footprint.z == 1u {
        let low = vec2(bits(block, 12u, 13u), bits(block, 38u, 13u));
        let high = vec2(bits(block, 25u, 13u), bits(block, 51u, 13u));
        return Extent(low.xyy, high.xyy, 0x1fffu);
    }
    let low = vec3(bits(block, 10u, 9u), bits(block, 28u, 9u), bits(block, 46u, 9u));
    let high = vec3(bits(block, 19u, 9u), bits(block, 37u, 9u), bits(block, 55u, 9u));
    return Extent(low, high, 0x1ffu);
}

// A signalling NaN becomes a quiet one.
fn quiet(half: u32) -> u32 {
    return half | select(0u, 0x200u, (half & 0x7fffu) > 0x7c00u);
}

// The colour of a block without weights. The extent is checked and not used.
fn constant_color(block: vec4<u32>) -> vec4<u32> {
    let reserved = picture.footprint.z == 1u && (block.x & 0xc00u) != 0xc00u;
    let extent = extent_of(block);
    let everywhere = all(extent.low == vec3(extent.mask)) && all(extent.high == vec3(extent.mask));
    if !is_void(block) || reserved || (!everywhere && any(extent.low >= extent.high)) {
        return error_color();
    }
    let color = vec4(block.z & 0xffffu, block.z >> 16u, block.w & 0xffffu, block.w >> 16u);
    if (block.x & 0x200u) == 0u {
        return vec4(finished(color.x, 0u), finished(color.y, 0u), finished(color.z, 0u), finished(color.w, 0u));
    }
    if picture.profile != HDR {
        return error_color();
    }
    return vec4(quiet(color.x), quiet(color.y), quiet(color.z), quiet(color.w));
}
