//! Basis Universal: ETC1S under BasisLZ, and UASTC.
//!
//! Both are meant to become something else. [`Format::Etc1s`](crate::Format::Etc1s) and
//! [`Format::Uastc`](crate::Format::Uastc) decode to RGBA as any other format does;
//! [`transcode_into`](crate::transcode_into) makes blocks for GPUs of them. Containers hold ETC1S as codes for two shared
//! tables; `lz` unpacks them to blocks of ETC1 when the file is read.
//!
//! Facts are from the KTX specification 2.0, appendix "BasisLZ/ETC1S Bitstream", and the Khronos Data Format
//! specification 1.4, chapter "Universal ASTC".

#[cfg(feature = "containers")]
pub(crate) mod huffman;
#[cfg(feature = "containers")]
pub(crate) mod lz;
pub(crate) mod uastc;
