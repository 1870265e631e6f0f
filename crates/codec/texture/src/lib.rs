//! Texture codecs, exact to the bit.
//!
//! [`decode_into`] turns the blocks of a picture or volume into texels, row by row, [`decode_into_parallel`] on all
//! cores. Neither allocates; both look at all sizes before the first block. Every block decodes: where a format calls
//! bits illegal, its specification says what they become.
//!
//! Facts are from the Khronos Data Format specification 1.4 and Microsoft's documentation of BC6H and BC7; where
//! decoders disagree, `vectors/texture/FORMAT.md` says which reading is the one kept here.
#![deny(missing_docs)]

pub mod astc;
mod bc;
#[cfg(feature = "compute")]
pub mod compute;
pub mod console;
#[cfg(feature = "containers")]
pub mod container;
mod decode;
mod etc;
mod format;
mod half;
mod lanes;
mod rows;
mod simd;

pub use decode::{Error, decode_into, decode_into_parallel};
pub use format::{Channels, Extent, Format, Profile, Texel};
