// The header of a block: what it holds and where.

const MAX_WEIGHTS: u32 = 64u;
const MAX_VALUES: u32 = 18u;
// The number of no component.
const NONE: u32 = 4u;

struct Header {
    // False for blocks that have no weights: void extents and what is illegal.
    legal: bool,
    // The grid of weights.
    grid: vec3<u32>,
    // The row of LEVELS of weights, how many there are of all planes, and their bits.
    weight_levels: u32,
    weight_count: u32,
    weight_bits: u32,
    planes: u32,
    // The component with weights of its own, or NONE.
    second_plane: u32,
    partitions: u32,
    seed: u32,
    // Endpoint modes of the partitions.
    modes: vec4<u32>,
    // Where the values of the endpoints begin, how many there are, and their row of LEVELS.
    values_at: u32,
    value_count: u32,
    value_levels: u32,
}

struct Grid {
    legal: bool,
    size: vec3<u32>,
    // The range of the weights, 2 to 7, and 8 more for the finer six.
    range: u32,
    dual: bool,
}

// The block mode of a flat footprint.
fn flat_grid(mode: u32) -> Grid {
    let a = (mode >> 5u) & 3u;
    let b = (mode >> 7u) & 3u;
    var finer = (mode >> 6u) & 8u;
    var dual = (mode & 0x400u) != 0u;
    var size = vec2(a + 2u, b + 8u);
    if (mode & 3u) != 0u {
        switch (mode >> 2u) & 3u {
            case 0u: {
                size = vec2(b + 4u, a + 2u);
            }
            case 1u: {
                size = vec2(b + 8u, a + 2u);
            }
            case 2u: {}
            default: {
                size = select(vec2((b & 1u) + 2u, a + 2u), vec2(a + 2u, (b & 1u) + 6u), (b & 2u) == 0u);
            }
        }
        return Grid(true, vec3(size, 1u), ((mode >> 4u) & 1u) | ((mode & 3u) << 1u) | finer, dual);
    }
    switch b {
        case 0u: {
            size = vec2(12u, a + 2u);
        }
        case 1u: {
            size = vec2(a + 2u, 12u);
        }
        case 2u: {
            finer = 0u;
            dual = false;
            size = vec2(a + 6u, ((mode >> 9u) & 3u) + 6u);
        }
        default: {
            size = select(vec2(10u, 6u), vec2(6u, 10u), a == 0u);
        }
    }
    return Grid(b < 3u || a < 2u, vec3(size, 1u), ((mode >> 4u) & 1u) | ((mode >> 1u) & 6u) | finer, dual);
}

// The block mode of a footprint with depth.
fn deep_grid(mode: u32) -> Grid {
    let a = (mode >> 5u) & 3u;
    let b = (mode >> 7u) & 3u;
    var finer = (mode >> 6u) & 8u;
    var dual = (mode & 0x400u) != 0u;
    var size = vec3(a + 2u, b + 2u, ((mode >> 2u) & 3u) + 2u);
    if (mode & 3u) != 0u {
        return Grid(true, size, ((mode >> 4u) & 1u) | ((mode & 3u) << 1u) | finer, dual);
    }
    let c = (mode >> 9u) & 3u;
    switch b {
        case 0u: {
            size = vec3(6u, c + 2u, a + 2u);
        }
        case 1u: {
            size = vec3(a + 2u, 6u, c + 2u);
        }
        case 2u: {
            size = vec3(a + 2u, c + 2u, 6u);
        }
        default: {
            size = select(vec3(2u), vec3(6u), vec3(a) == vec3(0u, 1u, 2u));
        }
    }
    if b < 3u {
        finer = 0u;
        dual = false;
    }
    return Grid(b < 3u || a < 3u, size, ((mode >> 4u) & 1u) | ((mode >> 1u) & 6u) | finer, dual);
}

fn grid_of(mode: u32) -> Grid {
    if picture.footprint.z == 1u {
        return flat_grid(mode);
    }
    return deep_grid(mode);
}

fn is_void(block: vec4<u32>) -> bool {
    return (block.x & 0x1ffu) == 0x1fcu;
}

fn header_of(block: vec4<u32>) -> Header {
    var h: Header;
    h.legal = false;
    let grid = grid_of(block.x & 0x7ffu);
    // 2 to 7 are the six coarsest rows, 10 to 15 the next six.
    if !grid.legal || is_void(block) || (grid.range & 7u) < 2u || any(grid.size > picture.footprint) {
        return h;
    }
    h.grid = grid.size;
    h.planes = 1u + u32(grid.dual);
    h.weight_levels = (grid.range & 7u) - 2u + 6u * (grid.range >> 3u);
    h.weight_count = grid.size.x * grid.size.y * grid.size.z * h.planes;
    h.weight_bits = sequence_bits(h.weight_levels, h.weight_count);
    h.partitions = 1u + ((block.x >> 11u) & 3u);
    if h.weight_count > MAX_WEIGHTS || h.weight_bits < 24u || h.weight_bits > 96u
        || (grid.dual && h.partitions == 4u) {
        return h;
    }

    var below = 128u - h.weight_bits;
    h.modes = vec4((block.x >> 13u) & 0xfu);
    h.seed = 0u;
    h.values_at = 17u;
    if h.partitions > 1u {
        h.seed = (block.x >> 13u) & 0x3ffu;
        h.values_at = 29u;
        let class_bits = (block.x >> 23u) & 3u;
        var rest = (block.x >> 25u) & 0xfu;
        h.modes = vec4(rest);
        if class_bits != 0u {
            let more = 3u * h.partitions - 4u;
            below -= more;
            rest |= bits(block, below, more) << 4u;
            for (var i = 0u; i < 4u; i++) {
                let upper = class_bits - 1u + ((rest >> i) & 1u);
                h.modes[i] = (upper << 2u) | ((rest >> (h.partitions + 2u * i)) & 3u);
            }
        }
    }
    h.second_plane = NONE;
    if grid.dual {
        below -= 2u;
        h.second_plane = bits(block, below, 2u);
    }

    h.value_count = 0u;
    for (var i = 0u; i < h.partitions; i++) {
        h.value_count += value_count_of(h.modes[i]);
    }
    if h.value_count > MAX_VALUES || below < h.values_at {
        return h;
    }
    h.value_levels = byte(FINEST + 128u * (h.value_count / 2u) + below - h.values_at);
    h.legal = h.value_levels != NO_LEVELS;
    return h;
}

// How many values an endpoint mode has.
fn value_count_of(mode: u32) -> u32 {
    return 2u * ((mode >> 2u) + 1u);
}
