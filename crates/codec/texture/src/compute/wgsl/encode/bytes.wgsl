// Texels of RGBA8.

// Loads the texels of a block. Components whose factor in `used` is 0 become 0.
fn load(block: vec3<u32>, used: vec4<f32>) {
    for (var i = 0u; i < 16u; i++) {
        let bytes = (vec4(texel_at(block, i)) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu);
        texels[i] = vec4<f32>(bytes) * used;
    }
}
