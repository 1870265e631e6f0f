// The colours of BC1 and BC3, of which the first end is the greater: ends of 5:6:5 bits, and two colours between them.

// Codes are compared with what decoders interpolate: these do not round the ends to eight bits.
const COLORS: Grid = Grid(
    vec4(31.0, 63.0, 31.0, 0.0),
    vec4(31.0 / 255.0, 63.0 / 255.0, 31.0 / 255.0, 0.0),
    vec4(255.0 / 31.0, 255.0 / 63.0, 255.0 / 31.0, 0.0),
    0.0,
);

fn packed_color(codes: vec4<f32>) -> u32 {
    let rgb = vec3<u32>(codes.xyz);
    return (rgb.x << 11u) | (rgb.y << 5u) | rgb.z;
}

// A block of the two ends and the levels of eight texels in a word.
fn four_colors(first: u32, second: u32, halves: vec2<u32>) -> vec2<u32> {
    // Equal ends select the mode of three colours, where index 0 is this colour.
    if first == second {
        return vec2(first | (second << 16u), 0u);
    }
    let ordered = (halves.x & 0xffffu) | (halves.y << 16u);
    let levels = select(ordered, ~ordered, first < second);
    // Levels 0 to 3 are indices 0, 2, 3, 1.
    let low = levels & 0x55555555u;
    let high = (levels >> 1u) & 0x55555555u;
    return vec2(max(first, second) | (min(first, second) << 16u), ((low ^ high) << 1u) | high);
}

// The codes of both ends of a single component.
fn nearest_pair(table: u32, value: f32) -> vec2<f32> {
    let pair = tables[table + u32(value)];
    return vec2(f32(pair & 0xffu), f32(pair >> 8u));
}

// A block of a single colour: all texels have the colour at a third of the way, which is nearer to most than an end.
fn single_color(value: vec4<f32>) -> vec2<u32> {
    let red = nearest_pair(NEAREST_5, value.x);
    let green = nearest_pair(NEAREST_6, value.y);
    let blue = nearest_pair(NEAREST_5, value.z);
    let first = packed_color(vec4(red.x, green.x, blue.x, 0.0));
    let second = packed_color(vec4(red.y, green.y, blue.y, 0.0));
    return four_colors(first, second, vec2(0x5555u));
}

fn color_block(at: vec3<u32>) -> vec2<u32> {
    load(at, vec4(1.0, 1.0, 1.0, 0.0));
    let range = bounds();
    if all(range.first == range.second) {
        return single_color(range.first);
    }
    let ends = principal(sum_of_texels() / 16.0);
    let best = stored(least_squares(ends, levels_of(ends, 3.0)), COLORS, vec2(0.0));
    let halves = packed_levels(levels_of(best.ends, 3.0), 2u);
    return four_colors(packed_color(best.first), packed_color(best.second), halves);
}
