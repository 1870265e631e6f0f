//! Nodes of a scene, and where they put things.

use serde::Deserialize;

/// A node: a matrix by columns, or scale, then rotation (a quaternion), then translation.
#[derive(Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    matrix: Option<[f32; 16]>,
    #[serde(default)]
    translation: [f32; 3],
    #[serde(default = "no_turn")]
    rotation: [f32; 4],
    #[serde(default = "no_scale")]
    scale: [f32; 3],
}

fn no_turn() -> [f32; 4] {
    [0.0, 0.0, 0.0, 1.0]
}

fn no_scale() -> [f32; 3] {
    [1.0; 3]
}

/// Three rows of four: where x, y, z and 1 go.
pub(super) type Matrix = [[f32; 4]; 3];

pub(super) const IDENTITY: Matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

impl Node {
    /// Where it is in its parent.
    pub fn matrix(&self) -> Matrix {
        if let Some(m) = self.matrix {
            return std::array::from_fn(|row| std::array::from_fn(|column| m[4 * column + row]));
        }
        let [x, y, z, w] = self.rotation;
        let turn = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ];
        std::array::from_fn(|row| {
            let [a, b, c] = turn[row];
            [a * self.scale[0], b * self.scale[1], c * self.scale[2], self.translation[row]]
        })
    }
}

/// First `b`, then `a`.
pub(super) fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    let at = |row: usize, column: usize| {
        let own = if column == 3 { a[row][3] } else { 0.0 };
        own + (0..3).map(|n| a[row][n] * b[n][column]).sum::<f32>()
    };
    std::array::from_fn(|row| std::array::from_fn(|column| at(row, column)))
}

/// Where a point goes.
pub(super) fn place(m: &Matrix, p: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|row| m[row][0] * p[0] + m[row][1] * p[1] + m[row][2] * p[2] + m[row][3])
}

/// Whether what is mirrored is turned inside out.
pub(super) fn mirrors(m: &Matrix) -> bool {
    let [a, b, c] = m;
    let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
    a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2] < 0.0
}
