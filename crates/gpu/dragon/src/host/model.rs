//! Models of our own.

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
