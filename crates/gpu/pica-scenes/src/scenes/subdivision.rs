//! A coarse ring, and what a step of Loop's subdivision makes of it.

use crate::Run;
use crate::builder::{Builder, Program};
use crate::math::{look, perspective};
use crate::mesh::{Mesh, Vertex, torus};
use glam::{Mat4, Vec3};

const COLUMNS: u16 = 9;
const ROWS: u16 = 5;

/// The vertex at a place of the ring, which closes both ways.
fn index(column: u16, row: u16) -> u16 {
    row % ROWS * COLUMNS + column % COLUMNS
}

/// Neighbours of a vertex, counter-clockwise seen from outside.
fn neighbours(vertex: u16) -> [u16; 6] {
    let (left, below) = (COLUMNS - 1, ROWS - 1);
    let steps = [(1, 0), (1, 1), (0, 1), (left, 0), (left, below), (0, below)];
    steps.map(|(i, j)| index(vertex % COLUMNS + i, vertex / COLUMNS + j))
}

/// Neighbours of a corner of a triangle beside the other corners, from the one before it (`previous`) on.
fn beyond(corner: u16, previous: u16) -> impl Iterator<Item = u16> {
    let all = neighbours(corner);
    let at = all.iter().position(|&n| n == previous).expect("corners are neighbours");
    (1..5).map(move |n| all[(at + n) % 6])
}

/// A primitive: how many vertices, the triangle, and the ten around it.
fn primitive([a, b, c]: [u16; 3]) -> Vec<u16> {
    let ring = beyond(b, a).take(3).chain(beyond(c, b).take(3)).chain(beyond(a, c));
    [13, a, b, c].into_iter().chain(ring).collect()
}

pub fn make(b: &mut Builder, run: &Run) {
    let smooth = torus(1.5, 0.75, COLUMNS, ROWS);
    // Without the seams, which have two vertices at each place.
    let vertex = |n: u16| {
        let at = n / COLUMNS * (COLUMNS + 1) + n % COLUMNS;
        let color = if (n % COLUMNS).is_multiple_of(3) {
            Vec3::new(0.95, 0.6, 0.2)
        } else {
            Vec3::new(0.3, 0.6, 0.9)
        };
        Vertex { color, ..smooth.vertices[usize::from(at)] }
    };
    let vertices: Vec<Vertex> = (0..COLUMNS * ROWS).map(vertex).collect();
    let triangles = (0..COLUMNS * ROWS).flat_map(|n| {
        let [right, above_right, above, ..] = neighbours(n);
        [[n, right, above_right], [n, above_right, above]]
    });
    let indices: Vec<u16> = triangles.flat_map(primitive).collect();
    let vertices = b.vertices(Mesh { vertices, indices: Vec::new() }.colored());
    let indices = b.indices(&indices);

    let program = Program::geometry(
        include_str!("../../shaders/view.v.pica"),
        include_str!("../../shaders/loop.g.pica"),
    );
    b.program(&program);
    let unit = program.geometry.as_ref().expect("a geometry shader");
    unit.set_matrix(&mut b.list, "projection", &perspective(40.0, 1.0, 30.0));
    unit.set(&mut b.list, "light", &[Vec3::new(0.4, 0.65, 0.65).normalize().extend(0.0)]);
    // Loops of four over the ring: where the neighbours of each corner begin.
    for (name, first) in [("around1", 0), ("around2", 3), ("around0", 6)] {
        unit.set_int(&mut b.list, name, [3, first, 1, 0]);
    }
    let view = look(Vec3::new(0.0, 0.0, 10.0), Vec3::ZERO);
    for time in run.times() {
        b.bind(&vertices);
        for (x, bools) in [(-2.75, [].as_slice()), (2.75, &["smooth"])] {
            let model = Mat4::from_translation(Vec3::X * x)
                * Mat4::from_rotation_x(0.8)
                * Mat4::from_rotation_y(0.3 + time * 0.8);
            program.vertex.set_matrix(&mut b.list, "modelView", &(view * model));
            unit.set_bools(&mut b.list, bools);
            b.draw(&indices);
        }
        b.end_frame([30, 34, 40]);
    }
}
