// Endpoints of partitions: sixteen modes of two to eight values.

// Alpha of modes of high dynamic range without one: the logarithm of 1.
const LOG_ONE: i32 = 0x780;

// Two endpoints: of 8 bits, or of 12 where they are logarithms.
struct Ends {
    first: vec4<i32>,
    second: vec4<i32>,
}

// Endpoints of 16 bits, the second in the high halves, and whether colour and alpha are logarithms.
struct Pair {
    ends: vec4<u32>,
    log_color: u32,
    log_alpha: u32,
}

// The values of a partition, of which those behind its mode's do not count.
struct Values {
    low: vec4<i32>,
    high: vec4<i32>,
}

fn is_log(mode: u32) -> bool {
    return ((0xc88cu >> mode) & 1u) != 0u;
}

fn paired(first: vec4<i32>, second: vec4<i32>) -> vec4<u32> {
    return (vec4<u32>(first) & vec4(0xffffu)) | (vec4<u32>(second) << vec4(16u));
}

fn widened(ends: Ends) -> Pair {
    if picture.profile == SRGB {
        return Pair(paired((ends.first << vec4(8u)) | vec4(0x80), (ends.second << vec4(8u)) | vec4(0x80)), 0u, 0u);
    }
    return Pair(paired(ends.first * 257, ends.second * 257), 0u, 0u);
}

fn widened_log(ends: Ends, log_alpha: bool) -> Pair {
    let scale = vec4(16, 16, 16, select(257, 16, log_alpha));
    return Pair(paired(ends.first * scale, ends.second * scale), 1u, u32(log_alpha));
}

// In profiles of low dynamic range, modes of high ones are opaque magenta.
fn pair_of(mode: u32, v: Values) -> Pair {
    if !is_log(mode) {
        return widened(low_ends(mode, v));
    }
    if picture.profile == HDR {
        return widened_log(high_ends(mode, v), mode != 14u);
    }
    return widened(Ends(vec4(0xff, 0, 0xff, 0xff), vec4(0xff, 0, 0xff, 0xff)));
}

fn clamped(ends: Ends) -> Ends {
    return Ends(clamp(ends.first, vec4(0), vec4(255)), clamp(ends.second, vec4(0), vec4(255)));
}

// The ends exchanged, red and green moved towards blue.
fn contracted(ends: Ends) -> Ends {
    let a = ends.second;
    let b = ends.first;
    return Ends(
        vec4((a.x + a.z) >> 1u, (a.y + a.z) >> 1u, a.zw),
        vec4((b.x + b.z) >> 1u, (b.y + b.z) >> 1u, b.zw),
    );
}

// A base of eight bits, the highest of which is the offset's, and an offset of six bits with a sign.
fn offset(base: i32, by: i32) -> vec2<i32> {
    return vec2((base >> 1u) | (by & 0x80), extractBits(by, 1u, 6u));
}

fn low_ends(mode: u32, v: Values) -> Ends {
    switch mode {
        case 0u: {
            return Ends(vec4(v.low.xxx, 255), vec4(v.low.yyy, 255));
        }
        case 1u: {
            let base = (v.low.x >> 2u) | (v.low.y & 0xc0);
            let top = min(base + (v.low.y & 0x3f), 255);
            return Ends(vec4(vec3(base), 255), vec4(vec3(top), 255));
        }
        case 4u: {
            return Ends(v.low.xxxz, v.low.yyyw);
        }
        case 5u: {
            let l = offset(v.low.x, v.low.y);
            let a = offset(v.low.z, v.low.w);
            return clamped(Ends(vec4(l.xxx, a.x), vec4(vec3(l.x + l.y), a.x + a.y)));
        }
        case 6u, 10u: {
            let alpha = select(vec2(255), v.high.xy, mode == 10u);
            return Ends(vec4((v.low.xyz * v.low.w) >> vec3(8u), alpha.x), vec4(v.low.xyz, alpha.y));
        }
        case 8u, 12u: {
            let alpha = select(vec2(255), v.high.zw, mode == 12u);
            let ends = Ends(vec4(v.low.xz, v.high.x, alpha.x), vec4(v.low.yw, v.high.y, alpha.y));
            if v.low.y + v.low.w + v.high.y >= v.low.x + v.low.z + v.high.x {
                return ends;
            }
            return contracted(ends);
        }
        default: {
            let r = offset(v.low.x, v.low.y);
            let g = offset(v.low.z, v.low.w);
            let b = offset(v.high.x, v.high.y);
            let a = select(vec2(255, 0), offset(v.high.z, v.high.w), mode == 13u);
            let base = vec4(r.x, g.x, b.x, a.x);
            let ends = Ends(base, base + vec4(r.y, g.y, b.y, a.y));
            if r.y + g.y + b.y >= 0 {
                return clamped(ends);
            }
            return clamped(contracted(ends));
        }
    }
}

fn high_ends(mode: u32, v: Values) -> Ends {
    switch mode {
        case 2u: {
            let rises = v.low.y >= v.low.x;
            let ends = select(vec2(v.low.y * 16 + 8, v.low.x * 16 - 8), v.low.xy * 16, rises);
            return Ends(vec4(ends.xxx, LOG_ONE), vec4(ends.yyy, LOG_ONE));
        }
        case 3u: {
            let coarse = (v.low.x & 0x80) != 0;
            let base = select(
                ((v.low.y & 0xf0) << 4u) | ((v.low.x & 0x7f) << 1u),
                ((v.low.y & 0xe0) << 4u) | ((v.low.x & 0x7f) << 2u),
                coarse,
            );
            let rise = select((v.low.y & 0xf) << 1u, (v.low.y & 0x1f) << 2u, coarse);
            return Ends(vec4(vec3(base), LOG_ONE), vec4(vec3(min(base + rise, 0xfff)), LOG_ONE));
        }
        case 7u: {
            return base_and_scale(v.low);
        }
        case 11u: {
            return direct(v, vec2(LOG_ONE));
        }
        case 14u: {
            return direct(v, v.high.zw);
        }
        default: {
            return direct(v, log_alpha(v.high.z, v.high.w));
        }
    }
}

// `bit` at `to`, if `mode` is among those in the mask `modes`.
fn put(mode: u32, modes: u32, bit: i32, to: u32) -> i32 {
    return select(0, bit << to, ((modes >> mode) & 1u) != 0u);
}

fn bit_of(value: i32, at: u32) -> i32 {
    return (value >> at) & 1;
}

// Red exchanged with the component `major`.
fn with_major(rgb: vec3<i32>, major: u32) -> vec3<i32> {
    switch major {
        case 1u: {
            return rgb.yxz;
        }
        case 2u: {
            return rgb.zyx;
        }
        default: {
            return rgb;
        }
    }
}

// Mode 7: a colour, and how much less of all components the first has.
fn base_and_scale(v: vec4<i32>) -> Ends {
    let chosen = u32(((v.x >> 6u) & 3) | ((v.y >> 5u) & 4) | ((v.z >> 4u) & 8));
    var major = chosen >> 2u;
    var mode = chosen & 3u;
    if chosen == 0xfu {
        major = 0u;
        mode = 5u;
    } else if chosen >= 0xcu {
        major = chosen & 3u;
        mode = 4u;
    }
    let x0 = bit_of(v.y, 6u);
    let x1 = bit_of(v.y, 5u);
    let x2 = bit_of(v.z, 6u);
    let x3 = bit_of(v.z, 5u);
    let x4 = bit_of(v.w, 7u);
    let x5 = bit_of(v.w, 6u);
    let x6 = bit_of(v.w, 5u);
    let green = (v.y & 0x1f) | put(mode, 0x30u, x0, 6u) | put(mode, 0x3au, x1, 5u);
    let blue = (v.z & 0x1f) | put(mode, 0x30u, x2, 6u) | put(mode, 0x3au, x3, 5u);
    let scale = (v.w & 0x1f) | put(mode, 0x3du, x6, 5u) | put(mode, 0x2du, x5, 6u) | put(mode, 0x04u, x4, 7u);
    let red = (v.x & 0x3f)
        | put(mode, 0x3bu, x4, 6u) | put(mode, 0x04u, x3, 6u)
        | put(mode, 0x10u, x5, 7u) | put(mode, 0x0fu, x2, 7u)
        | put(mode, 0x05u, x1, 8u) | put(mode, 0x0au, x0, 8u)
        | put(mode, 0x05u, x0, 9u) | put(mode, 0x02u, x6, 9u)
        | put(mode, 0x01u, x3, 10u) | put(mode, 0x02u, x5, 10u);
    let shift = max(mode, 1u);
    var rgb = vec3(red, green, blue) << vec3(shift);
    if mode != 5u {
        rgb = vec3(rgb.x, rgb.x - rgb.y, rgb.x - rgb.z);
    }
    rgb = with_major(rgb, major);
    let less = scale << shift;
    return Ends(
        vec4(clamp(rgb - less, vec3(0), vec3(0xfff)), LOG_ONE),
        vec4(clamp(rgb, vec3(0), vec3(0xfff)), LOG_ONE),
    );
}

// Mode 11, with these alphas: two colours.
fn direct(v: Values, alpha: vec2<i32>) -> Ends {
    let v4 = v.high.x;
    let v5 = v.high.y;
    let major = u32(bit_of(v4, 7u) | (bit_of(v5, 7u) << 1u));
    if major == 3u {
        return Ends(
            vec4(v.low.x << 4u, v.low.z << 4u, (v4 & 0x7f) << 5u, alpha.x),
            vec4(v.low.y << 4u, v.low.w << 4u, (v5 & 0x7f) << 5u, alpha.y),
        );
    }
    let mode = u32(bit_of(v.low.y, 7u) | (bit_of(v.low.z, 7u) << 1u) | (bit_of(v.low.w, 7u) << 2u));
    let x0 = bit_of(v.low.z, 6u);
    let x1 = bit_of(v.low.w, 6u);
    let x2 = bit_of(v4, 6u);
    let x3 = bit_of(v5, 6u);
    let x4 = bit_of(v4, 5u);
    let x5 = bit_of(v5, 5u);
    let a = v.low.x | ((v.low.y & 0x40) << 2u)
        | put(mode, 0xa4u, x0, 9u) | put(mode, 0x08u, x2, 9u) | put(mode, 0x50u, x4, 9u)
        | put(mode, 0x50u, x5, 10u) | put(mode, 0xa0u, x1, 10u) | put(mode, 0xc0u, x2, 11u);
    let c = (v.low.y & 0x3f)
        | put(mode, 0x04u, x1, 6u) | put(mode, 0xe8u, x3, 6u) | put(mode, 0x20u, x2, 7u);
    let b0 = (v.low.z & 0x3f) | put(mode, 0x5bu, x0, 6u) | put(mode, 0x12u, x2, 7u);
    let b1 = (v.low.w & 0x3f) | put(mode, 0x5bu, x1, 6u) | put(mode, 0x12u, x3, 7u);
    // Bits of the differences by mode: 7, 6, 7, 6, 5, 6, 5, 6.
    let width = (0x65656767u >> (4u * mode)) & 0xfu;
    let shift = (mode >> 1u) ^ 3u;
    let d = extractBits(vec2(v4, v5), 0u, width) << vec2(shift);
    let first = vec3(a - c, a - b0 - c, a - b1 - c) << vec3(shift);
    let second = vec3(a, a - b0, a - b1) << vec3(shift);
    return Ends(
        vec4(with_major(clamp(first - vec3(0, d), vec3(0), vec3(0xfff)), major), alpha.x),
        vec4(with_major(clamp(second, vec3(0), vec3(0xfff)), major), alpha.y),
    );
}

// Both alphas of mode 15.
fn log_alpha(v6: i32, v7: i32) -> vec2<i32> {
    let mode = u32(bit_of(v6, 7u) | (bit_of(v7, 7u) << 1u));
    if mode == 3u {
        return vec2(v6 & 0x7f, v7 & 0x7f) << vec2(5u);
    }
    let first = ((v6 & 0x7f) | (((v7 & 0x7f) << (mode + 1u)) & 0x780)) << (4u - mode);
    let rise = extractBits(v7, 0u, 6u - mode) << (4u - mode);
    return vec2(first, clamp(first + rise, 0, 0xfff));
}
