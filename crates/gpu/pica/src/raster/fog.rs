//! Fog: a blend towards the fog colour by a table of depth.

use super::batch::{Batch, byte, truncate};
use crate::regs::{self, Registers};
use crate::tables::Tables;

const MODE_FOG: u32 = 5;
const VALUE_ONE: f32 = 2047.0;

/// Whether the draw has fog.
pub fn is_on(regs: &Registers) -> bool {
    regs.bits(regs::FOG_MODE, 0, 3) == MODE_FOG
}

/// Whether the table's index grows towards the viewer.
pub fn is_flipped(regs: &Registers) -> bool {
    regs.bit(regs::FOG_MODE, 16)
}

/// Fog colour, 0 to 255.
pub fn color(regs: &Registers) -> [f32; 3] {
    let [r, g, b, _] = regs.get(regs::FOG_COLOR).to_le_bytes();
    [r, g, b].map(f32::from)
}

/// Fog of a draw.
#[derive(Clone, Debug)]
pub struct Fog {
    /// Value and difference to the next, by depth.
    table: Box<[[f32; 2]; 128]>,
    color: [f32; 3],
    flip: bool,
}

impl Fog {
    /// Decodes registers and table, if fog is on. Mode 7 is gas: see `gas`.
    pub fn decode(regs: &Registers, tables: &Tables) -> Option<Fog> {
        is_on(regs).then(|| Fog {
            table: Box::new(tables.fog.map(entry)),
            color: color(regs),
            flip: is_flipped(regs),
        })
    }

    /// Applies fog to the colour of the batch, which needs its depth.
    #[inline(always)]
    pub fn run(&self, batch: &mut Batch) {
        for lane in 0..batch.lanes() {
            let factor = self.factor(batch.depth[lane]);
            for (channel, fog) in batch.color[..3].iter_mut().zip(self.color) {
                channel[lane] = byte(factor * f32::from(channel[lane]) + (1.0 - factor) * fog);
            }
        }
    }

    /// Share of the fragment's own colour at `depth`, 0 to 1.
    #[inline(always)]
    fn factor(&self, depth: f32) -> f32 {
        let x = if self.flip { 1.0 - depth } else { depth } * 128.0;
        // Depth is not negative: truncation is floor.
        let index = truncate(x).clamp(0, 127);
        let [value, difference] = self.table[index as usize];
        (value + difference * (x - index as f32)).clamp(0.0, 1.0)
    }
}

/// Value and difference to the next of a word of the table.
pub fn entry(word: u32) -> [f32; 2] {
    let value = word >> 13 & 0x7ff;
    let difference = (word << 19) as i32 >> 19;
    [value as f32 / VALUE_ONE, difference as f32 / VALUE_ONE]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fog(flip: bool) -> Fog {
        let mut table = [[1.0, 0.0]; 128];
        table[64] = entry(1023 << 13 | 0x1fff & -512i32 as u32);
        table[127] = [0.0, 0.0];
        Fog { table: Box::new(table), color: [200.0, 0.0, 100.0], flip }
    }

    #[test]
    fn entries() {
        assert_eq!(entry(0x7ff << 13), [1.0, 0.0]);
        assert_eq!(entry(0x1fff), [0.0, -1.0 / 2047.0]);
        assert_eq!(entry(0x1000), [0.0, -4096.0 / 2047.0]);
    }

    #[test]
    fn factor_by_depth() {
        assert_eq!(fog(false).factor(0.0), 1.0);
        assert_eq!(fog(false).factor(1.0), 0.0);
        assert_eq!(fog(true).factor(0.0), 0.0);
        assert_eq!(fog(false).factor(64.5 / 128.0), 1023.0 / 2047.0 - 0.5 * (512.0 / 2047.0));
    }

    #[test]
    fn blends_towards_the_fog_color() {
        let mut batch = Batch::of(1);
        batch.depth = [1.0; 64];
        batch.color = [[50; 64]; 4];
        fog(false).run(&mut batch);
        assert_eq!(batch.color.map(|plane| plane[0]), [200, 0, 100, 50]);
    }
}
