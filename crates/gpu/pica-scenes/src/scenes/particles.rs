//! Sparks along splines.

use crate::Run;
use crate::builder::{Blend, Builder, Combine, Compare, Program, Source, Stage, Wrap, bundled};
use crate::math::{hash, look, perspective, rainbow, turn};
use crate::mesh::{Mesh, Vertex};
use crate::texture::Image;
use glam::{Mat4, Vec2, Vec3, Vec4};
use xenoglot_pica::texture::Format;

/// Sparks of a spline, less one.
const SPARKS: u8 = 79;
/// Part of a spark's triangle that its disc fills.
const DISC: f32 = 0.45;

/// Control points of a jet that rises from the middle and falls outwards, white at first.
fn jet(n: u32, of: u32) -> [Vertex; 4] {
    let part = n as f32 / of as f32;
    let (sin, cos) = turn(part + 0.03 * hash(n));
    let out = Vec3::new(sin, 0.0, cos);
    let height = 3.6 + 1.2 * hash(n + 100);
    let points =
        [Vec3::ZERO, out * 0.5 + Vec3::Y * height, out * 2.2 + Vec3::Y * height, out * 3.6 - Vec3::Y * 0.4];
    let color = rainbow(part) * 0.9;
    let colors = [Vec3::ONE, color, color, color];
    std::array::from_fn(|i| Vertex { position: points[i], normal: Vec3::Y, uv: Vec2::ZERO, color: colors[i] })
}

pub fn make(b: &mut Builder, run: &Run) {
    let vertices: Vec<Vertex> = (0..run.count).flat_map(|n| jet(n, run.count)).collect();
    let vertices = b.vertices(Mesh { vertices, indices: Vec::new() }.colored());
    // A quarter of a disc, which the coordinates around 0 mirror.
    let disc = Image::square(32, |x, y| {
        let far = libm::hypotf(x, 1.0 - y) / DISC;
        [(255.0 * libm::powf((1.0 - far).clamp(0.0, 1.0), 1.5)) as u8; 4]
    });
    let disc = b.texture(&disc, Format::Ia8);

    let program = Program::geometry(include_str!("../../shaders/view.v.pica"), bundled("particles.g.pica"));
    b.program(&program);
    let sparks = program.geometry.as_ref().expect("a geometry shader");
    sparks.set_matrix(&mut b.list, "projection", &perspective(40.0, 1.0, 40.0));
    sparks.set(&mut b.list, "size", &[Vec4::new(0.16, 0.16, 0.0, 0.0)]);
    sparks.set_int(&mut b.list, "count", [SPARKS, 0, 1, 0]);
    b.textures(&[(disc, Wrap::Mirror)]);
    b.combiners(&[Stage::new(Combine::Modulate, [Source::Primary, Source::Texture0, Source::Previous])]);
    b.depth(Compare::Greater, false);
    b.blend(Blend::Add);
    let view = look(Vec3::new(0.0, 3.4, 9.0), Vec3::new(0.0, 1.7, 0.0));
    for (frame, time) in run.times().enumerate() {
        // b15 is false again: the first spline of each frame takes the seed.
        sparks.set_bools(&mut b.list, &[]);
        let seed = hash(frame as u32 / 6);
        sparks.set(&mut b.list, "random", &[Vec4::new(seed, 0.0, 61.37, 0.173)]);
        let model = view * Mat4::from_rotation_y(time * 0.6);
        program.vertex.set_matrix(&mut b.list, "modelView", &model);
        b.bind(&vertices);
        b.draw_range(0, 4 * run.count);
        b.end_frame([8, 8, 18]);
    }
}
