// Fills the pixels of a picture, a workgroup 64 of a row, with a word.

struct Clear {
    columns: u32,
    stride: u32,
    value: u32,
}

@group(0) @binding(0) var<storage, read> clear: Clear;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) place: vec3<u32>) {
    if place.x < clear.columns {
        words[place.y * clear.stride + place.x] = clear.value;
    }
}
