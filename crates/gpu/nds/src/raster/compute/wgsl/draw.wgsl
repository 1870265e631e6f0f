// Pixels: each is drawn by one invocation, which follows its tile's polygons in order. `fill/` and `shadow.rs` say why.

const MARK_TOP = 1u;
const MARK_UNDER = 2u;

/// What nothing has been drawn on.
fn clear_pixel(x: u32, y: u32) -> Pixel {
    var pixel: Pixel;
    pixel.top = Layer(frame.clear_color, frame.clear_depth, frame.clear_attributes);
    if (frame.clear_image & 0x10000u) != 0u {
        let column = (frame.clear_image + x / frame.scale) & 0xffu;
        let line = ((frame.clear_image >> 8u) + y / frame.scale) & 0xffu;
        let at = (line << 9u) | (column << 1u);
        let color = memory_half(0x40000u + at);
        let depth = memory_half(0x60000u + at);
        pixel.top.color = pack_color(expand(color), select(0u, 31u, (color & 0x8000u) != 0u));
        pixel.top.depth = (depth & 0x7fffu) * 0x200u + 0x1ffu;
        pixel.top.attributes = (frame.clear_attributes & OPAQUE_ID) | (depth & 0x8000u);
    }
    pixel.coverage = SETTLED;
    return pixel;
}

/// Whether a polygon's span has column `x`: all from edge to edge, or the two edges of a wireframe.
fn is_in_span(polygon: u32, span: u32, x: i32) -> bool {
    let flags = spans[span].flags;
    let inside = spans[span].inside;
    let right = max(spans[span].right, inside);
    let first = select(inside, spans[span].start, (flags & FILLS_LEFT) != 0u);
    let last = select(right - 1, spans[span].end, (flags & FILLS_RIGHT) != 0u);
    let is_hollow = (polygons[polygon].flags & WIREFRAME) != 0u && (flags & ROW_FLAGS) == 0u;
    return x >= first && x <= last && !(is_hollow && x >= inside && x < right);
}

/// Factor of 8 bits at a column; 0 where w is level.
fn span_factor(span: u32, x: i32) -> i32 {
    if (spans[span].flags & LINEAR) != 0u {
        return 0;
    }
    let length = u32(spans[span].end + 1 - spans[span].start);
    let at = u32(x - spans[span].start);
    let w = spans[span].w;
    let weight = at * (w & 0xffffu);
    return i32(divide(weight, weight + (length - at) * (w >> 16u), 8u));
}

fn span_depth(span: u32, x: i32, factor: i32, is_w: bool) -> u32 {
    let a = spans[span].depth[0];
    let b = spans[span].depth[1];
    if a == b {
        return u32(a);
    }
    if is_w {
        return u32(w_depth(a, b, factor, 8u));
    }
    // From the smaller end, with a difference that has lost 9 bits.
    let length = spans[span].end + 1 - spans[span].start;
    let at = x - spans[span].start;
    let scaled = u32(abs(b - a) >> 9u) * u32(select(length - at, at, a < b));
    return u32(min(a, b)) + multiply_shift(scaled, depth_reciprocal(length), 13u);
}

fn span_value(a: i32, b: i32, span: u32, x: i32, factor: i32) -> i32 {
    if a == b {
        return a;
    }
    if (spans[span].flags & LINEAR) != 0u {
        return linear_value(a, b, x - spans[span].start, spans[span].end + 1 - spans[span].start);
    }
    return a + (((b - a) * factor) >> 8u);
}

fn span_color(polygon: u32, span: u32, x: i32, factor: i32) -> u32 {
    let a = unpack_rgb9(spans[span].rgb[0]);
    let b = unpack_rgb9(spans[span].rgb[1]);
    // 9 bits along spans, 6 of a pixel.
    let rgb = vec3(
        span_value(a.x, b.x, span, x, factor),
        span_value(a.y, b.y, span, x, factor),
        span_value(a.z, b.z, span, x, factor),
    ) >> vec3(3u);
    var st = vec2(0);
    if texture_format(polygons[polygon].texture) != 0u {
        let c = unpack_st(spans[span].st[0]);
        let d = unpack_st(spans[span].st[1]);
        st = vec2(span_value(c.x, d.x, span, x, factor), span_value(c.y, d.y, span, x, factor));
    }
    return shade(polygon, vec3<u32>(rgb), st);
}

fn passes(polygon: u32, depth: u32, layer: Layer, attributes: u32) -> bool {
    let flags = polygons[polygon].flags;
    if extractBits(polygons[polygon].attributes, 14u, 1u) != 0u {
        let margin = select(0x200u, 0xffu, (flags & W_BUFFERED) != 0u);
        return max(depth, layer.depth) - min(depth, layer.depth) <= margin;
    }
    // Equal fronts pass over opaque pixels whose back is seen.
    let accepts_equal = (flags & FRONT) != 0u && (attributes & (BACK | TRANSLUCENT)) == BACK;
    return depth < layer.depth + select(0u, 1u, accepts_equal);
}

fn draw_translucent(polygon: u32, layer: Layer, color: u32, depth: u32, own: u32) -> Layer {
    let there = layer.attributes;
    let id = ((own >> 8u) & TRANSLUCENT_ID) | TRANSLUCENT;
    // For shadows opaque ids count, too.
    var is_same = (there & (TRANSLUCENT_ID | TRANSLUCENT)) == id;
    if (there & TRANSLUCENT) == 0u && (polygons[polygon].flags & SHADOW) != 0u {
        is_same = ((there ^ own) & OPAQUE_ID) == 0u;
    }
    if is_same {
        return layer;
    }
    var out = layer;
    out.attributes = (own & BACK) | (own & there & FOG) | id | (there & (OPAQUE_ID | COVERAGE | EDGES));
    out.color = blend(color, layer.color);
    if extractBits(polygons[polygon].attributes, 11u, 1u) != 0u {
        out.depth = depth;
    }
    return out;
}

/// Draws a mask: marks where it lies behind what is there.
fn mark(pixel: ptr<function, Pixel>, polygon: u32, depth: u32) {
    let attributes = (*pixel).top.attributes;
    if !passes(polygon, depth, (*pixel).top, attributes) {
        (*pixel).marks = MARK_TOP;
    }
    if (attributes & EDGES) != 0u && !passes(polygon, depth, (*pixel).under, (*pixel).under.attributes) {
        (*pixel).marks |= MARK_UNDER;
    }
}

const NOWHERE = 0u;
const ON_TOP = 1u;
const UNDER = 2u;
const BOTH = 3u;

/// Which layers a pixel goes into.
fn layers(pixel: Pixel, polygon: u32, depth: u32) -> u32 {
    let is_layered = (frame.control & ANTIALIASING) != 0u;
    var attributes = pixel.top.attributes;
    var is_under = false;
    if (polygons[polygon].flags & SHADOW) != 0u {
        if pixel.marks == 0u {
            return NOWHERE;
        }
        if (pixel.marks & MARK_UNDER) == 0u {
            // Nothing is drawn under this edge.
            attributes &= ~EDGES;
        }
        is_under = (pixel.marks & MARK_TOP) == 0u;
        if is_under {
            if is_layered && passes(polygon, depth, pixel.under, attributes) {
                return UNDER;
            }
            return NOWHERE;
        }
    }
    let over_edge = is_layered && (attributes & EDGES) != 0u;
    if passes(polygon, depth, pixel.top, attributes) {
        return select(ON_TOP, BOTH, over_edge);
    }
    // What fails against an edge pixel is tested against what that covers.
    if over_edge && passes(polygon, depth, pixel.under, pixel.under.attributes) {
        return UNDER;
    }
    return NOWHERE;
}

fn draw_opaque(
    pixel: ptr<function, Pixel>,
    polygon: u32,
    span: u32,
    x: i32,
    place: u32,
    color: u32,
    depth: u32,
    own: u32,
) {
    let flags = spans[span].flags;
    let is_left = x < spans[span].inside;
    let is_right = !is_left && x >= spans[span].right;
    var attributes = own | (flags & ROW_FLAGS) | select(0u, LEFT_EDGE, is_left) | select(0u, RIGHT_EDGE, is_right);
    if (frame.rules & OVERLAPS_EDGES) != 0u {
        attributes |= lower_edge(span, is_left, is_right);
    }
    var coverage = SETTLED;
    if (frame.control & ANTIALIASING) != 0u && (attributes & EDGES) != 0u {
        let rises = (is_left && (flags & RISING_LEFT) != 0u) || (is_right && (flags & RISING_RIGHT) != 0u);
        if rises {
            // How many were drawn before this one is known when all are.
            coverage = (span << 1u) | select(0u, 1u, is_right);
            let bit = u32(x - spans[span].drawn_x);
            atomicOr(&drawn[spans[span].drawn + (bit >> 5u)], 1u << (bit & 31u));
        } else if is_left {
            attributes |= flags & COVERAGE;
        } else if is_right {
            attributes |= (flags >> 8u) & COVERAGE;
        } else {
            attributes |= COVERAGE;
        }
        if place != UNDER {
            (*pixel).under = (*pixel).top;
        }
    }
    if place == UNDER {
        (*pixel).under = Layer(color, depth, attributes);
    } else {
        (*pixel).top = Layer(color, depth, attributes);
        (*pixel).coverage = coverage;
    }
}

/// Whether a pixel of an upper edge is over one that ends a polygon of the same id below.
fn is_over_lower_edge(pixel: Pixel, polygon: u32, span: u32, x: i32) -> bool {
    let side = select(0u, UPPER_LEFT, x < spans[span].inside)
        | select(0u, UPPER_RIGHT, x >= max(spans[span].right, spans[span].inside));
    let there = pixel.top.attributes & (OPAQUE_ID | LOWER_EDGE | TRANSLUCENT);
    let wanted = (polygons[polygon].attributes & OPAQUE_ID) | LOWER_EDGE;
    let kind = polygons[polygon].flags & (OPAQUE | SHADOW);
    return (spans[span].flags & side) != 0u && there == wanted && kind == OPAQUE;
}

/// [`LOWER_EDGE`] for a pixel that ends the polygon below.
fn lower_edge(span: u32, is_left: bool, is_right: bool) -> u32 {
    let flags = spans[span].flags;
    var side = LAST_ROW;
    if is_left || is_right {
        side = select(0u, LOWER_LEFT, is_left) | select(0u, LOWER_RIGHT, is_right);
    }
    return select(0u, LOWER_EDGE, (flags & side) != 0u);
}

/// Draws a polygon's pixel.
fn draw_polygon(pixel: ptr<function, Pixel>, polygon: u32, x: i32, y: i32) {
    let row = y - polygons[polygon].first;
    if row < 0 || row >= i32(polygons[polygon].rows) {
        return;
    }
    let span = polygons[polygon].span + u32(row);
    let flags = polygons[polygon].flags;
    if (spans[span].flags & CLEARS) != 0u {
        (*pixel).marks = 0u;
    }
    if !is_in_span(polygon, span, x) {
        return;
    }
    let factor = span_factor(span, x);
    let depth = span_depth(span, x, factor, (flags & W_BUFFERED) != 0u);
    if (flags & SHADOW_MASK) != 0u {
        mark(pixel, polygon, depth);
        return;
    }
    var place = layers(*pixel, polygon, depth);
    if place == NOWHERE && (frame.rules & OVERLAPS_EDGES) != 0u && is_over_lower_edge(*pixel, polygon, span, x) {
        place = ON_TOP;
    }
    if place == NOWHERE {
        return;
    }
    let color = span_color(polygon, span, x, factor);
    if alpha(color) <= frame.alpha_ref {
        return;
    }
    let own = (polygons[polygon].attributes & (OPAQUE_ID | FOG)) | select(BACK, 0u, (flags & FRONT) != 0u);
    if alpha(color) == 31u {
        draw_opaque(pixel, polygon, span, x, place, color, depth, own);
        return;
    }
    if place != UNDER {
        (*pixel).top = draw_translucent(polygon, (*pixel).top, color, depth, own);
    }
    if place != ON_TOP {
        (*pixel).under = draw_translucent(polygon, (*pixel).under, color, depth, own);
    }
}

/// Draws a pixel; `marks` are those that masks left two rows of the console's above.
fn draw_pixel(x: u32, y: u32, marks: u32) {
    var pixel = clear_pixel(x, y);
    pixel.marks = marks;
    let grid = frame.band;
    let base = tile_base(grid, vec2(x, y - frame.first) / TILE);
    let words = base + summary_words(grid);
    for (var s = 0u; s < summary_words(grid); s++) {
        var summary = tiles[base + s];
        while summary != 0u {
            let word = s * 32u + firstTrailingBit(summary);
            summary &= summary - 1u;
            var bits = tiles[words + word];
            while bits != 0u {
                let polygon = word * 32u + firstTrailingBit(bits);
                bits &= bits - 1u;
                draw_polygon(&pixel, polygon, i32(x), i32(y));
            }
        }
    }
    pixels[pixel_place(x, y)] = pixel;
}

/// Every pixel of the band by itself.
@compute @workgroup_size(8, 8)
fn draw(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < frame.band.size.x && id.y < frame.band.size.y {
        draw_pixel(id.x, frame.first + id.y, 0u);
    }
}

/// Columns of the band, each from top to bottom in steps of two rows of the console's: for frames in which marks of
/// masks outlive their row.
@compute @workgroup_size(64)
fn draw_columns(@builtin(global_invocation_id) id: vec3<u32>) {
    let phases = 2u * frame.scale;
    if id.x >= frame.band.size.x || id.y >= phases {
        return;
    }
    let last = frame.first + frame.band.size.y;
    for (var y = frame.first + (id.y + phases - frame.first % phases) % phases; y < last; y += phases) {
        var marks = 0u;
        if y >= phases {
            marks = pixels[pixel_place(id.x, y - phases)].marks;
        }
        draw_pixel(id.x, y, marks);
    }
}
