//! What happens to a whole row at the end: edge marking, fog, antialiasing, in this order.

use super::buffers::{COVERAGE, EDGES, Line, OPAQUE_ID, PixelFlags, Row, WIDTH};
use super::lanes::{LANES, Lanes, Mask, all, any_bit, gather, keep, less, load, store};
use super::parts::Run;
use super::shade::{Color, Colors, RGB, alpha, from_rgb555, mix_rgb};
use crate::registers::{Control, Registers};
use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};
use std::borrow::{Borrow, BorrowMut};
use std::ops::Range;

/// Coverage of outlines: half transparent with antialiasing.
const OUTLINE_COVERAGE: u32 = 16 << 8;
/// Entries of the fog table with those at both ends.
const FOG_ENTRIES: usize = 34;
/// From an entry of the fog table to the next.
const FOG_STEP: u32 = 1 << 17;

/// A bit for each pixel of a row.
type RowBits = [u64; WIDTH / 64];

/// The final passes of a frame.
#[derive(Clone, Debug)]
pub struct Finish {
    control: Control,
    pub(super) edge_colors: [Color; 8],
    pub(super) fog: Fog,
    /// Depth and id outside the screen.
    border: (u32, u32),
}

impl Finish {
    /// From the registers; depth and opaque id outside the screen.
    pub fn new(registers: &Registers, border: (u32, u32)) -> Finish {
        Finish {
            control: registers.control(),
            edge_colors: registers.edge_colors.map(|c| from_rgb555(c.into())),
            fog: Fog::new(registers),
            border,
        }
    }

    /// Finishes rows of a run as far as they were taken now, except the first and the last one if neighbours count: with the rows of
    /// the next part, the last one may have both.
    pub fn run(&self, level: Level, run: &mut Run) {
        let len = run.lines.len();
        let rows = if self.control.contains(Control::EDGE_MARKING) {
            run.before.saturating_sub(1).max(1)..len.saturating_sub(1)
        } else {
            run.before..len
        };
        rows.for_each(|y| self.row(level, &mut run.lines, y));
    }

    /// Finishes the rows that [`Finish::run`] has left out, as far as they are among `rows`: the first and the last row of each run, and
    /// rows from before all of them. Finishing a row changes neither its depths nor its ids, and its neighbours compare with nothing
    /// else.
    pub fn seams(&self, level: Level, lines: &mut [Line], rows: Range<usize>, runs: &[Range<usize>]) {
        if self.control.contains(Control::EDGE_MARKING) {
            let first = runs.iter().map(|run| run.start).min().unwrap_or(rows.end);
            let seams = runs.iter().flat_map(|run| [run.start, run.end - 1].into_iter().take(run.len()));
            let seams = (rows.start..first).chain(seams).filter(|y| rows.contains(y));
            seams.for_each(|y| self.row(level, lines, y));
        }
    }

    /// Pixels of row `y` that become outlines: edge pixels nearer than a neighbour of another opaque id.
    fn outlines(&self, level: Level, lines: &[impl Borrow<Line>], y: usize) -> RowBits {
        let top = |y: usize| lines.get(y).map(|line| &line.borrow().top);
        match top(y) {
            Some(row) if self.control.contains(Control::EDGE_MARKING) => {
                let (above, below) = (y.checked_sub(1).and_then(top), top(y + 1));
                dispatch!(level, simd => self.outlines_between(simd, row, above, below))
            }
            _ => RowBits::default(),
        }
    }

    #[inline(always)]
    fn outlines_between<S: Simd>(
        &self,
        simd: S,
        row: &Row,
        above: Option<&Row>,
        below: Option<&Row>,
    ) -> RowBits {
        let mut bits = RowBits::default();
        let (depth, id) = self.border;
        let border = Neighbors { depth: all(simd, depth), attributes: all(simd, id) };
        for first in (0..WIDTH).step_by(LANES) {
            let own = Neighbors::load(simd, row, first);
            let edges = any_bit(own.attributes, EDGES);
            if !edges.any_true() {
                continue;
            }
            let left = match first.checked_sub(1) {
                Some(first) => Neighbors::load(simd, row, first),
                None => Neighbors {
                    depth: own.depth.shift_elements_right::<1>(depth),
                    attributes: own.attributes.shift_elements_right::<1>(id),
                },
            };
            let right = if first + LANES < WIDTH {
                Neighbors::load(simd, row, first + 1)
            } else {
                Neighbors {
                    depth: own.depth.shift_elements_left::<1>(depth),
                    attributes: own.attributes.shift_elements_left::<1>(id),
                }
            };
            let mut outlines = Mask::splat(simd, false);
            let above = above.map_or(
                border,
                #[inline(always)]
                |row| Neighbors::load(simd, row, first),
            );
            let below = below.map_or(
                border,
                #[inline(always)]
                |row| Neighbors::load(simd, row, first),
            );
            for other in [left, right, above, below] {
                let differs = any_bit(other.attributes ^ own.attributes, OPAQUE_ID);
                outlines |= differs & less(own.depth, other.depth);
            }
            bits[first / 64] |= (outlines & edges).to_bitmask() << (first % 64);
        }
        bits
    }

    /// Finishes row `y`.
    fn row(&self, level: Level, lines: &mut [impl BorrowMut<Line>], y: usize) {
        let outlines = self.outlines(level, lines, y);
        let Some(line) = lines.get_mut(y) else { return };
        let line = line.borrow_mut();
        if self.control.contains(Control::EDGE_MARKING) {
            self.draw_outlines(&mut line.top, &outlines);
        }
        if self.control.intersects(Control::FOG | Control::ANTIALIASING) {
            dispatch!(level, simd => self.blend(simd, line));
        }
    }

    #[inline(always)]
    fn blend<S: Simd>(&self, simd: S, line: &mut Line) {
        for first in (0..WIDTH).step_by(LANES) {
            let edges = any_bit(load(simd, &line.top.attributes, first), EDGES);
            if self.control.contains(Control::FOG) {
                self.fog.block(simd, &mut line.top, first, Mask::splat(simd, true));
                // Both layers, so that antialiasing blends what fog has reached.
                if edges.any_true() {
                    self.fog.block(simd, &mut line.under, first, edges);
                }
            }
            if self.control.contains(Control::ANTIALIASING) && edges.any_true() {
                antialias(simd, line, first, edges);
            }
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

/// What pixels are compared with for outlines.
#[derive(Clone, Copy)]
struct Neighbors<S: Simd> {
    depth: Lanes<S>,
    attributes: Lanes<S>,
}

impl<S: Simd> Neighbors<S> {
    #[inline(always)]
    fn load(simd: S, row: &Row, first: usize) -> Neighbors<S> {
        Neighbors { depth: load(simd, &row.depth, first), attributes: load(simd, &row.attributes, first) }
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

    /// Densities at depths, 0 to 128.
    #[inline(always)]
    fn densities<S: Simd>(&self, depth: Lanes<S>) -> Lanes<S> {
        let offset = all(depth.token(), self.offset);
        let behind = keep(less(offset, depth), depth - offset);
        // Large shifts wrap around in 32 bits.
        let places = (behind >> 2) << self.shift;
        let fractions = places & (FOG_STEP - 1);
        // Two entries next to each other; from the last one on they are the same.
        let pairs = gather(
            (places >> FOG_STEP.ilog2()).min(FOG_ENTRIES as u32 - 2),
            #[inline(always)]
            |entry| {
                let entry = entry as usize % (FOG_ENTRIES - 1);
                self.table[entry] | self.table[entry + 1] << 8
            },
        );
        let weighted = (pairs & 0xff) * (FOG_STEP - fractions) + (pairs >> 8) * fractions;
        let densities = weighted >> FOG_STEP.ilog2();
        // The largest density counts as 128.
        densities.simd_ge(127).select(all(depth.token(), 128), densities)
    }

    /// Those of a block's `pixels` that have fog.
    #[inline(always)]
    fn block<S: Simd>(&self, simd: S, row: &mut Row, first: usize, pixels: Mask<S>) {
        let pixels = pixels & any_bit(load(simd, &row.attributes, first), PixelFlags::FOG.bits());
        if !pixels.any_true() {
            return;
        }
        let densities = self.densities(load(simd, &row.depth, first));
        let (colors, fog) = (load(simd, &row.color, first), all(simd, self.color));
        let rgb = if self.alpha_only { colors & RGB } else { mix_rgb(fog, colors, densities, 7) };
        let mixed = (alpha(fog) * densities + alpha(colors) * (128 - densities)) >> 7;
        store(&mut row.color, first, pixels.select(rgb | mixed << 24, colors));
    }
}

/// Blends edge pixels of a block with what they cover.
#[inline(always)]
fn antialias<S: Simd>(simd: S, line: &mut Line, first: usize, edges: Mask<S>) {
    let (colors, below): (Colors<S>, Colors<S>) =
        (load(simd, &line.top.color, first), load(simd, &line.under.color, first));
    let covered = (load(simd, &line.top.attributes, first) & COVERAGE) >> COVERAGE.trailing_zeros();
    let parts = covered + 1;
    // Over nothing the colour stays.
    let rgb = alpha(below).simd_eq(0).select(colors & RGB, mix_rgb(colors, below, parts, 5));
    let mixed = rgb | ((alpha(colors) * parts + alpha(below) * (32 - parts)) >> 5) << 24;
    let blended = covered.simd_eq(0).select(below, mixed);
    store(&mut line.top.color, first, edges.select(blended, colors));
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

    fn density(fog: &Fog, depth: u32) -> u32 {
        dispatch!(Level::new(), simd => fog.densities(all(simd, depth)).to_array()[0])
    }

    #[test]
    fn fog_table_is_linear_between_steps() {
        let table = std::array::from_fn(|i| i as u8 * 3);
        // Steps of 0x80000 >> shift.
        let fog = fog(4, 0, table);
        assert_eq!(density(&fog, 0x8000), 0);
        assert_eq!((density(&fog, 0x10000), density(&fog, 0x14000)), (3, 4));
        assert_eq!(density(&fog, 0xff_ffff), 93);
    }

    #[test]
    fn density_127_is_128_and_large_shifts_wrap() {
        let mut table = [127; 32];
        table[0] = 0;
        let steep = fog(15, 0, table);
        assert_eq!(density(&steep, 0x1000), 128);
        // 0x100000 >> 2 << 15 has left 32 bits.
        assert_eq!(density(&steep, 0x10_0000), 0);
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
            dispatch!(Level::new(), simd => {
                let edges = any_bit(load(simd, &line.top.attributes, 0), EDGES);
                antialias(simd, &mut line, 0, edges);
            });
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
        let at = |lines: &[Line]| finish.outlines(Level::new(), lines, 0)[0];
        lines[0].top.attributes[5] = 1 << 24;
        assert_eq!(at(&lines), 0);
        lines[0].top.attributes[5] |= 1;
        // Off the screen above there is the clear depth.
        assert_eq!(at(&lines), 1 << 5);
        lines[0].top.attributes[5] &= !OPAQUE_ID;
        assert_eq!(at(&lines), 0);
    }
}
