// Rows of pixels to a picture that is shown.

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read> levels: array<u32>;
@group(0) @binding(3) var picture: texture_storage_2d_array<rgba8unorm, write>;

// 0: width and height of the picture in samples, pixels from row to row in the source, its format
// 1: whether the right column of the source is the picture's top row, pixels of a row of the source, whether levels are
//    looked up, first word of the source
// 2: samples of a pixel along each axis, words from plane to plane of the source
@compute @workgroup_size(256)
fn present(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = id.xy;
    if at.x >= params[0].x {
        return;
    }
    let samples = params[2].x;
    var place = at;
    if params[1].x != 0u {
        place = vec2<u32>(params[1].y * samples - 1u - at.y, at.x);
    }
    let pixel = place / samples;
    let sample = place % samples;
    var plane = 0u;
    if samples > 1u {
        plane = 1u + sample.y * samples + sample.x;
    }
    let first = params[1].w + plane * params[2].y;
    var c = unpack(params[0].w, source[first + pixel.y * params[0].z + pixel.x]);
    if params[1].z != 0u {
        c = vec4<u32>(levels[c.r] & 255u, (levels[c.g] >> 8u) & 255u, (levels[c.b] >> 16u) & 255u, c.a);
    }
    textureStore(picture, at, 0, vec4<f32>(c) / 255.0);
}
