// A lane for each texel: chroma is brought to where it lies, then one matrix makes RGB of the codes.

struct Channel {
    // Bytes: of the first sample, from a row to the next, from a sample to the next.
    offset: u32,
    pitch: u32,
    step: u32,
    // Bit 0: half the columns; bit 1: half the rows.
    halved: u32,
    // The last column and row.
    last: vec2<u32>,
    padding: vec2<u32>,
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
    linear: u32,
    implicit: u32,
    // Red, green, blue.
    channels: array<Channel, 3>,
    // A row for each of red, green, blue: factors of the codes, and what is added.
    matrix: array<vec4<f32>, 3>,
    // Whether texels are bytes.
    bytes: u32,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> samples: array<u32>;
@group(0) @binding(2) var<storage, read_write> texels: array<u32>;

// Two samples along an axis, and the weight of the second.
struct Taps {
    first: u32,
    second: u32,
    weight: f32,
}

fn byte(at: u32) -> u32 {
    return (samples[at >> 2u] >> (8u * (at & 3u))) & 0xffu;
}

fn code(channel: Channel, x: u32, y: u32) -> f32 {
    let at = channel.offset + y * channel.pitch + x * channel.step;
    var sample = byte(at);
    if job.sample_bytes == 2u {
        sample |= byte(at + 1u) << 8u;
    }
    return f32((sample >> job.shift) & job.mask);
}

fn one(at: u32, last: u32) -> Taps {
    return Taps(min(at, last), min(at, last), 0.0);
}

// Samples at place `at` of an axis with half of them or with all.
fn taps(at: u32, last: u32, halved: bool, midpoint: bool) -> Taps {
    if !halved {
        return one(at, last);
    }
    let odd = (at & 1u) != 0u;
    if job.linear == 0u {
        let up = job.implicit != 0u && !midpoint;
        return one(select(at / 2u, (at + 1u) / 2u, up), last);
    }
    if !midpoint && !odd {
        return one(at / 2u, last);
    }
    // Before the first sample there is the first.
    if midpoint && at == 0u {
        return one(0u, last);
    }
    let first = select(at / 2u - 1u, at / 2u, odd);
    let weight = select(0.5, select(0.75, 0.25, odd), midpoint);
    return Taps(min(first, last), min(first + 1u, last), weight);
}

fn along(channel: Channel, across: Taps, y: u32) -> f32 {
    let left = code(channel, across.first, y);
    if across.weight == 0.0 {
        return left;
    }
    return left + (code(channel, across.second, y) - left) * across.weight;
}

fn sampled(index: u32, x: u32, y: u32) -> f32 {
    let channel = job.channels[index];
    let across = taps(x, channel.last.x, (channel.halved & 1u) != 0u, (job.midpoint & 1u) != 0u);
    let down = taps(y, channel.last.y, (channel.halved & 2u) != 0u, (job.midpoint & 2u) != 0u);
    let upper = along(channel, across, down.first);
    if down.weight == 0.0 {
        return upper;
    }
    return upper * (1.0 - down.weight) + along(channel, across, down.second) * down.weight;
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if any(id.xy >= job.size) {
        return;
    }
    let codes = vec4(sampled(0u, id.x, id.y), sampled(1u, id.x, id.y), sampled(2u, id.x, id.y), 1.0);
    let rgb = vec3(dot(job.matrix[0], codes), dot(job.matrix[1], codes), dot(job.matrix[2], codes));
    let texel = id.y * job.size.x + id.x;
    if job.bytes != 0u {
        let c = vec3<u32>(clamp(rgb * 255.0 + 0.5, vec3(0.0), vec3(255.0)));
        texels[texel] = c.x | (c.y << 8u) | (c.z << 16u) | 0xff000000u;
        return;
    }
    let words = bitcast<vec3<u32>>(rgb);
    texels[4u * texel] = words.x;
    texels[4u * texel + 1u] = words.y;
    texels[4u * texel + 2u] = words.z;
    texels[4u * texel + 3u] = bitcast<u32>(1.0);
}
