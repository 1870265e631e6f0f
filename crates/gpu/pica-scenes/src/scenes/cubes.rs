//! Rotating crates, a draw each.

use super::stage::{LIT_TEXTURE, Object, fragment_lit, place, two_lights};
use crate::Run;
use crate::builder::{Builder, Wrap};
use crate::math::{look, perspective};
use crate::mesh::cube;
use crate::texture::Image;
use glam::{Mat4, Quat, Vec3};
use xenoglot_pica::texture::Format;

pub fn make(b: &mut Builder, run: &Run) {
    let texture = b.texture(&Image::crate_side(64), Format::Rgb565);
    let cube = Object::lit(b, &cube());
    let program = fragment_lit(b, &perspective(40.0, 1.0, 60.0), 24.0);
    b.textures(&[(texture, Wrap::Edge)]);
    b.combiners(&LIT_TEXTURE);
    b.lights(&two_lights(), false);
    let view = look(Vec3::Z * 14.0, Vec3::ZERO);
    // A grid that fills the picture, which is five by three.
    let columns = libm::ceilf(libm::sqrtf(run.count as f32 * 5.0 / 3.0)) as u32;
    let rows = run.count.div_ceil(columns);
    let spacing = (16.0 / columns as f32).min(9.6 / rows as f32);
    for time in run.times() {
        b.bind(&cube.vertices);
        for n in 0..run.count {
            let centered = |at: u32, of: u32| (at as f32 - (of - 1) as f32 / 2.0) * spacing;
            let at = Vec3::new(centered(n % columns, columns), -centered(n / columns, rows), 0.0);
            let axis = Vec3::new(1.0, 1.3 + (n % 3) as f32, 0.4 * (n % 5) as f32).normalize();
            let angle = 0.5 + time * 1.5 + n as f32 * 0.37;
            let model = Mat4::from_scale_rotation_translation(
                Vec3::splat(spacing * 0.29),
                Quat::from_axis_angle(axis, angle),
                at,
            );
            place(b, &program, &(view * model));
            b.draw(&cube.indices);
        }
        b.end_frame([28, 32, 44]);
    }
}
