fn emit(at: vec3<u32>, element: vec2<u32>) {
    set_texel(at, vec4(unpack2x16float(element.x), unpack2x16float(element.y)));
}
