//! Pictures of control flow as SVG: `graph` draws a graph of blocks (placed by the crate layout-rs), `nest` the
//! structured form as boxes in boxes, `label` says what is written on a block, `svg` is the paper.

mod graph;
mod label;
mod nest;
mod svg;

pub use graph::draw as graph;
pub use label::guest_code;
pub use nest::draw as nest;
