fn encoded(at: vec3<u32>) -> Block {
    return vec4(ramp_block(at, vec4(1.0, 0.0, 0.0, 0.0)), ramp_block(at, vec4(0.0, 1.0, 0.0, 0.0)));
}
