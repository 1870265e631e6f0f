//! The early depth test: fragments are dropped before all else, stencil actions included.

use super::batch::{Batch, Pixels};
use super::options::Chip;
use crate::early_depth::{DEPTH_MAX, EarlyDepth};
use crate::regs::{self, Registers};

/// The relation of a fragment's depth to the buffer's (3dbrew: 061).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    GreaterOrEqual,
    Greater,
    LessOrEqual,
    Less,
}

/// The early depth test of a draw.
#[derive(Clone, Copy, Debug)]
pub struct EarlyTest {
    function: Function,
    /// Whether fragments that pass leave their depth in the buffer.
    write: bool,
}

/// Whether the draw asks for the test. 3dbrew has a bit in two registers, which citro3d always sets alike
/// (`C3Di_EffectBind`): the test is on if both are.
fn is_on(regs: &Registers) -> bool {
    regs.bit(regs::EARLY_DEPTH, 0) && regs.bit(regs::EARLY_DEPTH_ENABLE, 0)
}

impl EarlyTest {
    /// Decodes the registers, if the test is on and obeyed.
    pub fn decode(regs: &Registers, chip: Chip) -> Option<EarlyTest> {
        let function = match regs.bits(regs::EARLY_DEPTH_FUNCTION, 0, 2) {
            0 => Function::GreaterOrEqual,
            1 => Function::Greater,
            2 => Function::LessOrEqual,
            _ => Function::Less,
        };
        let write = regs.bit(regs::DEPTH_TEST, 12) && regs.bits(regs::DEPTH_WRITE, 0, 2) != 0;
        (chip.early_depth && is_on(regs)).then_some(EarlyTest { function, write })
    }

    /// Tests the batch, which needs its depth, and updates the buffer.
    pub fn run(&self, batch: &mut Batch, pixels: &Pixels, buffer: &mut EarlyDepth) {
        for (lane, &place) in pixels.index.iter().enumerate().take(batch.len) {
            let (depth, stored) = ((batch.depth[lane] * DEPTH_MAX as f32) as u32, buffer.get(place));
            let passes = match self.function {
                Function::GreaterOrEqual => depth >= stored,
                Function::Greater => depth > stored,
                Function::LessOrEqual => depth <= stored,
                Function::Less => depth < stored,
            };
            if !passes {
                batch.alive[lane] = 0;
            } else if self.write {
                buffer.set(place, depth);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_decides_and_what_passes_is_kept() {
        let mut regs = Registers::default();
        regs.set(regs::EARLY_DEPTH, 1);
        regs.set(regs::EARLY_DEPTH_ENABLE, 1);
        regs.set(regs::DEPTH_TEST, 1 << 12);
        regs.set(regs::DEPTH_WRITE, 2);
        assert!(EarlyTest::decode(&regs, Chip::default()).is_none());
        // Below, equal to and above what is stored.
        for (function, expected) in [
            (0, [false, true, true]),
            (1, [false, false, true]),
            (2, [true, true, false]),
            (3, [true, false, false]),
        ] {
            regs.set(regs::EARLY_DEPTH_FUNCTION, function);
            let test = EarlyTest::decode(&regs, Chip::ALL).unwrap();
            let mut buffer = EarlyDepth::default();
            buffer.clear(DEPTH_MAX / 2);
            let mut batch = Batch::of(3);
            batch.depth[..3].copy_from_slice(&[0.25, 0.5, 0.75]);
            let mut pixels = Pixels::default();
            (0..3).for_each(|n| pixels.push(n * 5, [0; 3]));
            test.run(&mut batch, &pixels, &mut buffer);
            assert_eq!([0, 1, 2].map(|lane| batch.alive[lane] != 0), expected, "{function}");
            let changed = [0, 1, 2].map(|n| buffer.get(n * 5) != DEPTH_MAX / 2);
            assert_eq!(changed, [expected[0], false, expected[2]], "{function}");
        }
    }
}
