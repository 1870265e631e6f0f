//! What a program on the console's CPU does: loads models, bins triangles, writes frames' commands, reads pictures
//! back.
//!
//! The original's demo is a C++ program; this is ours, with the same steps: data into memory, register writes into the
//! FIFO, ticks until the FIFO is empty, the picture out of memory.

mod bins;
mod explain;
mod frame;
mod gltf;
mod image;
mod levers;
mod mesh;
mod model;
mod obj;
mod picture;
mod sweep;

pub use bins::{Bin, bin_triangles};
pub use explain::{ExplainError, ExplainOptions, Explanation, Saving, explain};
pub use frame::{Buffering, Demo, DemoError, Drawing, Frame};
pub use gltf::load_gltf;
pub use image::Image;
pub use levers::{Kind as LeverKind, Lever, levers};
pub use mesh::{Mesh, MeshError, MeshLimits};
pub use model::{glass, globe, torus, wooden_crate};
pub use obj::load_obj;
pub use picture::{Picture, apng, psnr};
pub use sweep::{Axis, SweepError, SweepRow, sweep};
