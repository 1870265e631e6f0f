fn emit(at: vec3<u32>, element: u32) {
    set_texel(at, unpack4x8unorm(element));
}
