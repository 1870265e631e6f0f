//! The rendering engine: polygons to pixels, row by row, in integers.

pub mod buffers;
pub mod edge;
mod fill;
mod finish;
mod interpolate;
mod polygon;
mod renderer;
mod shade;
mod shadow;
mod span;
mod texture;

pub use renderer::{Options, Renderer};

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
