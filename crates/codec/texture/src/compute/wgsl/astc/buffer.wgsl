// Texels into a buffer, in rows: bytes or halves, as the profile says.

@group(0) @binding(3) var<storage, read_write> texels: array<u32>;

fn store(at: vec3<u32>, color: vec4<u32>) {
    let texel = picture.texels_at + (at.z * picture.size.y + at.y) * picture.pitch + at.x;
    if picture.profile < FLOAT16 {
        texels[texel] = color.x | (color.y << 8u) | (color.z << 16u) | (color.w << 24u);
    } else {
        texels[2u * texel] = color.x | (color.y << 16u);
        texels[2u * texel + 1u] = color.z | (color.w << 16u);
    }
}
