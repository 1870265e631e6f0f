//! Light in steps, and outlines.

use crate::Run;
use crate::builder::{Builder, Program, bundled};
use crate::math::{look, perspective};
use crate::mesh::{Mesh, sphere, torus};
use glam::{Mat4, Vec3, Vec4};

const STEPS: f32 = 4.0;

pub fn make(b: &mut Builder, run: &Run) {
    let mut mesh = Mesh::default();
    let add = |mesh: &mut Mesh, part: Mesh, color: Vec3, matrix: Mat4| mesh.add(&part.colored_as(color), &matrix);
    add(&mut mesh, sphere(32, 20), Vec3::new(1.0, 0.55, 0.3), Mat4::IDENTITY);
    let ring = Mat4::from_rotation_z(0.45);
    add(&mut mesh, torus(1.75, 0.3, 48, 16), Vec3::new(0.45, 0.75, 1.0), ring);
    for (n, color) in [Vec3::new(1.0, 0.9, 0.4), Vec3::new(0.6, 1.0, 0.5), Vec3::new(1.0, 0.5, 0.7)]
        .into_iter()
        .enumerate()
    {
        let matrix = Mat4::from_rotation_y(n as f32 * 2.1)
            * Mat4::from_translation(Vec3::new(2.9, 0.5 * n as f32 - 0.5, 0.0))
            * Mat4::from_scale(Vec3::splat(0.45));
        add(&mut mesh, sphere(24, 16), color, matrix);
    }
    let vertices = b.vertices(mesh.shaded());
    let indices = b.indices(&mesh.indices);
    let program = Program::vertex(bundled("toon.v.pica"));
    b.program(&program);
    let (shader, list) = (&program.vertex, &mut b.list);
    shader.set_matrix(list, "projection", &perspective(40.0, 1.0, 30.0));
    shader.set(list, "light", &[Vec3::new(0.5, 0.7, 0.55).normalize().extend(0.0)]);
    shader.set(list, "steps", &[Vec4::new(STEPS, 1.0 / STEPS, 0.0, 0.0)]);
    // Dark, and how far the mesh grows.
    shader.set(list, "outline", &[Vec4::new(0.08, 0.05, 0.12, 0.06)]);
    let view = look(Vec3::new(0.0, 1.6, 8.5), Vec3::ZERO);
    for time in run.times() {
        shader.set_matrix(&mut b.list, "modelView", &(view * Mat4::from_rotation_y(time)));
        b.bind(&vertices);
        for outline in [true, false] {
            shader.set_bools(&mut b.list, if outline { &["outlinePass"] } else { &[] });
            b.cull(!outline);
            b.draw(&indices);
        }
        b.end_frame([232, 222, 200]);
    }
}
