// Blocks of 4x4 texels: a lane makes an element of the output, so that rows are written in one go and the lanes of a
// block read it together.

@compute @workgroup_size(16, 4)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let id = enter(workgroup, workgroups) * vec3(16u, 4u, 1u) + local;
    let x = id.x * TEXELS;
    if x >= picture.size.x || id.y >= picture.size.y || id.z >= picture.size.z {
        return;
    }
    let block = block_at(vec3(x / 4u, id.y / 4u, id.z));
    emit(id, element(block, x & 3u, id.y & 3u));
}
