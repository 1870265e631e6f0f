//! Shadow masks over rows: which of their spans clear the mask, and whether marks outlive their row.

use super::layout::Submitted;
use crate::raster::polygon::Shadow;

/// What becomes of the mask, row by row from the top of the frame.
#[derive(Clone, Debug, Default)]
pub struct MaskHistory {
    /// Whether the polygon drawn last, in whichever row, was a mask.
    after_mask: bool,
}

/// What becomes of the mask in rows at hand.
#[derive(Clone, Debug, Default)]
pub struct MaskRows {
    /// A bit for each span: it clears the mask.
    pub clears: Vec<u32>,
    /// Something sees marks of two rows above.
    pub depends: bool,
}

impl MaskHistory {
    /// Goes on over rows. `polygons` are drawn in order; `span` says a polygon's span in a row.
    pub fn advance<'a>(
        &mut self,
        rows: std::ops::Range<i32>,
        polygons: impl Iterator<Item = (&'a Submitted, u32)> + Clone,
        spans: u32,
    ) -> MaskRows {
        let mut out = MaskRows { clears: vec![0; spans.div_ceil(32) as usize], depends: false };
        for row in rows.clone() {
            // Whether the mask is that of this row alone.
            let mut is_own = false;
            for (submitted, first_span) in polygons.clone() {
                let polygon = &submitted.polygon;
                if !polygon.rows().contains(&row) {
                    continue;
                }
                match polygon.shadow {
                    Shadow::Mask => {
                        if !self.after_mask {
                            let span = first_span + (row - polygon.rows().start.max(rows.start)) as u32;
                            if let Some(word) = out.clears.get_mut(span as usize / 32) {
                                *word |= 1 << (span % 32);
                            }
                            is_own = true;
                        }
                    }
                    Shadow::Drawn => out.depends |= !is_own,
                    Shadow::None => {}
                }
                out.depends |= polygon.shadow == Shadow::Mask && !is_own;
                self.after_mask = polygon.shadow == Shadow::Mask;
            }
        }
        out
    }
}
