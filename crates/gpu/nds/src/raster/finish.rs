//! What happens to a whole row at the end: edge marking, fog, antialiasing, in this order.

use super::buffers::{COVERAGE, EDGES, HEIGHT, Line, OPAQUE_ID, PixelFlags, Row, WIDTH};
use super::lanes::LANES;
use super::shade::{Color, alpha, from_rgb555, mix_rgb};
use crate::registers::{Control, Registers};

/// Coverage of outlines: half transparent with antialiasing.
const OUTLINE_COVERAGE: u32 = 16 << 8;
/// Entries of the fog table with those at both ends.
const FOG_ENTRIES: usize = 34;

/// A bit for each pixel of a row.
pub type RowBits = [u64; WIDTH / 64];

/// The final passes of a frame.
#[derive(Clone, Debug)]
pub struct Finish {
    control: Control,
    pub(super) edge_colors: [Color; 8],
    pub(super) fog: Fog,
    /// Depth and id of what is outside of the screen.
    border: (u32, u32),
}

impl Finish {
    /// From the registers; depth and opaque id of what is outside of the screen.
    pub fn new(registers: &Registers, border: (u32, u32)) -> Finish {
        Finish {
            control: registers.control(),
            edge_colors: registers.edge_colors.map(|c| from_rgb555(c.into())),
            fog: Fog::new(registers),
            border,
        }
    }

    /// Pixels of row `y` that become outlines: edge pixels nearer than a neighbour of another opaque id.
    pub fn outlines(&self, lines: &[Line], y: usize) -> RowBits {
        let mut bits = RowBits::default();
        let Some(row) = lines.get(y).map(|l| &l.top).filter(|_| self.control.contains(Control::EDGE_MARKING))
        else {
            return bits;
        };
        let above = y.checked_sub(1).and_then(|y| lines.get(y)).map(|l| &l.top);
        let below = lines.get(y + 1).filter(|_| y + 1 < HEIGHT).map(|l| &l.top);
        for x in columns_with(&row.attributes, EDGES) {
            let (depth, id) = (row.depth[x], row.attributes[x] & OPAQUE_ID);
            let differs = |neighbor: Option<&Row>, x: usize| {
                let (there, other) = match neighbor {
                    Some(row) if x < WIDTH => (row.depth[x], row.attributes[x] & OPAQUE_ID),
                    _ => self.border,
                };
                other != id && depth < there
            };
            if differs(Some(row), x.wrapping_sub(1))
                || differs(Some(row), x + 1)
                || differs(above, x)
                || differs(below, x)
            {
                bits[x / 64] |= 1 << (x % 64);
            }
        }
        bits
    }

    /// Finishes a row.
    pub fn row(&self, line: &mut Line, outlines: &RowBits) {
        if self.control.contains(Control::EDGE_MARKING) {
            self.draw_outlines(&mut line.top, outlines);
        }
        if self.control.contains(Control::FOG) {
            self.fog.row(line);
        }
        if self.control.contains(Control::ANTIALIASING) {
            antialias(line);
        }
    }

    fn draw_outlines(&self, row: &mut Row, outlines: &RowBits) {
        for (word, &bits) in outlines.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let x = (word * 64 + bits.trailing_zeros() as usize) % WIDTH;
                bits &= bits - 1;
                let attributes = &mut row.attributes[x];
                let color = self.edge_colors[(*attributes >> 27 & 7) as usize];
                row.color[x] = color | row.color[x] & 0xff00_0000;
                *attributes = *attributes & !COVERAGE | OUTLINE_COVERAGE;
            }
        }
    }
}

/// Fog.
#[derive(Clone, Debug)]
pub(super) struct Fog {
    pub(super) color: Color,
    alpha_only: bool,
    pub(super) offset: u32,
    pub(super) shift: u32,
    pub(super) table: [u32; FOG_ENTRIES],
}

impl Fog {
    fn new(registers: &Registers) -> Fog {
        let entry = |i: usize| u32::from(registers.fog_table[i.clamp(1, 32) - 1] & 0x7f);
        Fog {
            color: from_rgb555(registers.fog_color) | (registers.fog_color >> 16 & 31) << 24,
            alpha_only: registers.control().contains(Control::FOG_ALPHA_ONLY),
            offset: u32::from(registers.fog_offset & 0x7fff) * 0x200,
            shift: registers.fog_shift(),
            table: std::array::from_fn(entry),
        }
    }

    /// Density at a depth, 0 to 128.
    #[inline]
    fn density(&self, depth: u32) -> u32 {
        let Some(behind) = depth.checked_sub(self.offset) else { return full(self.table[0]) };
        // Large shifts wrap around in 32 bits.
        let place = behind >> 2 << self.shift;
        let (entry, fraction) = ((place >> 17) as usize, place & 0x1_ffff);
        match (self.table.get(entry), self.table.get(entry + 1)) {
            (Some(a), Some(b)) if entry < 32 => full((a * (0x2_0000 - fraction) + b * fraction) >> 17),
            _ => full(self.table[32]),
        }
    }

    #[inline]
    fn apply(&self, color: &mut Color, depth: u32) {
        let density = self.density(depth);
        let rgb = if self.alpha_only { *color & 0xff_ffff } else { mix_rgb7(self.color, *color, density) };
        let mixed = (alpha(self.color) * density + alpha(*color) * (128 - density)) >> 7;
        *color = rgb | mixed << 24;
    }

    /// Both layers, so that antialiasing blends what fog has reached.
    fn row(&self, line: &mut Line) {
        let fog = PixelFlags::FOG.bits();
        let Line { top, under } = line;
        for x in columns_with(&top.attributes, fog | EDGES) {
            if top.attributes[x] & fog != 0 {
                self.apply(&mut top.color[x], top.depth[x]);
            }
            if top.attributes[x] & EDGES != 0 && under.attributes[x] & fog != 0 {
                self.apply(&mut under.color[x], under.depth[x]);
            }
        }
    }
}

/// The largest density counts as 128.
fn full(density: u32) -> u32 {
    if density >= 127 { 128 } else { density }
}

/// [`mix_rgb`] of 7 bits.
fn mix_rgb7(a: Color, b: Color, part: u32) -> Color {
    mix_rgb(a, b, part, 7)
}

/// Columns whose pixels have any of `bits`. Most often sixteen in a row have none.
fn columns_with(attributes: &[u32; WIDTH], bits: u32) -> impl Iterator<Item = usize> {
    let blocks = attributes.as_chunks::<LANES>().0.iter().enumerate();
    let blocks = blocks.filter(move |(_, lanes)| lanes.iter().fold(0, |all, lane| all | lane) & bits != 0);
    blocks.flat_map(move |(block, lanes)| {
        let columns = (block * LANES..).zip(lanes);
        columns.filter_map(move |(x, lane)| (lane & bits != 0).then_some(x))
    })
}

/// Blends edge pixels with what they cover.
fn antialias(line: &mut Line) {
    let Line { top, under } = line;
    for x in columns_with(&top.attributes, EDGES) {
        let attributes = top.attributes[x];
        let (color, below) = (top.color[x], under.color[x]);
        top.color[x] = match (attributes & COVERAGE) >> 8 {
            31 => color,
            0 => below,
            covered => {
                let part = covered + 1;
                // Over nothing the colour stays.
                let rgb = if alpha(below) > 0 { mix_rgb(color, below, part, 5) } else { color & 0xff_ffff };
                rgb | (alpha(color) * part + alpha(below) * (32 - part)) >> 5 << 24
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::shade::pack;

    fn fog(shift: u16, offset: u16, table: [u8; 32]) -> Fog {
        let registers =
            Registers { control: shift << 8, fog_offset: offset, fog_table: table, ..Registers::default() };
        Fog::new(&registers)
    }

    #[test]
    fn fog_table_is_linear_between_steps() {
        let table = std::array::from_fn(|i| i as u8 * 3);
        // Steps of 0x80000 >> shift.
        let fog = fog(4, 0, table);
        assert_eq!(fog.density(0x8000), 0);
        assert_eq!((fog.density(0x10000), fog.density(0x14000)), (3, 4));
        assert_eq!(fog.density(0xff_ffff), 93);
    }

    #[test]
    fn density_127_is_128_and_large_shifts_wrap() {
        let mut table = [127; 32];
        table[0] = 0;
        let steep = fog(15, 0, table);
        assert_eq!(steep.density(0x1000), 128);
        // 0x100000 >> 2 << 15 has left 32 bits.
        assert_eq!(steep.density(0x10_0000), 0);
    }

    #[test]
    fn columns_by_their_bits() {
        let mut attributes = [0; WIDTH];
        for (x, bits) in [(0, 1), (17, 3), (18, 4), (255, 2)] {
            attributes[x] = bits;
        }
        assert_eq!(columns_with(&attributes, 3).collect::<Vec<_>>(), [0, 17, 255]);
    }

    fn edge_line(covered: u32, top: Color, under: Color) -> Line {
        let mut line = Line::default();
        (line.top.color[0], line.under.color[0]) = (top, under);
        line.top.attributes[0] = 1 | covered << 8;
        line
    }

    #[test]
    fn coverage_blends_with_the_layer_below() {
        let (white, black) = (pack([63; 3], 31), pack([0; 3], 31));
        let antialiased = |covered, under| {
            let mut line = edge_line(covered, white, under);
            antialias(&mut line);
            line.top.color[0]
        };
        assert_eq!(antialiased(31, black), white);
        assert_eq!(antialiased(0, black), black);
        assert_eq!(antialiased(15, black), pack([31; 3], 31));
        assert_eq!(antialiased(15, 0), pack([63; 3], 15));
    }

    #[test]
    fn outlines_need_an_edge_another_id_and_a_greater_depth() {
        let registers = Registers { control: Control::EDGE_MARKING.bits(), ..Registers::default() };
        let finish = Finish::new(&registers, (0xff_ffff, 0));
        let mut lines = vec![Line::default(), Line::default()];
        let at = |lines: &[Line]| finish.outlines(lines, 0)[0];
        lines[0].top.attributes[5] = 1 << 24;
        assert_eq!(at(&lines), 0);
        lines[0].top.attributes[5] |= 1;
        // Off the screen above there is the clear depth.
        assert_eq!(at(&lines), 1 << 5);
        lines[0].top.attributes[5] &= !OPAQUE_ID;
        assert_eq!(at(&lines), 0);
    }
}
