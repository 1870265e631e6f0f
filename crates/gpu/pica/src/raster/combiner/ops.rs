//! The operations of a combiner stage on one channel: 8-bit integers, divisions truncating.

/// An operation, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A.
    Replace,
    /// A·B.
    Modulate,
    /// A + B.
    Add,
    /// A + B − ½.
    AddSigned,
    /// A·C + B·(1 − C).
    Interpolate,
    /// A − B.
    Subtract,
    /// Dot product of A and B as signed vectors.
    Dot3,
    /// A·B + C.
    MultiplyAdd,
    /// (A + B)·C.
    AddMultiply,
}

impl Op {
    /// The operation of a number. 7, the dot product that also sets alpha, gives [`Op::Dot3`]; numbers above 9 are
    /// none.
    pub fn from_number(number: u32) -> Option<Op> {
        Some(match number {
            0 => Op::Replace,
            1 => Op::Modulate,
            2 => Op::Add,
            3 => Op::AddSigned,
            4 => Op::Interpolate,
            5 => Op::Subtract,
            6 | 7 => Op::Dot3,
            8 => Op::MultiplyAdd,
            9 => Op::AddMultiply,
            _ => return None,
        })
    }

    /// How many operands matter.
    pub fn operands(self) -> usize {
        match self {
            Op::Replace => 1,
            Op::Modulate | Op::Add | Op::AddSigned | Op::Subtract | Op::Dot3 => 2,
            Op::Interpolate | Op::MultiplyAdd | Op::AddMultiply => 3,
        }
    }

    /// Applies the operation to slices of equal length. [`Op::Dot3`] has no meaning for one channel: 0.
    #[inline(always)]
    pub fn run(self, out: &mut [u16], a: &[u16], b: &[u16], c: &[u16]) {
        match self {
            Op::Replace => out.copy_from_slice(a),
            Op::Modulate => each(out, a, b, c, |a, b, _| a * b / 255),
            Op::Add => each(out, a, b, c, |a, b, _| (a + b).min(255)),
            Op::AddSigned => each(out, a, b, c, |a, b, _| (a + b).saturating_sub(128).min(255)),
            Op::Interpolate => each(out, a, b, c, |a, b, c| (a * c + b * (255 - c)) / 255),
            Op::Subtract => each(out, a, b, c, |a, b, _| a.saturating_sub(b)),
            Op::Dot3 => out.fill(0),
            // C is a whole number of 255ths: it may be added after the division.
            Op::MultiplyAdd => each(out, a, b, c, |a, b, c| (a * b / 255 + c).min(255)),
            Op::AddMultiply => each(out, a, b, c, |a, b, c| (a + b).min(255) * c / 255),
        }
    }

    /// The same for single values.
    pub fn fold(self, a: u8, b: u8, c: u8) -> u8 {
        let mut out = [0];
        self.run(&mut out, &[u16::from(a)], &[u16::from(b)], &[u16::from(c)]);
        out[0] as u8
    }
}

#[inline(always)]
fn each(out: &mut [u16], a: &[u16], b: &[u16], c: &[u16], op: impl Fn(u16, u16, u16) -> u16) {
    for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = op(a & 0xff, b & 0xff, c & 0xff);
    }
}

/// Sum over the channels of (2A − 255)·(2B − 255), rounded to 256ths towards zero each.
#[inline(always)]
pub fn dot3(a: [u16; 3], b: [u16; 3]) -> u16 {
    let signed = |value: u16| 2 * i32::from(value) - 255;
    let product = |i: usize| (signed(a[i]) * signed(b[i]) + 128) / 256;
    (product(0) + product(1) + product(2)).clamp(0, 255) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation against its equation in wide integers, for all pairs and a few values of C.
    #[test]
    fn equations() {
        type Equation = fn(i32, i32, i32) -> i32;
        let equations: [(Op, Equation); 8] = [
            (Op::Replace, |a, _, _| a),
            (Op::Modulate, |a, b, _| a * b / 255),
            (Op::Add, |a, b, _| a + b),
            (Op::AddSigned, |a, b, _| a + b - 128),
            (Op::Interpolate, |a, b, c| (a * c + b * (255 - c)) / 255),
            (Op::Subtract, |a, b, _| a - b),
            (Op::MultiplyAdd, |a, b, c| (a * b + 255 * c) / 255),
            (Op::AddMultiply, |a, b, c| (a + b).min(255) * c / 255),
        ];
        for (op, equation) in equations {
            for a in 0..=255u8 {
                for b in 0..=255u8 {
                    for c in [0, 1, 100, 127, 128, 254, 255u8] {
                        let expected = equation(a.into(), b.into(), c.into()).clamp(0, 255);
                        assert_eq!(i32::from(op.fold(a, b, c)), expected, "{op:?} {a} {b} {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn dot_products() {
        assert_eq!(dot3([255; 3], [255; 3]), 255);
        assert_eq!(dot3([255; 3], [0; 3]), 0);
        assert_eq!(dot3([255, 128, 128], [255, 128, 128]), 254);
        // Below zero each term is rounded up: (-255 + 128) / 256 = 0.
        assert_eq!(dot3([0, 255, 127], [128, 255, 128]), 254);
    }
}
