// Programs that move and decode guest memory on the device. A buffer holds pixels of 2, 3 or 4 bytes, a word per pixel, in the
// order of guest memory; the words of pixels of four bytes are those of guest memory. With a scale of n it has 1 + n * n planes
// of them: the guest's own pixels, then each sample of the larger picture, row by row. Invocations in y are planes.

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> target_words: array<u32>;

// Brings bytes from pixels of one size to pixels of another, perhaps elsewhere.
// 0: first pixel, pixels, bytes of a pixel in the target and in the source
// 1: first word of the source, first and last byte (exclusive) that are brought, from the target's start on, and what is
//    added to a byte's place for its place in the source
// 2: whether the source is one pixel that repeats, that pixel, and words from plane to plane of the source and of the target
@compute @workgroup_size(256)
fn convert(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params[0].y {
        return;
    }
    let pixel = params[0].x + id.x;
    let size = params[0].z;
    let source_size = params[0].w;
    let place_of_word = id.y * params[2].w + pixel;
    var word = target_words[place_of_word];
    for (var byte = 0u; byte < size; byte++) {
        let at = pixel * size + byte;
        if at >= params[1].y && at < params[1].z {
            let place = at + params[1].w;
            var stored = params[2].y;
            if params[2].x == 0u {
                stored = source[params[1].x + id.y * params[2].z + place / source_size];
            }
            let value = (stored >> (8u * (place % source_size))) & 0xffu;
            word = (word & ~(0xffu << (8u * byte))) | (value << (8u * byte));
        }
    }
    target_words[place_of_word] = word;
}

fn pack(r: u32, g: u32, b: u32, a: u32) -> u32 {
    return r | (g << 8u) | (b << 16u) | (a << 24u);
}

fn color(c: vec4<u32>) -> u32 {
    return pack(c.r, c.g, c.b, c.a);
}

fn grey(i: u32, a: u32) -> u32 {
    return pack(i, i, i, a);
}

// Decodes a texture to rows of texels, r in the lowest byte.
// 0: width, height, number of the format, tiles in a row
// 1: first word of the target, of the guest's own texels and of the larger version; the scale, and words from plane to plane of
//    the source
@compute @workgroup_size(256)
fn texels(@builtin(global_invocation_id) id: vec3<u32>) {
    let width = params[0].x;
    if id.x >= width * params[0].y {
        return;
    }
    let x = id.x % width;
    let y = id.x / width;
    let place = (y / 8u * params[0].w + x / 8u) * 64u + z_order(x, y);
    let plane = id.y * params[1].w;
    let w = source[plane + place];
    let byte = (source[plane + place / 4u] >> (place % 4u * 8u)) & 255u;
    let nibble = widen4(source[plane + place / 8u] >> (place % 8u * 4u));
    var texel = 0u;
    switch params[0].z {
        case 0u, 1u, 4u: { texel = color(unpack(params[0].z, w)); }
        // Textures number these two the other way round than transfers.
        case 2u: { texel = color(unpack(3u, w)); }
        case 3u: { texel = color(unpack(2u, w)); }
        case 5u: { texel = grey((w >> 8u) & 255u, w & 255u); }
        case 6u: { texel = pack((w >> 8u) & 255u, w & 255u, 0u, 255u); }
        case 7u: { texel = grey(byte, 255u); }
        case 8u: { texel = byte << 24u; }
        case 9u: { texel = grey(widen4(byte >> 4u), widen4(byte)); }
        case 10u: { texel = grey(nibble, 255u); }
        default: { texel = nibble << 24u; }
    }
    if id.y == 0u {
        target_words[params[1].x + id.x] = texel;
    } else {
        let scale = params[1].z;
        let sample = id.y - 1u;
        let row = y * scale + sample / scale;
        target_words[params[1].y + row * width * scale + x * scale + sample % scale] = texel;
    }
}

fn place(tiled: u32, stride: u32, x: u32, y: u32) -> u32 {
    if tiled == 0u {
        return y * stride + x;
    }
    return (y & 0xfffffff8u) * stride + (x & 0xfffffff8u) * 8u + z_order(x, y);
}

// The plane that holds a sample of the picture at scale n; plane 0, the guest's own pixels, stays plane 0.
fn plane_of(plane: u32, n: u32, sample: vec2<u32>) -> u32 {
    if plane == 0u {
        return 0u;
    }
    return 1u + sample.y * n + sample.x;
}

// A display transfer.
// 0: width and height of the output, pixels in a row of the input and of the output
// 1: whether the input is tiled, whether the output is, log2 of the scale along x and y
// 2: formats of the input and of the output, whether rows are turned round, the scale
// 3: words from plane to plane of the input and of the output
//
// Samples of the larger picture are those of the input in the same place: where the output has fewer pixels, each is the mean
// of those nearest to it, as pixels are of pixels.
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
    let samples = params[2].w;
    // Sample of the output's pixel; the guest's own pixels are a picture of one.
    var n = 1u;
    var sample = vec2<u32>();
    if id.y != 0u {
        n = samples;
        sample = vec2<u32>((id.y - 1u) % n, (id.y - 1u) / n);
    }
    var sum = vec4<u32>();
    for (var i = 0u; i < (1u << scale); i++) {
        // Column and row among all samples of the input.
        // Neighbours in memory: in a tile a square.
        var part = vec2<u32>(i, 0u);
        if params[1].x != 0u {
            part = vec2<u32>(i & 1u, i >> 1u);
        }
        let at = ((vec2<u32>(x, y) * n + sample) << params[1].zw) + part;
        let pixel = place(params[1].x, params[0].z, at.x / n, at.y / n);
        sum += unpack(params[2].x, source[plane_of(id.y, n, at % n) * params[3].x + pixel]);
    }
    let c = sum >> vec4<u32>(scale);
    var w = 0u;
    switch params[2].y {
        case 0u: { w = (c.r << 24u) | (c.g << 16u) | (c.b << 8u) | c.a; }
        case 1u: { w = (c.r << 16u) | (c.g << 8u) | c.b; }
        case 2u: { w = ((c.r >> 3u) << 11u) | ((c.g >> 2u) << 5u) | (c.b >> 3u); }
        case 3u: { w = ((c.r >> 3u) << 11u) | ((c.g >> 3u) << 6u) | ((c.b >> 3u) << 1u) | (c.a >> 7u); }
        default: { w = ((c.r >> 4u) << 12u) | ((c.g >> 4u) << 8u) | ((c.b >> 4u) << 4u) | (c.a >> 4u); }
    }
    var row = y;
    if params[2].z != 0u {
        row = height - 1u - y;
        sample.y = n - 1u - sample.y;
    }
    let plane = plane_of(id.y, n, sample) * params[3].y;
    target_words[plane + place(params[1].y, params[0].w, x, row)] = w;
}

// A texture copy, in words.
// 0: words, width of a line and gap after it in the source, width of a line in the target
// 1: gap in the target, words from plane to plane of the source and of the target
@compute @workgroup_size(256)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params[0].x {
        return;
    }
    let read = id.x / params[0].y * (params[0].y + params[0].z) + id.x % params[0].y;
    let written = id.x / params[0].w * (params[0].w + params[1].x) + id.x % params[0].w;
    target_words[id.y * params[1].z + written] = source[id.y * params[1].y + read];
}
