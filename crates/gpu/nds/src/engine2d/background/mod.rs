//! Backgrounds: a line of each kind.

mod affine;
pub(super) mod text;

use super::layer::Layer;
use super::mosaic::BackgroundMosaic;
use super::registers::{DispCnt, Registers};
use super::{Kind, Memory};
use crate::state::stated;
use crate::video::LINES;

/// An affine background's internal point, 8 bits of fraction: what the first pixel of a line shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Column.
    pub x: i32,
    /// Row.
    pub y: i32,
}

/// Internal points of BG2 and BG3.
#[derive(Clone, Debug, Default)]
pub struct Points {
    pub(super) points: [Point; 2],
}

impl Points {
    /// The points of the line to be drawn.
    pub fn now(&self) -> [Point; 2] {
        self.points
    }

    /// Takes the column of BG2's (0) or BG3's (1) point from the registers.
    pub fn reload_x(&mut self, n: usize, registers: &Registers) {
        let [x, _] = registers.origin(n);
        if let Some(point) = self.points.get_mut(n) {
            point.x = x;
        }
    }

    /// Takes its row.
    pub fn reload_y(&mut self, n: usize, registers: &Registers) {
        let [_, y] = registers.origin(n);
        if let Some(point) = self.points.get_mut(n) {
            point.y = y;
        }
    }

    /// Moves the points on at the end of a line, 0 to 262; at the end of the last line they are taken from the registers. Points of
    /// backgrounds that are not shown stay as they are in both cases (melonDS, `GPU2D.cpp`).
    pub fn end_line(&mut self, line: u32, registers: &Registers, enabled: DispCnt) {
        for n in (0..2).filter(|n| enabled.shows_background(2 + n)) {
            if line + 1 == LINES {
                self.reload_x(n, registers);
                self.reload_y(n, registers);
            } else if let Some(point) = self.points.get_mut(n) {
                let [_, pb, _, pd] = registers.matrix(n);
                *point = Point { x: point.x.wrapping_add(pb), y: point.y.wrapping_add(pd) };
            }
        }
    }
}

/// What backgrounds of a line are drawn from.
pub struct Row<'a> {
    /// Registers.
    pub registers: &'a Registers,
    /// Memory.
    pub memory: &'a Memory<'a>,
    /// The line.
    pub line: u32,
    /// Points of affine backgrounds.
    pub points: &'a Points,
    /// Mosaic.
    pub mosaic: &'a BackgroundMosaic,
}

/// Bit of BGnCNT: mosaic.
const MOSAIC: u16 = 1 << 6;
/// Bit of BGnCNT: 8 bits a pixel; of extended backgrounds, a bitmap.
const DEEP: u16 = 1 << 7;
/// Bit of BGnCNT of an extended bitmap: colours, not indices.
const DIRECT: u16 = 1 << 2;
/// Bit of BGnCNT: affine backgrounds repeat; text takes extended palettes of slots 2 and 3.
const WRAP: u16 = 1 << 13;

/// Where a background's tiles start, without what DISPCNT adds.
fn tile_base(control: u16) -> u32 {
    u32::from(control >> 2 & 15) * 0x4000
}

/// Number of a background's map, or bitmap.
fn screen(control: u16) -> u32 {
    u32::from(control >> 8 & 31)
}

fn size(control: u16) -> u32 {
    u32::from(control >> 14)
}

impl Row<'_> {
    /// Whether a background has colours that are not in the palette.
    pub fn has_colors(&self, n: usize, kind: Kind) -> bool {
        let control = self.registers.background(n);
        let has_palettes = self.registers.dispcnt().contains(DispCnt::BACKGROUND_PALETTES);
        match kind {
            Kind::Text => has_palettes && control & DEEP != 0,
            Kind::Extended if control & DEEP != 0 => control & DIRECT != 0,
            Kind::Extended => has_palettes,
            Kind::None | Kind::ThreeD | Kind::Affine | Kind::Large => false,
        }
    }

    /// Draws background `n`; of one that has all its colours in the palette, the indices alone.
    #[inline(always)]
    pub fn draw(&self, n: usize, kind: Kind, layer: &mut Layer) {
        let control = self.registers.background(n);
        match kind {
            Kind::None | Kind::ThreeD => return,
            Kind::Text => self.text(n, control, layer),
            Kind::Affine => {
                let map = affine::Area { width: 7 + size(control), height: 7 + size(control) };
                self.affine(n, control, map, layer);
            }
            Kind::Extended if control & DEEP == 0 => {
                let map = affine::Area { width: 7 + size(control), height: 7 + size(control) };
                self.extended_tiles(n, control, map, layer);
            }
            Kind::Extended => {
                let [width, height] = [[7, 7], [8, 8], [9, 8], [9, 9]][size(control) as usize % 4];
                let base = screen(control) * 0x4000;
                self.bitmap(n, control, affine::Area { width, height }, base, control & DIRECT != 0, layer);
            }
            Kind::Large => {
                let [width, height] = [[9, 10], [10, 9], [9, 8], [9, 9]][size(control) as usize % 4];
                self.bitmap(n, control, affine::Area { width, height }, 0, false, layer);
            }
        }
        let width = self.registers.mosaic(0);
        if control & MOSAIC != 0 && width > 0 {
            layer.repeat(width, self.has_colors(n, kind));
        }
    }

    /// Slot of extended palettes for background `n`, if they are on.
    fn palette_slot(&self, slot: usize) -> Option<u32> {
        let is_on = self.registers.dispcnt().contains(DispCnt::BACKGROUND_PALETTES);
        is_on.then_some(slot as u32 * 0x2000)
    }
}

stated!(Point { x, y });
stated!(Points { points });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_backgrounds_keep_their_points() {
        let mut registers = Registers::new(false);
        // BG2: PB is 3, PD is 5, the point is at column 7 and row 9.
        for (offset, value) in [(0x22, 3), (0x26, 5), (0x28, 7), (0x2c, 9)] {
            registers.write(offset, value);
        }
        let [shown, hidden] = [1 << 10, 0].map(DispCnt::from_bits_retain);
        let mut points = Points::default();
        points.reload_x(0, &registers);
        points.reload_y(0, &registers);
        let mut after = |line, enabled| {
            points.end_line(line, &registers, enabled);
            let [Point { x, y }, _] = points.now();
            [x, y]
        };
        assert_eq!(after(0, shown), [10, 14]);
        assert_eq!(after(1, hidden), [10, 14]);
        assert_eq!(after(200, shown), [13, 19]);
        assert_eq!(after(LINES - 1, hidden), [13, 19]);
        assert_eq!(after(LINES - 1, shown), [7, 9]);
    }
}
