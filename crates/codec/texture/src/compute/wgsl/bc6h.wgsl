const ONE: u32 = 0x3c00u;

// The number of a mode, 14 for those that are reserved.
fn number_of(low: u32) -> u32 {
    switch low & 3u {
        case 0u, 1u: {
            return low & 3u;
        }
        case 2u: {
            return 2u + (low >> 2u);
        }
        default: {
            return min(10u + (low >> 2u), 14u);
        }
    }
}

// The first endpoint, and the two of a region, as they are stored.
struct Ends {
    base: vec3<u32>,
    first: vec3<u32>,
    second: vec3<u32>,
}

fn stored(block: vec4<u32>, mode: Mode, region: u32) -> Ends {
    var ends = Ends(vec3(0u), vec3(0u), vec3(0u));
    var at = mode.header;
    for (var i = mode.runs.x; i < mode.runs.y; i++) {
        let run = tables[RUNS + i];
        let component = run & 0xffu;
        let first = (run >> 8u) & 0xffu;
        let last = run >> 16u;
        let rises = first <= last;
        let count = 1u + select(first - last, last - first, rises);
        let field = bits(block, at, count);
        let value = select((reverseBits(field) >> (32u - count)) << last, field << first, rises);
        let rgb = select(vec3(0u), vec3(value), vec3(component % 3u) == vec3(0u, 1u, 2u));
        let end = component / 3u;
        ends.base |= select(vec3(0u), rgb, end == 0u);
        ends.first |= select(vec3(0u), rgb, end == 2u * region);
        ends.second |= select(vec3(0u), rgb, end == 2u * region + 1u);
        at += count;
    }
    return ends;
}

fn extended(value: vec3<u32>, count: vec3<u32>) -> vec3<i32> {
    let shift = 32u - count;
    return vec3<i32>(value << shift) >> shift;
}

// The sum of an endpoint and the first one.
fn moved(base: vec3<u32>, delta: vec3<u32>, mode: Mode) -> vec3<u32> {
    let mask = (1u << mode.width) - 1u;
    return (base + vec3<u32>(extended(delta, mode.deltas))) & vec3(mask);
}

fn unquantized(value: vec3<u32>, width: u32) -> vec3<i32> {
    if SIGNED {
        let number = extended(value, vec3(width));
        if width >= 16u {
            return number;
        }
        let magnitude = abs(number);
        let top = (1 << (width - 1u)) - 1;
        let between = ((magnitude << vec3(15u)) + 0x4000) >> vec3(width - 1u);
        let spread = select(between, vec3(0x7fff), magnitude >= vec3(top));
        return sign(number) * spread;
    }
    if width >= 15u {
        return vec3<i32>(value);
    }
    let between = ((value << vec3(16u)) + 0x8000u) >> vec3(width);
    let spread = select(between, vec3(0xffffu), value == vec3((1u << width) - 1u));
    return vec3<i32>(select(spread, vec3(0u), value == vec3(0u)));
}

// To the bits of halves.
fn finished(value: vec3<i32>) -> vec3<u32> {
    if SIGNED {
        let magnitude = (vec3<u32>(abs(value)) * 31u) >> vec3(5u);
        return magnitude | select(vec3(0u), vec3(0x8000u), (value < vec3(0)) & (magnitude != vec3(0u)));
    }
    return vec3<u32>((value * 31) >> vec3(6u));
}

fn element(block: vec4<u32>, x: u32, y: u32) -> vec2<u32> {
    let texel = 4u * y + x;
    let number = number_of(block.x & 0x1fu);
    if number == 14u {
        return vec2(0u, ONE << 16u);
    }
    let mode = mode_of(number);
    var region = 0u;
    var anchors = vec2(16u);
    var index = vec2(65u, 4u);
    if mode.regions == 2u {
        let pattern = bits(block, 77u, 5u);
        region = (tables[TWO + pattern] >> (2u * texel)) & 1u;
        anchors.x = tables[ANCHOR_OF_TWO + pattern];
        index = vec2(82u, 3u);
    }
    let ends = stored(block, mode, region);
    var first = ends.first;
    var second = ends.second;
    if mode.transformed != 0u {
        if region != 0u {
            first = moved(ends.base, first, mode);
        }
        second = moved(ends.base, second, mode);
    }
    let weight = i32(weight_of(index_bits(block, index.x, index.y, texel, anchors), index.y));
    let a = unquantized(first, mode.width);
    let b = unquantized(second, mode.width);
    let rgb = finished((a * (64 - weight) + b * weight + 32) >> vec3(6u));
    return vec2(rgb.x | (rgb.y << 16u), rgb.z | (ONE << 16u));
}
