// Primitives as triangles of three linear functions: which square of pixels they touch. `HalfPlanes::touches` on the CPU is
// the same.

@group(0) @binding(1) var<storage, read> half_planes: array<u32>;

const WRAPS = 0x80000000u;

fn vector(at: u32) -> vec3<i32> {
    return vec3<i32>(vec3(half_planes[at], half_planes[at + 1u], half_planes[at + 2u]));
}

/// First and last of a range of columns or rows.
fn ends(word: u32) -> vec2<i32> {
    return vec2(i32(word & 0xffffu), i32(word >> 16u) - 1);
}

/// Whether a primitive touches the square whose first pixel is `at`.
fn touches(primitive: u32, at: vec2<u32>, size: u32) -> bool {
    let base = primitive * grid.stride;
    let columns = ends(half_planes[base + 3u]);
    let rows = ends(half_planes[base + 7u]);
    let low = vec2(columns.x, rows.x);
    let high = vec2(columns.y, rows.y);
    let first = vec2<i32>(at);
    let last = first + i32(size) - 1;
    if any(low > high) || any(low > last) || any(high < first) {
        return false;
    }
    let flags = half_planes[base + 11u];
    if all(low >= first) && all(high <= last) || size > 8u && (flags & WRAPS) != 0u {
        return true;
    }
    let right = vector(base + 4u);
    let down = vector(base + 8u);
    let value = vector(base) + right * first.x + down * first.y;
    let reach = i32(flags & 0xffffu);
    let more = (i32(size) - 1) * (max(right, vec3(0)) + max(down, vec3(0))) + (abs(right) + abs(down)) / 16 * reach;
    // A sum with a negative value does not wrap around.
    return !any((value < vec3(0)) & (value + more < vec3(0)));
}
