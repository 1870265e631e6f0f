// Primitives as triangles with edges: which square of pixels their spans touch. `Edges::touches` on the CPU is the same.

@group(0) @binding(1) var<storage, read> edges: array<i32>;

const PIXEL = 19u;
const UP = 0x7ffff;

/// Column of an edge at a row: what makes it wrap around has a flag, and is not asked.
fn column(base: u32, edge: u32, row: i32) -> i32 {
    let start = edges[base + 6u + u32(edge == 2u)];
    return edges[base + edge] + edges[base + 3u + edge] * (8 * row - start);
}

/// Whether a primitive touches the square whose first pixel is `at`.
fn touches(primitive: u32, at: vec2<u32>, size: u32) -> bool {
    let base = primitive * grid.stride;
    let low = max(vec2<i32>(at), vec2<i32>(edges[base + 10u], edges[base + 11u]));
    let high = min(vec2<i32>(at + size) - 1, vec2<i32>(edges[base + 12u], edges[base + 13u]));
    let first = max(low.y, (edges[base + 6u] + 7) >> 3u);
    let last = min(high.y, (edges[base + 8u] - 1) >> 3u);
    if any(low > high) || first > last {
        return false;
    }
    let flags = edges[base + 9u];
    if (flags & 2) != 0 {
        return true;
    }
    let middle = (edges[base + 7u] + 7) >> 3u;
    let long = vec2(column(base, 0u, first), column(base, 0u, last));
    var short_low = 0x7fffffff;
    var short_high = -0x7fffffff;
    let above = min(last, middle - 1);
    if first <= above {
        let ends = vec2(column(base, 1u, first), column(base, 1u, above));
        short_low = min(ends.x, ends.y);
        short_high = max(ends.x, ends.y);
    }
    let below = max(first, middle);
    if below <= last {
        let ends = vec2(column(base, 2u, below), column(base, 2u, last));
        short_low = min(short_low, min(ends.x, ends.y));
        short_high = max(short_high, max(ends.x, ends.y));
    }
    let right_major = (flags & 1) != 0;
    let left = select(min(long.x, long.y), short_low, right_major);
    let right = select(short_high, max(long.x, long.y), right_major);
    return max((left + UP) >> PIXEL, low.x) <= min((right - 1) >> PIXEL, high.x);
}
