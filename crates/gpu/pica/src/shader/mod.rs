//! Vertex and geometry shading: what is uploaded to the units, and the engines that run it.
//!
//! An [`Engine`] translates a program once for everything that changes the translation, a [`Shader`], and runs it on
//! batches. [`Engines`] tries them in order: what one cannot run the next one gets, draw by draw.

mod engine;
mod engines;
mod interp;
#[cfg(feature = "native")]
mod native;
mod table;
mod unit;

pub use engine::{Bank, Engine, EngineError, GeometryState, Invocations, Shader};
pub(crate) use engines::GeometryUnit;
pub use engines::{Engines, Fallback, Feed};
pub use interp::Interp;
#[cfg(feature = "native")]
pub use native::Native;
pub use unit::{FLOAT_UNIFORMS, Kind, Source, UniformPort, Uniforms, Unit, Upload, Words, unpack24};
pub use xenoglot_pica_shader::lift::record::Event;
