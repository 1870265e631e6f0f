// A lane for each texel: chroma is brought to where it lies, then one matrix makes colours of the codes.

struct Channel {
    // Bytes: where the plane begins, and from a row to the next.
    base: u32,
    pitch: u32,
    // Of the first sample in a row, and from a sample to the next: bytes, but for tens samples of the row.
    offset: u32,
    step: u32,
    // Luma samples to a sample along x and y.
    factors: vec2<u32>,
    // The last column and row.
    last: vec2<u32>,
    // 0: bytes or words; 1: tens, three of ten bits to a word of 32; 2: the two highest bits of bytes.
    packing: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

struct Job {
    // Width and height in texels.
    size: vec2<u32>,
    sample_bytes: u32,
    // A code is a sample shifted down and masked.
    shift: u32,
    mask: u32,
    // Bit 0: samples lie at midpoints along x; bit 1: along y.
    midpoint: u32,
    // 0: nearest, 1: linear, 2: cubic.
    filter_: u32,
    implicit: u32,
    // Cr, luma, Cb, alpha.
    channels: array<Channel, 4>,
    // Rows for red, green, blue and alpha: factors of the codes; and what is added.
    matrix: array<vec4<f32>, 4>,
    added: vec4<f32>,
    // Whether texels are bytes.
    bytes: u32,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> samples: array<u32>;
@group(0) @binding(2) var<storage, read_write> texels: array<u32>;

// Samples along an axis: the first, and weights of it and the three behind it.
struct Taps {
    first: i32,
    weights: vec4<f32>,
}

fn byte(at: u32) -> u32 {
    return (samples[at >> 2u] >> (8u * (at & 3u))) & 0xffu;
}

fn word(at: u32) -> u32 {
    return byte(at) | (byte(at + 1u) << 8u);
}

fn code(channel: Channel, x: u32, y: u32) -> f32 {
    let row = channel.base + y * channel.pitch;
    let place = channel.offset + x * channel.step;
    if channel.packing == 1u {
        let at = row + place / 3u * 4u;
        return f32(((word(at) | (word(at + 2u) << 16u)) >> (10u * (place % 3u))) & 0x3ffu);
    }
    if channel.packing == 2u {
        return f32(byte(row + place) >> 6u);
    }
    var sample = byte(row + place);
    if job.sample_bytes == 2u {
        sample = word(row + place);
    }
    return f32((sample >> job.shift) & job.mask);
}

fn one(at: i32) -> Taps {
    return Taps(at, vec4(1.0, 0.0, 0.0, 0.0));
}

// Samples of chroma for luma at place `at`, of which `factor` have a sample.
fn taps(at: u32, factor: u32, midpoint: bool) -> Taps {
    let group = i32(at / factor);
    if factor == 1u || (job.filter_ == 0u && job.implicit == 0u) {
        return one(group);
    }
    // From the group's sample, in samples.
    let phase = f32(at % factor);
    let place = select(phase / f32(factor), (phase + 0.5) / f32(factor) - 0.5, midpoint);
    if job.filter_ == 0u {
        return one(group + i32(floor(place + 0.5)));
    }
    let first = group + i32(floor(place));
    let t = place - floor(place);
    if job.filter_ == 1u {
        return Taps(first, vec4(1.0 - t, t, 0.0, 0.0));
    }
    let squared = t * t;
    let cubed = squared * t;
    return Taps(first - 1, 0.5 * vec4(
        -t + 2.0 * squared - cubed,
        2.0 - 5.0 * squared + 3.0 * cubed,
        t + 4.0 * squared - 3.0 * cubed,
        cubed - squared,
    ));
}

fn clamped(at: i32, last: u32) -> u32 {
    return min(u32(max(at, 0)), last);
}

fn sampled(index: u32, x: u32, y: u32) -> f32 {
    let channel = job.channels[index];
    let across = taps(x, channel.factors.x, (job.midpoint & 1u) != 0u);
    let down = taps(y, channel.factors.y, (job.midpoint & 2u) != 0u);
    var sum = 0.0;
    for (var j = 0; j < 4; j++) {
        if down.weights[j] == 0.0 {
            continue;
        }
        let row = clamped(down.first + j, channel.last.y);
        var of_row = 0.0;
        for (var i = 0; i < 4; i++) {
            if across.weights[i] != 0.0 {
                of_row += across.weights[i] * code(channel, clamped(across.first + i, channel.last.x), row);
            }
        }
        sum += down.weights[j] * of_row;
    }
    return sum;
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if any(id.xy >= job.size) {
        return;
    }
    let codes = vec4(
        sampled(0u, id.x, id.y),
        sampled(1u, id.x, id.y),
        sampled(2u, id.x, id.y),
        sampled(3u, id.x, id.y),
    );
    let m = job.matrix;
    let rgba = vec4(dot(m[0], codes), dot(m[1], codes), dot(m[2], codes), dot(m[3], codes)) + job.added;
    let texel = id.y * job.size.x + id.x;
    if job.bytes != 0u {
        let c = vec4<u32>(clamp(rgba * 255.0 + 0.5, vec4(0.0), vec4(255.0)));
        texels[texel] = c.x | (c.y << 8u) | (c.z << 16u) | (c.w << 24u);
        return;
    }
    let words = bitcast<vec4<u32>>(rgba);
    texels[4u * texel] = words.x;
    texels[4u * texel + 1u] = words.y;
    texels[4u * texel + 2u] = words.z;
    texels[4u * texel + 3u] = words.w;
}
