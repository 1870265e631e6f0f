//! What a program on the console's CPU does: loads models, bins triangles, writes frames' commands, reads pictures
//! back.
//!
//! The original's demo is a C++ program; this is ours, with the same steps: data into memory, register writes into the
//! FIFO, ticks until the FIFO is empty, the picture out of memory.

mod animate;
mod bins;
mod counters;
mod demo;
mod explain;
mod gltf;
mod heat;
mod image;
mod levers;
mod mesh;
mod model;
mod obj;
#[cfg(feature = "pica")]
mod pica;
mod picture;
mod scene;
mod sweep;

pub use animate::{AnimateError, AnimateOptions, Drawn, animate};
pub use bins::{Bin, bin_triangles};
pub use counters::{BinCounters, Cache, Counters, Hot, UnitMemory, VpuCounters, source_lines};
pub use demo::{DEPTH_PROGRAM, Demo, TEXTURE_PROGRAM};
pub use explain::{ExplainError, ExplainOptions, Explanation, Saving, explain};
pub use gltf::load_gltf;
pub use heat::{Heat, heat_map};
pub use image::Image;
pub use levers::{Kind as LeverKind, Lever, levers};
pub use mesh::{Files, Material, Mesh, MeshError, MeshLimits};
pub use model::{glass, globe, torus, wooden_crate};
pub use obj::load_obj;
#[cfg(feature = "pica")]
pub use pica::{Film, FilmError, FilmLimits, load_capture};
pub use picture::{Apng, Picture, psnr};
pub use scene::{Animation, Buffering, DemoError, Drawing, Frame, Part, Scene, ScreenVertex};
pub use sweep::{Axis, SweepError, SweepRow, sweep};
