fn store(at: vec3<u32>, color: vec4<u32>) {
    emit(at, color.x | (color.y << 8u) | (color.z << 16u) | (color.w << 24u));
}
