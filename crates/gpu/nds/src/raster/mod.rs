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
mod parts;
mod polygon;
mod renderer;
pub mod replace;
mod rules;
mod scale;
mod shade;
mod shadow;
mod span;
mod texture;

pub use frame::{Frame, FrameRow};
pub use renderer::{Extensions, Options, Renderer};
use rules::ScaledRules;
pub use rules::{Profile, Rules};
pub use scale::Scale;
pub use texture::Format;

/// Pixels of a line from `from` to `to` (column, row) in `row`, first and last, as a polygon's edge draws it; `None`
/// outside of its rows. A line within a row counts as one row high.
pub fn slope(from: [i32; 2], to: [i32; 2], rules: Rules, row: i32) -> Option<[i32; 2]> {
    let (upper, lower) = if from[1] <= to[1] { (from, to) } else { (to, from) };
    let lower = [lower[0], lower[1].max(upper[1] + 1)];
    let end = |[x, y]: [i32; 2]| edge::End { x, y, w: 0 };
    let edge = edge::Edge::new(end(upper), end(lower), false, rules.at(Scale::ONE), row);
    (upper[1]..lower[1]).contains(&row).then(|| edge.line())
}
