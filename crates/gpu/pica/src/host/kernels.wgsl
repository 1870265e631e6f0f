// What happens to bytes of guest memory on the device, besides drawing. A buffer holds pixels of some bytes each, a word per
// pixel, in the order of guest memory; pixels of four bytes are guest memory itself.

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> target_words: array<u32>;

// Brings bytes from pixels of one size to pixels of another, perhaps elsewhere.
// 0: first pixel, pixels, bytes of a pixel in the target and in the source
// 1: first word of the source, first and last byte (exclusive) that are brought, from the target's start on, and what is
//    added to a byte's place for its place in the source
// 2: whether the source is one pixel that repeats, and that pixel
@compute @workgroup_size(256)
fn convert(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params[0].y {
        return;
    }
    let pixel = params[0].x + id.x;
    let size = params[0].z;
    let source_size = params[0].w;
    var word = target_words[pixel];
    for (var byte = 0u; byte < size; byte++) {
        let at = pixel * size + byte;
        if at >= params[1].y && at < params[1].z {
            let place = at + params[1].w;
            var origin = params[2].y;
            if params[2].x == 0u {
                origin = source[params[1].x + place / source_size];
            }
            let value = origin >> (8u * (place % source_size)) & 0xffu;
            word = word & ~(0xffu << (8u * byte)) | value << (8u * byte);
        }
    }
    target_words[pixel] = word;
}

// Place of a pixel in its tile of 8x8: x0 y0 x1 y1 x2 y2.
fn z_order(x: u32, y: u32) -> u32 {
    return x & 1u | (y & 1u) << 1u | (x & 2u) << 1u | (y & 2u) << 2u | (x & 4u) << 2u | (y & 4u) << 3u;
}

fn widen4(value: u32) -> u32 {
    return (value & 15u) * 17u;
}

fn widen5(value: u32) -> u32 {
    let five = value & 31u;
    return five << 3u | five >> 2u;
}

fn widen6(value: u32) -> u32 {
    let six = value & 63u;
    return six << 2u | six >> 4u;
}

fn pack(r: u32, g: u32, b: u32, a: u32) -> u32 {
    return r | g << 8u | b << 16u | a << 24u;
}

// Decodes a texture to rows of texels, r in the lowest byte.
// 0: width, height, number of the format, tiles in a row
// 1: first word of the target
@compute @workgroup_size(256)
fn texels(@builtin(global_invocation_id) id: vec3<u32>) {
    let width = params[0].x;
    if id.x >= width * params[0].y {
        return;
    }
    let x = id.x % width;
    let y = id.x / width;
    let place = (y / 8u * params[0].w + x / 8u) * 64u + z_order(x % 8u, y % 8u);
    var texel = 0u;
    let format = params[0].z;
    if format < 7u {
        let w = source[place];
        switch format {
            case 0u: { texel = pack(w >> 24u, w >> 16u & 255u, w >> 8u & 255u, w & 255u); }
            case 1u: { texel = pack(w >> 16u & 255u, w >> 8u & 255u, w & 255u, 255u); }
            case 2u: { texel = pack(widen5(w >> 11u), widen5(w >> 6u), widen5(w >> 1u), (w & 1u) * 255u); }
            case 3u: { texel = pack(widen5(w >> 11u), widen6(w >> 5u), widen5(w), 255u); }
            case 4u: { texel = pack(widen4(w >> 12u), widen4(w >> 8u), widen4(w >> 4u), widen4(w)); }
            case 5u: { texel = (w >> 8u & 255u) * 0x10101u | w << 24u; }
            default: { texel = pack(w >> 8u & 255u, w & 255u, 0u, 255u); }
        }
    } else if format < 10u {
        let b = source[place / 4u] >> (place % 4u * 8u) & 255u;
        switch format {
            case 7u: { texel = b * 0x10101u | 0xff000000u; }
            case 8u: { texel = b << 24u; }
            default: { texel = widen4(b >> 4u) * 0x10101u | widen4(b) << 24u; }
        }
    } else {
        let n = widen4(source[place / 8u] >> (place % 8u * 4u));
        texel = n << 24u;
        if format == 10u {
            texel = n * 0x10101u | 0xff000000u;
        }
    }
    target_words[params[1].x + id.x] = texel;
}

// A display transfer.
// 0: width and height of the output, pixels in a row of the input and of the output
// 1: whether the input is tiled, whether the output is, log2 of the scale along x and y
// 2: formats of the input and of the output, whether rows are turned round
fn place(tiled: u32, stride: u32, x: u32, y: u32) -> u32 {
    if tiled == 0u {
        return y * stride + x;
    }
    return (y & 0xfffffff8u) * stride + (x & 0xfffffff8u) * 8u + z_order(x, y);
}

fn unpack(format: u32, w: u32) -> vec4<u32> {
    switch format {
        case 0u: { return vec4<u32>(w >> 24u, w >> 16u & 255u, w >> 8u & 255u, w & 255u); }
        case 1u: { return vec4<u32>(w >> 16u & 255u, w >> 8u & 255u, w & 255u, 255u); }
        case 2u: { return vec4<u32>(widen5(w >> 11u), widen6(w >> 5u), widen5(w), 255u); }
        case 3u: { return vec4<u32>(widen5(w >> 11u), widen5(w >> 6u), widen5(w >> 1u), (w & 1u) * 255u); }
        default: { return vec4<u32>(widen4(w >> 12u), widen4(w >> 8u), widen4(w >> 4u), widen4(w)); }
    }
}

@compute @workgroup_size(256)
fn transfer(@builtin(global_invocation_id) id: vec3<u32>) {
    let width = params[0].x;
    let height = params[0].y;
    if id.x >= width * height {
        return;
    }
    let x = id.x % width;
    let y = id.x / width;
    let scale = params[1].z + params[1].w;
    let origin = place(params[1].x, params[0].z, x << params[1].z, y << params[1].w);
    var sum = vec4<u32>();
    for (var sample = 0u; sample < 1u << scale; sample++) {
        sum += unpack(params[2].x, source[origin + sample]);
    }
    let c = sum >> vec4<u32>(scale);
    var w = 0u;
    switch params[2].y {
        case 0u: { w = c.r << 24u | c.g << 16u | c.b << 8u | c.a; }
        case 1u: { w = c.r << 16u | c.g << 8u | c.b; }
        case 2u: { w = c.r >> 3u << 11u | c.g >> 2u << 5u | c.b >> 3u; }
        case 3u: { w = c.r >> 3u << 11u | c.g >> 3u << 6u | c.b >> 3u << 1u | c.a >> 7u; }
        default: { w = c.r >> 4u << 12u | c.g >> 4u << 8u | c.b >> 4u << 4u | c.a >> 4u; }
    }
    var row = y;
    if params[2].z != 0u {
        row = height - 1u - y;
    }
    target_words[place(params[1].y, params[0].w, x, row)] = w;
}

// A texture copy, in words.
// 0: words, width of a line and gap after it in the source, width of a line in the target
// 1: gap in the target
@compute @workgroup_size(256)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params[0].x {
        return;
    }
    let origin = id.x / params[0].y * (params[0].y + params[0].z) + id.x % params[0].y;
    let to = id.x / params[0].w * (params[0].w + params[1].x) + id.x % params[0].w;
    target_words[to] = source[origin];
}
