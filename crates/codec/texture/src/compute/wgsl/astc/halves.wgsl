fn store(at: vec3<u32>, color: vec4<u32>) {
    emit(at, vec2(color.x | (color.y << 16u), color.z | (color.w << 16u)));
}
