//! The rendering engine: polygons to pixels, row by row, in integers.

pub mod buffers;
#[cfg(feature = "compute")]
pub mod compute;
mod edge;
mod fill;
mod finish;
mod frame;
mod interpolate;
mod lanes;
mod polygon;
mod renderer;
mod scale;
mod shade;
mod shadow;
mod span;
mod texture;

pub use frame::{Frame, FrameRow};
pub use renderer::{Extensions, Options, Renderer};
pub use scale::Scale;

/// What X-major edges do between rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlopeGaps {
    /// As captured from a console: some rows end a pixel before the next one starts
    /// (`vectors/nds-slopes/FORMAT.md`).
    #[default]
    Hardware,
    /// No gaps, as the oracle of `vectors/nds` has it.
    Continuous,
}

impl SlopeGaps {
    /// Bits of an X-major edge's place that decide where its pixels of a row end.
    fn far_mask(self) -> i32 {
        match self {
            SlopeGaps::Hardware => !511,
            SlopeGaps::Continuous => !0,
        }
    }
}

/// Pixels of a line from `from` to `to` (column, row) in `row`, first and last, as a polygon's edge draws it; `None`
/// outside of its rows. A line within a row counts as one row high.
pub fn slope(from: [i32; 2], to: [i32; 2], gaps: SlopeGaps, row: i32) -> Option<[i32; 2]> {
    let (upper, lower) = if from[1] <= to[1] { (from, to) } else { (to, from) };
    let lower = [lower[0], lower[1].max(upper[1] + 1)];
    let end = |[x, y]: [i32; 2]| edge::End { x, y, w: 0 };
    let edge = edge::Edge::new(end(upper), end(lower), false, gaps, row);
    (upper[1]..lower[1]).contains(&row).then(|| edge.line())
}
