// Colours: texels, what polygons make of them, blending. `texture.rs` and `shade.rs` say why.

fn alpha(color: u32) -> u32 {
    return color >> 24u;
}

fn pack_color(rgb: vec3<u32>, alpha: u32) -> u32 {
    return rgb.x | (rgb.y << 8u) | (rgb.z << 16u) | (alpha << 24u);
}

fn unpack_color(color: u32) -> vec3<u32> {
    return (vec3(color) >> vec3(0u, 8u, 16u)) & vec3(63u);
}

/// RGB555 with 6 bits a channel: 2c + 1, but 0 stays 0.
fn expand(rgb555: u32) -> vec3<u32> {
    let five = (vec3(rgb555) >> vec3(0u, 5u, 10u)) & vec3(31u);
    return select(five * 2u + 1u, vec3(0u), five == vec3(0u));
}

/// `(a * part + b * (whole - part)) >> shift` on red, green and blue, where `whole` is `1 << shift`.
fn mix_color(a: u32, b: u32, part: u32, shift: u32) -> u32 {
    let mixed = (unpack_color(a) * part + unpack_color(b) * ((1u << shift) - part)) >> vec3(shift);
    return pack_color(mixed, 0u);
}

/// A pixel over another; alpha is the larger one, unless nothing is below.
fn blend(color: u32, below: u32) -> u32 {
    if alpha(below) == 0u {
        return color;
    }
    var rgb = color & 0xffffffu;
    if (frame.control & BLENDING) != 0u {
        rgb = mix_color(color, below, alpha(color) + 1u, 5u);
    }
    return rgb | (max(alpha(color), alpha(below)) << 24u);
}

const TEXTURE_BYTES = 0x80000u;
/// Words of texture memory and of the space of palettes.
const MEMORY_WORDS = (TEXTURE_BYTES + 0x20000u) / 4u;
const SLOT1 = 0x20000u;
const SLOT2 = 0x40000u;

fn memory_half(address: u32) -> u32 {
    let at = address & (TEXTURE_BYTES - 1u);
    return extractBits(memory[at >> 2u], (at & 2u) * 8u, 16u);
}

/// The two colours of a palette in the word of a byte address.
fn palette_word(address: u32) -> u32 {
    return memory[(TEXTURE_BYTES + (address & 0x1ffffu)) >> 2u];
}

struct Texel {
    /// 6 bits a channel.
    rgb: vec3<u32>,
    alpha: u32,
}

/// A coordinate in the texture, where an axis has so many units.
fn wrap(coordinate: i32, size: i32, repeats: bool, flips: bool) -> u32 {
    if !repeats {
        return u32(clamp(coordinate, 0, size - 1));
    }
    return u32(select(coordinate, ~coordinate, flips && (coordinate & size) != 0) & (size - 1));
}

/// Both coordinates in a texture, in sixteenths of a texel.
fn wrapped(texture: u32, st: vec2<i32>) -> vec2<u32> {
    let size = vec2<i32>(texture_size(texture) * 16u);
    return vec2(
        wrap(st.x, size.x, extractBits(texture, 16u, 1u) != 0u, extractBits(texture, 18u, 1u) != 0u),
        wrap(st.y, size.y, extractBits(texture, 17u, 1u) != 0u, extractBits(texture, 19u, 1u) != 0u),
    );
}

fn mix_rgb555(a: u32, b: u32, parts: vec2<u32>, shift: u32) -> u32 {
    let places = vec3(0u, 5u, 10u);
    let mixed = (((vec3(a) >> places) & vec3(31u)) * parts.x + ((vec3(b) >> places) & vec3(31u)) * parts.y) >> vec3(shift);
    return mixed.x | (mixed.y << 5u) | (mixed.z << 10u);
}

/// TEXIMAGE_PARAM's format; 0 is none.
fn texture_format(texture: u32) -> u32 {
    return extractBits(texture, 26u, 3u);
}

/// Columns and rows of a texture.
fn texture_size(texture: u32) -> vec2<u32> {
    return vec2(8u) << vec2(extractBits(texture, 20u, 3u), extractBits(texture, 23u, 3u));
}

const COMPRESSED = 5u;
/// By format, in 4 bits each: 2 to the power of this are the bits of a texel.
const TEXEL_BITS = 0x43132130u;

/// The texel at coordinates of 12.4, also of a picture in the texture's place.
///
/// All formats share three loads: on a host's processor a vector of invocations runs through all branches, also those that none takes.
fn fetch(registers: vec4<u32>, st: vec2<i32>) -> Texel {
    let texture = registers.y;
    let format = texture_format(texture);
    let is_compressed = format == COMPRESSED;
    let is_picture = registers.w != 0u;
    let sixteenths = wrapped(texture, st);
    let at = sixteenths >> vec2(4u);
    let width = texture_size(texture).x;
    let log_bits = extractBits(TEXEL_BITS, format * 4u, 4u);
    let base = (texture & 0xffffu) << 3u;

    var bit = (at.y * width + at.x) << log_bits;
    if is_compressed {
        // A byte is a row of a block.
        bit = (((at.y & ~3u) * (width / 4u) + (at.x & ~3u) + (at.y & 3u)) << 3u) + (at.x & 3u) * 2u;
    }
    let address = (base + (bit >> 3u)) & (TEXTURE_BYTES - 1u);
    var word_at = address >> 2u;
    if is_picture {
        let size = vec2(registers.w & 0xffffu, registers.w >> 16u);
        // Of the sixteenths of a texel there are a power of two.
        let place = (sixteenths * size) >> (vec2(7u) + vec2(extractBits(texture, 20u, 3u), extractBits(texture, 23u, 3u)));
        word_at = MEMORY_WORDS + registers.z + place.y * size.x + place.x;
    }
    let word = memory[word_at];
    if is_picture {
        return Texel(unpack_color(word), alpha(word));
    }
    let value = extractBits(word, (address & 3u) * 8u + (bit & 7u), 1u << log_bits);
    if format == 7u {
        return Texel(expand(value), select(0u, 31u, (value & 0x8000u) != 0u));
    }

    // 8 bytes a unit for four colours, 16 for all others.
    var colors = registers.z << select(4u, 3u, format == 2u);
    var index = value;
    var weight = 31u;
    var mode = 0u;
    if is_compressed {
        // Texels in slot 1 read as index 0; slots 2 and 3 have their words in its upper half.
        if address >= SLOT1 && address < SLOT2 {
            index = 0u;
        }
        let upper = select(0u, 0x10000u, address >= SLOT2);
        let block = memory_half(SLOT1 + upper + ((address & 0x1fffcu) >> 1u));
        colors += (block & 0x3fffu) << 2u;
        mode = block >> 14u;
        if index == 3u && (mode & 1u) == mode {
            return Texel(vec3(0u), 0u);
        }
    } else if format == 1u {
        index = value & 31u;
        weight = ((value >> 3u) & 0x1cu) | (value >> 6u);
    } else if format == 6u {
        index = value & 7u;
        weight = value >> 3u;
    } else if value == 0u && extractBits(texture, 29u, 1u) != 0u {
        weight = 0u;
    }
    // Two colours are mixed that are in a word.
    let is_mixed = index >= 2u && (mode & 1u) != 0u;
    let color_at = colors + select(2u * index, 0u, is_mixed);
    let pair = palette_word(color_at);
    var color = pair >> ((color_at & 2u) * 8u);
    if is_mixed && mode == 1u {
        color = mix_rgb555(pair, pair >> 16u, vec2(1u, 1u), 1u);
    } else if is_mixed {
        color = mix_rgb555(pair, pair >> 16u, select(vec2(3u, 5u), vec2(5u, 3u), index == 2u), 3u);
    }
    return Texel(expand(color), weight);
}

/// The toon table's colour of a red of 6 bits.
fn toon(red: u32) -> u32 {
    return frame.toon[extractBits(red, 1u, 5u)];
}

/// Colour of a polygon's pixel from its registers, its vertex colour of 6 bits and its texture coordinates.
fn shade(registers: vec4<u32>, vertex_color: vec3<u32>, st: vec2<i32>) -> u32 {
    let attributes = registers.x;
    let own_alpha = extractBits(attributes, 16u, 5u);
    let mode = extractBits(attributes, 4u, 2u);
    let red = vertex_color.x;
    let highlight = mode == 2u && (frame.control & HIGHLIGHT) != 0u;
    var vertex = vertex_color;
    var light = vec3(0u);
    if mode == 2u {
        let toon = unpack_color(toon(red));
        vertex = select(toon, vec3(red), highlight);
        light = select(vec3(0u), toon, highlight);
    }
    var rgb = vertex;
    var out_alpha = own_alpha;
    if texture_format(registers.y) != 0u {
        let texel = fetch(registers, st);
        if (mode & 1u) == 0u {
            rgb = ((texel.rgb + 1u) * (vertex + 1u) - 1u) >> vec3(6u);
            out_alpha = ((texel.alpha + 1u) * (own_alpha + 1u) - 1u) >> 5u;
        } else if texel.alpha == 31u {
            rgb = texel.rgb;
        } else if texel.alpha != 0u {
            // The weights' sum is 31, the divisor 32.
            rgb = (texel.rgb * texel.alpha + vertex * (31u - texel.alpha)) >> vec3(5u);
        }
    }
    if highlight {
        rgb = min(rgb + light, vec3(63u));
    }
    // Wireframe is opaque.
    return pack_color(rgb, select(out_alpha, 31u, own_alpha == 0u));
}
