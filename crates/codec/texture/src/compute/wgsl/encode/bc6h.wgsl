// BC6H: one region, in the best of its four modes. Ends and texels are compared as decoders interpolate them, in 16 bits that grow
// with the bits of halves.

// The first of the modes with one region, and the one behind the last.
const FIRST_MODE: u32 = 10u;
const MODES_END: u32 = 14u;

const TOP: f32 = 15.0;

// The number that decoders make of an end before it becomes this half: the middle of those that become it. NaNs are 0, and what
// is out of range is the nearest in range.
fn number_of(half: u32) -> f32 {
    let magnitude = half & 0x7fffu;
    let is_negative = (half & 0x8000u) != 0u;
    if magnitude == 0u || magnitude > 0x7c00u || (is_negative && !SIGNED) {
        return 0.0;
    }
    let number = (f32(min(magnitude, 0x7bffu)) + 0.5) * select(64.0 / 31.0, 32.0 / 31.0, SIGNED);
    return select(number, -number, is_negative);
}

fn load(at: vec3<u32>) {
    for (var i = 0u; i < 16u; i++) {
        let texel = texel_at(at, i);
        let halves = vec3(texel.x & 0xffffu, texel.x >> 16u, texel.y & 0xffffu);
        texels[i] = vec4(number_of(halves.x), number_of(halves.y), number_of(halves.z), 0.0);
    }
}

// The highest code of so many bits, one of which is the sign if there is one.
fn highest(count: u32) -> f32 {
    return f32((1u << select(count, count - 1u, SIGNED)) - 1u);
}

fn magnitude_of(value: vec4<f32>) -> vec4<f32> {
    if SIGNED {
        return abs(value);
    }
    return value;
}

// Negative where `signs` is, if there are signs.
fn with_sign(magnitude: vec4<f32>, signs: vec4<f32>) -> vec4<f32> {
    return select(magnitude, -magnitude, (signs < vec4(0.0)) & vec4(SIGNED));
}

// The code of a value of 16 bits.
fn code_of(value: vec4<f32>, count: u32) -> vec4<f32> {
    let magnitude = magnitude_of(value);
    let top = vec4(highest(count));
    if count == 16u {
        return with_sign(round(clamp(magnitude, vec4(0.0), top)), value);
    }
    // Codes stand for the middles of equal parts, but 0 for 0: the first part ends nearer to it.
    let part = magnitude / f32(1u << (16u - count));
    let code = clamp(floor(part), vec4(1.0), top);
    return with_sign(select(code, vec4(0.0), part < vec4(0.75)), value);
}

// The value of 16 bits that decoders make of a code.
fn value_of(code: vec4<f32>, count: u32) -> vec4<f32> {
    if count == 16u {
        return code;
    }
    let magnitude = magnitude_of(code);
    let step = f32(1u << (16u - count));
    let middle = magnitude * step + step * 0.5;
    let value = select(middle, vec4(highest(16u)), magnitude >= vec4(highest(count)));
    return with_sign(select(value, vec4(0.0), magnitude < vec4(0.5)), code);
}

// Ends as a mode stores them, the second as a difference where the mode has these, and as decoders read them.
struct Stored {
    first: vec4<f32>,
    second: vec4<f32>,
    ends: Ends,
}

// The ends nearest to these that a mode has.
fn stored(ends: Ends, mode: Mode) -> Stored {
    let first = code_of(ends.first, mode.width);
    var second = code_of(ends.second, mode.width);
    var put = second;
    if mode.transformed != 0u {
        let reach = vec4(vec3<f32>(vec3(1u) << (mode.deltas - 1u)), 1.0);
        put = clamp(second - first, -reach, reach - 1.0);
        second = first + put;
    }
    return Stored(first, put, Ends(value_of(first, mode.width), value_of(second, mode.width)));
}

fn moved(ends: Ends, by: vec4<f32>) -> Ends {
    return Ends(ends.first + by, ends.second + by);
}

// The line through the texels. The highest bit of the first texel's level is not stored: where it would be set, the ends have
// changed places.
fn line() -> Ends {
    let outer = principal(sum_of_texels() / 16.0);
    let ends = least_squares(outer, levels_of(outer, TOP)).ends;
    if level(levels_of(ends, TOP), 0u) > 0.5 * TOP {
        return Ends(ends.second, ends.first);
    }
    return ends;
}

fn anchored_levels(ends: Ends) -> Levels {
    var levels = levels_of(ends, TOP);
    levels.first_top = 7.0;
    return levels;
}

// Puts the mode and the ends.
fn put_ends(mode: Mode, ends: Stored) {
    put(mode.code, mode.header);
    let first = vec3<i32>(ends.first.xyz);
    let second = vec3<i32>(ends.second.xyz);
    for (var i = mode.runs.x; i < mode.runs.y; i++) {
        let run = tables[RUNS + i];
        let component = run & 0xffu;
        let first_bit = (run >> 8u) & 0xffu;
        let last_bit = run >> 16u;
        let code = u32(select(first, second, vec3(component >= 3u))[component % 3u]);
        let lowest = min(first_bit, last_bit);
        let count = 1u + max(first_bit, last_bit) - lowest;
        let field = extractBits(code, lowest, count);
        // The bits of some runs fall.
        put(select(field, reverseBits(field) >> (32u - count), first_bit > last_bit), count);
    }
}

fn encoded(at: vec3<u32>) -> Block {
    load(at);
    // Without the middle of each component, sums of squares are as precise as they need be.
    let range = bounds();
    let middle = 0.5 * (range.first + range.second);
    for (var i = 0u; i < 16u; i++) {
        texels[i] -= middle;
    }
    let wanted = moved(line(), middle);
    var best = Stored(vec4(0.0), vec4(0.0), Ends(vec4(0.0), vec4(0.0)));
    var best_mode = FIRST_MODE;
    var least_error = 1e30;
    for (var number = FIRST_MODE; number < MODES_END; number++) {
        let tried = stored(wanted, mode_of(number));
        let ends = moved(tried.ends, -middle);
        let error = squared_error(ends, anchored_levels(ends));
        if error < least_error {
            best = tried;
            best_mode = number;
            least_error = error;
        }
    }
    put_ends(mode_of(best_mode), best);
    put_nibbles(packed_levels(anchored_levels(moved(best.ends, -middle)), 4u));
    return block;
}
