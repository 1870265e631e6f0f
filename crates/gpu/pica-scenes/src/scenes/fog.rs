//! An avenue in fog.

use super::stage::{LIT_TEXTURE, Object, fragment_lit, place, two_lights};
use crate::Run;
use crate::builder::{Builder, Wrap, f24};
use crate::luts;
use crate::math::{look, perspective};
use crate::mesh::{Mesh, cube, floor};
use crate::texture::{Image, mix, noise, rgb};
use glam::{Mat4, Vec2, Vec3};
use xenoglot_pica::regs::{DEPTH_MODE, DEPTH_SCALE};
use xenoglot_pica::texture::Format;

const FOG: [u8; 3] = [168, 182, 196];
const NEAR: f32 = 0.5;
const FAR: f32 = 40.0;
/// Distance between columns.
const GAP: f32 = 4.0;

/// Columns left and right on a road that goes on.
fn avenue() -> Mesh {
    let mut mesh = Mesh::default();
    mesh.add(&floor(48.0, 24).tiled(Vec2::splat(24.0)), &Mat4::IDENTITY);
    let column = |x: f32, z: f32, y: f32, size: Vec3| {
        Mat4::from_translation(Vec3::new(x, y, z)) * Mat4::from_scale(size)
    };
    for n in 0..14 {
        for x in [-2.6, 2.6] {
            let z = -GAP * n as f32;
            // Scales that differ by axis keep a box's normals.
            mesh.add(&cube(), &column(x, z, 1.6, Vec3::new(0.4, 1.6, 0.4)));
            mesh.add(&cube(), &column(x, z, 3.35, Vec3::new(0.6, 0.15, 0.6)));
            mesh.add(&cube(), &column(x, z, 0.12, Vec3::new(0.6, 0.12, 0.6)));
        }
    }
    mesh
}

pub fn make(b: &mut Builder, run: &Run) {
    let stone = Image::square(64, |x, y| {
        let seam = x.min(y) < 0.03;
        let stone = mix(rgb(150, 140, 120), rgb(210, 200, 180), noise(x * 8.0, y * 8.0, 5));
        if seam { rgb(110, 100, 90) } else { stone }
    });
    let stone = b.texture(&stone, Format::Rgb8);
    let avenue = Object::lit(b, &avenue());
    let program = fragment_lit(b, &perspective(45.0, NEAR, FAR), 8.0);
    b.textures(&[(stone, Wrap::Repeat)]);
    b.combiners(&LIT_TEXTURE);
    b.lights(&two_lights(), false);
    // A w buffer: depth falls from 1 at the near plane to 0 at the far one, evenly.
    b.list.write(DEPTH_MODE, 0).write_all(DEPTH_SCALE, &[f24(-1.0 / NEAR), 0]);
    b.fog(
        FOG,
        &luts::fog(|depth| {
            let far = 1.0 - depth;
            libm::expf(-5.0 * far * far) * (1.0 - far * far * far)
        }),
    );
    for time in run.times() {
        let at = Vec3::new(0.7, 1.5, 3.0 - (time * 2.0) % GAP);
        let view = look(at, at + Vec3::new(-0.12, 0.03, -1.0));
        place(b, &program, &view);
        avenue.draw(b);
        b.end_frame(FOG);
    }
}
