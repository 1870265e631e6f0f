// What the passes share: buffers, and the records in them. Rust's side of it is `layout.rs`.

// DISP3DCNT.
const HIGHLIGHT = 1u << 1u;
const BLENDING = 1u << 3u;
const ANTIALIASING = 1u << 4u;
const EDGE_MARKING = 1u << 5u;
const FOG_ALPHA_ONLY = 1u << 6u;
const FOG_ENABLED = 1u << 7u;

// Rules, as in `rules.rs`.
const SLOPE_GAPS = 1u << 0u;
const RECORDED_COVERAGE = 1u << 1u;
const LINE_END_POINTS = 1u << 2u;
const COLORS_ONLY = 1u << 30u;
const OVERLAPS_EDGES = 1u << 31u;

/// A frame, and the band of its rows at hand.
struct Frame {
    /// Columns, and rows of the band.
    band: Grid,
    /// Rows kept from the band before: those of two of the console's.
    kept: u32,
    /// The band's first row.
    first: u32,
    /// Rows of the frame.
    height: u32,
    scale: u32,
    /// Rows that are finished: the first, and how many.
    finish_first: u32,
    finish_count: u32,
    control: u32,
    alpha_ref: u32,
    clear_color: u32,
    clear_attributes: u32,
    clear_depth: u32,
    /// Bit 16: there is an image; offsets of column and row in the low bytes.
    clear_image: u32,
    /// What is drawn as consoles do; bit 30: of finished rows only colours are wanted; bit 31: upper edges are drawn over lower
    /// ones in this frame.
    rules: u32,
    fog_color: u32,
    fog_offset: u32,
    fog_shift: u32,
    edge_colors: array<u32, 8>,
    toon: array<u32, 32>,
    fog: array<u32, 34>,
    /// A bit for each span: it is a mask's, which clears the row of the mask.
    clears: array<u32>,
}

// Flags of a polygon: vertices [3:0], place of the top one [7:4] and of the bottom one [11:8].
const FRONT = 1u << 12u;
const W_BUFFERED = 1u << 13u;
const WIREFRAME = 1u << 14u;
const FILLS_EDGES = 1u << 15u;
const SHADOW_MASK = 1u << 16u;
const SHADOW = 1u << 17u;
/// Its own alpha makes nothing translucent.
const OPAQUE = 1u << 18u;

struct Vertex {
    x: i32,
    y: i32,
    w: i32,
    depth: i32,
    /// 9 bits of red, green and blue.
    rgb: u32,
    /// s and t of 16 bits.
    st: u32,
}

/// A polygon. What is read together is a vector: a load costs as much for four words as for one.
struct Polygon {
    /// Its first row in the band, how many it has there, the number of the first one's span, and flags.
    band: vec4<u32>,
    /// POLYGON_ATTR, TEXIMAGE_PARAM, PLTT_BASE, and 0. With a picture in the texture's place, its first word behind texture memory instead
    /// of PLTT_BASE, and its columns [15:0] and rows [31:16].
    registers: vec4<u32>,
    /// Its bitmaps of drawn pixels: first word, words of a row, column of the first bit.
    drawn: vec4<u32>,
    top_y: i32,
    bottom_y: i32,
    vertices: array<Vertex, 10>,
}

// Flags of a span: drawn edges, rows (the bits of a pixel's attributes), mask, interpolation, and by side whether
// coverage rises; levels of coverage [12:8], [20:16]; by side whether it falls from the left, and whether the polygon lies
// below or above the edge; whether it is the polygon's last.
const FILLS_LEFT = 1u << 0u;
const FILLS_RIGHT = 1u << 1u;
const ROW_FLAGS = 12u;
const CLEARS = 1u << 4u;
const LINEAR = 1u << 5u;
const RISING_LEFT = 1u << 6u;
const RISING_RIGHT = 1u << 7u;
const FALLS_LEFT = 1u << 21u;
const FALLS_RIGHT = 1u << 22u;
const UPPER_LEFT = 1u << 23u;
const UPPER_RIGHT = 1u << 24u;
const LOWER_LEFT = 1u << 25u;
const LOWER_RIGHT = 1u << 26u;
const LAST_ROW = 1u << 27u;

/// A polygon's part of a row. Columns are pairs of 16 signed bits.
struct Span {
    /// First and last column that may be drawn; flags; first and last pixel; first after the left edge, first of the right edge.
    place: vec4<u32>,
    /// w of both ends; the reciprocal of its length, for depths; depths of both ends.
    depth: vec4<u32>,
    /// Colours of both ends, then texture coordinates.
    values: vec4<u32>,
    /// Rising coverage by side: of the first pixel [9:0], what each drawn one adds [25:16]. Then the first word of its bitmap of
    /// drawn pixels, and the column of its first bit.
    edges: vec4<u32>,
}

fn pack_halves(first: i32, second: i32) -> u32 {
    return (u32(first) & 0xffffu) | (u32(second) << 16u);
}

fn unpack_halves(columns: u32) -> vec2<i32> {
    return vec2(i32(columns << 16u) >> 16u, i32(columns) >> 16u);
}

// Attributes of a pixel.
const LEFT_EDGE = 1u << 0u;
const RIGHT_EDGE = 1u << 1u;
const TOP_ROW = 1u << 2u;
const BOTTOM_ROW = 1u << 3u;
const BACK = 1u << 4u;
const LOWER_EDGE = 1u << 5u;
const FOG = 1u << 15u;
const TRANSLUCENT = 1u << 22u;
const EDGES = 15u;
const COVERAGE = 31u << 8u;
const TRANSLUCENT_ID = 63u << 16u;
const OPAQUE_ID = 63u << 24u;

struct Layer {
    color: u32,
    depth: u32,
    attributes: u32,
}

/// No coverage to be found.
const SETTLED = 0xffffffffu;

struct Pixel {
    top: Layer,
    under: Layer,
    /// Span and side (bit 0) whose drawn pixels decide about the coverage on top, or `SETTLED`.
    coverage: u32,
    /// Marks of shadow masks after the row.
    marks: u32,
}

/// A pixel in memory, in vectors as what is read and written together is.
struct StoredPixel {
    /// The top layer's colour, depth and attributes; marks.
    top: vec4<u32>,
    /// Those of the layer under it; coverage. Only antialiasing needs them.
    under: vec4<u32>,
}

fn layer(stored: vec4<u32>) -> Layer {
    return Layer(stored.x, stored.y, stored.z);
}

@group(0) @binding(0) var<storage, read> frame: Frame;
@group(0) @binding(1) var<storage, read> polygons: array<Polygon>;
/// Texture memory, palettes, pictures in place of textures.
@group(0) @binding(2) var<storage, read> memory: array<u32>;
@group(0) @binding(3) var<storage, read_write> spans: array<Span>;
/// Bitmaps of the polygons of tiles, then polygons' extents in rows of tiles.
@group(0) @binding(4) var<storage, read_write> tiles: array<u32>;
/// Bitmaps of the pixels of spans that were drawn.
@group(0) @binding(5) var<storage, read_write> drawn: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> pixels: array<StoredPixel>;
/// Colours, depths and attributes of finished rows.
@group(0) @binding(7) var<storage, read_write> finished: array<u32>;

/// Bits of factors above the console's resolution: `interpolate.rs`.
const FINE_BITS = 14u;

fn is_fine() -> bool {
    return frame.scale > 1u;
}

/// Place of a pixel of row `y`, which is in the band or one of the rows kept.
fn pixel_place(x: u32, y: u32) -> u32 {
    return (y + frame.kept - frame.first) * frame.band.size.x + x;
}

/// Bits `[31:0]` of `(a * b) >> shift`, where shift is 1 to 31.
fn multiply_shift(a: u32, b: u32, shift: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let cross = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (middle >> 16u) + (cross >> 16u);
    return (((cross << 16u) | (low & 0xffffu)) >> shift) | (high << (32u - shift));
}

/// `(numerator << bits) / denominator`, where the denominator is below 2^29; 0 if it is 0.
fn divide(numerator: u32, denominator: u32, bits: u32) -> u32 {
    if denominator == 0u {
        return 0u;
    }
    var quotient = numerator / denominator;
    var rest = numerator % denominator;
    var left = bits;
    while left != 0u {
        // Three bits more of a rest below 2^29 fit.
        let count = min(left, 3u);
        rest <<= count;
        quotient = (quotient << count) + rest / denominator;
        rest %= denominator;
        left -= count;
    }
    return quotient;
}

/// 22 bits of the reciprocal of a length that depths are interpolated with.
fn depth_reciprocal(length: i32) -> u32 {
    return ((1u << 30u) / u32(length)) >> 8u;
}

/// A depth of 24 bits between two, at a factor of some bits.
fn w_depth(a: i32, b: i32, factor: i32, bits: u32) -> i32 {
    // In two parts, which fit 32 bits.
    let difference = b - a;
    let low = difference & ((1 << bits) - 1);
    return a + (difference >> bits) * factor + ((low * factor) >> bits);
}

/// `product / divisor` for an `estimate` of the quotient that is off by one at most. Only differences count, so `product` may have lost
/// its upper bits; `divisor` is below 2^30. Integer divisions of vectors are one division after the other on a host's processor.
fn settled(product: u32, divisor: u32, estimate: u32) -> i32 {
    let rest = i32(product - estimate * divisor);
    return i32(estimate) + select(0, 1, rest >= i32(divisor)) - select(0, 1, rest < 0);
}

/// `product / length` for a product below 2^29, a length below 2^14 that is not 0 and `inverse`, which is 1 / length: the estimate is off by
/// three parts in 2^24, and quotients are below 2^17.
fn part(product: i32, length: i32, inverse: f32) -> i32 {
    return settled(u32(product), u32(length), u32(f32(product) * inverse));
}

/// Between two values where w is level; falling ones from the other end.
fn linear_value(a: i32, b: i32, at: i32, length: i32, inverse: f32) -> i32 {
    let rises = a < b;
    return select(b, a, rises) + part(abs(b - a) * select(length - at, at, rises), length, inverse);
}

fn unpack_rgb9(rgb: u32) -> vec3<i32> {
    return vec3<i32>((vec3(rgb) >> vec3(0u, 9u, 18u)) & vec3(511u));
}

fn pack_rgb9(rgb: vec3<i32>) -> u32 {
    return u32(rgb.x) | (u32(rgb.y) << 9u) | (u32(rgb.z) << 18u);
}
