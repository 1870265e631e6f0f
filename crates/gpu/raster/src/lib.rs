//! Which primitives touch which tile of a frame.
//!
//! A frame is cut into tiles, and tiles into groups, its bins. Primitives come as [`Bounds`] in drawing order. First each
//! bin gets a bitmap with a bit for each primitive that touches it (coarse), then each tile one of the primitives of its
//! bin that touch the tile itself (fine). Bits are in drawing order, so whoever draws a tile follows them from the lowest
//! up and blends in order, with no sorting and no lists whose length nobody knows beforehand.
//!
//! ```
//! use xenoglot_raster::{Bounds, Grid, cpu};
//!
//! let grid = Grid { size: [256, 192], primitives: 2, tile: 8 };
//! let bounds = [Bounds { low: [3, 3], high: [20, 9] }, Bounds { low: [16, 0], high: [16, 0] }];
//! let tiles = cpu::bin(&grid, &bounds);
//! assert_eq!(tiles.primitives(0, 0).collect::<Vec<_>>(), [0]);
//! assert_eq!(tiles.primitives(2, 0).collect::<Vec<_>>(), [0, 1]);
//! ```
//!
//! | room | what it is for |
//! |---|---|
//! | `grid` | tiles, bins, and where their bitmaps lie |
//! | `coverage` | what binning asks of a primitive |
//! | `edges` | triangles with sub-pixel edges: setup, spans, which tiles they touch |
//! | `extents` | the bounds of sixteen triangles at once |
//! | `half_planes` | triangles as three linear functions, as chips with weights have them: which tiles they touch |
//! | `ops` | the arithmetic that pixel rules are written in, and its engines: a pixel, sixteen pixels, IR |
//! | `tile_program` | pixel rules as programs of the IR that draw tiles (feature `ir`) |
//! | `shade_program` | pixel rules in two halves: shading apart, in any order, then depth and blending in order (feature `ir`) |
//! | `ahead` | prefetching |
//! | `cpu` | the bitmaps made on the CPU: what the programs must make |
//! | `wgsl` | the programs, and functions for those who read the bitmaps |
//! | `host` | the programs on a device (feature `host`) |
//!
//! Nothing here knows a chip. Whoever emulates one brings its pixel rules, as functions over [`ops::Ops`].
#![deny(missing_docs)]

mod ahead;
mod coverage;
pub mod cpu;
pub mod edges;
mod extents;
mod grid;
mod half_planes;
#[cfg(feature = "host")]
pub mod host;
pub mod ops;
#[cfg(feature = "ir")]
pub mod shade_program;
#[cfg(feature = "ir")]
pub mod tile_program;
pub mod wgsl;

pub use ahead::fetch_ahead;
pub use coverage::Coverage;
pub use edges::Edges;
pub use grid::{BIN, Bounds, Grid, TILE};
pub use half_planes::HalfPlanes;
#[cfg(feature = "host")]
pub use xenoglot_host;
#[cfg(feature = "ir")]
pub use xenoglot_ir;
