//! Light in steps, and outlines.

use crate::Run;
use crate::builder::{Builder, Combine, Program, Source, Stage, Wrap};
use crate::math::{look, perspective};
use crate::mesh::{Mesh, sphere, torus};
use crate::texture::{Image, rgb};
use glam::{Mat4, Vec3, Vec4};
use xenoglot_pica::texture::Format;

/// Light from left to right in three steps; below, where the surface turns away, the rim.
fn ramp() -> Image {
    Image::square(64, |light, away| match light {
        _ if away > 0.75 => rgb(90, 80, 110),
        _ if light > 0.72 => rgb(255, 255, 255),
        _ if light > 0.25 => rgb(196, 190, 204),
        _ => rgb(120, 108, 140),
    })
}

pub fn make(b: &mut Builder, run: &Run) {
    let mut mesh = Mesh::default();
    let add =
        |mesh: &mut Mesh, part: Mesh, color: Vec3, matrix: Mat4| mesh.add(&part.colored_as(color), &matrix);
    add(&mut mesh, sphere(32, 20), Vec3::new(1.0, 0.55, 0.3), Mat4::IDENTITY);
    let ring = Mat4::from_rotation_z(0.45);
    add(&mut mesh, torus(1.75, 0.3, 48, 16), Vec3::new(0.45, 0.75, 1.0), ring);
    for (n, color) in
        [Vec3::new(1.0, 0.9, 0.4), Vec3::new(0.6, 1.0, 0.5), Vec3::new(1.0, 0.5, 0.7)].into_iter().enumerate()
    {
        let matrix = Mat4::from_rotation_y(n as f32 * 2.1)
            * Mat4::from_translation(Vec3::new(2.9, 0.5 * n as f32 - 0.5, 0.0))
            * Mat4::from_scale(Vec3::splat(0.45));
        add(&mut mesh, sphere(24, 16), color, matrix);
    }
    let vertices = b.vertices(mesh.shaded());
    let indices = b.indices(&mesh.indices);
    let ramp = b.texture(&ramp(), Format::Rgb565);
    b.textures(&[(ramp, Wrap::Edge)]);
    b.combiners(&[Stage::new(Combine::Modulate, [Source::Primary, Source::Texture0, Source::Previous])]);
    let program = Program::vertex(include_str!("../../shaders/toon.v.pica"));
    b.program(&program);
    let (shader, list) = (&program.vertex, &mut b.list);
    shader.set_matrix(list, "projection", &perspective(40.0, 1.0, 30.0));
    shader.set(list, "light", &[Vec3::new(0.5, 0.7, 0.55).normalize().extend(0.0)]);
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
