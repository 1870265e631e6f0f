//! The graphics of the Nintendo DS, exact to the pixel.
//!
//! [`video::Video`] is what an emulator embeds: accesses by address go in, pictures of both screens come out. Behind it are
//! video memory, the 2D engines ([`engine2d`]) and the 3D engines.
//!
//! [`gpu::Gpu`] is the 3D engines alone: words for GXFIFO and registers go in, rows of pixels come out. Behind it are the
//! [`geometry`] engine, which turns commands into polygon and vertex memory, and the [`raster`] engine, which draws
//! them row by row. Everything is integers; the same input gives the same frame on every host and for any number of
//! threads.
//!
//! ```
//! use xenoglot_nds::gpu::Gpu;
//! use xenoglot_nds::raster::Options;
//! use xenoglot_nds::registers::Registers;
//!
//! let mut gpu = Gpu::new(Options::default());
//! gpu.set_registers(Registers { clear_color: 31 | 31 << 16, ..Registers::default() });
//! gpu.feed(&[0x50, 0]); // SWAP_BUFFERS
//! assert!(gpu.vblank());
//! assert_eq!(gpu.renderer().color_row(0)[0], 63 | 31 << 24);
//! ```
//!
//! Facts about the console are from GBATEK, from captures of consoles (`vectors/nds-slopes/FORMAT.md`,
//! `vectors/nds-console/FORMAT.md`), and from the
//! results of an emulator (`vectors/nds/FORMAT.md`, `vectors/nds-2d/FORMAT.md`); `docs/nds.md` says where those disagree.
//! [`container`] reads and writes scenes, [`play`] plays them, [`results`] compares; [`whole`] does so with scenes of whole
//! pictures.
#![deny(missing_docs)]

pub mod container;
pub mod dump;
pub mod engine2d;
pub mod geometry;
pub mod gpu;
pub mod memory;
pub mod picture;
pub mod play;
pub mod raster;
mod recorded;
pub mod recorder;
pub mod registers;
pub mod results;
pub mod state;
pub mod video;
pub mod whole;

#[cfg(feature = "compute")]
pub use xenoglot_host;
