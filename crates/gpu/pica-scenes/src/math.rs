//! Matrices of this machine. Functions are those of `libm`, so that scenes are the same everywhere.

use crate::builder::{HEIGHT, WIDTH};
use glam::{Mat4, Vec3, Vec4};

/// Sets the picture on its side as the console's screens have it: right is up in the buffer, and up is right.
fn tilt() -> Mat4 {
    Mat4::from_cols(-Vec4::Y, Vec4::X, Vec4::Z, Vec4::W)
}

/// Depth as the clipper wants it: -1 is near, 0 is far.
fn depth_range(near: f32, far: f32) -> (f32, f32) {
    (near / (near - far), near * far / (near - far))
}

/// Perspective for the screen. The viewer looks along -z; `fov` is from top to bottom, in degrees.
pub fn perspective(fov: f32, near: f32, far: f32) -> Mat4 {
    let scale = 1.0 / libm::tanf(fov.to_radians() / 2.0);
    let (a, b) = depth_range(near, far);
    let aspect = WIDTH as f32 / HEIGHT as f32;
    tilt()
        * Mat4::from_cols(
            Vec4::X * (scale / aspect),
            Vec4::Y * scale,
            Vec4::new(0.0, 0.0, a, -1.0),
            Vec4::new(0.0, 0.0, b, 0.0),
        )
}

/// Parallel projection of a cube of half size `half` in front of the viewer, not set on its side.
pub fn parallel(half: f32, near: f32, far: f32) -> Mat4 {
    let depth = 1.0 / (near - far);
    // z is -1 at -near and 0 at -far.
    Mat4::from_cols(
        Vec4::X / half,
        Vec4::Y / half,
        Vec4::new(0.0, 0.0, depth, 0.0),
        Vec4::new(0.0, 0.0, far * depth, 1.0),
    )
}

/// The picture's units: x to the right from -5/3 to 5/3, y up from -1 to 1, z 0 is far and -1 is near.
pub fn flat() -> Mat4 {
    tilt() * Mat4::from_scale(Vec3::new(HEIGHT as f32 / WIDTH as f32, 1.0, 1.0))
}

/// A camera.
pub fn look(from: Vec3, at: Vec3) -> Mat4 {
    Mat4::look_at_rh(from, at, Vec3::Y)
}

/// Sine and cosine of a number of turns.
pub fn turn(turns: f32) -> (f32, f32) {
    libm::sincosf(turns * std::f32::consts::TAU)
}

/// A number from 0 to 1 that looks random.
pub fn hash(seed: u32) -> f32 {
    let mut x = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x = (x ^ x >> 12).wrapping_mul(0x297a_2d39);
    ((x ^ x >> 15) >> 8) as f32 / 16_777_216.0
}

/// A colour of the rainbow.
pub fn rainbow(hue: f32) -> Vec3 {
    let channel = |shift: f32| 0.5 + 0.5 * turn(hue + shift).1;
    Vec3::new(channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0))
}
