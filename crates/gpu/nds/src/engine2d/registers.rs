//! Registers of a 2D engine.

use super::Kind;
use crate::state::{Io, StateError, Stated};

bitflags::bitflags! {
    /// DISPCNT. Numbers among its bits are read by [`Registers`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DispCnt: u32 {
        /// BG0 is the picture of the 3D engines.
        const THREE_D = 1 << 3;
        /// Tiles of an OBJ follow each other.
        const OBJ_TILES_1D = 1 << 4;
        /// Bitmaps of OBJs are parts of one of 256 pixels, not 128.
        const OBJ_BITMAP_WIDE = 1 << 5;
        /// Rows of a bitmap OBJ follow each other.
        const OBJ_BITMAP_1D = 1 << 6;
        /// White.
        const FORCED_BLANK = 1 << 7;
        /// OBJs.
        const OBJ = 1 << 12;
        /// BG0 to BG3, and OBJs.
        const LAYERS = 0x1f << 8;
        /// Window 0.
        const WINDOW_0 = 1 << 13;
        /// Window 1.
        const WINDOW_1 = 1 << 14;
        /// The window of OBJs.
        const OBJ_WINDOW = 1 << 15;
        /// Extended palettes of backgrounds.
        const BACKGROUND_PALETTES = 1 << 30;
        /// Extended palettes of OBJs.
        const OBJ_PALETTES = 1 << 31;
        const _ = !0;
    }
}

impl DispCnt {
    /// Whether background `n` is shown.
    pub fn shows_background(self, n: usize) -> bool {
        self.bits() & 0x100 << n != 0
    }
}

/// Bits that engine B's DISPCNT has.
const B_BITS: u32 = 0xc0b1_fff7;
/// Halfwords of registers up to MASTER_BRIGHT.
const HALVES: usize = 0x70 / 2;

/// Registers of a 2D engine, as written.
#[derive(Clone, Debug)]
pub struct Registers {
    is_b: bool,
    halves: [u16; HALVES],
}

impl Registers {
    /// After a reset.
    pub fn new(is_b: bool) -> Registers {
        let mut halves = [0; HALVES];
        halves[0x52 / 2] = 16;
        Registers { is_b, halves }
    }

    /// 16 bits at an even offset from DISPCNT, as written.
    pub fn half(&self, offset: u32) -> u16 {
        self.halves.get(offset as usize / 2).copied().unwrap_or(0)
    }

    /// Writes 16 bits at an even offset from DISPCNT.
    pub fn write(&mut self, offset: u32, value: u16) {
        let mask = match offset {
            0x00 if self.is_b => B_BITS as u16,
            0x02 if self.is_b => (B_BITS >> 16) as u16,
            0x48 | 0x4a => 0x3f3f,
            0x50 => 0x3fff,
            0x52 => 0x1f1f,
            0x6c => 0xc01f,
            _ => 0xffff,
        };
        if let Some(half) = self.halves.get_mut(offset as usize / 2) {
            *half = value & mask;
        }
    }

    /// What the processor reads at an even offset; registers that can only be written are 0.
    pub fn read(&self, offset: u32) -> u16 {
        match offset {
            0x00..0x04 | 0x08..0x10 | 0x48 | 0x4a | 0x50 | 0x52 | 0x6c => self.half(offset),
            _ => 0,
        }
    }

    /// DISPCNT as a number.
    pub fn control(&self) -> u32 {
        u32::from(self.half(0)) | u32::from(self.half(2)) << 16
    }

    /// The flags of DISPCNT.
    pub fn dispcnt(&self) -> DispCnt {
        DispCnt::from_bits_retain(self.control())
    }

    /// Whether it is engine B.
    pub fn is_b(&self) -> bool {
        self.is_b
    }

    /// What the backgrounds are in the current mode.
    pub(super) fn kinds(&self) -> [Kind; 4] {
        use Kind::{Affine, Extended, Large, None, Text, ThreeD};
        let mode = self.control() & 7;
        let [bg2, bg3] = match mode {
            0 => [Text, Text],
            1 => [Text, Affine],
            2 => [Affine, Affine],
            3 => [Text, Extended],
            4 => [Affine, Extended],
            5 => [Extended, Extended],
            6 => [Large, None],
            _ => [None, None],
        };
        // Mode 6 of engine B and mode 7 are not documented; this is what melonDS does.
        let text = if mode == 6 { None } else { Text };
        let bg0 = if !self.is_b && self.dispcnt().contains(DispCnt::THREE_D) { ThreeD } else { text };
        let bg1 = text;
        [bg0, bg1, bg2, bg3]
    }

    /// BGnCNT.
    pub fn background(&self, n: usize) -> u16 {
        self.half(8 + 2 * n as u32)
    }

    /// BGnHOFS and BGnVOFS, 9 bits each.
    pub fn scroll(&self, n: usize) -> [u32; 2] {
        [0x10, 0x12].map(|at| u32::from(self.half(at + 4 * n as u32) & 0x1ff))
    }

    /// PA, PB, PC and PD of BG2 (0) or BG3 (1), with 8 bits of fraction.
    pub fn matrix(&self, n: usize) -> [i32; 4] {
        [0, 2, 4, 6].map(|at| i32::from(self.half(0x20 + 0x10 * n as u32 + at) as i16))
    }

    /// X and Y of BG2 (0) or BG3 (1): 28 bits with a sign, 8 of them a fraction.
    pub fn origin(&self, n: usize) -> [i32; 2] {
        [0x28, 0x2c].map(|at| {
            let at = at + 0x10 * n as u32;
            let bits = u32::from(self.half(at)) | u32::from(self.half(at + 2)) << 16;
            (bits << 4) as i32 >> 4
        })
    }

    /// First column of a window, and the one after its last.
    pub fn window_columns(&self, n: usize) -> [u8; 2] {
        self.half(0x40 + 2 * n as u32).to_be_bytes()
    }

    /// First line of a window, and the one after its last.
    pub fn window_rows(&self, n: usize) -> [u8; 2] {
        self.half(0x44 + 2 * n as u32).to_be_bytes()
    }

    /// What is shown within a window.
    pub fn window_inside(&self, n: usize) -> u8 {
        (self.half(0x48) >> (8 * n)) as u8 & 0x3f
    }

    /// What is shown outside of all windows, and within that of OBJs.
    pub fn window_outside(&self) -> [u8; 2] {
        self.half(0x4a).to_le_bytes().map(|b| b & 0x3f)
    }

    /// A field of MOSAIC: width and height of backgrounds, width and height of OBJs, each less one.
    pub fn mosaic(&self, field: u32) -> u8 {
        (self.half(0x4c) >> (4 * field)) as u8 & 15
    }

    /// First targets, in the bits of layers.
    pub fn first_targets(&self) -> u8 {
        self.half(0x50) as u8 & 0x3f
    }

    /// Second targets.
    pub fn second_targets(&self) -> u8 {
        (self.half(0x50) >> 8) as u8 & 0x3f
    }

    /// The colour effect: none, blending, brighter, darker.
    pub fn effect(&self) -> u16 {
        self.half(0x50) >> 6 & 3
    }

    /// EVA and EVB, up to 16.
    pub fn blend_factors(&self) -> [u8; 2] {
        self.half(0x52).to_le_bytes().map(|b| (b & 31).min(16))
    }

    /// EVY, up to 16.
    pub fn brightness_factor(&self) -> u8 {
        (self.half(0x54) as u8 & 31).min(16)
    }

    /// Where tiles of text start, and where maps do: what DISPCNT adds.
    pub fn bases(&self) -> [u32; 2] {
        if self.is_b { [0, 0] } else { [24, 27].map(|bit| (self.control() >> bit & 7) * 0x10000) }
    }
}

impl Stated for Registers {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Registers { is_b: _, halves } = self;
        let mut written = *halves;
        written.state(io)?;
        // Bits that do not exist are not taken over.
        for (half, value) in written.into_iter().enumerate() {
            self.write(2 * half as u32, value);
        }
        Ok(())
    }
}

impl Stated for DispCnt {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        io.number(self, |control| control.bits(), DispCnt::from_bits_retain)
    }
}
