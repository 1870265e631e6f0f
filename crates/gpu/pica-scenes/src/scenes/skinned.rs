//! A bending tube on four bones.

use crate::Run;
use crate::builder::{Builder, Program, bundled};
use crate::math::{look, perspective, turn};
use crate::mesh::{Attribute, grid};
use glam::{Mat4, Vec3, Vec4};

const BONES: usize = 4;
const LENGTH: f32 = 6.0;
const ATTRIBUTES: &[Attribute] =
    &[Attribute::floats(3), Attribute::floats(3), Attribute::BYTES, Attribute::floats(4)];

/// How much each bone moves what is at `along` of the tube, which goes from 0 to 1.
fn weights(along: f32) -> [f32; BONES] {
    let near: [f32; BONES] = std::array::from_fn(|bone| {
        let far = libm::fabsf(along * (BONES - 1) as f32 - bone as f32);
        libm::expf(-2.0 * far * far)
    });
    let sum: f32 = near.iter().sum();
    near.map(|weight| weight / sum)
}

/// Where the bones are: each turns against the one before.
fn pose(time: f32) -> Vec<Mat4> {
    let step = LENGTH / (BONES - 1) as f32;
    let mut matrix = Mat4::IDENTITY;
    let mut bones = Vec::new();
    for bone in 0..BONES {
        let (sin, _) = turn(time / 2.0 + bone as f32 / 5.0);
        let bend = Mat4::from_rotation_z(0.34 * sin) * Mat4::from_rotation_x(0.2 * sin);
        let rest = Vec3::Y * (step * bone as f32);
        matrix *= Mat4::from_translation(rest) * bend * Mat4::from_translation(-rest);
        bones.push(matrix);
    }
    bones
}

pub fn make(b: &mut Builder, run: &Run) {
    let mut mesh = grid(32, 48, |uv| {
        let (sin, cos) = turn(uv.x);
        let normal = Vec3::new(sin, 0.0, cos);
        // The tube is thinner towards its end, with rings.
        let radius = 0.85 - 0.5 * uv.y + 0.06 * turn(uv.y * 8.0).0;
        (normal * radius + Vec3::Y * (uv.y * LENGTH), normal)
    });
    let top = grid(32, 1, |uv| {
        let (sin, cos) = turn(uv.x);
        (Vec3::new(sin, 0.0, cos) * (0.35 * (1.0 - uv.y)) + Vec3::Y * LENGTH, Vec3::Y)
    });
    mesh.add(&top, &Mat4::IDENTITY);
    let vertex = |v: &crate::mesh::Vertex| {
        let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let weights = weights(v.position.y / LENGTH);
        [floats(&v.position.to_array()), floats(&v.normal.to_array()), vec![0, 1, 2, 3], floats(&weights)]
            .concat()
    };
    let vertices = b.vertices((mesh.vertices.iter().flat_map(vertex).collect(), ATTRIBUTES));
    let indices = b.indices(&mesh.indices);

    let program = Program::vertex(bundled("skin4.v.pica"));
    b.program(&program);
    let shader = &program.vertex;
    let list = &mut b.list;
    shader.set_matrix(list, "projection", &perspective(40.0, 1.0, 40.0));
    shader.set_bools(list, &["lightOn"]);
    let direction = |x, y, z| Vec3::new(x, y, z).normalize().extend(0.0);
    shader.set(list, "lightDirection", &[direction(0.6, 0.5, 0.6), direction(-0.9, 0.0, 0.3)]);
    shader.set(list, "lightColor", &[Vec4::new(0.95, 0.7, 0.35, 0.0), Vec4::new(0.15, 0.3, 0.65, 0.0)]);
    shader.set(list, "ambient", &[Vec4::new(0.12, 0.1, 0.14, 1.0)]);
    let view = look(Vec3::new(0.0, 3.0, 10.5), Vec3::new(0.0, 2.9, 0.0));
    for time in run.times() {
        let rows: Vec<Vec4> = pose(time)
            .iter()
            .flat_map(|bone| {
                let matrix = view * *bone;
                [0, 1, 2].map(|row| matrix.row(row))
            })
            .collect();
        program.vertex.set(&mut b.list, "bones", &rows);
        b.bind(&vertices);
        b.draw(&indices);
        b.end_frame([36, 30, 40]);
    }
}
