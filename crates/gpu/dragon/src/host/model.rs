//! Models of our own.

use super::image::Image;
use super::mesh::Mesh;
use std::f32::consts::TAU;

/// A grid of `u` by `v` quads that closes in both directions, with the point and colour of each corner.
fn grid(u: u32, v: u32, corner: impl Fn(f32, f32) -> ([f32; 3], [f32; 4])) -> Mesh {
    let mut mesh = Mesh::default();
    for j in 0..v {
        for i in 0..u {
            let (position, color) = corner(i as f32 / u as f32, j as f32 / v as f32);
            mesh.positions.push(position);
            mesh.colors.push(color);
            mesh.texcoords.push(None);
            let at = |i: u32, j: u32| (j % v) * u + i % u;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// A colour of the wheel, `turn` from 0 to 1.
fn hue(turn: f32) -> [f32; 4] {
    let channel = |offset: f32| 0.5 + 0.5 * ((turn + offset) * TAU).cos();
    [channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0), 1.0]
}

/// A ring around the y axis, coloured around its tube.
pub fn torus(segments: u32, rings: u32) -> Mesh {
    grid(segments, rings, |u, v| {
        let (along, around) = (u * TAU, v * TAU);
        let radius = 0.68 + 0.32 * around.cos();
        ([radius * along.cos(), 0.32 * around.sin(), -radius * along.sin()], hue(u * 2.0 + v))
    })
}

/// A ball whose radius changes with direction. The grid closes at the poles in triangles without area.
pub fn globe(segments: u32, rings: u32) -> Mesh {
    grid(segments, rings, |u, v| {
        let (along, up) = (u * TAU, v * TAU / 2.0);
        let radius = 0.8 + 0.2 * (3.0 * along).cos() * up.sin();
        let (y, flat) = (radius * up.cos(), radius * up.sin());
        ([flat * along.cos(), y, -flat * along.sin()], hue(v + 0.2 * (5.0 * along).sin()))
    })
}

/// Boards in a frame, with a brace across.
fn boards() -> Image {
    Image::new(64, 64, |x, y| {
        let edge = x.min(y).min(63 - x).min(63 - y);
        let frame = edge < 7 || x.abs_diff(y) < 5;
        // Grain runs along the boards; the frame's boards lie the other way.
        let (along, across) = if frame { (y, x) } else { (x, y) };
        let noise = (along / 5).wrapping_mul(0x9e37_79b9) ^ across.wrapping_mul(0x85eb_ca6b);
        let grain = (noise ^ noise >> 15).wrapping_mul(0x2c1b_3c6d) >> 28;
        let gap = if frame { edge == 6 || x.abs_diff(y) == 4 } else { y % 10 == 6 };
        let light = if gap { 70 } else { 150 + 2 * grain + if frame { 50 } else { 0 } };
        let [r, g, b] = [light, light * 7 / 10, light * 2 / 5].map(|v| v.min(255) as u8);
        [r, g, b, 255]
    })
}

/// A crate of boards, textured, each side as light as it lies.
pub fn wooden_crate() -> Mesh {
    let mut mesh = Mesh::default();
    let side = 1.0 / 3f32.sqrt();
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
        let light = [[0.8, 0.55], [1.0, 0.3], [0.9, 0.65]][axis][usize::from(sign < 0.0)];
        let first = mesh.positions.len() as u32;
        for [u, v] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0f32]] {
            let mut position = [0.0; 3];
            position[axis] = sign * side;
            position[(axis + 1) % 3] = (2.0 * u - 1.0) * side;
            position[(axis + 2) % 3] = sign * (2.0 * v - 1.0) * side;
            mesh.positions.push(position);
            mesh.colors.push([light, light, light, 1.0]);
            mesh.texcoords.push(Some([u, v]));
        }
        mesh.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }
    mesh.textured(boards())
}

/// The crate in a ring of glass.
pub fn glass() -> Mesh {
    let mut mesh = wooden_crate();
    mesh.positions.iter_mut().flatten().for_each(|v| *v *= 0.75);
    let mut ring = torus(40, 20);
    ring.colors.iter_mut().for_each(|c| c[3] = 0.35);
    mesh.join(ring)
}
