// BC7: mode 6, a line of RGBA; where there is alpha also mode 5, with a line of its own for alpha; and mode 5 for single colours.

// Codes of seven bits with a lowest bit stored apart; of seven bits; and of eight.
const OF_MODE_6: Grid = Grid(vec4(127.0), vec4(0.5), vec4(2.0), 0.0);
const OF_COLOR: Grid = Grid(vec4(127.0), vec4(127.0 / 255.0), vec4(2.0), 1.0 / 64.0);
const OF_ALPHA: Grid = Grid(vec4(255.0), vec4(1.0), vec4(1.0), 0.0);

const COLOR: vec4<f32> = vec4(1.0, 1.0, 1.0, 0.0);
const ALPHA: vec4<f32> = vec4(0.0, 0.0, 0.0, 1.0);

// The best ends of mode 6 for fixed levels.
fn stored_mode_6(least: Least, opaque: bool) -> Stored {
    var best = stored(least, OF_MODE_6, vec2(1.0));
    if opaque {
        // An alpha of 255 needs these codes and lowest bits of 1.
        best.first.w = 127.0;
        best.second.w = 127.0;
        best.ends.first.w = 255.0;
        best.ends.second.w = 255.0;
        return best;
    }
    var least_cost = dot(cost(least, best.ends), vec4(1.0));
    for (var bits = 0u; bits < 3u; bits++) {
        let other = stored(least, OF_MODE_6, vec2(f32(bits & 1u), f32(bits >> 1u)));
        let other_cost = dot(cost(least, other.ends), vec4(1.0));
        if other_cost < least_cost {
            best = other;
            least_cost = other_cost;
        }
    }
    return best;
}

fn put_mode_6(found: Stored, levels: vec2<u32>) {
    var halves = levels;
    var first = vec4<u32>(found.first);
    var second = vec4<u32>(found.second);
    var lowest = vec2<u32>(found.lowest);
    // The highest bit of the first index is 0. Where it would be set, the ends change places.
    if (halves.x & 8u) != 0u {
        halves = ~halves;
        first = vec4<u32>(found.second);
        second = vec4<u32>(found.first);
        lowest = lowest.yx;
    }
    put(0x40u, 7u);
    for (var c = 0u; c < 4u; c++) {
        put(first[c], 7u);
        put(second[c], 7u);
    }
    put(lowest.x, 1u);
    put(lowest.y, 1u);
    put_nibbles(halves);
}

// One line of mode 5 for the texels that are loaded, with its levels and its error.
struct Line {
    first: vec4<u32>,
    second: vec4<u32>,
    halves: vec2<u32>,
    error: f32,
}

fn line_of(found: Stored) -> Line {
    let levels = levels_of(found.ends, 3.0);
    let error = squared_error(found.ends, levels);
    let halves = packed_levels(levels, 2u);
    let first = vec4<u32>(found.first);
    let second = vec4<u32>(found.second);
    if (halves.x & 2u) != 0u {
        return Line(second, first, ~halves & vec2(0xffffu), error);
    }
    return Line(first, second, halves, error);
}

fn color_line(at: vec3<u32>) -> Line {
    load(at, COLOR);
    let ends = principal(sum_of_texels() / 16.0);
    return line_of(stored(least_squares(ends, levels_of(ends, 3.0)), OF_COLOR, vec2(0.0)));
}

// Alpha is between its least and its greatest value, or between the ends of least squares.
fn alpha_line(at: vec3<u32>) -> Line {
    load(at, ALPHA);
    let ends = bounds();
    let outer = line_of(Stored(ends.first, ends.second, vec2(0.0), ends));
    let least = least_squares(ends, levels_of(ends, 3.0));
    let inner = line_of(stored(least, OF_ALPHA, vec2(0.0)));
    if inner.error < outer.error {
        return inner;
    }
    return outer;
}

fn put_mode_5(color: Line, alpha: Line) {
    put(0x20u, 6u);
    // No rotation: the second indices are those of alpha.
    put(0u, 2u);
    for (var c = 0u; c < 3u; c++) {
        put(color.first[c], 7u);
        put(color.second[c], 7u);
    }
    put(alpha.first.w, 8u);
    put(alpha.second.w, 8u);
    put_pairs(color.halves);
    put_pairs(alpha.halves);
}

// A single colour without error: all texels are at a third of the way between two codes.
fn put_single(value: vec4<f32>) {
    let rgba = vec4<u32>(value);
    let pairs = vec4(tables[SOLID + rgba.x], tables[SOLID + rgba.y], tables[SOLID + rgba.z], 0u);
    let color = Line(pairs & vec4(0xffu), pairs >> vec4(8u), vec2(0x5555u), 0.0);
    put_mode_5(color, Line(rgba, rgba, vec2(0u), 0.0));
}

fn encoded(at: vec3<u32>) -> Block {
    load(at, vec4(1.0));
    let range = bounds();
    if all(range.first == range.second) {
        put_single(range.first);
        return block;
    }
    let opaque = range.first.w == 255.0;
    let ends = principal(sum_of_texels() / 16.0);
    let one = stored_mode_6(least_squares(ends, levels_of(ends, 15.0)), opaque);
    let levels = levels_of(one.ends, 15.0);
    let error = squared_error(one.ends, levels);
    let halves = packed_levels(levels, 4u);
    if !opaque {
        let color = color_line(at);
        let alpha = alpha_line(at);
        if color.error + alpha.error < error {
            put_mode_5(color, alpha);
            return block;
        }
    }
    put_mode_6(one, halves);
    return block;
}
