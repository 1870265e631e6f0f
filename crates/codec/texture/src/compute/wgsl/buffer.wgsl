// Elements into a buffer, in rows.

@group(0) @binding(3) var<storage, read_write> texels: array<Element>;

fn emit(at: vec3<u32>, element: Element) {
    texels[picture.texels_at + (at.z * picture.size.y + at.y) * picture.pitch + at.x] = element;
}
