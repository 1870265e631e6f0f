// Two texels of a row.
fn emit(at: vec3<u32>, element: u32) {
    let pair = unpacked(element);
    let place = vec3(2u * at.x, at.yz);
    set_texel(place, vec4(pair.x, 0.0, 0.0, 1.0));
    if place.x + 1u < picture.size.x {
        set_texel(place + vec3(1u, 0u, 0u), vec4(pair.y, 0.0, 0.0, 1.0));
    }
}
