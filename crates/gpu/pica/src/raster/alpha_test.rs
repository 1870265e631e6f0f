//! Comparison functions and the alpha test.

use super::batch::Batch;
use crate::regs::{self, Registers};

/// Relation of a pixel's value to the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Never true.
    Never,
    /// Always true.
    Always,
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterEqual,
}

impl Compare {
    /// The function of a number; the lowest three bits count.
    pub fn from_number(number: u32) -> Compare {
        match number & 7 {
            0 => Compare::Never,
            1 => Compare::Always,
            2 => Compare::Equal,
            3 => Compare::NotEqual,
            4 => Compare::Less,
            5 => Compare::LessEqual,
            6 => Compare::Greater,
            _ => Compare::GreaterEqual,
        }
    }

    /// Clears in `alive` the lanes for which `value op reference` does not hold.
    #[inline(always)]
    pub fn keep<T: Copy + PartialOrd>(
        self,
        alive: &mut [u16],
        value: impl Fn(usize) -> T,
        reference: impl Fn(usize) -> T,
    ) {
        match self {
            Compare::Never => alive.fill(0),
            Compare::Always => {}
            Compare::Equal => Batch::keep(alive, |lane| value(lane) == reference(lane)),
            Compare::NotEqual => Batch::keep(alive, |lane| value(lane) != reference(lane)),
            Compare::Less => Batch::keep(alive, |lane| value(lane) < reference(lane)),
            Compare::LessEqual => Batch::keep(alive, |lane| value(lane) <= reference(lane)),
            Compare::Greater => Batch::keep(alive, |lane| value(lane) > reference(lane)),
            Compare::GreaterEqual => Batch::keep(alive, |lane| value(lane) >= reference(lane)),
        }
    }
}

/// The alpha test of a draw.
#[derive(Clone, Copy, Debug)]
pub struct AlphaTest {
    /// Alpha's relation to the reference.
    pub function: Compare,
    /// The reference, 0 to 255.
    pub reference: u16,
}

impl AlphaTest {
    /// Decodes the register; none if every pixel passes.
    pub fn decode(regs: &Registers) -> Option<AlphaTest> {
        let function = Compare::from_number(regs.bits(regs::ALPHA_TEST, 4, 3));
        let reference = regs.bits(regs::ALPHA_TEST, 8, 8) as u16;
        (regs.bit(regs::ALPHA_TEST, 0) && function != Compare::Always)
            .then_some(AlphaTest { function, reference })
    }

    /// Whether a pixel of this alpha passes.
    pub fn passes(&self, alpha: u16) -> bool {
        let mut alive = [u16::MAX];
        self.function.keep(&mut alive, |_| alpha, |_| self.reference);
        alive[0] != 0
    }

    /// Kills the pixels that fail.
    #[inline(always)]
    pub fn run(&self, batch: &mut Batch) {
        let lanes = batch.lanes();
        let alpha = &batch.color[3];
        self.function.keep(&mut batch.alive[..lanes], |lane| alpha[lane], |_| self.reference);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_by_number() {
        let holds = |number, value| {
            let mut alive = [u16::MAX];
            Compare::from_number(number).keep(&mut alive, |_| value, |_| 5);
            alive[0] != 0
        };
        let table = [(4, 0b0011_1010), (5, 0b1010_0110), (6, 0b1100_1010)];
        for (value, functions) in table {
            for number in 0..8 {
                assert_eq!(holds(number, value), functions >> number & 1 != 0, "{value} {number}");
            }
        }
    }
}
