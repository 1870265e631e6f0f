fn encoded(at: vec3<u32>) -> Block {
    return color_block(at);
}
