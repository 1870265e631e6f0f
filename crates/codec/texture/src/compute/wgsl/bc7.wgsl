// A row of MODES.
struct Mode {
    subsets: u32,
    pattern: u32,
    rotation: u32,
    selector: u32,
    color: u32,
    alpha: u32,
    own_lowest: u32,
    shared_lowest: u32,
    index: u32,
    second_index: u32,
}

fn mode_of(number: u32) -> Mode {
    let row = MODES + 10u * number;
    return Mode(
        tables[row], tables[row + 1u], tables[row + 2u], tables[row + 3u], tables[row + 4u], tables[row + 5u],
        tables[row + 6u], tables[row + 7u], tables[row + 8u], tables[row + 9u],
    );
}

// From `count` bits to eight.
fn widened(value: u32, count: u32) -> u32 {
    let high = value << (8u - count);
    return high | (high >> count);
}

// Endpoint `end` of all, RGBA, of those whose bits begin at `at`.
fn endpoint(block: vec4<u32>, mode: Mode, at: u32, end: u32) -> vec4<u32> {
    let ends = 2u * mode.subsets;
    let lowest_at = at + ends * (3u * mode.color + mode.alpha);
    var lowest = 0u;
    if mode.own_lowest != 0u {
        lowest = bits(block, lowest_at + end, 1u);
    } else if mode.shared_lowest != 0u {
        lowest = bits(block, lowest_at + end / 2u, 1u);
    }
    let extra = mode.own_lowest | mode.shared_lowest;
    var rgba = vec4(255u);
    for (var c = 0u; c < 3u; c++) {
        let value = bits(block, at + (ends * c + end) * mode.color, mode.color);
        rgba[c] = widened((value << extra) | lowest, mode.color + extra);
    }
    if mode.alpha != 0u {
        let value = bits(block, at + 3u * ends * mode.color + end * mode.alpha, mode.alpha);
        rgba.w = widened((value << extra) | lowest, mode.alpha + extra);
    }
    return rgba;
}

fn element(block: vec4<u32>, x: u32, y: u32) -> u32 {
    let texel = 4u * y + x;
    let number = firstTrailingBit(block.x & 0xffu);
    if number > 7u {
        return 0u;
    }
    let mode = mode_of(number);
    var at = number + 1u;
    let pattern = bits(block, at, mode.pattern);
    at += mode.pattern;
    let rotation = bits(block, at, mode.rotation);
    at += mode.rotation;
    let swapped = bits(block, at, mode.selector) != 0u;
    at += mode.selector;

    var subset = 0u;
    var anchors = vec2(16u);
    if mode.subsets == 2u {
        subset = tables[TWO + pattern];
        anchors.x = tables[ANCHOR_OF_TWO + pattern];
    } else if mode.subsets == 3u {
        subset = tables[THREE + pattern];
        anchors = vec2(tables[ANCHORS_OF_THREE + 2u * pattern], tables[ANCHORS_OF_THREE + 2u * pattern + 1u]);
    }
    subset = (subset >> (2u * texel)) & 3u;
    let first = endpoint(block, mode, at, 2u * subset);
    let second = endpoint(block, mode, at, 2u * subset + 1u);
    at += mode.subsets * (2u * (3u * mode.color + mode.alpha + mode.own_lowest) + mode.shared_lowest);

    var weights = vec2(weight_of(index_bits(block, at, mode.index, texel, anchors), mode.index));
    if mode.second_index != 0u {
        at += 16u * mode.index - 1u;
        weights.y = weight_of(index_bits(block, at, mode.second_index, texel, anchors), mode.second_index);
    }
    if swapped {
        weights = weights.yx;
    }
    let weight = weights.xxxy;
    var rgba = (first * (64u - weight) + second * weight + 32u) >> vec4(6u);
    if rotation != 0u {
        let alpha = rgba.w;
        rgba.w = rgba[rotation - 1u];
        rgba[rotation - 1u] = alpha;
    }
    return rgba.x | (rgba.y << 8u) | (rgba.z << 16u) | (rgba.w << 24u);
}
