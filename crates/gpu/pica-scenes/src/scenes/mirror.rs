//! A mirror in the floor.

use super::stage::{LIT_TEXTURE, Object, fragment_lit, lamp, place};
use crate::Run;
use crate::builder::{Blend, Builder, Combine, Compare, Source, Stage, Wrap};
use crate::math::{look, perspective};
use crate::mesh::{cube, floor, sphere, torus};
use crate::texture::{Image, mix, noise, rgb};
use glam::{Mat4, Vec2, Vec3};
use xenoglot_pica::texture::Format;

const LAMP: Vec3 = Vec3::new(3.0, 7.0, 4.0);

pub fn make(b: &mut Builder, run: &Run) {
    let marble = Image::square(64, |x, y| {
        let vein = libm::fabsf(noise(x * 4.0, y * 4.0, 11) - 0.5) * 5.0;
        mix(rgb(90, 60, 110), rgb(230, 222, 236), vein)
    });
    let marble = b.texture(&marble, Format::Rgba8);
    let crate_side = b.texture(&Image::crate_side(64), Format::Rgb565);
    let glass = b.texture(&Image::checker(32, 2.0, rgb(190, 205, 220), rgb(120, 140, 165)), Format::I4);
    let pool = Object::lit(b, &floor(2.9, 1).tiled(Vec2::splat(4.0)));
    let ball = Object::lit(b, &sphere(32, 20).tiled(Vec2::new(4.0, 2.0)));
    let ring = Object::lit(b, &torus(1.45, 0.22, 48, 16).tiled(Vec2::new(6.0, 1.0)));
    let block = Object::lit(b, &cube());
    let program = fragment_lit(b, &perspective(40.0, 1.0, 30.0), 40.0);
    let view = look(Vec3::new(0.0, 3.4, 8.0), Vec3::new(0.0, 0.9, 0.0));
    let upside_down = Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0));
    for time in run.times() {
        let objects = |b: &mut Builder, world: &Mat4| {
            b.lights(&[lamp(&(view * *world), LAMP, 0.18)], false);
            b.combiners(&LIT_TEXTURE);
            let middle = *world * Mat4::from_translation(Vec3::Y * 1.75);
            b.textures(&[(marble, Wrap::Mirror)]);
            place(b, &program, &(view * middle * Mat4::from_rotation_y(time)));
            ball.draw(b);
            let tilted = Mat4::from_rotation_y(time) * Mat4::from_rotation_x(0.5);
            place(b, &program, &(view * middle * tilted));
            ring.draw(b);
            b.textures(&[(crate_side, Wrap::Edge)]);
            for (x, z) in [(-2.0, 1.2), (2.1, -1.0)] {
                let at = Mat4::from_translation(Vec3::new(x, 0.55, z)) * Mat4::from_rotation_y(0.4 + x);
                place(b, &program, &(view * *world * at * Mat4::from_scale(Vec3::splat(0.5))));
                block.draw(b);
            }
        };
        // 1 in the stencil buffer where the mirror is seen.
        b.stencil(Some(Compare::Always));
        b.no_color();
        place(b, &program, &view);
        pool.draw(b);
        // There, everything upside down, which turns triangles the other way.
        b.stencil(Some(Compare::Equal));
        b.depth(Compare::Greater, true);
        b.cull(false);
        objects(b, &upside_down);
        // The glass of the mirror over it.
        b.cull(true);
        b.blend(Blend::Alpha);
        b.depth(Compare::Always, true);
        b.textures(&[(glass, Wrap::Repeat)]);
        let clear = [255, 255, 255, 90];
        b.combiners(&[Stage::new(Combine::Modulate, [Source::Constant, Source::Texture0, Source::Previous])
            .constant(clear)]);
        place(b, &program, &view);
        pool.draw(b);

        b.stencil(None);
        b.blend(Blend::Replace);
        b.depth(Compare::Greater, true);
        objects(b, &Mat4::IDENTITY);
        b.end_frame([24, 22, 34]);
    }
}
