//! Shadow masks: where a mask polygon lies behind what is there.

use super::Scale;
use super::buffers::{EDGES, Line, WIDTH};
use super::fill::{Scratch, depths, parts};
use super::polygon::RasterPolygon;
use super::span::Span;

/// The mask failed against the top layer.
pub const STENCIL_TOP: u8 = 1;
/// The mask failed against the layer under an edge pixel.
pub const STENCIL_UNDER: u8 = 2;

/// Marks of a row.
pub type StencilRow = [u8; WIDTH];

/// The mask: two rows of the console's, by parity, so that what is not cleared comes back two rows later.
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

    /// Marks of row `y`.
    pub fn row(&self, y: usize) -> &StencilRow {
        &self.rows[y % self.rows.len()]
    }

    /// Notes that a polygon other than a mask is drawn.
    pub fn end_mask(&mut self) {
        self.after_mask = false;
    }

    /// Draws a mask's span. The first mask after another polygon clears the row.
    pub fn mark(
        &mut self,
        polygon: &RasterPolygon,
        span: &Span,
        y: usize,
        line: &Line,
        scratch: &mut Scratch,
    ) {
        let rows = self.rows.len();
        let row = &mut self.rows[y % rows];
        if !self.after_mask {
            row.fill(0);
        }
        self.after_mask = true;
        for range in parts(polygon, span) {
            depths(polygon, span, &range, scratch);
            for x in range {
                let depth = scratch.depths()[x];
                let attributes = line.top.attributes[x];
                if !polygon.test.passes(depth, line.top.depth[x], attributes) {
                    row[x] = STENCIL_TOP;
                }
                if attributes & EDGES != 0
                    && !polygon.test.passes(depth, line.under.depth[x], line.under.attributes[x])
                {
                    row[x] |= STENCIL_UNDER;
                }
            }
        }
    }
}
