//! A ball of crates in one draw.

use super::stage::{LIT_TEXTURE, Object, fragment_lit, place, two_lights};
use crate::Run;
use crate::builder::{Builder, Wrap};
use crate::math::{hash, look, perspective, turn};
use crate::mesh::{Mesh, cube};
use crate::texture::Image;
use glam::{Mat4, Quat, Vec3};
use xenoglot_pica::texture::Format;

/// Part of a turn from one point of the spiral to the next.
const GOLDEN: f32 = 0.381_966;

pub fn make(b: &mut Builder, run: &Run) {
    let texture = b.texture(&Image::crate_side(64), Format::Rgb5A1);
    let (mut mesh, cube) = (Mesh::default(), cube());
    let size = 4.4 / libm::sqrtf(run.count as f32).max(1.5);
    for n in 0..run.count {
        // Points of a spiral over a sphere.
        let height = 1.0 - 2.0 * (n as f32 + 0.5) / run.count as f32;
        let (sin, cos) = turn(n as f32 * GOLDEN);
        let out = libm::sqrtf(1.0 - height * height);
        let at = Vec3::new(sin * out, height, cos * out);
        let model = Mat4::from_scale_rotation_translation(
            Vec3::splat(size * (0.5 + 0.4 * hash(n))),
            Quat::from_rotation_arc(Vec3::Z, at),
            at * 3.0,
        );
        mesh.add(&cube, &model);
    }
    let object = Object::lit(b, &mesh);
    let program = fragment_lit(b, &perspective(40.0, 1.0, 30.0), 24.0);
    b.textures(&[(texture, Wrap::Edge)]);
    b.combiners(&LIT_TEXTURE);
    b.lights(&two_lights(), false);
    let view = look(Vec3::new(0.0, 3.0, 9.5), Vec3::ZERO);
    for time in run.times() {
        place(b, &program, &(view * Mat4::from_rotation_y(time)));
        object.draw(b);
        b.end_frame([28, 32, 44]);
    }
}
