// Rows of pixels to a picture that is shown.

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read> levels: array<u32>;
@group(0) @binding(3) var picture: texture_storage_2d_array<rgba8unorm, write>;

// 0: width and height of the picture, pixels from row to row in the source, its format
// 1: whether the right column of the source is the picture's top row, pixels of a row of the source, whether levels are
//    looked up, first word of the source
@compute @workgroup_size(256)
fn present(@builtin(global_invocation_id) id: vec3<u32>) {
    let width = params[0].x;
    if id.x >= width * params[0].y {
        return;
    }
    let at = vec2<u32>(id.x % width, id.x / width);
    var place = at;
    if params[1].x != 0u {
        place = vec2<u32>(params[1].y - 1u - at.y, at.x);
    }
    var c = unpack(params[0].w, source[params[1].w + place.y * params[0].z + place.x]);
    if params[1].z != 0u {
        c = vec4<u32>(levels[c.r] & 255u, (levels[c.g] >> 8u) & 255u, (levels[c.b] >> 16u) & 255u, c.a);
    }
    textureStore(picture, at, 0, vec4<f32>(c) / 255.0);
}
