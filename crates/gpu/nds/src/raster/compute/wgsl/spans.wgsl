// Spans: a polygon's two sides in each row of the band. `edge.rs`, `polygon.rs` and `span.rs` say why.

const FRACTION = 18u;
const ONE = 1 << FRACTION;

struct Edge {
    upper: Vertex,
    lower: Vertex,
    is_right: bool,
    negative: bool,
    x_major: bool,
    increment: i32,
    accumulator: i32,
    x_length: i32,
    y_length: i32,
    min_x: i32,
    max_x: i32,
    row: i32,
    /// Place along the edge and its length, for interpolation.
    at: i32,
    length: i32,
    linear: bool,
    factor: i32,
}

/// Bits of factors along edges.
fn edge_bits() -> u32 {
    return select(9u, FINE_BITS, is_fine());
}

fn ends_outward(edge: Edge) -> bool {
    return edge.is_right != edge.negative;
}

/// A point, as polygons without height have them.
fn point_edge(at: Vertex) -> Edge {
    var edge: Edge;
    edge.upper = at;
    edge.lower = at;
    edge.min_x = at.x;
    edge.max_x = at.x;
    edge.x_length = 1;
    return edge;
}

fn make_edge(upper: Vertex, lower: Vertex, is_right: bool, row: i32) -> Edge {
    var edge: Edge;
    edge.upper = upper;
    edge.lower = lower;
    edge.is_right = is_right;
    edge.row = row;
    edge.negative = lower.x < upper.x;
    let x_length = abs(lower.x - upper.x);
    let y_length = lower.y - upper.y;
    if y_length != 0 {
        edge.increment = select(x_length * (ONE / y_length), ONE, x_length == y_length);
    }
    edge.x_major = edge.increment > ONE;
    edge.accumulator = select(0, ONE / 2, edge.x_major) + (row - upper.y) * edge.increment;
    edge.x_length = max(x_length, 1);
    edge.y_length = y_length;
    edge.min_x = min(upper.x, lower.x);
    edge.max_x = select(max(upper.x, lower.x) - 1, upper.x, x_length == 0);

    // Edges that end their row's pixels are a row ahead.
    let ahead = select(0, 1, edge.increment >= ONE && ends_outward(edge));
    edge.length = y_length;
    edge.at = row - (upper.y - ahead);
    edge.linear = upper.w == lower.w && (upper.w & 0x7e) == 0;
    if !edge.linear && edge.length != 0 {
        // The lowest bit of w is dropped; of an odd and an even one it comes back in the denominator.
        var numerator = upper.w & 0xfffe;
        var weights = vec2(upper.w & 0xfffe, lower.w & 0xfffe);
        if (upper.w & 1) != 0 && (lower.w & 1) == 0 {
            numerator = upper.w - 1;
            weights = vec2(upper.w + 1, lower.w);
        }
        let denominator = edge.at * weights.x + (edge.length - edge.at) * weights.y;
        edge.factor = i32(divide(u32(edge.at * numerator), u32(denominator), edge_bits()));
    }
    return edge;
}

fn edge_near(edge: Edge) -> i32 {
    return edge.accumulator >> FRACTION;
}

fn edge_far(edge: Edge) -> i32 {
    if edge.x_major {
        return ((edge.accumulator & select(-1, ~511, (frame.rules & SLOPE_GAPS) != 0u)) + edge.increment - ONE) >> FRACTION;
    }
    return edge_near(edge);
}

/// The outermost pixel of the row: leftmost of a left edge, rightmost of a right one.
fn edge_outermost(edge: Edge) -> i32 {
    if edge.increment == 0 {
        return edge.upper.x;
    }
    let place = select(edge_near(edge), edge_far(edge), ends_outward(edge));
    let x = select(edge.upper.x + place, edge.upper.x - 1 - place, edge.negative);
    return clamp(x, edge.min_x, edge.max_x);
}

struct EdgePixels {
    length: i32,
    rises: bool,
    /// Rising coverage falls from the left.
    falls: bool,
    /// Level, or what a span has of rising coverage.
    coverage: u32,
}

/// Coverage of an X-major edge's pixels as consoles have it: `Edge::recorded_coverage`.
fn recorded_coverage(edge: Edge, near: i32, far: i32, gain: u32) -> EdgePixels {
    let place = select(near, far, edge.negative);
    let reciprocal = (edge.y_length << 19u) / edge.x_length + 1;
    let line = ((2 * place + 1) * reciprocal + select(0, 1, edge.negative)) >> 10u;
    let height = line - ((edge.row - edge.upper.y) << 10u);
    let is_single = near == far;
    let is_inside = height >= 0 && height < 0x400;
    let first = select(height, ~height, !is_single && is_inside == edge.negative) & 0x3ff;
    return EdgePixels(far - near + 1, true, edge.negative && is_single, u32(first) | (gain << 16u));
}

fn edge_pixels(edge: Edge, swapped: bool) -> EdgePixels {
    if edge.x_major {
        let near = edge_near(edge);
        let far = edge_far(edge);
        let gain = u32((edge.y_length << 10u) / edge.x_length) & 0x3ffu;
        if !swapped && (frame.rules & RECORDED_COVERAGE) != 0u {
            return recorded_coverage(edge, near, far, gain);
        }
        let first = select(near, edge.x_length - 1 - far, edge.negative);
        // (first + 1/2) * y_length / x_length with 10 bits; of its whole part nothing is kept.
        let rest = first * edge.y_length % edge.x_length;
        let start = u32(((rest << 10u) + 0x1ff * edge.y_length) / edge.x_length) & 0x3ffu;
        // All ones count from 0.
        let coverage = select(start, 0u, start == 0x3ffu) | (gain << 16u);
        return EdgePixels(select(far - near + 1, 1, swapped), true, false, coverage);
    }
    if edge.increment == 0 {
        return EdgePixels(1, false, false, select(31u, 0u, swapped));
    }
    let sum = ((edge.accumulator >> 9u) + (edge.increment >> 10u)) >> 4u;
    let covered = select(31, sum & 31, (sum >> 5u) == edge_near(edge));
    let level = select(covered, 31 - covered, ends_outward(edge) == swapped);
    return EdgePixels(1, false, false, u32(level));
}

fn edge_value(edge: Edge, a: i32, b: i32) -> i32 {
    if edge.length == 0 || a == b {
        return a;
    }
    if edge.linear {
        return linear_value(a, b, edge.at, edge.length, 1.0 / f32(edge.length));
    }
    return a + (((b - a) * edge.factor) >> edge_bits());
}

fn edge_depth(edge: Edge, is_w: bool) -> i32 {
    let a = edge.upper.depth;
    let b = edge.lower.depth;
    if edge.length == 0 || a == b {
        return a;
    }
    if is_w {
        return w_depth(a, b, edge.factor, edge_bits());
    }
    if is_fine() {
        return w_depth(a, b, (edge.at << FINE_BITS) / edge.length, FINE_BITS);
    }
    let rises = a < b;
    let difference = u32(abs(b - a));
    let at = u32(select(edge.length - edge.at, edge.at, rises));
    // The difference keeps 10 bits.
    let shift = max(firstLeadingBit(difference) + 1u, 10u) - 10u;
    let scaled = multiply_shift((difference >> shift) * at, depth_reciprocal(edge.length), 22u);
    return min(a, b) + i32(scaled << shift);
}

fn edge_rgb(edge: Edge) -> u32 {
    let a = unpack_rgb9(edge.upper.rgb);
    let b = unpack_rgb9(edge.lower.rgb);
    return pack_rgb9(vec3(edge_value(edge, a.x, b.x), edge_value(edge, a.y, b.y), edge_value(edge, a.z, b.z)));
}

fn edge_st(edge: Edge) -> u32 {
    let a = unpack_halves(edge.upper.st);
    let b = unpack_halves(edge.lower.st);
    return pack_halves(edge_value(edge, a.x, b.x), edge_value(edge, a.y, b.y));
}

/// The place after a vertex, up or down the list.
fn next_place(flags: u32, place: u32, up: bool) -> u32 {
    let length = flags & 15u;
    if up {
        return select(place + 1u, 0u, place + 1u >= length);
    }
    return select(place, length, place == 0u) - 1u;
}

/// The edge of a side that crosses `row`.
fn side(polygon: u32, is_right: bool, row: i32) -> Edge {
    let flags = polygons[polygon].band.w;
    let bottom = extractBits(flags, 8u, 4u);
    let up = ((flags & FRONT) != 0u) != is_right;
    var upper = extractBits(flags, 4u, 4u);
    var lower = next_place(flags, upper, up);
    while row >= polygons[polygon].vertices[lower].y && upper != bottom {
        upper = lower;
        lower = next_place(flags, upper, up);
    }
    return make_edge(polygons[polygon].vertices[upper], polygons[polygon].vertices[lower], is_right, row);
}

/// The sides of a polygon without height: the leftmost and the rightmost of its vertices 0, 1 and the last.
fn flat_sides(polygon: u32) -> array<u32, 2> {
    var left = 0u;
    var right = 0u;
    var places = array(1u, (polygons[polygon].band.w & 15u) - 1u);
    for (var i = 0; i < 2; i++) {
        let place = places[i];
        let x = polygons[polygon].vertices[place].x;
        if x < polygons[polygon].vertices[left].x {
            left = place;
        }
        if x > polygons[polygon].vertices[right].x {
            right = place;
        }
    }
    return array(left, right);
}

fn is_same_place(a: Vertex, b: Vertex) -> bool {
    return a.x == b.x && a.y == b.y;
}

/// Whether the polygon lies below an edge of its left or right side, or above it: of X-major ones.
fn is_upper(edge: Edge, is_left: bool) -> bool {
    return edge.x_major && edge.negative == is_left;
}

fn is_lower(edge: Edge, is_left: bool) -> bool {
    return edge.x_major && edge.negative != is_left;
}

/// Whether the polygon's last row, next to an X-major edge, has a flat bottom beside it.
fn flat_bottom(edge: Edge, is_last: bool, left: Edge, right: Edge) -> bool {
    return is_last && edge.x_major && left.lower.x != right.lower.x;
}

/// Which edge pixels of an opaque polygon are drawn.
fn fill_rules(left: Edge, right: Edge, is_last: bool, swapped: bool) -> u32 {
    var fills_right = (!right.negative && right.x_major) || right.increment == 0;
    if swapped {
        fills_right = select(left.increment == 0, !right.negative, right.x_major);
    }
    let fills_left = left.negative || !left.x_major || flat_bottom(left, is_last, left, right);
    fills_right = fills_right || flat_bottom(right, is_last, left, right);
    return select(0u, FILLS_LEFT, fills_left) | select(0u, FILLS_RIGHT, fills_right);
}

/// Whether a span is a mask's that clears its row of the mask.
fn is_clearing(span: u32) -> bool {
    let word = span >> 5u;
    return word < arrayLength(&frame.clears) && extractBits(frame.clears[word], span & 31u, 1u) != 0u;
}

@compute @workgroup_size(64)
fn set_up(@builtin(global_invocation_id) id: vec3<u32>) {
    let polygon = id.y;
    let band = polygons[polygon].band;
    if id.x >= band.y {
        return;
    }
    let row = i32(band.x + id.x);
    let flags = band.w;
    let top = polygons[polygon].top_y;
    let bottom = polygons[polygon].bottom_y;
    var left: Edge;
    var right: Edge;
    if top == bottom {
        let sides = flat_sides(polygon);
        left = point_edge(polygons[polygon].vertices[sides[0]]);
        right = point_edge(polygons[polygon].vertices[sides[1]]);
    } else {
        left = side(polygon, false, row);
        right = side(polygon, true, row);
    }
    var start = edge_outermost(left);
    var end = edge_outermost(right);
    if right.increment == 0 && (left.increment != 0 || start != end) && end != 0 {
        end -= 1;
    }
    let swapped = start > end;
    if swapped {
        let other = left;
        left = right;
        right = other;
        let last = start;
        start = end;
        end = last;
    }
    let left_pixels = edge_pixels(left, swapped);
    let right_pixels = edge_pixels(right, swapped);
    let is_last = row == bottom - 1;
    var bits = FILLS_LEFT | FILLS_RIGHT;
    if (flags & FILLS_EDGES) == 0u {
        bits = fill_rules(left, right, is_last, swapped);
        // Edges that coincide.
        var coincide = left.increment == right.increment && start + left_pixels.length == end + 1;
        if (frame.rules & LINE_END_POINTS) != 0u {
            coincide = is_same_place(left.upper, right.upper) && is_same_place(left.lower, right.lower);
        }
        if !swapped && coincide {
            bits |= FILLS_LEFT;
        }
    }
    if row == top {
        bits |= TOP_ROW;
    } else if is_last {
        bits |= BOTTOM_ROW;
    }
    let index = band.z + id.x;
    if is_clearing(index) {
        bits |= CLEARS;
    }
    var span: Span;
    let inside = min(start + left_pixels.length, end + 1);
    let first_of_right = min(end + 1 - right_pixels.length, end + 1);
    let beside = max(first_of_right, inside);
    let shown = pack_halves(
        select(inside, start, (bits & FILLS_LEFT) != 0u),
        select(beside - 1, end, (bits & FILLS_RIGHT) != 0u),
    );
    bits |= select(0u, UPPER_LEFT, is_upper(left, true)) | select(0u, LOWER_LEFT, is_lower(left, true));
    bits |= select(0u, UPPER_RIGHT, is_upper(right, false)) | select(0u, LOWER_RIGHT, is_lower(right, false));
    bits |= select(0u, LAST_ROW, row == max(bottom - 1, top));
    bits |= select(0u, FALLS_LEFT, left_pixels.falls) | select(0u, FALLS_RIGHT, right_pixels.falls);
    if left_pixels.rises {
        bits |= RISING_LEFT;
    } else {
        bits |= left_pixels.coverage << 8u;
    }
    if right_pixels.rises {
        bits |= RISING_RIGHT;
    } else {
        bits |= right_pixels.coverage << 16u;
    }
    var right_rising = right_pixels.coverage;
    if !swapped && right_pixels.rises && (frame.rules & RECORDED_COVERAGE) != 0u {
        // Pixels of the right edge that belong to the left one count.
        let gain = right_pixels.coverage >> 16u;
        let first = (right_pixels.coverage & 0x3ffu) + u32(max(inside - first_of_right, 0)) * gain;
        right_rising = min(first, 0x3ffu) | (gain << 16u);
    }
    let w = vec2(edge_value(left, left.upper.w, left.lower.w), edge_value(right, right.upper.w, right.lower.w));
    if w.x == w.y && (w.x & 0x7f) == 0 {
        bits |= LINEAR;
    }
    span.place = vec4(shown, bits, pack_halves(start, end), pack_halves(inside, first_of_right));
    let is_w = (flags & W_BUFFERED) != 0u;
    let depths = vec2<u32>(vec2(edge_depth(left, is_w), edge_depth(right, is_w)));
    span.depth = vec4(u32(w.x) | (u32(w.y) << 16u), depth_reciprocal(end + 1 - start), depths);
    span.values = vec4(edge_rgb(left), edge_rgb(right), edge_st(left), edge_st(right));
    let bitmaps = polygons[polygon].drawn;
    let bitmap = bitmaps.x + id.x * bitmaps.y;
    span.edges = vec4(left_pixels.coverage, right_rising, bitmap, bitmaps.z);
    for (var i = 0u; i < bitmaps.y; i++) {
        atomicStore(&drawn[bitmap + i], 0u);
    }
    spans[index] = span;
}
