//! Texture codecs, exact to the bit.
//!
//! [`decode_into`] turns the blocks of a picture or volume into texels, row by row, [`decode_into_parallel`] on all
//! cores. Neither allocates; both look at all sizes before the first block. Every block decodes: where a format calls
//! bits illegal, its specification says what they become.
//!
//! Facts are from the Khronos Data Format specification 1.4 and Microsoft's documentation of BC6H and BC7; where
//! decoders disagree, `vectors/texture/FORMAT.md` says which reading is the one kept here.
//!
//! ```
//! use xenoglot_texture::{Extent, Format, decode_into};
//!
//! // A block of BC1: two end points in R5G6B5, then 16 indices of two bits. All are 0, the first end point: red.
//! let block = [0x00, 0xf8, 0x1f, 0x00, 0, 0, 0, 0];
//! let mut texels = [0; 4 * 4 * 4];
//! decode_into(Format::Bc1, Extent::flat(4, 4), &block, &mut texels)?;
//! assert_eq!(texels[..4], [255, 0, 0, 255]);
//! # Ok::<(), xenoglot_texture::Error>(())
//! ```
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(missing_docs)]

extern crate alloc;

pub mod astc;
pub mod basis;
mod bc;
#[cfg(feature = "compute")]
pub mod compute;
pub mod console;
#[cfg(feature = "containers")]
pub mod container;
mod decode;
#[cfg(feature = "std")]
mod encode;
mod etc;
mod format;
mod half;
mod lanes;
mod names;
pub mod plain;
mod rows;
mod simd;

#[cfg(feature = "std")]
pub use decode::decode_into_parallel;
pub use decode::{Error, decode_into};
#[cfg(feature = "std")]
pub use encode::{
    EncodeError, Quality, encode_into, encode_into_parallel, transcode_into, transcode_into_parallel,
};
pub use format::{Channels, Extent, Format, Profile, Texel};
#[cfg(feature = "compute")]
pub use xenoglot_host;
