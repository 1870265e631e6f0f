//! Which spans of shadow masks clear the mask, as bits for the passes, and whether marks outlive their row.

use super::layout::Submitted;
use crate::raster::shadow::{MaskHistory, OldMarks};

/// What becomes of the mask in rows at hand.
#[derive(Clone, Debug, Default)]
pub struct MaskRows {
    /// A bit for each span: it clears the mask.
    pub clears: Vec<u32>,
    /// Something sees marks of two rows above.
    pub depends: bool,
}

impl MaskRows {
    /// Goes on over rows. `polygons` are drawn in order, each with its first span in these rows.
    pub fn advance<'a>(
        history: &mut MaskHistory,
        rows: std::ops::Range<i32>,
        polygons: impl Iterator<Item = (&'a Submitted, u32)> + Clone,
        spans: u32,
    ) -> MaskRows {
        let mut out = MaskRows { clears: vec![0; spans.div_ceil(32) as usize], depends: false };
        for row in rows.clone() {
            let here = polygons.clone().filter(|(submitted, _)| submitted.polygon.rows().contains(&row));
            let clears = |(submitted, first): (&Submitted, u32)| {
                let span = first + (row - submitted.polygon.rows().start.max(rows.start)) as u32;
                if let Some(word) = out.clears.get_mut(span as usize / 32) {
                    *word |= 1 << (span % 32);
                }
            };
            let old = history.row(here.map(|of| (of.0.polygon.shadow, of)), clears);
            out.depends |= old == OldMarks::Seen;
        }
        out
    }
}
