// Primitives as bounds: which square of pixels they touch.

struct Bounds {
    low: vec2<i32>,
    high: vec2<i32>,
}

@group(0) @binding(1) var<storage, read> bounds: array<Bounds>;

/// Whether a primitive touches the square whose first pixel is `at`.
fn touches(primitive: u32, at: vec2<u32>, size: u32) -> bool {
    let low = bounds[primitive].low;
    let high = bounds[primitive].high;
    let first = vec2<i32>(at);
    let last = first + i32(size) - 1;
    return all(low <= high) && all(low <= last) && all(high >= first);
}
