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

fn memory_byte(address: u32) -> u32 {
    let at = address & (TEXTURE_BYTES - 1u);
    return extractBits(memory[at >> 2u], (at & 3u) * 8u, 8u);
}

fn memory_half(address: u32) -> u32 {
    let at = address & (TEXTURE_BYTES - 1u);
    return extractBits(memory[at >> 2u], (at & 2u) * 8u, 16u);
}

/// A colour of a palette by byte address.
fn palette_color(address: u32) -> u32 {
    let at = address & 0x1ffffu;
    return extractBits(memory[(TEXTURE_BYTES + at) >> 2u], (at & 2u) * 8u, 16u);
}

struct Texel {
    /// RGB555; bit 15 may be anything.
    color: u32,
    alpha: u32,
}

/// A coordinate in the texture, where an axis has so many units.
fn wrap(coordinate: i32, size: i32, repeats: bool, flips: bool) -> u32 {
    if !repeats {
        return u32(clamp(coordinate, 0, size - 1));
    }
    return u32(select(coordinate, ~coordinate, flips && (coordinate & size) != 0) & (size - 1));
}

/// Both coordinates in a texture, where a texel has so many units, a power of two.
fn wrapped(texture: u32, st: vec2<i32>, units: u32) -> vec2<u32> {
    let size = vec2<i32>(texture_size(texture) * units);
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

fn compressed_texel(base: u32, width: u32, palette: u32, s: u32, t: u32) -> Texel {
    // A byte is a row of a block.
    let row = (base + (t & ~3u) * (width / 4u) + (s & ~3u) + (t & 3u)) & (TEXTURE_BYTES - 1u);
    // Texels in slot 1 read as index 0; slots 2 and 3 have their words in its upper half.
    var index = extractBits(memory_byte(row), (s & 3u) * 2u, 2u);
    if row >= SLOT1 && row < SLOT2 {
        index = 0u;
    }
    let upper = select(0u, 0x10000u, row >= SLOT2);
    let word = memory_half(SLOT1 + upper + ((row & 0x1fffcu) >> 1u));
    let colors = palette + ((word & 0x3fffu) << 2u);
    let mode = word >> 14u;
    if index < 2u || (index == 2u && (mode & 1u) == 0u) || (index == 3u && mode == 2u) {
        return Texel(palette_color(colors + 2u * index), 31u);
    }
    let first = palette_color(colors);
    let second = palette_color(colors + 2u);
    if index == 2u && mode == 1u {
        return Texel(mix_rgb555(first, second, vec2(1u, 1u), 1u), 31u);
    }
    if mode == 3u {
        return Texel(mix_rgb555(first, second, select(vec2(3u, 5u), vec2(5u, 3u), index == 2u), 3u), 31u);
    }
    return Texel(0u, 0u);
}

/// TEXIMAGE_PARAM's format; 0 is none.
fn texture_format(texture: u32) -> u32 {
    return extractBits(texture, 26u, 3u);
}

/// Columns and rows of a texture.
fn texture_size(texture: u32) -> vec2<u32> {
    return vec2(8u) << vec2(extractBits(texture, 20u, 3u), extractBits(texture, 23u, 3u));
}

/// The colour of 6 bits a channel and the alpha that a picture of some size in a polygon's texture's place has at coordinates of 12.4.
fn picture_color(polygon: u32, texture: u32, packed_size: u32, st: vec2<i32>) -> u32 {
    let size = vec2(packed_size & 0xffffu, packed_size >> 16u);
    let at = wrapped(texture, st, 16u);
    // Of the sixteenths of a texel there are a power of two.
    let place = (at * size) >> (vec2(7u) + vec2(extractBits(texture, 20u, 3u), extractBits(texture, 23u, 3u)));
    return memory[MEMORY_WORDS + polygons[polygon].drawn.w + place.y * size.x + place.x];
}

fn fetch(texture: u32, pltt_base: u32, st: vec2<i32>) -> Texel {
    let format = texture_format(texture);
    let width = texture_size(texture).x;
    let at = wrapped(texture, st >> vec2(4u), 1u);
    let s = at.x;
    let t = at.y;
    let base = (texture & 0xffffu) << 3u;
    // 8 bytes a unit for four colours, 16 for all others.
    let palette = pltt_base << select(4u, 3u, format == 2u);
    let place = t * width + s;
    var index = 0u;
    switch format {
        case 1u: {
            let byte = memory_byte(base + place);
            return Texel(palette_color(palette + 2u * (byte & 31u)), ((byte >> 3u) & 0x1cu) | (byte >> 6u));
        }
        case 2u: {
            index = extractBits(memory_byte(base + place / 4u), (place & 3u) * 2u, 2u);
        }
        case 3u: {
            index = extractBits(memory_byte(base + place / 2u), (place & 1u) * 4u, 4u);
        }
        case 4u: {
            index = memory_byte(base + place);
        }
        case 5u: {
            return compressed_texel(base, width, palette, s, t);
        }
        case 6u: {
            let byte = memory_byte(base + place);
            return Texel(palette_color(palette + 2u * (byte & 7u)), byte >> 3u);
        }
        case 7u: {
            let color = memory_half(base + 2u * place);
            return Texel(color, select(0u, 31u, (color & 0x8000u) != 0u));
        }
        default: {
            return Texel(0u, 0u);
        }
    }
    let alpha0 = select(31u, 0u, extractBits(texture, 29u, 1u) != 0u);
    return Texel(palette_color(palette + 2u * index), select(31u, alpha0, index == 0u));
}

/// The toon table's colour of a red of 6 bits.
fn toon(red: u32) -> u32 {
    return frame.toon[extractBits(red, 1u, 5u)];
}

/// Colour of a polygon's pixel from its registers, its vertex colour of 6 bits and its texture coordinates.
fn shade(polygon: u32, registers: vec4<u32>, vertex_color: vec3<u32>, st: vec2<i32>) -> u32 {
    let attributes = registers.x;
    let texture = registers.y;
    let own_alpha = extractBits(attributes, 16u, 5u);
    let mode = extractBits(attributes, 4u, 2u);
    let red = vertex_color.x;
    let highlight = mode == 2u && (frame.control & HIGHLIGHT) != 0u;
    var vertex = vertex_color;
    if highlight {
        vertex = vec3(red);
    } else if mode == 2u {
        vertex = unpack_color(toon(red));
    }
    var rgb = vertex;
    var out_alpha = own_alpha;
    if texture_format(texture) != 0u {
        var color: vec3<u32>;
        var weight: u32;
        if registers.w == 0u {
            let texel = fetch(texture, registers.z, st);
            color = expand(texel.color);
            weight = texel.alpha;
        } else {
            let picture = picture_color(polygon, texture, registers.w, st);
            color = unpack_color(picture);
            weight = alpha(picture);
        }
        if (mode & 1u) == 0u {
            rgb = ((color + 1u) * (vertex + 1u) - 1u) >> vec3(6u);
            out_alpha = ((weight + 1u) * (own_alpha + 1u) - 1u) >> 5u;
        } else if weight == 31u {
            rgb = color;
        } else if weight != 0u {
            // The weights' sum is 31, the divisor 32.
            rgb = (color * weight + vertex * (31u - weight)) >> vec3(5u);
        }
    }
    if highlight {
        rgb = min(rgb + unpack_color(toon(red)), vec3(63u));
    }
    // Wireframe is opaque.
    return pack_color(rgb, select(out_alpha, 31u, own_alpha == 0u));
}
