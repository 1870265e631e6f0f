//! The PICA200 GPU of the Nintendo 3DS: command lists, vertex and geometry stages, rasterisation, transfers.
//!
//! An emulator embeds [`gpu::Gpu`]: it hands over guest memory and command lists, and finds frames in guest memory.
//!
//! ```
//! use xenoglot_pica::gpu::Gpu;
//! use xenoglot_pica::memory::{FCRAM, Memory, Regions};
//! use xenoglot_pica::raster::Renderer;
//!
//! let mut memory = Regions::console(1 << 20);
//! let mut gpu = Gpu::new(Renderer::default());
//! // A list that asks for an interrupt.
//! let list = [0x1234_5678u32, 0x000f_0010].map(u32::to_le_bytes);
//! memory.bytes_mut(FCRAM, 8).unwrap().copy_from_slice(list.as_flattened());
//! gpu.registers_mut().set(xenoglot_pica::regs::INTERRUPT_COMPARE, 0x1234_5678);
//! gpu.run_command_list(&mut memory, FCRAM, 8);
//! assert_eq!(gpu.interrupts(), 1);
//! assert!(gpu.take_report().messages.is_empty());
//! ```
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
//! | [`early_depth`] | the early depth test's buffer |
//! | [`timing`] | cycles that draws, fills and transfers take |
//! | [`raster`] | clipper to framebuffer on the CPU |
//! | [`fragment`] | the same stages as fragment programs for a host GPU |
//! | `host` | the renderer on the host's GPU (feature `host`) |
//! | [`lcd`] | what the screens show |
//! | [`tables`] | look-up tables filled through data ports |
//! | [`texture`] | texture formats, tiling, decoding |
//! | [`transfer`] | memory fill, display transfer, texture copy |
//! | [`state`] | save states |
//! | `replay` | captures: what was given to a GPU, played and recorded (feature `capture`) |
#![deny(missing_docs)]

pub mod assembly;
pub mod command;
mod draw;
pub mod early_depth;
pub mod fragment;
pub mod geometry;
pub mod gpu;
#[cfg(feature = "host")]
pub mod host;
mod immediate;
pub mod lcd;
pub mod memory;
pub mod raster;
pub mod regs;
pub mod renderer;
#[cfg(feature = "capture")]
pub mod replay;
pub mod report;
pub mod shader;
pub mod state;
pub mod tables;
pub mod texture;
pub mod timing;
pub mod transfer;
pub mod vertex;
pub mod vertex_loader;

#[cfg(feature = "capture")]
pub use xenoglot_capture;
#[cfg(feature = "host")]
pub use xenoglot_host;
#[cfg(feature = "native")]
pub use xenoglot_native;
pub use {xenoglot_ir, xenoglot_pica_shader};
