//! The PICA200 GPU of the Nintendo 3DS: command lists, vertex and geometry stages, rasterisation, transfers.
//!
//! An emulator embeds [`gpu::Gpu`]: it hands over guest memory and command lists, and finds frames in guest memory.
//!
//! | room | what it is for |
//! |---|---|
//! | [`gpu`], [`report`] | the embedder's object; limits, counts and errors |
//! | [`memory`] | guest memory as the GPU sees it |
//! | [`regs`] | the register file |
//! | [`command`] | command lists to register writes |
//! | [`shader`] | shader units and the engines that run them |
//! | [`vertex_loader`] | arrays in memory to attributes |
//! | [`geometry`] | vertices to invocations of the geometry unit |
//! | [`vertex`] | a shaded vertex in the order of the output map's semantics |
//! | [`assembly`] | vertices to triangles |
//! | [`renderer`] | where triangles go |
//! | [`raster`] | clipper to framebuffer on the CPU |
//! | [`tables`] | look-up tables filled through data ports |
//! | [`texture`] | texture formats, tiling, decoding |
//! | [`transfer`] | memory fill, display transfer, texture copy |
#![deny(missing_docs)]

pub mod assembly;
pub mod command;
mod draw;
pub mod geometry;
pub mod gpu;
mod immediate;
pub mod memory;
pub mod raster;
pub mod regs;
pub mod renderer;
pub mod report;
pub mod shader;
pub mod tables;
pub mod texture;
pub mod transfer;
pub mod vertex;
pub mod vertex_loader;
