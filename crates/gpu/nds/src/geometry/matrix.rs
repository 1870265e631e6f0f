//! Matrices of 20.12 fixed point and the rows that vectors are.
//!
//! Products are summed in 64 bits, shifted right by 12 without rounding, and kept to 32 bits.

/// Fraction bits.
const FRACTION: u32 = 12;
/// 1.0.
pub const ONE: i32 = 1 << FRACTION;

/// A 4x4 matrix, row after row; vectors are rows, multiplied from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix(pub [i32; 16]);

impl Default for Matrix {
    fn default() -> Matrix {
        Matrix::IDENTITY
    }
}

/// The sum of products of 64 bits; what overflows is above the bits that are kept.
#[inline]
fn dot<const N: usize>(a: [i32; N], b: [i32; N]) -> i64 {
    let mut sum = 0i64;
    for i in 0..N {
        sum = sum.wrapping_add(i64::from(a[i]) * i64::from(b[i]));
    }
    sum
}

impl Matrix {
    /// Neutral.
    pub const IDENTITY: Matrix = Matrix([ONE, 0, 0, 0, 0, ONE, 0, 0, 0, 0, ONE, 0, 0, 0, 0, ONE]);
    /// All zero.
    pub const ZERO: Matrix = Matrix([0; 16]);

    /// From 16 parameters.
    pub fn from_4x4(p: &[u32; 16]) -> Matrix {
        Matrix(p.map(|w| w as i32))
    }

    /// From 12 parameters; the fourth column is the identity's.
    pub fn from_4x3(p: &[u32; 12]) -> Matrix {
        let mut out = Matrix::IDENTITY;
        for row in 0..4 {
            for column in 0..3 {
                out.0[row * 4 + column] = p[row * 3 + column] as i32;
            }
        }
        out
    }

    /// From 9 parameters; the fourth row and column are the identity's.
    pub fn from_3x3(p: &[u32; 9]) -> Matrix {
        let mut out = Matrix::IDENTITY;
        for row in 0..3 {
            for column in 0..3 {
                out.0[row * 4 + column] = p[row * 3 + column] as i32;
            }
        }
        out
    }

    /// A column.
    #[inline]
    fn column(&self, j: usize) -> [i32; 4] {
        [self.0[j], self.0[j + 4], self.0[j + 8], self.0[j + 12]]
    }

    /// `row` times this matrix.
    #[inline]
    pub fn transform(&self, row: [i32; 4]) -> [i32; 4] {
        std::array::from_fn(|j| (dot(row, self.column(j)) >> FRACTION) as i32)
    }

    /// Sums of the products of `row` with the upper three rows, before any shift.
    #[inline]
    pub fn rotate(&self, row: [i32; 3]) -> [i64; 3] {
        std::array::from_fn(|j| dot(row, [self.0[j], self.0[j + 4], self.0[j + 8]]))
    }

    /// The sum of the products of `row` with column `j`, before any shift.
    #[inline]
    pub fn dot_column(&self, row: [i32; 4], j: usize) -> i64 {
        dot(row, self.column(j))
    }

    /// `left` times this matrix, as MTX_MULT does.
    pub fn multiply(&mut self, left: &Matrix) {
        let rows = left.0.as_chunks::<4>().0;
        let product: [[i32; 4]; 4] = std::array::from_fn(|i| self.transform(rows[i]));
        self.0.copy_from_slice(product.as_flattened());
    }

    /// Scales the upper three rows.
    pub fn scale(&mut self, factors: [i32; 3]) {
        for (row, factor) in self.0.as_chunks_mut::<4>().0.iter_mut().zip(factors) {
            for v in row {
                *v = ((i64::from(*v) * i64::from(factor)) >> FRACTION) as i32;
            }
        }
    }

    /// Moves by a vector.
    pub fn translate(&mut self, [x, y, z]: [i32; 3]) {
        let row = self.transform([x, y, z, ONE]);
        self.0[12..].copy_from_slice(&row);
    }

    /// The upper left 3x3 part, row after row.
    pub fn upper_3x3(&self) -> [i32; 9] {
        std::array::from_fn(|i| self.0[i / 3 * 4 + i % 3])
    }
}

impl crate::state::Stated for Matrix {
    fn state(&mut self, io: &mut crate::state::Io) -> Result<(), crate::state::StateError> {
        self.0.state(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_cut_not_rounded_and_wrap() {
        let mut m = Matrix::IDENTITY;
        m.scale([-1, ONE / 2, 3]);
        assert_eq!((m.0[0], m.0[5], m.0[10]), (-1, ONE / 2, 3));
        assert_eq!(m.transform([1, 1, -1, 0]), [-1, 0, -1, 0]);
        let mut big = Matrix::IDENTITY;
        big.0[0] = i32::MAX;
        big.multiply(&big.clone());
        assert_eq!(big.0[0], ((i64::from(i32::MAX) * i64::from(i32::MAX)) >> 12) as i32);
    }

    #[test]
    fn multiplication_is_from_the_left() {
        let mut m = Matrix::IDENTITY;
        m.translate([ONE, 0, 0]);
        let mut scale = Matrix::IDENTITY;
        scale.scale([2 * ONE; 3]);
        m.multiply(&scale);
        assert_eq!(m.transform([ONE, 0, 0, ONE])[0], 3 * ONE);
    }
}
