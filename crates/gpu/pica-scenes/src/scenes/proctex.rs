//! Marble and wood from the procedural texture unit.

use super::stage::{Object, fragment_lit, lit, place, two_lights};
use crate::Run;
use crate::builder::{Builder, Source, f16};
use crate::luts;
use crate::math::{look, perspective};
use crate::mesh::{cube, sphere};
use crate::texture::{mix, rgb};
use glam::{Mat4, Vec2, Vec3};
use xenoglot_pica::regs::*;

/// Tables behind the data port.
const NOISE: u32 = 0;
const COLOR_MAP: u32 = 2;
const COLORS: u32 = 4;
const DIFFERENCES: u32 = 5;
/// How coordinates beyond 1 come back: mirrored.
const MIRRORED: u32 = 3;

/// A material: coordinates go through a function, then through a map to a colour.
struct Material {
    /// Number of the function of u and v.
    function: u32,
    /// Noise: how strong, and how fine.
    amplitude: f32,
    frequency: f32,
    map: fn(f32) -> f32,
    color: fn(f32) -> [u8; 3],
}

/// u in waves, strongly disturbed.
const MARBLE: Material = Material {
    function: 4,
    amplitude: 0.4,
    frequency: 0.35,
    map: |x| libm::fabsf(libm::sinf(x * 5.0 * std::f32::consts::PI)),
    color: |x| {
        let [r, g, b, _] = mix(rgb(60, 70, 84), rgb(240, 236, 228), libm::powf(x, 0.6));
        [r, g, b]
    },
};

/// Rings around a corner, a little disturbed.
const WOOD: Material = Material {
    function: 6,
    amplitude: 0.05,
    frequency: 0.4,
    map: |x| libm::fmodf(x * 9.0, 1.0),
    color: |x| {
        let [r, g, b, _] = mix(rgb(216, 160, 92), rgb(112, 62, 26), x * x);
        [r, g, b]
    },
};

fn table(b: &mut Builder, table: u32, words: &[u32]) {
    b.list.write(PROCTEX_LUT_PORT, table << 8).stream(PROCTEX_LUT_DATA, words);
}

impl Material {
    fn set(&self, b: &mut Builder) {
        const NOISE_ON: u32 = 1 << 15;
        const LINEAR: u32 = 1;
        const WIDTH: u32 = 255;
        let amplitude = (self.amplitude * 4095.0) as u32;
        let frequency = f16(self.frequency);
        b.list.write_all(
            PROCTEX_SETUP,
            &[
                MIRRORED | MIRRORED << 3 | self.function << 6 | NOISE_ON,
                amplitude,
                amplitude,
                frequency | frequency << 16,
                LINEAR | WIDTH << 11,
                0,
            ],
        );
        let (colors, differences) = luts::colors(self.color);
        table(b, COLOR_MAP, &luts::map(self.map));
        table(b, COLORS, &colors);
        table(b, DIFFERENCES, &differences);
    }
}

pub fn make(b: &mut Builder, run: &Run) {
    let ball = Object::lit(b, &sphere(40, 24).tiled(Vec2::new(4.0, 2.0)));
    let block = Object::lit(b, &cube());
    let program = fragment_lit(b, &perspective(40.0, 1.0, 30.0), 30.0);
    // The procedural texture takes the first texture coordinates.
    b.list.write(TEXTURE_UNITS, 1 << 10 | 1 << 12 | 1 << 16);
    table(b, NOISE, &luts::map(|x| x * x * (3.0 - 2.0 * x)));
    b.combiners(&lit(Source::Procedural));
    b.lights(&two_lights(), false);
    let view = look(Vec3::new(0.0, 1.2, 7.5), Vec3::ZERO);
    for time in run.times() {
        let turned = |x: f32, angle: f32| {
            view * Mat4::from_translation(Vec3::X * x)
                * Mat4::from_rotation_y(angle)
                * Mat4::from_rotation_x(0.3)
        };
        MARBLE.set(b);
        place(b, &program, &(turned(-2.1, time) * Mat4::from_scale(Vec3::splat(1.7))));
        ball.draw(b);
        WOOD.set(b);
        place(b, &program, &(turned(2.1, 0.6 + time) * Mat4::from_scale(Vec3::splat(1.25))));
        block.draw(b);
        b.end_frame([40, 44, 52]);
    }
}
