fn encoded(at: vec3<u32>) -> Block {
    return ramp_block(at, vec4(1.0, 0.0, 0.0, 0.0));
}
