//! Stencil and depth test.

use super::alpha_test::Compare;
use super::batch::{Batch, LANES, Pixels, Plane, truncate};
use super::framebuffer::{DepthFormat, PixelBuffer, Words, depth_address};
use super::options::Chip;
use crate::memory::Memory;
use crate::regs::{self, Registers};

const STENCIL_SHIFT: u32 = 24;
const DEPTH_MASK: u32 = 0xff_ffff;

/// What becomes of the stored stencil value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing.
    Keep,
    /// 0.
    Zero,
    /// The reference.
    Replace,
    /// One more, at most 255.
    Increment,
    /// One less, at least 0.
    Decrement,
    /// The complement.
    Invert,
    /// One more; 0 after 255.
    IncrementWrap,
    /// One less; 255 after 0.
    DecrementWrap,
}

impl Action {
    fn from_number(number: u32) -> Action {
        match number & 7 {
            0 => Action::Keep,
            1 => Action::Zero,
            2 => Action::Replace,
            3 => Action::Increment,
            4 => Action::Decrement,
            5 => Action::Invert,
            6 => Action::IncrementWrap,
            _ => Action::DecrementWrap,
        }
    }

    #[inline(always)]
    fn apply(self, stored: u8, reference: u8) -> u8 {
        match self {
            Action::Keep => stored,
            Action::Zero => 0,
            Action::Replace => reference,
            Action::Increment => stored.saturating_add(1),
            Action::Decrement => stored.saturating_sub(1),
            Action::Invert => !stored,
            Action::IncrementWrap => stored.wrapping_add(1),
            Action::DecrementWrap => stored.wrapping_sub(1),
        }
    }
}

/// The stencil test of a draw.
#[derive(Clone, Copy, Debug)]
pub struct Stencil {
    /// The reference's relation to the stored value, both masked.
    pub function: Compare,
    /// The reference.
    pub reference: u8,
    /// Bits that are compared.
    pub input_mask: u8,
    /// Bits that are written; 0 without write permission.
    pub write_mask: u8,
    /// Bits of the stored value that are seen; all or none.
    pub seen: u8,
    /// What happens if the test fails.
    pub stencil_fails: Action,
    /// What happens if the depth test fails.
    pub depth_fails: Action,
    /// What happens if both pass.
    pub passes: Action,
}

impl Stencil {
    fn decode(regs: &Registers, readable: bool, writable: bool) -> Stencil {
        let action = |lo| Action::from_number(regs.bits(regs::STENCIL_ACTIONS, lo, 3));
        let byte = |lo| regs.bits(regs::STENCIL_TEST, lo, 8) as u8;
        Stencil {
            function: Compare::from_number(regs.bits(regs::STENCIL_TEST, 4, 3)),
            reference: byte(16),
            input_mask: byte(24),
            write_mask: if writable { byte(8) } else { 0 },
            seen: if readable { u8::MAX } else { 0 },
            stencil_fails: action(0),
            depth_fails: action(4),
            passes: action(8),
        }
    }

    /// Applies `action` to the words of the lanes that are in `before` and not in `after`.
    #[inline(always)]
    fn act(&self, action: Action, words: &mut Words, before: &Plane, after: &Plane) {
        if action == Action::Keep || self.write_mask == 0 {
            return;
        }
        for ((word, before), after) in words.iter_mut().zip(before).zip(after) {
            if before & !after != 0 {
                let old = (*word >> STENCIL_SHIFT) as u8;
                let new = action.apply(old & self.seen, self.reference);
                let new = new & self.write_mask | old & !self.write_mask;
                *word = *word & DEPTH_MASK | u32::from(new) << STENCIL_SHIFT;
            }
        }
    }
}

/// The tests of a draw.
#[derive(Clone, Copy, Debug)]
pub struct DepthStencil {
    /// Where the depth buffer is.
    pub buffer: PixelBuffer,
    /// Format of the depth buffer.
    pub format: DepthFormat,
    /// Stencil test.
    pub stencil: Option<Stencil>,
    /// The pixel's relation to the stored depth.
    pub depth: Compare,
    /// Bits of the stored depth that are seen; all or none.
    pub seen: u32,
    /// Whether depth is written.
    pub write_depth: bool,
}

impl DepthStencil {
    /// Decodes the registers; none if pixels neither depend on the depth buffer nor change it. Stencil needs a
    /// buffer with stencil bits.
    pub fn decode(regs: &Registers, chip: Chip) -> Option<DepthStencil> {
        let format = DepthFormat::decode(regs)?;
        let any = regs.bits(regs::DEPTH_WRITE, 0, 2) != 0;
        // Bit 0 is for stencil and bit 1 for depth.
        let writable = |bit| if chip.permissions { regs.bit(regs::DEPTH_WRITE, bit) } else { any };
        let readable = |bit| !chip.permissions || regs.bit(regs::DEPTH_READ, bit);
        let stencil = (regs.bit(regs::STENCIL_TEST, 0) && format == DepthFormat::D24S8)
            .then(|| Stencil::decode(regs, readable(0), writable(0)));
        let depth = if regs.bit(regs::DEPTH_TEST, 0) {
            Compare::from_number(regs.bits(regs::DEPTH_TEST, 4, 3))
        } else {
            Compare::Always
        };
        // Depth is written even while the test is off.
        let write_depth = writable(1) && regs.bit(regs::DEPTH_TEST, 12);
        let buffer = PixelBuffer { address: depth_address(regs), bytes: format.bytes() };
        (stencil.is_some() || depth != Compare::Always || write_depth).then_some(DepthStencil {
            buffer,
            format,
            stencil,
            depth,
            seen: if readable(1) { format.max() } else { 0 },
            write_depth,
        })
    }

    /// Tests the batch, which needs its depth, and updates the buffer.
    #[inline(always)]
    pub fn run(&self, batch: &mut Batch, pixels: &Pixels, memory: &mut dyn Memory) {
        let lanes = batch.lanes();
        let mut words = [0; LANES];
        self.buffer.load(memory, pixels, &mut words);
        let before = batch.alive;
        if let Some(stencil) = &self.stencil {
            let reference = stencil.reference & stencil.input_mask;
            let stored =
                |lane: usize| (words[lane] >> STENCIL_SHIFT) as u8 & stencil.seen & stencil.input_mask;
            stencil.function.keep(&mut batch.alive[..lanes], |_| reference, stored);
            stencil.act(stencil.stencil_fails, &mut words, &before, &batch.alive);
        }
        let passed_stencil = batch.alive;
        let max = self.format.max();
        let mut depths = [0; LANES];
        for (to, from) in depths[..lanes].iter_mut().zip(&batch.depth[..lanes]) {
            *to = truncate(from * max as f32) as u32;
        }
        self.depth.keep(
            &mut batch.alive[..lanes],
            |lane| depths[lane] as i32,
            |lane| (words[lane] & self.seen) as i32,
        );
        if let Some(stencil) = &self.stencil {
            stencil.act(stencil.depth_fails, &mut words, &passed_stencil, &batch.alive);
            stencil.act(stencil.passes, &mut words, &batch.alive, &[0; LANES]);
        }
        if self.write_depth {
            for ((word, depth), alive) in words[..lanes].iter_mut().zip(&depths).zip(&batch.alive) {
                let mask = *alive as i16 as u32 & max;
                *word = *word & !mask | depth & mask;
            }
        }
        if self.stencil.is_some() {
            self.buffer.store(memory, pixels, &words, &before);
        } else if self.write_depth {
            self.buffer.store(memory, pixels, &words, &batch.alive);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions};

    #[test]
    fn stencil_actions() {
        let results = |stored| {
            let apply = |number| Action::from_number(number).apply(stored, 0x55);
            [0, 1, 2, 3, 4, 5, 6, 7].map(apply)
        };
        assert_eq!(results(0x0f), [0x0f, 0, 0x55, 0x10, 0x0e, 0xf0, 0x10, 0x0e]);
        assert_eq!(results(0xff), [0xff, 0, 0x55, 0xff, 0xfe, 0x00, 0x00, 0xfe]);
        assert_eq!(results(0x00), [0x00, 0, 0x55, 0x01, 0x00, 0xff, 0x01, 0xff]);
    }

    struct Case {
        format: u32,
        depth_test: u32,
        stencil_test: u32,
        actions: u32,
    }

    /// Whether the pixel survives, and what is stored.
    fn run(case: &Case, stored: u32, depth: f32) -> (bool, u32) {
        let mut regs = Registers::default();
        regs.set(regs::DEPTH_FORMAT, case.format);
        regs.set(regs::DEPTH_ADDRESS, FCRAM / 8);
        regs.set(regs::DEPTH_WRITE, 3);
        regs.set(regs::DEPTH_TEST, case.depth_test);
        regs.set(regs::STENCIL_TEST, case.stencil_test);
        regs.set(regs::STENCIL_ACTIONS, case.actions);
        let mut memory = Regions::console(4);
        memory.bytes_mut(FCRAM, 4).unwrap().copy_from_slice(&stored.to_le_bytes());
        let mut batch = Batch::of(1);
        batch.depth = [depth; LANES];
        let pixels = Pixels { len: 1, ..Pixels::default() };
        if let Some(tests) = DepthStencil::decode(&regs, Chip::default()) {
            tests.run(&mut batch, &pixels, &mut memory);
        }
        let word = u32::from_le_bytes(*memory.bytes(FCRAM, 4).unwrap().first_chunk().unwrap());
        (batch.alive[0] != 0, word)
    }

    const WRITE: u32 = 1 << 12;

    #[test]
    fn depth_is_compared_and_written_in_every_format() {
        let less = |format| Case { format, depth_test: 0x41 | WRITE, stencil_test: 0, actions: 0 };
        assert_eq!(run(&less(0), 0xaaaa_8000, 0.25), (true, 0xaaaa_3fff));
        assert_eq!(run(&less(2), 0xaa80_0000, 0.25), (true, 0xaa3f_ffff));
        assert_eq!(run(&less(3), 0xaa80_0000, 0.25), (true, 0xaa3f_ffff));
        assert_eq!(run(&less(3), 0xaa80_0000, 0.75), (false, 0xaa80_0000));
    }

    #[test]
    fn depth_is_written_with_the_test_off() {
        let case = Case { format: 0, depth_test: WRITE, stencil_test: 0, actions: 0 };
        assert_eq!(run(&case, 0, 1.0), (true, 0xffff));
    }

    #[test]
    fn stencil_chooses_its_action() {
        // Equal to 3 in the low four bits; fails: zero, depth fails: replace, passes: increment.
        let stencil_test = 0x0f03_ff21;
        let case = |depth_test| Case { format: 3, depth_test, stencil_test, actions: 0x321 };
        assert_eq!(run(&case(0x41), 0x0480_0000, 0.25), (false, 0x0080_0000));
        assert_eq!(run(&case(0x41), 0x1380_0000, 0.75), (false, 0x0380_0000));
        assert_eq!(run(&case(0x41), 0x1380_0000, 0.25), (true, 0x1480_0000));
        assert_eq!(run(&case(0), 0x1380_0000, 0.75), (true, 0x1480_0000));
    }

    #[test]
    fn stencil_write_mask() {
        let case = Case { format: 3, depth_test: 0, stencil_test: 0x00ff_0f11, actions: 0x200 };
        assert_eq!(run(&case, 0xa500_0000, 0.0), (true, 0xaf00_0000));
    }
}
