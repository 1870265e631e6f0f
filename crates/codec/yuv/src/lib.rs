//! Frames of luma and chroma to RGB, as the Vulkan specification's chapter on sampler Y′CbCr conversion defines it:
//! chroma is brought to the places of the luma samples, values are brought from their range, and a model makes RGB of
//! them. Results are not clamped: a narrow range has values outside 0..=1.
//!
//! [`Frame::new`] looks at all sizes; [`convert`] and [`convert_rgba8`] then go by rows, on all cores.
#![deny(missing_docs)]

#[cfg(feature = "compute")]
pub mod compute;
mod conversion;
mod frame;
mod sample;
pub mod y4m;

pub use conversion::{Component, Conversion, Filter, Model, Range, Reconstruction, Siting};
pub use frame::{Error, Format, Frame, Layout, Plane, Subsampling};
pub use sample::{convert, convert_rgba8};
