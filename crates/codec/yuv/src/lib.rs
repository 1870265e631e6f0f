//! Frames of luma and chroma to RGB, as the Vulkan specification's chapter on sampler Y′CbCr conversion defines it:
//! chroma is brought to the places of the luma samples, values are brought from their range, and a model makes RGB of
//! them. Results are not clamped: a narrow range has values outside 0..=1.
//!
//! [`Frame::new`] looks at all sizes; [`convert`] and [`convert_rgba8`] then go by rows, on all cores.
//! [`convert_rgba8_with`] takes less time where bytes may be off by one. [`sample`] takes texels at any place. [`light`] has what comes
//! behind a conversion: transfer functions and primaries.
//!
//! Without the feature `std`, which is on by default, the crate needs `core` and `alloc` alone, goes by rows on one core, and has no [`light`].
//!
//! ```
//! use xenoglot_yuv::{Conversion, Format, Frame, Layout, Subsampling, convert_rgba8};
//!
//! let format = Format { layout: Layout::Planar, subsampling: Subsampling::S420, bits: 8, high: false };
//! // 2 by 2 luma samples of white in the narrow range, and a sample each of Cb and Cr without colour.
//! let data = [235, 235, 235, 235, 128, 128];
//! let frame = Frame::tight(format, 2, 2, &data)?;
//! let mut rgba = [[0; 4]; 4];
//! convert_rgba8(&frame, &Conversion::default(), &mut rgba)?;
//! assert_eq!(rgba[0], [255; 4]);
//! # Ok::<(), xenoglot_yuv::Error>(())
//! ```
#![deny(missing_docs)]
#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

#[cfg(feature = "compute")]
pub mod compute;
mod conversion;
mod format;
mod frame;
#[cfg(feature = "std")]
pub mod light;
mod point;
mod sample;
mod taps;
pub mod y4m;

pub use conversion::{Component, Conversion, Filter, Model, Range, Reconstruction, Siting};
pub use format::{Format, Layout, Subsampling};
pub use frame::{Error, Frame, Plane};
pub use point::sample;
pub use sample::{Precision, convert, convert_rgba8, convert_rgba8_with};
#[cfg(feature = "compute")]
pub use xenoglot_host;
