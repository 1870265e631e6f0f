// Blocks of 4x4 texels: a lane makes an element of the output, so that rows are written in one go and the lanes of a
// block read it together.

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= picture.pitch || id.y >= picture.size.y {
        return;
    }
    let x = id.x * TEXELS;
    let row = id.z * picture.blocks.y + id.y / 4u;
    let block = blocks[row * picture.blocks.x + x / 4u];
    emit(id, element(block, x & 3u, id.y & 3u));
}
