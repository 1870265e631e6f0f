//! Draws of a single triangle each.

use crate::Run;
use crate::builder::{Builder, Program, bundled};
use crate::math::{flat, rainbow, turn};
use crate::mesh::{Mesh, Vertex};
use glam::{Mat4, Quat, Vec2, Vec3};

const COLUMNS: u32 = 10;

pub fn make(b: &mut Builder, run: &Run) {
    let corner = |n: usize| {
        let (sin, cos) = turn(n as f32 / 3.0);
        let color = rainbow(n as f32 / 3.0);
        Vertex { position: Vec3::new(-sin, cos, 0.0), normal: Vec3::Z, uv: Vec2::ZERO, color }
    };
    let mesh = Mesh { vertices: vec![corner(0), corner(1), corner(2)], indices: vec![0, 1, 2] };
    let vertices = b.vertices(mesh.colored());
    let program = Program::vertex(bundled("basic.v.pica"));
    b.program(&program);
    program.vertex.set_matrix(&mut b.list, "projection", &flat());
    let columns = run.count.min(COLUMNS);
    let rows = run.count.div_ceil(COLUMNS);
    let spacing = (3.2 / columns as f32).min(1.9 / rows as f32);
    for time in run.times() {
        b.bind(&vertices);
        for n in 0..run.count {
            let centered = |at: u32, of: u32| (at as f32 - (of - 1) as f32 / 2.0) * spacing;
            let at = Vec3::new(centered(n % COLUMNS, columns), -centered(n / COLUMNS, rows), -0.5);
            let model = Mat4::from_scale_rotation_translation(
                Vec3::splat(spacing * 0.48),
                Quat::from_rotation_z(time * 2.0 + n as f32 * 0.2),
                at,
            );
            program.vertex.set_matrix(&mut b.list, "modelView", &model);
            b.draw_range(0, 3);
        }
        b.end_frame([20, 20, 28]);
    }
}
