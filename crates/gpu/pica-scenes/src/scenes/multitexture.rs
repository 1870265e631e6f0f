//! Three textures in combiner stages.

use super::stage::place;
use crate::Run;
use crate::builder::{Builder, Combine, Operand, Program, Source, Stage, Wrap, bundled};
use crate::math::{look, perspective, turn};
use crate::mesh::{Mesh, floor, grid};
use crate::texture::{Image, rgb};
use glam::{Mat4, Vec2, Vec3, Vec4};
use xenoglot_pica::texture::Format;

/// Texture coordinates to add where only textures that repeat are to be seen.
const ELSEWHERE: f32 = 8.0;

/// A star of five points in a ring, clear elsewhere.
fn sign() -> Image {
    Image::square(64, |x, y| {
        let (x, y) = (x - 0.5, 0.5 - y);
        let (far, angle) = (libm::hypotf(x, y), libm::atan2f(x, y));
        let point = libm::fabsf(libm::fmodf(angle / std::f32::consts::TAU * 5.0 + 10.5, 1.0) - 0.5);
        match far {
            _ if far < 0.14 + 0.16 * (1.0 - 2.0 * point) => [255, 220, 80, 255],
            _ if (0.38..0.45).contains(&far) => [255, 255, 255, 255],
            _ if far < 0.38 => [30, 60, 140, 150],
            _ => [0; 4],
        }
    })
}

pub fn make(b: &mut Builder, run: &Run) {
    let mut room = Mesh::default();
    let wall = grid(1, 1, |uv| ((uv * 2.0 - 1.0).extend(0.0) * Vec3::new(4.0, 2.0, 1.0), Vec3::Z));
    let wall = wall.tiled(Vec2::new(2.0, 1.0));
    room.add(&wall, &Mat4::from_translation(Vec3::new(0.0, 2.0, -4.0)));
    // The same bricks and light, but far from the sign.
    let wall = wall.scrolled(Vec2::splat(ELSEWHERE));
    for side in [-1.0, 1.0] {
        let turned = Mat4::from_rotation_y(-side * std::f32::consts::FRAC_PI_2);
        room.add(&wall, &(Mat4::from_translation(Vec3::new(4.0 * side, 2.0, 0.0)) * turned));
    }
    room.add(&floor(4.0, 1).tiled(Vec2::splat(2.0)).scrolled(Vec2::splat(ELSEWHERE)), &Mat4::IDENTITY);
    let vertices = b.vertices(room.textured());
    let indices = b.indices(&room.indices);
    let bricks = b.texture(&Image::bricks(128, 8.0), Format::Etc1);
    let light = b.texture(&Image::spot(64), Format::I8);
    let sign = b.texture(&sign(), Format::Rgba4);

    let program = Program::vertex(bundled("textured.v.pica"));
    b.program(&program);
    program.vertex.set_matrix(&mut b.list, "projection", &perspective(50.0, 0.5, 20.0));
    program.vertex.set_bools(&mut b.list, &[]);
    program.vertex.set(&mut b.list, "tint", &[Vec4::ONE]);
    b.textures(&[(bricks, Wrap::Repeat), (light, Wrap::Mirror), (sign, Wrap::Edge)]);
    let [r, g, bl, a] = rgb(60, 56, 70);
    b.combiners(&[
        // The room's own light and the lamp's.
        Stage::new(Combine::Add, [Source::Texture1, Source::Constant, Source::Previous])
            .constant([r, g, bl, a]),
        Stage::new(Combine::Modulate, [Source::Previous, Source::Texture0, Source::Previous]),
        Stage::new(Combine::Interpolate, [Source::Texture2, Source::Previous, Source::Texture2]).operands([
            Operand::Color,
            Operand::Color,
            Operand::Alpha,
        ]),
    ]);
    let view = look(Vec3::new(0.0, 2.1, 5.2), Vec3::new(0.0, 1.8, 0.0));
    for time in run.times() {
        place(b, &program, &view);
        let (sin, cos) = turn(time / 4.0);
        let scroll = Vec4::new(-0.5 + 0.2 * sin, -0.1 * (1.0 - cos), 1.0, 1.0);
        program.vertex.set(&mut b.list, "scroll", &[scroll]);
        b.bind(&vertices);
        b.draw(&indices);
        b.end_frame([0, 0, 0]);
    }
}
