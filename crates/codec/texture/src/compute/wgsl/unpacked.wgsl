fn unpacked(element: u32) -> vec2<f32> {
    if SIGNED {
        return unpack2x16snorm(element);
    }
    return unpack2x16unorm(element);
}
