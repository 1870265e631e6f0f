// An invocation encodes a block of 4x4 texels. Blocks are counted along the rows of all slices.

@group(0) @binding(2) var<storage, read> source: array<Texel>;
@group(0) @binding(3) var<storage, read_write> blocks: array<Block>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = (workgroup.y * workgroups.x + workgroup.x) * 64u + local;
    let row = number / picture.blocks.x;
    let at = vec3(number % picture.blocks.x, row % picture.blocks.y, row / picture.blocks.y);
    if at.z < picture.size.z {
        blocks[number] = encoded(at);
    }
}

// Texel `i` of a block. Beyond the edges the last column and row are repeated.
fn texel_at(block: vec3<u32>, i: u32) -> Texel {
    let at = min(4u * block.xy + vec2(i & 3u, i >> 2u), picture.size.xy - 1u);
    return source[(block.z * picture.size.y + at.y) * picture.pitch + at.x];
}
