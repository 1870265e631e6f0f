// Pixels: an invocation draws `PIXELS` of a row, 1 or 4, and follows their tile's polygons in order. `fill/` and `shadow.rs` say why.

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

/// What the pixels of a row have in common of a polygon.
struct Row {
    span: u32,
    /// Of the polygon.
    flags: u32,
    registers: vec4<u32>,
    /// Of the span.
    place: vec4<u32>,
    depth: vec4<u32>,
    values: vec4<u32>,
}

/// A polygon's pixel.
struct Spot {
    row: Row,
    x: i32,
    /// Columns from the span's first pixel, and how many it has.
    at: i32,
    length: i32,
    /// 1 / length.
    inverse: f32,
    /// Factor of `span_bits` bits; 0 where w is level.
    factor: i32,
}

/// Whether a column is between the edges of a wireframe's span.
fn is_hollow(place: vec4<u32>, x: i32) -> bool {
    let inner = unpack_halves(place.w);
    return (place.y & ROW_FLAGS) == 0u && x >= inner.x && x < max(inner.y, inner.x);
}

/// Bits of factors along spans.
fn span_bits() -> u32 {
    return select(8u, FINE_BITS, is_fine());
}

fn spot(row: Row, x: i32) -> Spot {
    let ends = unpack_halves(row.place.z);
    let at = x - ends.x;
    let length = ends.y + 1 - ends.x;
    var factor = 0;
    if (row.place.y & LINEAR) == 0u {
        let w = row.depth.x;
        let weight = u32(at) * (w & 0xffffu);
        let sum = weight + u32(length - at) * (w >> 16u);
        if sum != 0u {
            let bits = span_bits();
            factor = settled(weight << bits, sum, u32(f32(weight) / f32(sum) * f32(1u << bits)));
        }
    }
    return Spot(row, x, at, length, 1.0 / f32(length), factor);
}

fn span_depth(spot: Spot) -> u32 {
    let a = i32(spot.row.depth.z);
    let b = i32(spot.row.depth.w);
    if a == b {
        return u32(a);
    }
    if (spot.row.flags & W_BUFFERED) != 0u {
        return u32(w_depth(a, b, spot.factor, span_bits()));
    }
    if is_fine() {
        return u32(w_depth(a, b, part(spot.at << FINE_BITS, spot.length, spot.inverse), FINE_BITS));
    }
    // From the smaller end, with a difference that has lost 9 bits.
    let scaled = u32(abs(b - a) >> 9u) * u32(select(spot.length - spot.at, spot.at, a < b));
    return u32(min(a, b)) + multiply_shift(scaled, spot.row.depth.y, 13u);
}

fn span_value(a: i32, b: i32, spot: Spot) -> i32 {
    if a == b {
        return a;
    }
    if (spot.row.place.y & LINEAR) != 0u {
        return linear_value(a, b, spot.at, spot.length, spot.inverse);
    }
    return a + (((b - a) * spot.factor) >> span_bits());
}

fn span_color(spot: Spot) -> u32 {
    let values = spot.row.values;
    let a = unpack_rgb9(values.x);
    let b = unpack_rgb9(values.y);
    // 9 bits along spans, 6 of a pixel.
    let rgb = vec3(span_value(a.x, b.x, spot), span_value(a.y, b.y, spot), span_value(a.z, b.z, spot)) >> vec3(3u);
    var st = vec2(0);
    if texture_format(spot.row.registers.y) != 0u {
        let c = unpack_halves(values.z);
        let d = unpack_halves(values.w);
        st = vec2(span_value(c.x, d.x, spot), span_value(c.y, d.y, spot));
    }
    return shade(spot.row.registers, vec3<u32>(rgb), st);
}

fn passes(spot: Spot, depth: u32, layer: Layer, attributes: u32) -> bool {
    if extractBits(spot.row.registers.x, 14u, 1u) != 0u {
        let margin = select(0x200u, 0xffu, (spot.row.flags & W_BUFFERED) != 0u);
        return max(depth, layer.depth) - min(depth, layer.depth) <= margin;
    }
    // Equal fronts pass over opaque pixels whose back is seen.
    let accepts_equal = (spot.row.flags & FRONT) != 0u && (attributes & (BACK | TRANSLUCENT)) == BACK;
    return depth < layer.depth + select(0u, 1u, accepts_equal);
}

fn draw_translucent(spot: Spot, layer: Layer, color: u32, depth: u32, own: u32) -> Layer {
    let there = layer.attributes;
    let id = ((own >> 8u) & TRANSLUCENT_ID) | TRANSLUCENT;
    // For shadows opaque ids count, too.
    var is_same = (there & (TRANSLUCENT_ID | TRANSLUCENT)) == id;
    if (there & TRANSLUCENT) == 0u && (spot.row.flags & SHADOW) != 0u {
        is_same = ((there ^ own) & OPAQUE_ID) == 0u;
    }
    if is_same {
        return layer;
    }
    var out = layer;
    out.attributes = (own & BACK) | (own & there & FOG) | id | (there & (OPAQUE_ID | COVERAGE | EDGES));
    out.color = blend(color, layer.color);
    if extractBits(spot.row.registers.x, 11u, 1u) != 0u {
        out.depth = depth;
    }
    return out;
}

/// Draws a mask: marks where it lies behind what is there.
fn mark(pixel: ptr<function, Pixel>, spot: Spot, depth: u32) {
    let attributes = (*pixel).top.attributes;
    if !passes(spot, depth, (*pixel).top, attributes) {
        (*pixel).marks = MARK_TOP;
    }
    if (attributes & EDGES) != 0u && !passes(spot, depth, (*pixel).under, (*pixel).under.attributes) {
        (*pixel).marks |= MARK_UNDER;
    }
}

const NOWHERE = 0u;
const ON_TOP = 1u;
const UNDER = 2u;
const BOTH = 3u;

/// Which layers a pixel goes into.
fn layers(pixel: Pixel, spot: Spot, depth: u32) -> u32 {
    let is_layered = (frame.control & ANTIALIASING) != 0u;
    var attributes = pixel.top.attributes;
    var is_under = false;
    if (spot.row.flags & SHADOW) != 0u {
        if pixel.marks == 0u {
            return NOWHERE;
        }
        if (pixel.marks & MARK_UNDER) == 0u {
            // Nothing is drawn under this edge.
            attributes &= ~EDGES;
        }
        is_under = (pixel.marks & MARK_TOP) == 0u;
        if is_under {
            if is_layered && passes(spot, depth, pixel.under, attributes) {
                return UNDER;
            }
            return NOWHERE;
        }
    }
    let over_edge = is_layered && (attributes & EDGES) != 0u;
    if passes(spot, depth, pixel.top, attributes) {
        return select(ON_TOP, BOTH, over_edge);
    }
    // What fails against an edge pixel is tested against what that covers.
    if over_edge && passes(spot, depth, pixel.under, pixel.under.attributes) {
        return UNDER;
    }
    return NOWHERE;
}

fn draw_opaque(pixel: ptr<function, Pixel>, spot: Spot, into: u32, color: u32, depth: u32, own: u32) {
    let flags = spot.row.place.y;
    let x = spot.x;
    let inner = unpack_halves(spot.row.place.w);
    let is_left = x < inner.x;
    let is_right = !is_left && x >= inner.y;
    var attributes = own | (flags & ROW_FLAGS) | select(0u, LEFT_EDGE, is_left) | select(0u, RIGHT_EDGE, is_right);
    if (frame.rules & OVERLAPS_EDGES) != 0u {
        attributes |= lower_edge(flags, is_left, is_right);
    }
    var coverage = SETTLED;
    if (frame.control & ANTIALIASING) != 0u && (attributes & EDGES) != 0u {
        let rises = (is_left && (flags & RISING_LEFT) != 0u) || (is_right && (flags & RISING_RIGHT) != 0u);
        if rises {
            // How many were drawn before this one is known when all are.
            coverage = (spot.row.span << 1u) | select(0u, 1u, is_right);
            let edges = spans[spot.row.span].edges;
            let bit = u32(x) - edges.w;
            atomicOr(&drawn[edges.z + (bit >> 5u)], 1u << (bit & 31u));
        } else if is_left {
            attributes |= flags & COVERAGE;
        } else if is_right {
            attributes |= (flags >> 8u) & COVERAGE;
        } else {
            attributes |= COVERAGE;
        }
        if into != UNDER {
            (*pixel).under = (*pixel).top;
        }
    }
    if into == UNDER {
        (*pixel).under = Layer(color, depth, attributes);
    } else {
        (*pixel).top = Layer(color, depth, attributes);
        (*pixel).coverage = coverage;
    }
}

/// Whether a pixel of an upper edge is over one that ends a polygon of the same id below.
fn is_over_lower_edge(pixel: Pixel, spot: Spot) -> bool {
    let inner = unpack_halves(spot.row.place.w);
    let side = select(0u, UPPER_LEFT, spot.x < inner.x) | select(0u, UPPER_RIGHT, spot.x >= max(inner.y, inner.x));
    let there = pixel.top.attributes & (OPAQUE_ID | LOWER_EDGE | TRANSLUCENT);
    let wanted = (spot.row.registers.x & OPAQUE_ID) | LOWER_EDGE;
    let kind = spot.row.flags & (OPAQUE | SHADOW);
    return (spot.row.place.y & side) != 0u && there == wanted && kind == OPAQUE;
}

/// [`LOWER_EDGE`] for a pixel that ends the polygon below.
fn lower_edge(flags: u32, is_left: bool, is_right: bool) -> u32 {
    var side = LAST_ROW;
    if is_left || is_right {
        side = select(0u, LOWER_LEFT, is_left) | select(0u, LOWER_RIGHT, is_right);
    }
    return select(0u, LOWER_EDGE, (flags & side) != 0u);
}

/// Draws a polygon's pixel.
fn draw_spot(pixel: ptr<function, Pixel>, row: Row, x: i32) {
    let shown = unpack_halves(row.place.x);
    if x < shown.x || x > shown.y {
        return;
    }
    if (row.flags & WIREFRAME) != 0u && is_hollow(row.place, x) {
        return;
    }
    let spot = spot(row, x);
    let depth = span_depth(spot);
    if (row.flags & SHADOW_MASK) != 0u {
        mark(pixel, spot, depth);
        return;
    }
    var into = layers(*pixel, spot, depth);
    if into == NOWHERE && (frame.rules & OVERLAPS_EDGES) != 0u && is_over_lower_edge(*pixel, spot) {
        into = ON_TOP;
    }
    if into == NOWHERE {
        return;
    }
    let color = span_color(spot);
    if alpha(color) <= frame.alpha_ref {
        return;
    }
    let own = (row.registers.x & (OPAQUE_ID | FOG)) | select(BACK, 0u, (row.flags & FRONT) != 0u);
    if alpha(color) == 31u {
        draw_opaque(pixel, spot, into, color, depth, own);
        return;
    }
    if into != UNDER {
        (*pixel).top = draw_translucent(spot, (*pixel).top, color, depth, own);
    }
    if into != ON_TOP {
        (*pixel).under = draw_translucent(spot, (*pixel).under, color, depth, own);
    }
}

/// The pixels of an invocation, beginning with the one at hand. Loops go round with [`turn`]: an array with places that are not constant
/// would lie in memory.
struct Pixels {
    first: Pixel,
    second: Pixel,
    third: Pixel,
    fourth: Pixel,
}

/// Leaves the pixel at hand as it is now, and goes to the next.
fn turn(own: ptr<function, Pixels>, done: Pixel) {
    if PIXELS == 1u {
        (*own).first = done;
        return;
    }
    (*own).first = (*own).second;
    (*own).second = (*own).third;
    (*own).third = (*own).fourth;
    (*own).fourth = done;
}

/// A polygon of a row, as it is found.
struct Found {
    polygon: u32,
    span: u32,
    flags: u32,
    place: vec4<u32>,
}

/// Where a tile's polygons are at: bits of words that are not done yet, of summaries and of polygons.
struct Walk {
    /// First word of the tile's summaries, how many there are, and how many were begun.
    base: u32,
    count: u32,
    begun: u32,
    summary: u32,
    /// The last word.
    word: u32,
    bits: u32,
}

fn walk(x: u32, y: u32) -> Walk {
    let grid = frame.band;
    return Walk(tile_base(grid, vec2(x, y - frame.first) / TILE), summary_words(grid), 0u, 0u, 0u, 0u);
}

const NONE = 0xffffffffu;

/// The next polygon with pixels from column `x` on; [`NONE`] after the last.
///
/// It is found in a loop of its own: invocations run as vectors, and on a host's processor also through branches that none of them
/// takes. So pixels are drawn as often as some invocation of the vector has a polygon, and not once for each polygon of the tile.
fn next(walk: ptr<function, Walk>, own: ptr<function, Pixels>, x: i32, y: i32) -> Found {
    var found = Found(NONE, 0u, 0u, vec4(0u));
    loop {
        if (*walk).bits == 0u {
            if (*walk).summary == 0u {
                if (*walk).begun == (*walk).count {
                    break;
                }
                (*walk).summary = tiles[(*walk).base + (*walk).begun];
                (*walk).begun++;
            }
            if (*walk).summary != 0u {
                (*walk).word = ((*walk).begun - 1u) * 32u + firstTrailingBit((*walk).summary);
                (*walk).summary &= (*walk).summary - 1u;
                (*walk).bits = tiles[(*walk).base + (*walk).count + (*walk).word];
            }
        }
        if (*walk).bits != 0u {
            let polygon = (*walk).word * 32u + firstTrailingBit((*walk).bits);
            (*walk).bits &= (*walk).bits - 1u;
            let band = polygons[polygon].band;
            let line = u32(y) - band.x;
            if line < band.y {
                let place = spans[band.z + line].place;
                if (place.y & CLEARS) != 0u {
                    clear_marks(own);
                }
                let shown = unpack_halves(place.x);
                if x + i32(PIXELS) > shown.x && x <= shown.y {
                    found = Found(polygon, band.z + line, band.w, place);
                    break;
                }
            }
        }
    }
    return found;
}

fn clear_marks(own: ptr<function, Pixels>) {
    (*own).first.marks = 0u;
    (*own).second.marks = 0u;
    (*own).third.marks = 0u;
    (*own).fourth.marks = 0u;
}

/// Draws the pixels from column `x` on, with the marks that masks left two rows of the console's above or with none.
fn draw_pixels(x: u32, y: u32, keeps_marks: bool) {
    var own: Pixels;
    for (var i = 0u; i < PIXELS; i++) {
        var pixel = clear_pixel(x + i, y);
        if keeps_marks {
            pixel.marks = pixels[pixel_place(x + i, y - 2u * frame.scale)].top.w;
        }
        turn(&own, pixel);
    }
    var walk = walk(x, y);
    loop {
        let found = next(&walk, &own, i32(x), i32(y));
        if found.polygon == NONE {
            break;
        }
        let registers = polygons[found.polygon].registers;
        let row = Row(
            found.span,
            found.flags,
            registers,
            found.place,
            spans[found.span].depth,
            spans[found.span].values,
        );
        for (var i = 0u; i < PIXELS; i++) {
            var pixel = own.first;
            draw_spot(&pixel, row, i32(x + i));
            turn(&own, pixel);
        }
    }
    for (var i = 0u; i < PIXELS; i++) {
        let place = pixel_place(x + i, y);
        let top = own.first.top;
        pixels[place].top = vec4(top.color, top.depth, top.attributes, own.first.marks);
        if (frame.control & ANTIALIASING) != 0u {
            let under = own.first.under;
            pixels[place].under = vec4(under.color, under.depth, under.attributes, own.first.coverage);
        }
        turn(&own, own.first);
    }
}

/// Every pixel of the band by itself; a workgroup has a tile.
@compute @workgroup_size(8 / PIXELS, 8)
fn draw(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x * PIXELS < frame.band.size.x && id.y < frame.band.size.y {
        draw_pixels(id.x * PIXELS, frame.first + id.y, false);
    }
}

/// Columns of the band, each from top to bottom in steps of two rows of the console's: for frames in which marks of
/// masks outlive their row.
@compute @workgroup_size(64 / PIXELS)
fn draw_columns(@builtin(global_invocation_id) id: vec3<u32>) {
    let phases = 2u * frame.scale;
    if id.x * PIXELS >= frame.band.size.x || id.y >= phases {
        return;
    }
    let last = frame.first + frame.band.size.y;
    for (var y = frame.first + (id.y + phases - frame.first % phases) % phases; y < last; y += phases) {
        draw_pixels(id.x * PIXELS, y, y >= phases);
    }
}
