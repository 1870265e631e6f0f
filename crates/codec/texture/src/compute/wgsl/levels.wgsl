// The levels of a texture in one dispatch: workgroups are counted along the first two axes, level by level.

struct Pictures {
    count: vec4<u32>,
    levels: array<Picture, 16>,
}

@group(0) @binding(0) var<uniform> pictures: Pictures;
var<private> picture: Picture;
var<private> level: u32;

// The place of a workgroup in its level; behind the last level one that has no texels.
fn enter(group: vec3<u32>, groups: vec3<u32>) -> vec3<u32> {
    let number = group.x + group.y * groups.x;
    level = 0u;
    while level + 1u < pictures.count.x && pictures.levels[level + 1u].first_group <= number {
        level += 1u;
    }
    picture = pictures.levels[level];
    let within = number - picture.first_group;
    let row = within / picture.groups.x;
    return vec3(within % picture.groups.x, row % picture.groups.y, row / picture.groups.y);
}
