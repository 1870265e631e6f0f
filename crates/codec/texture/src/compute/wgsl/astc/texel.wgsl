// What a texel is made of: its partition, its weights, and the colour that comes of them.

// Texels fewer than this make a small block, whose coordinates are doubled.
const SMALL: u32 = 31u;

// By partition: slopes along the axes and the value at the origin.
struct Slopes {
    x: vec4<u32>,
    y: vec4<u32>,
    z: vec4<u32>,
    origin: vec4<u32>,
}

fn hash(seed: u32) -> u32 {
    var p = seed;
    p ^= p >> 15u;
    p -= p << 17u;
    p += p << 7u;
    p += p << 4u;
    p ^= p >> 5u;
    p += p << 16u;
    p ^= p >> 7u;
    p ^= p >> 3u;
    p ^= p << 6u;
    return p ^ (p >> 17u);
}

// Squares of four bits of the number from each bit in `at` on, around its end.
fn squares(random: u32, at: vec4<u32>) -> vec4<u32> {
    let four = ((vec4(random) >> at) | (vec4(random) << ((32u - at) & vec4(31u)))) & vec4(0xfu);
    return four * four;
}

fn slopes_of(h: Header) -> Slopes {
    let seed = h.seed + 1024u * (h.partitions - 1u);
    let random = hash(seed);
    let by_seed = select(5u, 4u, (seed & 2u) != 0u);
    let by_count = select(5u, 6u, h.partitions == 3u);
    let odd = (seed & 1u) != 0u;
    let first = select(by_count, by_seed, odd);
    let second = select(by_seed, by_count, odd);
    let third = select(second, first, (seed & 0x10u) != 0u);
    return Slopes(
        squares(random, vec4(0u, 8u, 16u, 24u)) >> vec4(first),
        squares(random, vec4(4u, 12u, 20u, 28u)) >> vec4(second),
        squares(random, vec4(26u, 30u, 18u, 22u)) >> vec4(third),
        vec4(random) >> vec4(14u, 10u, 6u, 2u),
    );
}

fn partition_of(h: Header, slopes: Slopes, place: vec3<u32>) -> u32 {
    if h.partitions == 1u {
        return 0u;
    }
    let size = picture.footprint;
    let at = place * select(1u, 2u, size.x * size.y * size.z < SMALL);
    let all = (slopes.x * at.x + slopes.y * at.y + slopes.z * at.z + slopes.origin) & vec4(0x3fu);
    let v = select(vec4(0u), all, vec4(0u, 1u, 2u, 3u) < vec4(h.partitions));
    let lower = u32(v.x < v.y);
    let upper = 2u + u32(v.z < v.w);
    return select(upper, lower, max(v.x, v.y) >= max(v.z, v.w));
}

// Where a texel lies in the grid of weights: the point before it, and sixteenths of the way to the next.
struct Spot {
    point: vec3<u32>,
    part: vec3<u32>,
}

fn spot_of(h: Header, place: vec3<u32>) -> Spot {
    let at = (picture.step * place * (h.grid - 1u) + 32u) >> vec3(6u);
    return Spot(at >> vec3(4u), at & vec3(0xfu));
}

// A weight of the grid. What lies behind the grid does not count.
fn grid_weight(slot: u32, h: Header, point: u32, plane: u32) -> u32 {
    return weights[slot * MAX_WEIGHTS + min(point * h.planes + plane, MAX_WEIGHTS - 1u)];
}

// Between the four points around a texel.
fn flat_weight(slot: u32, h: Header, spot: Spot, plane: u32) -> u32 {
    let point = spot.point.y * h.grid.x + spot.point.x;
    let w11 = (spot.part.x * spot.part.y + 8u) >> 4u;
    let sum = grid_weight(slot, h, point, plane) * (16u + w11 - spot.part.x - spot.part.y)
        + grid_weight(slot, h, point + 1u, plane) * (spot.part.x - w11)
        + grid_weight(slot, h, point + h.grid.x, plane) * (spot.part.y - w11)
        + grid_weight(slot, h, point + h.grid.x + 1u, plane) * w11;
    return (sum + 8u) >> 4u;
}

// Along the edges of a simplex: from the point before the texel to the one behind it, the longest way first.
fn deep_weight(slot: u32, h: Header, spot: Spot, plane: u32) -> u32 {
    // Ways: how far, and to which point.
    var a = vec2(spot.part.x, 1u);
    var b = vec2(spot.part.y, h.grid.x);
    var c = vec2(spot.part.z, h.grid.x * h.grid.y);
    if a.x < b.x {
        let t = a;
        a = b;
        b = t;
    }
    if b.x < c.x {
        let t = b;
        b = c;
        c = t;
    }
    if a.x < b.x {
        let t = a;
        a = b;
        b = t;
    }
    let p0 = (spot.point.z * h.grid.y + spot.point.y) * h.grid.x + spot.point.x;
    let p1 = p0 + a.y;
    let p2 = p1 + b.y;
    let p3 = p2 + c.y;
    let sum = grid_weight(slot, h, p0, plane) * (16u - a.x) + grid_weight(slot, h, p1, plane) * (a.x - b.x)
        + grid_weight(slot, h, p2, plane) * (b.x - c.x) + grid_weight(slot, h, p3, plane) * c.x;
    return (sum + 8u) >> 4u;
}

fn weight_of(slot: u32, h: Header, spot: Spot, plane: u32) -> u32 {
    if picture.footprint.z == 1u {
        return flat_weight(slot, h, spot, plane);
    }
    return deep_weight(slot, h, spot, plane);
}

// A 65536th truncated to a half, and 1 for 65535.
fn half_of_unorm(value: u32) -> u32 {
    if value == 0xffffu {
        return 0x3c00u;
    }
    if value < 4u {
        return value << 8u;
    }
    // The highest bit is the exponent, and ten bits below it are the fraction.
    let top = firstLeadingBit(value);
    return ((top - 1u) << 10u) | (((value << 10u) >> top) & 0x3ffu);
}

// The half that a number of the piecewise linear approximation of a logarithm stands for.
fn half_of_log(value: u32) -> u32 {
    let fraction = value & 0x7ffu;
    var bent = 5u * fraction - 2048u;
    if fraction < 512u {
        bent = 3u * fraction;
    } else if fraction < 1536u {
        bent = 4u * fraction - 512u;
    }
    return min(((value >> 11u) << 10u) + (bent >> 3u), 0x7bffu);
}

// A component from 16 bits to those of the output.
fn finished(value: u32, is_log: u32) -> u32 {
    if picture.profile < FLOAT16 {
        return value >> 8u;
    }
    if is_log != 0u {
        return half_of_log(value);
    }
    return half_of_unorm(value);
}

// Between two endpoints; weights of both planes.
fn blended(h: Header, pair: Pair, weight: vec2<u32>) -> vec4<u32> {
    let w = select(vec4(weight.x), vec4(weight.y), vec4(0u, 1u, 2u, 3u) == vec4(h.second_plane));
    let value = ((pair.ends & vec4(0xffffu)) * (64u - w) + (pair.ends >> vec4(16u)) * w + 32u) >> vec4(6u);
    return vec4(
        finished(value.x, pair.log_color), finished(value.y, pair.log_color), finished(value.z, pair.log_color),
        finished(value.w, pair.log_alpha),
    );
}
