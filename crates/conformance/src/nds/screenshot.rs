//! Screenshots that ndsframereplay takes of frame dumps on a console: bitmaps of 256 x 192 pixels with 15 or 18 bits of colour.

use xenoglot_nds::raster::Frame;

/// Columns and rows.
const SIZE: [usize; 2] = [256, 192];
/// Bytes of its header, and of the masks behind it.
const HEADER: usize = 0x42;

/// A picture that a console drew. Pixels have red, green and blue from the lowest bit on; what each holds is the same as in a
/// capture of the 3D engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screenshot {
    /// Bits of a channel, 5 or 6.
    bits: u32,
    pixels: Vec<u32>,
}

impl Screenshot {
    /// Reads a bitmap; why it is none of these, if it is not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Screenshot, String> {
        let half = |at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|&half| u16::from_le_bytes(half))
        };
        let word = |at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|&word| u32::from_le_bytes(word))
        };
        if half(0) != Some(u16::from_le_bytes(*b"BM")) {
            return Err("not a bitmap".into());
        }
        if [word(18), word(22)] != SIZE.map(|size| Some(size as u32)) {
            return Err("a bitmap that is not 256 x 192 pixels large, from the lowest row on".into());
        }
        let masks = [word(54), word(58), word(62)];
        let (bits, size) = match (half(28), masks) {
            (Some(16), [Some(0x1f), Some(0x3e0), Some(0x7c00)]) => (5, 2),
            (Some(32), [Some(0x3f), Some(0xfc0), Some(0x3_f000)]) => (6, 4),
            _ => return Err("a bitmap of neither 15 nor 18 bits of red, green and blue, red lowest".into()),
        };
        let [width, height] = SIZE;
        let rows = bytes.get(HEADER..).unwrap_or_default().chunks_exact(width * size);
        let rows: Vec<&[u8]> = rows.take(height).collect();
        if rows.len() < height {
            return Err("a bitmap that ends early".into());
        }
        let pixel = |bytes: &[u8]| bytes.iter().rev().fold(0, |pixel, &byte| pixel << 8 | u32::from(byte));
        let pixels = rows.iter().rev().flat_map(|row| row.chunks_exact(size)).map(pixel);
        Ok(Screenshot { bits, pixels: pixels.map(|pixel| pixel & ((1 << (3 * bits)) - 1)).collect() })
    }

    /// How a frame differs.
    pub fn difference(&self, frame: &dyn Frame) -> Option<String> {
        let [width, _] = SIZE;
        let drawn = |y: usize, x: usize| {
            let color = frame.row(y).and_then(|row| row.color.get(x).copied()).unwrap_or(0);
            let [red, green, blue, _] = color.to_le_bytes().map(|c| u32::from(c) >> (6 - self.bits));
            red | green << self.bits | blue << (2 * self.bits)
        };
        let place = |at: usize| (at / width, at % width);
        let mut different = self.pixels.iter().enumerate().filter_map(|(at, &recorded)| {
            let (y, x) = place(at);
            let got = drawn(y, x);
            (got != recorded).then_some((y, x, got, recorded))
        });
        let (y, x, got, recorded) = different.next()?;
        let count = 1 + different.count();
        Some(format!("{count} pixels: at {x}, {y} {got:#x}, recorded {recorded:#x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_nds::gpu::Gpu;
    use xenoglot_nds::registers::Registers;

    /// A bitmap as ndsframereplay writes it, of one colour but for the first pixel.
    fn bitmap(bits: u16, masks: [u32; 3], color: u32, first: u32) -> Vec<u8> {
        let size = if bits == 16 { 2 } else { 4 };
        let mut out = b"BM".to_vec();
        out.extend([0; 8]);
        [66u32, 40, 256, 192].iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(1u16.to_le_bytes());
        out.extend(bits.to_le_bytes());
        out.extend([0; 24]);
        masks.iter().for_each(|mask| out.extend(mask.to_le_bytes()));
        for y in (0..192).rev() {
            for x in 0..256 {
                let pixel = if (x, y) == (0, 0) { first } else { color };
                out.extend(&pixel.to_le_bytes()[..size]);
            }
        }
        out
    }

    /// A frame that shows a colour of 15 bits.
    fn frame(color: u32) -> Gpu {
        let mut gpu = Gpu::default();
        gpu.set_registers(Registers { clear_color: color | 31 << 16, ..Registers::default() });
        gpu.vblank();
        gpu
    }

    #[test]
    fn bitmaps_of_both_kinds_are_compared() {
        let gpu = frame(31 | 1 << 5);
        // 31 and 1 are 63 and 3 in six bits.
        let five = bitmap(16, [0x1f, 0x3e0, 0x7c00], 31 | 1 << 5, 31 | 1 << 5);
        let six = bitmap(32, [0x3f, 0xfc0, 0x3_f000], 63 | 3 << 6, 63 | 3 << 6);
        for bytes in [&five, &six] {
            let screenshot = Screenshot::from_bytes(bytes).unwrap();
            assert_eq!(screenshot.difference(gpu.renderer()), None);
            assert!(Screenshot::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        }
        let other = bitmap(32, [0x3f, 0xfc0, 0x3_f000], 63 | 3 << 6, 62 | 3 << 6);
        let said = Screenshot::from_bytes(&other).unwrap().difference(gpu.renderer()).unwrap();
        assert!(said.starts_with("1 pixels: at 0, 0 0xff, recorded 0xfe"), "{said}");
        assert!(Screenshot::from_bytes(b"BM").is_err());
        assert!(Screenshot::from_bytes(&bitmap(16, [0x7c00, 0x3e0, 0x1f], 0, 0)).is_err());
    }
}
