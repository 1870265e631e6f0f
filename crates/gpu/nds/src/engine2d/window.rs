//! Windows: which layers a line shows where.

use super::layer::WIDTH;
use super::registers::{DispCnt, Registers};
use std::ops::Range;

/// What is shown at each pixel: layers in bits 0 to 5 as in [`Registers`], the colour effect in bit 5.
#[derive(Clone, Debug)]
pub struct Shown(pub [u8; WIDTH]);

impl Default for Shown {
    fn default() -> Shown {
        Shown([0x3f; WIDTH])
    }
}

/// The comparators of windows 0 and 1.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    /// Whether the line is within.
    vertical: [bool; 2],
    /// Whether the column is within. Nothing clears it at a line's end.
    horizontal: [bool; 2],
}

impl Windows {
    /// The start of any line: VCOUNT is compared.
    pub fn start_line(&mut self, line: u32, registers: &Registers) {
        for (n, is_within) in self.vertical.iter_mut().enumerate() {
            let [start, end] = registers.window_rows(n);
            if line as u8 == end {
                *is_within = false;
            } else if line as u8 == start {
                *is_within = true;
            }
        }
    }

    /// Columns of a window in a line: at most two ranges.
    fn columns(&mut self, n: usize, registers: &Registers) -> [Range<usize>; 2] {
        let [start, end] = registers.window_columns(n).map(usize::from);
        let before = std::mem::replace(&mut self.horizontal[n], start > end);
        match (before, start.cmp(&end)) {
            // The end is what counts where both are the same column.
            (false, std::cmp::Ordering::Equal) => [0..0, 0..0],
            (true, std::cmp::Ordering::Equal) => [0..end, 0..0],
            (false, std::cmp::Ordering::Less) => [start..end, 0..0],
            (true, std::cmp::Ordering::Less) => [0..end, 0..0],
            (false, std::cmp::Ordering::Greater) => [start..WIDTH, 0..0],
            (true, std::cmp::Ordering::Greater) => [0..end, start..WIDTH],
        }
    }

    /// What a drawn line shows, with the OBJs' windows. False if all is shown everywhere, with `shown` as it was.
    #[inline(always)]
    pub fn line(&mut self, registers: &Registers, obj: Option<&[u8; 512]>, shown: &mut Shown) -> bool {
        let enabled = registers.dispcnt();
        if !enabled.intersects(DispCnt::WINDOW_0 | DispCnt::WINDOW_1 | DispCnt::OBJ_WINDOW) {
            return false;
        }
        let [out, obj_in] = registers.window_outside();
        shown.0.fill(out);
        if let Some(obj) = obj.filter(|_| enabled.contains(DispCnt::OBJ_WINDOW)) {
            for (shown, &is_within) in shown.0.iter_mut().zip(&obj[super::object::LEFT..]) {
                *shown = if is_within != 0 { obj_in } else { out };
            }
        }
        for (n, flag) in [(1, DispCnt::WINDOW_1), (0, DispCnt::WINDOW_0)] {
            if !enabled.contains(flag) {
                continue;
            }
            let columns = self.columns(n, registers);
            if self.vertical[n] {
                let inside = registers.window_inside(n);
                columns.into_iter().for_each(|range| shown.0[range].fill(inside));
            }
        }
        true
    }
}

crate::state::stated!(Windows { vertical, horizontal });
