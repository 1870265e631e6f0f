fn emit(at: vec3<u32>, element: u32) {
    set_texel(at, vec4(unpacked(element), 0.0, 1.0));
}
