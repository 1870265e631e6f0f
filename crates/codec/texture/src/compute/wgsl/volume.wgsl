// Texels into a volume.

fn set_texel(at: vec3<u32>, color: vec4<f32>) {
    textureStore(texels, at, color);
}
