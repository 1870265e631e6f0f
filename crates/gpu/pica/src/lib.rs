//! The PICA200 GPU of the Nintendo 3DS: command lists, vertex and geometry stages, rasterisation, transfers.
//!
//! | room | what it is for |
//! |---|---|
//! | [`memory`] | guest memory as the GPU sees it |
//! | [`regs`] | the register file |
//! | [`raster`] | clipper to framebuffer on the CPU |
//! | [`tables`] | look-up tables filled through data ports |
//! | [`texture`] | texture formats, tiling, decoding |
//! | [`vertex`] | a shaded vertex in the order of the output map's semantics |
#![deny(missing_docs)]

pub mod memory;
pub mod raster;
pub mod regs;
pub mod tables;
pub mod texture;
pub mod vertex;
