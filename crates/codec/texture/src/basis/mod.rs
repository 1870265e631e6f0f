//! Basis Universal: ETC1S under BasisLZ, and UASTC.
//!
//! Both are meant to become something else. [`Format::Etc1s`](crate::Format::Etc1s) and
//! [`Format::Uastc`](crate::Format::Uastc) decode to RGBA as any other format does. For GPUs, blocks of ETC1S are blocks of
//! ETC1 and ETC2 as they are, [`uastc_to_astc`] makes blocks of ASTC without a loss, and [`uastc_to_bc7`] blocks of BC7. Containers hold ETC1S as codes
//! for two shared tables, which are unpacked to blocks of ETC1 when a file is read.
//!
//! Facts are from the KTX specification 2.0, appendix "BasisLZ/ETC1S Bitstream", and the Khronos Data Format
//! specification 1.4, chapter "Universal ASTC".

#[cfg(feature = "std")]
pub(crate) mod from_etc1s;
#[cfg(feature = "containers")]
pub(crate) mod huffman;
#[cfg(feature = "containers")]
pub(crate) mod lz;
mod to_astc;
#[cfg(feature = "std")]
pub(crate) mod to_bc7;
pub(crate) mod uastc;
pub(crate) mod unpack;

pub use to_astc::uastc_to_astc;
#[cfg(feature = "std")]
pub use to_bc7::uastc_to_bc7;
