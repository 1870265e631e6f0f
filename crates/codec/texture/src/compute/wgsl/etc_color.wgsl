// The colours of ETC1 and ETC2.

const OPAQUE: u32 = 0xff000000u;

fn extend4(value: vec3<u32>) -> vec3<i32> {
    return vec3<i32>((value & vec3(0xfu)) * 17u);
}

fn extend5(value: vec3<u32>) -> vec3<i32> {
    let low = value & vec3(0x1fu);
    return vec3<i32>((low << vec3(3u)) | (low >> vec3(2u)));
}

fn packed(rgb: vec3<i32>) -> u32 {
    let c = vec3<u32>(clamp(rgb, vec3(0), vec3(255)));
    return c.x | (c.y << 8u) | (c.z << 16u) | OPAQUE;
}

fn is_differential(block: vec2<u32>) -> bool {
    return (block.y & 2u) != 0u;
}

fn first_base(block: vec2<u32>) -> vec3<u32> {
    return vec3(block.y >> 27u, block.y >> 19u, block.y >> 11u) & vec3(0x1fu);
}

// The second base of differential blocks; what is out of range has bit 5.
fn second_base(block: vec2<u32>) -> vec3<u32> {
    let deltas = vec3<i32>(vec3(block.y >> 24u, block.y >> 16u, block.y >> 8u));
    return first_base(block) + vec3<u32>(extractBits(deltas, 0u, 3u));
}

fn individual_base(block: vec2<u32>, half: u32) -> vec3<i32> {
    return extend4(vec3(block.y) >> (vec3(28u, 20u, 12u) - 4u * half));
}

fn differential_base(block: vec2<u32>, half: u32) -> vec3<i32> {
    return extend5(select(first_base(block), second_base(block), half == 1u));
}

fn index_of(block: vec2<u32>, x: u32, y: u32) -> u32 {
    let texel = 4u * x + y;
    return ((block.x >> (15u + texel)) & 2u) | ((block.x >> texel) & 1u);
}

// Which of the halves, side by side or one above the other, a texel is in.
fn half_of(block: vec2<u32>, x: u32, y: u32) -> u32 {
    return select(x, y, (block.y & 1u) != 0u) >> 1u;
}

// A texel of the modes of ETC1.
fn modified(block: vec2<u32>, base: vec3<i32>, x: u32, y: u32, transparent: bool) -> u32 {
    let index = index_of(block, x, y);
    if transparent && index == 2u {
        return 0u;
    }
    let row = (block.y >> (5u - 3u * half_of(block, x, y))) & 7u;
    var distance = i32(tables[MODIFIERS + 2u * row + (index & 1u)]);
    if transparent && index == 0u {
        distance = 0;
    }
    return packed(base + select(distance, -distance, index > 1u));
}

// Texels of the modes T and H.
fn t_mode(block: vec2<u32>, index: u32) -> u32 {
    if index == 0u {
        let red = ((block.y >> 25u) & 0xcu) | ((block.y >> 24u) & 3u);
        return packed(extend4(vec3(red, block.y >> 20u, block.y >> 16u)));
    }
    let distance = i32(tables[DISTANCES + (((block.y >> 1u) & 6u) | (block.y & 1u))]);
    let second = extend4(vec3(block.y >> 12u, block.y >> 8u, block.y >> 4u));
    return packed(second + (2 - i32(index)) * distance);
}

fn h_mode(block: vec2<u32>, index: u32) -> u32 {
    let green = ((block.y >> 23u) & 0xeu) | ((block.y >> 20u) & 1u);
    let blue = ((block.y >> 16u) & 8u) | ((block.y >> 15u) & 7u);
    let first = extend4(vec3(block.y >> 27u, green, blue));
    let second = extend4(vec3(block.y >> 11u, block.y >> 7u, block.y >> 3u));
    let places = vec3(0x10000, 0x100, 1);
    let order = u32(dot(first, places) >= dot(second, places));
    let distance = i32(tables[DISTANCES + ((block.y & 4u) | ((block.y << 1u) & 2u) | order)]);
    return packed(select(first, second, index > 1u) + select(distance, -distance, (index & 1u) != 0u));
}

// A field that lies in one of the words.
fn field(block: vec2<u32>, at: u32, count: u32) -> i32 {
    return i32(extractBits(select(block.x, block.y, at > 31u), at & 31u, count));
}

fn six(value: i32) -> i32 {
    return (value << 2u) | (value >> 4u);
}

fn seven(value: i32) -> i32 {
    return (value << 1u) | (value >> 6u);
}

// A colour at the origin, and those four texels to the right and below.
fn planar(block: vec2<u32>, x: u32, y: u32) -> u32 {
    let origin = vec3(
        six(field(block, 57u, 6u)),
        seven((field(block, 56u, 1u) << 6u) | field(block, 49u, 6u)),
        six((field(block, 48u, 1u) << 5u) | (field(block, 43u, 2u) << 3u) | field(block, 39u, 3u)),
    );
    let right = vec3(
        six((field(block, 34u, 5u) << 1u) | field(block, 32u, 1u)),
        seven(field(block, 25u, 7u)),
        six(field(block, 19u, 6u)),
    );
    let below = vec3(six(field(block, 13u, 6u)), seven(field(block, 6u, 7u)), six(field(block, 0u, 6u)));
    let sum = i32(x) * (right - origin) + i32(y) * (below - origin) + 4 * origin + 2;
    return packed(sum >> vec3(2u));
}

// A texel of ETC2's differential modes. The first component whose second base is out of range tells which it is.
fn differential(block: vec2<u32>, x: u32, y: u32, transparent: bool) -> u32 {
    let out = (second_base(block) & vec3(0x20u)) != vec3(0u);
    let index = index_of(block, x, y);
    if (out.x || out.y) && transparent && index == 2u {
        return 0u;
    }
    if out.x {
        return t_mode(block, index);
    }
    if out.y {
        return h_mode(block, index);
    }
    if out.z {
        return planar(block, x, y);
    }
    return modified(block, differential_base(block, half_of(block, x, y)), x, y, transparent);
}

fn rgb(block: vec2<u32>, x: u32, y: u32) -> u32 {
    if is_differential(block) {
        return differential(block, x, y, false);
    }
    return modified(block, individual_base(block, half_of(block, x, y)), x, y, false);
}
