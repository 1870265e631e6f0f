//! Shadow masks: where a mask polygon lies behind what is there.

use super::Scale;
use super::buffers::{EDGES, Line, Row, WIDTH};
use super::fill::{depths, parts};
use super::lanes::{Block, LANES, any_bit, load, select};
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
    pub fn mark(&mut self, polygon: &RasterPolygon, span: &Span, y: usize, line: &Line) {
        let rows = self.rows.len();
        let row = &mut self.rows[y % rows];
        if !self.after_mask {
            row.fill(0);
        }
        self.after_mask = true;
        let along = span.along();
        for range in parts(polygon, span) {
            for from in range.clone().step_by(LANES) {
                let block = Block::new(from, range.end);
                let depths = depths(polygon, span, &along, &block);
                let first = block.first;
                let attributes = load(&line.top.attributes, first);
                let passes = |layer: &Row| {
                    let (there, attributes) = (load(&layer.depth, first), load(&layer.attributes, first));
                    polygon.test.passing(&depths.depth, &there, &attributes)
                };
                let (top, under) = (passes(&line.top), passes(&line.under));
                for (i, mark) in row[first..first + LANES].iter_mut().enumerate() {
                    let kept = select(top[i], u32::from(*mark), STENCIL_TOP.into());
                    let below = any_bit(attributes[i] & EDGES) & !under[i] & u32::from(STENCIL_UNDER);
                    *mark = select(block.counts[i], kept | below, u32::from(*mark)) as u8;
                }
            }
        }
    }
}
