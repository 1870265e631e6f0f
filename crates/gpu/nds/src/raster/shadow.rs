//! Shadow masks: the pixels where a mask polygon fails the depth test.

use super::Scale;
use super::buffers::{EDGES, Line, WIDTH};
use super::fill::{depths, parts};
use super::lanes::{Block, LANES, all, any_bit, keep, load, store};
use super::polygon::{RasterPolygon, Shadow};
use super::span::Span;
use fearless_simd::prelude::*;

/// The mask failed against the top layer.
pub const STENCIL_TOP: u32 = 1;
/// The mask failed against the layer under an edge pixel.
pub const STENCIL_UNDER: u32 = 2;

/// Marks of a row.
pub type StencilRow = [u32; WIDTH];

/// The mask. As on the console it has two rows, used by parity: bits that are not cleared come back two rows later.
#[derive(Clone, Debug)]
pub struct Stencil {
    rows: Vec<StencilRow>,
    /// Whether the polygon drawn last, in whichever row, was a mask.
    after_mask: bool,
}

impl Default for Stencil {
    fn default() -> Stencil {
        Stencil { rows: vec![[0; WIDTH]; 2], after_mask: false }
    }
}

impl Stencil {
    /// Empties it, for a frame of a resolution.
    pub fn reset(&mut self, scale: Scale) {
        self.rows.clear();
        self.rows.resize(2 * scale.get() as usize, [0; WIDTH]);
        self.after_mask = false;
    }

    /// Goes on at a row that does not depend on marks of the rows above, behind a mask or another polygon.
    pub fn go_on(&mut self, after_mask: bool) {
        self.after_mask = after_mask;
    }

    /// Marks of row `y`.
    pub fn row(&self, y: usize) -> &StencilRow {
        &self.rows[y % self.rows.len()]
    }

    /// Notes that a polygon other than a mask is drawn.
    pub fn end_mask(&mut self) {
        self.after_mask = false;
    }

    /// Draws a mask's span. The first mask after another polygon clears the row.
    #[inline(always)]
    pub fn mark<S: Simd>(&mut self, simd: S, polygon: &RasterPolygon, span: &Span, y: usize, line: &Line) {
        let rows = self.rows.len();
        let row = &mut self.rows[y % rows];
        if !self.after_mask {
            row.fill(0);
        }
        self.after_mask = true;
        let along = span.along();
        for range in parts(polygon, span) {
            for from in range.clone().step_by(LANES) {
                let block = Block::new(simd, from, range.end);
                let depths = depths(simd, polygon, span, &along, &block);
                let first = block.first;
                let attributes = load(simd, &line.top.attributes, first);
                let top = polygon.test.passing_over(depths.depth, &line.top, first);
                let under = polygon.test.passing_over(depths.depth, &line.under, first);
                let marks = load(simd, row, first);
                let kept = top.select(marks, all(simd, STENCIL_TOP));
                let below = keep(any_bit(attributes, EDGES) & !under, all(simd, STENCIL_UNDER));
                store(row, first, block.counts.select(kept | below, marks));
            }
        }
    }
}

/// What becomes of the mask, row by row from the top of the frame, as far as polygons' rows decide.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaskHistory {
    /// Whether the polygon drawn last, in whichever row, was a mask.
    pub after_mask: bool,
}

/// What a row does with the marks that its part of the mask has from two rows above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldMarks {
    /// Nothing: they stay.
    Kept,
    /// A mask clears them before anything sees them.
    Cleared,
    /// A shadow falls where they are, or a mask adds to them.
    Seen,
}

impl MaskHistory {
    /// Goes on over a row's polygons, in drawing order; `clears` is told each mask that clears the row.
    pub fn row<T>(
        &mut self,
        polygons: impl Iterator<Item = (Shadow, T)>,
        mut clears: impl FnMut(T),
    ) -> OldMarks {
        let mut old = OldMarks::Kept;
        for (shadow, polygon) in polygons {
            let is_clearing = shadow == Shadow::Mask && !self.after_mask;
            if is_clearing {
                clears(polygon);
            }
            if old == OldMarks::Kept && shadow != Shadow::None {
                old = if is_clearing { OldMarks::Cleared } else { OldMarks::Seen };
            }
            self.after_mask = shadow == Shadow::Mask;
        }
        old
    }
}
