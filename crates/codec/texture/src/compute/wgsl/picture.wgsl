// One picture, whose workgroups are those of the dispatch.

@group(0) @binding(0) var<uniform> picture: Picture;

fn enter(group: vec3<u32>, groups: vec3<u32>) -> vec3<u32> {
    return group;
}
