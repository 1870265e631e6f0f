//! The 3D engines of the Nintendo DS, exact to the pixel.
#![deny(missing_docs)]

pub mod container;
pub mod geometry;
pub mod gpu;
pub mod memory;
pub mod play;
pub mod raster;
pub mod registers;
pub mod results;
