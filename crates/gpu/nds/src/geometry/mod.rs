//! The geometry engine: commands to polygons.

pub mod clip;
pub mod command;
mod dumped;
mod engine;
pub mod fifo;
pub mod light;
pub mod matrix;
pub mod pipeline;
pub mod polygon;
mod query;
pub(crate) mod queue;
pub mod stack;
mod submit;
pub mod vertex;
pub mod viewport;

pub use engine::{Diagnostics, GeometryEngine, SwapBuffers};
pub use query::Readback;
