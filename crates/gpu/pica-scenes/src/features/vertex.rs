//! Features of the vertex and geometry stages: loading, shading, assembly, clipping, viewport.

use super::mesh::{ATTRIBUTES, Format, Order, Place, Type, packed};
use super::{Feature, SIDE, Scene};
use crate::builder::{Builder, Program, f24};
use xenoglot_pica::regs::*;

pub const FEATURES: &[Feature] = &[
    ("topologies", topologies),
    ("indices", indices),
    ("immediate mode", immediate),
    ("formats of attributes", formats),
    ("fixed attributes", fixed),
    ("output map", output_map),
    ("uniforms", uniforms),
    ("vertex programs", programs),
    ("geometry programs", geometry),
    ("clipping", clipping),
    ("clip plane", clip_plane),
    ("viewport and culling", viewport),
    ("small triangles", small),
    ("shared edges", edges),
];

const UNIFORMS: &str = include_str!("../../shaders/features/uniforms.v.pica");
const CONTROL: &str = include_str!("../../shaders/features/control.v.pica");
const POINTS: &str = include_str!("../../shaders/features/points.v.pica");
const POINT_TO_TRIANGLE: &str = include_str!("../../shaders/features/point_to_triangles.g.pica");
const TRIANGLE_TO_TRIANGLE: &str = include_str!("../../shaders/features/triangle_turned.g.pica");
const FAN: &str = include_str!("../../shaders/features/fan.g.pica");

/// Draws whose last triangles are not complete; the next draw goes on with their vertices.
fn topologies(scene: &mut Scene) {
    scene.draws = 6;
    scene.each = |scene| {
        scene.mesh.count = 1 + scene.rng.below(9);
        if scene.rng.percent(40) {
            let topology = scene.rng.below(3);
            scene.list.write(PRIMITIVES, topology << 8);
        } else if scene.rng.percent(30) {
            scene.list.write(RESTART, 1);
        }
    };
}

fn indices(scene: &mut Scene) {
    scene.mesh.count = 100;
    scene.each = |scene| {
        let count = 3 + scene.rng.below(160);
        let topology = scene.rng.below(3);
        let near = scene.rng.below(90);
        let indices = (0..count).map(|_| (near + scene.rng.below(10)) as u16).collect();
        scene.mesh.order = if scene.rng.percent(50) { Order::Halves(indices) } else { Order::Bytes(indices) };
        scene.list.write(PRIMITIVES, topology << 8);
    };
}

fn immediate(scene: &mut Scene) {
    scene.draws = 5;
    scene.each = |scene| {
        scene.mesh.count = 1 + scene.rng.below(14);
        scene.mesh.order = if scene.rng.percent(70) { Order::Immediate } else { Order::Arrays(0) };
        let topology = scene.rng.below(3);
        if scene.rng.percent(50) {
            scene.list.write(PRIMITIVES, topology << 8);
        }
    };
}

/// Elements of all types in up to three arrays, with gaps; registers in another order.
fn formats(scene: &mut Scene) {
    scene.each = |scene| {
        for number in 0..ATTRIBUTES {
            let (ty, elements) = (scene.one_of(&Type::ALL), 1 + scene.rng.below(4) as usize);
            let format = Format { ty, elements, scale: if ty == Type::F32 { 1.0 } else { 8.0 } };
            // Positions keep four elements; a common scale cancels out when they are divided by w.
            scene.mesh.layout.formats[number] = match number {
                0 if ty == Type::U8 => Format { ty: Type::F32, elements: 4, scale: 1.0 },
                0 => Format { elements: 4, scale: if ty == Type::F32 { 1.0 } else { 40.0 }, ..format },
                _ => format,
            };
        }
        let arrays = 1 + scene.rng.below(3) as usize;
        let mut loaders = vec![Vec::new(); arrays];
        for id in 0..ATTRIBUTES as u32 {
            let array = &mut loaders[scene.rng.below(arrays as u32) as usize];
            if scene.rng.percent(25) {
                array.push(12 + scene.rng.below(4));
            }
            // Any order within an array.
            let place = scene.rng.below(array.len() as u32 + 1) as usize;
            array.insert(place, id);
        }
        scene.mesh.layout.loaders = loaders;
        scene.mesh.layout.padding = scene.rng.below(3) * 4;
        scene.mesh.count = 15;
        scene.mesh.order = Order::Arrays(scene.rng.below(4));
    };
}

fn fixed(scene: &mut Scene) {
    scene.each = |scene| {
        let mask = scene.rng.below(1 << ATTRIBUTES) & !1;
        scene.mesh.layout.fixed = mask;
        for number in (0..ATTRIBUTES as u32).filter(|number| mask >> number & 1 != 0) {
            let value = [(); 4].map(|()| scene.number(-1.0, 1.0));
            scene.list.write(FIXED_ATTRIBUTE, number).write_all(FIXED_ATTRIBUTE_DATA, &packed(value));
        }
    };
}

/// Other meanings of all outputs but the position; registers that attributes go to change places.
fn output_map(scene: &mut Scene) {
    scene.each = |scene| {
        let word = |scene: &mut Scene| {
            let semantic =
                |scene: &mut Scene| scene.one_of(&[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 31]);
            [(); 4].map(|()| semantic(scene)).into_iter().fold(0, |word, semantic| word << 8 | semantic)
        };
        let words = [(); 5].map(|()| word(scene));
        scene.list.write_all(OUTPUT_MAP + 1, &words);
        let mask = scene.rng.below(1 << 5) << 1 | 1;
        let permutation = scene.one_of(&[0x54_3210, 0x23_4510, 0x42_5130]);
        scene.list.write(VERTEX_PERMUTATION, permutation).write(VERTEX_OUTPUT_MASK, mask);
        scene.list.write(OUTPUT_COUNT, mask.count_ones());
    };
}

/// Replaces the program, and the output map with it.
fn program(scene: &mut Scene, source: &str) {
    let mut setup = Builder::new("program");
    setup.list.clear();
    setup.program(&Program::vertex(source));
    scene.list.append(&setup.list);
}

fn uniforms(scene: &mut Scene) {
    program(scene, UNIFORMS);
    scene.each = |scene| {
        let near = |row: usize, column: usize| if row == column { 1.0 } else { 0.0 };
        for row in 0..4 {
            let values = std::array::from_fn(|column| near(row, column) + scene.number(-0.3, 0.3));
            set_uniform(scene, row as u32, values);
        }
        for register in 4..7 {
            let values = [(); 4].map(|()| scene.number(-0.7, 1.2));
            set_uniform(scene, register, values);
        }
    };
}

/// Sets a vector of the vertex unit by one of the two forms.
fn set_uniform(scene: &mut Scene, register: u32, values: [f32; 4]) {
    if scene.rng.percent(50) {
        let [x, y, z, w] = values.map(f32::to_bits);
        scene.list.write(VERTEX_UNIFORM_PORT, register | 1 << 31).stream(VERTEX_UNIFORM_DATA, &[w, z, y, x]);
    } else {
        scene.list.write(VERTEX_UNIFORM_PORT, register).stream(VERTEX_UNIFORM_DATA, &packed(values));
    }
}

fn programs(scene: &mut Scene) {
    program(scene, CONTROL);
    scene.each = |scene| {
        for register in 0..8 {
            let values = [(); 4].map(|()| scene.number(-0.5, 1.0));
            set_uniform(scene, register, values);
        }
        let [rounds, steps] =
            [(); 2].map(|()| scene.rng.below(5) | scene.rng.below(3) << 8 | scene.rng.below(2) << 16);
        let bools = scene.rng.below(8);
        scene.list.write_all(VERTEX_INTS, &[rounds, steps]).write(VERTEX_BOOLS, bools);
    };
}

fn geometry(scene: &mut Scene) {
    let mode = scene.rng.below(3) as usize;
    let source = [POINT_TO_TRIANGLE, TRIANGLE_TO_TRIANGLE, FAN][mode];
    let mut setup = Builder::new("program");
    setup.list.clear();
    setup.program(&Program::geometry(POINTS, source));
    scene.list.append(&setup.list);
    scene.mesh.count = 6 * (1 + scene.rng.below(5));
    if source == FAN {
        scene.each = |scene| {
            let mut indices = Vec::new();
            for _ in 0..1 + scene.rng.below(6) {
                let count = 3 + scene.rng.below(2);
                indices.push(count as u16);
                indices.extend((0..count).map(|_| scene.rng.below(scene.mesh.count) as u16));
            }
            scene.mesh.order = Order::Halves(indices);
        };
    }
}

fn clipping(scene: &mut Scene) {
    scene.draws = 5;
    scene.each = |scene| {
        let far = scene.number(1.0, 8.0);
        scene.mesh.place = Place::Far(far);
        scene.mesh.w = scene.one_of(&[(0.5, 2.0), (-0.1, 0.1), (0.0, 1e-4), (1.0, 100.0)]);
    };
}

fn clip_plane(scene: &mut Scene) {
    clipping(scene);
    let plane = [(); 4].map(|()| scene.number(-1.0, 1.0)).map(f24);
    scene.list.write(CLIP_PLANE_ENABLE, 1).write_all(CLIP_PLANE, &plane);
}

fn viewport(scene: &mut Scene) {
    scene.each = |scene| {
        let [width, height] = [(); 2].map(|()| scene.number(1.0, SIDE as f32 / 2.0));
        let corner = scene.rng.below(SIDE) | scene.rng.below(SIDE) << 16;
        let culling = scene.rng.below(4);
        scene.list.write(VIEWPORT_HALF_WIDTH, f24(width)).write(VIEWPORT_HALF_HEIGHT, f24(height));
        scene.list.write(VIEWPORT_CORNER, corner).write(CULLING, culling);
        // The scissor keeps the viewport's pixels within the buffer.
        scene.list.write_all(SCISSOR_MODE, &[3, 0, (SIDE - 1) | (SIDE - 1) << 16]);
    };
}

fn small(scene: &mut Scene) {
    scene.mesh.place = Place::Small;
    scene.mesh.count = 150;
}

/// Strips and fans of vertices on samples, each pixel blended as often as it is drawn.
fn edges(scene: &mut Scene) {
    scene.mesh.place = Place::Grid;
    scene.mesh.w = (1.0, 1.0);
    scene.list.write(FRAGMENT_MODE, 1 << 8).write(BLENDING, 0x1111_0000);
    scene.each = |scene| {
        let (topology, culling) = (scene.rng.below(3), scene.rng.below(3));
        scene.list.write(PRIMITIVES, topology << 8).write(CULLING, culling);
    };
}
