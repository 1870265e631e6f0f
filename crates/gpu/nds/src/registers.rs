//! Rendering registers: what a frame is drawn with besides its polygons.

/// Bytes of the registers in a scene file (`vectors/nds/FORMAT.md`, chunk `REGS`).
pub const REGISTER_BYTES: usize = 136;

bitflags::bitflags! {
    /// DISP3DCNT, 0x04000060.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Control: u16 {
        /// Polygons are textured.
        const TEXTURES = 1 << 0;
        /// Polygon mode 2 is highlight, not toon.
        const HIGHLIGHT = 1 << 1;
        /// Pixels with an alpha up to the reference are dropped.
        const ALPHA_TEST = 1 << 2;
        /// Translucent pixels are blended, not copied.
        const BLENDING = 1 << 3;
        /// Edges are blended with what lies under them.
        const ANTIALIASING = 1 << 4;
        /// Outlines are drawn between polygon ids.
        const EDGE_MARKING = 1 << 5;
        /// Fog changes alpha only.
        const FOG_ALPHA_ONLY = 1 << 6;
        /// Fog.
        const FOG = 1 << 7;
        /// The screen took a row that was not drawn yet; set by the whole machine ([`crate::video`]), cleared by writing 1.
        const UNDERFLOW = 1 << 12;
        /// Polygon or vertex memory overflowed; set by the geometry engine, cleared by writing 1.
        const OVERFLOW = 1 << 13;
        /// The frame starts with an image from texture memory, not with a colour.
        const CLEAR_IMAGE = 1 << 14;
    }
}

/// The rendering registers, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// DISP3DCNT, 0x04000060; see [`Control`]. Bits 8 to 11 are the shift of fog.
    pub control: u16,
    /// ALPHA_TEST_REF, 0x04000340: 5 bits.
    pub alpha_test_ref: u8,
    /// CLEAR_COLOR, 0x04000350: \[14:0\] RGB555, \[15\] fog, \[20:16\] alpha, \[29:24\] polygon id.
    pub clear_color: u32,
    /// CLEAR_DEPTH, 0x04000354: 15 bits.
    pub clear_depth: u16,
    /// CLRIMAGE_OFFSET, 0x04000356: x in the low byte, y in the high byte.
    pub clear_image_offset: u16,
    /// FOG_COLOR, 0x04000358: \[14:0\] RGB555, \[20:16\] alpha.
    pub fog_color: u32,
    /// FOG_OFFSET, 0x0400035C: 15 bits.
    pub fog_offset: u16,
    /// DISP_1DOT_DEPTH, 0x04000610: 15 bits.
    pub one_dot_depth: u16,
    /// EDGE_COLOR, 0x04000330: RGB555 by polygon id / 8.
    pub edge_colors: [u16; 8],
    /// FOG_TABLE, 0x04000360: densities of 7 bits.
    pub fog_table: [u8; 32],
    /// TOON_TABLE, 0x04000380: RGB555.
    pub toon_table: [u16; 32],
    /// BG0HOFS, 0x04000010: horizontal scroll of the 3D layer, 9 bits.
    pub scroll_x: u16,
}

impl Registers {
    /// The bits of DISP3DCNT.
    pub fn control(&self) -> Control {
        Control::from_bits_truncate(self.control)
    }

    /// Pixels up to this alpha are dropped: 0 if there is no alpha test.
    pub fn alpha_dropped(&self) -> u32 {
        if self.control().contains(Control::ALPHA_TEST) { u32::from(self.alpha_test_ref & 31) } else { 0 }
    }

    /// Shift of the fog's step, 0 to 15.
    pub fn fog_shift(&self) -> u32 {
        u32::from(self.control >> 8 & 15)
    }

    /// 16 bits at an even address from 0x04000320 to 0x040003BE, as written.
    pub fn half(&self, address: u32) -> u16 {
        let low = |value: u32, at: u32| (value >> (8 * (at & 2))) as u16;
        let index = |first: u32| (address.wrapping_sub(first) / 2) as usize;
        match address & !1 {
            0x0400_0330..0x0400_0340 => self.edge_colors[index(0x0400_0330) % 8],
            0x0400_0340 => self.alpha_test_ref.into(),
            at @ 0x0400_0350..0x0400_0354 => low(self.clear_color, at),
            0x0400_0354 => self.clear_depth,
            0x0400_0356 => self.clear_image_offset,
            at @ 0x0400_0358..0x0400_035c => low(self.fog_color, at),
            0x0400_035c => self.fog_offset,
            0x0400_0360..0x0400_0380 => {
                let at = 2 * index(0x0400_0360) % 32;
                u16::from_le_bytes([self.fog_table[at], self.fog_table[at + 1]])
            }
            0x0400_0380..0x0400_03c0 => self.toon_table[index(0x0400_0380) % 32],
            _ => 0,
        }
    }

    /// Writes 16 bits at an even address from 0x04000320 to 0x040003BE; where there is no register, nothing.
    pub fn write_half(&mut self, address: u32, value: u16) {
        let index = |first: u32| (address.wrapping_sub(first) / 2) as usize;
        let put = |word: &mut u32, bits: u32| {
            let shift = 8 * (address & 2);
            *word = (*word & !(0xffff << shift) | u32::from(value) << shift) & bits;
        };
        match address & !1 {
            0x0400_0330..0x0400_0340 => self.edge_colors[index(0x0400_0330) % 8] = value & 0x7fff,
            0x0400_0340 => self.alpha_test_ref = value as u8 & 31,
            0x0400_0350..0x0400_0354 => put(&mut self.clear_color, 0x3f1f_ffff),
            0x0400_0354 => self.clear_depth = value & 0x7fff,
            0x0400_0356 => self.clear_image_offset = value,
            0x0400_0358..0x0400_035c => put(&mut self.fog_color, 0x001f_7fff),
            0x0400_035c => self.fog_offset = value & 0x7fff,
            0x0400_0360..0x0400_0380 => {
                let at = 2 * index(0x0400_0360) % 32;
                let bytes = value.to_le_bytes().map(|density| density & 127);
                self.fog_table[at..at + 2].copy_from_slice(&bytes);
            }
            0x0400_0380..0x0400_03c0 => self.toon_table[index(0x0400_0380) % 32] = value & 0x7fff,
            _ => {}
        }
    }

    /// The layout of chunk `REGS`.
    pub fn from_bytes(bytes: &[u8; REGISTER_BYTES]) -> Registers {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        Registers {
            control: half(0),
            alpha_test_ref: bytes[2],
            clear_color: word(4),
            clear_depth: half(8),
            clear_image_offset: half(10),
            fog_color: word(12),
            fog_offset: half(16),
            one_dot_depth: half(18),
            edge_colors: std::array::from_fn(|i| half(20 + 2 * i)),
            fog_table: std::array::from_fn(|i| bytes[36 + i]),
            toon_table: std::array::from_fn(|i| half(68 + 2 * i)),
            scroll_x: half(132),
        }
    }

    /// The layout of chunk `REGS`.
    pub fn to_bytes(&self) -> [u8; REGISTER_BYTES] {
        let mut out = [0; REGISTER_BYTES];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.control.to_le_bytes());
        put(2, &[self.alpha_test_ref]);
        put(4, &self.clear_color.to_le_bytes());
        put(8, &self.clear_depth.to_le_bytes());
        put(10, &self.clear_image_offset.to_le_bytes());
        put(12, &self.fog_color.to_le_bytes());
        put(16, &self.fog_offset.to_le_bytes());
        put(18, &self.one_dot_depth.to_le_bytes());
        self.edge_colors.iter().enumerate().for_each(|(i, c)| put(20 + 2 * i, &c.to_le_bytes()));
        put(36, &self.fog_table);
        self.toon_table.iter().enumerate().for_each(|(i, c)| put(68 + 2 * i, &c.to_le_bytes()));
        put(132, &self.scroll_x.to_le_bytes());
        out
    }
}

/// Six bits of a channel of five: 2c + 1, but 0 stays 0 (`vectors/nds`, specs of colours).
pub fn channel6(five: u16) -> u8 {
    let five = (five & 31) as u8;
    if five == 0 { 0 } else { five * 2 + 1 }
}

/// Red, green and blue of 6 bits of a colour RGB555.
pub fn color6(rgb555: u16) -> [u8; 3] {
    [channel6(rgb555), channel6(rgb555 >> 5), channel6(rgb555 >> 10)]
}

impl crate::state::Stated for Registers {
    fn state(&mut self, io: &mut crate::state::Io) -> Result<(), crate::state::StateError> {
        let mut bytes = self.to_bytes();
        io.bytes(&mut bytes)?;
        if io.is_loading() {
            *self = Registers::from_bytes(&bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_survive_their_bytes() {
        let bytes: [u8; REGISTER_BYTES] = std::array::from_fn(|i| match i {
            3 | 134 | 135 => 0,
            i => i as u8 ^ 0x5a,
        });
        assert_eq!(Registers::from_bytes(&bytes).to_bytes(), bytes);
    }

    #[test]
    fn five_bits_become_six() {
        assert_eq!(color6(0), [0; 3]);
        assert_eq!(color6(31 | 1 << 5 | 16 << 10), [63, 3, 33]);
    }
}
