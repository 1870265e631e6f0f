//! Display transfer: conversion of formats and tiling, scaling, flipping.

use super::pixel::Pixel;
use super::{Job, Span, TransferError, Work};
use crate::memory::Memory;
use crate::texture::tiling::Z_ORDER;

/// A display transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayTransfer {
    /// Physical address.
    pub src: u32,
    /// Physical address.
    pub dst: u32,
    /// Width \[15:0\] and height \[31:16\] before scaling.
    pub out_size: u32,
    /// Width \[15:0\] and height \[31:16\].
    pub in_size: u32,
    /// \[0\] flip vertically, \[1\] input linear, \[2\] crop, \[5\] no tiling conversion, input format \[10:8\], output format
    /// \[14:12\], scaling \[25:24\] 0 none, 1 half x, 2 half both.
    pub flags: u32,
}

/// How the pixels of an image follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub tiled: bool,
    /// Pixels per row.
    pub stride: u64,
}

impl Image {
    /// Number of the pixel in memory order.
    fn place(self, x: u64, y: u64) -> u64 {
        if !self.tiled {
            return y * self.stride + x;
        }
        let within = Z_ORDER.get((y % 8 * 8 + x % 8) as usize).copied().unwrap_or(0);
        (y & !7) * self.stride + (x & !7) * 8 + u64::from(within)
    }

    /// One more than the number of any pixel of `rows` rows.
    fn end(self, width: u64, rows: u64) -> u64 {
        if width == 0 || rows == 0 {
            0
        } else if self.tiled {
            ((rows - 1) & !7) * self.stride + width.next_multiple_of(8) * 8
        } else {
            (rows - 1) * self.stride + width
        }
    }
}

impl DisplayTransfer {
    fn flag(&self, bit: u32) -> bool {
        self.flags >> bit & 1 != 0
    }

    /// Transfers.
    ///
    /// # Errors
    /// Any [`TransferError`].
    pub fn run(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        self.job()?.map_or(Ok(()), |job| job.run(memory))
    }

    /// Log2 of the pixels that become one, along x and y.
    pub(crate) fn scale(&self) -> [u32; 2] {
        match self.flags >> 24 & 3 {
            0 => [0, 0],
            1 => [1, 0],
            _ => [1, 1],
        }
    }

    /// What there is to do, if anything.
    ///
    /// # Errors
    /// [`TransferError::Format`].
    pub fn job(&self) -> Result<Option<Job>, TransferError> {
        let (from_format, to_format) = (Pixel::of(self.flags >> 8 & 7)?, Pixel::of(self.flags >> 12 & 7)?);
        let scale = self.scale();
        let [scale_x, scale_y] = scale;
        let (in_width, out_width) = (self.in_size & 0xffff, self.out_size & 0xffff);
        let (width, height) = (u64::from(out_width >> scale_x), u64::from(self.out_size >> 16 >> scale_y));
        if width == 0 || height == 0 {
            return Ok(None);
        }
        let (linear, as_is) = (self.flag(1), self.flag(5));
        let input = Image { tiled: !linear, stride: in_width.into() };
        let output = Image { tiled: linear != as_is, stride: width };
        let mut dst = self.dst;
        if self.flag(0) && self.flag(2) {
            let skew = in_width.wrapping_sub(out_width).wrapping_mul((self.out_size >> 16).wrapping_sub(1));
            dst = dst.wrapping_add(skew.wrapping_mul(to_format.bytes()));
        }
        let samples = 1 << (scale_x + scale_y);
        let in_end = input.end(((width - 1) << scale_x) + 1, ((height - 1) << scale_y) + 1)
            // The texels that are averaged with the last one; in a tile they are counted already.
            + if input.tiled { 0 } else { samples - 1 };
        let out_end = output.end(width, height);
        let span =
            |address, pixels: u64, format: Pixel| Span { address, bytes: pixels * u64::from(format.bytes()) };
        let (from, to) = (span(self.src, in_end, from_format), span(dst, out_end, to_format));
        let flip = self.flag(0);
        let job = DisplayJob { from, to, from_format, to_format, input, output, width, height, scale, flip };
        Ok(Some(Job(Work::Display(job))))
    }
}

/// A display transfer that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DisplayJob {
    pub from: Span,
    pub to: Span,
    pub from_format: Pixel,
    pub to_format: Pixel,
    pub input: Image,
    pub output: Image,
    /// Of the output, in pixels, not 0.
    pub width: u64,
    pub height: u64,
    /// Log2 of the scale along x and y.
    pub scale: [u32; 2],
    /// Whether the output is flipped: its last row first.
    pub flip: bool,
}

impl DisplayJob {
    pub(super) fn run(&self, memory: &mut dyn Memory) -> Result<(), TransferError> {
        let DisplayJob { width, height, input, output, .. } = *self;
        let [scale_x, scale_y] = self.scale;
        let samples = 1usize << (scale_x + scale_y);
        let (in_bytes, out_bytes) = (u64::from(self.from_format.bytes()), u64::from(self.to_format.bytes()));
        let source = self.from.of(memory)?.to_vec();
        let target = self.to.of(memory)?;
        for y in 0..height {
            let row = if self.flip { height - 1 - y } else { y };
            for x in 0..width {
                let at = input.place(x << scale_x, y << scale_y) * in_bytes;
                let texels = source.get(at as usize..).unwrap_or_default().chunks_exact(in_bytes as usize);
                let mut sum = [0u32; 4];
                for texel in texels.take(samples) {
                    let texel = self.from_format.decode(texel);
                    sum.iter_mut().zip(texel).for_each(|(s, c)| *s += u32::from(c));
                }
                let pixel = self.to_format.encode(sum.map(|s| (s >> (scale_x + scale_y)) as u8));
                let place = output.place(x, row) * out_bytes;
                let place = target.get_mut(place as usize..).unwrap_or_default();
                place.iter_mut().zip(pixel).take(out_bytes as usize).for_each(|(p, b)| *p = b);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Regions, VRAM};

    const AS_RGBA8: u32 = 0;

    /// Transfers an 8×8 image whose pixels hold their number, and gives the first channel of the result.
    fn transfer(flags: u32, out_size: (u32, u32)) -> Vec<u8> {
        let mut memory = Regions::new();
        memory.add(VRAM, (0..64).flat_map(|n| [n, 0, 0, 0]).collect());
        memory.add(FCRAM, vec![0; 256]);
        let out_size = out_size.0 | out_size.1 << 16;
        let transfer = DisplayTransfer { src: VRAM, dst: FCRAM, out_size, in_size: 8 | 8 << 16, flags };
        transfer.run(&mut memory).unwrap();
        memory.bytes(FCRAM, 256).unwrap().iter().step_by(4).copied().collect()
    }

    #[test]
    fn tiling_both_ways() {
        let linear = transfer(AS_RGBA8, (8, 8));
        assert_eq!(linear[..8], [0, 1, 4, 5, 16, 17, 20, 21]);
        let tiled = transfer(AS_RGBA8 | 2, (8, 8));
        assert_eq!(tiled[..8], [0, 1, 8, 9, 2, 3, 10, 11]);
        assert_eq!(transfer(AS_RGBA8 | 0x20, (8, 8)), (0..64).collect::<Vec<u8>>());
        assert_eq!(transfer(AS_RGBA8 | 0x22, (8, 8)), (0..64).collect::<Vec<u8>>());
    }

    #[test]
    fn flipping_and_scaling() {
        let flipped = transfer(AS_RGBA8 | 0x23, (8, 8));
        assert_eq!(flipped[..8], [56, 57, 58, 59, 60, 61, 62, 63]);
        let half = transfer(AS_RGBA8 | 1 << 24, (8, 8));
        // Texels 0 and 1, 4 and 5, truncated.
        assert_eq!(half[..4], [0, 4, 16, 20]);
        let quarter = transfer(AS_RGBA8 | 2 << 24, (8, 8));
        assert_eq!(quarter[..4], [1, 5, 17, 21]);
    }

    #[test]
    fn what_leaves_memory_is_refused() {
        let mut memory = Regions::new();
        memory.add(VRAM, vec![0; 64]);
        let transfer =
            DisplayTransfer { src: VRAM, dst: VRAM, out_size: u32::MAX, in_size: u32::MAX, flags: 0 };
        assert!(matches!(transfer.run(&mut memory), Err(TransferError::Unmapped { .. })));
        let format = DisplayTransfer { flags: 7 << 8, ..transfer };
        assert_eq!(format.run(&mut memory), Err(TransferError::Format(7)));
    }
}
