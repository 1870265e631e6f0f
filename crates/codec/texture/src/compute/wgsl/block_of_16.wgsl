fn texel_block(texel: vec4<u32>) -> Block {
    return texel;
}
