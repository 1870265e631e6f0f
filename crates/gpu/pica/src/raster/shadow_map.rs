//! Shadow-map rendering: the fragment's depth and density against those in the colour buffer.

use xenoglot_pica_shader::float::F16;

use super::batch::{Batch, LANES, Pixels};
use super::framebuffer::PixelBuffer;
use crate::memory::Memory;
use crate::regs::{self, Registers};

const DEPTH_MAX: f32 = 16_777_215.0;

/// Shadow rendering of a draw.
#[derive(Clone, Copy, Debug)]
pub struct ShadowMap {
    /// Where the shadow map is.
    pub buffer: PixelBuffer,
    /// Divisor of the density at distance 0.
    pub constant: f32,
    /// Growth of the divisor with the distance.
    pub linear: f32,
}

impl ShadowMap {
    /// Decodes the registers.
    pub fn decode(regs: &Registers) -> ShadowMap {
        ShadowMap {
            buffer: PixelBuffer { address: regs.get(regs::COLOR_ADDRESS) << 3, bytes: 4 },
            constant: F16.to_f32(regs.bits(regs::SHADOW, 0, 16)),
            linear: F16.to_f32(regs.bits(regs::SHADOW, 16, 16)),
        }
    }

    /// Merges the batch, which needs its depth and colour.
    pub fn run(&self, batch: &Batch, pixels: &Pixels, memory: &mut dyn Memory) {
        let mut words = [0; LANES];
        self.buffer.load(memory, pixels, &mut words);
        for (lane, word) in words[..batch.len].iter_mut().enumerate() {
            let depth = (batch.depth[lane] * DEPTH_MAX) as u32;
            *word = self.merge(*word, depth, batch.color[1][lane] as u8);
        }
        self.buffer.store(memory, pixels, &words, &batch.alive);
    }

    /// The word that takes the place of `stored`: depth in bytes 0 to 2, highest first, density in byte 3.
    fn merge(&self, stored: u32, depth: u32, density: u8) -> u32 {
        let [high, middle, low, stored_density] = stored.to_le_bytes();
        let reference = u32::from_be_bytes([0, high, middle, low]);
        if depth >= reference {
            return stored;
        }
        if density == 0 {
            let [_, high, middle, low] = depth.to_be_bytes();
            return u32::from_le_bytes([high, middle, low, stored_density]);
        }
        let distance = depth as f32 / reference as f32;
        let softened =
            (f32::from(density) / (self.constant + self.linear * distance)).clamp(0.0, 255.0) as u8;
        u32::from_le_bytes([high, middle, low, stored_density.min(softened)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging() {
        let map = ShadowMap { buffer: PixelBuffer { address: 0, bytes: 4 }, constant: 1.0, linear: 2.0 };
        let stored = u32::from_le_bytes([0x10, 0, 0, 200]);
        assert_eq!(map.merge(stored, 0x10_0000, 0), stored, "not in front");
        assert_eq!(map.merge(stored, 0x01_0203, 0), u32::from_le_bytes([1, 2, 3, 200]));
        // 100 / (1 + 2 * 0.5)
        assert_eq!(map.merge(stored, 0x08_0000, 100), u32::from_le_bytes([0x10, 0, 0, 50]));
        assert_eq!(map.merge(stored & 0xff_ffff, 0x08_0000, 100), stored & 0xff_ffff, "already darker");
    }
}
