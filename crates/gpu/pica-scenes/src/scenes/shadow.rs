//! A shadow map, rendered and looked up.

use super::stage::{Object, lamp, lit};
use crate::Run;
use crate::builder::{
    Builder, Combine, OFFSCREEN, Program, Source, Stage, Target, Texture, Wrap, bundled, f24,
};
use crate::luts;
use crate::math::{look, parallel, perspective};
use crate::mesh::{cube, floor, torus};
use crate::texture::{Image, rgb};
use glam::{Mat4, Vec2, Vec3, Vec4};
use xenoglot_pica::regs::DEPTH_SCALE;
use xenoglot_pica::texture::Format;

const SIDE: u32 = 512;
/// The farthest depth, and no shadow.
const EMPTY: u32 = u32::MAX;
const LIGHT: Vec3 = Vec3::new(5.0, 8.0, 3.0);
const D0: u32 = 0;

/// Clip space to texture coordinates and depth from 0 (near) to 1.
fn to_map() -> Mat4 {
    Mat4::from_cols(Vec4::X * 0.5, Vec4::Y * 0.5, Vec4::Z, Vec4::new(0.5, 0.5, 1.0, 1.0))
}

/// Where the objects are; the first is the floor.
fn models(time: f32) -> [Mat4; 4] {
    let at = |x, y, z| Mat4::from_translation(Vec3::new(x, y, z));
    let small = Mat4::from_scale(Vec3::splat(0.6));
    [
        Mat4::IDENTITY,
        at(0.0, 1.7, 0.0) * Mat4::from_rotation_y(time) * Mat4::from_rotation_x(1.1),
        at(-2.6, 0.6, 0.8) * Mat4::from_rotation_y(0.5) * small,
        at(2.5, 1.2, -0.6) * Mat4::from_rotation_y(time * 1.7) * Mat4::from_rotation_z(0.7) * small,
    ]
}

pub fn make(b: &mut Builder, run: &Run) {
    let tiles = b.texture(&Image::checker(64, 2.0, rgb(226, 214, 190), rgb(150, 120, 96)), Format::Rgb565);
    let ground = Object::lit(b, &floor(4.5, 6).tiled(Vec2::splat(4.5)));
    let ring = Object::lit(b, &torus(1.1, 0.36, 40, 20).tiled(Vec2::new(4.0, 1.0)));
    let block = Object::lit(b, &cube());
    let objects = [ground, ring, block, block];
    let caster = Program::vertex(bundled("basic.v.pica"));
    let receiver = Program::vertex(include_str!("../../shaders/shadowed.v.pica"));
    b.lighting_table(D0, &luts::shine(30.0));
    let light_view = look(LIGHT, Vec3::ZERO);
    let light_projection = parallel(6.5, 2.0, 18.0);
    let view = look(Vec3::new(-1.0, 5.2, 8.2), Vec3::new(0.0, 0.5, 0.0));
    let map = Texture { address: OFFSCREEN, width: SIDE, height: SIDE, format: Format::Rgba8 };
    for time in run.times() {
        let models = models(time);
        // From the light: depth is 0 where it is nearest, and the fragment's green says how soft the shadow is.
        b.clear_offscreen(SIDE, EMPTY);
        b.target(Target::offscreen(SIDE));
        b.program(&caster);
        caster.vertex.set_matrix(&mut b.list, "projection", &light_projection);
        b.list.write_all(DEPTH_SCALE, &[f24(1.0), f24(1.0)]);
        b.unlit();
        b.textures(&[]);
        let hard = [0, 0, 0, 255];
        b.combiners(&[Stage::new(Combine::Replace, [Source::Constant; 3]).constant(hard)]);
        b.shadow_mode();
        for (object, model) in objects.iter().zip(&models).skip(1) {
            caster.vertex.set_matrix(&mut b.list, "modelView", &(light_view * *model));
            object.draw(b);
        }

        b.reset();
        b.target(Target::SCREEN);
        b.program(&receiver);
        receiver.vertex.set_matrix(&mut b.list, "projection", &perspective(40.0, 1.0, 30.0));
        b.textures(&[(map, Wrap::Edge), (tiles, Wrap::Repeat)]);
        b.shadow_map(0.004);
        b.combiners(&lit(Source::Texture1));
        b.lights(&[lamp(&view, LIGHT, 0.0)], true);
        b.ambient(Vec3::new(0.22, 0.24, 0.3));
        for (object, model) in objects.iter().zip(&models) {
            receiver.vertex.set_matrix(&mut b.list, "modelView", &(view * *model));
            let shadow = to_map() * light_projection * light_view * *model;
            receiver.vertex.set_matrix(&mut b.list, "shadow", &shadow);
            object.draw(b);
        }
        b.end_frame([70, 86, 110]);
    }
}
