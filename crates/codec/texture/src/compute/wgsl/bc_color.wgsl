// The colours of BC1, BC2 and BC3: sixths of two colours of 5:6:5 bits.

const OPAQUE: u32 = 0xff000000u;

fn components(color: u32) -> vec3<u32> {
    return vec3((color >> 11u) & 0x1fu, (color >> 5u) & 0x3fu, color & 0x1fu);
}

// RGB of a texel by a palette of four rows: sixths of the first colour, of the second, and alpha.
fn color(block: vec2<u32>, texel: u32, palette: u32) -> u32 {
    let row = palette + 3u * ((block.y >> (2u * texel)) & 3u);
    let sixths = components(block.x) * tables[row] + components(block.x >> 16u) * tables[row + 1u];
    let rgb = (sixths * vec3(tables[SCALE], tables[SCALE + 1u], tables[SCALE + 2u]) + 0x8000u) >> vec3(16u);
    return rgb.x | (rgb.y << 8u) | (rgb.z << 16u) | (tables[row + 2u] << 24u);
}
