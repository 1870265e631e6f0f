//! What becomes of commands before pixels.

use crate::picture::*;
use xenoglot_nds::geometry::polygon::Flags;
use xenoglot_nds::gpu::Gpu;

#[test]
fn depth_mode_is_that_of_the_swap_before() {
    let mut gpu = Gpu::default();
    for (swap, is_w) in [(2, false), (0, true), (0, false)] {
        let mut picture = Picture(gpu, vec![0x60, 255 << 16 | 191 << 24]);
        picture.polygon(attributes(31, 1, 0), WHITE, 0, &SQUARE);
        picture.1.extend([0x50, swap]);
        picture.0.feed(&picture.1);
        picture.0.vblank();
        gpu = picture.0;
        assert_eq!(gpu.polygons().polygons[0].flags.contains(Flags::W_BUFFERED), is_w);
    }
}

/// A triangle's vertices, 20.12 in view of the identity.
const CORNERS: [[i32; 3]; 3] = [[-0x800, -0x800, 0], [0x800, -0x800, 0], [0, 0x800, 0]];

fn vertices(corners: &[[i32; 3]]) -> Vec<u32> {
    let vertex = |&[x, y, z]: &[i32; 3]| [0x23, (x & 0xffff) as u32 | (y as u32) << 16, (z & 0xffff) as u32];
    corners.iter().flat_map(vertex).collect()
}

/// Words run on engines with the whole screen for a viewport, both matrices identity, and both faces drawn.
fn run(words: &[u32]) -> Gpu {
    let mut gpu = Gpu::default();
    let matrices = [0x10, 0, 0x15, 0x10, 1, 0x15, 0x10, 2, 0x15];
    gpu.feed(
        &[[0x60, 255 << 16 | 191 << 24, 0x29, attributes(31, 0, 0)].as_slice(), &matrices, words].concat(),
    );
    gpu
}

#[test]
fn polygon_attributes_count_from_begin_on() {
    let late = [vec![0x40, 0, 0x29, attributes(31, 9, 0)], vertices(&CORNERS)].concat();
    let early = [vec![0x29, attributes(31, 9, 0), 0x40, 0], vertices(&CORNERS)].concat();
    let id = |words: &[u32]| run(words).geometry().building().polygons[0].attributes >> 24;
    assert_eq!((id(&late), id(&early)), (0, 9));
}

#[test]
fn texture_registers_count_when_a_polygon_is_complete() {
    let words = [vec![0x40, 0], vertices(&CORNERS[..2]), vec![0x2a, 77], vertices(&CORNERS[2..])].concat();
    assert_eq!(run(&words).geometry().building().polygons[0].texture, 77);
}

#[test]
fn texture_coordinates_are_transformed_when_their_command_comes() {
    // A texture matrix that doubles; the source is that of TEXCOORD when TEXCOORD comes.
    let double = [0x10, 3, 0x1b, 0x2000, 0x2000, 0x1000, 0x10, 2];
    let texcoord = |source: u32, later: u32| {
        let words = [
            vec![0x10, 3, 0x15],
            double.to_vec(),
            vec![0x2a, source << 30, 0x22, 0x0010_0010, 0x2a, later << 30, 0x40, 0],
            vertices(&CORNERS),
        ];
        run(&words.concat()).geometry().building().vertices[0].texcoord
    };
    assert_eq!(texcoord(0, 1), [0x10; 2]);
    assert_eq!(texcoord(1, 0), [0x20; 2]);
}

#[test]
fn position_and_vector_matrix_move_together_in_mode_2_alone() {
    let matrices = |mode: u32, command: &[u32]| {
        let mut gpu = run(&[&[0x10, mode], command].concat());
        let read = gpu.readback();
        (read.clip_matrix[0], read.vector_matrix[0])
    };
    let load = [&[0x16u32, 0x3000][..], &[0; 15]].concat();
    assert_eq!(matrices(1, &load), (0x3000, 0x1000));
    assert_eq!(matrices(2, &load), (0x3000, 0x3000));
    // SCALE leaves the vector matrix alone in either.
    assert_eq!(matrices(2, &[0x1b, 0x2000, 0x1000, 0x1000]), (0x2000, 0x1000));
    // Stacks hold both in either.
    assert_eq!(matrices(1, &[&[0x11, 0x10, 2][..], &load, &[0x10, 1, 0x12, 1]].concat()), (0x1000, 0x1000));
}

#[test]
fn a_position_test_is_the_vertex_that_others_build_on() {
    // VTX_XY keeps the z of the vertex before; that is the test's.
    let words = [0x71, 0x0100_0100, 0x0400, 0x40, 0];
    let xy = |&[x, y, _]: &[i32; 3]| [0x25, (x & 0xffff) as u32 | (y as u32) << 16];
    let all = [words.to_vec(), CORNERS.iter().flat_map(xy).collect()].concat();
    assert!(run(&all).geometry().building().vertices.iter().all(|v| v.position[2] == 0x400));
}

#[test]
fn a_box_around_the_whole_view_is_not_seen() {
    let seen = |low: i32, size: i32, clips: bool| {
        let pair = |a: i32, b: i32| (a & 0xffff) as u32 | (b as u32) << 16;
        let words = [
            vec![0x29, attributes(31, 0, u32::from(clips) << 12), 0x40, 0, 0x70],
            vec![pair(low, low), pair(low, size), pair(size, size)],
        ];
        run(&words.concat()).readback().status >> 1 & 1 != 0
    };
    assert!(seen(-0x800, 0x1000, false));
    // Each of its faces is outside.
    assert!(!seen(-0x2000, 0x4000, true));
    // A corner behind the far plane drops the faces that have it, unless polygons are clipped there.
    assert!(seen(0x800, 0x1000, true));
}

#[test]
fn polygons_seen_from_the_edge_are_fronts_and_never_culled() {
    let flat = [[-0x800, 0, 0], [0, 0, 0], [0x800, 0, 0]];
    let words = [vec![0x29, 31 << 16, 0x40, 0], vertices(&flat), vertices(&CORNERS)].concat();
    let gpu = run(&words);
    let polygons = &gpu.geometry().building().polygons;
    assert_eq!(polygons.len(), 1);
    assert!(polygons[0].flags.contains(Flags::FRONT));
}

#[test]
fn crossed_quads_face_where_their_first_corner_does() {
    let corners = [[-0x800, -0x800, 0], [0x800, -0x800, 0], [0x800, 0x800, 0], [-0x800, 0x800, 0]];
    let is_front = |order: [usize; 4]| {
        let gpu = run(&[vec![0x40, 1], vertices(&order.map(|i| corners[i]))].concat());
        gpu.geometry().building().polygons[0].flags.contains(Flags::FRONT)
    };
    // The same bow from another corner on: half of it is a back, whichever is said.
    assert!(is_front([0, 1, 2, 3]) && !is_front([3, 2, 1, 0]));
    assert!(
        is_front([0, 1, 3, 2]) != is_front([3, 2, 0, 1]) || is_front([0, 1, 3, 2]) != is_front([1, 3, 2, 0])
    );
}

#[test]
fn clipped_colors_fall_back_to_five_bits() {
    // Black to white through the left plane, half way.
    let words = [
        vec![0x40, 0, 0x20, 0],
        vertices(&[[-0x2000, -0x800, 0]]),
        vec![0x20, 0x7fff],
        vertices(&[[0, -0x800, 0], [0, 0x800, 0]]),
    ];
    let gpu = run(&words.concat());
    let building = gpu.geometry().building();
    assert_eq!(building.vertices.len(), 4);
    for vertex in building.vertices.iter().filter(|v| v.clipped) {
        assert!(vertex.color.iter().all(|c| [15, 16].contains(c)));
        assert!(vertex.color9().iter().all(|c| c % 16 == 15));
    }
}

#[test]
fn strips_share_vertices_only_with_a_whole_polygon_before() {
    let strip = |corners: &[[i32; 3]]| {
        let gpu = run(&[vec![0x40, 2], vertices(corners)].concat());
        let building = gpu.geometry().building();
        (building.polygons.len(), building.vertices.len())
    };
    let inside = [[-0x800, -0x800, 0], [-0x800, 0x800, 0], [0, -0x800, 0], [0, 0x800, 0]];
    assert_eq!(strip(&inside), (2, 4));
    // The first polygon is clipped: the second one has three vertices of its own.
    let mut clipped = inside;
    clipped[0][0] = -0x2000;
    assert_eq!(strip(&clipped), (2, 4 + 3));
}

#[test]
fn what_does_not_fit_is_dropped_and_says_so() {
    let mut gpu = run(&[0x40, 0]);
    let triangle = vertices(&CORNERS);
    for _ in 0..2048 {
        gpu.feed(&triangle);
    }
    assert_eq!((gpu.geometry().building().polygons.len(), gpu.control() >> 13), (2048, 0));
    gpu.feed(&triangle);
    assert_eq!((gpu.geometry().building().polygons.len(), gpu.control() >> 13), (2048, 1));
    gpu.write_control(1 << 13);
    assert_eq!(gpu.control() >> 13, 0);
}

#[test]
fn far_polygons_of_one_pixel_are_dropped_by_w() {
    let kept = |depth: u16, draws: u32| {
        let mut gpu = Gpu::default();
        let registers = xenoglot_nds::registers::Registers { one_dot_depth: depth, ..Default::default() };
        gpu.set_registers(registers);
        // w is 4096 for all of them.
        let words = [0x60, 255 << 16 | 191 << 24, 0x10, 0, 0x15, 0x10, 2, 0x15, 0x29];
        let tiny = [[0, 0, 0], [1, 0, 0], [0, -1, 0]];
        gpu.feed(&[&words[..], &[attributes(31, 0, draws << 13), 0x40, 0], &vertices(&tiny)].concat());
        gpu.geometry().building().polygons.len()
    };
    // Kept up to depth * 0x200 + 0x1ff.
    assert_eq!((kept(8, 0), kept(7, 0), kept(7, 1)), (1, 0, 1));
}

#[test]
fn manual_sorting_is_of_translucent_polygons_alone() {
    let order = |manual: u32| {
        let mut words = vec![];
        for (alpha, low) in [(15, 0x400), (31, -0x800), (15, -0x800), (31, 0x400)] {
            // Rows from the top: what is lower on the screen is drawn later.
            let corners = [[-0x800, low, 0], [0x800, low, 0], [0, 0x900, 0]];
            words.extend([0x29, attributes(alpha, 1, 0), 0x40, 0]);
            words.extend(vertices(&corners));
        }
        words.extend([0x50, manual]);
        let mut gpu = run(&words);
        gpu.vblank();
        gpu.polygons().order.clone()
    };
    assert_eq!(order(0), [3, 1, 0, 2]);
    let manual = order(1);
    assert_eq!(manual, [3, 1, 0, 2]);
    // Submitted the other way round, only the opaque ones are sorted.
    let mut words = vec![];
    for (alpha, low) in [(15, -0x800), (31, -0x800), (15, 0x400), (31, 0x400)] {
        words.extend([0x29, attributes(alpha, 1, 0), 0x40, 0]);
        words.extend(vertices(&[[-0x800, low, 0], [0x800, low, 0], [0, 0x900, 0]]));
    }
    words.extend([0x50, 1]);
    let mut gpu = run(&words);
    gpu.vblank();
    assert_eq!(gpu.polygons().order, [3, 1, 0, 2]);
}

#[test]
fn depths_of_w_lose_low_bits() {
    let mut gpu = run(&[0x50, 2]);
    gpu.vblank();
    // w of 0x12345 has 17 bits, so that normalised it keeps all but the lowest four.
    let words = [0x10, 0, 0x16, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x12345, 0x40, 0];
    gpu.feed(&[words.as_slice(), &vertices(&CORNERS)].concat());
    let polygon = &gpu.geometry().building().polygons[0];
    assert_eq!((polygon.w_shift, polygon.w[0], polygon.depth[0]), (-4, 0x1234, 0x12340));
}

#[test]
fn depths_of_z_are_cut_to_steps() {
    let depth = |z: i32| {
        let corners = CORNERS.map(|[x, y, _]| [x, y, z]);
        let words = [vec![0x40, 0], vertices(&corners)].concat();
        run(&words).geometry().building().polygons[0].depth[0]
    };
    // (z * 0x4000 / w + 0x3fff) * 0x200, from 0 on.
    assert_eq!([depth(0), depth(0x1000), depth(-0x1000)], [0x3fff * 0x200, 0x7fff * 0x200, 0]);
    assert_eq!(depth(1), (4 + 0x3fff) * 0x200);
}

#[test]
fn light_vectors_are_transformed_when_they_come() {
    // A light along z; then the vector matrix turns it away.
    let turned = [0x1000i32, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, -0x1000, 0, 0, 0, 0, 0x1000].map(|v| v as u32);
    let light = |first: bool| {
        let set = [0x32u32, 0x200 << 20];
        let material = [0x30, 31, 0x31, 0, 0x33, 0x7fff, 0x29, attributes(31, 0, 1), 0x40, 0];
        let turn = [&[0x10u32, 2, 0x16][..], &turned].concat();
        let (before, after) = if first { (&set[..], &[][..]) } else { (&[][..], &set[..]) };
        // A normal against the light as it was sent first.
        let words = [before, &turn, after, &material, &[0x21, 0x200 << 20], &vertices(&CORNERS)].concat();
        run(&words).geometry().building().vertices[0].color[0]
    };
    assert!(light(true) != light(false));
}
