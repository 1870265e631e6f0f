// Places and formats of pixels that several programs share.

// Place of a pixel in its tile of 8x8: x0 y0 x1 y1 x2 y2.
fn z_order(x: u32, y: u32) -> u32 {
    let columns = (x & 1u) | ((x & 2u) << 1u) | ((x & 4u) << 2u);
    let rows = ((y & 1u) << 1u) | ((y & 2u) << 2u) | ((y & 4u) << 3u);
    return columns | rows;
}

fn widen4(value: u32) -> u32 {
    return (value & 15u) * 17u;
}

fn widen5(value: u32) -> u32 {
    let five = value & 31u;
    return (five << 3u) | (five >> 2u);
}

fn widen6(value: u32) -> u32 {
    let six = value & 63u;
    return (six << 2u) | (six >> 4u);
}

// Red, green, blue and alpha of a pixel in a format of display transfers.
fn unpack(format: u32, w: u32) -> vec4<u32> {
    let bytes = (vec4<u32>(w) >> vec4<u32>(24u, 16u, 8u, 0u)) & vec4<u32>(255u);
    switch format {
        case 0u: { return bytes; }
        case 1u: { return vec4<u32>(bytes.yzw, 255u); }
        case 2u: { return vec4<u32>(widen5(w >> 11u), widen6(w >> 5u), widen5(w), 255u); }
        case 3u: { return vec4<u32>(widen5(w >> 11u), widen5(w >> 6u), widen5(w >> 1u), (w & 1u) * 255u); }
        default: { return vec4<u32>(widen4(w >> 12u), widen4(w >> 8u), widen4(w >> 4u), widen4(w)); }
    }
}
